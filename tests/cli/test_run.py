"""``affectlab run`` and what follows it, as a user types it."""

from __future__ import annotations

import csv
import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import SCENE, Ended

Cli = Callable[..., Ended]


def test_run_score_report_agree(cli: Cli, script: str, tmp_path: Path) -> None:
    out = tmp_path / "run"
    ran = cli("run", "chiaro", "--model", script, "--out", out, "--json", "--replicates", "50")
    assert ran.code == 0
    assert ran.json["session"]["answered"] == 60
    first = (out / "scores.json").read_bytes()
    scored = cli("score", out, "--json")
    assert scored.json["scores"] == ran.json["scores"]
    assert (out / "scores.json").read_bytes() == first
    reported = cli("report", out, "--json", "--csv", tmp_path / "csv", "--latex", tmp_path / "t.tex")
    assert reported.code == 0
    assert reported.json["scores"] == ran.json["scores"]
    page = (out / "report.html").read_text(encoding="utf-8")
    value = ran.json["scores"]["neutral"]["headline"][0]["value"]
    assert f"{100 * value:.1f}" in page
    with (tmp_path / "csv" / "per_emotion.csv").open(encoding="utf-8", newline="") as file:
        assert [row[0] for row in csv.reader(file)][1] == "joy"
    assert "\\toprule" in (tmp_path / "t.tex").read_text(encoding="utf-8")


def test_a_run_is_scored_as_it_was_last_unless_told_otherwise(cli: Cli, script: str, tmp_path: Path) -> None:
    out = tmp_path / "run"
    cli("run", "chiaro", "--model", script, "--out", out, "--limit", "3", "--replicates", "20")
    made: list[dict[str, Any]] = []
    for options in ((), ("--level", "0.9"), ("--seed", "7"), ("--replicates", "30"), ()):
        assert cli("score", out, *options).code == 0
        made.append(json.loads((out / "scores.json").read_text("utf-8"))["interval"])
    assert made[0] == {"level": 0.95, "replicates": 20, "seed": 0}
    assert made[1] == {"level": 0.9, "replicates": 20, "seed": 0}
    assert made[2] == {"level": 0.9, "replicates": 20, "seed": 7}
    assert made[3] == made[4] == {"level": 0.9, "replicates": 30, "seed": 7}
    (out / "scores.json").write_text('{"interval": {"replicates": "many"}}', "utf-8")
    assert cli("score", out, "--replicates", "20").code == 0
    assert json.loads((out / "scores.json").read_text("utf-8"))["interval"]["level"] == 0.95


def test_the_table_is_printed_for_people(cli: Cli, script: str, tmp_path: Path) -> None:
    ran = cli("run", "chiaro", "--model", script, "--out", tmp_path / "run", "--replicates", "20")
    assert ran.code == 0
    for word in ("Macro-F1", "GPT-5.5", "annotators", "By emotion", "embarrassment", "affectlab report"):
        assert word in ran.out


def test_a_finished_run_asks_nothing_again(cli: Cli, script: str, tmp_path: Path) -> None:
    arguments = ("run", "chiaro", "--model", script, "--out", tmp_path / "run", "--json", "--replicates", "20")
    cli(*arguments)
    again = cli(*arguments)
    assert again.json["session"] == {
        "asked": 0, "answered": 0, "failed": 0, "found": 60, "torn": 0, "interrupted": False
    }  # fmt: skip


def test_limit_shows_the_first_items_as_the_whole_run_does(cli: Cli, script: str, tmp_path: Path) -> None:
    cli("run", "chiaro", "--model", script, "--out", tmp_path / "all", "--json", "--replicates", "20")
    cli("run", "chiaro", "--model", script, "--out", tmp_path / "some", "--limit", "7", "--json", "--replicates", "20")

    def asked(name: str) -> dict[str, Any]:
        lines = (tmp_path / name / "responses.jsonl").read_text(encoding="utf-8").splitlines()
        return {row["item"]: row["request"] for row in map(json.loads, lines)}

    some, everything = asked("some"), asked("all")
    assert len(some) == 7
    assert all(everything[item] == request for item, request in some.items())


