"""A figure with its interval: what every headline is."""

from __future__ import annotations

from dataclasses import dataclass


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
    """

    name: str
    value: float | None
    low: float | None = None
    high: float | None = None
    n: int = 0
    clusters: int = 0
    method: str = ""
    reason: str = ""
