"""What the documentation shows is so: its commands parse, its example benchmark runs."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest
import typer.main

from affectlab.benchmarks import BUILT_IN, open_benchmark
from affectlab.cli.main import app
from affectlab.models import ModelSettings, open_model
from affectlab.runs import Plan, RunFolder, execute, score_run
from affectlab.runs.manifest import DECISIVE
from tests.support.example import example

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "bench" / "README.md"])
BLOCK = re.compile(r"^```(?:sh|bash|console)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def commands() -> list[Any]:
    """Every ``affectlab …`` line of every shell block, and every ``make …`` line."""
    found = []
    for page in PAGES:
        for block in BLOCK.findall(page.read_text(encoding="utf-8")):
            for line in block.replace("\\\n", " ").splitlines():
                found.append(pytest.param(line, id=f"{page.name}: {line.strip()[:60]}"))
    return found


def parse(words: list[str]) -> None:
    """Parse the arguments of a command as the command line would, without running it."""
    command: Any = typer.main.get_command(app)
    name = "affectlab"
    while hasattr(command, "commands") and words and not words[0].startswith("-"):
        name, *words = words
        command = command.commands[name]
    if words in (["--help"], ["--version"]):
        return
    command.make_context(name, words)


@pytest.mark.parametrize("line", commands())
def test_commands_in_the_documentation_parse(line: str) -> None:
    words = shlex.split(line.removeprefix("$ "), comments=True)
    while words and re.fullmatch(r"[A-Z_]+=.*", words[0]):
        words = words[1:]
    words = list(takewhile(lambda word: word not in (">", "|"), words))
    if words[:1] == ["affectlab"]:
        parse(words[1:])
    elif words[:1] == ["make"]:
        targets = [word for word in words[1:] if "=" not in word]
        makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
        assert all(re.search(rf"^{target}:", makefile, re.MULTILINE) for target in targets), line


def test_the_check_of_commands_sees_a_wrong_option() -> None:
    with pytest.raises(Exception, match="No such option"):
        parse(["run", "chiaro", "--model", "smollm2", "--out", "x", "--no-such-option"])


@pytest.fixture
def gold_replies(tmp_path: Path) -> Path:
    """A script that answers every item of the example with its gold, but for the last, which it cannot answer."""
    mood = example()
    items = mood.load(str(mood.BENCHMARK.sample), {}, {})
    path = tmp_path / "replies.jsonl"
    replies = {item.id: item.gold["emotion"] for item in items} | {items[-1].id: "What a day."}
    path.write_text(
        "".join(json.dumps({"item": name, "reply": reply}) + "\n" for name, reply in replies.items()),
        encoding="utf-8",
    )
    return path


def test_the_example_benchmark_runs_and_scores(tmp_path: Path, gold_replies: Path, monkeypatch: Any) -> None:
    benchmark = example().BENCHMARK
    monkeypatch.setattr("affectlab.runs.score.open_benchmark", lambda name: benchmark)
    plan = Plan(
        benchmark=benchmark,
        protocol=benchmark.protocols["word"],
        items=benchmark.load(str(benchmark.sample), {}, {}).items,
        source="sample",
        data_sha256="",
    )
    model = open_model(f"scripted:{gold_replies}", ModelSettings())
    session = execute(plan, model, RunFolder.at(tmp_path / "run"))
    assert (session.asked, session.answered, session.failed) == (7, 7, 0)

    scores = score_run(tmp_path / "run").scores["neutral"]
    # Six of seven labels: F1 1. The seventh (neutral) was never answered: F1 0. Macro-F1 and accuracy are 6/7.
    assert scores.figure("macro_f1").value == pytest.approx(6 / 7)
    assert scores.figure("accuracy").value == pytest.approx(6 / 7)
    assert scores.figure("accuracy").clusters == 7
    assert scores.notes[0] == "1 of 7 replies could not be read and count as wrong."


def test_the_python_of_getting_started_runs(tmp_path: Path, monkeypatch: Any, capsys: Any) -> None:
    page = (ROOT / "docs" / "getting-started.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    monkeypatch.chdir(tmp_path)
    Path("replies.jsonl").write_text('{"item": "*", "reply": "AGENT A: A\\nAGENT B: C"}\n', encoding="utf-8")
    exec(code.replace('"smollm2"', '"scripted:replies.jsonl"'), {})
    assert "10 answered, 0 were there already" in capsys.readouterr().out


@pytest.mark.parametrize("page", ["engine.md", "steering.md"])
def test_the_python_of_engine_and_steering_runs(page: str, tmp_path: Path, monkeypatch: Any, capsys: Any) -> None:
    pytest.importorskip("torch", reason="local models need torch")
    pytest.importorskip("transformers", reason="local models need transformers")
    from tests.support import tiny_models

    folder = tiny_models.save(tmp_path / "tiny", context=1024)
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs" / page).read_text(encoding="utf-8").partition("## Images")[0]
    for code in re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        exec(code.replace('"smollm2"', repr(str(folder))), {})
    assert {"engine.md": "EngineReport(", "steering.md": "anger@0.025:relative"}[page] in capsys.readouterr().out


def test_the_data_file_of_getting_started_loads(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "getting-started.md").read_text(encoding="utf-8")
    (table,) = re.findall(r"^```text\n(number,.*?)^```", page, re.MULTILINE | re.DOTALL)
    fields = dict(re.findall(r"--map (\w+)=(\w+)", page))
    path = tmp_path / "my.csv"
    path.write_text(table, encoding="utf-8")
    first, second = open_benchmark("chiaro").load(str(path), fields, {})
    assert (first.id, first.gold) == ("1", {"A": "joy", "B": "anger"})
    assert (second.id, second.gold) == ("2", {"A": "relief", "B": "sadness"})


def test_the_demo_asks_some_of_every_benchmark_and_reports_it() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8").replace("\\\n", " ")
    recipe = [line.strip() for line in makefile.partition("\ndemo:")[2].partition("\n\n")[0].splitlines()[1:]]
    typed = [line.removeprefix("$(BIN)/").partition(" >")[0].replace("$(ARGS)", "") for line in recipe]
    commands = [
        shlex.split(line.replace("$(DEMO_RUN)", "runs/first")) for line in typed if line.startswith("affectlab")
    ]
    for command in commands:
        parse(command[1:])
    asked = {command[2] if command[1] == "run" else "decisions" for command in commands if "--model" in command}
    assert asked == set(BUILT_IN)
    made = {command[command.index("--out") + 1] for command in commands if "--out" in command}
    assert made == {command[2] for command in commands if command[1] == "report"}


def test_the_page_on_run_folders_names_the_fields_that_decide() -> None:
    page = (ROOT / "docs" / "run-folder.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^```text\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert block.split() == list(DECISIVE)


def test_the_python_reference_and_architecture_name_every_package() -> None:
    packages = {path.parent.name for path in (ROOT / "src" / "affectlab").glob("*/__init__.py")}
    reference = {path.stem for path in (ROOT / "docs" / "api").glob("*.md")}
    architecture = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    assert packages - reference == {"cli"}
    assert {name for name in packages if f"`{name}`" not in architecture} == set()


def test_the_table_of_layers_is_the_contract() -> None:
    contract = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (layers,) = (one["layers"] for one in contract["tool"]["importlinter"]["contracts"] if one["type"] == "layers")
    architecture = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    table = architecture[architecture.index("\n## Layers\n") : architecture.index("\n## How data flows\n")]
    rows = re.findall(r"^\| (`[^|]*`) \|", table, re.MULTILINE)
    assert [re.findall(r"`(\w+)`", row) for row in rows] == [layer.split(" | ") for layer in layers]


@pytest.mark.parametrize("page", ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "bench/README.md"])
def test_files_named_outside_the_site_exist(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    folder = (ROOT / page).parent
    links = [link for link in re.findall(r"\]\(([^)#]+)\)", text) if not link.startswith("http")]
    assert [link for link in links if not (folder / link).exists()] == []
    named = re.findall(r"`((?:src/affectlab|docs|tests|bench)/[\w/.-]+)`", text)
    assert [name for name in named if not (ROOT / name).exists()] == []