def test_mapped_columns_of_a_csv(cli: Cli, script: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["nr", "Text", "first", "second", "emo1", "emo2"])
        writer.writerow([1, SCENE["sentence"], "Ana", "Bo", "relief", "anger"])
        writer.writerow([2, "Another, with a comma.", "Cy", "Di", "sadness", "joy"])
    maps = ["id=nr", "sentence=Text", "agent_a_role=first", "agent_b_role=second"]
    maps += ["agent_a_emotion=emo1", "agent_b_emotion=emo2"]
    ran = cli(
        "run", "chiaro", "--data", path, *(word for one in maps for word in ("--map", one)),
        "--model", script, "--out", tmp_path / "run", "--json", "--replicates", "20",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    assert ran.json["manifest"]["data"]["items"] == 2


def test_scenes_without_gold_are_predicted_and_the_scores_say_why(
    cli: Cli, script: str, scenes: Callable[..., Path], tmp_path: Path
) -> None:
    data = scenes({"agent_a_emotion": ..., "agent_b_emotion": ..., "agent_a_polarity": "positive"})
    ran = cli("run", "chiaro", "--data", data, "--model", script, "--out", tmp_path / "run", "--json")
    assert ran.code == 0, ran.err
    scores = ran.json["scores"]["neutral"]
    assert scores["headline"][0]["value"] is None
    assert any("gold" in note for note in scores["notes"])
    rows = [json.loads(line) for line in (tmp_path / "run/predictions.jsonl").read_text().splitlines()]
    # turned by index 0: agent A's first option is joy, agent B's second is sadness
    assert [(row["slot"], row["value"], row["gold"]) for row in rows] == [("A", "joy", None), ("B", "sadness", None)]
    shown = cli("report", tmp_path / "run")
    assert shown.code == 0, shown.err


def test_predictions_of_another_tool_can_be_scored(cli: Cli, script: str, tmp_path: Path) -> None:
    cli("run", "chiaro", "--model", script, "--out", tmp_path / "run", "--json", "--replicates", "20")
    alone = cli("score", tmp_path / "run/predictions.jsonl", "--benchmark", "chiaro", "--json", "--replicates", "20")
    whole = cli("score", tmp_path / "run", "--json", "--replicates", "20")
    assert alone.json["neutral"] == whole.json["scores"]["neutral"]
    assert cli("score", tmp_path / "run/predictions.jsonl", "--benchmark", "chiaro").code == 0


def test_compare(cli: Cli, script: str, tmp_path: Path) -> None:
    other = tmp_path / "other.jsonl"
    other.write_text(json.dumps({"item": "*", "reply": "AGENT A: B\nAGENT B: C"}) + "\n", encoding="utf-8")
    cli("run", "chiaro", "--model", script, "--out", tmp_path / "a", "--json", "--replicates", "20")
    cli("run", "chiaro", "--model", f"scripted:{other}", "--out", tmp_path / "b", "--json", "--replicates", "20")
    found = cli("compare", tmp_path / "a", tmp_path / "b", "--json", "--replicates", "50")
    assert found.code == 0, found.err
    assert found.json["figures"][0]["name"] == "macro_f1"
    shown = cli("compare", tmp_path / "a", tmp_path / "b", "--html", tmp_path / "c.html", "--replicates", "50")
    assert "McNemar" in shown.out
    assert "McNemar" in (tmp_path / "c.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("command", [("benchmarks",), ("models",), ("labels",), ("labels", "chiaro10")])
def test_lists(cli: Cli, command: tuple[str, ...]) -> None:
    assert cli(*command, "--json").json
    told = cli(*command)
    assert told.code == 0
    assert {"benchmarks": "joint-cot", "models": "smollm2", "labels": "chiaro10"}[command[0]] in told.out


def test_items_check_and_duplicates(cli: Cli, scenes: Callable[..., Path]) -> None:
    data = scenes({}, {"id": "2"}, {"id": "3", "sentence": "Something else entirely happens at the harbour at noon."})
    checked = cli("items", "check", data, "--json")
    assert checked.json["items"] == 3
    alike = cli("items", "duplicates", data, "--json")
    assert alike.code == 1
    assert [(pair["a"], pair["b"], pair["kind"]) for pair in alike.json] == [("s1", "2", "exact")]


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_and_sigterm_say_how_to_go_on(tmp_path: Path, script: str, sent: signal.Signals) -> None:
    """A real process, a real signal while it runs."""
    code = (
        "import sys, time\n"
        "from affectlab.models.scripted import ScriptedModel\n"
        "quick = ScriptedModel.respond\n"
        "def slow(self, requests):\n"
        "    for number, answer in enumerate(quick(self, requests)):\n"
        "        if number == 5: print('READY', file=sys.stderr, flush=True)\n"
        "        time.sleep(0 if number < 5 else 0.2)\n"
        "        yield answer\n"
        "ScriptedModel.respond = slow\n"
        "from affectlab.cli.main import main\n"
        f"sys.argv = ['affectlab', 'run', 'chiaro', '--model', {script!r}, '--out', {str(tmp_path / 'run')!r}]\n"
        "main()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        assert "READY" in process.stderr.readline()
        process.send_signal(sent)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "To go on:\n  affectlab run chiaro --model" in said
    assert "Traceback" not in said
    assert 5 <= (tmp_path / "run/responses.jsonl").read_bytes().count(b"\n") < 60


def test_items_check_says_which_protocols_a_file_is_fit_for(cli: Cli, scenes: Callable[..., Path]) -> None:
    without = scenes({"agent_a_emotion": ..., "agent_b_emotion": ...})
    checked = cli("items", "check", without, "--json").json
    assert checked["protocols"] == ["open"]
    assert "agent_a_polarity" in checked["not_with"]["joint"]
    assert "Cannot be asked with protocol joint" in cli("items", "check", without).out
