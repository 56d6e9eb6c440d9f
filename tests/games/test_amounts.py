"""Amounts in plain digits."""

from __future__ import annotations

import pytest

from affectlab.games.amounts import amount


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (0, "0"),
        (-0.0, "0"),
        (1234567, "1234567"),
        (999999999, "999999999"),
        (-14, "-14"),
        (0.1 + 0.2, "0.3"),
        (10 / 3, "3.33333"),
        (2 / 3, "0.666667"),
        (1234567.25, "1234567.25"),
        (0.00001, "0.00001"),
        (float("inf"), "inf"),
        (1e300, "1e+300"),
    ],
)
def test_no_digit_that_counts_is_lost(value: float, told: str) -> None:
    assert amount(value) == told


def test_fewer_digits_shorten_only_what_stands_behind_the_point() -> None:
    assert amount(8 / 3, 3) == "2.67"
    assert amount(1234567, 3) == "1234567"
