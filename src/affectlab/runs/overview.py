"""The conditions of a run side by side: how far each moves the main figure, and what it does to plain text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from affectlab.benchmarks.alike import Answers, differences
from affectlab.errors import UserError
from affectlab.metrics.predictions import PredictionTable
from affectlab.metrics.scores import Cell, Scores, Table
from affectlab.models.base import NEUTRAL
from affectlab.runs.plan import Plan
from affectlab.stats.bootstrap import Interval
from affectlab.stats.estimate import Estimate, Unit, unit_of_difference
from affectlab.stats.measures import Measures
from affectlab.stats.multiple import adjust
from affectlab.steering.conditions import parse

OVERVIEW = "conditions"
"""Id of the table."""


def overview(
    plan: Plan, table: PredictionTable, scores: Mapping[str, Scores], steering: Mapping[str, Any], interval: Interval
) -> Table | None:
    """One row a condition: main figure, its paired difference from neutral, parse rate, damage to plain text.

    ``None`` for a run without conditions. Differences are paired by item. Their p-values are adjusted over the
    conditions that are about an emotion; those of control conditions stand as they are.

    Args:
        plan: What was asked.
        table: Predictions of all conditions.
        scores: Sheets by condition.
        steering: What the manifest records of conditions.
        interval: How intervals are made.
    """
    others = [condition for condition in scores if condition != NEUTRAL]
    if not others:
        return None
    main = scores[others[0]].headline[0]
    figure, unit = main.name, unit_of_difference(main.unit)
    moved = {condition: _moved(plan, table, condition, main, interval) for condition in others}
    family = [condition for condition in others if not parse(condition).control]
    adjusted = dict(zip(family, adjust([moved[condition][1] for condition in family]).values, strict=True))
    states = steering.get("conditions", {})
    rows: list[tuple[Cell, ...]] = []
    for condition, sheet in scores.items():
        difference, p = moved.get(condition, (None, None))
        parsed = next((one for one in sheet.headline if one.name == "parse_rate"), None)
        state = states.get(condition, {})
        harm = _DAMAGE.get(state.get("damaged"), "")
        dose = (state.get("kl"), state.get("nll_rise"))
        rows.append((condition, harm, sheet.headline[0], difference, p, adjusted.get(condition), parsed, *dose))
    return _table(figure, rows, _note(figure, unit, len(family), len(others) - len(family), steering))


def _moved(
    plan: Plan, table: PredictionTable, condition: str, main: Estimate, interval: Interval
) -> tuple[Estimate, float | None]:
    """A condition minus neutral by the main figure, with its p-value.

    Without a value and with the reason where they cannot be paired.
    """
    unit = unit_of_difference(main.unit)

    def measure(rows: PredictionTable) -> Measures:
        return plan.benchmark.measures(rows, plan.protocol.name)

    steered, neutral = (Answers(table.where(table.condition.equals(name)), measure) for name in (condition, NEUTRAL))
    try:
        found = differences(steered, neutral, (main.name,), interval)[main.name]
    except UserError:  # within one run nothing but missing answers keeps conditions apart; the run's notes count them
        return Estimate(main.name, None, reason=_UNPAIRED, unit=unit), None
    return replace(found.difference, unit=unit), found.p


_UNPAIRED = "neutral and this condition have not answered the same questions yet: run the missing ones first"

_UNITS: Mapping[str, Unit] = {"p": "p", "p adjusted": "p", "KL": "number", "NLL rise": "number"}


_DAMAGE = {True: "damaged", False: "intact"}


def _note(figure: str, unit: Unit, family: int, controls: int, steering: Mapping[str, Any]) -> str:
    said = (
        f"− neutral: difference in {figure.replace('_', ' ')}{', points,' if unit == 'difference' else ''} on the same "
        "items, paired cluster bootstrap (a figure "
        "that leaves unread answers out: over the answers read under both); p: paired "
        f"permutation; adjusted: Benjamini–Hochberg over the {family} condition{'s' if family != 1 else ''} of an "
        f"emotion{f', the {controls} of controls left out' if controls else ''}. Compare emotions with random and "
        "permuted controls before reading a difference as one of emotion."
    )
    if note := steering.get("note"):
        said += f" {note}"
    if limits := steering.get("limits"):
        errors = [state.get("kl_error") or 0.0 for state in steering["conditions"].values()]
        said += (
            f" KL (standard error up to {max(errors):.2g}) and NLL rise: what the condition does to plain text, nats a "
            f"token; damaged: beyond {limits['kl']} or {limits['nll_rise']}."
        )
    return said


def _table(figure: str, rows: Sequence[tuple[Cell, ...]], note: str) -> Table:
    # What ends the reading of a row, that its condition damages plain text, stands where it is seen first.
    columns = ("condition", "plain text", figure, "− neutral", "p", "p adjusted", "parse_rate", "KL", "NLL rise")
    filled = [any(row[place] not in (None, "") for row in rows) for place in range(len(columns))]
    shown = tuple(column for column, some in zip(columns, filled, strict=True) if some)
    return Table(
        OVERVIEW,
        "Conditions side by side",
        shown,
        tuple(tuple(cell for cell, some in zip(row, filled, strict=True) if some) for row in rows),
        note,
        {column: unit for column, unit in _UNITS.items() if column in shown},
    )
