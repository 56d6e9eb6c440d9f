"""RQ4 worked by hand, and models whose behaviour is known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from affectlab.benchmarks.care import spaces
from affectlab.benchmarks.care.measures import measures
from affectlab.benchmarks.care.spread import spread_estimates, thinned
from affectlab.benchmarks.care.subjectivity import distribution
from affectlab.items import Item
from affectlab.metrics.predictions import Prediction, PredictionTable
from affectlab.stats.bootstrap import Interval
from affectlab.stats.paired import paired_difference


def story(number: int, ratings: list[list[int]]) -> Item:
    """A story whose observers gave these ratings, a list of them for each dimension."""
    people = [dict(zip(spaces.DIMENSIONS, column, strict=False)) for column in zip(*ratings, strict=True)]
    observers = [{"id": str(n), "woven": "", "persona": [], "answers": a, "listed": []} for n, a in enumerate(people)]
    return Item(f"s{number}", number, {"observers": observers}, {})


def drawn(items: list[Item], draw: Callable[[Item, str, int], int | None]) -> PredictionTable:
    return PredictionTable.from_rows(draws(items, draw))


def draws(items: list[Item], draw: Callable[[Item, str, int], int | None]) -> list[Prediction]:
    def value(item: Item, slot: str, place: int) -> dict[str, Any]:
        found = draw(item, slot, place)
        return {"outcome": "ok" if found is not None else "unparseable", "value": found}

    return [
        Prediction(
            item=item.id,
            cluster=item.id,
            slot=slot,
            gold=distribution(item, slot),
            variant=f"draw={place}",
            **value(item, slot, place),
        )
        for item in items
        for slot in spaces.DIMENSIONS
        if slot in item.inputs["observers"][0]["answers"]
        for place in range(len(item.inputs["observers"]))
    ]


def test_distances_of_one_dimension() -> None:
    # people 1 2 2 4 5 (mean 2.8, sd 1.469694), model 2 2 3 3 3 (mean 2.6, sd .489898), sorted differences mean 1
    model = [2, 2, 3, 3, 3]
    table = drawn([story(0, [[1, 2, 2, 4, 5]])], lambda _item, _slot, place: model[place])
    found = measures(table, "subjective")
    assert found.value("mu_mae") == pytest.approx(0.2)
    assert found.value("sigma_mae") == pytest.approx(0.979796, abs=5e-7)
    assert found.value("wasserstein") == pytest.approx(1.0)
    assert found.value("variance_rho") is None  # one dimension has no ranks


def test_agreement_on_what_varies() -> None:
    # Variances of people 0, 1, 4 and of the model 1, 0, 4: ranks 1 2 3 and 2 1 3, rho = .5
    people = [[3, 3], [2, 4], [1, 5]]
    model = dict(zip(spaces.DIMENSIONS, ([2, 4], [3, 3], [1, 5]), strict=False))
    table = drawn([story(0, people)], lambda _item, slot, place: model[slot][place])
    found = measures(table, "subjective")
    assert found.value("variance_rho") == pytest.approx(0.5)
    assert found.value("precision_at_1") == 1.0
    assert found.value("precision_at_3") == 1.0
    assert found.value("precision_at_5") is None


def test_a_model_that_answers_as_the_observers_is_perfect() -> None:
    items = [story(n, [[1, 2, 5], [3, 3, 4], [2, 2, 2], [1, 5, 5]]) for n in range(3)]
    table = drawn(items, lambda item, slot, place: item.inputs["observers"][place]["answers"][slot])
    found = measures(table, "subjective")
    assert [found.value(name) for name in ("mu_mae", "sigma_mae", "wasserstein", "variance_rho")] == [0, 0, 0, 1]


def test_a_model_that_never_varies_has_no_agreement_on_variances() -> None:
    items = [story(0, [[1, 5], [3, 3], [2, 4]])]
    found = measures(drawn(items, lambda *_: 3), "subjective")
    assert found.value("variance_rho") is None
    assert found.value("sigma_mae") == pytest.approx((2 + 0 + 1) / 3)
    assert found.value("mu_mae") == 0.0


def test_what_cannot_be_read_is_left_out_and_counted() -> None:
    first, second = spaces.DIMENSIONS[:2]
    read = {first: [1, 1, None], second: [4, None, None]}
    table = drawn([story(0, [[1, 5, 3], [2, 2, 2]])], lambda _item, slot, place: read[slot][place])
    found = measures(table, "subjective")
    assert found.value("mu_mae") == pytest.approx(2.0)  # two draws of 1 against mean 3
    # One draw has no spread: taken for one without any, it would be perfect here, as the observers agree.
    assert found.value(f"sigma_mae:{second}") is None
    assert found.value("coverage") == pytest.approx(3 / 6)
    assert thinned(table) == (
        "Spread rests on 2.0 readable draws of 3.0 a rating. 1 of 2 ratings have fewer than 2 and are left out."
    )
    assert thinned(drawn([story(0, [[1, 5, 3]])], lambda *_: 1)) == ""


def test_equal_variances_are_ties_whatever_the_floats_say() -> None:
    # Variances of people .24 .24 .24 and .64, of the model 0 1 2 3 quarters: ranks 2 2 2 4 against 1 2 3 4:
    # deviations -.5 -.5 -.5 1.5 and -1.5 -.5 .5 1.5: products .75 + .25 - .25 + 2.25 = 3; squares 3 and 5.
    people = [[1, 1, 2, 2, 2], [4, 4, 5, 5, 5], [2, 3, 3, 2, 3], [1, 1, 1, 1, 3]]
    model = dict(zip(spaces.DIMENSIONS, ([3] * 5, [2, 2, 2, 2, 3], [2, 2, 2, 2, 4], [2, 2, 2, 2, 5]), strict=False))
    table = drawn([story(0, people)], lambda _item, slot, place: model[slot][place])
    found = measures(table, "subjective")
    assert found.value("variance_rho") == pytest.approx(3 / 15**0.5)
    # The highest of people is the fourth; of three at the second place the model's second highest is one.
    assert found.value("precision_at_3") == pytest.approx((1 + 2 / 3 + 2 / 3) / 3)


def test_a_draw_for_a_dimension_that_nobody_rated_is_compared_with_nothing() -> None:
    made = draws([story(0, [[1, 5]])], lambda *_: 1)
    bare = Prediction("s0", "s0", "control.select", "ok", 4, None, "draw=0")
    found = measures(PredictionTable.from_rows([*made, bare]), "subjective")
    assert found.value("mu_mae") == pytest.approx(2.0)
    assert found.value("mu_mae:control.select") is None


def test_why_there_is_no_agreement_on_variances_is_said_in_the_headline() -> None:
    items = [story(n, [[1, 5], [3, 3], [2, 4]]) for n in range(3)]
    found = spread_estimates(drawn(items, lambda *_: 3), Interval(replicates=10))
    assert found["variance_rho"].value is None
    assert found["variance_rho"].reason == "all variances of the model are equal, in 3 stories"
    few = spread_estimates(drawn([story(0, [[1, 5], [3, 3]])], lambda *_: 3), Interval(replicates=10))
    assert few["variance_rho"].reason == "fewer than 3 dimensions with draws (2), in 1 stories"


def test_shares_are_of_the_observers_who_rated() -> None:
    item = story(0, [[1, 5, 5]])
    del item.inputs["observers"][2]["answers"]["relevance.general"]
    assert distribution(item, "relevance.general") == {"1": 0.5, "5": 0.5}
    found = spread_estimates(drawn([item], lambda *_: 3), Interval(replicates=10))
    assert (found["mu_mae"].value, found["sigma_mae"].value) == (0.0, 2.0)


def test_repeats_of_a_story_are_not_thrown_together() -> None:
    # People 1 and 5, mean 3. Draws 1 1 and again 5 5: 2 away both times; together their mean would be 3.
    items = [story(0, [[1, 5]])]
    rows = [
        replace(row, repeat=repeat)
        for repeat in (0, 1)
        for row in draws(items, lambda *_, repeat=repeat: 1 + 4 * repeat)
    ]
    found = measures(PredictionTable.from_rows(rows), "subjective")
    assert found.value("mu_mae") == pytest.approx(2.0)
    assert found.value("sigma_mae") == pytest.approx(2.0)
    assert spread_estimates(PredictionTable.from_rows(rows), Interval(replicates=10))["mu_mae"].n == 2


def test_unread_draws_are_counted_even_where_every_rating_keeps_enough() -> None:
    # Three draws of one rating, two of them read; and all three of the other: 2.5 on average.
    first, second = spaces.DIMENSIONS[:2]
    read: dict[str, list[int | None]] = {first: [1, None, 2], second: [1, 1, 1]}
    made = draws([story(0, [[1, 5, 3], [2, 2, 2]])], lambda _item, slot, place: read[slot][place])
    said = "Spread rests on 2.5 readable draws of 3.0 a rating. 0 of 2 ratings have fewer than 2 and are left out."
    assert thinned(PredictionTable.from_rows(made)) == said
    # What nobody rated is compared with nothing, read or not.
    bare = [Prediction("s0", "s0", "control.select", "empty", None, None, f"draw={place}") for place in range(3)]
    assert thinned(PredictionTable.from_rows([*made, *bare])) == said
    whole = drawn([story(0, [[1, 5, 3]])], lambda *_: 1)
    assert thinned(PredictionTable.from_rows([*draws([story(0, [[1, 5, 3]])], lambda *_: 1), *bare])) == thinned(whole)


def test_two_models_are_compared_on_the_stories_in_which_both_vary() -> None:
    # Variances of people 0 1 4. The first model's 1 0 4 in the first story (rho .5) and people's own in the second (1);
    # the second model's are people's own in the first and all equal in the second, which has no rho then.
    items = [story(number, [[3, 3], [2, 4], [1, 5]]) for number in range(2)]
    own = dict(zip(spaces.DIMENSIONS, ([3, 3], [2, 4], [1, 5]), strict=False))
    other = dict(zip(spaces.DIMENSIONS, ([2, 4], [3, 3], [1, 5]), strict=False))
    a = measures(drawn(items, lambda item, slot, place: (other if item.id == "s0" else own)[slot][place]), "subjective")
    b = measures(drawn(items, lambda item, slot, place: own[slot][place] if item.id == "s0" else 3), "subjective")
    found = paired_difference(a, b, "variance_rho", Interval(replicates=20))
    assert found.a == pytest.approx(0.5)
    assert found.b == pytest.approx(1.0)
    assert found.difference.n == 1
    assert a.value("variance_rho") == pytest.approx(0.75)
