"""The shared cases, and the runner that checks files of cases."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.cases.runner import LATER, covered_areas, load_cases, main, run_cases

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT / ".." / "shared" / "cases" / "cases.jsonl"
READING = [
    "answer_parsing",
    "refusal",
    "thinking",
    "language",
    "two_agent",
    "likert",
    "multi_label",
    "json_output",
    "yes_no",
]


def _write(path: Path, *cases: Mapping[str, Any]) -> Path:
    path.write_text("".join(json.dumps(case) + "\n" for case in cases), encoding="utf-8")
    return path


def _case(area: str = "answer_parsing", output: str = "A", right: str = "A", **extra: Any) -> dict[str, Any]:
    given = {"task": "single_choice", "options": {"A": "joy", "B": "anger"}, "output": output, **extra}
    return {"id": "one", "area": area, "input": given, "right_outcome": {"status": "ok", "value": right}}


def test_shared_cases_of_covered_areas_pass() -> None:
    if not SHARED.exists():
        pytest.skip("shared cases are not beside this checkout")
    outcome = run_cases(load_cases(SHARED), covered_areas())
    assert [(result.id, result.message) for result in outcome.failures] == []
    assert {result.area for result in outcome.results} >= set(READING)


def test_a_wrong_reading_is_shown_and_exits_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(_write(tmp_path / "cases.jsonl", _case(right="B")))]) == 1
    shown = capsys.readouterr().out
    assert "one (answer_parsing)" in shown
    assert "came out: ok 'A'" in shown


def test_right_readings_exit_0(tmp_path: Path) -> None:
    assert main([str(_write(tmp_path / "cases.jsonl", _case()))]) == 0


def test_areas_without_a_module_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(_write(tmp_path / "cases.jsonl", _case(), _case(area="astrology")))]) == 0
    assert "not covered yet: astrology (1)" in capsys.readouterr().out


def test_only_the_area_asked_for_is_run(tmp_path: Path) -> None:
    path = _write(tmp_path / "cases.jsonl", _case(right="B"), _case(area="refusal"))
    assert main([str(path), "--area", "refusal"]) == 0
    assert main([str(path), "--area", "nowhere"]) == 2


@pytest.mark.parametrize("area", READING)
def test_unknown_shapes_fail(area: str) -> None:
    case = {"id": "x", "area": area, "input": {"strange": 1}, "right_outcome": {"status": "ok"}}
    outcome = run_cases([case], covered_areas())
    assert outcome.failures[0].message.startswith("unknown shape")


def test_unknown_statuses_fail() -> None:
    case = _case()
    case["right_outcome"] = {"status": "glorious"}
    assert "unknown shape" in run_cases([case], covered_areas()).failures[0].message


def test_a_check_that_raises_is_a_failure_and_later_is_not() -> None:
    def raises(case: Mapping[str, Any]) -> str | None:
        raise ValueError("broken")

    def later(case: Mapping[str, Any]) -> str | None:
        return f"{LATER} games"

    outcome = run_cases([_case(area="x"), _case(area="y")], {"x": raises, "y": later})
    assert [result.message for result in outcome.failures] == ["raised ValueError: broken"]
    assert [result.verdict for result in outcome.results] == ["failed", "later"]


@pytest.mark.parametrize("content", ["", "\n", "{", '{"id": "x"}\n', "[1]\n", "\xff"])
def test_bad_files_exit_2(tmp_path: Path, content: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_bytes(content.encode("latin-1"))
    assert main([str(path)]) == 2
    assert str(path) in capsys.readouterr().err


def test_the_module_runs_from_the_root_of_the_checkout(tmp_path: Path) -> None:
    path = _write(tmp_path / "cases.jsonl", _case(right="B"))
    done = subprocess.run(
        [sys.executable, "-m", "tests.cases", str(path)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert (
        subprocess.run(
            [sys.executable, "-m", "tests.cases", str(tmp_path / "none")], cwd=ROOT, capture_output=True, check=False
        ).returncode
        == 2
    )
