from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from affectlab.models import open_model
from affectlab.report.from_run import report_of
from affectlab.report.model import RunReport
from affectlab.runs import execute, make_plan, read_run
from affectlab.stats.bootstrap import Interval


def reported(tmp_path: Path, benchmark: str, protocol: str, *lines: Mapping[str, object]) -> RunReport:
    tmp_path.mkdir(exist_ok=True)
    script = tmp_path / "s.jsonl"
    script.write_text("\n".join(map(json.dumps, lines)) + "\n", encoding="utf-8")
    plan = make_plan(benchmark, protocol=protocol, limit=2)
    execute(plan, open_model(f"scripted:{script}"), tmp_path / "run")
    return report_of(read_run(tmp_path / "run", Interval(replicates=10)))


def test_each_turn_names_its_step_where_there_are_several(tmp_path: Path) -> None:
    lines = ({"item": "*", "step": step, "reply": f"no {step}"} for step in ("stance", "intent", "emotion"))
    example = reported(tmp_path, "cue", "direct", *lines).examples[0]
    assert [(turn.step, turn.reply) for turn in example.turns] == [
        ("stance", "no stance"),
        ("intent", "no intent"),
        ("emotion", "no emotion"),
    ]
    assert all("[user]" in turn.prompt for turn in example.turns)


def test_a_single_turn_needs_no_name(tmp_path: Path) -> None:
    (turn,) = reported(tmp_path, "cue", "matrix", {"item": "*", "reply": "?"}).examples[0].turns
    assert (turn.step, turn.reply) == ("", "?")


def test_scored_options_stand_likeliest_first(tmp_path: Path) -> None:
    scores: dict[str, object] = {"item": "*", "logprobs": [-3.0, -1.0, *(-4.0 for _ in range(3))]}
    turns = reported(tmp_path, "chiaro", "likelihood", scores).examples[0].turns
    assert [turn.step for turn in turns] == ["A", "B"]
    assert [line.split()[-1] for line in turns[0].reply.splitlines()] == ["-1.000", "-3.000", *["-4.000"] * 3]


def test_sets_of_labels_are_shown_by_name(tmp_path: Path) -> None:
    answers = reported(tmp_path, "emoscene", "list", {"item": "*", "reply": "Joy, Trust"}).examples[0].answers
    assert not any("(" in answer.gold or "'" in answer.gold for answer in answers)
    care = reported(tmp_path / "care", "care", "s", {"item": "*", "reply": "Somewhat agree"}).examples[0].answers
    gold = {answer.slot: answer.gold for answer in care}
    assert gold["positive_labels"]
    assert "'" not in gold["positive_labels"]
