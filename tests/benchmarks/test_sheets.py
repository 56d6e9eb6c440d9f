"""Tables and notes that every score sheet has, worked by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from affectlab.benchmarks import sheets
from affectlab.metrics.predictions import Prediction, PredictionTable
from affectlab.stats.estimate import Estimate


def row(item: str, place: int | None, gold: str | None, outcome: str = "ok", flags: tuple[str, ...] = ()) -> Prediction:
    slices = {} if gold is None else {"gold_position": gold}
    answer = None if place is None else "x"
    return Prediction(item, item, "slot", outcome, answer, "x", position=place, slices=slices, flags=flags)


def lines(rows: list[Prediction], right: list[bool]) -> dict[Any, list[Any]]:
    found = sheets.positions(PredictionTable.from_rows(rows), np.array(right), options=4)
    return {line[0]: list(line[1:]) for line in found.rows}


def test_positions() -> None:
    rows = [
        row("1", 0, "A"), row("2", 0, "B"), row("3", 0, "B"), row("4", 1, "B"),
        row("5", None, "C", "unparseable"), row("6", 1, None),
    ]  # fmt: skip
    found = lines(rows, [True, False, False, True, False, False])
    # Of five answers A is chosen thrice, B twice; of five with gold A is right once, B thrice, C once.
    # Accuracy where the right option is here: A 1 of 1, B 1 of 3, C 0 of 1.
    assert found["A"] == pytest.approx([3, 3 / 5, 1 / 5, 2 / 5, 1])
    assert found["B"] == pytest.approx([2, 2 / 5, 3 / 5, -1 / 5, 1 / 3])
    assert found["C"] == pytest.approx([0, 0, 1 / 5, -1 / 5, 0])
    assert found["D"] == [0, 0, 0, 0, None]  # a place has a row though nothing was ever there


def test_positions_without_gold_or_without_answers() -> None:
    assert lines([row("1", 1, None)], [False])["B"] == [1, 1, None, None, None]
    assert lines([row("1", None, "A", "empty")], [False])["A"] == [0, None, 1, None, 0]
    assert lines([row("1", None, None, "empty")], [False]) == {}


def test_outcomes_most_frequent_first() -> None:
    rows = [row("1", 0, "A"), row("2", None, "A", "refusal"), row("3", 0, "A"), row("4", 0, "A")]
    assert sheets.outcomes(PredictionTable.from_rows(rows)).rows == (("ok", 3, 3 / 4), ("refusal", 1, 1 / 4))


def test_flags_are_counted_one_by_one() -> None:
    rows = [row("1", 0, "A", flags=("tie", "repaired")), row("2", 0, "A", flags=("repaired",)), row("3", 0, "A")]
    (table,) = sheets.flags(PredictionTable.from_rows(rows))
    assert table.rows == (("repaired", 2, 2 / 3), ("tie", 1, 1 / 3))
    assert sheets.flags(PredictionTable.from_rows(rows[2:])) == []


def test_notes_on_gold_and_on_reading() -> None:
    assert sheets.without_gold(0, 4) == []
    assert sheets.without_gold(1, 4)[0].startswith("1 of 4 predictions have no gold")
    assert sheets.without_gold(4, 4)[0].startswith("None of the 4 predictions has gold")
    for rate, said in ((0.9, False), (0.8994, True), (None, False)):
        notes = sheets.poorly_read(Estimate("parse_rate", rate), "yes_no")
        assert bool(notes) is said
        assert all(note.startswith("89.9 % of answers") and "--protocol yes_no," in note for note in notes)
