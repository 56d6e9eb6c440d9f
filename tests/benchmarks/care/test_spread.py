"""RQ4 worked by hand, and models whose behaviour is known."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from affectlab.benchmarks.care import spaces
from affectlab.benchmarks.care.measures import measures
from affectlab.benchmarks.care.spread import halves, spread_measures
from affectlab.benchmarks.care.subjectivity import distribution
from affectlab.items import Item
from affectlab.metrics.predictions import Prediction, PredictionTable


def story(number: int, ratings: list[list[int]]) -> Item:
    """A story whose observers gave these ratings, a list of them for each dimension."""
    people = [dict(zip(spaces.DIMENSIONS, column, strict=False)) for column in zip(*ratings, strict=True)]
    observers = [{"id": str(n), "woven": "", "persona": [], "answers": a, "listed": []} for n, a in enumerate(people)]
    return Item(f"s{number}", number, {"observers": observers}, {})


def drawn(items: list[Item], draw: Callable[[Item, str, int], int | None]) -> PredictionTable:
    def value(item: Item, slot: str, place: int) -> dict[str, Any]:
        found = draw(item, slot, place)
        return {"outcome": "ok" if found is not None else "unparseable", "value": found}

    return PredictionTable.from_rows(
        Prediction(
            item=item.id,
            cluster=item.id,
            slot=slot,
            gold=distribution(item, slot),
            variant=f"draw={place}",
            **value(item, slot, place),
        )
        for item in items
        for slot in item.inputs["observers"][0]["answers"]
        for place in range(len(item.inputs["observers"]))
    )


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
    table = drawn([story(0, [[1, 5]])], lambda _item, _slot, place: None if place else 1)
    found = measures(table, "subjective")
    assert found.value("mu_mae") == pytest.approx(2.0)  # the one draw, 1, against mean 3
    assert found.value("coverage") == pytest.approx(1 / 2)


def test_the_ceiling_is_every_split_into_halves() -> None:
    # Ratings 1 2 5: one drawn against two. |1 - 3.5|, |2 - 3|, |5 - 1.5| = 2.5 + 1 + 3.5, /3
    found = spread_measures(halves([story(0, [[1, 2, 5]])]))
    assert found.value("mu_mae") == pytest.approx(7 / 3)
    # sd of the two: 1.5, 2, .5; of the one: 0
    assert found.value("sigma_mae") == pytest.approx(4 / 3)
    assert len(halves([Item("no one", 0, {}, {}), story(1, [[3]])])) == 0


def test_a_model_that_samples_from_the_observers_reaches_the_ceiling() -> None:
    rng = random.Random(1)
    ratings = [[[rng.randint(1, 5) for _ in range(5)] for _ in range(22)] for _ in range(40)]
    items = [story(number, one) for number, one in enumerate(ratings)]

    def sample(item: Item, slot: str, _place: int) -> int:
        rated: int = rng.choice(item.inputs["observers"])["answers"][slot]
        return rated

    model, ceiling = measures(drawn(items, sample), "subjective"), spread_measures(halves(items))
    for name in ("mu_mae", "sigma_mae", "wasserstein"):
        reached, best = model.value(name), ceiling.value(name)
        assert reached is not None
        assert best is not None
        assert reached < best
    rho, split = model.value("variance_rho"), ceiling.value("variance_rho")
    assert rho is not None
    assert split is not None
    assert rho > split
