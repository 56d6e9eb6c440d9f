"""Decisions as they are read, and bad rows by name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.benchmarks.decisions.worlds import STAG, written

from affectlab.benchmarks.decisions.data import load
from affectlab.benchmarks.decisions.record import values_of, ys
from affectlab.errors import UserError

GUESS: dict[str, Any] = {
    "id": "g1",
    "role": "beauty_contest",
    "scenario": "You name a number.",
    "options": [{"text": f"Name {value}", "value": value} for value in (0, 20, 50)],
}


def test_a_decision_has_a_slot_without_gold_and_slices(tmp_path: Path) -> None:
    (item,) = load(written(tmp_path / "d.jsonl", STAG | {"source": "persona", "history": ["Both stayed in."]}), {})
    assert item.gold == {}
    assert item.slices == {
        "role": "stag_hunt",
        "game": "stag_hunt",
        "source": "persona",
        "language": "en",
        "turns": "multi",
    }
    assert item.cluster == "s1"


def test_y_is_the_amount_of_the_focal_behaviour(tmp_path: Path) -> None:
    stag, guess = load(written(tmp_path / "d.jsonl", STAG, GUESS), {})
    assert (values_of(stag), ys(stag)) == ((0, 1), (0, 1))
    # Depth is how far a guess lies below the top of what is offered: 0 + 50 - guess.
    assert (values_of(guess), ys(guess)) == ((0, 20, 50), (50, 30, 0))


@pytest.mark.parametrize(
    ("change", "field", "told"),
    [
        ({"role": "chicken"}, "role", "prisoners_dilemma"),
        ({"role": "trust"}, "role", "trust_trustor or trust_trustee"),
        ({"role": "stag_hnut"}, "role", "did you mean stag_hunt"),
        ({"options": STAG["options"][::-1]}, "options", "ascending"),
        ({"options": [{"text": "a", "value": 0}, {"text": "A ", "value": 1}]}, "options", "different"),
        ({"options": [{"text": "a", "value": 0}, {"text": "b", "value": 2}]}, "options", "hare (value 0)"),
        ({"options": [{"text": "a", "value": 0}]}, "options", "2 to 26"),
        ({"options": [{"text": "a", "value": "NaN"}, {"text": "b", "value": 1}]}, "options.0.value", "finite"),
        ({"scenario": " "}, "scenario", "not empty"),
        ({"source": "dream"}, "source", "persona"),
        ({"image": "nowhere.png"}, "", "nowhere.png"),
    ],
)
def test_a_bad_row_is_named_with_what_was_expected(
    change: dict[str, Any], field: str, told: str, tmp_path: Path
) -> None:
    with pytest.raises(UserError) as raised:
        load(written(tmp_path / "d.jsonl", STAG, STAG | {"id": "s2"} | change), {})
    assert "line 2" in str(raised.value)
    assert field in str(raised.value)
    assert told in str(raised.value)
