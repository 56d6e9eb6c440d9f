"""Forms that are kept until they are sent: whose they are, and when they no longer fit."""

from __future__ import annotations

import re

import pytest
from sqlalchemy import func, select
from tests.annotate.support import Running, running, study

from affectlab.annotate.store import tables as t
from affectlab.annotate.store.engine import Store


@pytest.fixture
def run(store: Store) -> Running:
    found = running(store, study(), items=1)
    for name, role in (("ann", "annotator"), ("bob", "annotator"), ("judge", "adjudicator"), ("other", "adjudicator")):
        found.join(name, role)
    found.answer_all("ann", {"mood": "glad", "strength": 3})
    found.answer_all("bob", {"mood": "sad", "strength": 3})
    return found


def test_a_form_is_kept_for_its_page_and_its_person_only(run: Running) -> None:
    judge = run.client("judge")
    for reason in ("First.", "Second."):
        form = run.form("judge", kept="decision:mood:i0", reason=reason)
        assert judge.post("/keep", data=form).status_code == 204
    assert "Second." in judge.get("/adjudicate/mood/i0").text
    assert "Second." not in run.client("other").get("/adjudicate/mood/i0").text
    judge.post("/keep", data=run.form("judge", kept="decision:strength:i0", reason="Third."))
    page = judge.get("/adjudicate/mood/i0").text
    assert "Second." not in page  # one is kept, of the page last written on
    assert "Third." not in page
    with run.store.read() as conn:
        assert conn.execute(select(func.count()).select_from(t.draft)).scalar() == 1


def test_a_letter_chosen_before_an_answer_changed_is_not_chosen_any_more(run: Running) -> None:
    judge = run.client("judge")
    shown = re.search(r'name="shown" value="([0-9a-f]+)"', judge.get("/adjudicate/mood/i0").text)
    assert shown
    form = run.form("judge", kept="decision:mood:i0", shown=shown[1], choice="A", reason="It says so.")
    judge.post("/keep", data=form)
    assert re.search(r'value="A" checked', judge.get("/adjudicate/mood/i0").text)
    run.submit("ann", "i0", {"mood": "calm", "strength": 3})
    page = judge.get("/adjudicate/mood/i0").text
    assert "It says so." in page
    assert " checked" not in page


def test_only_forms_of_pages_are_kept_and_only_of_those_who_are_signed_in(run: Running) -> None:
    assert run.client("judge").post("/keep", data=run.form("judge", kept="i0")).status_code == 400
    assert run.client("judge").post("/keep", data={"csrf": "forged", "kept": "stage:story"}).status_code == 403
    assert run.client("").post("/keep", data={"kept": "stage:story"}).status_code == 401
