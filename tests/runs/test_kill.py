"""Kill -9 at random moments: the same command finishes the run, and nothing is lost, doubled or different."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.support.plans import scripted_file, tiny_plan

ROOT = Path(__file__).resolve().parents[2]


def kill(folder: Path, trials: int, slow: float, command: list[str]) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.kill", str(folder), str(trials), "7", str(slow), *command],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return told


def check(told: dict[str, Any], trials: int) -> None:
    assert told["requests"] == told["distinct"]
    assert len(told["trials"]) == trials
    for trial in told["trials"]:
        assert trial["ended"] == 0, trial["said"]
        assert trial["same_requests"], "a response was lost or doubled"
        assert trial["same_bytes"], "scores differ from the uninterrupted run's"
    # The moments are spread over the run: some trials were cut before the end, some with responses already there.
    assert any(trial["killed"] and 0 < trial["kept"] < told["requests"] for trial in told["trials"])


def scenes(path: Path, count: int) -> Path:
    plan = tiny_plan([f"s{number}" for number in range(count)])
    with path.open("w", encoding="utf-8") as file:
        for item in plan.items:
            row = {
                "id": item.id,
                "sentence": item.inputs["sentence"],
                "agent_a_role": item.inputs["role_A"],
                "agent_b_role": item.inputs["role_B"],
                "agent_a_emotion": item.gold["A"],
                "agent_b_emotion": item.gold["B"],
            }
            file.write(json.dumps(row) + "\n")
    return path


@pytest.mark.slow
def test_scripted_run_killed_at_30_random_moments(tmp_path: Path) -> None:
    plan = tiny_plan([f"s{number}" for number in range(60)])
    script = scripted_file(tmp_path / "replies.jsonl", plan)
    data = scenes(tmp_path / "scenes.jsonl", 60)
    command = ["chiaro", "--data", str(data), "--model", f"scripted:{script}", "--replicates", "50"]
    check(kill(tmp_path, 30, 0.005, command), 30)


def test_a_half_written_line_is_dropped_wherever_it_was_cut(tmp_path: Path) -> None:
    """Every prefix of the response file is a state a killed process may leave; a few dozen stand for all."""
    from affectlab.models import open_model
    from affectlab.runs import RunFolder, execute, score_run

    plan = tiny_plan(["a", "b", "ü"])
    model = open_model(f"scripted:{scripted_file(tmp_path / 'replies.jsonl', plan)}")
    whole = RunFolder.at(tmp_path / "whole")
    execute(plan, model, whole)
    score_run(whole.path)
    content = whole.responses_path.read_bytes()
    for cut in {*range(0, len(content), 97), len(content) - 1, len(content)}:
        run = RunFolder.at(tmp_path / f"cut{cut}")
        execute(plan, model, run)
        run.responses_path.write_bytes(content[:cut])
        session = execute(plan, model, run)
        assert session.asked == 3 - content[:cut].count(b"\n")
        score_run(run.path)
        assert sorted(run.responses_path.read_bytes().splitlines()) == sorted(content.splitlines())
        assert run.scores_path.read_bytes() == whole.scores_path.read_bytes()
        assert run.predictions_path.read_bytes() == whole.predictions_path.read_bytes()


@pytest.mark.slow
@pytest.mark.model
def test_local_run_killed_at_30_random_moments(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="local models need affectlab[local]")
    pytest.importorskip("transformers", reason="local models need affectlab[local]")
    from tests.support import tiny_models

    model = tiny_models.save(tmp_path / "model", "llama", context=1024)
    data = scenes(tmp_path / "scenes.jsonl", 12)
    # Batches of a few rows, so that there are many moments between the first response and the last.
    command = ["chiaro", "--data", str(data), "--model", str(model), "--batch-tokens", "1100", "--replicates", "20"]
    check(kill(tmp_path, 30, 0.0, command), 30)
