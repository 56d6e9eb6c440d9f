"""Whether a figure rises or falls with the strength of a condition: Page's test for ordered alternatives.

Every item is answered at every strength, so items are blocks and strengths ordered treatments. Most items do not move
at all: ranks are tied, and the moments are those of permutations within blocks given the ties.

Reference: Page (1963), Journal of the American Statistical Association 58, 216-230.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import erfc, sqrt

import numpy as np
from numpy.typing import NDArray

from affectlab.stats.bootstrap import rounding


@dataclass(frozen=True, slots=True)
class Trend:
    """Page's test.

    Attributes:
        statistic: L: sum over strengths of place times rank sum; ``None`` when it cannot be had.
        z: Standardised; above 0 when the figure rises with strength.
        p: Two-sided p-value of the normal approximation.
        blocks: Items it rests on.
        moved: Items that are not alike at all strengths; the others say nothing.
        left_out: Items without an answer at some strength.
        monotone: Whether the means of the blocks never turn round, and are not all alike.
        reason: Why there is no test.
    """

    statistic: float | None
    z: float | None
    p: float | None
    blocks: int
    moved: int
    left_out: int
    monotone: bool
    reason: str = ""


def page_trend(values: NDArray[np.float64]) -> Trend:
    """Test whether values rise or fall from one strength to the next.

    Args:
        values: Figure of each item at each strength, ascending [items, strengths]; NaN where missing.

    Raises:
        ValueError: When there are fewer than 2 strengths.
    """
    from scipy.stats import rankdata

    if values.ndim != 2 or values.shape[1] < 2:
        raise ValueError(f"values must be [items, strengths] with 2 strengths at least, not {list(values.shape)}")
    whole = values[~np.isnan(values).any(axis=1)]
    left_out = len(values) - len(whole)
    # What differs by rounding alone is tied.
    whole = np.rint(whole / rounding(np.abs(whole).max(initial=0.0)))
    moved = int((np.ptp(whole, axis=1) > 0).sum()) if len(whole) else 0
    steps = np.diff(whole.mean(axis=0)) if len(whole) else np.zeros(1)
    monotone = moved > 0 and bool((steps >= 0).all() or (steps <= 0).all()) and bool((steps != 0).any())
    if not moved:
        reason = "no item has an answer at every strength" if not len(whole) else "no item moves with strength"
        return Trend(None, None, None, len(whole), 0, left_out, monotone, reason)
    ranks = rankdata(whole, axis=1)
    k = values.shape[1]
    place = np.arange(1, k + 1, dtype=np.float64)
    statistic = float((ranks * place).sum())
    expected = len(whole) * k * (k + 1) ** 2 / 4
    # Variance of sum(c_j r_j) when r is permuted: sum of squares of c times sum of squares of r over k - 1.
    spread = ((ranks - (k + 1) / 2) ** 2).sum(axis=1)
    variance = float(((place - place.mean()) ** 2).sum() * spread.sum() / (k - 1))
    z = (statistic - expected) / sqrt(variance)
    return Trend(statistic, z, erfc(abs(z) / sqrt(2)), len(whole), moved, left_out, monotone)
