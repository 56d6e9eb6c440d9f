"""What a run will ask: a pure function of the data, the protocol and the seed.

So a resumed run asks exactly the requests that are missing, and scores never depend on the order in which responses
arrived.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.resources import as_file
from pathlib import Path
from typing import Any, NamedTuple

from affectlab.benchmarks import open_benchmark
from affectlab.benchmarks.base import Answered, Asking, AskingProtocol, Benchmark
from affectlab.errors import UserError
from affectlab.items import Item, source_digest
from affectlab.metrics.predictions import Prediction
from affectlab.models import images
from affectlab.models.base import NEUTRAL, Ability, Message, Model, Request, Response
from affectlab.steering.conditions import Condition, check_scored, parse


class Cell(NamedTuple):
    """One item under one condition and repeat: what a protocol is asked about at a time."""

    condition: str
    repeat: int
    item: str


class Read(NamedTuple):
    """What a run's responses say: predictions in plan order, requests there should be, responses to them there are."""

    predictions: tuple[Prediction, ...]
    planned: int
    answered: int


@dataclass(frozen=True)
class Plan:
    """A run before it is made: benchmark × protocol × items × conditions × repeats.

    Attributes:
        benchmark: What is asked.
        protocol: How it is asked.
        items: In the data's order.
        source: Where the items came from, for people (``"sample"``, a path, ``hub:NAME``).
        data_sha256: Digest of that source.
        asking: Every knob that shapes the requests; a temperature that was not given becomes the protocol's.
        conditions: States of the model.
        fields: Our field name -> the source's, where they differ.
        notes: What the loader said of the data, and what was asked otherwise than set; shown with every score.
        ignored: Columns of the source that went into no item; recorded in the manifest.
        repeats: How often each request is asked; more than one needs a temperature above 0.
    """

    benchmark: Benchmark
    protocol: AskingProtocol
    items: tuple[Item, ...]
    source: str
    data_sha256: str
    asking: Asking = field(default_factory=Asking)
    conditions: tuple[str, ...] = (NEUTRAL,)
    repeats: int = 1
    fields: Mapping[str, str] = field(default_factory=dict)
    ignored: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.items:
            raise UserError("No items to ask about: the data are empty, or --limit is 0.")
        if self.repeats < 1:
            raise UserError(f"--repeats {self.repeats}: at least 1 is needed.")
        usual = self.benchmark.temperatures.get(self.protocol.name, 0.0)
        if self.asking.temperature is None:  # here, so that the manifest holds what is used
            object.__setattr__(self, "asking", replace(self.asking, temperature=usual))
        if usual and self.asking.temperature == 0:
            raise UserError(
                f"--temperature 0: {self.protocol.name} draws several replies to one question, and greedy ones are all "
                f"the same. Leave it out for {usual:g}, or set one above 0."
            )
        if self.repeats > 1 and self.asking.temperature == 0:
            raise UserError(
                f"--repeats {self.repeats} at temperature 0 gives the same reply each time: set --temperature."
            )
        if unknown := sorted(self.asking.options.keys() - self.benchmark.settings.keys()):
            known = ", ".join(self.benchmark.settings) or "none"
            raise UserError(f"{self.benchmark.name} has no setting {unknown[0]!r}; it has: {known}.")

    def __repr__(self) -> str:
        states = f", {len(self.conditions)} conditions" if len(self.conditions) > 1 else ""
        times = f", {self.repeats} repeats" if self.repeats > 1 else ""
        asked = f"{self.benchmark.name}/{self.protocol.name}"
        return f"<plan: {asked} on {len(self.items)} items of {self.source}{states}{times}>"

    def cells(self) -> Iterator[tuple[Cell, Item]]:
        """Every cell, in the order in which results are written."""
        for condition in self.conditions:
            for repeat in range(self.repeats):
                for item in self.items:
                    yield Cell(condition, repeat, item.id), item

    def requests(self, cell: Cell, item: Item, answered: Answered) -> list[Request]:
        """All requests of a cell that can be asked now, answered ones included."""
        asked = self.protocol.requests(item, self.asking, answered)
        if cell.condition == NEUTRAL and not cell.repeat:
            return list(asked)
        prompt = self._states[cell.condition].prompt
        return [
            replace(
                request,
                condition=cell.condition,
                repeat=cell.repeat,
                messages=_told(request.messages, prompt) if prompt else request.messages,
            )
            for request in asked
        ]

    @cached_property
    def _states(self) -> dict[str, Condition]:
        return {name: parse(name) for name in self.conditions}

    @property
    def steered(self) -> tuple[str, ...]:
        """Conditions that change the model itself, and not only what it is told."""
        return tuple(name for name, state in self._states.items() if state.terms)

    def read(self, answers: Mapping[Cell, Answered]) -> Read:
        """Predictions from the responses there are, in plan order, and how many responses that is of how many."""
        rows: list[Prediction] = []
        planned = found = 0
        for cell, item in self.cells():
            answered = answers.get(cell, {})
            asked = [(request.variant, request.step) for request in self.protocol.requests(item, self.asking, answered)]
            in_order = {key: answered[key] for key in asked if key in answered}
            planned += len(asked)
            found += len(in_order)
            if answered:
                read = self.protocol.read(item, self.asking, in_order)
                if cell.condition != NEUTRAL or cell.repeat:
                    read = [replace(row, condition=cell.condition, repeat=cell.repeat) for row in read]
                rows += read
        return Read(tuple(rows), planned, found)

    def prompt_sha256(self) -> str:
        """Digest of all that is sent before anything is answered, and of what conditions say in words."""
        digest = hashlib.sha256()
        for name in sorted(self._states):  # the order in which conditions are named makes no other run
            digest.update(self._states[name].prompt.encode())
        for request in self._first_requests():
            digest.update(
                json.dumps(request_to_dict(request), ensure_ascii=False, sort_keys=True).encode("utf-8", "replace")
            )
        return digest.hexdigest()

    def _first_requests(self) -> Iterator[Request]:
        """What is sent before anything is answered; items that cannot be asked are refused together."""
        refused: dict[str, None] = {}
        for item in self.items:
            try:
                yield from self.protocol.requests(item, self.asking, {})
            except UserError as error:
                refused[str(error)] = None
        if refused:
            more = f" {len(refused)} of {len(self.items)} items cannot be asked so." if len(refused) > 1 else ""
            raise UserError(f"{next(iter(refused))}{more}")


