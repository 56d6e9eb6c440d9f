"""Several finished runs of the decisions benchmark, side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from affectlab.audits.parameters import ItemParameters
from affectlab.benchmarks.decisions.curves import Curve, curves
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
from affectlab.benchmarks.decisions.reasoning import difference_table, moderation, regression_table, with_and_without
from affectlab.benchmarks.decisions.states import CONTROLS, TITLES, WITHOUT_EMOTION, induced_states
from affectlab.benchmarks.decisions.tables import number
from affectlab.errors import UserError
from affectlab.metrics.predictions import Prediction
from affectlab.metrics.scores import Cell, Table
from affectlab.runs import ScoredRun, read_run
from affectlab.stats.bootstrap import Interval, estimates
from affectlab.stats.proportion import proportion

REASONED = ("cot", "thinking")


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
    """

    runs: tuple[str, ...]
    tables: tuple[Table, ...]
    cells: Table
    maps: Mapping[str, Heatmap]
    curves: Mapping[str, tuple[Curve, ...]]
    notes: tuple[str, ...]


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
    # Scoring each run whole is not needed here: few replicates make reading quick.
    read = [read_run(folder, Interval(replicates=1, seed=interval.seed)) for folder in folders]
    if foreign := [str(run.folder.path) for run in read if run.benchmark.name != "decisions"]:
        raise UserError(f"{foreign[0]} is no run of the decisions benchmark.")
    runs = dict(zip(_names(read), read, strict=True))
    choices = {name: choices_of(run.table) for name, run in runs.items()}
    found_doses = dict.fromkeys(dose for one in choices.values() for dose in doses(one))
    maps = {dose: heatmap(choices, dose) for dose in found_doses}
    lines = {name: curves(drifts_of(one), interval) for name, one in choices.items()}
    tables = [_overall(choices, interval)]
    notes = list(_notes(runs))
    moderated: list[tuple[list[Table], list[str]]] = []
    for one, other in _pairs(runs):
        tables += _compared(runs, choices, (one, other), interval)
        notes.append(f"Compared on the same items: {one} against {other}.")
        if parameters is not None and runs[one].plan.protocol.name in REASONED:
            moderated.append(_moderated(choices, (one, other), parameters))
    if parameters is not None and not moderated:
        raise UserError(
            "Item parameters are for what reasoning adds: give a run with --cot or --thinking and one without."
        )
    for more, said in moderated:
        tables += more
        notes += said
    tables += [heatmap_table(found, dose) for dose, found in maps.items()]
    return Drifted(tuple(runs), tuple(tables), shift_table(list(maps.values())), maps, lines, tuple(notes))


def _names(runs: Sequence[ScoredRun]) -> list[str]:
    models = [str(run.manifest["model"]["name"]) for run in runs]
    asked = [f"{model}, {run.plan.protocol.name}" for model, run in zip(models, runs, strict=True)]
    names = models if len(set(models)) == len(runs) else asked
    if len(set(names)) < len(runs):
        names = [f"{name} ({run.folder.path})" for name, run in zip(asked, runs, strict=True)]
    if len(set(names)) < len(runs):
        raise UserError("A run folder is named twice.")
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
        rows.append((name, *map(number, found.values())))
    headings = [
        f"{NAMES[figure]} {TITLES[kind]}" for kind in kinds for figure in FIGURES[: 3 if kind == "emotion" else 2]
    ]
    return Table(
        "drift_by_run",
        "Drift by run, mean over roles",
        ("run", *headings),
        tuple(rows),
        "Over all emotions and strengths of a run; intervals resample its items.",
    )


def _has(choices: Choices, kind: str) -> bool:
    return any(state.kind == kind for state in induced_states(choices.conditions))


def _notes(runs: Mapping[str, ScoredRun]) -> Iterator[str]:
    for name, run in runs.items():
        if run.answered < run.planned:
            yield f"{name}: {run.answered} of {run.planned} requests have a response; the rest are in no figure."


def _pairs(runs: Mapping[str, ScoredRun]) -> Iterator[tuple[str, str]]:
    """Runs of one model on the same items that were asked in different ways, reasoning first."""
    names = list(runs)
    for place, one in enumerate(names):
        for other in names[place + 1 :]:
            first, second = runs[one], runs[other]
            same = first.manifest["model"]["name"] == second.manifest["model"]["name"]
            asked = {item.id for item in first.plan.items} == {item.id for item in second.plan.items}
            if same and asked and first.plan.protocol.name != second.plan.protocol.name:
                yield (other, one) if second.plan.protocol.name in REASONED else (one, other)


def _compared(
    runs: Mapping[str, ScoredRun], choices: Mapping[str, Choices], pair: tuple[str, str], interval: Interval
) -> Iterator[Table]:
    one, other = pair
    if {runs[one].plan.protocol.name, runs[other].plan.protocol.name} == {"choice", "likelihood"}:
        yield agreement_table(runs[one].predictions, runs[other].predictions)
    elif runs[one].plan.protocol.name in REASONED:
        first, second = drifts_of(choices[one]), drifts_of(choices[other])
        yield difference_table({f: with_and_without(first, second, interval, f) for f in ("ndm", "nad")})


def _moderated(
    choices: Mapping[str, Choices], pair: tuple[str, str], parameters: ItemParameters
) -> tuple[list[Table], list[str]]:
    """What reasoning adds to each figure, by item parameters; why not, where a regression cannot be made."""
    first, second = (drifts_of(choices[name]) for name in pair)
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


def agreement_table(one: Sequence[Prediction], other: Sequence[Prediction]) -> Table:
    """How often two ways of asking the same question end in the same option."""
    answers: list[dict[tuple[Any, ...], Any]] = [
        {(row.condition, row.item, row.variant, row.repeat): row.value for row in rows if row.value is not None}
        for rows in (one, other)
    ]
    both = answers[0].keys() & answers[1].keys()
    rows = []
    for condition in dict.fromkeys(row.condition for row in one):
        here = [key for key in both if key[0] == condition]
        same = sum(answers[0][key] == answers[1][key] for key in here)
        asked = sum(row.condition == condition for row in one)
        rows.append((condition, proportion(same, len(here), name="agreement"), len(here), asked - len(here)))
    return Table(
        "agreement",
        "Likelihood against generation: the same option",
        ("condition", "agreement", "both read", "not both read"),
        tuple(rows),
        "Share of questions with an answer both ways whose option is the same.",
    )
