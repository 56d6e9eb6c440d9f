"""Decisions as they are read: our own records, other column names, the authors' records, broken files."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from affectlab.benchmarks.decisions import BENCHMARK
from affectlab.benchmarks.decisions.data import load
from affectlab.benchmarks.decisions.record import values_of, ys
from affectlab.errors import UserError

STAG: dict[str, Any] = {
    "id": "s1",
    "role": "stag_hunt",
    "scenario": "You and a neighbour can each bring a ladder.",
    "options": [{"text": "Stay in", "value": 0}, {"text": "Bring it", "value": 1}],
}
GUESS: dict[str, Any] = {
    "id": "g1",
    "role": "beauty_contest",
    "scenario": "You name a number.",
    "options": [{"text": f"Name {value}", "value": value} for value in (0, 20, 50)],
}
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


def written(path: Path, *rows: Mapping[str, Any]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


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


def test_other_column_names_are_mapped(tmp_path: Path) -> None:
    row = {"id": "x", "which": "Stag Hunt", "story": "You wait.", "options": STAG["options"]}
    (item,) = load(written(tmp_path / "d.jsonl", row), {"role": "which", "scenario": "story"})
    assert item.slices["role"] == "stag_hunt"


def test_a_table_holds_options_history_and_payoffs_as_json_in_its_cells(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["id", "role", "story", "choices", "history", "payoffs"])
        table.writerow(["a", "stag_hunt", "You wait.", json.dumps(STAG["options"]), '["Both came.", "[none]"]', ""])
        table.writerow(["b", "stag_hunt", "You go.", json.dumps(STAG["options"]), "One came.", '{"R": 5}'])
    first, second = load(str(path), {"scenario": "story", "options": "choices"})
    assert [one["text"] for one in first.inputs["options"]] == ["Stay in", "Bring it"]
    assert first.inputs["history"] == ["Both came.", "[none]"]
    assert second.inputs["history"] == ["One came."]
    assert ("payoffs" in first.inputs, second.inputs["payoffs"]) == (False, {"R": 5})
    path.write_text("id,role,scenario,options\na,stag_hunt,You wait.,[broken\n", encoding="utf-8")
    with pytest.raises(UserError, match="options"):
        load(str(path), {})


def test_an_image_is_looked_for_from_the_files_folder(tmp_path: Path) -> None:
    (tmp_path / "map.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    (item,) = load(written(tmp_path / "d.jsonl", STAG | {"image": "map.png"}), {})
    assert item.inputs["image"] == str((tmp_path / "map.png").resolve())


def test_affective_words_in_options_are_noted_not_dropped(tmp_path: Path) -> None:
    row = STAG | {"options": [{"text": "Stay in", "value": 0}, {"text": "Happily bring it", "value": 1}]}
    loaded = load(written(tmp_path / "d.jsonl", row), {})
    assert len(loaded) == 1
    assert "1 of 1 decisions have an affective word in an option (s1)" in loaded.notes[0]


def test_a_language_without_a_frame_is_noted(tmp_path: Path) -> None:
    loaded = load(written(tmp_path / "d.jsonl", STAG | {"language": "de"}), {})
    assert "1 decisions in 'de' are asked in an English frame" in loaded.notes[0]


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


def test_settings_are_checked(tmp_path: Path) -> None:
    path = written(tmp_path / "d.jsonl", STAG)
    with pytest.raises(UserError, match="low, medium, high"):
        load(path, {}, {"first_move": "lots"})
    with pytest.raises(UserError, match=r"none\.toml"):
        load(path, {}, {"lexicon": str(tmp_path / "none.toml")})
    assert set(BENCHMARK.settings) == {"lexicon", "first_move"}
