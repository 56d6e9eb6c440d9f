"""What is written outside items - interview, questionnaires, practice, decisions - is not lost either."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import delete, select
from tests.annotate.browser.conftest import Site, shot, until
from tests.annotate.support import STUDY, study

from affectlab.annotate.adjudicate import settle
from affectlab.annotate.store import panels
from affectlab.annotate.store import tables as t

pytestmark = [pytest.mark.browser, pytest.mark.slow]

Serve = Callable[..., Site]

STATE = "[data-kept]"
SAVED = f"{STATE}:has-text('Saved as a draft')"
STORY = """
[story]
text = "Tell something of your own."

[[story.steps]]
id = "event"
names = "what happened"
question = "What happened?"

[[story.steps]]
id = "outcome"
names = "how it ended"
question = "How did it end?"
"""
ASKED = """
[[questionnaires]]
id = "you"
title = "About you"

[[questionnaires.slots]]
id = "calm"
kind = "scale"
title = "I stay calm."
low = 1
high = 5

[[questionnaires.slots]]
id = "words"
kind = "text"
title = "In your own words?"

[training]
text = "Practise."
attempts = 2

[[training.items]]
id = "train-1"
fields = { text = "She smiled." }
expected = { mood = "glad" }
"""
TOLD = "We missed the last train home and stood there. " * 7


def signed_out(site: Site) -> None:
    with site.run.store.write() as conn:
        conn.execute(delete(t.session))


def drafts(site: Site) -> list[str]:
    with site.run.store.read() as conn:
        return list(conn.execute(select(t.draft.c.item)).scalars())


def gold(site: Site) -> tuple[str, Any]:
    with site.run.store.read() as conn:
        panel = panels.panel(conn, site.run.design, "i0")
    assert panel
    found = settle(site.run.design, site.run.design.slot["mood"], panel)
    return found.status, found.value


def test_a_story_outlives_the_end_of_a_session_and_a_reload(serve: Serve) -> None:
    site = serve(study(STUDY + STORY))
    page = site.window("ann")
    signed_out(site)
    page.fill("#answer", TOLD)
    page.wait_for_selector(f"{STATE}.problem:has-text('Not saved: you are signed out')")
    page.click("button:has-text('Continue')")
    page.wait_for_timeout(300)
    assert page.url.endswith("/stage/story")
    assert page.input_value("#answer") == TOLD
    assert page.get_attribute(f"{STATE} a", "target") == "_blank"
    shot(page, "story-session-over", full=False)
    page.context.add_cookies([site.cookie("ann")])  # signed in again, in another tab
    page.evaluate("window.dispatchEvent(new Event('focus'))")
    page.wait_for_selector(SAVED)
    page.reload()
    assert page.input_value("#answer") == TOLD
    assert "not submitted" in page.inner_text(STATE)
    page.click("button:has-text('Continue')")
    page.wait_for_selector("text=Step 2 of 2")
    assert page.input_value("#answer") == ""  # not the answer to the question before
    page.fill("#answer", TOLD)
    page.click("button:has-text('Continue')")  # at once: it is kept before it is sent
    page.wait_for_selector("#story")
    page.fill("#story", TOLD + "I laughed.")
    page.wait_for_selector(SAVED)
    page.reload()
    assert page.input_value("#story") == TOLD + "I laughed."
    page.click("button:has-text('This is my story')")
    page.wait_for_selector("#work")
    assert "kept:stage" not in drafts(site)


def test_a_server_that_goes_away_costs_no_answer_of_a_questionnaire(serve: Serve) -> None:
    site = serve(study(STUDY + ASKED))
    page = site.window("ann")
    page.check("input[name='s.calm'][value='4']")
    page.wait_for_selector(SAVED)
    site.stop()
    page.fill("textarea[name='s.words']", "Quite so.")
    page.click("#submit")
    page.wait_for_selector(f"{STATE}.problem:has-text('cannot be reached')")
    assert page.input_value("textarea[name='s.words']") == "Quite so."
    site.start()
    page.wait_for_selector(SAVED)
    page.reload()
    assert page.is_checked("input[name='s.calm'][value='4']")
    assert page.input_value("textarea[name='s.words']") == "Quite so."
    page.dblclick("#submit")
    page.wait_for_selector("h1:has-text('Practice')")
    with site.run.store.read() as conn:
        rounds = panels.stages_of(conn, site.run.persons["ann"].id)["q.you"]
    assert [one["values"] for one in rounds] == [{"calm": 4, "words": "Quite so."}]

    page.check("input[name='t.train-1.s.mood'][value=sad]")
    page.wait_for_selector(SAVED)
    page.reload()
    assert page.is_checked("input[name='t.train-1.s.mood'][value=sad]")
    page.check("input[name='t.train-1.s.strength'][value='2']")
    page.click("#submit")
    page.click("a:has-text('Continue')")
    page.wait_for_selector("text=Round 2 of 2")
    assert page.query_selector("form[data-keys] input:checked") is None  # a round of its own


def test_an_adjudicator_loses_nothing(serve: Serve) -> None:
    site = serve(study(), items=1, people=("ann", "bob", "judge"))
    for name, mood in (("ann", "glad"), ("bob", "sad")):
        site.run.answer_all(name, {"mood": mood, "strength": 3})
    page = site.window("judge", "/adjudicate/mood/i0")
    page.fill("#reason", "Both are wrong.")
    page.click("button:has-text('Decide')")
    page.wait_for_selector("[role=alert]:has-text('choose an answer')")
    assert page.input_value("#reason") == "Both are wrong."
    assert not page.is_visible("input[name='s.mood'][value=calm]")
    page.check("input[name=choice][value=other]")
    page.click("button:has-text('Decide')")
    page.wait_for_selector("[role=alert]:has-text('which other answer')")
    page.check("input[name='s.mood'][value=calm]")  # its options are open
    page.check("input[name=choice][value=A]")
    assert not page.is_visible("input[name='s.mood'][value=calm]")
    page.click("#other summary")
    page.check("input[name='s.mood'][value=glad]")
    page.check("input[name='s.mood'][value=calm]")
    assert page.is_checked("input[name=choice][value=other]")
    page.fill("#note", "I asked them.")
    page.click("button:has-text('Add a note')")
    page.wait_for_selector("li:has-text('I asked them.')")
    assert page.input_value("#note") == ""
    signed_out(site)
    page.fill("#reason", "Both are wrong, I asked.")
    page.click("button:has-text('Decide')")
    page.wait_for_selector(f"{STATE}.problem:has-text('Not saved')")
    assert gold(site) == ("disagree", None)
    page.context.add_cookies([site.cookie("judge")])
    page.evaluate("window.dispatchEvent(new Event('focus'))")
    page.wait_for_selector(SAVED)
    page.reload()
    assert page.input_value("#reason") == "Both are wrong, I asked."
    assert page.is_checked("input[name=choice][value=other]")
    assert page.is_checked("input[name='s.mood'][value=calm]")
    shot(page, "decision-restored")
    page.click("button:has-text('Decide')")
    page.wait_for_selector("text=Nothing is waiting")
    assert gold(site) == ("decided", "calm")
    until(lambda: drafts(site) == [])


def test_decisions_by_keyboard(serve: Serve) -> None:
    site = serve(study(), items=3, people=("ann", "bob", "judge"))
    for name, mood in (("ann", "glad"), ("bob", "sad")):
        site.run.answer_all(name, {"mood": mood, "strength": 3})
    page = site.window("judge", "/adjudicate/mood/i0")
    page.keyboard.press("b")
    assert page.is_checked("input[name=choice][value=B]")
    page.keyboard.press("-")
    assert page.is_checked("input[name=choice][value=no_gold]")
    page.focus("#reason")
    page.keyboard.type("a - b + 3")  # all of it is text
    assert page.input_value("#reason") == "a - b + 3"
    assert page.is_checked("input[name=choice][value=no_gold]")
    page.keyboard.press("Escape")
    page.keyboard.press("+")
    page.keyboard.press("3")
    assert page.is_checked("input[name='s.mood'][value=calm]")
    page.keyboard.press("Enter")
    page.wait_for_url("**/adjudicate/mood/i1?left=2")
    assert gold(site) == ("decided", "calm")
    assert "2 questions wait" in page.inner_text("main")
    page.keyboard.press("a")
    page.keyboard.press("Enter")
    page.wait_for_url("**/adjudicate/mood/i2?left=1")
    page.go_back()
    assert "You have decided" in page.inner_text("main")
    shot(page, "decision-standing")
