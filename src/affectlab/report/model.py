"""What a report is made from: plain data, already scored. Nothing here computes or opens a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from affectlab.metrics.scores import Matrix, Scores, Table

if TYPE_CHECKING:
    from affectlab.benchmarks.base import ReferenceRow

LAST_TABLES = ("outcomes", "flags")
"""Ids of the tables about replies rather than scores. Reports show them after all others."""


@dataclass(frozen=True, slots=True)
class SlotAnswer:
    """What was read from a reply for one slot, beside the right answer.

    Attributes:
        slot: What was labelled (``"A"``).
        outcome: Value of ``reading.Outcome``.
        read: The answer as people read it; empty when none could be read.
        gold: The right answer as people read it; empty when the item has none.
        right: Whether it counts as right; ``None`` when there is no gold.
    """

    slot: str
    outcome: str
    read: str
    gold: str
    right: bool | None


@dataclass(frozen=True, slots=True)
class Turn:
    """One request and what came back.

    Attributes:
        step: Which part of the item it asks for (``"stance"``); empty where there is only one.
        prompt: What the model was sent, rendered.
        reply: What came back, raw; where options were scored, each with its log-probability.
    """

    step: str
    prompt: str
    reply: str


@dataclass(frozen=True, slots=True)
class Example:
    """All that one item was asked under one condition, shown whole.

    Attributes:
        caption: Why it is shown (``"First wrong answer"``).
        item: Id of the item.
        turns: Requests and replies, in the order asked.
        answers: What was read, one per slot.
        condition: State the model was in.
    """

    caption: str
    item: str
    turns: tuple[Turn, ...]
    answers: tuple[SlotAnswer, ...]
    condition: str = "neutral"

    def __repr__(self) -> str:
        return f"<example of item {self.item}: {self.caption}>"


@dataclass(frozen=True, slots=True)
class RunReport:
    """One run, ready to be shown.

    Attributes:
        manifest: The run's manifest as read from its folder.
        benchmark_title: For people.
        benchmark_question: What the benchmark asks of a model, in one line.
        paper: Citation of the benchmark.
        scores: Condition -> its scores, in the order to show them.
        references: Published figures to show beside the run.
        examples: A handful of replies: first wrong, first unreadable, first right.
        overview: Conditions side by side; ``None`` for a run of one.
        smaller_better: Figures of which less is better, such as errors and distances.
    """

    manifest: Mapping[str, Any]
    benchmark_title: str
    benchmark_question: str
    paper: str
    scores: Mapping[str, Scores]
    references: tuple[ReferenceRow, ...] = ()
    examples: tuple[Example, ...] = ()
    overview: Table | None = None
    smaller_better: frozenset[str] = frozenset()

    def __repr__(self) -> str:
        return f"<report: {self.model_name} on {self.benchmark_title}, {', '.join(self.scores) or 'no scores'}>"

    @property
    def model_name(self) -> str:
        """Short name of the model, as tables show it."""
        model = self.manifest.get("model", {})
        return str(model.get("name") or model.get("spec") or "this model")

    @property
    def together(self) -> Scores | None:
        """What the sheets say of all conditions together; ``None`` where nothing does."""
        return next((whole for sheet in self.scores.values() if (whole := sheet.split()[0]) is not None), None)

    @property
    def sheets(self) -> Mapping[str, Scores]:
        """Condition -> what its sheet says of this condition alone."""
        return {condition: sheet.split()[1] for condition, sheet in self.scores.items()}


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a document: sentences that must be read, then tables and matrices."""

    title: str
    notes: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    matrices: tuple[Matrix, ...] = ()

    def __repr__(self) -> str:
        ids = [*(table.id for table in self.tables), *(matrix.id for matrix in self.matrices)]
        return f"<section {self.title!r}: {', '.join(ids) or 'notes only'}>"


@dataclass(frozen=True, slots=True)
class Document:
    """Any set of results to show that is not one run: a comparison, a power analysis, an agreement study.

    Attributes:
        title: First heading.
        summary: What was found, in a sentence or two.
        sections: In reading order.
        details: How it was made, name -> value (possibly nested).
    """

    title: str
    summary: str = ""
    sections: tuple[Section, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<document {self.title!r}: {', '.join(section.title for section in self.sections)}>"
