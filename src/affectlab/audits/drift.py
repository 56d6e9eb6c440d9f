"""Several finished runs of the decisions benchmark, side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from affectlab.audits.pairs import REASONED, Pair, compared, cut, pairs_of, unlike
from affectlab.audits.parameters import ItemParameters
from affectlab.audits.runs import read_decisions
from affectlab.benchmarks.decisions.curves import Curve, curves
from affectlab.benchmarks.decisions.effects import effects
from affectlab.benchmarks.decisions.heatmap import Heatmap, doses, heatmap, heatmap_table, shift_table
from affectlab.benchmarks.decisions.measures import (
    FIGURES,
    NAMES,
    Choices,
    Selection,
    choices_of,
    drift_measures,
    drifts_of,
)
from affectlab.benchmarks.decisions.reasoning import moderation, regression_table
from affectlab.benchmarks.decisions.states import CONTROLS, TITLES, WITHOUT_EMOTION, induced_states
from affectlab.benchmarks.decisions.tables import effect_table, number, strength_table
from affectlab.errors import UserError
from affectlab.metrics.scores import Cell, Table
from affectlab.runs import ScoredRun
from affectlab.stats.bootstrap import Interval, estimates
from affectlab.stats.multiple import adjust


@dataclass(frozen=True)
class Drifted:
    """What several runs say together.

    Attributes:
        runs: Name of each run: its model, and how it was asked where that tells runs apart.
        tables: In reading order.
        cells: Every cell of the maps on a row, for machines.
        maps: Dose -> map over all runs.
        curves: Run -> its curves.
        notes: What must be known.
        made: What of each run's manifest says how its figures came about.
    """

    runs: tuple[str, ...]
    tables: tuple[Table, ...]
    cells: Table
    maps: Mapping[str, Heatmap]
    curves: Mapping[str, tuple[Curve, ...]]
    notes: tuple[str, ...]
    made: tuple[Mapping[str, Any], ...] = ()


def drift_of(folders: Sequence[Path], interval: Interval, parameters: ItemParameters | None = None) -> Drifted:
    """Read runs and compare them.

    Args:
        folders: Run folders of the decisions benchmark.
        interval: How intervals are made.
        parameters: Of items: what reasoning adds is regressed on them.

    Raises:
        UserError: When a folder is no run of it, or has no answers; when there are parameters and no two runs of one
            model with and without reasoning.
    """
    read = read_decisions(folders, interval.seed)
    runs = dict(zip(_names(read), read, strict=True))
    choices = {name: choices_of(run.table) for name, run in runs.items()}
    found_doses = dict.fromkeys(dose for one in choices.values() for dose in doses(one))
    maps = {dose: heatmap(choices, dose) for dose in found_doses}
    lines = {name: curves(drifts_of(one), interval) for name, one in choices.items()}
    tables = [_overall(choices, interval), *_against_controls(choices, interval), *_over_strengths(lines)]
    notes = list(_notes(runs))
    moderated = False
    pairs = list(pairs_of(runs))
    for pair in pairs:
        more, said = compared(runs, choices, pair, interval)
        tables += [_of_pair(table, pair, len(pairs)) for table in more]
        notes.append(said)
        if more and parameters is not None and runs[pair.one].plan.protocol.name in REASONED:
            regressions, why_not = _moderated(choices, pair, parameters)
            tables += [_of_pair(table, pair, len(pairs)) for table in regressions]
            notes += why_not
            moderated = True
    if parameters is not None and not moderated:
        raise UserError(
            "Item parameters are for what reasoning adds: give a run with --cot or --thinking and one without, on the "
            "same items under the same conditions."
        )
    tables += [heatmap_table(found, dose) for dose, found in maps.items()]
    cells = shift_table(list(maps.values()))
    return Drifted(tuple(runs), tuple(tables), cells, maps, lines, tuple(notes), _made(runs))


def _names(runs: Sequence[ScoredRun]) -> list[str]:
    models = [str(run.manifest["model"]["name"]) for run in runs]
    asked = [f"{model}, {run.plan.protocol.name}" for model, run in zip(models, runs, strict=True)]
    names = models if len(set(models)) == len(runs) else asked
    if len(set(names)) < len(runs):
        names = [f"{name} ({run.folder.path})" for name, run in zip(asked, runs, strict=True)]
    return names


def _overall(choices: Mapping[str, Choices], interval: Interval) -> Table:
    """The paper's columns Mean_Emotions and Mean_Random, a run a row."""
    kinds = ("emotion", *(kind for kind in CONTROLS if any(_has(one, kind) for one in choices.values())))
    rows: list[tuple[Cell, ...]] = []
    for name, one in choices.items():
        drifts = drifts_of(one)
        emotions = tuple(dict.fromkeys(s.emotion for s in drifts.states if s.kind == "emotion"))
        chosen = {
            f"{kind}|{figure}": Selection(
                figure, tuple(drifts.which(kind=kind)), (), emotions if kind in WITHOUT_EMOTION else ()
            )
            for kind in kinds
            for figure in FIGURES[: 3 if kind == "emotion" else 2]
        }
        found = estimates(drift_measures(drifts, chosen), how=interval)
        moved = ~np.isnan(drifts.size[:, drifts.which(kind="emotion")])
        rows.append((name, int(moved.any(axis=1).sum()), *map(number, found.values())))
    headings = [
        f"{NAMES[figure]} {TITLES[kind]}" for kind in kinds for figure in FIGURES[: 3 if kind == "emotion" else 2]
    ]
    return Table(
        "drift_by_run",
        "Drift by run, mean over roles",
        ("run", "items", *headings),
        tuple(rows),
        "Over all emotions and strengths of a run; intervals resample its items. Items: those with an answer under "
        "neutral and under an emotion vector.",
    )