def make_plan(
    benchmark: str | Benchmark,
    *,
    protocol: str | None = None,
    data: str | None = None,
    fields: Mapping[str, str] | None = None,
    limit: int | None = None,
    asking: Asking | None = None,
    conditions: Sequence[str] = (),
    repeats: int = 1,
) -> Plan:
    """The plan of a run.

    Args:
        benchmark: Its name, or the benchmark itself.
        protocol: How to ask; the benchmark's first when ``None``.
        data: A file or ``hub:NAME``; the bundled sample when ``None``.
        fields: Our field name -> the file's column.
        limit: Ask only the first so many items.
        asking: Order, seed, temperature and so on.
        conditions: States of the model besides neutral, which is always asked first (see
            :mod:`affectlab.steering.conditions`).
        repeats: How often to ask everything.

    Raises:
        UserError: When a name is unknown, the data are bad, or the settings do not fit.
    """
    states = _named(conditions)
    opened = open_benchmark(benchmark) if isinstance(benchmark, str) else benchmark
    chosen = protocol or next(iter(opened.protocols))
    if chosen not in opened.protocols:
        raise UserError(f"{opened.name} has no protocol {chosen!r}; it has {', '.join(opened.protocols)}.")
    options = asking.options if asking else {}
    if data is None and fields:
        raise UserError("--map goes with --data: the bundled sample has our own field names.")
    with as_file(opened.sample) if data is None else nullcontext(data) as source:
        loaded, digest = opened.load(str(source), fields or {}, options), source_digest(str(source))
    return Plan(
        benchmark=opened,
        protocol=opened.protocols[chosen],
        items=loaded[:limit],
        source=data or "sample",
        data_sha256=digest,
        asking=asking or Asking(),
        conditions=states,
        repeats=repeats,
        fields=fields or {},
        ignored=loaded.ignored,
        notes=loaded.notes,
    )


