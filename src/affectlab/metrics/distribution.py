"""Distance of two samples of one scale, and agreement on what varies most."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import sqrt
from typing import NamedTuple


class Spread(NamedTuple):
    """Mean and standard deviation (of the sample itself, divided by n) of a distribution."""

    mean: float
    deviation: float


def spread(shares: Mapping[float, float]) -> Spread:
    """Mean and standard deviation of a distribution, from value -> share; shares sum to 1."""
    mean = sum(value * shares[value] for value in sorted(shares))
    variance = sum((value - mean) ** 2 * shares[value] for value in sorted(shares))
    return Spread(mean, sqrt(variance))


def shares(values: Sequence[float]) -> dict[float, float]:
    """Share of each value in a sample.

    Raises:
        ValueError: When the sample is empty.
    """
    if not values:
        raise ValueError("an empty sample has no distribution")
    return {value: values.count(value) / len(values) for value in sorted(set(values))}


def wasserstein(first: Mapping[float, float], second: Mapping[float, float]) -> float:
    """Wasserstein-1 distance of two distributions (value -> share), in units of the values.

    The area between the two cumulative distributions; for samples of one size, the mean distance of sorted values.
    """
    points = sorted({*first, *second})
    area = ahead = 0.0
    for left, right in pairwise(points):
        ahead += first.get(left, 0.0) - second.get(left, 0.0)
        area += abs(ahead) * (right - left)
    return area


def precision_at_k(first: Sequence[float], second: Sequence[float], k: int) -> float | None:
    """Share of one side's ``k`` highest places that are among the other's; ``None`` for fewer than ``k`` places.

    Ties at the cut are broken at random, each side on its own, and the expected value is given: the order in which
    places are listed makes no difference. Two equal sides with a tie at the cut therefore score below 1.

    Raises:
        ValueError: When lengths differ or ``k`` is not positive.
    """
    if len(first) != len(second) or k < 1:
        raise ValueError(
            f"{len(first)} and {len(second)} values at k = {k}: expected as many of each, and k of 1 or more"
        )
    if len(first) < k:
        return None
    return sum(a * b for a, b in zip(_chosen(first, k), _chosen(second, k), strict=True)) / k


def _chosen(values: Sequence[float], k: int) -> list[float]:
    """Probability of each place to be among the k highest."""
    cut = sorted(values, reverse=True)[k - 1]
    above = sum(value > cut for value in values)
    tied = sum(value == cut for value in values)
    return [1.0 if value > cut else (k - above) / tied if value == cut else 0.0 for value in values]
