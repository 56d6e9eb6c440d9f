"""Does steering steer? The self-report benchmark under every emotion, layer and strength, against controls.

Source: Decisions paper (arXiv 2604.06562), section "Steering Validation": margin of the target label against the
strongest other one, one layer at a time. Added to it, since a label's base rate alone decides much of a margin: the
change of margin from neutral, the leakage into other labels, three kinds of control vectors, and what steering does to
plain text.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import inf

import numpy as np

from affectlab.engine.interventions import NEUTRAL, Intervention
from affectlab.errors import UserError
from affectlab.steering.apply import Applier
from affectlab.steering.coherence import Coherence, coherence
from affectlab.steering.conditions import Condition, Scale, Source, Term
from affectlab.steering.contrast import Doubles
from affectlab.steering.selfreport import answers, margins, self_reports
from affectlab.steering.subject import Progress, Subject
from affectlab.steering.vectors import EmotionVectors

PAPER_STRENGTHS = (1.0, 4.0, 8.0, 10.0, 15.0, 20.0, 40.0, 80.0)
"""α of the paper's table of layers with a positive margin."""

CONTROLS: tuple[Source, ...] = ("random", "kl-random", "permuted")
"""Isotropic of the same norm, isotropic of the same effect on plain text, label-permuted."""

_SEEDS = 10**9
"""Seeds that a condition can name are below this."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What a validation measures.

    Attributes:
        sweep_strengths: α of the sweep over single layers.
        sweep_scale: What they count in.
        sweep_layers: Layers of the sweep; ``None`` for all, empty for no sweep.
        layers: Layers that are steered together in all else, as in a condition.
        strengths: Strengths there, as multiples of the median token norm.
        compared: The strength at which emotions are compared with controls.
        controls: Control vectors of each kind for each emotion.
        seed: Of option orders and of controls.
    """

    sweep_strengths: tuple[float, ...] = PAPER_STRENGTHS
    sweep_scale: Scale = "unit"
    sweep_layers: tuple[int, ...] | None = None
    layers: str = "middle"
    strengths: tuple[float, ...] = (0.025, 0.05, 0.1, 0.2, 0.4)
    compared: float = 0.025
    controls: int = 19
    seed: int = 0

    def __post_init__(self) -> None:
        if self.compared not in self.strengths:
            known = ", ".join(f"{strength:g}" for strength in self.strengths)
            raise UserError(
                f"The strength to compare controls at ({self.compared:g}) is not among the strengths ({known}). "
                "Name one of them as compared (on the command line: --compared)."
            )
        if not self.sweep_strengths or not all(0 < one < inf for one in (*self.sweep_strengths, *self.strengths)):
            raise UserError("Strengths of a validation are numbers above 0.")
        if self.controls < 0:
            raise UserError("The number of controls is 0 or more.")


@dataclass(frozen=True, repr=False)
class Validation:
    """What a validation measured. Log-probabilities are in nats.

    Attributes:
        name: Of the model.
        settings: What was asked.
        emotions: Axis of the vectors.
        options: Axis of the answers: the emotions, then neutral.
        option_tokens: Number of tokens of each option.
        neutral: ``[question, option]`` log-probabilities without steering.
        sweep_layers: Layers of the sweep.
        sweep: ``[emotion, layer, strength, question, option]``, one layer steered at a time.
        block: ``[strength, emotion, question, option]``, ``settings.layers`` steered together.
        text: Plain text under each ``[strength][emotion]`` of the block.
        controls: For each kind of control ``[emotion, control]``: mean change of the emotion's margin. Every entry is
            another vector's.
    """

    name: str
    settings: Settings
    emotions: tuple[str, ...]
    options: tuple[str, ...]
    option_tokens: tuple[int, ...]
    neutral: Doubles
    sweep_layers: tuple[int, ...]
    sweep: Doubles
    block: Doubles
    text: tuple[tuple[Coherence, ...], ...]
    controls: dict[str, Doubles]

    def changes(self, logprobs: Doubles, emotion: int) -> Doubles:
        """Change of an emotion's margin from neutral, ``[…, question]`` of ``[…, question, option]``."""
        changes: Doubles = margins(logprobs, emotion) - margins(self.neutral, emotion)
        return changes

    def change(self, logprobs: Doubles, emotion: int) -> Doubles:
        """Its mean over the questions, of ``[…, question, option]``."""
        change: Doubles = self.changes(logprobs, emotion).mean(axis=-1)
        return change

    def __repr__(self) -> str:
        layers, strengths = len(self.sweep_layers), len(self.settings.sweep_strengths)
        count = next((found.shape[1] for found in self.controls.values()), 0)
        return (
            f"Validation({self.name}: {len(self.emotions)} emotions; sweep of {layers} layers × {strengths} strengths; "
            f"{count} controls of {len(self.controls)} kinds)"
        )


