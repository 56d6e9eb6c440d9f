"""What every benchmark's score sheet has: how reading went, whether the place of an option mattered, notes on both."""

from __future__ import annotations

from string import ascii_uppercase

import numpy as np
from numpy.typing import NDArray

from affectlab.metrics.predictions import PredictionTable
from affectlab.metrics.scores import Cell, Table
from affectlab.stats.estimate import Estimate

WELL_READ = 0.9
"""Share of answers read below which a score sheet says so."""
THIN = 10
"""Number of gold answers of a label below which a score sheet says so."""


def positions(table: PredictionTable, right: NDArray[np.bool_], options: int) -> Table:
    """How often each letter was chosen, was right, and accuracy where the right option stood there.

    Args:
        table: Predictions whose slices name the letter of the right option (``gold_position``).
        right: Which of them are right [N].
        options: How many options were shown: each place has a row, chosen and right or not.
    """
    gold_column = table.slice_values("gold_position")
    letters = ascii_uppercase[:options]
    answered = int(sum(table.position.equals(place).sum() for place in range(options)))
    with_gold = int(sum(gold_column.equals(letter).sum() for letter in letters))
    rows: list[tuple[Cell, ...]] = []
    for place, letter in enumerate(letters if answered or with_gold else ""):
        chosen = int(table.position.equals(place).sum())
        gold_here = gold_column.equals(letter)
        stands = int(gold_here.sum())
        chosen_share = chosen / answered if answered else None
        gold_share = stands / with_gold if with_gold else None
        gap = None if chosen_share is None or gold_share is None else chosen_share - gold_share
        found = float(right[gold_here].mean()) if stands else None
        rows.append((letter, chosen, chosen_share, gold_share, gap, found))
    return Table(
        "position",
        "By position of the option",
        (
            "letter",
            "chosen",
            "share chosen",
            "share right",
            "chosen − right",
            "accuracy when right option is here",
        ),
        tuple(rows),
        "A model without position bias chooses each letter as often as it is right. "
        "Ask with --order all to show every item in every cyclic order.",
        {"chosen − right": "difference"},
    )


def outcomes(table: PredictionTable) -> Table:
    """How often reading ended in each outcome."""
    total = len(table)
    counts = {str(value): int(table.outcome.equals(value).sum()) for value in table.outcome.values}
    return Table(
        "outcomes",
        "How reading the replies ended",
        ("outcome", "answers", "share"),
        tuple((name, counts[name], counts[name] / total) for name in sorted(counts, key=lambda name: -counts[name])),
        "One answer per slot.",
    )


def flags(table: PredictionTable) -> list[Table]:
    """How often each flag was raised; no table when none was."""
    counts: dict[str, int] = {}
    for raised in table.flags.values:
        rows = int(table.flags.equals(raised).sum())
        for flag in raised:
            counts[flag] = counts.get(flag, 0) + rows
    if not counts:
        return []
    listed = tuple((flag, counts[flag], counts[flag] / len(table)) for flag in sorted(counts))
    return [
        Table(
            "flags",
            "What reading noticed",
            ("flag", "answers", "share"),
            listed,
            "Explained in docs/reading.md.",
        )
    ]


def without_gold(missing: int, total: int, what: str = "predictions") -> list[str]:
    """The note on predictions, or whatever else is counted, that have no gold; none when all have."""
    if missing == total:
        return [f"None of the {total} {what} has gold: they are predictions only, and nothing can be scored."]
    if missing:
        return [f"{missing} of {total} {what} have no gold and count only for the parse rate."]
    return []


def poorly_read(parse_rate: Estimate, protocol: str) -> list[str]:
    """The note on replies of which fewer than nine in ten could be read.

    Args:
        parse_rate: Share of answers that could be read.
        protocol: One that needs no readable reply.
    """
    if parse_rate.value is None or parse_rate.value >= WELL_READ:
        return []
    note = (
        f"{100 * parse_rate.value:.1f} % of answers could be read: figures say as much about format as about emotion. "
        f"A local model can be asked with --protocol {protocol}, which needs no readable reply."
    )
    return [note]
