"""The contract of a benchmark: what it loads, how it asks, how it reads, what it scores.

A benchmark is a value (:class:`Benchmark`), not a base class to inherit from; a protocol is a small object with two
pure functions. Neither knows of files, models, conditions or repeats: ``runs`` brings these in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib.resources.abc import Traversable
from typing import Any, Literal, Protocol, TypeAlias, get_args

from affectlab.errors import UserError
from affectlab.items import Item, Loaded
from affectlab.labels import LabelSpace
from affectlab.metrics.predictions import Prediction, PredictionTable
from affectlab.metrics.scores import Scores
from affectlab.models.base import Ability, Request, Response, Sampling
from affectlab.stats.bootstrap import Interval
from affectlab.stats.measures import Measures

Order: TypeAlias = Literal["rotate", "fixed", "all"]


@dataclass(frozen=True, slots=True)
class Asking:
    """Every knob that shapes the requests of a run; all of it is in the manifest.

    Attributes:
        order: Option order: rotated over items, as declared, or every cyclic order of each item.
        seed: Seed of whatever the protocol draws (demonstrations, shuffles).
        temperature: 0 for greedy; ``None`` where none was given: a plan puts the protocol's own in its place.
        top_p: Nucleus of sampling, used when ``temperature`` is above 0.
        max_tokens: Most new tokens; ``None`` for the protocol's own limit.
        options: The benchmark's own settings by name (``{"context": "3"}``).

    Raises:
        UserError: When a value is out of range.
    """

    order: Order = "rotate"
    seed: int = 0
    temperature: float | None = None
    top_p: float = 1.0
    max_tokens: int | None = None
    options: Mapping[str, str] = field(default_factory=dict)

    def sampling(self, max_tokens: int) -> Sampling:
        """How to generate a reply that needs at most ``max_tokens``, unless the run says otherwise."""
        temperature = self.temperature or 0.0
        return Sampling(temperature, self.top_p, self.max_tokens or max_tokens, self.seed if temperature else None)

    def __post_init__(self) -> None:
        if self.order not in get_args(Order):
            raise UserError(f"Option order {self.order!r}: expected one of {', '.join(get_args(Order))}.")
        if self.temperature is not None and not 0 <= self.temperature < float("inf"):
            raise UserError(f"Temperature {self.temperature}: expected 0 (greedy) or more.")
        if not 0 < self.top_p <= 1:
            raise UserError(f"top_p {self.top_p}: expected a share above 0, at most 1.")


Answered: TypeAlias = Mapping[tuple[str, str], Response]
"""Responses to one item so far, by (variant, step), under one condition and repeat."""


class AskingProtocol(Protocol):
    """One way to put an item to a model and to read what comes back."""

    @property
    def name(self) -> str:
        """What the user types after ``--protocol``."""
        ...

    @property
    def summary(self) -> str:
        """One line for lists."""
        ...

    @property
    def needs(self) -> frozenset[Ability]:
        """What the model must be able to do."""
        ...

    def requests(self, item: Item, asking: Asking, answered: Answered) -> Sequence[Request]:
        """The requests that can be asked now, answered ones included.

        One-shot protocols ignore ``answered``. A chained protocol returns its first request, then, once that is in
        ``answered``, the follow-up as well. Pure: the same arguments give the same requests, in any process.
        """
        ...

    def read(self, item: Item, asking: Asking, answered: Answered) -> Sequence[Prediction]:
        """Predictions of every slot from the responses there are. Condition and repeat are filled in by the caller."""
        ...

    def ideal_reply(self, item: Item, request: Request, answer: Mapping[str, Any], asking: Asking) -> Response:
        """The response of a model that answers ``answer`` (slot -> value): for demonstrations and contract tests."""
        ...


@dataclass(frozen=True, slots=True)
class ReferenceRow:
    """A published figure, people's, or a baseline, shown beside the runs.

    Attributes:
        name: Who (``"GPT-5.5"``, ``"two human annotators"``).
        figures: Score id -> value in [0, 1].
        source: Where it is printed (paper, table or section).
        kind: For grouping.
        note: What differs from our runs.
    """

    name: str
    figures: Mapping[str, float]
    source: str
    kind: Literal["model", "encoder", "human", "baseline"]
    note: str = ""


@dataclass(frozen=True)
class Scoring:
    """What a scorer gets. A benchmark takes what it needs; most need only ``table``.

    Attributes:
        whole: Predictions of all conditions.
        condition: The one to score.
        protocol: Name of the protocol they come from.
        interval: How intervals are made.
        items: The items asked about; empty when only predictions were kept.
        predictions: The same predictions as rows, with their ``detail``; empty when only the table was kept.
        options: The benchmark's own settings, as the run was asked with them (``Asking.options``).
    """

    whole: PredictionTable
    condition: str
    protocol: str
    interval: Interval
    items: Sequence[Item] = ()
    predictions: Sequence[Prediction] = ()
    options: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def table(self) -> PredictionTable:
        """Predictions of the condition to score."""
        return self.of(self.condition)

    def of(self, condition: str) -> PredictionTable:
        """Predictions of another condition, such as the neutral one."""
        return self.whole.where(self.whole.condition.equals(condition))


@dataclass(frozen=True)
class Benchmark:
    """A benchmark, whole.

    Attributes:
        name: What the user types.
        title: For people.
        version: Changes whenever scores stop being comparable.
        paper: Citation.
        question: What it asks of a model, in one line.
        slots: Slot name -> label space (``None`` for slots without one).
        protocols: By name; the first is the default.
        load: Reads data into items: ``load(source, fields, options)``, with ``fields`` mapping our field name to the
            file's and ``options`` the benchmark's own settings.
        sample: The bundled sample.
        score: Scores of one condition's predictions.
        measures: Additive statistics that comparisons are made of: ``measures(table, protocol name)``.
        references: Rows to show beside the runs.
        settings: Its own settings (``Asking.options``): name -> what it does.
        perfect: Value of a headline figure when every answer is right, where that is not 1.
        graded: Whether answers can be right; false where no item has gold and answers are compared over conditions.
        outside: Settings whose value names something beside the data that decides requests or figures (a file, an
            encoder) -> its SHA-256. Runs keep a copy of a file, and refuse to go on or be scored with another.
        temperatures: Temperature of protocols that sample, by name, used unless the run sets one; 0 is refused.
    """

    name: str
    title: str
    version: str
    paper: str
    question: str
    slots: Mapping[str, LabelSpace | None]
    protocols: Mapping[str, AskingProtocol]
    load: Callable[[str, Mapping[str, str], Mapping[str, str]], Loaded]
    sample: Traversable
    score: Callable[[Scoring], Scores]
    measures: Callable[[PredictionTable, str], Measures]
    references: tuple[ReferenceRow, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)
    outside: Mapping[str, Callable[[str], str]] = field(default_factory=dict)
    perfect: Mapping[str, float] = field(default_factory=dict)
    graded: bool = True
    temperatures: Mapping[str, float] = field(default_factory=dict)
