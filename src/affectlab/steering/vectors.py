"""Emotion vectors as a value, and their extraction from a model."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import partial
from hashlib import sha256
from html import escape
from typing import Any

import numpy as np

from affectlab.errors import UserError
from affectlab.steering.coherence import NEUTRAL_TEXTS
from affectlab.steering.conditions import Condition, ranges
from affectlab.steering.contrast import Activations, Floats, Method, directions
from affectlab.steering.quality import Quality, quality
from affectlab.steering.stimuli import Stimuli, check_names, emotion_id
from affectlab.steering.subject import (
    OPENING,
    QUESTION,
    ModelIdentity,
    Progress,
    Subject,
    TokenRule,
    read_activations,
    token_norms,
)

_NORM_ERROR = 1e-3
"""How far a direction's length may be from 1."""


@dataclass(frozen=True, slots=True)
class Provenance:
    """How vectors came about.

    Attributes:
        method: Of extraction; ``given`` for hand-made vectors.
        token_rule: Where states were read; empty for hand-made vectors.
        template: What the texts were put into, where they were; ``{text}`` stands for the text.
        dtype: Number type the states were computed in; empty where it is not known.
        stimuli: Source of the texts.
        stimuli_sha256: Digest of labels, groups and texts.
        left_out: Texts that were not used, counted by reason.
        affectlab: Package version.
        suggested_layers: Layers that validation found to carry the emotions, which ``layers=best`` means.
    """

    method: str
    token_rule: str = ""
    template: str = ""
    dtype: str = ""
    stimuli: str = ""
    stimuli_sha256: str = ""
    left_out: Mapping[str, int] = field(default_factory=dict)
    affectlab: str = ""
    suggested_layers: tuple[int, ...] = ()


