"""CAREBench's first stage through the pages, and the records that come of both stages."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select
from starlette.testclient import TestClient
from tests.annotate.support import Running

from affectlab.annotate.design import Design
from affectlab.annotate.design_file import read_design
from affectlab.annotate.export import Wish, write_export
from affectlab.annotate.store import panels, project, replies
from affectlab.annotate.store import tables as t
from affectlab.annotate.store.engine import Store
from affectlab.annotate.web.app import make_app
from affectlab.annotate.web.asking import limited
from affectlab.annotate.web.visit import COOKIE, Ask
from affectlab.errors import UserError
from affectlab.models.base import Message

TOLD = {
    "event": "We missed the last train home and stood on the platform.",
    "cause": "The meeting ran an hour late.",
    "people": "My sister had come to meet me.",
    "outcome": "We shared a taxi in the end.",
}


@pytest.fixture
def run(sqlite_store: Store) -> Running:
    design = read_design("care")
    with sqlite_store.write() as conn:
        project.start_project(conn, design, 0, sqlite_store.now())
    found = Running(sqlite_store, design)
    for name in ("ann", "bob"):
        person = found.join(name)
        with sqlite_store.write() as conn:
            for stage in ("consent", "instructions"):
                panels.add_stage(conn, person.id, stage, {"agreed": True}, 0.0)
            body = {"values": {"age": 40}, "scores": {}}
            panels.add_stage(conn, person.id, "q.demographics", body, 0.0)
            panels.add_stage(conn, person.id, "q.bigfive10", {"values": {}, "scores": {"openness": 4.0}}, 0.0)
    return found


def tell(run: Running, client: TestClient) -> str:
    """Answers every question of the interview; the page with the story to edit."""
    for _ in range(20):
        page = client.get("/stage/story").text
        asked = re.search(r'name="question" value="([^"]*)"', page)
        if asked is None:
            return page
        step = re.search(r"Step (\d)", page)
        assert step
        answer = list(TOLD.values())[int(step[1]) - 1]
        question = asked[1].replace("&#39;", "'")
        client.post("/stage/story", data=run.form("ann", question=question, answer=answer))
    raise AssertionError("the interview does not end")


def chain(run: Running, item: str) -> dict[str, Any]:
    with run.store.read() as conn:
        unit = project.unit_of(conn, item)
    assert unit is not None
    fields: dict[str, Any] = {}
    for slot in run.design.slots:
        options = unit.options.get(slot.id, ())
        if slot.kind == "text":
            fields[f"s.{slot.id}"] = "It mattered a great deal to me."
        elif slot.kind == "scale":
            fields[f"s.{slot.id}"] = str(options[1].level)
        else:
            fields[f"s.{slot.id}"] = [options[0].id, options[2].id]
    return fields


def test_a_story_is_told_approved_answered_and_observed_by_others(run: Running, tmp_path: Path) -> None:
    client = run.client("ann")
    assert client.get("/work").headers["location"] == "/stage/story"
    page = tell(run, client)
    assert "language model" not in page
    for words in TOLD.values():
        assert words in page
    assert client.post("/stage/story", data=run.form("ann", story="Too short.")).status_code == 422
    story = " ".join(TOLD.values()) + " I laughed."
    client.post("/stage/story", data=run.form("ann", story=story))
    own = client.get("/work").headers["location"]
    assert story in client.get(own).text
    assert run.claim("bob") is None  # not before its writer has answered
    item = own.removeprefix("/item/")
    assert client.post(own, data=run.form("ann") | chain(run, item)).status_code == 303
    assert run.claim("ann") is None
    other = run.client("bob")
    with run.store.write() as conn:
        panels.add_stage(conn, run.persons["bob"].id, "story", {"over": True}, 0.0)
    theirs = other.get("/work").headers["location"]
    assert theirs == own
    assert run.persons["ann"].id not in other.get(theirs).text
    assert other.post(theirs, data=run.form("bob") | chain(run, item)).status_code == 303

    out = tmp_path / "care.jsonl"
    with run.store.read() as conn:
        assert "1 stories" in write_export(conn, out, Wish("benchmark"))
    (row,) = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    assert row["persona"] == {"age": 40, "big five": {"openness": 4.0}}
    assert len(row["observers"]) == 1
    from affectlab.benchmarks import open_benchmark

    (loaded,) = open_benchmark("care").load(str(out), {}, {})
    assert loaded.inputs["story"] == story
    assert loaded.gold["relevance.general"] == 2
    assert loaded.gold["positive_labels"] == ("hopeful_optimistic_encouraged", "glad_happy_joyful")


def test_a_strict_export_waits_for_observers_but_not_of_stories_left_out(run: Running, tmp_path: Path) -> None:
    client = run.client("ann")
    tell(run, client)
    client.post("/stage/story", data=run.form("ann", story=" ".join(TOLD.values())))
    own = client.get("/work").headers["location"]
    item = own.removeprefix("/item/")
    out = tmp_path / "long.jsonl"
    with run.store.read() as conn, pytest.raises(UserError, match=rf"1 of 1 items wait for answers: {item} \(0 of 5\)"):
        write_export(conn, out, Wish("long", strict=True))
    assert not out.exists()
    with run.store.read() as conn, pytest.raises(UserError, match="has no gold"):
        write_export(conn, out, Wish("gold"))
    reason = run.design.skip_reasons[0].id
    assert client.post(f"/skip/{item}", data=run.form("ann", reason=reason)).status_code == 303
    with run.store.read() as conn:
        assert write_export(conn, out, Wish("long", strict=True)) == "0 rows"


def test_labels_that_are_renamed_stay_in_the_writers_record(run: Running, tmp_path: Path) -> None:
    client = run.client("ann")
    tell(run, client)
    client.post("/stage/story", data=run.form("ann", story=" ".join(TOLD.values())))
    own = client.get("/work").headers["location"]
    client.post(own, data=run.form("ann") | chain(run, own.removeprefix("/item/")))
    body = run.design.model_dump(mode="json") | {"version": 2}
    options = next(slot["options"] for slot in body["slots"] if slot["id"] == "positive_labels")
    before, options[0]["id"] = options[0]["id"], "renamed"
    with run.store.write() as conn:
        mapping = {"positive_labels": {before: "renamed"}}
        project.replace_design(conn, Design.model_validate(body), mapping, run.store.now())
    with run.store.read() as conn:
        write_export(conn, tmp_path / "care.jsonl", Wish("benchmark"))
    row = json.loads((tmp_path / "care.jsonl").read_text("utf-8"))
    chosen = [options[place]["names"]["en"] for place in (0, 2)]  # as chain() chooses
    assert row["emotion_labels"]["positive_emotion_labels"] == chosen


def test_nobody_must_tell_a_story(run: Running) -> None:
    client = run.client("ann")
    client.post("/stage/story", data=run.form("ann", none="1"))
    assert "nothing left" in client.get("/work").text


def test_an_answer_sent_twice_is_one_answer(run: Running) -> None:
    client = run.client("ann")
    page = client.get("/stage/story").text
    asked = re.search(r'name="question" value="([^"]*)"', page)
    assert asked
    form = run.form("ann", question=asked[1], answer=TOLD["event"])
    client.post("/stage/story", data=form)
    client.post("/stage/story", data=form)
    assert "Step 2 of 4" in client.get("/stage/story").text


def modelled(run: Running, ask: Ask) -> TestClient:
    client = TestClient(make_app(run.store, ask=ask), base_url="http://localhost", follow_redirects=False)
    client.cookies.set(COOKIE, run.client("ann").cookies[COOKIE])
    return client


def test_a_model_asks_further_and_its_words_are_not_the_writers(run: Running) -> None:
    heard: list[str] = []

    def ask(messages: Sequence[Message], most: int) -> str | None:
        heard.append(messages[-1].content)
        if "one story" in messages[-1].content:
            return "I was heartbroken, furious and utterly abandoned by everybody that night."
        return "How long did you wait?" if len(heard) == 1 else "TOLD"

    client = modelled(run, ask)
    page = tell(run, client)
    assert "language model" in page
    assert "How long did you wait?" in page
    assert "heartbroken" not in page
    assert TOLD["outcome"] in page
    assert len(heard) == 6  # after each of five answers, and for the story


def test_a_model_that_does_not_answer_leaves_the_fixed_questions(run: Running) -> None:
    page = tell(run, modelled(run, lambda messages, most: None))
    assert TOLD["event"] in page
    with run.store.read() as conn:
        assert replies.current(conn) == []


def answer_first(run: Running, client: TestClient, name: str = "ann") -> Any:
    asked = re.search(r'name="question" value="([^"]*)"', client.get("/stage/story").text)
    assert asked
    question = asked[1].replace("&#39;", "'")
    return client.post("/stage/story", data=run.form(name, question=question, answer=TOLD["event"]))


def test_while_a_model_thinks_nobody_waits(run: Running) -> None:
    asked, go_on = threading.Event(), threading.Event()

    def ask(messages: Sequence[Message], most: int) -> str | None:
        asked.set()
        assert go_on.wait(30)
        return "How long did you wait?"

    client = modelled(run, ask)
    with ThreadPoolExecutor(1) as pool:
        waits = pool.submit(answer_first, run, client)
        try:
            assert asked.wait(30)
            started = time.monotonic()
            other = run.client("bob")
            answer_first(run, other, "bob")
            assert "Step 2 of 4" in other.get("/stage/story").text
            taken = time.monotonic() - started
        finally:
            go_on.set()
        assert waits.result().status_code == 303
    assert taken < 10  # the writers' lock would have kept bob for thirty seconds
    assert "How long did you wait?" in client.get("/stage/story").text


def test_a_models_question_is_dropped_when_the_writer_has_gone_on_meanwhile(run: Running) -> None:
    def ask(messages: Sequence[Message], most: int) -> str | None:
        client.post("/stage/story", data=run.form("ann", none="1"))  # from another window
        return "How long did you wait?"

    client = modelled(run, ask)
    assert answer_first(run, client).status_code == 303
    assert client.get("/stage/story").headers["location"] == "/work"
    with run.store.read() as conn:
        assert conn.execute(select(t.draft.c.item)).all() == []


def test_a_model_that_takes_too_long_or_fails_is_no_model(caplog: pytest.LogCaptureFixture) -> None:
    go_on = threading.Event()

    def slow(messages: Sequence[Message], most: int) -> str | None:
        assert go_on.wait(30)
        return "late"

    def broken(messages: Sequence[Message], most: int) -> str | None:
        raise UserError("The key is wrong.")

    asked = limited(slow, longest_s=0.05, most_waiting=1)
    assert asked([], 1) is None
    assert "has not replied within 0.05 seconds" in caplog.text
    assert asked([], 1) is None
    assert "an earlier reply is not there" in caplog.text
    go_on.set()
    assert limited(slow, longest_s=30)([], 1) == "late"
    assert limited(broken)([], 1) is None
    assert "The key is wrong." in caplog.text


def test_no_more_people_wait_for_a_model_than_there_is_room_for(caplog: pytest.LogCaptureFixture) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def slow(messages: Sequence[Message], most: int) -> str | None:
        begun.set()
        assert go_on.wait(30)
        return "said"

    asked = limited(slow, longest_s=30, most_waiting=1)
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(asked, [], 1)
        assert begun.wait(30)
        assert asked([], 1) is None
        assert "1 people wait for it already" in caplog.text
        go_on.set()
        assert first.result() == "said"


def test_the_address_of_a_story_does_not_say_whose_it_is(run: Running) -> None:
    client = run.client("ann")
    tell(run, client)
    client.post("/stage/story", data=run.form("ann", story=" ".join(TOLD.values())))
    own = client.get("/work").headers["location"]
    assert own.startswith("/item/story-")
    assert run.persons["ann"].id not in own
