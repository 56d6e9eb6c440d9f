"""The record of typing that a page sends: taken as it is, or not at all."""

from __future__ import annotations

import json
from typing import Any

import pytest

from affectlab.annotate.keystrokes import MOST_EVENTS, read_typing


def test_a_record_is_taken_as_it_is() -> None:
    rows = [["insert", 120, 1], ["delete", 80, -1], ["paste", 0, 40], ["other", 5, 0]]
    assert read_typing(json.dumps(rows)) == rows
    assert read_typing("[]") == []
    assert len(read_typing(json.dumps([["insert", 1, 1]] * MOST_EVENTS)) or []) == MOST_EVENTS


@pytest.mark.parametrize(
    "row",
    [
        ["a", 120, 1],  # what was typed
        ["insert", 120],
        ["insert", 120, 1, "a"],
        ["insert", 1.5, 1],
        ["insert", True, 1],
        ["insert", 10**8, 1],
        "insert",
    ],
)
def test_one_row_that_is_none_spoils_the_record(row: Any) -> None:
    assert read_typing(json.dumps([["insert", 1, 1], row])) is None


@pytest.mark.parametrize("text", ["", "{}", "typed words", json.dumps([["insert", 1, 1]] * (MOST_EVENTS + 1))])
def test_what_is_no_record(text: str) -> None:
    assert read_typing(text) is None
