"""Deciding on a page: what was seen is what is kept, and only what is open is decided."""

from __future__ import annotations

import re
from typing import Any

import pytest
from starlette.testclient import TestClient
from tests.annotate.support import Running, running, study

from affectlab.annotate import decide
from affectlab.annotate.adjudicate import settle
from affectlab.annotate.store import panels
from affectlab.annotate.store.engine import Store
from affectlab.errors import UserError

DISCUSSED: dict[str, Any] = {"adjudication": {"own_items": True}}


@pytest.fixture
def run(sqlite_store: Store) -> Running:
    return divided(sqlite_store)


def divided(store: Store, **changes: Any) -> Running:
    """Two people who differ in the mood of one text and agree on its strength."""
    found = running(store, study(**changes), items=1)
    for name, role in (("ann", "annotator"), ("bob", "annotator"), ("judge", "adjudicator")):
        found.join(name, role)
    found.answer_all("ann", {"mood": "glad", "strength": 3})
    found.answer_all("bob", {"mood": "sad", "strength": 3})
    return found


def decision(run: Running, client: TestClient, name: str, slot: str = "mood", **fields: str) -> dict[str, Any]:
    """The form of a decision's page as it is now, filled."""
    page = client.get(f"/adjudicate/{slot}/i0").text
    shown = re.search(r'name="shown" value="([0-9a-f]+)"', page)
    assert shown
    return run.form(name, shown=shown[1], **fields)


def letter(client: TestClient, word: str) -> str:
    """Letter under which the page shows an answer."""
    found = re.search(rf"Answer ([A-Z]): <strong>{word}<", client.get("/adjudicate/mood/i0").text)
    assert found
    return found[1]


def gold(run: Running, slot: str = "mood") -> tuple[str, Any]:
    with run.store.read() as conn:
        panel = panels.panel(conn, run.design, "i0")
    assert panel
    found = settle(run.design, run.design.slot[slot], panel)
    return found.status, found.value


def test_a_letter_means_the_answer_that_the_page_showed_under_it(run: Running) -> None:
    judge = run.client("judge")
    glad = letter(judge, "Glad")
    form = decision(run, judge, "judge", choice=glad)
    run.submit("ann", "i0", {"mood": "calm", "strength": 3})
    answer = judge.post("/adjudicate/mood/i0", data={**form, "reason": "I have thought about it."})
    assert answer.status_code == 409
    assert "an answer has changed" in answer.text
    assert "Calm" in answer.text
    assert "I have thought about it." in answer.text
    assert gold(run) == ("disagree", None)
    assert judge.post("/adjudicate/mood/i0", data=run.form("judge", choice=glad)).status_code == 409  # names no page
    again = decision(run, judge, "judge", choice=letter(judge, "Calm"))
    assert judge.post("/adjudicate/mood/i0", data=again).status_code == 303
    assert gold(run) == ("decided", "calm")


def test_only_what_is_open_is_decided_and_a_decision_may_be_changed(run: Running) -> None:
    judge = run.client("judge")
    assert judge.get("/adjudicate/strength/i0").status_code == 409
    assert judge.get("/adjudicate/why/i0").status_code == 409  # kept as it is, never decided
    form = run.form("judge", choice="no_gold")
    answer = judge.post("/adjudicate/strength/i0", data=form)
    assert answer.status_code == 409
    assert "nothing to decide" in answer.text
    assert gold(run, "strength") == ("unanimous", 3)
    for word in ("Glad", "Sad"):
        form = decision(run, judge, "judge", choice=letter(judge, word))
        assert judge.post("/adjudicate/mood/i0", data=form).status_code == 303
        assert gold(run) == ("decided", word.lower())


def test_nobody_overturns_alone_what_all_said(sqlite_store: Store) -> None:
    run = divided(sqlite_store, **DISCUSSED)
    form = run.form("ann", choice="other", reason="I have changed my mind.", **{"s.strength": "1"})
    assert run.client("ann").post("/adjudicate/strength/i0", data=form).status_code == 409
    assert gold(run, "strength") == ("unanimous", 3)


def test_the_command_line_decides_only_what_is_open(run: Running) -> None:
    with run.store.write() as conn:
        with pytest.raises(UserError, match=r"i0\.strength is not open \(unanimous\)"):
            decide.decide_slot(conn, "i0.strength", "1", "so", "judge", 0.0)
        assert decide.decide_slot(conn, "i0.mood", "glad", "", "judge", 0.0) == 1
        assert decide.decide_slot(conn, "i0.mood", "sad", "", "judge", 0.0) == 2
    assert gold(run) == ("decided", "sad")


