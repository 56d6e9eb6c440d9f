"""What comes before and after the work: consent, instructions, questionnaires, training. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from affectlab.annotate.adjudicate import canonical
from affectlab.annotate.design import Design, Questionnaire
from affectlab.annotate.slots import by_id

CONSENT, INSTRUCTIONS, TRAINING, STORY = "consent", "instructions", "training", "story"


def stages_before(design: Design) -> list[str]:
    """Names of what a person goes through before working, in order; questionnaires by ``q.`` and their id."""
    found = [CONSENT] if design.consent else []
    if design.instructions:
        found.append(INSTRUCTIONS)
    found += [f"q.{one.id}" for one in design.questionnaires if one.when == "before"]
    if design.training:
        found.append(TRAINING)
    if design.story:
        found.append(STORY)
    return found


def stages_after(design: Design) -> list[str]:
    """Names of what comes when there are no more items."""
    return [f"q.{one.id}" for one in design.questionnaires if one.when == "after"]


def questionnaire(design: Design, stage: str) -> Questionnaire | None:
    """The questionnaire a stage is, if it is one."""
    return next((one for one in design.questionnaires if f"q.{one.id}" == stage), None)


def scores(asked: Questionnaire, values: Mapping[str, Any]) -> dict[str, float | None]:
    """Scores of a questionnaire: means of the answers, turned round where marked; ``None`` when one is missing.

    An answer ``v`` on a scale from ``low`` to ``high`` is turned round to ``low + high - v``.
    """
    slots = by_id(asked.slots)
    found: dict[str, float | None] = {}
    for score in asked.scores:
        answers: list[float] = []
        for name in score.items:
            slot = slots[name.removeprefix("-")]
            value = values.get(slot.id)
            if value is None:
                break
            if slot.options:
                levels: list[float] = [option.level for option in slot.options if option.level is not None]
            else:
                levels = [slot.low or 0, slot.high or 0]
            answers.append(min(levels) + max(levels) - value if name.startswith("-") else value)
        found[score.id] = sum(answers) / len(answers) if len(answers) == len(score.items) else None
    return found


@dataclass(frozen=True)
class Marked:
    """Answers beside the right ones.

    Attributes:
        right: Slots answered as expected.
        wrong: Slots answered otherwise or not at all.
    """

    right: tuple[str, ...]
    wrong: tuple[str, ...]

    @property
    def passed(self) -> bool:
        """Whether all is right."""
        return not self.wrong


def mark(expected: Mapping[str, Any], values: Mapping[str, Any]) -> Marked:
    """Answers marked against what was expected; slots nothing is expected of are free."""
    right = tuple(slot for slot, value in expected.items() if canonical(values.get(slot)) == canonical(value))
    return Marked(right, tuple(slot for slot in expected if slot not in right))


@dataclass(frozen=True)
class Trained:
    """How one round of training went."""

    right: int
    asked: int

    @property
    def share(self) -> float:
        """Share of slots that were right."""
        return self.right / self.asked if self.asked else 0.0


def trained(design: Design, replies: Mapping[str, Mapping[str, Any]]) -> Trained:
    """All training items marked; ``replies`` are values by item."""
    marked = [
        mark(probe.expected, replies.get(probe.id, {})) for probe in (design.training.items if design.training else ())
    ]
    return Trained(sum(len(one.right) for one in marked), sum(len(one.right) + len(one.wrong) for one in marked))
