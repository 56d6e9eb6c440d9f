"""Which folders an audit takes, and what tells models apart."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from tests.audits.hunts import data, decided, line, scripted

from affectlab.audits.runs import model_of, read_decisions
from affectlab.errors import UserError
from affectlab.runs import execute, make_plan


def test_a_folder_counts_once_however_it_is_named(tmp_path: Path) -> None:
    model = scripted(tmp_path / "m.jsonl", line("*", "ANSWER: A"))
    run = decided(tmp_path / "run", model, data(tmp_path / "d.jsonl"))
    (found,) = read_decisions([run])
    assert found.answered == 12
    with pytest.raises(UserError, match="A run folder is named twice"):
        read_decisions([run, Path(os.path.relpath(run))])


def test_runs_of_other_benchmarks_are_refused(tmp_path: Path) -> None:
    model = scripted(tmp_path / "m.jsonl", line("*", "AGENT A: A\nAGENT B: B"))
    execute(make_plan("chiaro", limit=2), model, tmp_path / "run")
    with pytest.raises(UserError, match="is no run of the decisions benchmark"):
        read_decisions([tmp_path / "run"])


def test_models_are_told_apart_by_what_they_are_not_by_their_name(tmp_path: Path) -> None:
    file = data(tmp_path / "d.jsonl", 2)
    model = scripted(tmp_path / "m.jsonl", line("*", "ANSWER: A"))
    namesake = scripted(tmp_path / "x" / "m.jsonl", line("*", "ANSWER: B"))
    first, same, other = (
        json.loads((decided(tmp_path / name, one, file) / "manifest.json").read_text(encoding="utf-8"))
        for name, one in (("r1", model), ("r2", model), ("r3", namesake))
    )
    assert first["model"]["name"] == other["model"]["name"]
    assert model_of(first) == model_of(same)
    assert model_of(first) != model_of(other)
