"""From stored responses to scores. No model is needed: everything here can be redone at any time."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import affectlab
from affectlab.benchmarks import open_benchmark
from affectlab.benchmarks.base import Asking, Benchmark, Scoring
from affectlab.errors import UserError
from affectlab.metrics.predictions import Prediction, PredictionTable
from affectlab.metrics.scores import Scores, Table
from affectlab.runs import outside
from affectlab.runs.folder import SCHEMA, RunFolder
from affectlab.runs.manifest import adapted, check_kind, items_digest, made_by
from affectlab.runs.overview import overview
from affectlab.runs.plan import Plan
from affectlab.stats.bootstrap import Interval


@dataclass(frozen=True)
class ScoredRun:
    """A run read back from its folder, with its scores.

    Attributes:
        folder: Where it is.
        manifest: As on disk.
        plan: What was asked, rebuilt from the folder.
        predictions: All that was read, in plan order.
        table: The same as a table.
        scores: By condition.
        overview: Conditions side by side; ``None`` when there is only one.
        interval: How intervals were made.
        answered: Responses there are.
        planned: Requests there should be.
    """

    folder: RunFolder
    manifest: Mapping[str, Any]
    plan: Plan
    predictions: Sequence[Prediction]
    table: PredictionTable
    scores: Mapping[str, Scores]
    overview: Table | None
    interval: Interval
    answered: int
    planned: int

    @property
    def benchmark(self) -> Benchmark:
        """The benchmark that was run."""
        return self.plan.benchmark

    @property
    def headline(self) -> Mapping[str, float | None]:
        """Main figure by condition."""
        return {condition: scores.headline[0].value for condition, scores in self.scores.items()}

    def __repr__(self) -> str:
        parts = [f"{condition}: {_shown(value)}" for condition, value in self.headline.items()]
        name = next(iter(self.scores.values())).headline[0].name if self.scores else "no scores"
        return f"<run {self.folder.path}: {self.benchmark.name}/{self.plan.protocol.name}, {name} {', '.join(parts)}>"


def _shown(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.3f}"


def open_run(path: str | Path) -> tuple[RunFolder, dict[str, Any], Plan]:
    """A run folder with its manifest and the plan rebuilt from them.

    Raises:
        UserError: When the folder holds no run, or one of a benchmark or protocol that is not installed.
    """
    folder = RunFolder.at(path)
    manifest = folder.manifest()
    check_kind(manifest, str(folder.path))
    try:
        return folder, manifest, _plan(folder, manifest)
    except (KeyError, TypeError, AttributeError) as error:
        raise UserError(
            f"{folder.manifest_path} is broken: it lacks a field or holds a wrong one ({error}). "
            "Restore it, or start anew in another --out."
        ) from error


def _plan(folder: RunFolder, manifest: Mapping[str, Any]) -> Plan:
    benchmark = open_benchmark(manifest["benchmark"]["name"])
    if benchmark.version != manifest["benchmark"]["version"]:
        raise UserError(
            f"{folder.path} was run with {benchmark.name} version {manifest['benchmark']['version']}, here is "
            f"version {benchmark.version}: its scores would not compare. {made_by(manifest)}"
        )
    protocol = benchmark.protocols.get(manifest["protocol"])
    if protocol is None:
        raise UserError(f"{folder.path} used protocol {manifest['protocol']!r}, which {benchmark.name} does not have.")
    plan = Plan(
        benchmark=benchmark,
        protocol=protocol,
        items=folder.items(),
        source=manifest["data"]["source"],
        data_sha256=manifest["data"]["sha256"],
        asking=Asking(**manifest["asking"]),
        conditions=tuple(manifest["conditions"]),
        repeats=manifest["repeats"],
        notes=(*adapted(manifest), *manifest["data"].get("notes", ())),
    )
    return outside.from_folder(plan, folder)


def score_run(path: str | Path, interval: Interval | None = None) -> ScoredRun:
    """Read every stored response again, write ``predictions.jsonl`` and ``scores.json``, and return them.

    The two files depend on what the folder holds and the interval's settings alone, not on when or in which order
    responses came: scoring twice, or after an interruption, gives the same bytes. One thing is outside: the encoder of
    a BERTScore, whose digest must be the manifest's; where it cannot be had, its column is left out and a caption says
    so.

    Raises:
        UserError: When there is no run, another process is writing to it, there are no responses, or what its settings
            name is not what it was.
    """
    folder = RunFolder.at(path)
    folder.manifest()  # before the lock, which would make a file where there is no run
    with folder.locked():
        scored = read_run(path, interval)
        folder.write_predictions(scored.predictions)
        folder.write_scores(scores_to_dict(scored))
    return scored


def read_run(path: str | Path, interval: Interval | None = None) -> ScoredRun:
    """The same without writing anything: for reports, comparisons and notebooks.

    Raises:
        UserError: When there is no run, or it has no responses.
    """
    folder, manifest, plan = open_run(path)
    interval = interval or last_interval(path)
    answers = folder.answers()
    if not answers.total:
        raise UserError(f"{folder.path} has no responses yet; run it first: {_last_command(manifest)}")
    if items_digest(plan.items) != manifest["data"]["items_sha256"]:
        raise UserError(
            f"{folder.items_path} was changed since the run began; restore it, or run anew in another --out."
        )
    outside.check(plan, manifest.get("settings_sha256", {}), folder)
    if plan.prompt_sha256() != manifest["prompt_sha256"]:
        raise UserError(
            f"{folder.path} was asked other prompts than its manifest and this affectlab make "
            f"(run with {manifest['package_version']}), so its letters would be read through the wrong options. "
            f"Undo what was changed in the folder. If nothing was: {made_by(manifest)}"
        )
    predictions, planned, answered = plan.read(answers.by_cell)
    table = PredictionTable.from_rows(predictions)
    present = [condition for condition in plan.conditions if table.condition.equals(condition).any()]
    scores = {
        condition: _noted(
            plan.benchmark.score(
                Scoring(table, condition, plan.protocol.name, interval, plan.items, predictions, plan.asking.options)
            ),
            plan,
            answered,
            planned,
            answers.total - answered,
        )
        for condition in present
    }
    side_by_side = overview(plan, table, scores, manifest.get("steering", {}), interval)
    return ScoredRun(folder, manifest, plan, predictions, table, scores, side_by_side, interval, answered, planned)


def last_interval(path: str | Path) -> Interval:
    """How the intervals of a folder's ``scores.json`` were made; the usual way where there is none."""
    try:
        return Interval(**json.loads(RunFolder.at(path).scores_path.read_text("utf-8"))["interval"])
    except (OSError, ValueError, KeyError, TypeError, UserError):  # it is made anew from responses, whatever its state
        return Interval()


