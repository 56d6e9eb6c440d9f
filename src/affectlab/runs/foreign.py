"""Predictions that no run of ours made: checked against their benchmark, then scored like ours."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from affectlab.benchmarks import open_benchmark
from affectlab.benchmarks.base import Benchmark, Scoring
from affectlab.errors import UserError
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
                labels = column.values[code]
                several = labels if isinstance(labels, tuple) else (labels,)
                if labels is not None and not all(label in space for label in several if space is not None):
                    rows = np.flatnonzero(column.codes == code)
                    return f"{name} {labels!r} at {_row(part, rows)} is not a label of {space.name if space else ''}"
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


def _row(table: PredictionTable, rows: NDArray[np.intp]) -> str:
    """The first of some rows, as a person finds it."""
    row = rows[0]
    return f"item {table.item.values[table.item.codes[row]]!r}, slot {table.slot.values[table.slot.codes[row]]!r}"
