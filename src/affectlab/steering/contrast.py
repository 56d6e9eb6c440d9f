"""From hidden states of labelled texts to one direction for each emotion and layer, and how good it is.

Pure numpy. Hidden states are ``[text, layer, width]``; an emotion is always set against all others together (Decisions
paper, arXiv 2604.06562, section "Activation Steering").
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from affectlab.engine.hidden import SINK_RATIO
from affectlab.errors import UserError, WorldError

Floats: TypeAlias = npt.NDArray[np.float32]
Doubles: TypeAlias = npt.NDArray[np.float64]
Mask: TypeAlias = npt.NDArray[np.bool_]

Method: TypeAlias = Literal["pca", "mean_difference", "pca_literal"]
METHODS: tuple[Method, ...] = get_args(Method)

_FEWEST = 2


@dataclass(frozen=True)
class Activations:
    """Hidden states of labelled texts.

    Attributes:
        hidden: float32 ``[text, layer, width]``: raw outputs of the layers.
        labels: Emotion of each text.
        groups: Group of each text; groups stay whole in cross-validation.
        left_out: Texts that were not taken, counted by reason.
    """

    hidden: Floats
    labels: tuple[str, ...]
    groups: tuple[str, ...]
    left_out: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.hidden.ndim != 3 or not len(self.hidden) == len(self.labels) == len(self.groups):
            raise ValueError(
                f"hidden is {self.hidden.shape} for {len(self.labels)} labels and {len(self.groups)} groups: "
                "expected [text, layer, width]"
            )

    @property
    def emotions(self) -> tuple[str, ...]:
        """Emotions that occur, sorted."""
        return tuple(sorted(set(self.labels)))

    def of(self, emotion: str) -> Mask:
        """Which texts have this label."""
        return np.array([label == emotion for label in self.labels], dtype=np.bool_)

    def __repr__(self) -> str:
        texts, layers, width = self.hidden.shape
        left = f", {sum(self.left_out.values())} left out" if self.left_out else ""
        return f"Activations({texts} texts of {len(self.emotions)} emotions, {layers} layers × {width}{left})"


@dataclass(frozen=True, repr=False)
class Directions:
    """One direction for each emotion and layer.

    Attributes:
        emotions: In the order of the first axis.
        unit: float32 ``[emotion, layer, width]``, each of norm 1.
        norms: float32 ``[emotion, layer]``: norm of the mean difference, the scale a unit vector has lost.
        cosines: float32 ``[emotion, layer]`` in [0, 1]: cosine to the mean difference.
    """

    emotions: tuple[str, ...]
    unit: Floats
    norms: Floats
    cosines: Floats

    def __repr__(self) -> str:
        _, layers, width = self.unit.shape
        return f"Directions({', '.join(self.emotions)}; {layers} layers × {width})"


def activations(
    hidden: Floats,
    labels: Sequence[str],
    groups: Sequence[str],
    tokens: Sequence[int] | None = None,
    unread: Mask | None = None,
) -> Activations:
    """Take hidden states, without those that belong to attention sinks.

    Left out and counted are texts that were not read; texts of one token, whose only state is that of the first token
    (on SmolLM2 140 times as long as others); and texts whose state is :data:`affectlab.engine.hidden.SINK_RATIO` times
    as long as the layer's median anywhere.

    Args:
        hidden: ``[text, layer, width]``.
        labels: Emotion of each text.
        groups: Group of each text.
        tokens: Number of tokens that each text's states were read from; ``None`` when not known.
        unread: Texts longer than the model's context: their states are any finite numbers. ``None``: there are none.

    Raises:
        WorldError: When a state is not finite, naming the texts.
        UserError: When fewer than two texts of an emotion, or fewer than two emotions, are left.
    """
    bad = np.flatnonzero(~np.isfinite(hidden).all(axis=(1, 2)))
    if len(bad):
        rows = ", ".join(str(row + 1) for row in bad[:10])
        raise WorldError(f"Hidden states of texts {rows} are not finite. Extract in float32.")
    none = np.zeros(len(hidden), np.bool_)
    long = none if unread is None else unread
    short = none if tokens is None else np.array([count < 2 for count in tokens], dtype=np.bool_)
    usable = ~short & ~long
    sink = sinks(hidden, usable) & usable
    kept = usable & ~sink
    reasons = (("longer than the model's context", long), ("one token", short), ("attention sink", sink))
    left_out = {name: int(rows.sum()) for name, rows in reasons if rows.any()}
    taken = Activations(
        np.ascontiguousarray(hidden[kept], dtype=np.float32),
        tuple(label for label, keep in zip(labels, kept, strict=True) if keep),
        tuple(group for group, keep in zip(groups, kept, strict=True) if keep),
        left_out,
    )
    few = [emotion for emotion in sorted(set(labels)) if taken.of(emotion).sum() < _FEWEST]
    if few or len(taken.emotions) < 2:
        counts = ", ".join(f"{count} ({reason})" for reason, count in left_out.items()) or "none"
        raise UserError(
            f"Too few texts to set an emotion against the others: {', '.join(few) or 'only one emotion'}. "
            f"Left out: {counts}. Each emotion needs {_FEWEST} texts of two tokens or more."
        )
    return taken


def sinks(hidden: Floats, among: Mask | None = None) -> Mask:
    """Which states ``[state, layer, width]`` are more than ``SINK_RATIO`` times as long as the layer's median.

    Args:
        hidden: The states.
        among: States the median is taken over; ``None`` for all.
    """
    norms = np.linalg.norm(hidden, axis=-1)
    if among is not None and not among.any():
        return np.zeros(len(hidden), dtype=np.bool_)
    median = np.median(norms if among is None else norms[among], axis=0)
    found: Mask = (norms > SINK_RATIO * median).any(axis=1)
    return found


def directions(taken: Activations, method: Method = "pca") -> Directions:
    """Directions of all emotions at all layers.

    With the contrast vectors of an emotion, each of its texts minus the centroid of the texts of other emotions (of
    those in its group, where its group has any: what the texts of a group share then cancels):

    * ``mean_difference``: their mean.
    * ``pca`` (default): the first principal component of the pairs (text, centroid of the others), each pair centred on
      its midpoint; that is, of the contrast vectors and their negatives, which keeps the shift between the two sides.
    * ``pca_literal``: the first principal component of the mean-centred contrast vectors, as the paper's sentence
      reads. Centring takes the shift away: what is left is the widest spread among the emotion's own texts.

    A component's sign is that of its product with the mean difference.

    Raises:
        UserError: When there is no such method, or an emotion's texts do not differ from the others at some layer.
    """
    if method not in METHODS:
        raise UserError(f"Directions are not found by {method!r}: expected one of {', '.join(METHODS)}.")
    found = [_direction(taken, taken.of(emotion), method, emotion) for emotion in taken.emotions]
    units, norms, cosines = (np.stack(part).astype(np.float32) for part in zip(*found, strict=True))
    return Directions(taken.emotions, units, norms, cosines)


def _direction(taken: Activations, positive: Mask, method: Method, emotion: str) -> tuple[Doubles, Doubles, Doubles]:
    contrasts = _contrasts(taken, positive)
    shift: Doubles = contrasts.mean(axis=0)
    norms: Doubles = np.linalg.norm(shift, axis=-1)
    if not (norms > 0).all():
        layer = int(np.flatnonzero(norms == 0)[0])
        raise UserError(f"Texts of {emotion} do not differ from the others at layer {layer}: no direction there.")
    mean_difference = shift / norms[:, None]
    if method == "mean_difference":
        return mean_difference, norms, np.ones_like(norms)
    component = first_component(contrasts - shift if method == "pca_literal" else contrasts)
    cosine: Doubles = np.einsum("lw,lw->l", component, mean_difference)
    component *= np.where(cosine < 0, -1.0, 1.0)[:, None]
    return component, norms, np.abs(cosine)


def _contrasts(taken: Activations, positive: Mask) -> Doubles:
    """Each text of the emotion minus the mean of the others: of those in its group where there are any, else of all."""
    hidden = taken.hidden.astype(np.float64)
    opposite = np.repeat(hidden[~positive].mean(axis=0, keepdims=True), int(positive.sum()), axis=0)
    others: dict[str, list[int]] = {}
    for place in np.flatnonzero(~positive):
        others.setdefault(taken.groups[place], []).append(int(place))
    for row, place in enumerate(np.flatnonzero(positive)):
        if mates := others.get(taken.groups[place]):
            opposite[row] = hidden[mates].mean(axis=0)
    contrasts: Doubles = hidden[positive] - opposite
    return contrasts


def first_component(rows: Doubles) -> Doubles:
    """First right singular vector of ``[row, layer, width]`` at each layer, ``[layer, width]``, of norm 1."""
    by_layer = rows.transpose(1, 0, 2)
    # Few rows, many dimensions: the small Gram matrix has the same non-zero spectrum.
    _, vectors = np.linalg.eigh(by_layer @ by_layer.transpose(0, 2, 1))
    component: Doubles = np.einsum("ln,lnw->lw", vectors[:, :, -1], by_layer)
    norms = np.linalg.norm(component, axis=-1, keepdims=True)
    if not (norms > 0).all():
        raise UserError("All texts of an emotion have the same state at some layer: there is no principal component.")
    unit: Doubles = component / norms
    return unit


def permuted(taken: Activations, seed: int) -> Activations:
    """The same texts with their labels shuffled, for the control that nothing but the labels is wrong in.

    Labels are shuffled within each group that has several of them, so that a shuffled set is as balanced over groups
    as the true one; all other texts are shuffled together.
    """
    draw = np.random.default_rng(seed)
    labels = np.array(taken.labels, dtype=object)
    mixed = [places for places in members(taken).values() if len({taken.labels[place] for place in places}) > 1]
    rest = sorted(set(range(len(labels))) - {place for places in mixed for place in places})
    for places in filter(None, (*mixed, rest)):
        labels[places] = labels[draw.permutation(places)]
    return replace(taken, labels=tuple(labels))


def members(taken: Activations) -> dict[str, list[int]]:
    """Places of the texts of each group, in file order."""
    found: dict[str, list[int]] = {}
    for place, group in enumerate(taken.groups):
        found.setdefault(group, []).append(place)
    return found