def _noted(scores: Scores, plan: Plan, answered: int, planned: int, strays: int) -> Scores:
    """The scores with what must be said first: how far the run is, what is odd about its data and its responses."""
    said = plan.notes
    if strays:
        said = (f"{strays} responses belong to no request of this run and are in no figure.", *said)
    few = _few_clusters(scores)
    if answered >= planned:
        return replace(scores, notes=(*said, *scores.notes, *few))
    note = (
        f"Incomplete run: {answered} of {planned} requests have a response; the rest are in no figure. "
        "Run the same command to go on."
    )
    return replace(scores, notes=(note, *said, *scores.notes, *few))


ENOUGH = 30
"""Clusters below which a bootstrap's interval is a rough guide (docs/statistics.md)."""


def _few_clusters(scores: Scores) -> tuple[str, ...]:
    most = max((one.clusters for one in scores.headline if one.low is not None), default=ENOUGH)
    if most >= ENOUGH:
        return ()
    said = (
        f"Few independent units: intervals resample {most} clusters, and with fewer than {ENOUGH} they are a rough "
        "guide, more often too narrow than too wide."
    )
    return (said,)


def scores_to_dict(scored: ScoredRun) -> dict[str, Any]:
    """What ``scores.json`` holds."""
    interval = scored.interval
    return {
        "schema": SCHEMA,
        "package_version": affectlab.__version__,
        "benchmark": {"name": scored.benchmark.name, "version": scored.benchmark.version},
        "requests": {"planned": scored.planned, "answered": scored.answered},
        "interval": {"level": interval.level, "replicates": interval.replicates, "seed": interval.seed},
        "conditions": {condition: sheet.to_dict() for condition, sheet in scored.scores.items()},
        **({"overview": asdict(scored.overview)} if scored.overview else {}),
    }


def _last_command(manifest: Mapping[str, Any]) -> str:
    sessions = manifest["sessions"]
    return (sessions and sessions[-1]["command"]) or "affectlab run …"
