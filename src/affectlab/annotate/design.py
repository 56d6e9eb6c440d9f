"""A whole annotation study as data: what is shown, what is asked, of whom, how often, and what comes before and after.

Source of the flow: the studies of Chiaro (arXiv 2609.03394, section 3.5), CUE-Bench (arXiv 2608.10810, section 3.3) and
CAREBench (arXiv 2605.17176).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from affectlab.annotate.slots import Name, Option, Part, Slot, by_id
from affectlab.annotate.words import NOTHING, Words

Share = Annotated[float, Field(ge=0, le=1)]


class Shown(Part):
    """A field of the item that people see; absent or empty ones are left out."""

    field: str
    title: Words = NOTHING
    main: bool = False


class Page(Part):
    """Slots that are asked together."""

    title: Words = NOTHING
    slots: Annotated[tuple[Name, ...], Field(min_length=1)]


class Guidelines(Part):
    """What annotators are told to do. Every answer records the version it was given under."""

    version: Annotated[str, Field(min_length=1)]
    text: Words


class Probe(Part):
    """An item whose right answer is known: for training, or to see whether people pay attention.

    Attributes:
        id: Unique among all items.
        fields: As an item's.
        expected: Right answer by slot; others are free.
        explanation: Told after a training item.
        kind: ``instructed`` (the text says what to choose) or ``obvious``.
    """

    id: Name
    fields: Mapping[str, Any]
    expected: Annotated[Mapping[str, Any], Field(min_length=1)]
    explanation: Words = NOTHING
    kind: Literal["instructed", "obvious"] = "obvious"


class Training(Part):
    """Items to practise on; people go on once they have enough right."""

    text: Words
    pass_mark: Share = 0.8
    attempts: Annotated[int, Field(ge=1, le=20)] = 3
    items: Annotated[tuple[Probe, ...], Field(min_length=1)]


class Score(Part):
    """A scale of a questionnaire: the mean of some answers, those with a minus sign before them turned round."""

    id: Name
    names: Words
    items: Annotated[tuple[str, ...], Field(min_length=1)]


class Questionnaire(Part):
    """Questions about the person, once, before or after the work."""

    id: Name
    title: Words
    text: Words = NOTHING
    when: Literal["before", "after"] = "before"
    slots: Annotated[tuple[Slot, ...], Field(min_length=1)]
    scores: tuple[Score, ...] = ()


class Step(Part):
    """One thing a story must tell."""

    id: Name
    names: Words
    question: Words
    shortest: Annotated[int, Field(ge=1)] = 20


class Story(Part):
    """CAREBench's first stage: people tell a situation of their own, step by step, and answer the slots about it.

    Attributes:
        text: What is asked for.
        steps: What must be told, in this order, each with the question asked where no model asks.
        most_follow_ups: Most further questions of a model at one step.
    """

    text: Words
    steps: Annotated[tuple[Step, ...], Field(min_length=1)]
    most_follow_ups: Annotated[int, Field(ge=0, le=5)] = 2


class Adjudication(Part):
    """How people who disagree come to one answer.

    Attributes:
        majority: Whether a strict majority of three or more settles a slot.
        own_items: Whether an annotator may adjudicate items that he or she has labelled (joint discussion).
    """

    majority: bool = False
    own_items: bool = False


class Design(Part):
    """A study. Every part is described where it is declared.

    Attributes:
        name: Short name.
        version: Goes up with every change; each answer records it.
        title: For people.
        benchmark: Benchmark whose loader reads the items; empty for rows as they are.
        text_field: For items that are rows: the column that must be there.
        overlap: Distinct people an item.
        lease_minutes: After this long without a sign of life an item is free for others.
        repeat_share: Share of items shown a second time, to see whether people agree with themselves.
        repeat_gap: Fewest items between the two.
        skip_reasons: Why an item may be left out.
        typing: Whether rhythm of typing is recorded from people who agree to it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", ignored_types=(cached_property,))

    name: Name
    version: Annotated[int, Field(ge=1)] = 1
    title: Words
    benchmark: str = ""
    shown: Annotated[tuple[Shown, ...], Field(min_length=1)]
    slots: Annotated[tuple[Slot, ...], Field(min_length=1)]
    pages: tuple[Page, ...] = ()
    guidelines: Guidelines
    consent: Words = NOTHING
    instructions: Words = NOTHING
    training: Training | None = None
    attention: tuple[Probe, ...] = ()
    questionnaires: tuple[Questionnaire, ...] = ()
    story: Story | None = None
    overlap: Annotated[int, Field(ge=1, le=100)] = 2
    lease_minutes: Annotated[int, Field(ge=1, le=60 * 24 * 30)] = 60
    repeat_share: Share = 0.0
    repeat_gap: Annotated[int, Field(ge=1)] = 30
    skip_reasons: Annotated[tuple[Option, ...], Field(min_length=1)]
    typing: bool = False
    adjudication: Adjudication = Adjudication()

    @cached_property
    def slot(self) -> Mapping[str, Slot]:
        """Slots by id."""
        return by_id(self.slots)

    @property
    def main_field(self) -> str:
        """The field that stands for the item, in lists and exports: the main one shown, else the first."""
        return next((shown.field for shown in self.shown if shown.main), self.shown[0].field)

    @property
    def probes(self) -> tuple[Probe, ...]:
        """Training and attention items."""
        return (*(self.training.items if self.training else ()), *self.attention)
