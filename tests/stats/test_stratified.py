"""Values from R 4.2 (`mantelhaen.test`, `BreslowDayTest`), as in the facts page of the project; by hand where said."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from affectlab.stats.stratified import informative, stratified

BERKELEY = [
    [[512, 89], [313, 19]],
    [[353, 17], [207, 8]],
    [[120, 202], [205, 391]],
    [[138, 131], [279, 244]],
    [[53, 94], [138, 299]],
    [[22, 24], [351, 317]],
]
"""UCBAdmissions, departments A to F: admitted or not by male or female."""

RABBITS = [[[0, 6], [0, 5]], [[3, 3], [0, 6]], [[6, 0], [2, 4]], [[5, 1], [6, 0]], [[2, 0], [5, 0]]]
"""R's help page of mantelhaen.test: delay of injection by cured or not, one penicillin level a stratum."""


def test_berkeley_admissions_as_r_has_them() -> None:
    found = stratified(BERKELEY)
    assert found.statistic == pytest.approx(1.524607, abs=1e-6)
    assert found.p == pytest.approx(0.216924, abs=1e-6)
    assert found.corrected == pytest.approx(1.426946, abs=1e-6)
    assert found.corrected_p == pytest.approx(0.232263, abs=1e-6)
    assert found.odds_ratio == pytest.approx(0.904697, abs=1e-6)
    assert (found.odds_low, found.odds_high) == pytest.approx((0.771907, 1.060330), abs=1e-6)
    assert found.homogeneity.statistic == pytest.approx(18.825501, abs=1e-6)
    assert found.homogeneity.p == pytest.approx(0.00207140, abs=1e-8)
    assert (found.homogeneity.df, found.used, found.dropped) == (5, 6, 0)


def test_a_zero_margin_says_nothing_and_takes_nothing_away() -> None:
    whole = stratified([[[5, 0], [7, 0]], [[10, 4], [3, 9]], [[8, 5], [4, 9]]])
    without = stratified([[[10, 4], [3, 9]], [[8, 5], [4, 9]]])
    assert whole.statistic == without.statistic == pytest.approx(7.440476, abs=1e-6)
    assert whole.p == pytest.approx(0.00637730, abs=1e-8)
    assert whole.odds_ratio == pytest.approx(5.0625)
    assert whole.homogeneity == without.homogeneity
    assert (whole.homogeneity.df, whole.dropped) == (1, 1)
    assert whole.homogeneity.p is not None


def test_rabbits_have_homogeneity_once_useless_strata_are_dropped() -> None:
    found = stratified(RABBITS)
    assert found.corrected == pytest.approx(3.928571, abs=1e-6)
    assert found.corrected_p == pytest.approx(0.0474723, abs=1e-7)
    assert found.statistic == pytest.approx(5.657143, abs=1e-6)
    assert found.odds_ratio == pytest.approx(7.0)
    assert (found.used, found.dropped) == (3, 2)
    assert found.homogeneity.p is not None


def test_one_informative_stratum_has_nothing_to_be_compared_with() -> None:
    found = stratified([[[5, 7], [0, 0]], [[10, 4], [3, 9]]])
    assert found.statistic == pytest.approx(5.357143, abs=1e-6)
    assert found.p == pytest.approx(0.0206376, abs=1e-7)
    assert found.odds_ratio == pytest.approx(7.5)
    assert found.homogeneity.p is None
    assert "nothing to compare" in found.homogeneity.reason


@pytest.mark.parametrize("tables", [[], [[[3, 0], [5, 0]], [[0, 0], [0, 0]]], [[[4, 4], [0, 0]]]])
def test_nothing_to_test_is_said_and_is_not_called_homogeneous(tables: list[list[list[float]]]) -> None:
    found = stratified(tables)
    assert found.statistic is found.p is found.odds_ratio is found.homogeneity.p is None
    assert found.used == 0
    assert found.dropped == len(tables)
    assert found.reason
    assert found.homogeneity.reason


def test_an_infinite_odds_ratio_is_missing_and_the_test_is_not() -> None:
    # Two strata of 3 and 0 against 0 and 3: each expects 1.5 with variance 3·3·3·3 / (6² · 5) = 0.45.
    found = stratified([[[3, 0], [0, 3]]] * 2)
    assert found.statistic == pytest.approx(3.0**2 / 0.9)
    assert found.odds_ratio is None
    assert found.homogeneity.p is None
    assert "infinite" in found.reason


@given(st.lists(st.tuples(*[st.integers(0, 9)] * 4), max_size=6))
def test_dropping_never_changes_the_statistic_of_the_formula(cells: list[tuple[int, int, int, int]]) -> None:
    tables = np.array([[row[:2], row[2:]] for row in cells], dtype=float).reshape(-1, 2, 2)
    over = under = 0.0
    for table in tables:
        n = table.sum()
        if n > 1:
            (r1, r2), (c1, c2) = table.sum(axis=1), table.sum(axis=0)
            over += table[0, 0] - r1 * c1 / n
            under += r1 * r2 * c1 * c2 / (n * n * (n - 1))
    found = stratified(tables)
    assert (found.statistic is None) == (under == 0)
    if found.statistic is not None:
        assert found.statistic == pytest.approx(over**2 / under, abs=1e-9)


def test_what_is_no_table_is_refused() -> None:
    with pytest.raises(ValueError, match=r"\[strata, 2, 2\]"):
        informative([[[1, 2, 3], [1, 2, 3]]])
    with pytest.raises(ValueError, match="negative"):
        informative([[[1, -2], [1, 2]]])
