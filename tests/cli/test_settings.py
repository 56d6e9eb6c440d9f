"""A benchmark's settings as options of ``affectlab run``, without the command knowing any benchmark."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from affectlab.benchmarks import benchmark_names, open_benchmark
from affectlab.cli.settings import spelled_out
from affectlab.errors import UserError

Cli = Callable[..., Any]
OWN = {"--out": True, "--model": True, "--json": False, "--set": True, "--order": True}


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("cue --context 3 --out a", "cue --set context=3 --out a"),
        ("cue --context=3 --lang en", "cue --set context=3 --set lang=en"),
        ("--context 0 cue", "--set context=0 cue"),
        ("--json cue --context all", "--json cue --set context=all"),
        ("--out emoscene cue --context 1", "--out emoscene cue --set context=1"),  # a value is no benchmark
        ("cue --out --context --set lang=en", "cue --out --context --set lang=en"),  # nor an option
        ("cue --contxt 3", "cue --contxt 3"),  # the command refuses it
        ("chiaro --context 3", "chiaro --context 3"),  # not one of its settings
        ("care --first-person x", "care --set first_person=x"),
        ("cue -- --context 3", "cue -- --context 3"),
        ("--out", "--out"),
        ("", ""),
    ],
)
def test_settings_are_spelled_out(typed: str, read: str) -> None:
    assert spelled_out(typed.split(), OWN) == read.split()


@pytest.mark.parametrize("typed", ["cue --context", "cue --context --json", "cue --context="])
def test_a_setting_needs_a_value(typed: str) -> None:
    with pytest.raises(UserError, match=r"--context needs a value\. It sets the turns of context"):
        spelled_out(typed.split(), OWN)


def test_settings_reach_the_run(cli: Cli, tmp_path: Path) -> None:
    script = tmp_path / "script.jsonl"
    script.write_text('{"item": "*", "reply": "无"}\n', encoding="utf-8")
    command = ("run", "cue", "--model", f"scripted:{script}", "--limit", "2", "--replicates", "10", "--json")
    told = cli(*command, "--context", "1", "--lang=en", "--out", tmp_path / "run").json
    assert told["manifest"]["asking"]["options"] == {"context": "1", "lang": "en"}
    twice = cli(*command, "--context", "1", "--set", "context=2", "--out", tmp_path / "twice")
    assert (twice.code, "'context' twice" in twice.err) == (2, True)
    wrong = cli(*command, "--context", "some", "--out", tmp_path / "wrong")
    assert (wrong.code, "context=some" in wrong.err) == (2, True)
    unknown = cli(*command, "--contexts", "1", "--out", tmp_path / "unknown")
    assert (unknown.code, "No such option: --contexts" in unknown.err) == (2, True)


def test_the_same_command_goes_on_when_a_file_that_it_names_is_gone(cli: Cli, tmp_path: Path) -> None:
    script, demos, words = (tmp_path / name for name in ("script.jsonl", "demos.jsonl", "words.toml"))
    script.write_text('{"item": "*", "reply": "A"}\n', encoding="utf-8")
    demos.write_bytes((files("affectlab.benchmarks.cue") / "demonstrations.jsonl").read_bytes())
    words.write_text('joy = ["glad"]\n', encoding="utf-8")
    common = ("--model", f"scripted:{script}", "--limit", "1", "--replicates", "5", "--json")
    for number, command in enumerate(
        (
            ("run", "cue", "--protocol", "few_shot", "--demos", demos),
            ("decide", "--emotions", "anger", "--alpha", "none", "--prompt-control", "--cot", "--lexicon", words),
        )
    ):
        again = (*command, *common, "--out", tmp_path / f"run{number}")
        first = cli(*again)
        assert first.code == 0
        Path(command[-1]).unlink()
        second = cli(*again)
        assert (second.code, second.json["scores"]) == (0, first.json["scores"])
        assert second.json["session"]["asked"] == 0


def test_no_setting_is_hidden_by_an_option_of_the_command(cli: Cli) -> None:
    options = cli("run", "--help").out
    for name in benchmark_names():
        for setting in open_benchmark(name).settings:
            assert f"--{setting.replace('_', '-')} " not in options, f"{name}: --{setting} means something else"


def test_a_benchmark_is_shown_alone_with_its_settings(cli: Cli) -> None:
    told = cli("benchmarks", "cue").out
    for setting in open_benchmark("cue").settings:
        assert f"--{setting} " in told
    assert "emoscene" not in told
    (shown,) = json.loads(cli("benchmarks", "cue", "--json").out)
    assert shown["settings"] == dict(open_benchmark("cue").settings)
    assert cli("benchmarks", "cu").code == 2
