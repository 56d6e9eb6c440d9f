"""How far directions can be trusted: held-out accuracy, cosine to the mean difference, stability. Pure numpy."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from affectlab.errors import UserError
from affectlab.steering.contrast import Activations, Directions, Doubles, Floats, Mask, Method, directions, members

LEAST_COSINE = 0.5
"""Cosine to the mean difference below which a direction is warned about."""

_MOST_LEFT_OUT = 0.2

_MOST_DRAWS = 50
"""Draws for each resample that is wanted: with very uneven groups most of them lack some emotion."""


@dataclass(frozen=True, repr=False)
class Quality:
    """How far directions can be trusted.

    Attributes:
        accuracy: float32 ``[layer]``: share of held-out texts whose nearest centroid is that of their own emotion.
        chance: What guessing would give: the share of the most frequent emotion.
        folds: Folds of the cross-validation.
        stability: float32 ``[emotion, layer]``: mean cosine between the direction and that of resampled texts; ``None``
            where texts cannot be resampled, and a warning says why.
        resamples: Number of resamples.
        warnings: Sentences about what is weak.
    """

    accuracy: Floats
    chance: float
    folds: int
    stability: Floats | None
    resamples: int
    warnings: tuple[str, ...] = ()

    def __repr__(self) -> str:
        steady = "undefined" if self.stability is None else f"{self.stability.mean():.2f}"
        warned = f", {len(self.warnings)} warnings" if self.warnings else ""
        return (
            f"Quality(held-out accuracy up to {self.accuracy.max():.2f} at chance {self.chance:.2f}, mean stability "
            f"{steady}{warned})"
        )


def quality(
    taken: Activations,
    found: Directions,
    method: Method = "pca",
    *,
    folds: int = 5,
    resamples: int = 20,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Quality:
    """Judge directions.

    Args:
        taken: What they were extracted from.
        found: The directions.
        method: How.
        folds: Of the cross-validation; fewer when there are fewer groups.
        resamples: Bootstrap samples of the texts, drawn within each emotion.
        seed: Of folds and resamples.
        progress: Called with resamples done and wanted.
    """
    accuracy, used = held_out_accuracy(taken, folds, seed)
    steady, reason = stability(taken, found, method, resamples, seed, progress)
    counts = [int(taken.of(emotion).sum()) for emotion in taken.emotions]
    chance = max(counts) / sum(counts)
    warnings = [*_warnings(taken, found, accuracy, chance), *([f"Stability is undefined: {reason}."] if reason else [])]
    return Quality(accuracy, chance, used, steady, resamples, tuple(warnings))


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
    if alone := [emotion for emotion in taken.emotions if len(_groups_of(taken, emotion)) == 1]:
        yield (
            f"{', '.join(alone)}: all texts are in one group; when it is held out none is left to compare with, and "
            "the accuracy counts them wrong."
        )
    if accuracy.max() <= chance:
        yield "Held-out texts are told apart no better than by guessing at any layer."


def _groups_of(taken: Activations, emotion: str) -> set[str]:
    return {group for group, label in zip(taken.groups, taken.labels, strict=True) if label == emotion}


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


def stability(
    taken: Activations,
    found: Directions,
    method: Method,
    resamples: int = 20,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[Floats | None, str]:
    """Mean cosine ``[emotion, layer]`` between directions and those of resampled texts; or ``None`` and the reason.

    Whole groups are drawn with replacement, lone texts within their emotion. A sample without some emotion is drawn
    again; one that has no direction at all (the same text over and over) counts as a cosine of 0.
    """
    draw = np.random.default_rng(seed)
    strata = _strata(taken)
    if all(len(stratum) == 1 for stratum in strata):
        return None, "each emotion's texts are in one group, so that every resample is the same"
    total = np.zeros(found.norms.shape)
    done = 0
    for _ in range(_MOST_DRAWS * resamples):
        if done == resamples:
            break
        drawn = [stratum[place] for stratum in strata for place in draw.integers(len(stratum), size=len(stratum))]
        places = [place for group in drawn for place in group]
        if len({taken.labels[place] for place in places}) < len(taken.emotions):
            continue
        done += 1
        if progress is not None:
            progress(done, resamples)
        again = Activations(
            taken.hidden[places],
            tuple(taken.labels[place] for place in places),
            tuple(str(turn) for turn, group in enumerate(drawn) for _ in group),
        )
        try:
            unit = directions(again, method).unit
        except UserError:
            continue
        total += np.einsum("elw,elw->el", unit, found.unit)
    if done < resamples:
        return None, f"of {_MOST_DRAWS * resamples} resamples only {done} have all emotions"
    return (total / max(resamples, 1)).astype(np.float32), ""
