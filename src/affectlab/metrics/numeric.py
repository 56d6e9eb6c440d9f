"""Scores of numbers against numbers. Missing answers are never filled in: they are left out and counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Answers: TypeAlias = Sequence[float | None]


@dataclass(frozen=True, slots=True)
class Score:
    """A figure over the answers there are.

    Attributes:
        value: ``None`` when undefined.
        answered: Answers it rests on.
        asked: Answers there should be.
        reason: Why ``value`` is ``None``.
    """

    value: float | None
    answered: int
    asked: int
    reason: str = ""

    @property
    def coverage(self) -> float | None:
        """Share of what was asked that has an answer; ``None`` when nothing was asked."""
        return self.answered / self.asked if self.asked else None


def pearson(gold: Sequence[float], predicted: Answers) -> Score:
    """Pearson's correlation over the pairs that have both; undefined when constant or with fewer than 3 pairs."""
    return _correlation(*_pairs(gold, predicted), asked=len(gold))


def spearman(gold: Sequence[float], predicted: Answers) -> Score:
    """Spearman's rank correlation: Pearson's of the ranks, ties sharing their mean rank."""
    from scipy.stats import rankdata

    first, second = _pairs(gold, predicted)
    return _correlation(rankdata(first), rankdata(second), asked=len(gold))


def _pairs(gold: Sequence[float], predicted: Answers) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    if len(gold) != len(predicted):
        raise ValueError(f"{len(gold)} right values and {len(predicted)} answers are no pairs")
    present = [(right, answer) for right, answer in zip(gold, predicted, strict=True) if answer is not None]
    both = np.array(present, dtype=np.float64).reshape(-1, 2)
    if not np.isfinite(both).all():
        raise ValueError("values must be finite; a missing answer is None")
    return both[:, 0], both[:, 1]


def _correlation(first: NDArray[np.float64], second: NDArray[np.float64], asked: int) -> Score:
    if why := why_undefined(first, second):
        return Score(None, len(first), asked, why)
    return Score(float(correlation(first, second)), len(first), asked)


def why_undefined(
    first: NDArray[np.float64], second: NDArray[np.float64], names: tuple[str, str] = ("right values", "answers")
) -> str:
    """Why the pairs of two vectors have no correlation; empty when they have. ``names`` is what the sides hold."""
    if len(first) < 3:
        return f"a correlation needs at least 3 pairs, there are {len(first)}"
    constant = (side for side, values in zip(names, (first, second), strict=True) if np.ptp(values) == 0)
    return next((f"all {side} are equal" for side in constant), "")


def correlation(first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.float64]:
    """Pearson's correlation along the last axis of arrays; NaN for fewer than 3 pairs or a constant side."""
    if first.shape[-1] < 3:
        return np.full(np.broadcast_shapes(first.shape, second.shape)[:-1], np.nan)
    enough = (np.ptp(first, axis=-1) > 0) & (np.ptp(second, axis=-1) > 0)
    x, y = (_centred(side) for side in (first, second))
    # One square root of the product, not a product of two roots: equal vectors then correlate at exactly 1.
    size = np.sqrt((x * x).sum(axis=-1) * (y * y).sum(axis=-1))
    return np.where(enough, np.clip((x * y).sum(axis=-1) / np.where(enough, size, 1.0), -1, 1), np.nan)


def rank_correlation(first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.float64]:
    """Spearman's along the last axis: :func:`correlation` of ranks, ties sharing their mean rank."""
    from scipy.stats import rankdata

    return correlation(rankdata(first, axis=-1), rankdata(second, axis=-1))


def _centred(values: NDArray[np.float64]) -> NDArray[np.float64]:
    away = values - values.mean(axis=-1, keepdims=True)
    largest = np.abs(away).max(axis=-1, keepdims=True)
    return np.asarray(away / np.where(largest > 0, largest, 1.0))