def test_after_a_discussion_has_begun_answers_stay_as_they_were_given(sqlite_store: Store) -> None:
    run = divided(sqlite_store, **DISCUSSED)
    ann, bob = run.client("ann"), run.client("bob")
    change = {"s__mood": "glad", "s__strength": "3"}
    assert bob.post("/item/i0", data=run.form("bob", **change | {"s__mood": "calm"})).status_code == 303  # still alone
    assert "Glad" in bob.get("/adjudicate/mood/i0").text
    for name, client in (("bob", bob), ("ann", ann)):  # whom bob may have told
        answer = client.post("/item/i0", data=run.form(name, **change | {"s__mood": "sad"}))
        assert answer.status_code == 409
        assert "being discussed" in answer.text
        assert client.post("/skip/i0", data=run.form(name, reason="unclear")).status_code == 409
    assert "no more changes" in bob.get("/item/i0").text
    with run.store.read() as conn:
        moods = [vote.reply.values["mood"] for vote in panels.panels(conn, run.design)[0].votes]
    assert sorted(moods) == ["calm", "glad"]
    form = decision(run, bob, "bob", choice=letter(bob, "Glad"))
    assert bob.post("/adjudicate/mood/i0", data=form).status_code == 303
    assert gold(run) == ("decided", "glad")


def test_the_list_of_what_differs_begins_the_discussion_of_what_is_in_it(sqlite_store: Store) -> None:
    run = running(sqlite_store, study(**DISCUSSED), items=3)
    for name in ("ann", "bob"):
        run.join(name)
    run.answer_all("ann", {"mood": "glad", "strength": 3})
    run.answer_all("bob", {"mood": "sad", "strength": 3})
    run.submit("bob", "i1", {"mood": "glad", "strength": 3})
    bob = run.client("bob")
    for _ in range(2):
        assert bob.get("/adjudicate").text.count("answers differ") == 2
    found = [
        run.client(name).post(f"/item/i{n}", data=run.form(name, s__mood="calm", s__strength="3")).status_code
        for name in ("ann", "bob")
        for n in range(3)
    ]
    assert found == [409, 303, 409] * 2


def test_an_adjudicator_who_looks_keeps_nobody_from_changing_an_answer(run: Running) -> None:
    run.client("judge").get("/adjudicate/mood/i0")
    assert run.submit("ann", "i0", {"mood": "sad", "strength": 3}) == 2


def test_who_joins_an_item_later_may_answer_though_it_is_discussed(store: Store) -> None:
    run = divided(store, **DISCUSSED)
    run.client("bob").get("/adjudicate/mood/i0")
    run.design = study(**DISCUSSED | {"version": 2, "overlap": 3})
    run.join("cleo")
    assert run.answer_all("cleo", {"mood": "sad", "strength": 1}) == ["i0"]


def test_one_decision_leads_to_the_next_that_waits(sqlite_store: Store) -> None:
    run = running(sqlite_store, study(), items=3)
    for name, role in (("ann", "annotator"), ("bob", "annotator"), ("judge", "adjudicator")):
        run.join(name, role)
    run.answer_all("ann", {"mood": "glad", "strength": 3})
    run.answer_all("bob", {"mood": "sad", "strength": 3})
    run.submit("bob", "i1", {"mood": "glad", "strength": 1})  # of the second text they differ in the strength
    judge = run.client("judge")
    here, seen = "/adjudicate/strength/i1", []
    while here != "/adjudicate":
        page = judge.get(here).text
        seen.append(here)
        shown = re.search(r'name="shown" value="([0-9a-f]+)"', page)
        assert shown
        form = run.form("judge", shown=shown[1], choice="no_gold")
        here = judge.post(here.partition("?")[0], data=form).headers["location"]
    # Onward from the second text, then what is before it; each says how many wait.
    assert seen == ["/adjudicate/strength/i1", "/adjudicate/mood/i2?left=2", "/adjudicate/mood/i0?left=1"]
    assert "1 questions wait" in page


def test_a_decision_that_holds_is_shown_with_its_reason(run: Running) -> None:
    judge = run.client("judge")
    form = decision(run, judge, "judge", choice="other", reason="Neither fits.", **{"s.mood": "calm"})
    judge.post("/adjudicate/mood/i0", data=form)
    page = judge.get("/adjudicate/mood/i0").text
    assert "You have decided: Calm." in page
    assert "Neither fits." in page
    run.join("other", "adjudicator")
    assert "Decided: Calm." in run.client("other").get("/adjudicate/mood/i0").text
    run.submit("ann", "i0", {"mood": "sad", "strength": 1})
    page = judge.get("/adjudicate/strength/i0").text
    assert "decided: " not in page


def test_it_is_said_why_somebody_left_the_item_out(run: Running) -> None:
    run.submit("bob", "i0", {}, skipped="broken")
    page = run.client("judge").get("/adjudicate/mood/i0").text
    assert "Left out by 1: broken" in page
    assert "bob" not in page
