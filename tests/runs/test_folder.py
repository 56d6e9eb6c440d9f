from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.plans import scripted_file, tiny_plan

from affectlab.errors import UserError
from affectlab.items import Item
from affectlab.models import open_model
from affectlab.models.base import Message, Request, Response, Sampling, Usage
from affectlab.runs import execute, read_run
from affectlab.runs.folder import RunFolder, writing
from affectlab.runs.plan import Cell

text = st.text(max_size=40)
responses = st.builds(
    Response,
    text=st.none() | text,
    finish=st.sampled_from(["stop", "length", "filter", "scored"]),
    logprobs=st.none() | st.lists(st.floats(-1e6, 0), max_size=3).map(tuple),
    option_tokens=st.none() | st.lists(st.integers(1, 9), max_size=3).map(tuple),
    reasoning=st.none() | text,
    prompt=st.none() | text,
    usage=st.none() | st.builds(Usage, st.integers(0, 9), st.integers(0, 9), st.none() | st.floats(0, 1)),
    seconds=st.none() | st.floats(0, 100),
    served_by=st.none() | text,
)


@settings(max_examples=60, deadline=None)
@given(st.lists(responses, min_size=1, max_size=6))
def test_responses_come_back_as_they_were(tmp_path_factory: pytest.TempPathFactory, several: list[Response]) -> None:
    run = RunFolder.at(tmp_path_factory.mktemp("run"))
    with run.appending() as out:
        for number, response in enumerate(several):
            out.response(Request(f"i{number}", "joint", (Message("user", "?"),)), response)
    answers = run.answers()
    assert [answers.by_cell[Cell("neutral", 0, f"i{number}")]["", "joint"] for number in range(len(several))] == several
    assert (answers.total, answers.torn, answers.doubled) == (len(several), 0, 0)


def test_items_come_back_as_they_were(tmp_path: Path) -> None:
    items = (
        Item(
            "ü\n1",
            0,
            {"sentence": "x"},
            {"A": "joy", "level": 3, "set": ("a", "b"), "share": {"joy": 0.5}},
            {"mode": "m"},
            "c",
        ),
        Item("2", 1, {}, {}),
    )
    run = RunFolder.at(tmp_path)
    run.write_items(items)
    assert run.items() == items


def test_of_two_responses_to_one_request_the_first_counts(tmp_path: Path) -> None:
    run = RunFolder.at(tmp_path)
    request = Request("a", "joint", (Message("user", "?"),), sampling=Sampling())
    with run.appending() as out:
        out.response(request, Response("first"))
        out.response(request, Response("second"))
    answers = run.answers()
    assert answers.doubled == 1
    assert answers.by_cell[Cell("neutral", 0, "a")]["", "joint"].text == "first"


def test_a_broken_line_in_the_middle_is_named(tmp_path: Path) -> None:
    run = RunFolder.at(tmp_path)
    with run.appending() as out:
        out.response(Request("a", "joint", ()), Response("x"))
    whole = run.responses_path.read_bytes()
    run.responses_path.write_bytes(b'{"item": "a"\n' + whole)
    with pytest.raises(UserError, match=r"responses\.jsonl, line 1"):
        run.answers()


def test_a_torn_line_is_cut_before_appending(tmp_path: Path) -> None:
    run = RunFolder.at(tmp_path)
    with run.appending() as out:
        out.response(Request("a", "joint", ()), Response("x"))
    whole = run.responses_path.read_bytes()
    for torn in (whole[:-1], whole + whole[:50], b"{", b"\xff" * 70000):
        run.responses_path.write_bytes(torn)
        assert run.answers().torn == 1
        with run.appending() as out:
            out.response(Request("b", "joint", ()), Response("y"))
        rows = [json.loads(line) for line in run.responses_path.read_bytes().splitlines()]
        assert rows[-1]["item"] == "b"
        assert [row["item"] for row in rows[:-1]] == (["a"] if torn.startswith(whole) else [])


@pytest.mark.parametrize(
    ("content", "named"), [("{", "is broken"), ("[]", "is broken"), ('{"schema": 99}', "schema 99")]
)
def test_a_manifest_that_cannot_be_used(tmp_path: Path, content: str, named: str) -> None:
    (tmp_path / "manifest.json").write_text(content)
    with pytest.raises(UserError, match=named):
        RunFolder.at(tmp_path).manifest()


def test_no_run_here(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="not a run folder"):
        RunFolder.at(tmp_path).manifest()
    with pytest.raises(UserError, match="not a run folder"):
        RunFolder.at(tmp_path / "nowhere").manifest()


def test_files_are_replaced_whole(tmp_path: Path) -> None:
    run = RunFolder.at(tmp_path)
    run.write_manifest({"schema": 1, "a": "é"})
    run.write_manifest({"schema": 1, "b": 2})
    assert run.manifest() == {"schema": 1, "b": 2}
    assert [entry.name for entry in tmp_path.iterdir()] == ["manifest.json"]


@pytest.mark.parametrize("damage", [{"data": None}, {"asking": {"order": "rotate", "odd": 1}}, {"conditions": 3}])
def test_a_manifest_with_a_wrong_field_is_no_bug(tmp_path: Path, damage: dict[str, object]) -> None:
    plan = tiny_plan(["a"])
    run = RunFolder.at(tmp_path / "run")
    execute(plan, open_model(f"scripted:{scripted_file(tmp_path / 'replies.jsonl', plan)}"), run)
    run.write_manifest({**run.manifest(), **damage})
    with pytest.raises(UserError, match=r"manifest\.json( of .*)? is broken"):
        read_run(run.path)


@pytest.mark.parametrize("content", [None, "", '{"id": "a"', "[]\n"])
def test_damaged_items_are_no_bug(tmp_path: Path, content: str | None) -> None:
    plan = tiny_plan(["a"])
    run = RunFolder.at(tmp_path / "run")
    execute(plan, open_model(f"scripted:{scripted_file(tmp_path / 'replies.jsonl', plan)}"), run)
    run.items_path.unlink() if content is None else run.items_path.write_text(content)
    with pytest.raises(UserError):
        read_run(run.path)


def test_what_cannot_be_written_says_whether_the_folder_is_there(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"there is no folder .*away\. Make it first"), writing(tmp_path / "away" / "x"):
        raise FileNotFoundError
    with pytest.raises(UserError, match="takes no new files"), writing(tmp_path / "x"):  # /proc, for one
        raise FileNotFoundError


def test_a_file_of_a_run_that_is_a_link_stays_one(tmp_path: Path) -> None:
    run, elsewhere = RunFolder.at(tmp_path), tmp_path / "elsewhere.json"
    run.scores_path.symlink_to(elsewhere)
    run.write_scores({"neutral": 1})
    assert run.scores_path.is_symlink()
    assert json.loads(elsewhere.read_text(encoding="utf-8")) == {"neutral": 1}
