"""Wilcoxon's signed-rank test with its exact distribution, ties included.

Answers on a short scale differ by few different amounts, so that nearly all ranks are tied. The usual tables do not
hold then and the usual normal approximation is poor for few pairs. Given the ranks, every pattern of signs is equally
likely without an effect; counting the patterns by their sum of ranks is exact and cheap.

Reference: Wilcoxon (1945), Biometrics Bulletin 1, 80-83; Pratt and Gibbons (1981), Concepts of Nonparametric Theory,
section 3.7 (conditional distribution given ties).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import erfc, sqrt

import numpy as np
from numpy.typing import NDArray

from affectlab.stats.bootstrap import rounding

EXACT_UP_TO = 200
"""Pairs that differ up to which the distribution is counted out; beyond, it is normal with the ties' variance."""


@dataclass(frozen=True, slots=True)
class SignedRank:
    """Signed-rank test of paired differences.

    Attributes:
        positive: Sum of the ranks of differences above 0.
        negative: Sum of the ranks of differences below 0.
        n: Pairs that differ.
        zeros: Pairs that do not; they are left out, as Wilcoxon did.
        p: Two-sided p-value; 1 when no pair differs.
        exact: Whether ``p`` was counted out.
    """

    positive: float
    negative: float
    n: int
    zeros: int
    p: float
    exact: bool

    @property
    def effect(self) -> float | None:
        """Rank-biserial correlation in [-1, 1]: (positive - negative) / their sum; ``None`` when no pair differs."""
        total = self.positive + self.negative
        return (self.positive - self.negative) / total if total else None


def signed_rank(differences: Sequence[float] | NDArray[np.float64]) -> SignedRank:
    """Test whether paired differences are symmetric about 0.

    Args:
        differences: One a pair.

    Raises:
        ValueError: When one is not finite.
    """
    from scipy.stats import rankdata

    given = np.asarray(differences, dtype=np.float64)
    if not np.isfinite(given).all():
        raise ValueError("differences must be finite; leave pairs with a missing answer out")
    # What differs by rounding alone is tied: .55 - .5 and .05 are one difference.
    given = np.rint(given / rounding(np.abs(given).max(initial=0.0)))
    moved = given[given != 0]
    zeros = len(given) - len(moved)
    if not len(moved):
        return SignedRank(0.0, 0.0, 0, zeros, 1.0, exact=True)
    # Twice the midranks are whole numbers.
    doubled = np.rint(2 * rankdata(np.abs(moved))).astype(np.int64)
    positive = int(doubled[moved > 0].sum())
    total = int(doubled.sum())
    exact = len(moved) <= EXACT_UP_TO
    p = _counted(doubled, min(positive, total - positive)) if exact else _normal(doubled, positive)
    return SignedRank(positive / 2, (total - positive) / 2, len(moved), zeros, p, exact)


def _counted(doubled: NDArray[np.int64], smaller: int) -> float:
    """Twice the chance of a sum of signs as small as this or smaller, at most 1."""
    chance = np.zeros(int(doubled.sum()) + 1)
    chance[0] = 1.0
    for rank in doubled:
        with_rank = np.zeros_like(chance)
        with_rank[rank:] = chance[: len(chance) - rank]
        chance = (chance + with_rank) / 2
    return min(1.0, 2 * float(chance[: smaller + 1].sum()))


def _normal(doubled: NDArray[np.int64], positive: int) -> float:
    """With the variance that the ties leave and a continuity correction of half a rank."""
    variance = float((doubled.astype(np.float64) ** 2).sum()) / 4
    distance = max(0.0, abs(positive - doubled.sum() / 2) - 1)
    return erfc(distance / sqrt(2 * variance))
