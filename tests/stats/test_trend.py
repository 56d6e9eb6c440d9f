from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import page_trend_test

from affectlab.stats.trend import page_trend


def test_without_ties_it_is_scipys() -> None:
    rng = np.random.default_rng(3)
    values = rng.random((12, 4)) + 0.2 * np.arange(4)
    found, oracle = page_trend(values), page_trend_test(values, method="asymptotic")
    assert found.statistic == pytest.approx(float(oracle.statistic))
    # scipy's is one-sided.
    assert found.z is not None
    assert found.z > 0
    assert found.p == pytest.approx(2 * float(oracle.pvalue))


def test_a_tied_example_by_hand() -> None:
    # Item 1: 0 0 1, ranks 1.5 1.5 3: 1.5 + 3 + 9 = 13.5. Item 2: 0 1 1, ranks 1 2.5 2.5: 1 + 5 + 7.5 = 13.5.
    # Item 3 never moves, ranks 2 2 2: 12. L = 39; expected 3 · 3 · 16 / 4 = 36.
    # Squares of places about 2: 2; of ranks: 1.5, 1.5, 0; variance 2 · 3 / 2 = 3; z = 3 / √3.
    found = page_trend(np.array([[0, 0, 1], [0, 1, 1], [5, 5, 5]], dtype=float))
    assert found.statistic == 39
    assert found.z == pytest.approx(3**0.5)
    assert found.p == pytest.approx(0.0832645)
    assert (found.blocks, found.moved, found.monotone) == (3, 2, True)


def test_falling_is_below_zero_and_turning_round_is_not_monotone() -> None:
    falling = page_trend(np.array([[3, 2, 1], [3, 1, 0], [2, 1, 1]], dtype=float))
    assert falling.z is not None
    assert falling.z < 0
    assert falling.monotone
    assert not page_trend(np.array([[1, 2, 1], [1, 3, 0]], dtype=float)).monotone


def test_under_ties_the_size_holds() -> None:
    """A tenth of the items moves, at random: 5 % of 400 tables may be significant, 8 to 34 with probability .999."""
    rng = np.random.default_rng(11)
    hits = 0
    for _ in range(400):
        values = (rng.random((60, 4)) < 0.1).astype(float)
        p = page_trend(values).p
        hits += p is not None and p < 0.05
    assert 8 <= hits <= 34


def test_what_is_missing_is_counted_and_nothing_is_made_of_nothing() -> None:
    values = np.array([[0, 1], [np.nan, 1], [0, 1]], dtype=float)
    assert page_trend(values).left_out == 1
    still = page_trend(np.array([[1, 1], [0, 0]], dtype=float))
    assert still.p is None
    assert "no item moves" in still.reason
    assert not still.monotone
    assert "every strength" in page_trend(np.full((2, 2), np.nan)).reason
    with pytest.raises(ValueError, match="2 strengths"):
        page_trend(np.ones((3, 1)))


def test_values_that_are_one_but_for_rounding_are_tied() -> None:
    assert page_trend(np.array([[0.3, 0.1 + 0.2, 0.7], [0.0, 0.5, 0.5]])) == page_trend(
        np.array([[3, 3, 7], [0, 5, 5]], dtype=float)
    )
