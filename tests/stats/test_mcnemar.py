"""Values from R 4.2, statsmodels and scipy, which agree; the small ones by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from affectlab.errors import UserError
from affectlab.stats.mcnemar import compare_correct, mcnemar, mcnemar_chi_square
from affectlab.stats.measures import Measures, Share


@pytest.mark.parametrize(
    ("b", "c", "p", "mid_p"),
    [
        (2, 8, 0.109375, 0.0654297),  # 2 * (1 + 10 + 45) / 1024; minus 45 / 1024
        (0, 5, 0.0625, 0.03125),  # 2 / 32; minus 1 / 32
        (5, 5, 1.0, 1.0),  # twice the tail would be 1.246094
        (1, 9, 0.0214844, 0.0117187),  # 2 * 11 / 1024; minus 10 / 1024
        (86, 150, 3.71594e-05, 2.89339e-05),
        (59, 121, 4.43445e-06, 3.26665e-06),
        (600, 700, 0.00601579, 0.00554356),
        (1, 8, 0.0390625, 0.0214844),  # 2 * 10 / 512; minus 9 / 512
    ],
)
def test_exact_and_mid_p(b: int, c: int, p: float, mid_p: float) -> None:
    for found in (mcnemar(b, c), mcnemar(c, b)):
        assert found.p == pytest.approx(p, rel=2e-6)
        assert found.mid_p == pytest.approx(mid_p, rel=5e-6)
        assert not found.no_discordant


def test_runs_that_never_differ() -> None:
    found = mcnemar(0, 0, 12)
    assert (found.p, found.mid_p, found.no_discordant, found.difference) == (1.0, 1.0, True, 0.0)
    assert mcnemar(0, 0).difference is None


def test_difference_in_share_right() -> None:
    assert mcnemar(3, 1, 10).difference == pytest.approx(0.2)


@pytest.mark.parametrize(("b", "c", "n"), [(-1, 2, None), (2, -1, None), (3, 3, 5)])
def test_impossible_counts_are_refused(b: int, c: int, n: int | None) -> None:
    with pytest.raises(ValueError, match="discordant counts"):
        mcnemar(b, c, n)
    if n is None:
        with pytest.raises(ValueError, match="discordant counts"):
            mcnemar_chi_square(b, c)


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 300), st.integers(0, 300))
def test_exact_p_is_the_binomial_test(b: int, c: int) -> None:
    expected = 1.0 if b + c == 0 else float(binomtest(b, b + c).pvalue)
    assert mcnemar(b, c).p == pytest.approx(expected)


@pytest.mark.parametrize(
    ("b", "c", "plain", "corrected"),
    [
        (2, 8, (3.6, 0.0577796), (2.5, 0.113846)),
        (0, 5, (5.0, 0.0253473), (3.2, 0.0736383)),
        (5, 5, (0.0, 1.0), (0.0, 1.0)),  # R; statsmodels' correction overshoots to 0.1
        (1, 9, (6.4, 0.0114120), (4.9, 0.0268567)),
        (86, 150, (17.355932, 3.09929e-05), (16.817797, 4.11456e-05)),
        (59, 121, (21.355556, 3.81514e-06), (20.672222, 5.45009e-06)),
        (600, 700, (7.692308, 0.00554567), (7.539231, 0.00603698)),
        (0, 0, (0.0, 1.0), (0.0, 1.0)),  # statsmodels: statistic inf, p 0
    ],
)
def test_chi_square(b: int, c: int, plain: tuple[float, float], corrected: tuple[float, float]) -> None:
    assert mcnemar_chi_square(b, c) == pytest.approx(plain, rel=5e-6)
    assert mcnemar_chi_square(b, c, corrected=True) == pytest.approx(corrected, rel=5e-6)


def run(correct: dict[str, bool], clusters: tuple[str, ...] = ("x", "y", "z")) -> Measures:
    empty = np.empty(0, np.int32)
    share = Share(np.array([1]), np.array([0, 1]))
    return Measures(empty, empty, clusters, 2, {"accuracy": share}, correct, "accuracy", units_independent=True)


def test_units_are_matched_by_name() -> None:
    a = run({"x": True, "y": True, "z": False})
    b = run({"z": False, "y": False, "x": True})
    found = compare_correct(a, b)
    assert (found.b, found.c, found.n) == (1, 0, 3)


def test_other_units_are_refused_by_name() -> None:
    with pytest.raises(UserError, match=r"1 unit is in the first run only \(y\); 2 units are in the second run only"):
        compare_correct(run({"x": True, "y": True}), run({"x": True, "z": True, "w": False}))


def test_dependent_units_get_counts_and_no_p_value() -> None:
    units = {f"{item}#{repeat}": True for item in "xyz" for repeat in range(2)}
    first, second = (replace(run(right), units_independent=False) for right in (units, dict.fromkeys(units, False)))
    found = compare_correct(first, second)
    assert (found.b, found.c, found.n, found.p, found.mid_p) == (6, 0, 6, None, None)
    assert "the 6 units are not independent" in found.reason
