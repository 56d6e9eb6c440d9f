"""Files of decisions: other columns, tables, settings, what is noted."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from tests.benchmarks.decisions.worlds import STAG, written

from affectlab.benchmarks.decisions import BENCHMARK
from affectlab.benchmarks.decisions.data import load
from affectlab.errors import UserError


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
    with pytest.raises(UserError, match=r"found '\[broken'; expected a list or an object in JSON \(.* character 2\)"):
        load(str(path), {})
    path.write_text("id,role,scenario,options\na,stag_hunt,You wait.,stay or go\n", encoding="utf-8")
    with pytest.raises(UserError, match="expected a list or an object in JSON"):
        load(str(path), {})
    # A round that was told in brackets is no list.
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["id", "role", "scenario", "options", "history"])
        table.writerow(["a", "stag_hunt", "You wait.", json.dumps(STAG["options"]), "[Round 1] Both came."])
    assert load(str(path), {})[0].inputs["history"] == ["[Round 1] Both came."]


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


def test_settings_are_checked(tmp_path: Path) -> None:
    path = written(tmp_path / "d.jsonl", STAG)
    with pytest.raises(UserError, match="low, medium, high"):
        load(path, {}, {"first_move": "lots"})
    with pytest.raises(UserError, match=r"none\.toml"):
        load(path, {}, {"lexicon": str(tmp_path / "none.toml")})
    assert set(BENCHMARK.settings) == {"lexicon", "first_move"}