@dataclass(frozen=True, repr=False)
class EmotionVectors:
    """Directions of emotions in the layers of one model.

    Attributes:
        emotions: In the order of the first axis of the arrays.
        layers: Layers that there are directions for, ascending, counted from 0 for the first block.
        unit: float32 ``[emotion, layer, width]``, each of norm 1.
        norms: float32 ``[emotion, layer]``: the norm each had (of the mean difference, for extracted ones).
        cosines: float32 ``[emotion, layer]``: cosine to the mean difference.
        token_norms: float32 ``[layer]``: median norm of a token's state; ``None`` when never measured.
        model: What they belong to.
        provenance: How they came about.
        quality: How good they are; ``None`` for hand-made ones.
        activations: The hidden states they were extracted from, which label-permuted controls need.
    """

    emotions: tuple[str, ...]
    layers: tuple[int, ...]
    unit: Floats
    norms: Floats
    cosines: Floats
    token_norms: Floats | None
    model: ModelIdentity
    provenance: Provenance
    quality: Quality | None = None
    activations: Activations | None = None

    def __post_init__(self) -> None:
        shape = (len(self.emotions), len(self.layers), self.model.width)
        if self.unit.shape != shape:
            raise UserError(f"The vectors have shape {self.unit.shape}; expected {shape} (emotion, layer, width).")
        if bad := [layer for layer in self.layers if not 0 <= layer < self.model.n_layers]:
            raise UserError(f"{self.model.name} has no layer {bad[0]}; its layers are 0 to {self.model.n_layers - 1}.")
        if list(self.layers) != sorted(set(self.layers)) or len(set(self.emotions)) < len(self.emotions):
            raise UserError("The vectors' layers do not ascend, or two emotions have one name.")
        # A wrong number here would be applied as it is, and the run would call it by the emotion's name.
        each: dict[str, tuple[Floats, tuple[int, ...]]] = {
            "norms": (self.norms, shape[:2]),
            "cosines": (self.cosines, shape[:2]),
        }
        if self.token_norms is not None:
            each["token norms"] = (self.token_norms, shape[1:2])
        for name, (numbers, expected) in {"numbers": (self.unit, shape), **each}.items():
            if numbers.shape != expected or not np.isfinite(numbers).all():
                raise UserError(
                    f"The vectors' {name} have shape {numbers.shape} or are not finite; expected {expected}."
                )
        if (np.abs(np.linalg.norm(self.unit, axis=-1) - 1) > _NORM_ERROR).any() or (self.norms < 0).any():
            raise UserError("The vectors are damaged: their directions are not of length 1, or a norm is below 0.")
        if self.token_norms is not None and (self.token_norms <= 0).any():
            raise UserError("The vectors are damaged: a token norm is not above 0.")
        if not set(self.provenance.suggested_layers) <= set(self.layers):
            raise UserError("The vectors suggest layers that they have no direction for.")
        if len(self.model.layer_paths) != self.model.n_layers:
            raise UserError(
                f"{self.model.name} has {self.model.n_layers} layers and {len(self.model.layer_paths)} paths."
            )
        self._check_extras(shape)

    def _check_extras(self, shape: tuple[int, int, int]) -> None:
        """Refuse a quality or hidden states that are not those of vectors of this shape."""
        if (states := self.activations) is not None:
            if states.hidden.shape[1:] != shape[1:] or set(states.labels) != set(self.emotions):
                raise UserError("The vectors' hidden states are of other layers, another width or other emotions.")
            if not np.isfinite(states.hidden).all():
                raise UserError("The vectors' hidden states are not finite.")
        if (judged := self.quality) is not None:
            steady = judged.stability
            if judged.accuracy.shape != shape[1:2] or (steady is not None and steady.shape != shape[:2]):
                raise UserError("The vectors' quality is of other layers or emotions.")
            if not np.isfinite(judged.accuracy).all() or not (steady is None or np.isfinite(steady).all()):
                raise UserError("The vectors' quality is not finite.")

    def index(self, emotion: str) -> int:
        """Place of an emotion.

        Raises:
            UserError: When there is no vector of it, naming those there are.
        """
        if emotion in self.emotions:
            return self.emotions.index(emotion)
        near = get_close_matches(emotion, self.emotions, n=1)
        hint = f" Did you mean {near[0]}?" if near else ""
        raise UserError(f"There is no vector of {emotion!r}.{hint} There are: {', '.join(self.emotions)}.")

    def direction(self, emotion: str, layer: int) -> Floats:
        """Unit vector ``[width]`` of an emotion at a layer."""
        found: Floats = self.unit[self.index(emotion), self.place(layer)]
        return found

    def place(self, layer: int) -> int:
        """Place of a layer on the second axis.

        Raises:
            UserError: When there are no vectors for it.
        """
        if layer not in self.layers:
            raise UserError(f"There is no vector for layer {layer}; there are vectors for {ranges(self.layers)}.")
        return self.layers.index(layer)

    def check(self, model: ModelIdentity) -> None:
        """Refuse a model that these vectors do not belong to.

        Raises:
            UserError: Naming every field that differs.
        """
        if different := self.model.differences(model):
            name = self.model.name
            owner = f"another {name} than this one" if name == model.name else f"{name} and not to {model.name}"
            raise UserError(
                f"These vectors belong to {owner} ({'; '.join(different)}). "
                "Extract vectors from this model: affectlab vectors extract."
            )

    @classmethod
    def from_tensors(
        cls,
        tensors: Mapping[int, Any],
        model: ModelIdentity,
        emotion: str = "custom",
        token_norms: Floats | None = None,
    ) -> EmotionVectors:
        """Vectors made by hand.

        Args:
            tensors: Layer (from 0 for the first block) -> vector ``[width]``: an array, a list, or a torch tensor of
                any number type on any device. Their lengths are kept as ``norms``.
            model: What they are for.
            emotion: Name to apply them by.
            token_norms: Median norm of a token's state at *every* layer of the model, not only at those of ``tensors``,
                as :func:`affectlab.steering.subject.token_norms` measures it. Strengths in ``relative`` and ``kl`` need
                it.

        Raises:
            UserError: When there are none, or one is zero, not finite, or of another width, or no condition can name
                the emotion.
        """
        from affectlab import __version__

        check_names([emotion])
        if not tensors:
            raise UserError("No vectors were given.")
        if wrong := [layer for layer in tensors if isinstance(layer, bool) or not isinstance(layer, int | np.integer)]:
            raise UserError(f"Layer {wrong[0]!r} is no whole number.")
        layers = tuple(sorted(map(int, tensors)))
        rows = [_floats(tensors[layer]) for layer in layers]
        for layer, row in zip(layers, rows, strict=True):
            if row.shape != (model.width,):
                raise UserError(f"The vector for layer {layer} has shape {row.shape}; expected ({model.width},).")
            if not np.isfinite(row).all() or not row.any():
                raise UserError(f"The vector for layer {layer} is zero or not finite.")
        norms_of_all = None if token_norms is None else _floats(token_norms)
        if norms_of_all is not None and norms_of_all.shape != (model.n_layers,):
            raise UserError(
                f"The token norms have shape {norms_of_all.shape}; expected one for each of {model.n_layers} layers."
            )
        stacked = np.stack(rows)
        norms = np.linalg.norm(stacked, axis=-1)
        return cls(
            emotions=(emotion_id(emotion),),
            layers=layers,
            unit=(stacked / norms[:, None])[None],
            norms=norms[None],
            cosines=np.ones((1, len(layers)), np.float32),
            token_norms=None if norms_of_all is None else norms_of_all[list(layers)],
            model=model,
            provenance=Provenance(method="given", affectlab=__version__),
        )

    def suggesting(self, layers: Sequence[int]) -> EmotionVectors:
        """These vectors with the layers that ``layers=best`` is to mean."""
        return replace(self, provenance=replace(self.provenance, suggested_layers=tuple(map(int, layers))))

    def needed(self, conditions: Iterable[Condition]) -> EmotionVectors:
        """These vectors without what none of some conditions rests on.

        That is hidden states, where no control is label-permuted, and suggested layers, where none is ``layers=best``.
        """
        terms = [term for condition in conditions for term in condition.terms]
        permuted = any(term.source == "permuted" for term in terms)
        best = any(term.layers == "best" for term in terms)
        return replace(self if best else self.suggesting(()), activations=self.activations if permuted else None)

    @property
    def sha256(self) -> str:
        """Digest, in hexadecimal, of all that decides what a condition does.

        Of the directions, norms and hidden states, and of what they belong to; not of names, versions or the quality.
        """
        states = self.activations
        model = self.model.to_dict()
        del model["name"]
        decisive = {
            "emotions": self.emotions,
            "layers": self.layers,
            "model": model,
            "method": self.provenance.method,
            "suggested_layers": self.provenance.suggested_layers,
            "texts": None if states is None else [states.labels, states.groups],
        }
        digest = sha256(json.dumps(decisive, sort_keys=True).encode())
        for tensor in (
            self.unit,
            self.norms,
            self.cosines,
            self.token_norms,
            None if states is None else states.hidden,
        ):
            shape = () if tensor is None else tensor.shape
            digest.update(str(shape).encode())
            digest.update(b"" if tensor is None else np.ascontiguousarray(tensor, "<f4").tobytes())
        return digest.hexdigest()

    def __repr__(self) -> str:
        parts = [", ".join(self.emotions), f"layers {ranges(self.layers)} × {self.model.width}", self.provenance.method]
        if self.provenance.dtype not in ("", "float32"):
            parts.append(self.provenance.dtype)
        if self.quality is not None:
            best = int(self.quality.accuracy.argmax())
            parts.append(f"held-out accuracy {self.quality.accuracy[best]:.2f} at layer {self.layers[best]}")
        return f"EmotionVectors({self.model.name}: {'; '.join(parts)})"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{escape(emotion)}</td><td>{norms.mean():.2f}</td><td>{cosines.min():.2f}</td></tr>"
            for emotion, norms, cosines in zip(self.emotions, self.norms, self.cosines, strict=True)
        )
        head = "<tr><th>emotion</th><th>mean norm</th><th>lowest cosine to mean difference</th></tr>"
        return f"<table><caption>{escape(repr(self))}</caption>{head}{rows}</table>"


