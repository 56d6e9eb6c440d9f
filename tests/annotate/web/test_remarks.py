"""What reaches the administrator of what annotators say about items."""

from __future__ import annotations

import html
import re

import pytest
from tests.annotate.support import Running, running, study

from affectlab.annotate.store import replies
from affectlab.annotate.store.engine import Store
from affectlab.annotate.store.replies import Submit
from affectlab.annotate.values import Reply


@pytest.fixture
def run(sqlite_store: Store) -> Running:
    """Ann and Bob agree on i0, which both flag with a comment; Ann leaves i1 out, and both differ on i2."""
    run = running(sqlite_store, study(adjudication={"own_items": False}), items=3)
    for name, role in (("ann", "annotator"), ("bob", "annotator"), ("boss", "admin")):
        run.join(name, role)
    for name, other in (("ann", "glad"), ("bob", "sad")):
        while (item := run.claim(name)) is not None:
            if item == "i1" and name == "ann":
                reply = Reply(comment="half of it is missing", skipped="broken")
            else:
                mood = "calm" if item == "i0" else other
                said = f"typo, says {name}" if item == "i0" else ""
                reply = Reply({"mood": mood, "strength": 3}, comment=said, flag=item == "i0")
            with run.store.write() as conn:
                who = item, run.persons[name].id
                replies.submit(conn, run.design, who, reply, Submit(f"key-{item}-{name}"), run.store.now())
    return run


def seen(run: Running, path: str) -> str:
    """Text of a page as the administrator sees it, spaces joined."""
    page = run.client("boss").get(path)
    assert page.status_code == 200
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page.text.split("<main", 1)[1])).split())


def test_flags_comments_and_reasons_reach_the_administrator_though_all_agree(run: Running) -> None:
    said = seen(run, "/admin").split("What annotators say", 1)[1]
    assert "i0 Text number 0 of all. ann: Flagged typo, says ann bob: Flagged typo, says bob" in said
    assert "i1 Text number 1 of all. ann: Left out (broken) half of it is missing" in said
    assert "i2" not in said  # nobody said anything
    assert 'href="/admin/items/i0"' in run.client("boss").get("/admin").text


def test_an_items_page_shows_its_text_all_answers_and_what_came_of_them(run: Running) -> None:
    page = seen(run, "/admin/items/i0")
    assert "Text number 0 of all." in page
    assert "typo, says bob" in page
    assert "Which mood? Calm Calm all agree: Calm" in page
    assert "Which mood? – Sad at most one answer" in seen(run, "/admin/items/i1")
    assert "Which mood? Glad Sad answers differ" in seen(run, "/admin/items/i2")
    assert run.client("boss").get("/admin/items/nothing").status_code == 404


def test_people_are_counted_as_in_status_and_on_their_sheets(run: Running) -> None:
    from affectlab.annotate.status import project_status

    with run.store.read() as conn:
        counts = {one["name"]: (one["answered"], one["skipped"]) for one in project_status(conn)["people"]}
    assert counts == {"ann": (2, 1), "bob": (3, 0), "boss": (0, 0)}
    page = run.client("boss").get("/admin").text
    rows = re.findall(r"<tr><td>(\w+) .*?<td class=\"figure\">(\d+)</td><td class=\"figure\">(\d+)</td>", page)
    assert {name: (int(answered), int(skipped)) for name, answered, skipped in rows} == counts
