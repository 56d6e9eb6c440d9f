"""``affectlab audit``, as a user types it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.audits.hunts import data, decided, line, scripted
from tests.audits.quick import fit_quickly
from tests.cli.conftest import Ended

from affectlab.errors import UserError
from affectlab.models import ModelSettings

Cli = Callable[..., Ended]


def test_a_second_turn_is_computed_in_the_type_of_the_first(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = scripted(tmp_path / "m.jsonl", line("*", "Calmly.\nANSWER: A"))
    run = decided(tmp_path / "run", model, data(tmp_path / "d.jsonl"), "cot", ["prompt:anger"])
    manifest = json.loads((run / "manifest.json").read_text(encoding="utf-8"))
    manifest["model"]["identity"]["dtype"] = "bfloat16"
    (run / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    seen: list[ModelSettings] = []

    def opened(spec: str, settings: ModelSettings) -> Any:
        seen.append(settings)
        raise UserError("far enough")

    monkeypatch.setattr("affectlab.models.open_model", opened)
    command = ("audit", "thoughts", run, "--model", model.card.spec, "--out", tmp_path / "audit", "--threads", "3")
    assert "far enough" in cli(*command).err
    assert "far enough" in cli(*command, "--dtype", "float16").err
    assert [(one.dtype, one.threads) for one in seen] == [("bfloat16", 3), ("float16", 3)]


def test_thoughts_of_another_benchmark_are_refused_in_words(cli: Cli, tmp_path: Path, script: str) -> None:
    assert cli("run", "chiaro", "--limit", "2", "--model", script, "--out", tmp_path / "run").code == 0
    ended = cli("audit", "thoughts", tmp_path / "run", "--model", script, "--out", tmp_path / "audit")
    assert ended.code == 2
    assert "is no run of the decisions benchmark" in ended.err


def test_items_to_keep_are_named_and_every_stage_is_told(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fit_quickly(monkeypatch)
    file = data(tmp_path / "d.jsonl", 3)
    models = [scripted(tmp_path / f"m{n}.jsonl", line("*", f"ANSWER: {'AAB'[n]}")) for n in range(3)]
    runs = [decided(tmp_path / f"run{n}", model, file) for n, model in enumerate(models)]
    ended = cli("audit", "items", *runs, "--keep", "2", "--json")
    assert ended.code == 0, ended.err
    assert len(ended.json["kept"]["stag_hunt"]) == 2
    assert list(ended.json["tables"]) == ["families", "stability", "abilities", "items"]
    assert "stag hunt (1 of 1): screening: 0 of 1" in ended.err
    assert "stag hunt (1 of 1): confirming 2 items: 0 of 1" in ended.err
    shown = cli("audit", "items", *runs, "--keep", "2")
    assert "Items of 1 role, from neutral answers of 3 models" in shown.out
