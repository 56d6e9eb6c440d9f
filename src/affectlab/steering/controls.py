"""Directions that are no emotion's, for what must not happen under them."""

from __future__ import annotations

import numpy as np

from affectlab.errors import UserError
from affectlab.steering.contrast import Floats, Method, directions, permuted
from affectlab.steering.vectors import EmotionVectors


def isotropic(vectors: EmotionVectors, seed: int) -> Floats:
    """A direction drawn evenly from the sphere at each layer, ``[layer, width]``, norm 1.

    The draws of different layers are at the angles (but for chance of order ``1/√width``) that the emotions' own
    directions have on average. Independent draws would add up to less over layers, and the same one everywhere to more,
    than a vector they are to be compared with.
    """
    drawn = np.random.default_rng(seed).standard_normal(vectors.unit.shape[1:])
    angles = np.einsum("elw,ekw->lk", vectors.unit, vectors.unit, dtype=np.float64) / len(vectors.emotions)
    values, basis = np.linalg.eigh(angles)
    rows = (basis * np.sqrt(values.clip(min=0))) @ basis.T @ drawn
    unit: Floats = (rows / np.linalg.norm(rows, axis=-1, keepdims=True)).astype(np.float32)
    return unit


def shuffled(vectors: EmotionVectors, seed: int) -> EmotionVectors:
    """The vectors that the same texts give, by the same method, when their labels are shuffled.

    Raises:
        UserError: When the vectors were saved without the hidden states they were extracted from, or made by hand.
    """
    if vectors.activations is None:
        raise UserError(
            "Label-permuted controls need the hidden states that the vectors were extracted from, and these vectors "
            "have none. Extract again without --no-activations."
        )
    method: Method = vectors.provenance.method  # type: ignore[assignment]
    found = directions(permuted(vectors.activations, seed), method)
    return EmotionVectors(
        emotions=found.emotions,
        layers=vectors.layers,
        unit=found.unit,
        norms=found.norms,
        cosines=found.cosines,
        token_norms=vectors.token_norms,
        model=vectors.model,
        provenance=vectors.provenance,
    )