def validate(
    subject: Subject,
    vectors: EmotionVectors,
    settings: Settings | None = None,
    progress: Progress | None = None,
) -> Validation:
    """Measure what emotion vectors do to self-reports and to plain text.

    Args:
        subject: The model; must be the vectors' own.
        vectors: What is validated.
        settings: What to measure.
        progress: Told how far it is.

    Raises:
        UserError: When the vectors belong to another model, or a layer has none.
        WorldError: When the model computes numbers that are not finite.
    """
    settings = settings or Settings()
    applier = Applier(vectors, subject)
    bench = _Bench(subject, vectors, settings, progress)
    block = [
        _intervention(applier, Term("emotion", emotion, strength, "relative", settings.layers))
        for strength in settings.strengths
        for emotion in vectors.emotions
    ]
    layers = vectors.layers if settings.sweep_layers is None else settings.sweep_layers
    single = [
        _intervention(applier, Term("emotion", emotion, strength, settings.sweep_scale, str(layer)))
        for emotion in vectors.emotions
        for layer in layers
        for strength in settings.sweep_strengths
    ]
    text = _rows(coherence(subject, block, progress=progress), len(vectors.emotions))
    # Before anything takes long: a control that cannot be made is told at once.
    kinds = [kind for kind in CONTROLS if settings.controls and (kind != "permuted" or vectors.activations is not None)]
    doses = dict(
        zip(vectors.emotions, (one.kl for one in text[settings.strengths.index(settings.compared)]), strict=True)
    )
    controls = {kind: _made(applier, control_terms(settings, doses, kind), progress) for kind in kinds}
    neutral = bench.ask("without steering", [NEUTRAL])
    found = Validation(
        name=vectors.model.name,
        settings=settings,
        emotions=vectors.emotions,
        options=bench.options,
        option_tokens=bench.option_tokens,
        neutral=neutral[0],
        sweep_layers=tuple(layers),
        sweep=bench.ask("single layers", single, (len(vectors.emotions), len(layers), len(settings.sweep_strengths))),
        block=bench.ask("layers together", block, (len(settings.strengths), len(vectors.emotions))),
        text=text,
        controls={},
    )
    shape = (len(vectors.emotions), settings.controls)
    answered = {kind: bench.ask(f"controls: {kind}", made, shape) for kind, made in controls.items()}
    changes: dict[str, Doubles] = {
        kind: np.stack([found.change(one, emotion) for emotion, one in enumerate(by_emotion)])
        for kind, by_emotion in answered.items()
    }
    return replace(found, controls=changes)


def control_terms(settings: Settings, doses: Mapping[str, float], kind: Source) -> list[Term]:
    """Every control of a kind: those of the first emotion, then those of the next.

    An isotropic control is a draw of its own for each emotion: one vector that stood for all of them could not raise
    all their margins, and controls of all emotions together would vary too little. One shuffle of the labels gives a
    vector for each emotion.

    Args:
        settings: How many, at which strength and layers, from which seed.
        doses: Emotion -> the divergence (nats) of plain text under its vector, which ``kl-random`` is matched to.
        kind: Of control.

    Raises:
        UserError: When an emotion's vector does not move plain text at all, so that nothing can be matched to it.
    """
    drawn = random.Random(f"controls {settings.seed}")  # noqa: S311 - which vectors are drawn, not a secret
    numbers = drawn.sample(range(_SEEDS), len(doses) * settings.controls)
    terms = []
    for place, (emotion, dose) in enumerate(doses.items()):
        for control in range(settings.controls):
            seed = numbers[place * settings.controls + control]
            term = Term("random", "", settings.compared, "relative", settings.layers, seed=seed)
            if kind == "permuted":
                term = replace(term, source=kind, emotion=emotion, seed=numbers[control])
            elif kind == "kl-random":
                if dose <= 0:
                    raise UserError(
                        f"{emotion} at {settings.compared:g} times the median token norm does not move plain text, so "
                        "no control can be matched to it. Compare at a larger strength, or take no controls."
                    )
                term = replace(term, strength=dose, scale="kl")
            terms.append(term)
    return terms


def _made(applier: Applier, terms: Sequence[Term], progress: Progress | None) -> list[Intervention]:
    made = []
    for done, term in enumerate(terms, 1):
        made.append(_intervention(applier, term))
        if progress is not None:
            progress("controls to be made", done, len(terms))
    return made


class _Bench:
    """The self-report questions, put to one model."""

    def __init__(
        self, subject: Subject, vectors: EmotionVectors, settings: Settings, progress: Progress | None
    ) -> None:
        self.options = (*vectors.emotions, "neutral")
        self._subject = subject
        self._reports = self_reports(settings.seed, self.options)
        self._progress = progress
        self.option_tokens = tuple(
            len(subject.option(one)) for one in replace(self._reports[0], options=self.options).continuations()
        )

    def ask(self, what: str, interventions: Sequence[Intervention], shape: tuple[int, ...] | None = None) -> Doubles:
        """Log-probabilities ``[*shape, question, option]``; ``shape`` defaults to ``[intervention]``."""
        told = None if self._progress is None else partial(self._progress, what)
        found = answers(self._subject, interventions, self._reports, self.options, told)
        return found.reshape(*(shape or (len(interventions),)), *found.shape[1:])


def _intervention(applier: Applier, term: Term) -> Intervention:
    return applier(Condition((term,))).intervention


def _rows(flat: Sequence[Coherence], width: int) -> tuple[tuple[Coherence, ...], ...]:
    return tuple(tuple(flat[start : start + width]) for start in range(0, len(flat), width))
