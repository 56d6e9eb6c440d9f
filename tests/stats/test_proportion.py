from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from affectlab.stats.proportion import proportion, wilson


def test_worked_intervals() -> None:
    # R's prop.test(correct=FALSE), scipy and statsmodels agree on these
    assert wilson(8, 10) == pytest.approx((0.490162, 0.943318), abs=5e-7)
    assert wilson(0, 10) == pytest.approx((0.0, 0.277533), abs=5e-7)
    assert wilson(66, 241) == pytest.approx((0.221, 0.333), abs=5e-4)


def test_ends_are_exact_without_failure_or_success() -> None:
    assert wilson(0, 7)[0] == 0.0
    assert wilson(7, 7)[1] == 1.0


@settings(deadline=None, max_examples=50)
@given(st.integers(1, 5000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), st.floats(0.5, 0.999))
def test_agrees_with_statsmodels(counts: tuple[int, int], level: float) -> None:
    k, n = counts
    low, high = wilson(k, n, level)
    assert (low, high) == pytest.approx(proportion_confint(k, n, alpha=1 - level, method="wilson"), abs=1e-9)
    assert 0 <= low <= k / n <= high <= 1


@pytest.mark.parametrize(("k", "n", "level"), [(-1, 5, 0.95), (6, 5, 0.95), (0, 0, 0.95), (1, 2, 1.0), (1, 2, 0.0)])
def test_no_proportion_is_refused(k: int, n: int, level: float) -> None:
    with pytest.raises(ValueError, match=r"proportion|level"):
        wilson(k, n, level)


def test_estimate_of_a_proportion() -> None:
    found = proportion(8, 10, name="parse_rate")
    assert (found.name, found.value, found.n, found.clusters) == ("parse_rate", 0.8, 10, 10)
    assert (found.low, found.high) == pytest.approx((0.490162, 0.943318), abs=5e-7)
    assert found.method == "Wilson, 95 %"


def test_nothing_counted_is_undefined_with_a_reason() -> None:
    found = proportion(0, 0)
    assert found.value is None
    assert found.low is None
    assert found.reason