def _floats(numbers: Any) -> Floats:
    """Numbers as float32; of torch's tensors, which may be of a type that numpy does not have, by their own means."""
    on_cpu = numbers.detach().cpu().float().numpy() if hasattr(numbers, "detach") else numbers
    try:
        found: Floats = np.asarray(on_cpu, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise UserError(f"A vector, or its token norms, is made of other things than numbers: {error}") from error
    return found


def extract(
    subject: Subject,
    stimuli: Stimuli,
    method: Method = "pca",
    rule: TokenRule = "last",
    *,
    seed: int = 0,
    keep_activations: bool = True,
    progress: Progress | None = None,
) -> EmotionVectors:
    """Extract vectors of every emotion at every layer, with their quality.

    Args:
        subject: The model.
        stimuli: Labelled texts.
        method: See :func:`affectlab.steering.contrast.directions`.
        rule: See :func:`affectlab.steering.subject.read_activations`.
        seed: Of cross-validation and resampling.
        keep_activations: Whether hidden states go into the result; label-permuted controls need them.
        progress: Told how far it is.

    Raises:
        UserError: When too few texts are left, or no condition can name an emotion.
        WorldError: When states are not finite.
    """
    from affectlab import __version__

    check_names(stimuli.emotions)
    taken = read_activations(subject, stimuli, rule, progress)
    found = directions(taken, method)
    norms, _ = token_norms(subject, NEUTRAL_TEXTS)
    told = None if progress is None else partial(progress, "resamples")
    return EmotionVectors(
        emotions=found.emotions,
        layers=tuple(range(subject.engine.n_layers)),
        unit=found.unit,
        norms=found.norms,
        cosines=found.cosines,
        token_norms=norms,
        model=subject.identity,
        provenance=Provenance(
            method=method,
            token_rule=rule,
            template=f"{{text}} {QUESTION} → {OPENING}" if rule == "template" else "",
            dtype=subject.dtype,
            stimuli=stimuli.source,
            stimuli_sha256=stimuli.sha256,
            left_out={**stimuli.left_out, **taken.left_out},
            affectlab=__version__,
        ),
        quality=quality(taken, found, method, seed=seed, progress=told),
        activations=taken if keep_activations else None,
    )
