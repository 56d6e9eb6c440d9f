"""Carry out a plan: ask what is missing, write each response down as it comes, and leave the folder fit to go on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from affectlab.errors import UserError
from affectlab.models.base import Adapting, Failure, Model, Request, RequestKey, Steerable
from affectlab.runs import manifest as manifests
from affectlab.runs import outside
from affectlab.runs.folder import Answers, Appender, RunFolder
from affectlab.runs.plan import Cell, Plan, check_abilities


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is.

    Attributes:
        done: Responses on disk.
        total: Requests known so far; grows when a chained protocol asks on.
        failed: Requests of this session that got no response.
    """

    done: int
    total: int
    failed: int


@dataclass(frozen=True, slots=True)
class Session:
    """What one call of :func:`execute` did.

    Attributes:
        asked: Requests sent.
        answered: Responses written.
        failed: Requests without a response.
        found: Responses that were there before.
        torn: Half-written lines cut off before going on.
        seconds: Wall time.
        interrupted: Whether Ctrl-C ended it.
        errors: Distinct errors of failed requests with their counts, most frequent first.
    """

    asked: int
    answered: int
    failed: int
    found: int
    torn: int
    seconds: float
    interrupted: bool
    errors: tuple[tuple[str, int], ...] = ()

    @property
    def complete(self) -> bool:
        """Whether nothing is left to ask."""
        return not self.interrupted and not self.failed


def execute(
    plan: Plan,
    model: Model,
    folder: RunFolder | str | Path,
    on_progress: Callable[[Progress], None] = lambda progress: None,
    command: str | None = None,
) -> Session:
    """Ask every request of the plan that has no response in the folder yet.

    Each response is on disk before the next is taken, so whatever ends the process loses nothing that came back. Ctrl-C
    ends the session cleanly and is reported in the result.

    Args:
        plan: What to ask.
        model: Whom to ask.
        folder: Where responses go; created when absent.
        on_progress: Called after each response.
        command: The command line to record.

    Raises:
        UserError: The model cannot do what the protocol needs; no item gives it anything to ask; the folder is in
            use, or belongs to another run.
        WorldError: The disk is full, or the model can no longer be reached.
    """
    folder = folder if isinstance(folder, RunFolder) else RunFolder.at(folder)
    check_abilities(plan, model)
    _check_asks(plan)
    with folder.locked():
        record = _open(plan, model, folder)
        answers = folder.answers()
        session: dict[str, Any] = {
            "started": manifests.now(),
            "ended": None,
            "command": command,
            "package_version": record["package_version"],
            "libraries": dict(model.card.libraries),
        }
        record["sessions"].append(session)
        folder.write_manifest(record)
        work = _Work(plan, model, answers, on_progress)
        try:
            with folder.appending() as out:
                work.run(out)
        finally:
            result = work.result()
            session.update(
                ended=manifests.now(),
                answered=result.answered,
                failed=result.failed,
                interrupted=result.interrupted,
                torn=result.torn,
                seconds=round(result.seconds, 3),
                usage=work.usage,
            )
            if isinstance(model, Adapting) and model.adaptations:
                session["adaptations"] = list(model.adaptations)
            folder.write_manifest(record)
    return result


def _check_asks(plan: Plan) -> None:
    if not any(plan.requests(cell, item, {}) for cell, item in plan.cells()):
        asked = plan.protocol
        raise UserError(
            f"Nothing to ask: {plan.source} has nothing for {plan.benchmark.name}'s protocol {asked.name} "
            f"({asked.summary}). `affectlab items check` names the protocols that can be asked; take one of them with "
            "--protocol, or data that hold what this one asks about."
        )


def _open(plan: Plan, model: Model, folder: RunFolder) -> dict[str, Any]:
    begun = folder.exists() and folder.has_responses()
    found = folder.manifest() if begun else {}
    if folder.exists():
        manifests.check_kind(found or folder.manifest(), str(folder.path))
    recorded = found.get("steering", {})
    asked = manifests.make(plan, model.card, recorded)
    if begun:
        manifests.check_same(found, asked, str(folder.path), plan.benchmark.outside)
    elif not folder.exists():  # a run that never got an answer has nothing to lose: it may be begun anew
        folder.check_new()
    if plan.steered and isinstance(model, Steerable):
        asked["steering"] = dict(model.prepare(plan.steered, folder.vectors_path, recorded))
    if begun:
        manifests.check_same(found, asked, str(folder.path), plan.benchmark.outside)
        outside.keep(plan, folder, found["asking"]["options"])
        return found | {"conditions": asked["conditions"]}
    folder.write_items(plan.items)
    outside.keep(plan, folder)
    return asked


class _Work:
    """The counts of one session and the loop that fills them."""

    def __init__(self, plan: Plan, model: Model, answers: Answers, on_progress: Callable[[Progress], None]) -> None:
        self.plan = plan
        self.model = model
        self.answers = answers
        self.on_progress = on_progress
        self.found = answers.total
        self.torn = answers.torn
        self.asked = self.answered = self.planned = 0
        self.interrupted = False
        self.errors: dict[str, int] = {}
        self.failed: set[RequestKey] = set()
        self.usage: dict[str, Any] = {
            "prompt_tokens": 0,
            "completion_tokens": 0,
            "cost": None,
            "calls_with_usage": 0,
        }
        self.began = perf_counter()

    def run(self, out: Appender) -> None:
        """Rounds of requests until none is missing: a chained protocol asks on once its first answers are there."""
        try:
            while missing := list(self._missing()):
                self.asked += len(missing)
                self.on_progress(self._progress())
                with closing(iter(self.model.respond(missing))) as replies:  # type: ignore[type-var]
                    for request, answer in replies:
                        self._take(request, answer, out)
        except KeyboardInterrupt:
            self.interrupted = True

    def _missing(self) -> Iterator[Request]:
        self.planned = 0
        for cell, item in self.plan.cells():
            answered = self.answers.by_cell.get(cell, {})
            for request in self.plan.requests(cell, item, answered):
                self.planned += 1
                if (request.variant, request.step) not in answered and request.key not in self.failed:
                    yield request

    def _take(self, request: Request, answer: Any, out: Appender) -> None:
        if isinstance(answer, Failure):
            out.failure(request, answer, manifests.now())
            self.failed.add(request.key)
            self.errors[answer.error] = self.errors.get(answer.error, 0) + 1
        else:
            out.response(request, answer)
            key = request.key
            self.answers.add(Cell(key.condition, key.repeat, key.item), key.variant, key.step, answer)
            self.answered += 1
            if answer.usage:
                self.usage["calls_with_usage"] += 1
                self.usage["prompt_tokens"] += answer.usage.prompt_tokens
                self.usage["completion_tokens"] += answer.usage.completion_tokens
                if answer.usage.cost is not None:
                    self.usage["cost"] = (self.usage["cost"] or 0.0) + answer.usage.cost
        self.on_progress(self._progress())

    def _progress(self) -> Progress:
        return Progress(self.answers.total, self.planned, len(self.failed))

    def result(self) -> Session:
        """What has been done so far."""
        return Session(
            asked=self.asked,
            answered=self.answered,
            failed=len(self.failed),
            found=self.found,
            torn=self.torn,
            seconds=perf_counter() - self.began,
            interrupted=self.interrupted,
            errors=tuple(sorted(self.errors.items(), key=lambda pair: -pair[1])),
        )