def _has(choices: Choices, kind: str) -> bool:
    return any(state.kind == kind for state in induced_states(choices.conditions))


def _against_controls(choices: Mapping[str, Choices], interval: Interval) -> Iterator[Table]:
    """What decides whether a drift is one of emotion, a run and a control a row; no table where no run has controls."""
    found = [
        (name, one) for name, answers in choices.items() for one in effects(drifts_of(answers), interval, each=False)
    ]
    if found:
        adjusted = adjust([one.result.p for _, one in found]).values
        table = effect_table([replace(one, q=q) for (_, one), q in zip(found, adjusted, strict=True)])
        # Every row is of all emotions together.
        at = [place for place, heading in enumerate(table.columns) if heading != "emotion"]
        rows = tuple((name, *(row[place] for place in at)) for (name, _), row in zip(found, table.rows, strict=True))
        columns = ("run", *(table.columns[place] for place in at))
        title = f"{table.title}, all emotions together"
        yield replace(table, id="against_controls_by_run", title=title, columns=columns, rows=rows)


def _over_strengths(lines: Mapping[str, Sequence[Curve]]) -> Iterator[Table]:
    """All emotions together and random vectors over the strengths of each run that has several."""
    for name, found in lines.items():
        together = [line for line in found if not line.emotion and len(line.strengths) > 1]
        if together:
            table = strength_table(together)
            yield replace(table, id=f"{table.id}: {name}", title=f"{table.title}: {name}") if len(lines) > 1 else table


def _notes(runs: Mapping[str, ScoredRun]) -> Iterator[str]:
    for name, run in runs.items():
        if run.answered < run.planned:
            yield f"{name}: {run.answered} of {run.planned} requests have a response; the rest are in no figure."
    yield from unlike(runs)


def _of_pair(table: Table, pair: Pair, pairs: int) -> Table:
    """A table of one of several pairs is named after it."""
    if pairs < 2:
        return table
    names = f"{pair.one} against {pair.other}"
    return replace(table, id=f"{table.id}: {names}", title=f"{table.title}: {names}")


def _made(runs: Mapping[str, ScoredRun]) -> tuple[Mapping[str, Any], ...]:
    """What of each run's manifest says how its figures came about."""
    kept = ("model", "protocol", "data", "prompt_sha256", "asking", "conditions", "repeats", "package_version")
    return tuple(
        {
            "run": name,
            "folder": str(run.folder.path),
            "command": (run.manifest["sessions"] or [{}])[-1].get("command"),
            **{field: run.manifest[field] for field in kept},
        }
        for name, run in runs.items()
    )


def _moderated(choices: Mapping[str, Choices], pair: Pair, parameters: ItemParameters) -> tuple[list[Table], list[str]]:
    """What reasoning adds to each figure, by item parameters; why not, where a regression cannot be made."""
    first, second = (drifts_of(cut(choices[name], pair)) for name in (pair.one, pair.other))
    tables: list[Table] = []
    notes: list[str] = []
    for figure in FIGURES[:2]:
        try:
            found = moderation(first, second, parameters.difficulty, parameters.discrimination, figure)
            tables.append(regression_table(found, figure))
        except UserError as error:
            notes.append(f"What reasoning adds to {NAMES[figure]} is not regressed on item parameters: {error}")
    if unknown := sum(item not in parameters.difficulty for item in first.items):
        notes.append(f"{unknown} of {len(first.items)} items have no parameters and are in no regression.")
    return tables, notes
