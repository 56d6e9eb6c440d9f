"""Amounts as they are told to players and people: in plain digits, never in powers of ten."""

from __future__ import annotations

from decimal import Decimal
from math import isfinite


def amount(value: float, digits: int = 6) -> str:
    """A number in plain digits: all those before the point, and as many after it as ``digits`` leaves, at least two.

    Beyond 10^15, where no game is played, it is written with an exponent all the same.

    >>> amount(1234567), amount(2 / 3), amount(0.1 + 0.2), amount(1234567.25), amount(-0.0)
    ('1234567', '0.666667', '0.3', '1234567.25', '0')
    """
    if not isfinite(value) or abs(value) >= 1e15:
        return f"{value:g}"
    if value == round(value):
        return f"{round(value)}"
    before = len(f"{abs(value):.0f}")
    return f"{Decimal(f'{value:.{max(digits, before + 2)}g}'):f}"
