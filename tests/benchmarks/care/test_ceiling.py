"""RQ4's noise ceiling worked by hand, and who reaches it."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations, product
from statistics import mean, pstdev, stdev
from typing import Any

import numpy as np
import pytest
from tests.benchmarks.care.test_spread import drawn, story

from affectlab.benchmarks.base import Scoring
from affectlab.benchmarks.care import BENCHMARK, spaces
from affectlab.benchmarks.care.ceiling import CEILING, NOTHING_READ, SAMPLES, both_defined, halves, reference
from affectlab.benchmarks.care.measures import measures
from affectlab.benchmarks.care.scores import score
from affectlab.benchmarks.care.spread import ALL, compared
from affectlab.items import Item
from affectlab.metrics.predictions import PredictionTable
from affectlab.stats.bootstrap import Interval


def on(items: list[Item], *, draws: int | None = None) -> PredictionTable:
    """A run whose draws are all 3; of each dimension the first ``draws`` can be read."""
    return drawn(items, lambda _item, _slot, place: 3 if draws is None or place < draws else None)


def test_the_ceiling_is_the_expectation_over_draws_from_the_observers() -> None:
    # Ratings 1 2 5: all 27 ways to draw three of them, each equally likely.
    ways = list(product((1, 2, 5), repeat=3))
    expected = {
        "mu_mae": mean(abs(mean(way) - 8 / 3) for way in ways),
        "sigma_mae": mean(abs(pstdev(way) - pstdev((1, 2, 5))) for way in ways),
        "wasserstein": mean(mean(abs(a - b) for a, b in zip(sorted(way), (1, 2, 5), strict=True)) for way in ways),
    }
    items = [story(number, [[1, 2, 5]] * 22) for number in range(20)]
    found = reference(on(items), CEILING)
    for name, value in expected.items():
        # 20 stories * 22 dimensions * 100 samples of three: a standard error below .004 for any of them
        assert found.value(name) == pytest.approx(value, abs=0.015)


def test_the_ceiling_has_as_many_draws_as_the_model() -> None:
    # Two readable draws of 1 or 5 against mean 3: 2 away half of the time, else 0. Four: of 16 ways 2 are 2 away, 8 are
    # 1 away, 6 hit it: 12/16.
    items = [story(number, [[1, 5, 1, 5]] * 22) for number in range(20)]
    assert reference(on(items, draws=2), CEILING).value("mu_mae") == pytest.approx(1.0, abs=0.05)
    assert reference(on(items), CEILING).value("mu_mae") == pytest.approx(0.75, abs=0.05)


def test_answers_that_read_nothing_by_hand() -> None:
    items = [story(number, [[1, 1]] * 22) for number in range(20)]
    assert reference(on(items), NOTHING_READ["always the middle"]).value("mu_mae") == 2.0
    # The mean of draws from 1 to 5 is 3, and never below 1.
    assert reference(on(items), NOTHING_READ["uniform draws"]).value("mu_mae") == pytest.approx(2.0, abs=0.03)
    assert reference(on(items), CEILING).value("wasserstein") == 0.0


def test_a_storys_samples_do_not_depend_on_the_other_stories() -> None:
    items = [story(number, [[1, 2, 5], [3, 3, 4], [1, 1, 2]]) for number in range(3)]
    alone, among = (compared(on(some), [0] * 27)[0] for some in (items[:1], items))
    assert (CEILING(alone) == CEILING(among)).all()
    assert CEILING(alone).shape == (SAMPLES, 3, 5)
    assert not (CEILING(alone) == CEILING(compared(on(items), [0] * 27)[1])).all()


def test_halves_are_every_split() -> None:
    # Ratings 1 2 5: one drawn against two. |1 - 3.5|, |2 - 3|, |5 - 1.5| = 2.5 + 1 + 3.5, /3
    items = [story(0, [[1, 2, 5]])]
    found = halves(on(items), items)
    assert found.value("mu_mae") == pytest.approx(7 / 3)
    # sd of the two: 1.5, 2, .5; of the one: 0
    assert found.value("sigma_mae") == pytest.approx(4 / 3)
    alone = [story(1, [[3]])]
    assert halves(on(alone), alone).value("mu_mae") is None


def test_a_missing_rating_leaves_its_half() -> None:
    item = story(0, [[1, 2, 5], [1, 1, 1]])
    del item.inputs["observers"][2]["answers"]["relevance.general"]
    found = halves(on([item]), [item])
    # splits {0}|{1,2}: 1 against 2; {1}|{0,2}: 2 against 1; {2}|{0,1}: nobody in the small half
    assert found.value("mu_mae:relevance.general") == 1.0


def test_precision_of_halves_by_hand() -> None:
    # Dimensions 1 1 5 / 3 3 3 / 1 5 5. Small half one person: its variances are all 0, so each place is the highest
    # with probability 1/3. So precision at 1 is 1/3 for every split, whatever the others' variances are.
    items = [story(0, [[1, 1, 5], [3, 3, 3], [1, 5, 5]])]
    assert halves(on(items), items).value("precision_at_1") == pytest.approx(1 / 3)
    # Four people, two against two; dimensions 1 1 5 5 / 3 3 3 3 / 1 5 1 5, variances by split of who is drawn:
    # 01|23: 0 0 4 | 0 0 4: both the third: 1     02|13: 4 0 0 | 4 0 0: both the first: 1
    # 03|12: 4 0 4 | 4 0 4: half of the time each: 1/4 + 1/4 = 1/2;    and the mirror images of the three
    items = [story(0, [[1, 1, 5, 5], [3, 3, 3, 3], [1, 5, 1, 5]])]
    assert halves(on(items), items).value("precision_at_1") == pytest.approx((1 + 1 + 1 / 2) / 3)


def test_a_story_weighs_the_same_however_many_splits_it_has() -> None:
    # Two observers: 1 against 5, 4 apart, in two splits. Four, two at 1 and two at 5: of six splits two are 4 apart,
    # four are 0: 4/3.
    items = [story(0, [[1, 5]]), story(1, [[1, 1, 5, 5]])]
    assert halves(on(items), items).value("mu_mae") == pytest.approx((4 + 4 / 3) / 2)


def test_many_observers_are_split_a_hundred_times() -> None:
    # C(30, 15) is 155 million. Halves of 15: variance of a difference of means 2 * 2 / 15 * 29/30 (about), so the mean
    # distance is sqrt(2/pi) * .52 = .41.
    items = [story(number, [[1 + place % 5 for place in range(30)]]) for number in range(10)]
    found = halves(on(items), items).value("mu_mae")
    assert found == pytest.approx(0.41, abs=0.05)


def world(seed: int, stories: int = 6) -> list[Item]:
    """Stories of five observers; each dimension has its own middle and spread, which is what there is to be sensed."""
    rng = random.Random(seed)
    items = []
    for number in range(stories):
        ratings = []
        for _ in range(8):
            width, middle = rng.choice((0, 1, 2)), rng.randint(1, 5)
            ratings.append([min(5, max(1, middle + rng.randint(-width, width))) for _ in range(5)])
        items.append(story(number, ratings))
    return items


Draw = Callable[[random.Random, Item, str], int]


def apart(draw: Draw, worlds: int = 40) -> dict[str, list[float]]:
    """Model minus ceiling in as many worlds, by figure."""
    found: dict[str, list[float]] = {name: [] for name in ALL}
    for seed in range(worlds):
        rng, items = random.Random(1000 + seed), world(seed)
        table = drawn(items, lambda item, slot, _place, rng=rng: draw(rng, item, slot))  # type: ignore[misc]
        model, ceiling = measures(table, "subjective"), reference(table, CEILING)
        for name in ALL:
            mine, there = model.value(name), ceiling.value(name)
            if mine is not None and there is not None:
                found[name].append(mine - there)
    return found


def from_the_observers(rng: random.Random, item: Item, slot: str) -> int:
    rating: int = rng.choice(item.inputs["observers"])["answers"][slot]
    return rating


def test_a_model_that_draws_from_the_observers_reaches_the_ceiling() -> None:
    """On average over 40 worlds it is neither above nor below, in any figure: within 3.5 standard errors of 0."""
    for name, values in apart(from_the_observers).items():
        assert len(values) == 40
        assert abs(mean(values)) < 3.5 * stdev(values) / 40**0.5, name


@pytest.mark.parametrize("draw", [lambda rng, _i, _s: rng.randint(1, 5), lambda *_: 3], ids=["uniform", "constant"])
def test_a_model_that_reads_nothing_does_not(draw: Draw) -> None:
    """In each of 40 worlds it is farther from the observers than the ceiling, in every distance."""
    found = apart(draw)
    for name in ("mu_mae", "sigma_mae", "wasserstein"):
        assert min(found[name]) > 0, name
    for name in ("variance_rho", "precision_at_3"):
        assert all(value < 0 for value in found[name]), name


def sheet(draw: Draw, items: tuple[Item, ...], asked: int | None = None) -> dict[Any, dict[str, Any]]:
    rng = random.Random(0)
    table = drawn(list(items[:asked]), lambda item, slot, _place: draw(rng, item, slot))
    made = score(Scoring(table, "neutral", "subjective-persona", Interval(replicates=200), items)).table("spread")
    return {row[0]: dict(zip(made.columns, row, strict=True)) for row in made.rows}


def test_the_sheet_tells_who_reaches_the_ceiling_on_the_sample() -> None:
    items = BENCHMARK.load(str(BENCHMARK.sample), {}, {}).items
    near = sheet(from_the_observers, items)["model minus ceiling"]
    for name in ALL:
        assert near[name].low <= 0 <= near[name].high, name
    chance = sheet(lambda rng, *_: rng.randint(1, 5), items)
    for name in ("mu_mae", "sigma_mae", "wasserstein"):
        assert chance["model minus ceiling"][name].low > 0
        # and the model is where the row of uniform draws says
        assert chance["model"][name].value == pytest.approx(chance["uniform draws"][name].value, abs=0.1)
    constant = sheet(lambda *_: 3, items)
    for name in ("mu_mae", "sigma_mae", "wasserstein"):
        assert constant["model minus ceiling"][name].low > 0
        assert constant["model"][name].value == pytest.approx(constant["always the middle"][name].value)


def test_the_ceiling_is_of_the_stories_that_were_asked() -> None:
    items = (story(0, [[1, 5]] * 22), story(1, [[3, 3]] * 22))
    found = sheet(lambda *_: 3, items, asked=1)
    assert found["noise ceiling"]["wasserstein"].clusters == 1
    assert found["observers in halves"]["mu_mae"].value == 4.0
    assert found["observers in halves"]["mu_mae"].n == len(spaces.DIMENSIONS)


def test_the_papers_figures_stand_beside_the_same_way_of_drawing() -> None:
    found = sheet(lambda *_: 3, tuple(story(n, [[1, 5], [3, 3], [2, 4]]) for n in range(3)))["paper, Qwen 3.5-9B"]
    assert (found["mu_mae"], found["precision_at_5"], found["precision_at_1"]) == (0.874, 0.278, None)


def test_the_note_counts_stories_without_agreement_on_variances() -> None:
    items = (story(0, [[1, 5], [3, 3], [2, 4]]), story(1, [[1, 1], [3, 3], [2, 2]]))
    rng = random.Random(1)
    table = drawn(list(items), lambda _i, _s, place: 1 + place * rng.randint(0, 4))
    made = score(Scoring(table, "neutral", "subjective", Interval(replicates=10), items)).table("spread")
    assert "Left out of variance_rho: 1 stories: all variances of the observers are equal." in made.note


def test_points_are_those_of_the_scale() -> None:
    assert np.array_equal(compared(on([story(0, [[1, 5]])]), [0, 0])[0].people, [[0.5, 0, 0, 0, 0.5]])


def test_a_figure_is_compared_with_the_ceiling_of_the_stories_that_have_it() -> None:
    ratings = [[[1, 5, 1], [3, 3, 4], [2, 4, 2]], [[1, 1, 5], [2, 2, 2], [4, 5, 4]]]
    items = [story(number, some) for number, some in enumerate(ratings)]
    # The model varies in the second story alone: in the first it has no correlation of variances.
    own = lambda item, slot, place: 3 if item.id == "s0" else item.inputs["observers"][place]["answers"][slot]  # noqa: E731
    table = drawn(items, own)
    model, ceiling = both_defined(table, CEILING)
    alone = drawn(items[1:], own)
    assert model.value("variance_rho") == measures(alone, "subjective").value("variance_rho") == 1.0
    assert ceiling.value("variance_rho") == reference(alone, CEILING).value("variance_rho")
    assert ceiling.value("variance_rho") != reference(table, CEILING).value("variance_rho")
    # Distances are defined in both, and so are the places that vary most, a tie of all in the first.
    for name in ("mu_mae", "sigma_mae", "wasserstein", "precision_at_1"):
        assert model.value(name) == measures(table, "subjective").value(name)
        assert ceiling.value(name) == reference(table, CEILING).value(name)
    made = score(Scoring(table, "neutral", "subjective", Interval(replicates=10), tuple(items))).table("spread")
    line = {row[0]: dict(zip(made.columns, row, strict=True)) for row in made.rows}["model minus ceiling"]
    there = ceiling.value("variance_rho")
    assert there is not None
    assert line["variance_rho"].value == pytest.approx(1 - there)  # type: ignore[union-attr]
    assert line["variance_rho"].n == 1  # type: ignore[union-attr]
    # The other way round: the middle never varies, so there is nothing to set the model against.
    assert both_defined(table, NOTHING_READ["always the middle"])[0].value("variance_rho") is None


def test_halves_of_five_observers_are_all_ten_splits() -> None:
    ratings = [1, 1, 2, 4, 5]
    apart = [
        abs(mean(ratings[place] for place in small) - mean(ratings[place] for place in {0, 1, 2, 3, 4} - {*small}))
        for small in combinations(range(5), 2)
    ]
    assert len(apart) == 10
    items = [story(0, [ratings])]
    assert halves(on(items), items).value("mu_mae") == pytest.approx(mean(apart))


def test_each_story_has_splits_of_its_own_where_they_are_drawn() -> None:
    # C(13, 6) is 1716: a hundred of them are drawn, by the story's name.
    ratings = [[1 + place**2 % 5 for place in range(13)]]
    first, second = ([story(number, ratings)] for number in range(2))
    found = [halves(on(items), items).value("mu_mae") for items in (first, second, first)]
    assert found[0] == found[2]
    assert found[0] != found[1]


def test_a_dimension_without_one_half_takes_no_other_along() -> None:
    item = story(0, [[1, 2, 5], [1, 2, 5]])
    del item.inputs["observers"][2]["answers"]["relevance.general"]
    found = halves(on([item]), [item])
    # The second dimension has all three splits, 2.5, 1 and 3.5 apart; the first has none of the third observer.
    second = spaces.DIMENSIONS[1]
    assert found.value(f"mu_mae:{second}") == pytest.approx(7 / 3)
    assert found.value("mu_mae:relevance.general") == 1.0


def test_a_story_is_found_whatever_its_name() -> None:
    item = replace(story(0, [[1, 5]]), id="folder/0")
    assert halves(on([item]), [item]).value("mu_mae") == 4.0


def test_distances_by_dimension_stand_under_their_names() -> None:
    # As in test_spread: .2, .979796 and 1 scale points.
    model = [2, 2, 3, 3, 3]
    items = (story(0, [[1, 2, 2, 4, 5]]),)
    table = drawn(list(items), lambda _item, _slot, place: model[place])
    made = score(Scoring(table, "neutral", "subjective", Interval(replicates=10), items)).table("spread_by_dimension")
    line = dict(zip(made.columns, made.rows[0], strict=True))
    assert line["dimension"] == spaces.DIMENSIONS[0]
    found = [line[name].value for name in ("mu_mae", "sigma_mae", "wasserstein")]  # type: ignore[union-attr]
    assert found == pytest.approx([0.2, 0.979796, 1.0], abs=5e-7)
