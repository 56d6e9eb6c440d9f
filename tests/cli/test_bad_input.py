"""Every bad input: one clear error that names the thing, exit code 2 (the user's) or 1 (the world's), no traceback."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import SCENE, Ended

Cli = Callable[..., Ended]


def bad(ended: Ended, code: int, *named: str) -> None:
    assert ended.code == code, ended.err
    assert ended.out == ""
    assert sum(line.startswith(("Error: ", "Usage: ")) for line in ended.err.splitlines()) == 1
    assert "Traceback" not in ended.err
    assert "bug in affectlab" not in ended.err
    for word in named:
        assert word in ended.err


def raw(tmp_path: Path, content: bytes, name: str = "bad.jsonl") -> Path:
    path = tmp_path / name
    path.write_bytes(content)
    return path


GOOD = json.dumps(SCENE).encode()


@pytest.mark.parametrize(
    ("content", "named"),
    [
        (b"", ["empty"]),
        (b"\n\n  \n", ["empty"]),
        (b"\xff\xfe" + GOOD, ["UTF-8"]),
        (GOOD + b"\n" + GOOD[:40] + b"\n", ["line 2"]),
        (GOOD + b"\n" + GOOD + b"\n", ["line 2", "s1", "line 1"]),
        (GOOD.replace(b"relief", b"schadenfreude"), ["line 1", "schadenfreude", "relief"]),
        (GOOD.replace(b"relief", b"fear"), ["line 1", "negative", "positive"]),
        (GOOD.replace(b"Bo, at the stop", b"Ana, on the tram"), ["line 1", "Ana, on the tram", "roles"]),
        (GOOD.replace(b'"sentence"', b'"sentense"'), ["sentence"]),
        (GOOD.replace(b'"id": "s1"', b'"id": "s1", "id": "s2"'), ["line 1", "id"]),
        (b'["not", "a", "row"]', ["row 1", "row 3"]),
        (b"just words\n", ["line 1"]),
    ],
)
def test_bad_data_files(cli: Cli, script: str, tmp_path: Path, content: bytes, named: list[str]) -> None:
    path = raw(tmp_path, content)
    out = tmp_path / "run"
    bad(cli("run", "chiaro", "--data", path, "--model", script, "--out", out), 2, "bad.jsonl", *named)
    assert not out.exists()
    bad(cli("items", "check", path), 2, "bad.jsonl", *named)


@pytest.mark.parametrize("content", [b"\xef\xbb\xbf" + GOOD, GOOD + b"\r\n", b"\xef\xbb\xbf" + GOOD + b"\r\n\r\n"])
def test_a_bom_and_crlf_are_no_fault(cli: Cli, script: str, tmp_path: Path, content: bytes) -> None:
    out = tmp_path / "run"
    assert cli("run", "chiaro", "--data", raw(tmp_path, content), "--model", script, "--out", out, "--json").code == 0


def test_every_bad_row_is_listed(cli: Cli, tmp_path: Path) -> None:
    rows = [SCENE | {"id": str(number), "agent_a_emotion": f"odd{number}"} for number in range(30)]
    path = raw(tmp_path, "\n".join(map(json.dumps, rows)).encode())
    ended = cli("items", "check", path)
    bad(ended, 2, "30", "line 1", "odd0", "line 20", "odd19")
    assert "odd29" not in ended.err


def test_files_that_are_not_there_or_not_files(cli: Cli, script: str, tmp_path: Path) -> None:
    raw(tmp_path, GOOD, "scenes.jsonl")
    common = ("--model", script, "--out", tmp_path / "run")
    bad(cli("run", "chiaro", "--data", tmp_path / "scenes.json", *common), 2, "scenes.json", "scenes.jsonl")
    bad(cli("run", "chiaro", "--data", tmp_path, *common), 2, str(tmp_path), "directory")
    bad(cli("run", "chiaro", "--data", "hub:nobody/nothing", *common), 2 if not _has_datasets() else 1, "hub")


def _has_datasets() -> bool:
    import importlib.util

    return importlib.util.find_spec("datasets") is not None


def test_mapping_to_a_column_that_is_not_there(cli: Cli, script: str, tmp_path: Path) -> None:
    path = raw(tmp_path, GOOD)
    common = ("--data", path, "--model", script, "--out", tmp_path / "run")
    bad(cli("run", "chiaro", "--map", "sentence=sentenze", *common), 2, "sentenze", "sentence")
    bad(cli("run", "chiaro", "--map", "sentence", *common), 2, "--map", "name=value")
    bad(cli("run", "chiaro", "--map", "sentense=sentence", *common), 2, "no field 'sentense'", "did you mean sentence?")
    bad(cli("run", "chiaro", "--map", "a=b", "--model", script, "--out", tmp_path / "run"), 2, "--data")


def test_names_that_do_not_exist(cli: Cli, script: str, tmp_path: Path) -> None:
    out = ("--out", tmp_path / "run")
    bad(cli("run", "chairo", "--model", script, *out), 2, "chairo", "chiaro")
    bad(cli("run", "chiaro", "--model", "smolm2", *out), 2, "smolm2", "smollm2")
    bad(cli("run", "chiaro", "--model", script, "--protocol", "jiont", *out), 2, "jiont", "joint")
    bad(cli("run", "chiaro", "--model", script, "--order", "random", *out), 2, "random", "rotate")
    bad(cli("run", "chiaro", "--model", script, "--set", "context=3", *out), 2, "context", "none")
    bad(cli("run", "chiaro", "--model", script, "--repeats", "2", *out), 2, "--temperature")
    bad(cli("labels", "chiaro"), 2, "chiaro", "chiaro10")
    bad(cli("score", tmp_path / "nowhere"), 2, "nowhere")
    bad(cli("compare", tmp_path / "nowhere", tmp_path / "nowhere"), 2, "nowhere")
    bad(cli("report", tmp_path), 2, "not a run folder")
    assert not (tmp_path / "run").exists()


def test_a_read_only_run_folder(cli: Cli, script: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "run"
    assert cli("run", "chiaro", "--model", script, "--limit", "5", "--out", out, "--replicates", "10").code == 0
    # By hand: tests may run as root, whom permissions do not stop.
    monkeypatch.setattr("os.access", lambda path, mode: not (mode == os.W_OK and out in (path, *Path(path).parents)))
    bad(cli("report", out), 2, str(out), "read-only", "--html FILE")
    page = tmp_path / "page.html"
    assert cli("report", out, "--html", page, "--replicates", "10").code == 0
    assert page.exists()
    assert not (out / "report.html").exists()


def test_models_that_cannot_be_opened(cli: Cli, tmp_path: Path) -> None:
    out = ("--out", tmp_path / "run")
    bad(cli("run", "chiaro", "--model", "scripted:nowhere.jsonl", *out), 2, "nowhere.jsonl")
    bad(cli("run", "chiaro", "--model", f"scripted:{raw(tmp_path, b'{')}", *out), 2, "bad.jsonl", "line 1")
    pytest.importorskip("transformers", reason="local models need affectlab[local]")
    bad(cli("run", "chiaro", "--model", "./no-such-folder", *out), 2, "no-such-folder")
    bad(cli("run", "chiaro", "--model", "gguf:nowhere.gguf", *out), 2, "nowhere.gguf")
    short = raw(tmp_path, b"GGUF\x03\x00\x00\x00", "short.gguf")
    bad(cli("run", "chiaro", "--model", f"gguf:{short}", *out), 2, "short.gguf")
    other = raw(tmp_path, b"<html></html>", "page.gguf")
    bad(cli("run", "chiaro", "--model", f"gguf:{other}", *out), 2, "page.gguf")
    assert not (tmp_path / "run").exists()


def test_a_script_without_a_reply_for_an_item(cli: Cli, tmp_path: Path) -> None:
    path = raw(tmp_path, b'{"item": "nobody", "reply": "x"}\n')
    bad(cli("run", "chiaro", "--model", f"scripted:{path}", "--out", tmp_path / "run"), 2, "bad.jsonl", "joint")


def test_scenes_whose_options_are_unknown(cli: Cli, script: str, scenes: Callable[..., Path], tmp_path: Path) -> None:
    data = scenes({"agent_a_emotion": ..., "agent_b_emotion": ...})
    common = ("run", "chiaro", "--data", data, "--model", script)
    bad(cli(*common, "--out", tmp_path / "run"), 2, "s1", "agent_a_polarity", "--protocol open")
    assert cli(*common, "--protocol", "open", "--out", tmp_path / "open", "--json").code == 0


def test_a_folder_of_another_run(cli: Cli, script: str, tmp_path: Path) -> None:
    out = tmp_path / "run"
    common = ("run", "chiaro", "--model", script, "--out", out)
    assert cli(*common, "--limit", "3", "--json").code == 0
    before = (out / "responses.jsonl").read_bytes()
    bad(cli(*common, "--limit", "4"), 2, "belongs to another run", "data.items", "--limit 3")
    bad(cli(*common, "--limit", "3", "--order", "all"), 2, "asking.order")
    assert (out / "responses.jsonl").read_bytes() == before


def test_an_output_place_that_cannot_be_written(cli: Cli, script: str, tmp_path: Path) -> None:
    raw(tmp_path, b"", "file")
    bad(cli("run", "chiaro", "--model", script, "--out", tmp_path / "file"), 2, "file")
    bad(cli("run", "chiaro", "--model", script, "--out", tmp_path / "file" / "run"), 1, "file")


def test_wrong_usage(cli: Cli) -> None:
    for arguments in ((), ("nonsense",), ("run",), ("run", "chiaro"), ("run", "chiaro", "--model")):
        ended = cli(*arguments)
        assert ended.code == 2, arguments
        assert "Traceback" not in ended.err


def test_a_name_that_no_file_can_have_and_memory_that_runs_out(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    ended = cli("score", "a" * 300)
    assert (ended.code, ended.err) == (2, f"Error: A file's name is too long: {'a' * 300}. Choose a shorter one.\n")

    def full(*_: Any, **__: Any) -> Any:
        raise MemoryError("Unable to allocate 9 GiB")

    monkeypatch.setattr("affectlab.runs.score_run", full)
    ended = cli("score", "run")
    assert ended.code == 1
    assert ended.err.startswith("Error: Memory ran out (Unable to allocate 9 GiB). Free some")


def test_debug_shows_the_traceback(cli: Cli) -> None:
    assert "Traceback" in cli("--debug", "labels", "nowhere").err
    assert "Traceback" not in cli("labels", "nowhere").err


def test_a_disk_that_fills_up(tmp_path: Path, cli: Cli, script: str) -> None:
    """A file-size limit stands for the full disk: the write is cut short, then refused. The same command goes on."""
    out = tmp_path / "run"
    arguments = ["run", "chiaro", "--model", script, "--out", str(out), "--json", "--replicates", "20"]
    code = f"import sys; sys.argv = ['affectlab', *{arguments!r}]; from affectlab.cli.main import main; main()"
    full = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000)),
    )
    bad(Ended(full.returncode, full.stdout, full.stderr), 1, "could not be written", "run the same command again")
    kept = (out / "responses.jsonl").read_bytes().count(b"\n")
    assert 0 < kept < 60
    went_on = cli(*arguments)
    assert went_on.code == 0, went_on.err
    assert went_on.json["session"]["asked"] == 60 - kept
    whole = cli(*[str(tmp_path / "whole") if word == str(out) else word for word in arguments])
    assert went_on.json["scores"] == whole.json["scores"]


def _predictions(cli: Cli, script: str, tmp_path: Path) -> list[dict[str, object]]:
    cli("run", "chiaro", "--model", script, "--out", tmp_path / "run", "--limit", "3", "--json", "--replicates", "5")
    return [json.loads(line) for line in (tmp_path / "run/predictions.jsonl").read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"gold": "zzz"}, ["gold 'zzz'", "chiaro10", "slot 'A'"]),
        ({"value": "zzz"}, ["value 'zzz'", "chiaro10"]),
        ({"outcome": "wat"}, ["outcome 'wat'", "unparseable"]),
        ({"slot": "Q"}, ["slot 'Q'", "expected one of A, B"]),
        ({"value": None}, ["ok without a value"]),
        ({"outcome": "empty"}, ["although nothing was read"]),
    ],
)
def test_predictions_that_do_not_fit(
    cli: Cli, script: str, tmp_path: Path, change: dict[str, object], named: list[str]
) -> None:
    rows = _predictions(cli, script, tmp_path)
    path = tmp_path / "theirs.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in [rows[0] | change, *rows[1:]]), encoding="utf-8")
    bad(cli("score", path, "--benchmark", "chiaro"), 2, "theirs.jsonl", *named)


def test_predictions_given_twice_or_not_at_all(cli: Cli, script: str, tmp_path: Path) -> None:
    rows = _predictions(cli, script, tmp_path)
    path = tmp_path / "theirs.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows * 2), encoding="utf-8")
    bad(cli("score", path, "--benchmark", "chiaro"), 2, "the same answer is there twice", "slot 'A'")
    path.write_text("", encoding="utf-8")
    bad(cli("score", path, "--benchmark", "chiaro"), 2, "no rows")


def test_settings_out_of_range(cli: Cli, script: str, tmp_path: Path) -> None:
    common = ("run", "chiaro", "--model", script, "--out", tmp_path / "run")
    for value in ("inf", "nan"):
        ended = cli(*common, "--temperature", value)
        assert ended.code == 2
        assert "temperature" in ended.err.lower()
        assert "bug in affectlab" not in ended.err
    assert not (tmp_path / "run").exists()


def test_a_pipe_is_no_data_file(cli: Cli, script: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.jsonl")
    bad(cli("items", "check", tmp_path / "pipe.jsonl"), 2, "pipe.jsonl", "no regular file")


def test_an_argument_that_is_no_utf8(cli: Cli, script: str) -> None:
    bad(cli("run", "chiaro", "--model", script, "--out", "bad\udcff"), 2, "UTF-8")


def test_a_run_that_never_got_an_answer_gives_its_folder_up(cli: Cli, script: str, tmp_path: Path) -> None:
    out = tmp_path / "run"
    assert (
        cli("run", "chiaro", "--model", script, "--out", out, "--limit", "3", "--json", "--replicates", "5").code == 0
    )
    (out / "responses.jsonl").write_bytes(b"")
    again = cli("run", "chiaro", "--model", script, "--out", out, "--limit", "2", "--json", "--replicates", "5")
    assert again.code == 0, again.err
    assert again.json["manifest"]["data"]["items"] == 2


@pytest.mark.parametrize(
    "change", [('"order": "rotate"', '"order": "fixed"'), ('"protocol": "joint"', '"protocol": "open"')]
)
def test_a_manifest_edited_by_hand_is_not_scored(
    cli: Cli, script: str, tmp_path: Path, change: tuple[str, str]
) -> None:
    out = tmp_path / "run"
    cli("run", "chiaro", "--model", script, "--out", out, "--limit", "3", "--json", "--replicates", "5")
    manifest = out / "manifest.json"
    manifest.write_text(manifest.read_text(encoding="utf-8").replace(*change), encoding="utf-8")
    bad(cli("score", out), 2, "other prompts")


def test_a_response_of_a_wrong_type_is_named(cli: Cli, script: str, tmp_path: Path) -> None:
    out = tmp_path / "run"
    cli("run", "chiaro", "--model", script, "--out", out, "--limit", "3", "--json", "--replicates", "5")
    lines = [json.loads(line) for line in (out / "responses.jsonl").read_text(encoding="utf-8").splitlines()]
    lines[1]["response"]["text"] = 5
    (out / "responses.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    bad(cli("score", out), 2, "responses.jsonl", "line 2", "text is int")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_standard_output() -> None:
    code = "import sys; sys.argv = ['affectlab', 'labels']; from affectlab.cli.main import main; main()"
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(
            [sys.executable, "-c", code], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60, check=False
        )
    bad(Ended(ended.returncode, "", ended.stderr), 1, "no space left")
