from __future__ import annotations

from math import ceil, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from affectlab.stats.power import (
    mcnemar_detectable_difference,
    mcnemar_sample_size,
    smallest_detectable_difference,
)


def test_two_unpaired_shares() -> None:
    # 164 items each, share .5: SE = sqrt(2 * .25 / 164) = .055216; times 1.959964 + .841621
    assert smallest_detectable_difference(sqrt(2 * 0.25 / 164)) == pytest.approx(0.154692, abs=5e-7)


def test_miller_sample_size_turned_around() -> None:
    # Miller (2024): variance of the difference 1/9, delta .03 takes 968.9975 items
    assert smallest_detectable_difference(sqrt(1 / 9 / 968.9975)) == pytest.approx(0.03, abs=1e-7)


def test_mcnemar_sample_sizes() -> None:
    # (1.959964 * sqrt(.25) + .841621 * sqrt(.25 - .0025))^2 / .0025
    assert mcnemar_sample_size(0.15, 0.10) == pytest.approx(782.5260, abs=5e-5)
    assert mcnemar_sample_size(0.10, 0.05) == pytest.approx(468.5680, abs=5e-5)
    assert mcnemar_sample_size(0.05, 0.10) == pytest.approx(468.5680, abs=5e-5)


@settings(deadline=None, max_examples=50)
@given(st.floats(0.01, 0.5), st.floats(0.01, 0.5), st.floats(0.55, 0.99), st.floats(0.001, 0.2))
def test_detectable_difference_inverts_the_sample_size(b: float, c: float, power: float, alpha: float) -> None:
    if abs(b - c) < 0.02:
        return
    n = ceil(mcnemar_sample_size(b, c, power, alpha))
    found = mcnemar_detectable_difference(n, b + c, power, alpha)
    assert found is not None
    assert found == pytest.approx(abs(b - c), rel=0.02 if n > 50 else 0.3)
    assert found <= abs(b - c) * (1 + 1e-9)


def test_planned_power_is_what_the_test_has() -> None:
    """Power of the asymptotic test at the planned size, summed over all outcomes worth summing."""
    b, c = 0.15, 0.10
    n = ceil(mcnemar_sample_size(b, c))
    discordant = np.arange(1, n + 1)[:, None]
    only_first = np.arange(n + 1)[None, :]
    rejected = (2 * only_first - discordant) ** 2 / discordant >= 3.841459  # the 5 % point of chi-square
    rejected &= only_first <= discordant
    power = (binom.pmf(discordant, n, b + c) * binom.pmf(only_first, discordant, b / (b + c)))[rejected].sum()
    assert power == pytest.approx(0.8, abs=0.02)


def test_nothing_detectable() -> None:
    assert mcnemar_detectable_difference(10, 0.05) is None  # would need more than every discordant unit
    assert mcnemar_detectable_difference(100, 0.0) is None


@pytest.mark.parametrize(("b", "c"), [(0.1, 0.1), (-0.1, 0.2), (0.8, 0.3)])
def test_impossible_shares_are_refused(b: float, c: float) -> None:
    with pytest.raises(ValueError, match="discordant shares"):
        mcnemar_sample_size(b, c)


@pytest.mark.parametrize(("power", "alpha"), [(0.0, 0.05), (1.0, 0.05), (0.8, 0.0), (0.8, 1.0), (0.01, 0.05)])
def test_impossible_plans_are_refused(power: float, alpha: float) -> None:
    with pytest.raises(ValueError, match="power"):
        smallest_detectable_difference(0.1, power, alpha)
