"""Token texts as padded batches, and the texts that a model is tried with."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any

import numpy as np

_LENGTHS = ((2, (3, 2)), (3, (2, 3)))
"""Tokens of each shared beginning of the probe, and of what follows it in either text."""


def probe_texts(vocabulary: int) -> tuple[tuple[int, ...], ...]:
    """Four short texts: two and two share a beginning, and neither the beginnings nor the texts are of one length.

    They are of ordinary tokens: the ends of a vocabulary hold special ones, some of which stand for images.
    """
    drawn = iter(np.random.default_rng(0).integers(vocabulary // 4, 3 * vocabulary // 4, 32).tolist())
    texts = []
    for shared, owns in _LENGTHS:
        beginning = tuple(islice(drawn, shared))
        texts += [(*beginning, *islice(drawn, own)) for own in owns]
    return tuple(texts)


def positions_of(mask: Any) -> Any:
    """Places of tokens in their text, ``[row, token]``, from a mask of tokens and padding."""
    return (mask.long().cumsum(-1) - 1).clamp(min=0)


def padded(rows: Sequence[Sequence[int]], device: Any, *, left: bool) -> tuple[Any, Any]:
    """Ids and mask, each ``[row, longest]``."""
    import torch

    width = max(len(row) for row in rows)
    ids = torch.zeros(len(rows), width, dtype=torch.long)
    mask = torch.zeros(len(rows), width, dtype=torch.bool)
    for place, row in enumerate(rows):
        at = slice(width - len(row), width) if left else slice(0, len(row))
        ids[place, at] = torch.tensor(row, dtype=torch.long)
        mask[place, at] = True
    return ids.to(device), mask.to(device)
