"""Predictions that no run of ours made: checked against their benchmark, then scored like ours."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from affectlab.benchmarks import open_benchmark
from affectlab.benchmarks.base import Benchmark, Scoring
from affectlab.errors import UserError
from affectlab.labels import LabelSpace
from affectlab.metrics.prediction_file import read_predictions
from affectlab.metrics.predictions import Column, PredictionTable
from affectlab.metrics.scores import Scores
from affectlab.reading import Outcome
from affectlab.stats.bootstrap import Interval


def score_predictions(
    path: str | Path, benchmark: str, protocol: str, interval: Interval | None = None
) -> dict[str, Scores]:
    """Score a ``predictions.jsonl`` that stands alone, by condition.

    Raises:
        UserError: When the file is missing or empty, a line is not a prediction, or a prediction does not fit the
            benchmark (another slot, label or outcome, or the same answer twice).
    """
    opened = open_benchmark(benchmark)
    if protocol not in opened.protocols:
        raise UserError(f"{benchmark} has no protocol {protocol!r}; it has {', '.join(opened.protocols)}.")
    table = read_predictions(path)
    if problem := _misfit(table, opened):
        raise UserError(f"{path} does not hold predictions of {benchmark}: {problem}.")
    return {
        condition: opened.score(Scoring(table, condition, protocol, interval or Interval()))
        for condition in table.condition.values
    }


def _misfit(table: PredictionTable, benchmark: Benchmark) -> str:
    """What is wrong with predictions from outside, naming the first such row; empty when nothing is."""
    if not len(table):
        return "it has no rows"
    known: dict[str, set[str]] = {"outcome": {outcome.value for outcome in Outcome}, "slot": set(benchmark.slots)}
    for name, allowed in known.items():
        column: Column = getattr(table, name)
        if strange := [value for value in column.values if value not in allowed]:
            rows = np.flatnonzero(column.equals(strange[0]))
            return f"{name} {strange[0]!r} at {_row(table, rows)}; expected one of {', '.join(sorted(allowed))}"
    for slot, space in benchmark.slots.items():
        part = table.where(table.slot.equals(slot))
        for name in ("gold", "value") if space is not None else ():
            column = getattr(part, name)
            for code in np.unique(column.codes):
                said = column.values[code]
                if said is not None and space is not None and not _within(said, space):
                    rows = np.flatnonzero(column.codes == code)
                    return f"{name} {said!r} at {_row(part, rows)} is not of {space.name}"
    answered = table.outcome.equals(Outcome.OK.value)
    for rows, what in (
        (np.flatnonzero(answered & table.value.equals(None)), "outcome ok without a value"),
        (np.flatnonzero(~answered & ~table.value.equals(None)), "a value although nothing was read"),
    ):
        if len(rows):
            return f"{what} at {_row(table, rows)}"
    _, first = table.groups("item", "slot", "variant", "condition", "repeat")
    if len(first) < len(table):
        rows = np.setdiff1d(np.arange(len(table)), first)
        return f"the same answer is there twice: {_row(table, rows)}"
    return ""


def _within(said: Any, space: LabelSpace) -> bool:
    """Whether a value is a label of a space, its level, a set of labels, or a distribution over labels or levels."""
    if isinstance(said, tuple):  # a distribution is pairs of a key, as JSON writes it, and its weight
        return all(
            _within(part, space) if not isinstance(part, tuple) else part[0] in {*space.ids, *map(str, _levels(space))}
            for part in said
        )
    return said in space if isinstance(said, str) else type(said) is int and said in _levels(space)


def _levels(space: LabelSpace) -> set[int]:
    return {label.level for label in space if label.level is not None}


def _row(table: PredictionTable, rows: NDArray[np.intp]) -> str:
    """The first of some rows, as a person finds it."""
    row = rows[0]
    return f"item {table.item.values[table.item.codes[row]]!r}, slot {table.slot.values[table.slot.codes[row]]!r}"
