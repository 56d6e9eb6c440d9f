"""The second turn of audited decisions: asked, read, and set against auditing as many at random."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import affectlab
from affectlab.audits.runs import BENCHMARK, identified, model_of
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
from affectlab.runs.folder import SCHEMA
from affectlab.runs.manifest import DECISIVE, field, now
from affectlab.stats.bootstrap import Interval
from affectlab.stats.estimate import Estimate
from affectlab.stats.multiple import adjust
from affectlab.stats.paired import PairedResult

KIND = "thought audit"
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


def audit_thoughts(
    run: ScoredRun,
    model: Model,
    out: Path,
    precision: float = 0.8,
    seed: int = 0,
    command: str | None = None,
    on_step: Callable[[str, int, int], None] = lambda what, done, total: None,
) -> Audit:
    """Flag, ask again, and compare.

    Responses are kept in ``out`` as they come; the same call goes on where it stopped.

    Args:
        run: A run of the decisions benchmark with reasoning and emotion conditions.
        model: The model of the run.
        out: Folder of the second turns: a new one, or one with second turns of the same run.
        precision: Of the flags.
        seed: Of folds and of the random audit.
        command: The command line to record.
        on_step: Told what is done, how much of it, of how much.

    Raises:
        UserError: When the run has no thoughts to audit, the model is not that of the run, or the folder holds
            something else.
    """
    told = thoughts(run.predictions) if run.benchmark.name == BENCHMARK else ()
    usable = [one for one in told if one.state.kind in INDUCED and one.move is not None]
    if not usable:
        raise UserError(
            f"{run.folder.path} has no reasoning under emotions: the audit needs a run of `affectlab decide` with "
            "--cot or --thinking."
        )
    _refuse_other_model(run, model)
    folder = RunFolder.at(out)
    with folder.locked():
        manifest = _open(run, model, folder)
        on_step("Moved decisions from their reasoning", 0, 1)
        groups = {row.item: row.cluster for row in run.predictions}
        caught = catch(usable, precision, seed=seed, groups=groups)
        on_step("Moved decisions from their reasoning", 1, 1)
        drawn = at_random(caught.flagged, seed)
        wanted = [_key(one) for one, yes in zip(usable, caught.flagged | drawn, strict=True) if yes]
        session = {"command": command, "started": now(), "precision": precision, "seed": seed}
        folder.write_manifest({**manifest, "sessions": [*manifest["sessions"], session]})
        second, failed = _asked_again(run, model, folder, wanted, on_step)
    flagged, random = (_chosen(usable, which) for which in (caught.flagged, drawn))
    return Audit(
        caught,
        _drift(run.predictions, {}),
        _drift(run.predictions, {key: second[key] for key in flagged if key in second}),
        _drift(run.predictions, {key: second[key] for key in random if key in second}),
        second,
        failed,
    )


def _refuse_other_model(run: ScoredRun, model: Model) -> None:
    card, found = model.card, run.manifest["model"]
    if identified(card.name, card.identity) != model_of(run.manifest):
        raise UserError(
            f"{card.spec} is not the model of {run.folder.path}: this is {_described(card.name, card.identity)}, the "
            f"run's {_described(found['name'], found['identity'])}. A second turn goes to the model of the first."
        )


def _described(name: str, identity: Mapping[str, Any]) -> str:
    return f"{name} ({', '.join(f'{key} {value}' for key, value in identity.items())})"


def _open(run: ScoredRun, model: Model, folder: RunFolder) -> dict[str, Any]:
    """The manifest of the folder of second turns, found or made.

    Raises:
        UserError: When the folder holds anything but second turns of this run, this model and this prompt.
    """
    audited = {name: field(run.manifest, name) for name in ("created", *DECISIVE)}
    asked: dict[str, Any] = {
        "schema": SCHEMA,
        "kind": KIND,
        "run": audited | {"conditions": sorted(audited["conditions"])},
        "model": {"name": model.card.name, "identity": dict(model.card.identity)},
        "prompt": REFLECTION,
    }
    # As a file holds it, where a tuple is a list.
    asked = json.loads(json.dumps(asked))
    found: dict[str, Any] = {}
    if folder.exists():
        found = folder.manifest()
        if found.get("kind") != KIND:
            raise UserError(f"{folder.path} holds something else than second turns; choose another --out.")
        other = [name for name in asked if found.get(name) != asked[name]]
        if other and folder.has_responses():
            raise UserError(
                f"{folder.path} holds second turns of another {' and another '.join(other)}; choose another --out."
            )
    else:
        folder.check_new()
    return {**asked, "package_version": affectlab.__version__, "sessions": found.get("sessions", [])}


def _key(one: Thought) -> Key:
    return one.item, one.state.name, one.repeat, one.variant


def _chosen(found: Sequence[Thought], which: NDArray[np.bool_]) -> list[Key]:
    return [_key(one) for one, yes in zip(found, which, strict=True) if yes]


def _asked_again(
    run: ScoredRun,
    model: Model,
    folder: RunFolder,
    wanted: Sequence[Key],
    on_step: Callable[[str, int, int], None],
) -> tuple[dict[Key, float | None], int]:
    """Second decisions of the wanted ones, those in the folder first; the folder is locked."""
    requests = {key: request for key, request in _requests(run) if key in set(wanted)}
    failed = 0
    if isinstance(model, Steerable) and run.plan.steered:
        model.prepare(run.plan.steered, run.folder.vectors_path, run.manifest.get("steering", {}))
    answers = folder.answers()
    missing = [
        request
        for request in requests.values()
        if (request.variant, STEP) not in answers.by_cell.get(_cell(request), {})
    ]
    on_step("Second turns", len(requests) - len(missing), len(requests))
    with folder.appending() as kept:
        for done, (request, answer) in enumerate(model.respond(missing) if missing else (), start=1):
            if isinstance(answer, Failure):
                failed += 1
                kept.failure(request, answer, now())
            else:
                kept.response(request, answer)
                answers.add(_cell(request), request.variant, STEP, answer)
            on_step("Second turns", len(requests) - len(missing) + done, len(requests))
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
