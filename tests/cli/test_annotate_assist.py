"""``affectlab annotate assist``: from two models and an adjudicator to gold that ``affectlab run`` takes."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.conftest import Ended

Cli = Callable[..., Ended]
Scenes = Callable[..., Path]

LETTERS = {"A": "relief", "B": "anger"}


def says(path: Path, replies: dict[str, str]) -> str:
    """A scripted model: item -> what it says."""
    path.write_text("".join(json.dumps({"item": i, "reply": r}) + "\n" for i, r in replies.items()), encoding="utf-8")
    return f"scripted:{path}"


@pytest.fixture
def data(scenes: Scenes) -> Path:
    """Two scenes; of each it is known whose feeling is good."""
    return scenes({"id": "s1"}, {"id": "s2", "sentence": "The tram waits for Ana; Bo's bus has left without him."})


def fill_in(path: Path, out: Path, name: str, values: dict[str, str]) -> Path:
    rows = list(csv.DictReader(path.read_text(encoding="utf-8-sig").splitlines()))
    assert rows
    with out.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows({**row, "annotator": name, "value": values[row["slot"]]} for row in rows)
    return out


def test_from_models_to_gold(cli: Cli, data: Path, tmp_path: Path) -> None:
    # Both name the first option of A; they differ on B of s2. Everything is audited.
    first = says(tmp_path / "a.jsonl", {"*": "AGENT A: A\nAGENT B: A"})
    second = says(tmp_path / "b.jsonl", {"s1": "AGENT A: A\nAGENT B: A", "s2": "AGENT A: A\nAGENT B: B"})
    study = tmp_path / "study"
    command: tuple[str | Path, ...] = (
        "annotate",
        "assist",
        "chiaro",
        "--data",
        data,
        "--out",
        study,
        "--model",
        first,
        "--model",
        second,
    )
    command = (*command, "--audit", "1", "--replicates", "50")
    gold = tmp_path / "gold.jsonl"
    asked = cli(*command, "--export", gold, "--strict")
    assert asked.code == 2
    assert "4 of 4 slots are pending" in asked.err
    assert not gold.exists()
    report = cli(*command, "--json").json
    assert report["total"]["labels"] == {"agreed": 3, "differ": 1, "no label": 0}
    assert report["total"]["outcomes"]["waiting"] == 4

    people = study / "people.csv"
    ann = fill_in(people, tmp_path / "ann.csv", "ann", LETTERS)
    bob = fill_in(people, tmp_path / "bob.csv", "bob", LETTERS)
    same_name = fill_in(people, tmp_path / "other.csv", "ann", {"A": "joy", "B": "fear"})
    refused = cli(*command, "--people", ann, "--people", same_name)
    assert refused.code == 2
    assert "4 slots have two different answers of 'ann'" in refused.err
    not_offered = fill_in(people, tmp_path / "bad.csv", "cem", {"A": "anger", "B": "anger"})
    refused = cli(*command, "--people", not_offered)
    assert refused.code == 2
    assert "'anger' is not offered there" in refused.err

    done = cli(*command, "--people", ann, "--people", bob, "--export", gold, "--strict")
    assert done.code == 0, done.err
    assert "2 items with labels" in done.err
    rows = [json.loads(line) for line in gold.read_text("utf-8").splitlines()]
    assert [(row["agent_a_emotion"], row["agent_b_emotion"]) for row in rows] == [("relief", "anger")] * 2
    ran = cli("run", "chiaro", "--model", first, "--data", gold, "--out", tmp_path / "run", "--json")
    assert ran.code == 0, ran.err


def test_the_bundled_sample_is_labelled_too(cli: Cli, tmp_path: Path) -> None:
    models = [says(tmp_path / f"{name}.jsonl", {"*": "AGENT A: A\nAGENT B: B"}) for name in "ab"]
    done = cli(
        *("annotate", "assist", "chiaro", "--out", tmp_path / "study", "--limit", "3", "--audit", "0"),
        *("--model", models[0], "--model", models[1], "--replicates", "20", "--json"),
    )
    assert done.code == 0, done.err
    assert done.json["total"]["outcomes"] == {"model-agreed": 6, "adjudicated": 0, "people": 0, "waiting": 0}


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (("--model", "scripted:a"), "Two models are needed"),
        (("--model", "scripted:a", "--model", "scripted:a"), "two different ones"),
        (("--model", "scripted:a", "--model", "scripted:b", "--export", "gold.jsonl"), "--data"),
        (("--model", "scripted:a", "--model", "scripted:b", "--slot", "C"), "no slot 'C'"),
        (("--model", "scripted:a", "--model", "scripted:b", "--data", "x", "--export", "./x"), "that --data names"),
    ],
)
def test_what_cannot_be_done_is_said(cli: Cli, tmp_path: Path, more: tuple[str, ...], told: str) -> None:
    done = cli("annotate", "assist", "chiaro", "--out", tmp_path / "study", *more)
    assert done.code == 2
    assert told in done.err
