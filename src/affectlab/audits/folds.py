"""Folds of whole groups, with each class in every one as far as that goes."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Split: TypeAlias = tuple[NDArray[np.intp], NDArray[np.intp]]


def grouped_folds(labels: NDArray[Any], groups: NDArray[Any], folds: int, seed: int) -> list[Split]:
    """Training and test rows of each fold; no group is on both sides.

    There are as many folds as asked for, or as the rarest class has rows where that is fewer; none when it has one.

    Args:
        labels: Class of each row [N].
        groups: Group of each row [N].
        folds: How many.
        seed: Of the shuffle.
    """
    from sklearn.model_selection import StratifiedGroupKFold

    _, counts = np.unique(labels, return_counts=True)
    possible = min(folds, int(counts.min(initial=folds)), len(set(groups.tolist())))
    if possible < 2:
        return []
    cut = StratifiedGroupKFold(possible, shuffle=True, random_state=seed)
    return list(cut.split(np.zeros(len(labels)), labels, groups))
