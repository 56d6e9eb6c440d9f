"""``affectlab items split`` and what ``items check`` says of settings and notes."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

from affectlab.benchmarks import open_benchmark

Cli = Callable[..., Any]
SAMPLE = str(files("affectlab.benchmarks.cue") / "sample.jsonl")


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_the_parts_hold_every_row_as_it_was(cli: Cli, tmp_path: Path) -> None:
    out = tmp_path / "parts"
    ended = cli("items", "split", SAMPLE, "--benchmark", "cue", "--by", "stance", "--out", out, "--json")
    assert ended.code == 0
    # Ten of each of nine stances: 8, 1 and 1.
    assert ended.json["parts"] == {"train": 72, "dev": 9, "test": 9}
    assert set(ended.json["labels"]["test"].values()) == {1}
    assert ended.json["leaks"] == []
    written = [row for part in ("train", "dev", "test") for row in rows(out / f"{part}.jsonl")]
    assert sorted(written, key=lambda row: str(row["sample_id"])) == rows(Path(SAMPLE))


def test_records_of_one_context_and_copies_stay_together(cli: Cli, tmp_path: Path) -> None:
    data = tmp_path / "data.jsonl"
    given = rows(Path(SAMPLE))
    copies = [{**row, "sample_id": f"copy-{row['sample_id']}", "text": row["text"] + "。"} for row in given]
    data.write_text("".join(json.dumps(row) + "\n" for row in given + copies), encoding="utf-8")
    out = tmp_path / "parts"
    ended = cli("items", "split", data, "--benchmark", "cue", "--out", out, "--dev", "0", "--test", "0.2")
    assert ended.code == 0
    assert "No text of one part" in ended.out
    assert not (out / "dev.jsonl").exists()
    test = {row["sample_id"] for row in rows(out / "test.jsonl")}
    assert {name.removeprefix("copy-") for name in test} == {name for name in test if not name.startswith("copy-")}


def test_what_cannot_be_split_is_refused(cli: Cli, tmp_path: Path) -> None:
    out = tmp_path / "parts"
    common = ("items", "split", SAMPLE, "--benchmark", "cue", "--out", out)
    assert "no such slot" in cli(*common, "--by", "mood").err
    assert "add up to 1" in cli(*common, "--dev", "0.6", "--test", "0.6").err
    assert cli(*common).code == 0
    again = cli(*common)
    assert again.code == 2
    assert "exists already" in again.err


def test_check_takes_settings_and_prints_notes(cli: Cli, tmp_path: Path) -> None:
    data = tmp_path / "data.jsonl"
    broken = {**rows(Path(SAMPLE))[0], "affective_stance": "Neutral", "explicit_polarity": "Negative"}
    data.write_text(json.dumps(broken) + "\n", encoding="utf-8")
    ended = cli("items", "check", data, "--benchmark", "cue")
    assert ended.code == 0
    assert "do not make up: cue-sample-001" in " ".join(ended.out.split())
    refused = cli("items", "check", data, "--benchmark", "cue", "--set", "strict=true")
    assert refused.code == 2
    assert "affective_stance" in refused.err
    assert "no setting 'stricct'" in cli("items", "check", data, "--benchmark", "cue", "--set", "stricct=true").err


def test_check_names_slots_that_can_have_gold_and_protocols_that_can_be_asked(cli: Cli, tmp_path: Path) -> None:
    data = tmp_path / "care.jsonl"
    sample = rows(Path(str(open_benchmark("care").sample)))
    data.write_text(json.dumps({**sample[0], "observers": []}) + "\n", encoding="utf-8")
    told = cli("items", "check", data, "--benchmark", "care", "--json").json
    assert not [slot for slot in told["gold"] if slot.startswith("mean:")]
    assert "relevance.general" in told["gold"]
    assert "no item holds what it asks about" in told["not_with"]["subjective"]
    assert "s" in told["protocols"]
