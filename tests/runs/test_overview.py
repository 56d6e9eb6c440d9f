from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.support.plans import scripted_file, tiny_plan

from affectlab.metrics.scores import Table
from affectlab.models import open_model
from affectlab.report.cells import table_texts
from affectlab.runs import execute, make_plan, read_run, score_run
from affectlab.runs.overview import overview
from affectlab.stats.bootstrap import Interval
from affectlab.stats.estimate import Estimate

IDS = tuple(f"s{n}" for n in range(12))
QUICK = Interval(replicates=200)


def _run(tmp_path: Path, *, lose: int = 0) -> Path:
    """Neutral right everywhere; under anger@1 wrong on four of twelve scenes; under joy@1 as neutral."""
    plan = tiny_plan(IDS, conditions=("neutral", "anger@1", "joy@1"))
    script = scripted_file(tmp_path / "s.jsonl", plan)
    wrong = scripted_file(tmp_path / "w.jsonl", plan, dict.fromkeys(IDS[:5], ("joy", "fear")))
    with script.open("a", encoding="utf-8") as file:
        for line in wrong.read_text(encoding="utf-8").splitlines():
            if json.loads(line)["item"] in IDS[:5]:
                file.write(json.dumps({**json.loads(line), "condition": "anger@1"}) + "\n")
    execute(plan, open_model(f"scripted:{script}"), tmp_path / "run")
    if lose:
        path = tmp_path / "run/responses.jsonl"
        path.write_text("\n".join(path.read_text(encoding="utf-8").splitlines()[:-lose]) + "\n", encoding="utf-8")
    return tmp_path / "run"


def _cells(table: Table, condition: str) -> dict[str, Any]:
    return next(dict(zip(table.columns, row, strict=True)) for row in table.rows if row[0] == condition)


def test_each_condition_beside_neutral(tmp_path: Path) -> None:
    scored = score_run(_run(tmp_path), QUICK)
    table = scored.overview
    assert table is not None
    assert table.columns == ("condition", "macro_f1", "− neutral", "p", "p adjusted", "parse_rate")
    assert [row[0] for row in table.rows] == ["neutral", "anger@1", "joy@1"]
    neutral, anger, joy = (_cells(table, name) for name in ("neutral", "anger@1", "joy@1"))
    assert neutral["macro_f1"].value == 1.0
    assert neutral["− neutral"] is None
    assert joy["− neutral"].value == 0.0
    assert joy["p"] == 1.0
    assert anger["− neutral"].value == pytest.approx(anger["macro_f1"].value - 1.0)
    assert anger["− neutral"].unit == "difference"
    assert anger["p"] < 0.2
    # Benjamini-Hochberg over two tests: the smaller is doubled.
    assert anger["p adjusted"] == pytest.approx(2 * anger["p"])
    assert "difference in macro f1, points, on" in table.note
    assert "over the 2 conditions of an emotion. Compare" in table.note
    kept = json.loads((tmp_path / "run/scores.json").read_text(encoding="utf-8"))
    assert kept["overview"]["rows"][1][0] == "anger@1"


def test_the_difference_of_an_error_is_no_percentage(tmp_path: Path) -> None:
    """The middle of every scale is off by other amounts than the ends: RMSE, in ranges of the scale, not in points."""
    plan = make_plan("care", protocol="s", limit=2, conditions=["prompt:anger"])
    script = tmp_path / "s.jsonl"
    script.write_text(
        '{"item": "*", "reply": "Somewhat agree"}\n'
        '{"item": "*", "condition": "prompt:anger", "reply": "Strongly disagree"}\n',
        encoding="utf-8",
    )
    execute(plan, open_model(f"scripted:{script}"), tmp_path / "run")
    table = read_run(tmp_path / "run", QUICK).overview
    assert table is not None
    neutral, anger = (_cells(table, name)["appraisal_rmse"] for name in ("neutral", "prompt:anger"))
    difference = _cells(table, "prompt:anger")["− neutral"]
    assert difference.unit == anger.unit == "number"
    assert difference.value == pytest.approx(anger.value - neutral.value)
    assert difference.value != 0
    shown = dict(zip(table.columns, table_texts(table)[1], strict=True))
    assert shown["− neutral"].main == f"{anger.value - neutral.value:.3f}".replace("-", "−")
    assert "points" not in table.note


