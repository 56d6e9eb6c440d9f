"""From a scored run to what a report shows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from affectlab.benchmarks.base import Answered, Benchmark
from affectlab.items import Item
from affectlab.metrics.predictions import Prediction
from affectlab.models.base import Request, Response
from affectlab.report.model import Example, RunReport, SlotAnswer, Turn
from affectlab.runs import ScoredRun
from affectlab.runs.plan import Cell, Plan


def report_of(run: ScoredRun) -> RunReport:
    """Everything a report of this run shows, with a handful of replies picked by rule."""
    benchmark = run.benchmark
    return RunReport(
        manifest=run.manifest,
        benchmark_title=benchmark.title,
        benchmark_question=benchmark.question,
        paper=benchmark.paper,
        scores=run.scores,
        references=benchmark.references,
        examples=tuple(_examples(run)),
        overview=run.overview,
        smaller_better=frozenset(name for name, best in benchmark.perfect.items() if best == 0),
    )


_CAPTIONS = {
    "right": "First item with every answer right",
    "wrong": "First item with a wrong answer",
    "unparseable": "First reply that could not be read",
    "ambiguous": "First ambiguous reply",
    "refusal": "First refusal",
    "truncated": "First reply that was cut off",
    "empty": "First empty reply",
}


def _examples(run: ScoredRun) -> Iterator[Example]:
    """The first of each kind of reply there is."""
    plan, wanted = run.plan, dict(_CAPTIONS)
    read: dict[tuple[Cell, str], list[Prediction]] = {}
    for row in run.predictions:
        read.setdefault((Cell(row.condition, row.repeat, row.item), row.variant), []).append(row)
    picked = []
    for key, rows in read.items():
        caption = wanted.pop(_kind(rows), None)
        if caption is not None:
            picked.append((caption, key, rows))
        if not wanted:
            break
    answers = run.folder.answers().by_cell
    items = {item.id: item for item in plan.items}
    for caption, (cell, variant), rows in picked:
        answered = {key: response for key, response in answers[cell].items() if key[0] == variant}
        yield Example(
            caption=caption,
            item=cell.item,
            turns=_turns(plan, cell, items[cell.item], answered),
            answers=tuple(_answer(plan.benchmark, row) for row in rows),
            condition=cell.condition,
        )


def _kind(predictions: Sequence[Prediction]) -> str:
    for row in predictions:
        if row.outcome != "ok":
            return row.outcome
    if any(row.gold is None for row in predictions):
        return "without gold"
    return "right" if all(row.value == row.gold for row in predictions) else "wrong"


def _answer(benchmark: Benchmark, row: Prediction) -> SlotAnswer:
    return SlotAnswer(
        slot=row.slot,
        outcome=row.outcome,
        read=_shown(benchmark, row.slot, row.value),
        gold=_shown(benchmark, row.slot, row.gold),
        right=None if row.gold is None else row.value == row.gold,
    )


def _turns(plan: Plan, cell: Cell, item: Item, answered: Answered) -> tuple[Turn, ...]:
    asked = [
        (request, response)
        for request in plan.requests(cell, item, answered)
        if (response := answered.get((request.variant, request.step))) is not None
    ]
    several = len(asked) > 1
    return tuple(
        Turn(request.step if several else "", _prompt(request, response), _reply(request, response))
        for request, response in asked
    )


def _prompt(request: Request, response: Response) -> str:
    """The prompt as the model rendered it, or the messages as they were sent."""
    sent = "\n\n".join(f"[{message.role}]\n{message.content}" for message in request.messages)
    return response.prompt or sent


def _reply(request: Request, response: Response) -> str:
    """What came back: the text, or the options with their log-probabilities, likeliest first."""
    if response.logprobs is None:
        return response.text or ""
    scored = sorted(zip(response.logprobs, request.options, strict=True), reverse=True)
    return "\n".join(f"{option!r} {logprob:.3f}" for logprob, option in scored)


def _shown(benchmark: Benchmark, slot: str, value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, tuple | list | frozenset | set):
        return "; ".join(_shown(benchmark, slot, one) for one in value) or "none"
    space = benchmark.slots.get(slot)
    return space.name_of(str(value)) if space is not None and str(value) in space else str(value)
