"""Distances of distributions: worked by hand, with scipy as the oracle."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import wasserstein_distance

from affectlab.metrics.distribution import precision_at_k, shares, spread, wasserstein

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
    assert wasserstein(shares(first), shares(second)) == pytest.approx(distance)


@given(LIKERT, LIKERT)
def test_wasserstein_is_scipys_and_zero_for_equals(first: list[int], second: list[int]) -> None:
    found = wasserstein(shares(first), shares(second))
    assert found == pytest.approx(wasserstein_distance(first, second), abs=1e-12)
    assert wasserstein(shares(first), shares(list(reversed(first)))) == 0


def test_spread_divides_by_n() -> None:
    # mean 2.8, squared deviations 3.24 .64 .64 1.44 4.84 = 10.8, /5 = 2.16
    mean, deviation = spread(shares([1, 2, 2, 4, 5]))
    assert mean == pytest.approx(2.8)
    assert deviation == pytest.approx(1.469694, abs=5e-7)


def test_an_empty_sample_has_no_distribution() -> None:
    with pytest.raises(ValueError, match="empty"):
        shares([])


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
    assert precision_at_k([1, 2], [1, 2], 3) is None


def test_precision_at_k_wants_pairs() -> None:
    for arguments in (([1], [1, 2], 1), ([1], [1], 0)):
        with pytest.raises(ValueError, match="expected as many"):
            precision_at_k(*arguments)