def test_a_condition_that_lacks_items_is_not_paired_and_says_why(tmp_path: Path) -> None:
    # 12 scenes a condition, the last 14 answers lost: all of joy's, and two of anger's.
    table = read_run(_run(tmp_path, lose=14), QUICK).overview
    assert table is not None
    assert [row[0] for row in table.rows] == ["neutral", "anger@1"]
    anger = _cells(table, "anger@1")["− neutral"]
    assert isinstance(anger, Estimate)
    assert anger.value is None
    assert "have not answered the same questions yet" in anger.reason


def test_conditions_that_lack_different_items_give_one_reason(tmp_path: Path) -> None:
    folder = _run(tmp_path)
    path = folder / "responses.jsonl"
    lost = {("anger@1", "s3"), ("joy@1", "s5")}
    lines = path.read_text(encoding="utf-8").splitlines()
    left = [line for line in lines if (json.loads(line)["condition"], json.loads(line)["item"]) not in lost]
    assert len(left) < len(lines)
    path.write_text("\n".join(left) + "\n", encoding="utf-8")
    table = read_run(folder, QUICK).overview
    assert table is not None
    assert len({_cells(table, name)["− neutral"].reason for name in ("anger@1", "joy@1")}) == 1


def test_damage_is_shown_where_it_was_measured(tmp_path: Path) -> None:
    scored = read_run(_run(tmp_path), QUICK)
    steering = {
        "limits": {"kl": 1.0, "nll_rise": 0.5},
        "conditions": {
            "anger@1": {"kl": 2.0, "nll_rise": 0.1, "kl_error": 0.3, "damaged": True},
            "joy@1": {"kl": 0.1, "nll_rise": 0.0, "kl_error": 0.01, "damaged": False},
        },
    }
    table = overview(scored.plan, scored.table, scored.scores, steering, QUICK)
    assert table is not None
    assert [_cells(table, name)["plain text"] for name in ("neutral", "anger@1", "joy@1")] == ["", "damaged", "intact"]
    assert _cells(table, "joy@1")["KL"] == 0.1
    assert "KL (standard error up to 0.3)" in table.note
    assert table.units["KL"] == "number"


def test_whether_plain_text_is_damaged_is_said_where_it_is_not(tmp_path: Path) -> None:
    scored = read_run(_run(tmp_path), QUICK)
    whole = {"kl": 0.1, "nll_rise": 0.0, "kl_error": None, "damaged": False}
    steering = {"limits": {"kl": 1.0, "nll_rise": 0.5}, "conditions": {"anger@1": whole, "joy@1": whole}}
    table = overview(scored.plan, scored.table, scored.scores, steering, QUICK)
    assert table is not None
    assert table.columns[:2] == ("condition", "plain text")
    assert [row[1] for row in table.rows] == ["", "intact", "intact"]


def test_controls_are_no_part_of_the_family(tmp_path: Path) -> None:
    """Anger's p is doubled for two emotions; with joy a control it stands alone, and the control's p is left as it
    is."""
    plan = tiny_plan(IDS, conditions=("neutral", "anger@1", "random@1"))
    script = scripted_file(tmp_path / "s.jsonl", plan)
    with script.open("a", encoding="utf-8") as file:
        for condition, count in (("anger@1", 5), ("random@1", 7)):
            wrong = scripted_file(tmp_path / "w.jsonl", plan, dict.fromkeys(IDS[:count], ("joy", "fear")))
            for line in wrong.read_text(encoding="utf-8").splitlines()[:count]:
                file.write(json.dumps({**json.loads(line), "condition": condition}) + "\n")
    execute(plan, open_model(f"scripted:{script}"), tmp_path / "run")
    table = read_run(tmp_path / "run", QUICK).overview
    assert table is not None
    anger, control = _cells(table, "anger@1"), _cells(table, "random@1")
    assert anger["p adjusted"] == anger["p"]
    assert control["p"] < 1
    assert control["p adjusted"] is None
    assert "over the 1 condition of an emotion, the 1 of controls left out." in table.note


def test_a_run_without_conditions_has_none(tmp_path: Path) -> None:
    plan = tiny_plan("ab")
    execute(plan, open_model(f"scripted:{scripted_file(tmp_path / 's.jsonl', plan)}"), tmp_path / "run")
    assert read_run(tmp_path / "run", QUICK).overview is None
