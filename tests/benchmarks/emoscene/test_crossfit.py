from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.benchmarks.emoscene.worlds import evidence

from affectlab.benchmarks.emoscene.answers import Answers
from affectlab.benchmarks.emoscene.calibrate import best_thresholds, platt
from affectlab.benchmarks.emoscene.crossfit import (
    _SUBSETS,
    FOLDS,
    Evidence,
    Yes,
    _decide,
    _Views,
    cross_fit,
    figures,
    folds_of,
    refitted,
)
from affectlab.benchmarks.emoscene.ising import fit_priors
from affectlab.benchmarks.emoscene.measures import counted
from affectlab.stats.bootstrap import Interval
from affectlab.stats.estimate import Estimate
from affectlab.stats.measures import Measures
from affectlab.stats.paired import paired_difference


def test_folds_are_even_and_depend_on_names_alone() -> None:
    names = [f"s{number}" for number in range(23)]
    fold = folds_of(names)
    assert sorted(np.bincount(fold).tolist()) == [4, 4, 5, 5, 5]
    shuffled = np.random.default_rng(0).permutation(23)
    assert folds_of([names[place] for place in shuffled]).tolist() == fold[shuffled].tolist()


@pytest.mark.parametrize("fold", range(FOLDS))
def test_no_scenario_is_decided_with_the_gold_of_its_fold(fold: int) -> None:
    world = evidence(80, 1, entangled=True)
    mine = world.fold == fold
    other = world.gold.copy()
    other[mine] = np.random.default_rng(9).random((int(mine.sum()), 8)) < 0.5
    here, there = cross_fit(world), cross_fit(replace(world, gold=other))
    assert here.strengths[fold] == there.strengths[fold]
    assert (here.joint[mine] == there.joint[mine]).all()
    assert (here.independent[mine] == there.independent[mine]).all()
    for way, yes in here.yes.items():
        assert (yes[mine] == there.yes[way][mine]).all(), way
    assert not (here.joint[~mine] == there.joint[~mine]).all()


def test_what_a_fold_sees_of_the_others_was_fitted_without_either() -> None:
    world = evidence(40, 1, entangled=True)
    n = len(_SUBSETS)
    priors = fit_priors(world.gold, np.ones((n, 40)))
    views = _Views.of(world, priors, np.ones((n, 8)), np.zeros((n, 8)))
    for scenario, own in enumerate(world.fold.tolist()):
        for fold in range(FOLDS):
            assert set(_SUBSETS[views.place[scenario, fold]]) == {own, fold}


def test_thresholds_have_the_best_f1() -> None:
    # By probability .9 yes, .8 no, .7 yes, .2 no: F1 after one 2/3, two 2/4, three 4/5, four 4/6. Best is between .7
    # and .2. Of the second emotion there is no example.
    p = np.array([[0.9, 0.1], [0.8, 0.2], [0.7, 0.3], [0.2, 0.4]])
    labels = np.array([[True, False], [False, False], [True, False], [False, False]])
    assert best_thresholds(p, labels, np.ones(4)) == pytest.approx([0.45, 0.5])
    # With the third left out the first alone is best: between .9 and .8.
    assert best_thresholds(p, labels, np.array([1.0, 1, 0, 1]))[0] == pytest.approx(0.85)
    # Equal probabilities are never parted.
    tied = np.array([[0.6], [0.6], [0.1]])
    assert best_thresholds(tied, np.array([[True], [False], [False]]), np.ones(3)) == pytest.approx([0.35])


def test_calibration_finds_slope_and_intercept() -> None:
    rng = np.random.default_rng(0)
    odds = rng.normal(0, 3, size=(20_000, 8))
    labels = rng.random(odds.shape) < 1 / (1 + np.exp(-(0.5 * odds - 1)))
    slope, intercept = platt(odds, labels, np.ones((1, len(odds))))
    assert slope[0] == pytest.approx(np.full(8, 0.5), abs=0.03)
    assert intercept[0] == pytest.approx(np.full(8, -1.0), abs=0.08)


def test_calibration_stays_finite_and_never_turns_evidence_round() -> None:
    odds = np.array([[4.0, 3.0, np.nan], [-4.0, -3.0, np.nan], [4.0, 3.0, np.nan], [-4.0, -3.0, np.nan]])
    labels = np.array([[True, False, True], [False, True, True], [True, False, True], [False, True, True]])
    slope, intercept = platt(odds, labels, np.ones((1, 4)))
    assert slope[0, 0] > 0.5  # separated, and still finite
    assert slope[0, 1] == 0  # against its own words: says nothing
    assert intercept[0, 1] == pytest.approx(0)  # two of four, and half of the pseudo-scenario
    assert np.isfinite([slope, intercept]).all()


def test_separated_evidence_far_out_converges() -> None:
    labels = np.random.default_rng(3).random((60, 8)) < 0.3
    slope, intercept = platt(np.where(labels, 28.0, -28.0), labels, np.ones((1, 60)))
    assert slope[0] == pytest.approx(np.ones(8), abs=0.2)
    assert np.abs(intercept).max() < 28


