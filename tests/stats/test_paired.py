"""Paired comparison: worked values, exact enumeration, the size of the test, and refusals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from affectlab.errors import UserError
from affectlab.metrics import classification as score
from affectlab.metrics.classification import ratio_or
from affectlab.stats import paired
from affectlab.stats.bootstrap import Interval, patterns
from affectlab.stats.measures import Measures, Over, Share, Statistic
from affectlab.stats.paired import paired_difference, paired_differences, permutation_totals

ACCURACY = Share(np.array([1]), np.array([0, 1]))
MACRO_F1 = Over(np.arange(6), lambda totals: score.macro_f1(score.from_totals(totals, 2)))


def run(
    event: Sequence[int],
    cluster: Sequence[int] | None = None,
    names: Sequence[str] | None = None,
    statistic: Statistic = ACCURACY,
    n_events: int = 2,
    units: Sequence[str] = (),
) -> Measures:
    codes = np.array(range(len(event)) if cluster is None else cluster, np.int32)
    clusters = tuple(names or (f"s{code}" for code in range(int(codes.max(initial=-1)) + 1)))
    right = dict.fromkeys(units, True)
    return Measures(codes, np.array(event, np.int32), clusters, n_events, {"figure": statistic}, right, "figure")


A = (1, 1, 0, 1, 1, 0, 1, 0, 1, 1)
B = (1, 0, 0, 1, 0, 0, 1, 1, 1, 0)


def test_ten_pairs() -> None:
    # differences 0 1 0 0 1 0 0 -1 0 1: mean .2, paired SE sqrt(.4 / 10) = .2; signs: exact p .625
    found = paired_difference(run(A), run(B), how=Interval(replicates=50_000))
    assert (found.a, found.b) == pytest.approx((0.7, 0.5))
    assert found.difference.value == pytest.approx(0.2)
    assert found.se == pytest.approx(0.2, rel=0.02)
    assert found.p == pytest.approx(0.625, abs=0.01)
    assert found.detectable == pytest.approx((1.959964 + 0.841621) * 0.2, rel=0.02)
    assert (found.difference.n, found.difference.clusters) == (10, 10)
    assert found.difference.low == pytest.approx(-0.2, abs=0.11)
    assert found.difference.high == pytest.approx(0.6, abs=0.11)


def test_sign_flips_by_enumeration() -> None:
    # 3 -1 4 1 -5 9 2 6: mean 2.375, exact two-sided p .1875 (48 of 256 sign patterns)
    differences = [3, -1, 4, 1, -5, 9, 2, 6]
    flips = np.array(list(product((1, -1), repeat=8))) @ differences
    assert (np.abs(flips) >= 19).mean() == 0.1875
    # A gain of d: d events for a where positive, for b where negative; the statistic is their number.
    count = Over(np.array([0]), lambda totals: totals[:, 0] / 8)

    def gains(sign: int) -> Measures:
        cluster = [code for code, d in enumerate(differences) for _ in range(max(sign * d, 0))]
        names = [f"s{code}" for code in range(8)]
        # every cluster also has an event that does not count, so that both runs cover it
        return run([0] * len(cluster) + [1] * 8, [*cluster, *range(8)], names, count)

    found = paired_difference(gains(1), gains(-1), how=Interval(replicates=50_000))
    assert found.difference.value == pytest.approx(2.375)
    assert found.p == pytest.approx(0.1875, abs=0.008)


def test_a_run_against_itself() -> None:
    found = paired_difference(run(A), run(A))
    assert found.difference.value == 0
    assert found.p == 1
    assert (found.difference.low, found.se, found.detectable) == (None, None, None)
    assert "no variation" in found.difference.reason


def test_the_other_way_round_is_the_same_but_for_the_sign() -> None:
    first = paired_difference(run(A), run(B), how=Interval(replicates=4000))
    second = paired_difference(run(B), run(A), how=Interval(replicates=4000))
    assert first.difference.value is not None
    assert second.difference.value == -first.difference.value
    assert second.p == pytest.approx(first.p, abs=0.03)


def test_clusters_are_matched_by_name() -> None:
    order = [3, 1, 0, 2, 9, 7, 8, 6, 4, 5]
    shuffled = run([B[code] for code in order], names=[f"s{code}" for code in order])
    straight = paired_difference(run(A), run(B))
    assert paired_difference(run(A), shuffled) == straight


outcomes = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=30)


@settings(deadline=None, max_examples=30)
@given(outcomes)
def test_swapping_keeps_the_sum_of_both_runs(pairs: list[tuple[int, int]]) -> None:
    a, b = (np.array(side) for side in zip(*pairs, strict=True))
    cluster = np.arange(len(pairs))
    grouped = patterns(np.r_[cluster, cluster], np.r_[a, b + 6], 12, len(pairs))
    totals = permutation_totals(grouped, 25, 0)
    whole = np.bincount(np.r_[a, b], minlength=6)
    assert (totals[:, :6] + totals[:, 6:] == whole).all()
    assert (totals >= 0).all()
    assert (totals[:, :6].sum(axis=1) == len(pairs)).all()


def test_macro_f1_permutation_by_enumeration() -> None:
    """All 2^6 swaps of six scenes, whose macro-F1 is no mean over scenes."""
    gold = np.array([0, 0, 0, 1, 1, 1])
    answers = np.array([[0, 0, 0, 1, 1, 0], [0, 1, 1, 0, 1, -1]])
    events = [score.confusion_events(gold, side, 2) for side in answers]
    extreme = 0
    observed = None
    for swaps in product((0, 1), repeat=6):
        chosen = np.array(swaps)
        first, second = np.where(chosen, events[1], events[0]), np.where(chosen, events[0], events[1])
        totals = np.array([np.bincount(side, minlength=6) for side in (first, second)], dtype=float)
        difference = float(np.subtract(*MACRO_F1(totals)))
        observed = difference if observed is None else observed
        extreme += abs(difference) >= abs(observed) - 1e-12
    a, b = (run(list(side), statistic=MACRO_F1, n_events=6) for side in events)
    found = paired_difference(a, b, how=Interval(replicates=40_000))
    assert found.difference.value == pytest.approx(observed)
    assert found.p == pytest.approx(extreme / 64, abs=0.012)


def test_swaps_that_tie_but_for_rounding_count() -> None:
    # .1 + .2 is .30000000000000004 in floating point
    assert paired._permutation_p(0.1 + 0.2, np.array([0.3, -0.3, 0.29]), 0.3) == (0.75, 0)
    # the last digits of figures of a million are no difference, of figures of one they are
    permuted = np.array([0.1 - 1e-10, -0.1 + 1e-10, 0.09])
    assert paired._permutation_p(0.1, permuted, 1e6) == (0.75, 0)
    assert paired._permutation_p(0.1, permuted, 1.0) == (0.25, 0)


def test_p_is_never_zero() -> None:
    found = paired_difference(run([1] * 40), run([0] * 40), how=Interval(replicates=99))
    assert found.p == pytest.approx(0.01)


def test_undefined_swaps_count_as_extreme() -> None:
    # The only trial lies in one run: wherever it is swapped to, the other run has none.
    ratio = Over(np.array([0, 1]), lambda totals: np.where(totals.sum(axis=1) > 0, totals[:, 1], np.nan))
    a, b = run([1, 2], n_events=3, statistic=ratio), run([2, 2], n_events=3, statistic=ratio)
    found = paired_difference(a, b, how=Interval(replicates=50))
    assert (found.b, found.difference.value, found.p) == (None, None, None)
    assert found.undefined_permutations == 50
    assert found.difference.reason
    # With a second trial in b's other cluster, half of the swaps put both into one run.
    found = paired_difference(a, run([2, 1], n_events=3, statistic=ratio), how=Interval(replicates=1000))
    assert found.undefined_permutations / 1000 == pytest.approx(0.5, abs=0.06)
    assert found.p == 1


def test_size_of_the_permutation_test_under_the_null() -> None:
    """Two runs of equal skill on 40 scenes of two slots: a 5 % test rejects in about 5 % of 400 studies.

    Binomial(400, .05) lies within 8 and 33 with probability .998.
    """
    rng = np.random.default_rng(21)
    rejected = 0
    cluster = np.repeat(np.arange(40), 2).tolist()
    for study in range(400):
        chance = np.repeat(rng.beta(1, 1, 40), 2)
        a, b = rng.binomial(1, chance).tolist(), rng.binomial(1, chance).tolist()
        found = paired_difference(run(a, cluster), run(b, cluster), how=Interval(replicates=199, seed=study))
        assert found.p is not None
        rejected += found.p <= 0.05
    assert 8 <= rejected <= 33


def test_several_figures_share_the_resamples() -> None:
    base = run(A)
    twice = [
        Measures(one.cluster, one.event, one.clusters, 2, {"x": ACCURACY, "y": ACCURACY}, {}, "x")
        for one in (base, run(B))
    ]
    found = paired_differences(twice[0], twice[1], ("x", "y"))
    assert found["x"].p == found["y"].p
    assert found["x"].difference.low == found["y"].difference.low


def test_a_mean_of_what_some_clusters_lack_is_compared_on_those_that_have_it_on_both_sides() -> None:
    # Event 0: a cluster's score, by weight; 1: that it has one; 2: something that every cluster has.
    mean = Over(np.array([0, 1]), lambda totals: ratio_or(totals[:, 0], totals[:, 1], np.nan), np.array([1]))
    share = Share(np.array([2]), np.array([2]))

    def side(scores: dict[int, float], *, both: bool) -> Measures:
        cluster = np.array([*scores, *scores, 0, 1, 2, 3], np.int32)
        event = np.array([0] * len(scores) + [1] * len(scores) + [2] * 4, np.int32)
        weight = np.array([*scores.values(), *[1.0] * (len(scores) + 4)])
        found: dict[str, Statistic] = {"score": replace(mean, where_both=both), "all": share}
        return Measures(cluster, event, tuple("wxyz"), 3, found, {}, "score", weight)

    # The first side has none in z, the second none in w: x and y are left, 1 - 3 and 2 - 5.
    a, b = {0: 9.0, 1: 1.0, 2: 2.0}, {1: 3.0, 2: 5.0, 3: 0.0}
    found = paired_differences(side(a, both=True), side(b, both=True), ("score", "all"), Interval(replicates=50))
    assert (found["score"].a, found["score"].b, found["score"].difference.value) == (1.5, 4.0, -2.5)
    assert (found["score"].difference.n, found["score"].difference.clusters) == (2, 2)
    assert (found["all"].difference.n, list(found)) == (4, ["score", "all"])
    # Otherwise each is a mean over clusters of its own: 12/3 and 8/3.
    apart = paired_difference(side(a, both=False), side(b, both=False), how=Interval(replicates=50))
    assert apart.a == 4.0
    assert apart.b == pytest.approx(8 / 3)


def test_different_clusters_are_refused_by_name() -> None:
    with pytest.raises(UserError, match=r"1 cluster is in the first run only \(s9\)"):
        paired_difference(run(A), run(B[:9]))
    many = run(B, names=[f"t{code}" for code in range(10)])
    with pytest.raises(UserError, match=r"10 clusters are in the first run only \(s0, s1, s2, s3, s4, \.\."):
        paired_difference(run(A), many)


def test_clusters_are_those_declared_and_not_those_with_events() -> None:
    wider = run(B, names=[*(f"s{code}" for code in range(10)), "nothing to count"])
    with pytest.raises(UserError, match=r"1 cluster is in the second run only \(nothing to count\)"):
        paired_difference(run(A), wider)
    # An event in one run only: the figure rests on the cluster all the same, and on none without any event.
    names = ["x", "y", "z", "w"]
    found = paired_difference(run([1, 0], [0, 1], names), run([1, 0], [0, 2], names))
    assert found.difference.clusters == 3


def test_different_units_are_refused() -> None:
    with pytest.raises(UserError, match=r"1 unit is in the second run only \(q\)"):
        paired_difference(run(A, units=("p",)), run(B, units=("p", "q")))


def test_sides_that_number_their_events_otherwise_are_refused() -> None:
    # The same figure by name; what is right is event 1 in the first run and event 0 in the second.
    turned = Share(np.array([0]), np.array([0, 1]))
    with pytest.raises(UserError, match="differ in kind"):
        paired_difference(run(A), run([1 - event for event in B], statistic=turned))
    counted = Over(np.array([1, 0]), lambda totals: totals[:, 0], counted=np.array([1]))
    with pytest.raises(UserError, match="differ in kind"):
        paired_difference(run(A, statistic=counted), run(B, statistic=replace(counted, counted=np.array([0]))))
    # Equal numbers in another object are the same.
    again = Share(np.array([1]), np.array([0, 1]))
    assert paired_difference(run(A), run(B, statistic=again)).difference.value == pytest.approx(0.2)


def test_other_scores_are_refused() -> None:
    with pytest.raises(UserError, match="differ in kind"):
        paired_difference(run(A), run(B, n_events=3))
    with pytest.raises(UserError, match=r"no statistic 'accuracy'.*figure"):
        paired_difference(run(A), run(B), "accuracy")
