"""How far directions can be trusted: held-out accuracy, cosine to the mean difference, stability. Pure numpy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from affectlab.errors import UserError
from affectlab.steering.contrast import Activations, Directions, Doubles, Floats, Mask, Method, directions, members

LEAST_COSINE = 0.5
"""Cosine to the mean difference below which a direction is warned about."""

_MOST_LEFT_OUT = 0.2


@dataclass(frozen=True)
class Quality:
    """How far directions can be trusted.

    Attributes:
        accuracy: float32 ``[layer]``: share of held-out texts whose nearest centroid is that of their own emotion.
        chance: What guessing would give: the share of the most frequent emotion.
        folds: Folds of the cross-validation.
        stability: float32 ``[emotion, layer]``: mean cosine between the direction and that of resampled texts.
        resamples: Number of resamples.
        warnings: Sentences about what is weak.
    """

    accuracy: Floats
    chance: float
    folds: int
    stability: Floats
    resamples: int
    warnings: tuple[str, ...] = ()


def quality(
    taken: Activations, found: Directions, method: Method = "pca", *, folds: int = 5, resamples: int = 20, seed: int = 0
) -> Quality:
    """Judge directions.

    Args:
        taken: What they were extracted from.
        found: The directions.
        method: How.
        folds: Of the cross-validation; fewer when there are fewer groups.
        resamples: Bootstrap samples of the texts, drawn within each emotion.
        seed: Of folds and resamples.
    """
    accuracy, used = held_out_accuracy(taken, folds, seed)
    steady = stability(taken, found, method, resamples, seed)
    counts = [int(taken.of(emotion).sum()) for emotion in taken.emotions]
    chance = max(counts) / sum(counts)
    return Quality(accuracy, chance, used, steady, resamples, tuple(_warnings(taken, found, accuracy, chance)))


def _warnings(taken: Activations, found: Directions, accuracy: Floats, chance: float) -> Iterator[str]:
    for emotion, cosines in zip(found.emotions, found.cosines, strict=True):
        if (low := cosines < LEAST_COSINE).any():
            yield (
                f"{emotion}: cosine to the mean difference below {LEAST_COSINE} at {int(low.sum())} of "
                f"{len(cosines)} layers (lowest {cosines.min():.2f} at layer {int(cosines.argmin())})."
            )
    total = len(taken.labels) + sum(taken.left_out.values())
    if sum(taken.left_out.values()) > _MOST_LEFT_OUT * total:
        yield f"{sum(taken.left_out.values())} of {total} texts were left out."
    if accuracy.max() <= chance:
        yield "Held-out texts are told apart no better than by guessing at any layer."


def held_out_accuracy(taken: Activations, folds: int = 5, seed: int = 0) -> tuple[Floats, int]:
    """Share of held-out texts whose nearest class centroid is their own emotion's, by layer, and the folds used."""
    numbers = fold_numbers(taken, folds, seed)
    truth = np.array([taken.emotions.index(label) for label in taken.labels])
    right = np.zeros((len(truth), taken.hidden.shape[1]), dtype=np.bool_)
    for fold in range(int(numbers.max()) + 1):
        held = numbers == fold
        guess = _nearest(taken.hidden[held], *_centroids(taken.hidden[~held], truth[~held], len(taken.emotions)))
        right[held] = guess == truth[held][:, None]
    return right.mean(axis=0).astype(np.float32), int(numbers.max()) + 1


def fold_numbers(taken: Activations, folds: int, seed: int) -> npt.NDArray[np.int64]:
    """Fold of each text: whole groups, dealt out in turn, those of one stratum after another."""
    draw = np.random.default_rng(seed)
    strata = _strata(taken)
    groups = [stratum[place] for stratum in strata for place in draw.permutation(len(stratum))]
    if len(groups) < 2:
        raise UserError("All texts are in one group: nothing can be held out. Give texts groups of their own.")
    numbers = np.zeros(len(taken.labels), dtype=np.int64)
    for turn, places in enumerate(groups):
        numbers[places] = turn % min(folds, len(groups))
    return numbers


def _strata(taken: Activations) -> list[list[list[int]]]:
    """Groups (as places of their texts) by the emotion of their first text, so that lone texts are balanced as well."""
    strata: dict[str, list[list[int]]] = {}
    for places in members(taken).values():
        strata.setdefault(taken.labels[places[0]], []).append(places)
    return [strata[label] for label in sorted(strata)]


def _centroids(hidden: Floats, truth: npt.NDArray[np.int64], classes: int) -> tuple[Doubles, Mask]:
    there = np.array([(truth == label).any() for label in range(classes)])
    centroids = np.zeros((classes, *hidden.shape[1:]))
    for label in np.flatnonzero(there):
        centroids[label] = hidden[truth == label].mean(axis=0, dtype=np.float64)
    return centroids, there


def _nearest(hidden: Floats, centroids: Doubles, there: Mask) -> npt.NDArray[np.int64]:
    nearness = np.einsum("tlw,clw->tlc", hidden, centroids) - (centroids**2).sum(axis=-1).T / 2
    nearness[:, :, ~there] = -np.inf
    nearest: npt.NDArray[np.int64] = nearness.argmax(axis=-1)
    return nearest


def stability(taken: Activations, found: Directions, method: Method, resamples: int = 20, seed: int = 0) -> Floats:
    """Mean cosine ``[emotion, layer]`` between directions and those of resampled texts.

    Whole groups are drawn with replacement, lone texts within their emotion. A sample that starves an emotion is drawn
    again; one that has no direction at all (the same text over and over) counts as a cosine of 0.
    """
    draw = np.random.default_rng(seed)
    strata = _strata(taken)
    total = np.zeros(found.norms.shape)
    done = 0
    while done < resamples:
        drawn = [stratum[place] for stratum in strata for place in draw.integers(len(stratum), size=len(stratum))]
        places = [place for group in drawn for place in group]
        again = Activations(
            taken.hidden[places],
            tuple(taken.labels[place] for place in places),
            tuple(str(turn) for turn, group in enumerate(drawn) for _ in group),
        )
        if again.emotions != taken.emotions:
            continue
        done += 1
        try:
            unit = directions(again, method).unit
        except UserError:
            continue
        total += np.einsum("elw,elw->el", unit, found.unit)
    return (total / max(resamples, 1)).astype(np.float32)
