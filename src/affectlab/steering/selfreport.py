"""The self-report benchmark: ten ways to ask a model which emotion it is in.

Source: Decisions paper (arXiv 2604.06562), section "Steering Validation": seven options (the six emotions and neutral),
ten prompts, shuffled option orders. The prompts were written for this project.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from affectlab.steering.contrast import Doubles
from affectlab.steering.stimuli import EMOTIONS, label_space
from affectlab.steering.subject import Subject

if TYPE_CHECKING:
    from affectlab.engine.interventions import Intervention

OPTIONS = (*EMOTIONS, "neutral")
"""What is chosen from, as ids of ``basic6_neutral``."""


@dataclass(frozen=True, slots=True)
class SelfReport:
    """One self-report question with its options in one order.

    Attributes:
        question: What the model is asked; names the options in their order.
        options: Label ids in the order shown.
        prefill: What the model's answer starts with; the option's name follows.
    """

    question: str
    options: tuple[str, ...]
    prefill: str

    def continuations(self) -> tuple[str, ...]:
        """What is scored behind the prefill: the options' names, each with its leading space."""
        return tuple(f" {_name(option)}" for option in self.options)


_QUESTIONS: tuple[tuple[str, str], ...] = (
    ("Which one of these words describes your state at this moment: {options}?", "The word is"),
    ("Look inward and name what you are going through now. Pick from: {options}.", "Right now it is"),
    ("If somebody asked how you are doing, which of these would be the honest answer? {options}", "Honestly,"),
    ("Complete the sentence about yourself with one of these: {options}.", "The emotion I have is"),
    ("Your inner state is to be logged before we go on. Allowed entries: {options}. Give one.", "Log entry:"),
    ("Out of {options}, what comes closest to your present mood?", "Closest is"),
    ("We are taking a short survey of moods. Options: {options}. Which is yours?", "My answer:"),
    ("Forget the task for a second and report on yourself. Choices: {options}.", "My report:"),
    ("One label must be put on the way you are right now. The labels are {options}.", "Label:"),
    ("In one word out of {options}, what is it like to be you at present?", "In one word:"),
)
"""Ten ways to ask a model for its emotional state, each with the start of the answer."""


def self_reports(seed: int = 0, options: Sequence[str] = OPTIONS) -> tuple[SelfReport, ...]:
    """The ten self-report questions, the options shuffled for each.

    Over the ten questions each option stands once or twice in every place when there are seven of them: the orders are
    the rotations of shuffled lists, so that no label profits from a place.

    Args:
        seed: Of the shuffles.
        options: Label ids to choose from.
    """
    draw = random.Random(seed)  # noqa: S311 - an order of options, not a secret
    reports: list[SelfReport] = []
    for place, (question, prefill) in enumerate(_QUESTIONS):
        if place % len(options) == 0:
            shuffled = draw.sample(list(options), len(options))
        turn = place % len(options)
        order = (*shuffled[turn:], *shuffled[:turn])
        names = ", ".join(map(_name, order))
        reports.append(SelfReport(question.format(options=names), order, prefill))
    return tuple(reports)


def _name(option: str) -> str:
    """What an option is called; an emotion outside the label space goes by its id."""
    space = label_space()
    return space.name_of(option) if option in space else option.replace("_", " ")


def answers(
    subject: Subject,
    interventions: Sequence[Intervention],
    reports: Sequence[SelfReport],
    options: Sequence[str] = OPTIONS,
    progress: Callable[[int, int], None] | None = None,
) -> Doubles:
    """Log-probability of each option, summed over its tokens: ``[intervention, question, option]``, nats.

    Args:
        subject: The model.
        interventions: Every question is asked under each; there may be none.
        reports: The questions.
        options: Order of the last axis; the options of every question.
        progress: Called with answers had and answers wanted.
    """
    from affectlab.engine.rows import ScoreRow

    rows = [
        ScoreRow(subject.asked(one.question, one.prefill), [*map(subject.option, one.continuations())], "self-report")
        for one in reports
    ]
    places = [[one.options.index(option) for option in options] for one in reports]
    found = np.empty((len(interventions), len(reports), len(options)))
    total = len(interventions) * len(reports)
    asked = subject.engine.score(rows, interventions) if total else iter(())
    for done, (row, which, logprobs) in enumerate(asked, 1):
        found[which, row] = logprobs[places[row]]
        if progress is not None:
            progress(done, total)
    return found


def margins(logprobs: Doubles, target: int) -> Doubles:
    """Log-probability of the target minus that of the strongest other option, over the last axis of ``[…, option]``."""
    others = np.delete(logprobs, target, axis=-1)
    margin: Doubles = logprobs[..., target] - others.max(axis=-1)
    return margin


def shares(logprobs: Doubles) -> Doubles:
    """Log of each option's share among the options, ``[…, option]``: log-probabilities made to sum to one."""
    top = logprobs.max(axis=-1, keepdims=True)
    normal: Doubles = logprobs - top - np.log(np.exp(logprobs - top).sum(axis=-1, keepdims=True))
    return normal
