"""RQ3 worked by hand, and models whose behaviour is known."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import pearsonr, spearmanr

from affectlab.benchmarks.alike import Answers, differences
from affectlab.benchmarks.base import Scoring
from affectlab.benchmarks.care import spaces
from affectlab.benchmarks.care.counterfactual import WRITER, opposite
from affectlab.benchmarks.care.measures import measures
from affectlab.benchmarks.care.scores import score
from affectlab.benchmarks.care.shifts import Pairs, ranked, shifts
from affectlab.metrics.numeric import pearson
from affectlab.metrics.predictions import Prediction, PredictionTable
from affectlab.metrics.scores import Scores
from affectlab.stats.bootstrap import Interval
from affectlab.stats.paired import paired_differences

D = "control.general"
GLAD, CALM = "glad_happy_joyful", "calm_peaceful_relaxed"
STORIES = {  # writer, observers
    "1": (1, (4, 5)),
    "2": (2, (4, 1)),  # the second observer is on the writer's side
    "3": (5, (1, 1)),
    "4": (4, (2, 3)),  # the second is on no side
    "5": (2, (5, 4)),
}


def table(answer: Callable[[str, int], int | None]) -> PredictionTable:
    """Predictions of a model that answers from who speaks and what they rated."""
    return PredictionTable.from_rows(predictions(answer))


def predictions(answer: Callable[[str, int], int | None], slot: str = D) -> list[Prediction]:
    """The same as rows."""
    rows = []
    for story, (writer, observers) in STORIES.items():
        told = {WRITER: writer, **{f"observer={place}": rating for place, rating in enumerate(observers)}}
        for variant, rating in told.items():
            value = answer(variant, rating)
            outcome = "ok" if value is not None else "unparseable"
            rows.append(Prediction(story, story, slot, outcome, value, rating, variant))
    return rows


def pairs(made: PredictionTable) -> tuple[list[float], list[float]]:
    found = shifts(made, made.cluster.codes.tolist())["appraisal", D]
    return found.human, found.model


def scored(made: PredictionTable) -> Scores:
    return score(Scoring(made, "neutral", "counterfactual", Interval(replicates=50)))


@pytest.mark.parametrize(
    ("first", "third", "selected"),
    [(1, 5, True), (4, 2, True), (3, 5, False), (1, 3, False), (1, 2, False), (None, 5, False), (1, None, False)],
)
def test_selection_is_by_sides_of_the_midpoint(first: int | None, third: int | None, selected: bool) -> None:
    assert opposite(first, third) is selected


def test_human_shift_is_of_those_on_the_other_side() -> None:
    human, model = pairs(table(lambda _, rating: rating))
    # (4+5)/2 - 1;  4 - 2;  1 - 5;  2 - 4;  4.5 - 2
    assert human == [3.5, 2.0, -4.0, -2.0, 2.5]
    assert model == human


def test_a_model_that_copies_the_shift_correlates_at_1() -> None:
    # At half the size, that is: what matters is proportion.
    made = table(lambda _, rating: 10 + 2 * rating)
    found = measures(made, "counterfactual")
    assert found.value("appraisal_r") == found.value(f"appraisal_r:{D}") == 1.0
    assert measures(table(lambda _, rating: -rating), "counterfactual").value("appraisal_r") == -1.0


def test_a_model_that_ignores_the_reasoning_is_undefined_and_says_why() -> None:
    scores = scored(table(lambda *_: 4))
    assert scores.figure("appraisal_r").value is None
    line = scores.table("shifts").rows[0]
    assert line[0] == "all"
    assert [cell.reason for cell in line[5:]] == ["all model shifts are equal"] * 2  # type: ignore[union-attr]
    assert line[4] == 0.0


def test_pearson_and_spearman_by_hand() -> None:
    # Model shifts 1 1 -1 1 0 against human 3.5 2 -4 -2 2.5: means .4 and .4;
    # products of deviations: 3.1*.6 + 1.6*.6 + -4.4*-1.4 + -2.4*.6 + 2.1*-.4 = 1.86+.96+6.16-1.44-.84 = 6.7
    # squares: human 9.61+2.56+19.36+5.76+4.41 = 41.7, model .36*3+1.96+.16 = 3.2; r = 6.7/sqrt(133.44)
    shift = {"1": 1, "2": 1, "3": -1, "4": 1, "5": 0}
    rows = []
    for story, (writer, observers) in STORIES.items():
        told = {WRITER: writer, **{f"observer={place}": rating for place, rating in enumerate(observers)}}
        rows += [
            Prediction(story, story, D, "ok", 3 + (shift[story] if variant != WRITER else 0), rating, variant)
            for variant, rating in told.items()
        ]
    scores = scored(PredictionTable.from_rows(rows))
    assert scores.figure("appraisal_r").value == pytest.approx(6.7 / 133.44**0.5)
    assert (scores.figure("appraisal_r").n, scores.figure("appraisal_r").clusters) == (5, 5)
    # ranks: human 5 3 1 2 4, model 4 4 1 4 2 (three share 3, 4, 5): deviations 2 0 -2 -1 1 and 1 1 -2 1 -1:
    # 2+0+4-1-1 = 4; squares 10 and 8: 4/sqrt(80)
    spearman = scores.table("shifts").rows[0][6]
    assert spearman.value == pytest.approx(4 / 80**0.5)  # type: ignore[union-attr]


def test_two_pairs_are_no_correlation() -> None:
    made = table(lambda _, rating: rating)
    two = made.where(made.item.equals("1") | made.item.equals("3"))
    scores = scored(two)
    assert scores.figure("appraisal_r").value is None
    assert scores.table("shifts").rows[0][5].reason == "a correlation needs at least 3 pairs, there are 2"  # type: ignore[union-attr]


def test_an_answer_that_cannot_be_read_leaves_its_person_out_of_both_means() -> None:
    human, model = pairs(table(lambda _, rating: None if rating == 5 else rating))
    # story 1 without the second observer: 4 - 1; story 3 without its writer is out; story 5: 4 - 2
    assert human == model == [3.0, 2.0, -2.0, 2.0]


def test_label_rates_shift_with_the_people_meant() -> None:
    rows: list[Prediction] = []
    for variant, rating, gold, said in (
        (WRITER, 1, (), (GLAD,)),
        ("observer=a", 5, (GLAD,), (GLAD,)),
        ("observer=b", 4, (), ()),
        ("observer=c", 2, (GLAD,), ()),
    ):
        sets: tuple[tuple[str, Any, Any], ...] = ((D, rating, rating), ("positive_labels", gold, said))
        rows += [Prediction("s", "s", slot, "ok", answer, right, variant) for slot, right, answer in sets]
    made = PredictionTable.from_rows(rows)
    found = shifts(made, [0] * len(rows))["positive_labels", D]
    place = 2  # glad is the third of the ten
    # a and b lie on the other side: people 1/2 - 0, model 1/2 - 1
    assert (found.human[place], found.model[place]) == (0.5, -0.5)
    assert len(found.human) == 10
    assert set(found.human[:2] + found.human[3:]) == {0.0}


def test_shifts_of_the_mean_of_the_scale_are_their_own() -> None:
    made = [
        *predictions(lambda _, rating: rating),
        *predictions(lambda _, rating: 6 - rating, spaces.expected(D)),
    ]
    found = measures(PredictionTable.from_rows(made), "counterfactual-likelihood")
    assert (found.value("appraisal_r"), found.value("appraisal_expected_r")) == (1.0, -1.0)


def test_equal_shifts_are_no_variation_in_the_totals_either() -> None:
    found = measures(table(lambda variant, _: 4 if variant == WRITER else 5), "counterfactual")
    assert found.value("appraisal_r") is None


def test_an_interval_of_ranks_resamples_stories() -> None:
    # Two stories of two pairs and three of one: an interval by story has other replicates than one by pair, and a
    # resample of one story alone (two pairs, or one pair five times) is undefined.
    pairs = Pairs()
    for story, people, said in ((0, 1, 2), (0, 2, 1), (1, 3, 3), (1, 4, 5), (2, 5, 4), (3, 0, 1), (4, 2, 2)):
        pairs.add(story, people, said)
    apart = Pairs(list(range(7)), pairs.human, pairs.model)
    how = Interval(replicates=400)
    by_story, by_pair = ranked("rho", pairs, how), ranked("rho", apart, how)
    assert (by_story.n, by_story.clusters, by_pair.clusters) == (7, 5, 7)
    # ranks 2 3.5 5 6 7 1 3.5 and 3.5 1.5 5 7 6 1.5 3.5: as scipy has it
    assert by_story.value == pytest.approx(spearmanr(pairs.human, pairs.model).statistic)
    assert (by_story.low, by_story.high) != (by_pair.low, by_pair.high)
    clusters, human, model = pairs.arrays()
    rng, found = np.random.Generator(np.random.PCG64(how.seed)), []
    for _ in range(how.replicates):
        rows = np.concatenate([np.flatnonzero(clusters == drawn) for drawn in rng.integers(5, size=5)])
        if np.ptp(human[rows]) and np.ptp(model[rows]):
            found.append(spearmanr(human[rows], model[rows]).statistic)
    assert [by_story.low, by_story.high] == pytest.approx(list(np.quantile(found, (0.025, 0.975))))


def test_the_shift_of_a_label_the_writer_alone_has_is_down() -> None:
    # People: 0 - 1; the model, which keeps it: 1 - 1. And of a label that the observer alone has: 1 - 0 and 0 - 0.
    sets = ((WRITER, 1, (GLAD,), (GLAD,)), ("observer=a", 5, (CALM,), (GLAD,)))
    rows = [
        Prediction("s", "s", slot, "ok", answer, right, variant)
        for variant, rating, gold, said in sets
        for slot, right, answer in ((D, rating, rating), ("positive_labels", gold, said))
    ]
    found = shifts(PredictionTable.from_rows(rows), [0] * len(rows))["positive_labels", D]
    shift = dict(zip(spaces.SETS["positive_labels"].ids, zip(found.human, found.model, strict=True), strict=True))
    assert (shift[GLAD], shift[CALM]) == ((-1.0, 0.0), (1.0, 0.0))


def test_an_undefined_headline_has_the_reason_of_its_table() -> None:
    scores = scored(table(lambda *_: 4))
    assert scores.figure("appraisal_r").reason == "all model shifts are equal"
    assert scores.figure("positive_level_r").reason == "a correlation needs at least 3 pairs, there are 0"
    assert scores.table("feelings").rows[0][1] == scores.figure("positive_level_r")


def world(seed: int, answer: Callable[[random.Random, int], int]) -> tuple[list[float], list[float]]:
    """Human and model shifts over forty stories of one writer and three observers each."""
    rng = random.Random(seed)
    rows = []
    for story in range(40):
        for variant in (WRITER, "observer=a", "observer=b", "observer=c"):
            rating = rng.randint(1, 5)
            rows.append(Prediction(str(story), str(story), D, "ok", answer(rng, rating), rating, variant))
    return pairs(PredictionTable.from_rows(rows))


@pytest.mark.parametrize("seed", range(5))
def test_a_copying_model_correlates_at_1_in_any_world(seed: int) -> None:
    human, model = world(seed, lambda _rng, rating: rating)
    assert pearson(human, model).value == 1.0
    assert pearson(*world(seed, lambda *_: 2)).value is None


def test_a_model_that_ignores_the_reasoning_and_wavers_correlates_at_0() -> None:
    """Over 200 worlds the test at .05 rejects in about 10: in 24 or more with a probability below .0001."""
    found = [pearsonr(*world(seed, lambda rng, _: rng.randint(1, 5))) for seed in range(200)]
    assert sum(one.pvalue < 0.05 for one in found) <= 23
    # Mean of 200 correlations of about 30 pairs each: standard error about .18 / sqrt(200) = .013.
    assert abs(sum(one.statistic for one in found) / 200) < 4 * 0.013


def test_two_runs_are_paired_figure_by_figure_whatever_each_could_read_first() -> None:
    rng = random.Random(4)

    def side(first: str, second: str) -> PredictionTable:
        rows = [*predictions(lambda *_: rng.randint(1, 5), first), *predictions(lambda *_: rng.randint(1, 5), second)]
        return PredictionTable.from_rows(rows)

    # The dimension and the figure that bring the first pair of shifts are not the same on both sides.
    a, b = (measures(side(*slots), "counterfactual") for slots in ((D, "control.select"), ("control.select", D)))
    names = ("appraisal_r", f"appraisal_r:{D}", "appraisal_r:control.select")
    found = paired_differences(a, b, names, Interval(replicates=20))
    for name in names:
        first, second = a.value(name), b.value(name)
        assert first is not None
        assert second is not None
        assert found[name].difference.value == pytest.approx(first - second)
        assert abs(first - second) > 0.01


def test_what_is_read_on_one_side_only_takes_no_feelings_of_others_along() -> None:
    """A writer's rating says whose feelings shift, read or not: levels are compared on all that both sides read."""
    levels = [replace(row, gold=row.value) for row in predictions(lambda _, rating: rating, "positive_level")]
    said = [replace(row, value=6 - row.value if row.item < "4" else row.value) for row in levels]
    rated = predictions(lambda _, rating: rating)
    unread = [replace(row, value=None, outcome="empty") if row.variant == WRITER else row for row in rated]
    sides = [PredictionTable.from_rows(rows) for rows in ([*rated, *levels], [*unread, *said])]
    first, second = (Answers(side, lambda table: measures(table, "counterfactual")) for side in sides)
    found = differences(first, second, ("positive_level_r", "appraisal_r"), Interval(replicates=20))
    # Human shifts 3.5 2 -4 -2 2.5; the second side turns the first three round: deviations from .4 and -.2 (sums 2, -1)
    human, turned = np.array([3.5, 2, -4, -2, 2.5]), np.array([-3.5, -2, 4, -2, 2.5])
    assert found["positive_level_r"].a == pytest.approx(1.0)
    assert found["positive_level_r"].b == pytest.approx(pearsonr(human, turned).statistic)
    assert found["positive_level_r"].difference.n == 5
    assert (found["appraisal_r"].a, found["appraisal_r"].b) == (None, None)
