"""Scores of label sets: several labels, or none, may be right at once.

Label sets are rows of booleans [N, L] over the declared labels. A missing answer is not an empty set: it is wrong in
every example score, whatever the gold.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from affectlab.metrics.classification import Floats, mean_defined, ratio_or

Sets: TypeAlias = NDArray[np.bool_]


def example_f1(gold: Sets, predicted: Sets, answered: NDArray[np.bool_] | None = None) -> Floats:
    """F1 of each example's label set [N].

    Two empty sets agree and count 1, as in CAREBench's published code; a missing answer counts 0.

    Args:
        gold: Right labels [N, L].
        predicted: Answered labels [N, L]; rows of missing answers are not looked at.
        answered: Which examples have an answer [N]; all when ``None``.

    Raises:
        ValueError: When the shapes differ or are not [N, L].
    """
    _same_shape(gold, predicted)
    both = (gold & predicted).sum(axis=1)
    sizes = gold.sum(axis=1) + predicted.sum(axis=1)
    scores = ratio_or(2 * both, sizes, 1.0)
    return scores if answered is None else np.where(answered, scores, 0.0)


def exact_match(gold: Sets, predicted: Sets, answered: NDArray[np.bool_] | None = None) -> NDArray[np.bool_]:
    """Whether each example's label set is exactly right [N]; a missing answer is not."""
    _same_shape(gold, predicted)
    equal = np.asarray((gold == predicted).all(axis=1), dtype=np.bool_)
    return equal if answered is None else equal & answered


def counts(gold: Sets, predicted: Sets) -> Floats:
    """Hits, false alarms and misses by label [L, 3]: additive, so that totals of clusters can be resampled.

    A missing answer is a row of no labels here: all its gold labels are misses.
    """
    _same_shape(gold, predicted)
    columns = (gold & predicted, ~gold & predicted, gold & ~predicted)
    return np.stack([column.sum(axis=0) for column in columns], axis=1).astype(np.float64)


def support(totals: Floats) -> Floats:
    """Gold occurrences by label [..., L], from counts [..., L, 3]."""
    return np.asarray(totals[..., 0] + totals[..., 2], dtype=np.float64)


def f1(totals: Floats, zero_division: float = 0.0) -> Floats:
    """F1 by label [..., L] from counts [..., L, 3]; ``zero_division`` for a label that never occurs."""
    hits, false_alarms, misses = totals[..., 0], totals[..., 1], totals[..., 2]
    return ratio_or(2 * hits, 2 * hits + false_alarms + misses, zero_division)


def macro_f1(totals: Floats, zero_division: float = 0.0) -> Floats:
    """Mean F1 over the declared labels [...]; NaN as ``zero_division`` leaves labels that never occur out."""
    return mean_defined(f1(totals, zero_division))


def micro_f1(totals: Floats, zero_division: float = 0.0) -> Floats:
    """F1 of the counts pooled over labels [...]."""
    return np.asarray(f1(totals.sum(axis=-2, keepdims=True), zero_division)[..., 0])


def _same_shape(gold: Sets, predicted: Sets) -> None:
    if gold.shape != predicted.shape or gold.ndim != 2:
        raise ValueError(f"gold {gold.shape} and predicted {predicted.shape} must both be [examples, labels]")
