"""A figure with its interval: what every headline is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Unit: TypeAlias = Literal["share", "difference", "number", "p"]
"""What a figure counts, which says how people read it: a share or score in [0, 1] (shown times 100), the difference of
two of them (times 100, with its sign), a number on a scale of its own (kappa, RMSE, seconds), a p-value."""


def unit_of_difference(unit: Unit) -> Unit:
    """What the difference of two figures counts: points for shares, otherwise what they count themselves.

    >>> unit_of_difference("share"), unit_of_difference("number")
    ('difference', 'number')
    """
    return "difference" if unit == "share" else unit


@dataclass(frozen=True, slots=True)
class Estimate:
    """A statistic, its interval and what it rests on.

    Attributes:
        name: Id of the statistic (``"macro_f1"``).
        value: The statistic on the data as they are; ``None`` when undefined, never NaN.
        low: Lower end of the interval, ``None`` when there is none.
        high: Upper end.
        n: Predictions it rests on.
        clusters: Independent units it rests on; the interval resamples these.
        method: How the interval was made (``"cluster bootstrap, 1000 replicates, seed 0, 95 %"``).
        reason: Why ``value`` or the interval is ``None``; empty otherwise.
        unit: What ``value``, ``low`` and ``high`` count.
    """

    name: str
    value: float | None
    low: float | None = None
    high: float | None = None
    n: int = 0
    clusters: int = 0
    method: str = ""
    reason: str = ""
    unit: Unit = "share"

    def __str__(self) -> str:
        if self.value is None:
            return f"{self.name}: undefined ({self.reason})"
        span = "" if self.low is None or self.high is None else f" [{self.low:.4g}, {self.high:.4g}]"
        return f"{self.name} {self.value:.4g}{span}, n={self.n}, clusters={self.clusters}"