def _named(conditions: Sequence[str]) -> tuple[str, ...]:
    """Conditions in their canonical spelling, neutral first.

    Raises:
        UserError: When one cannot be read, or two are the same.
    """
    found = [NEUTRAL]
    for text in conditions:
        name = str(parse(text))
        if name in found[1:]:
            raise UserError(f"Condition {text!r} is given twice ({name}).")
        if name != NEUTRAL:
            found.append(name)
    return tuple(found)


def _told(messages: tuple[Message, ...], prompt: str) -> tuple[Message, ...]:
    """A conversation whose system turn starts with a prompt."""
    if messages and messages[0].role == "system":
        return (replace(messages[0], content=f"{prompt}\n\n{messages[0].content}"), *messages[1:])
    return (Message("system", prompt), *messages)


def check_abilities(plan: Plan, model: Model) -> None:
    """Refuse what cannot be done, before anything runs: a protocol's needs, a condition that does not fit.

    Raises:
        UserError: Naming what is missing and the protocols that would work.
    """
    if plan.steered and Ability.STEER not in model.abilities:
        raise UserError(
            f"{model.card.spec} cannot be put into condition {plan.steered[0]!r}: only a local model can be steered. "
            "Any model that takes text can be told an emotion: prompt:EMOTION."
        )
    missing = plan.protocol.needs - model.abilities
    if missing:
        fit = [name for name, protocol in plan.benchmark.protocols.items() if protocol.needs <= model.abilities]
        works = f"These would work: {', '.join(fit)}." if fit else "No protocol of this benchmark would work."
        raise UserError(
            f"Protocol {plan.protocol.name!r} needs a model that can {' and '.join(sorted(missing))}; "
            f"{model.card.spec} cannot. {works}"
        )
    if Ability.SCORE in plan.protocol.needs:
        first = plan.protocol.requests(plan.items[0], plan.asking, {})
        step = next((f"step {request.step!r} of " for request in first if request.options), "")
        fit = [name for name, protocol in plan.benchmark.protocols.items() if Ability.SCORE not in protocol.needs]
        instead = f"take a protocol that generates: {', '.join(fit)}" if fit else ""
        check_scored(plan.steered, f"{step}protocol {plan.protocol.name!r}", instead)


def request_to_dict(request: Request) -> dict[str, Any]:
    """What of a request is kept with its response (its key apart).

    Raises:
        UserError: When an image it brings cannot be read.
    """
    sampling = request.sampling
    kept: dict[str, Any] = {
        "messages": [
            _illustrated(message) if message.images else {"role": message.role, "content": message.content}
            for message in request.messages
        ]
    }
    if request.prefill:
        kept["prefill"] = request.prefill
    if request.options:
        kept["options"] = list(request.options)
    else:
        kept["sampling"] = {
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "max_tokens": sampling.max_tokens,
            "seed": sampling.seed,
            "stop": list(sampling.stop),
        }
    return kept


def _illustrated(message: Message) -> dict[str, Any]:
    """A turn with images, each by name and content: a folder that moved is no other run, another picture is."""
    named = [{"name": Path(path).name, "sha256": images.sha256(path)} for path in message.images]
    return {"role": message.role, "content": message.content, "images": named}


def response_to_dict(response: Response) -> dict[str, Any]:
    """A response as plain data; absent fields are left out."""
    usage = response.usage
    kept: dict[str, Any] = {
        "text": response.text,
        "finish": response.finish,
        "logprobs": response.logprobs,
        "option_tokens": response.option_tokens,
        "reasoning": response.reasoning,
        "prompt": response.prompt,
        "usage": None
        if usage is None
        else {
            "prompt_tokens": usage.prompt_tokens,
            "completion_tokens": usage.completion_tokens,
            "cost": usage.cost,
        },
        "seconds": response.seconds,
        "served_by": response.served_by,
    }
    return {name: value for name, value in kept.items() if value is not None or name == "text"}
