"""The second turn of audited decisions: asked, read, and set against auditing as many at random."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from affectlab.audits.thoughts import Caught, at_random, catch
from affectlab.benchmarks.decisions.measures import NAMES, Drifts, Figure, choices_of, drifts_of
from affectlab.benchmarks.decisions.pairing import paired_cells
from affectlab.benchmarks.decisions.reasoning import Thought, thoughts
from affectlab.errors import UserError
from affectlab.metrics.predictions import Prediction, PredictionTable
from affectlab.metrics.scores import Cell as TableCell
from affectlab.metrics.scores import Table
from affectlab.models.base import Failure, Message, Model, Request, Steerable
from affectlab.runs import Cell, RunFolder, ScoredRun
from affectlab.stats.bootstrap import Interval
from affectlab.stats.estimate import Estimate
from affectlab.stats.multiple import adjust
from affectlab.stats.paired import PairedResult

STEP = "reflect"
REFLECTION = (
    "Before this counts, go over your reasoning once more as a calm outsider would. Did a mood or a feeling push the "
    "choice, rather than what the situation says? Weigh the options again on their merits, keep your choice or change "
    "it, and end with one line of the form\nANSWER: letter"
)

INDUCED = ("emotion", "prompt")
"""Conditions that are audited: emotions by vector, and by telling."""

Key = tuple[str, str, int, str]
"""Item, condition, repeat, variant of a decision."""


@dataclass(frozen=True)
class Audit:
    """What the audit did.

    Attributes:
        caught: Predictions and flags.
        before: Drift without an audit.
        audited: Drift when the flagged decisions are replaced by their second ones.
        random: Drift when as many decisions drawn at random are.
        second: Second decisions there are: key -> answer; ``None`` where it could not be read.
        failed: Second turns without a response.
    """

    caught: Caught
    before: Drifts
    audited: Drifts
    random: Drifts
    second: Mapping[Key, float | None]
    failed: int

    @property
    def kept(self) -> int:
        """Second turns that could not be read: the first decision stands."""
        return sum(value is None for value in self.second.values())


def audit_thoughts(run: ScoredRun, model: Model, out: Path, precision: float = 0.8, seed: int = 0) -> Audit:
    """Flag, ask again, and compare.

    Responses are kept in ``out`` as they come; the same call goes on where it stopped.

    Args:
        run: A run of the decisions benchmark with reasoning and emotion conditions.
        model: The model of the run.
        out: Folder of the second turns.
        precision: Of the flags.
        seed: Of folds and of the random audit.

    Raises:
        UserError: When the run has no thoughts to audit.
    """
    usable = [one for one in thoughts(run.predictions) if one.state.kind in INDUCED and one.move is not None]
    if run.benchmark.name != "decisions" or not usable:
        raise UserError(
            f"{run.folder.path} has no reasoning under emotions: the audit needs a run of `affectlab decide` with "
            "--cot or --thinking."
        )
    caught = catch(usable, precision, seed=seed)
    drawn = at_random(caught.flagged, seed)
    wanted = [_key(one) for one, yes in zip(usable, caught.flagged | drawn, strict=True) if yes]
    second, failed = _asked_again(run, model, RunFolder.at(out), wanted)
    flagged, random = (_chosen(usable, which) for which in (caught.flagged, drawn))
    return Audit(
        caught,
        _drift(run.predictions, {}),
        _drift(run.predictions, {key: second[key] for key in flagged if key in second}),
        _drift(run.predictions, {key: second[key] for key in random if key in second}),
        second,
        failed,
    )


def _key(one: Thought) -> Key:
    return one.item, one.state.name, one.repeat, one.variant


def _chosen(found: Sequence[Thought], which: NDArray[np.bool_]) -> list[Key]:
    return [_key(one) for one, yes in zip(found, which, strict=True) if yes]


def _asked_again(
    run: ScoredRun, model: Model, folder: RunFolder, wanted: Sequence[Key]
) -> tuple[dict[Key, float | None], int]:
    """Second decisions of the wanted ones, those in the folder first."""
    requests = {key: request for key, request in _requests(run) if key in set(wanted)}
    failed = 0
    if isinstance(model, Steerable) and run.plan.steered:
        model.prepare(run.plan.steered, run.folder.vectors_path, run.manifest.get("steering", {}))
    with folder.locked():
        answers = folder.answers()
        missing = [
            request
            for request in requests.values()
            if (request.variant, STEP) not in answers.by_cell.get(_cell(request), {})
        ]
        with folder.appending() as kept:
            for request, answer in model.respond(missing) if missing else ():
                if isinstance(answer, Failure):
                    failed += 1
                else:
                    kept.response(request, answer)
                    answers.add(_cell(request), request.variant, STEP, answer)
    items = {item.id: item for item in run.plan.items}
    second: dict[Key, float | None] = {}
    for key, request in requests.items():
        response = answers.by_cell.get(_cell(request), {}).get((request.variant, STEP))
        if response is not None:
            (read,) = run.plan.protocol.read(items[key[0]], run.plan.asking, {(request.variant, STEP): response})
            second[key] = read.value
    return second, failed


def _cell(request: Request) -> Cell:
    return Cell(request.condition, request.repeat, request.item)


def _requests(run: ScoredRun) -> Iterator[tuple[Key, Request]]:
    """The second turn of every decision that was answered."""
    answers = run.folder.answers().by_cell
    for cell, item in run.plan.cells():
        answered = answers.get(cell, {})
        for request in run.plan.requests(cell, item, answered):
            first = answered.get((request.variant, request.step))
            if first is not None and first.text:
                turns = (
                    *request.messages,
                    Message("assistant", request.prefill + first.text),
                    Message("user", REFLECTION),
                )
                yield (
                    (cell.item, cell.condition, cell.repeat, request.variant),
                    replace(request, messages=turns, step=STEP, prefill=""),
                )


def _drift(predictions: Sequence[Prediction], replaced: Mapping[Key, float | None]) -> Drifts:
    """Drift with some decisions replaced; where the second one could not be read the first stands."""
    rows = (
        replace(row, value=second, outcome="ok")
        if (second := replaced.get((row.item, row.condition, row.repeat, row.variant))) is not None
        else row
        for row in predictions
    )
    return drifts_of(choices_of(PredictionTable.from_rows(rows)))


def compared(one: Drifts, other: Drifts, figure: Figure, interval: Interval) -> PairedResult:
    """A figure over all emotions of one minus the other, on the same items."""
    columns = [place for place, state in enumerate(one.states) if state.kind in INDUCED]
    first, second = (drifts.by_item(drifts.contributions(columns, figure)) for drifts in (one, other))
    return paired_cells(one.roles, one.clusters, first, second, interval)


def audit_tables(found: Audit, interval: Interval) -> tuple[Table, ...]:
    """How well thoughts tell, and what the second turn does."""
    caught = found.caught
    results = [
        (title, figure, compared(one, other, figure, interval))
        for figure in ("ndm", "nad")
        for title, one, other in (
            ("audited − not audited", found.audited, found.before),
            ("random audit − not audited", found.random, found.before),
            ("audited − random audit", found.audited, found.random),
        )
    ]
    adjusted = adjust([one.p for _, _, one in results]).values
    rows: list[tuple[TableCell, ...]] = [
        (NAMES[figure], title, one.a, one.b, _number(one.difference), one.p, q)  # type: ignore[index]
        for (title, figure, one), q in zip(results, adjusted, strict=True)
    ]
    return (
        Table(
            "caught",
            "Moved decisions from their reasoning",
            ("thoughts", "moved", "AUC", "flagged", "of them moved", "asked for"),
            (
                (
                    len(caught.moved),
                    float(caught.moved.mean()),
                    caught.mean_auc,
                    int(caught.flagged.sum()),
                    caught.hit_rate,
                    caught.precision,
                ),
            ),
            "Word weights and logistic regression, nested cross-validation by items; AUC: mean over outer folds "
            f"({', '.join('–' if one is None else f'{one:.2f}' for one in caught.auc)}). The threshold of "
            f"{sum(one is None for one in caught.thresholds)} folds could not reach the precision on training folds "
            "and flags nothing there.",
            {"moved": "share", "AUC": "number", "of them moved": "share", "asked for": "share"},
        ),
        Table(
            "second_turn",
            "What the second turn does to drift",
            ("figure", "comparison", "first", "second", "difference", "p", "q"),
            tuple(rows),
            "Paired on the same items; intervals resample items, p swaps within items, q: Benjamini–Hochberg over the "
            f"table. Random audit: as many decisions drawn at random. {found.kept} second turns could not be read, "
            f"{found.failed} got no response: the first decision stands.",
            {"first": "number", "second": "number", "p": "p", "q": "p"},
        ),
    )


def _number(estimate: Estimate) -> Estimate:
    return replace(estimate, unit="number")
