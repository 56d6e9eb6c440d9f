"""Distances of distributions: worked by hand, with scipy as the oracle."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import wasserstein_distance

from affectlab.metrics.distribution import precision_at_k, shares, spread, wasserstein

POINTS = (1, 2, 3, 4, 5)
LIKERT = st.lists(st.integers(1, 5), min_size=1, max_size=8)


@pytest.mark.parametrize(
    ("first", "second", "distance"),
    [
        ([0, 1, 3], [5, 6, 8], 5.0),  # every value moves by 5
        ([1, 2, 2, 4, 5], [2, 2, 3, 3, 3], 1.0),  # sorted differences 1 0 1 1 2, mean 5/5
        ([1, 5], [1, 1, 5], 2 / 3),  # a sixth of the mass moves by 4
        ([1, 1, 1, 1, 5], [3, 3, 3, 3, 3], 2.0),
    ],
)
def test_wasserstein(first: list[float], second: list[float], distance: float) -> None:
    points = sorted({*first, *second})
    assert wasserstein(shares(first, points), shares(second, points), points) == pytest.approx(distance)


@given(LIKERT, LIKERT)
def test_wasserstein_is_scipys_and_zero_for_equals(first: list[int], second: list[int]) -> None:
    one, other = (shares(values, POINTS) for values in (first, second))
    assert wasserstein(one, other, POINTS) == pytest.approx(wasserstein_distance(first, second), abs=1e-12)
    assert wasserstein(one, shares(list(reversed(first)), POINTS), POINTS) == 0


def test_many_at_a_time_are_what_each_is_alone() -> None:
    rng = np.random.default_rng(0)
    people, drawn = rng.dirichlet(np.ones(5), 6), rng.dirichlet(np.ones(5), (4, 6))
    distances, spreads = wasserstein(people, drawn, POINTS), spread(drawn, POINTS)
    chosen = precision_at_k(spread(people, POINTS).deviation, spreads.deviation, 2)
    for draw in range(4):
        for place in range(6):
            assert distances[draw, place] == pytest.approx(wasserstein(people[place], drawn[draw, place], POINTS))
            assert spreads.mean[draw, place] == pytest.approx(spread(drawn[draw, place], POINTS).mean)
        assert chosen[draw] == precision_at_k(spread(people, POINTS).deviation, spreads.deviation[draw], 2)


def test_spread_divides_by_n() -> None:
    # mean 2.8, squared deviations 3.24 .64 .64 1.44 4.84 = 10.8, /5 = 2.16
    mean, deviation = spread(shares([1, 2, 2, 4, 5], POINTS), POINTS)
    assert mean == pytest.approx(2.8)
    assert deviation == pytest.approx(1.469694, abs=5e-7)


def test_a_sample_without_a_distribution_on_the_scale() -> None:
    with pytest.raises(ValueError, match="empty"):
        shares([], POINTS)
    with pytest.raises(ValueError, match="0 is no point"):
        shares([1, 0], POINTS)


def test_precision_at_k_breaks_ties_at_random() -> None:
    human, model = [0.9, 0.1, 0.5, 0.5, 0.3], [0.2, 0.8, 0.6, 0.4, 0.6]
    # k=2: people 1, 0, 1/2, 1/2, 0; model 0, 1, 1/2, 0, 1/2; one place in common with 1/2 * 1/2, of two.
    assert precision_at_k(human, model, 2) == pytest.approx(0.125)
    # k=1: place 0 against place 1.  k=3: 0, 2, 3 against 1, 2, 4.
    assert precision_at_k(human, model, 1) == 0
    assert precision_at_k(human, model, 3) == pytest.approx(1 / 3)
    assert precision_at_k(human, model, 5) == 1
    # A tie at the cut: the second place is one of two on both sides, 1 + 2 * 1/4, of two.
    assert precision_at_k([2, 1, 1, 0], [2, 1, 1, 0], 2) == pytest.approx(0.75)
    assert np.isnan(precision_at_k([1, 2], [1, 2], 3))


def test_precision_at_k_wants_pairs() -> None:
    for arguments in (([1], [1, 2], 1), ([1], [1], 0)):
        with pytest.raises(ValueError, match="expected as many"):
            precision_at_k(*arguments)


def test_precision_at_k_of_fewer_places_is_undefined_for_each_of_a_stack() -> None:
    found = precision_at_k(np.ones((4, 1, 2)), np.ones((3, 2)), 3)
    assert found.shape == (4, 3)
    assert np.isnan(found).all()
