"""Records in the authors' form."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.benchmarks.decisions.worlds import written

from affectlab.benchmarks.decisions.data import load
from affectlab.benchmarks.decisions.record import ys
from affectlab.errors import UserError

# Written for these tests in the form of the authors' files.
AUTHORS_BIDDER: dict[str, Any] = {
    "scenario": "A bridge",
    "description": "You are one of two who want the bridge.",
    "participants": [{"name": "You"}, {"name": "North"}],
    "behavior_choices": {"devote_high": "Send most", "devote_low": "Send few", "devote_medium": "Send some"},
    "previous_actions": [
        {"round_summary": "North held it.", "North": "sent many", "You": "sent few"},
        {"North": "sent few", "You": "sent some"},
    ],
    "game_name": "Sealed_Auction",
    "provenance": {"id": "sg_1", "source_dataset": "standard_no_press.jsonl"},
}
AUTHORS_SPLIT: dict[str, Any] = {
    "scenario": "A grant",
    "description": "Ana proposes how a grant is divided, and Ben accepts or not.",
    "participants": [
        {"name": "Ana", "profile": "geologist", "role": "Proposer"},
        {"name": "Ben", "profile": "chemist", "role": "Responder"},
    ],
    "proposer_behavior_choices": {"offer_low": "Give 20", "offer_medium": "Give 40", "offer_high": "Give 50"},
    "responder_behavior_choices": {"accept": "Sign", "reject": "Do not sign"},
    "game_name": "Ultimatum_Game_Proposer",
}


def test_authors_levels_become_values_in_order(tmp_path: Path) -> None:
    (item,) = load(written(tmp_path / "d.json", AUTHORS_BIDDER), {})
    assert [one["text"] for one in item.inputs["options"]] == ["Send few", "Send some", "Send most"]
    assert item.inputs["history"] == ["North held it.", "North: sent few; You: sent some"]
    assert (item.id, item.slices["source"], item.slices["turns"]) == ("sg_1", "diplomacy", "multi")
    assert item.inputs["title"] == "A bridge"


def test_authors_levels_of_the_beauty_contest_count_depth(tmp_path: Path) -> None:
    choices = {f"commit_{level}": f"Go {level}" for level in range(4)}
    row = AUTHORS_BIDDER | {"game_name": "Beauty_Contest", "behavior_choices": choices}
    (item,) = load(written(tmp_path / "d.json", row), {})
    depth = dict(zip((one["text"] for one in item.inputs["options"]), ys(item), strict=True))
    assert depth == {"Go 0": 0, "Go 1": 1, "Go 2": 2, "Go 3": 3}


def test_an_authors_record_of_two_roles_is_two_decisions_of_one_group(tmp_path: Path) -> None:
    path = written(tmp_path / "d.json", AUTHORS_SPLIT)
    proposer, responder = load(path, {}, {"first_move": "medium"})
    assert (proposer.slices["role"], responder.slices["role"]) == ("ultimatum_proposer", "ultimatum_responder")
    assert proposer.cluster == responder.cluster
    assert responder.inputs["scenario"].startswith("You are Ben. Ana proposes")
    assert responder.inputs["history"] == ["Ana: Give 40"]
    assert "history" not in proposer.inputs
    assert responder.inputs["occupation"] == "chemist"
    assert load(path, {})[1].inputs["history"] == ["Ana: Give 20"]


def test_authors_records_that_lack_something_are_named(tmp_path: Path) -> None:
    broken = AUTHORS_SPLIT | {"participants": []}
    short = AUTHORS_BIDDER | {"behavior_choices": {"devote_low": "Send few"}}
    with pytest.raises(UserError) as raised:
        load(written(tmp_path / "d.jsonl", broken, short), {})
    assert "Proposer" in str(raised.value)
    assert "devote_low, devote_medium, devote_high" in str(raised.value)


def test_earlier_rounds_of_a_record_of_two_roles_are_told_to_both(tmp_path: Path) -> None:
    row = AUTHORS_SPLIT | {"previous_actions": [["Ana", "gave 10 last year"], {"Ben": "did not sign"}]}
    proposer, responder = load(written(tmp_path / "d.jsonl", row), {})
    assert proposer.inputs["history"] == ["Ana: gave 10 last year", "Ben: did not sign"]
    assert responder.inputs["history"] == ["Ana: gave 10 last year", "Ben: did not sign", "Ana: Give 20"]
    assert proposer.slices["turns"] == "multi"


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"description": None}, "description"),
        ({"description": " "}, "description"),
        ({"participants": [{"profile": "geologist", "role": "Proposer"}]}, "participants (Proposer).name"),
        (
            {"proposer_behavior_choices": {"offer_low": None, "offer_medium": "Give 40", "offer_high": "Give 50"}},
            "proposer_behavior_choices.offer_low",
        ),
        ({"previous_actions": [["Ana", None]]}, "previous_actions.what"),
        ({"previous_actions": [{"Ana": ""}]}, "previous_actions.Ana"),
        ({"previous_actions": [{"round_summary": ""}]}, "previous_actions"),
        ({"previous_actions": [{}]}, "previous_actions"),
    ],
)
def test_an_absent_text_of_an_authors_record_is_named_and_told_to_nobody(
    change: dict[str, Any], field: str, tmp_path: Path
) -> None:
    with pytest.raises(UserError) as raised:
        load(written(tmp_path / "d.jsonl", AUTHORS_SPLIT | change), {})
    assert f"field {field}:" in str(raised.value)
