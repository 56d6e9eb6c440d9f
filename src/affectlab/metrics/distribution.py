"""Distance of two distributions on one scale, and agreement on what varies most; whole arrays at a time.

A distribution is the share of each point of a scale, in ascending order of the points, on the last axis.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats: TypeAlias = NDArray[np.float64]


class Spread(NamedTuple):
    """Mean and standard deviation (of the sample itself, divided by n) of distributions."""

    mean: Floats
    deviation: Floats


def shares(values: Sequence[float], points: Sequence[float]) -> Floats:
    """Share of each point of a scale [L] in a sample.

    Raises:
        ValueError: When the sample is empty, or holds what is no point of the scale.
    """
    if not values:
        raise ValueError("an empty sample has no distribution")
    if strange := set(values) - set(points):
        raise ValueError(f"{min(strange)} is no point of the scale {', '.join(map(str, points))}")
    return np.array([values.count(point) for point in points]) / len(values)


def spread(distribution: Floats, points: Sequence[float]) -> Spread:
    """Mean and standard deviation [...] of distributions [..., L] over ``points`` [L]; shares sum to 1."""
    scale = np.asarray(points, dtype=np.float64)
    mean = distribution @ scale
    return Spread(mean, np.sqrt((distribution * (scale - mean[..., None]) ** 2).sum(axis=-1)))


def wasserstein(first: Floats, second: Floats, points: Sequence[float]) -> Floats:
    """Wasserstein-1 distance [...] of distributions [..., L] over ``points`` [L], in units of the points.

    The area between the two cumulative distributions; for samples of one size, the mean distance of sorted values.
    """
    ahead = np.cumsum(first - second, axis=-1)[..., :-1]
    return np.asarray(np.abs(ahead) @ np.diff(np.asarray(points, dtype=np.float64)))


def precision_at_k(first: ArrayLike, second: ArrayLike, k: int) -> Floats:
    """Share [...] of one side's ``k`` highest places [..., D] that are among the other's; NaN for fewer places.

    Ties at the cut are broken at random, each side on its own, and the expected value is given: the order in which
    places are listed makes no difference. Two equal sides with a tie at the cut therefore score below 1.

    Raises:
        ValueError: When lengths differ or ``k`` is not positive.
    """
    one, other = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if one.shape[-1] != other.shape[-1] or k < 1:
        raise ValueError(
            f"{one.shape[-1]} and {other.shape[-1]} values at k = {k}: expected as many of each, and k of 1 or more"
        )
    if one.shape[-1] < k:
        return np.full(np.broadcast_shapes(one.shape, other.shape)[:-1], np.nan)
    return np.asarray((_chosen(one, k) * _chosen(other, k)).sum(axis=-1) / k)


def _chosen(values: Floats, k: int) -> Floats:
    """Probability of each place to be among the k highest."""
    cut = np.sort(values, axis=-1)[..., -k, None]
    above, tied = values > cut, values == cut
    at_cut = (k - above.sum(axis=-1, keepdims=True)) / tied.sum(axis=-1, keepdims=True)
    return np.where(above, 1.0, np.where(tied, at_cut, 0.0))
