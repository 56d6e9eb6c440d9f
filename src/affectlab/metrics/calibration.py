"""Whether stated probabilities are right as often as they say, and whether they tell right from wrong.

References: Brier (1950), Monthly Weather Review 78, 1-3; Naeini, Cooper and Hauskrecht (2015), AAAI, for the expected
calibration error over bins of equal width; Mann and Whitney (1947) for the area under the ROC curve.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from affectlab.metrics.classification import Floats, ratio_or

BINS = 10
Bools: TypeAlias = NDArray[np.bool_]


def bins(p: Floats, n_bins: int = BINS) -> NDArray[np.int64]:
    """The bin of each probability [N]; bins are closed on the left, and 1 lies in the last.

    Raises:
        ValueError: When a probability lies outside [0, 1] or is NaN.
    """
    if not ((p >= 0) & (p <= 1)).all():
        raise ValueError("probabilities must lie in [0, 1]")
    return np.minimum((p * n_bins).astype(np.int64), n_bins - 1)


def calibration_error(counts: Floats, stated: Floats, right: Floats) -> Floats:
    """Expected calibration error [...]: mean gap between stated and found share, bins weighted by their number.

    Args:
        counts: Probabilities in each bin [..., bins].
        stated: Their sum in each bin.
        right: How many of them came true.
    """
    return ratio_or(np.abs(stated - right).sum(axis=-1), counts.sum(axis=-1), np.nan)


def brier(p: Floats, right: Bools) -> Floats:
    """Squared distance of each probability from what came true [N], in [0, 1]."""
    return np.asarray((p - right) ** 2, dtype=np.float64)


def auroc(p: Floats, right: Bools) -> float:
    """Share of pairs of a right and a wrong one in which the right one has the higher probability; ties count half.

    NaN when all are right, or none is.
    """
    n_right = int(right.sum())
    n_wrong = len(right) - n_right
    if not n_right or not n_wrong:
        return float("nan")
    _, place, counts = np.unique(p, return_inverse=True, return_counts=True)
    rank = np.cumsum(counts) - (counts - 1) / 2  # equal probabilities share the mean of their ranks
    return float((rank[place][right].sum() - n_right * (n_right + 1) / 2) / (n_right * n_wrong))