def test_entangled_emotions_are_told_better_together() -> None:
    world = evidence(400, 3, entangled=True)
    decisions = cross_fit(world)
    ones = np.ones(400)
    scores = {way: figures(yes, world.gold, ones) for way, yes in decisions.yes.items()}
    assert scores["joint_tuned"]["macro_f1"] > scores["independent_tuned"]["macro_f1"] + 0.01
    assert scores["joint_map"]["exact_match"] > scores["independent"]["exact_match"] + 0.03
    assert scores["joint"]["hamming_loss"] < scores["independent"]["hamming_loss"]
    assert min(decisions.strengths) > 0


def gains(*, entangled: bool) -> list[tuple[float, Estimate]]:
    """In twelve worlds: what joint inference adds to exact match, and the paired difference in macro-F1."""
    made = []
    for seed in range(12):
        world = evidence(160, seed, entangled=entangled)
        decided = {name: answers(world.gold, yes) for name, yes in cross_fit(world).yes.items()}
        joint, alone = decided["joint_tuned"], decided["independent_tuned"]
        difference = paired_difference(joint, alone, "macro_f1", Interval(replicates=200)).difference
        exact = [decided[name].value("exact_match") or 0.0 for name in ("joint_map", "independent")]
        made.append((exact[0] - exact[1], difference))
    return made


def answers(gold: Yes, yes: Yes) -> Measures:
    names = tuple(f"s{number}" for number in range(len(gold)))
    keys = tuple((name, "", 0) for name in names)
    return counted(Answers(gold.astype(int), yes.astype(int), np.arange(len(gold)), names, names, keys))


def test_entangled_emotions_gain_in_nearly_every_world() -> None:
    """In 11 of 12 worlds or more, where chance alone would with a probability of .003."""
    found = gains(entangled=True)
    assert sum(exact > 0 for exact, _ in found) >= 11
    assert sum((one.value or 0) > 0 for _, one in found) >= 11


def test_independent_emotions_gain_nothing_in_nearly_every_world() -> None:
    """Of twelve intervals at 95 % four or more would leave out a true 0 with a probability of .002."""
    found = [one for _, one in gains(entangled=False)]
    # No interval: every fold chose no coupling, and nothing changed at all.
    assert all(one.value == 0 for one in found if one.low is None)
    outside = sum(not one.low <= 0 <= (one.high or 0) for one in found if one.low is not None)
    assert outside <= 3


def test_evidence_that_is_missing_is_left_to_the_prior() -> None:
    world = evidence(100, 4, entangled=True)
    odds = world.odds.copy()
    odds[:, 3] = np.nan
    decisions = cross_fit(replace(world, odds=odds))
    assert np.isfinite(decisions.joint).all()
    for fold in range(FOLDS):
        mine = world.fold == fold
        n = int((~mine).sum())
        share = (world.gold[~mine, 3].sum() + 0.5) / (n + 1)
        assert decisions.independent[mine, 3] == pytest.approx(np.full(mine.sum(), share))
    assert np.ptp(decisions.joint[:, 3]) > 0.1  # the others say something of it


def test_refits_of_the_sample_itself_are_the_fit() -> None:
    world = evidence(40, 5, entangled=True)
    weights, decisions = next(iter(refitted(world, (1.0,) * FOLDS, 1, 0)))
    assert weights.sum() == 40
    assert decisions.strengths == (1.0,) * FOLDS
    again = next(iter(refitted(world, (1.0,) * FOLDS, 1, 0)))
    assert (again[0] == weights).all()
    assert (again[1].joint == decisions.joint).all()


def test_a_resample_is_decided_as_data_in_which_scenarios_stand_several_times() -> None:
    world = evidence(60, 6, entangled=True)
    times = np.random.default_rng(6).integers(0, 3, 60)
    rows = np.repeat(np.arange(60), times)
    several = Evidence(world.odds[rows], world.gold[rows], world.fold[rows], world.cluster[rows])
    weighted, whole = next(iter(_decide(world, times[None, :].astype(float), None))), cross_fit(several)
    assert weighted.strengths == whole.strengths
    # Calibration's pseudo-scenario lies at the mean evidence of all scenarios, drawn or not: hence the tolerance.
    assert weighted.joint[rows] == pytest.approx(whole.joint, abs=0.02)
    assert (weighted.yes["raw_tuned"][rows] == whole.yes["raw_tuned"]).all()


def test_figures_of_a_resample_by_hand() -> None:
    gold = np.zeros((3, 8), dtype=bool)
    gold[0, 0] = gold[1, 1] = True
    yes = gold.copy()
    yes[2, 0] = True
    # Scenarios one and three drawn twice, two never: emotion 0: 2 hits, 2 false alarms, F1 4/6; emotion 1 has gold, but
    # none drawn: left out. The mean over what was drawn, 4/6, weighs as the two of eight with gold do. Exact 2/4;
    # Hamming 2/(4 * 8).
    found = figures(yes, gold, np.array([2.0, 0.0, 2.0]))
    assert found == pytest.approx({"macro_f1": (4 / 6) * 2 / 8, "exact_match": 0.5, "hamming_loss": 2 / 32})
