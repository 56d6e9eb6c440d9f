"""Keys in a real browser: dialogs, spans, practice, going back; and where the page stands when it opens."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import select
from tests.annotate.browser.conftest import Site, shot, until
from tests.annotate.support import study

from affectlab.annotate.design_file import read_design
from affectlab.annotate.sources import read_units
from affectlab.annotate.store import panels, project
from affectlab.annotate.store import tables as t

pytestmark = [pytest.mark.browser, pytest.mark.slow]

Serve = Callable[..., Site]


def stored(site: Site) -> list[dict[str, Any]]:
    """Bodies of all answers, oldest first."""
    with site.run.store.read() as conn:
        return [dict(body) for body in conn.execute(select(t.response.c.body).order_by(t.response.c.at)).scalars()]


def test_enter_in_the_leave_out_dialog_leaves_the_item_out(serve: Serve) -> None:
    site = serve(study())
    page = site.window("ann")
    page.keyboard.press("1")
    page.keyboard.press("2")  # all that is asked is answered: #submit would submit it
    page.keyboard.press("Escape")
    page.keyboard.press("s")
    page.wait_for_selector("#skip-dialog[open]")
    page.keyboard.press("Enter")  # no reason yet
    page.wait_for_selector("#skip-reason:visible")
    assert page.is_visible("#skip-dialog[open]")
    assert stored(site) == []
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_selector(".progress:has-text('0 done, 1 left out')")
    assert [(one["skipped"], one["values"]) for one in stored(site)] == [("broken", {})]
    page.keyboard.press("s")
    page.click("#skip-dialog button:has-text('Leave it out')")
    page.wait_for_selector("#skip-reason:visible")
    shot(page, "skip-without-reason", full=False)
    assert len(stored(site)) == 1


def test_on_a_phone_every_item_opens_at_its_text(serve: Serve) -> None:
    design = read_design("chiaro")
    site = serve(design, items=0)
    with site.run.store.write() as conn:
        project.add_units(conn, design, read_units(design, "src/affectlab/benchmarks/chiaro/sample.jsonl")[:5], 0)
        for stage in ("consent", "instructions", "training"):
            panels.add_stage(conn, site.run.persons["ann"].id, stage, {"agreed": True, "passed": True}, 0.0)
    page = site.window("ann", width=360, height=640)
    top = "[scrollY, Math.round(document.querySelector('article').getBoundingClientRect().top + scrollY)]"
    opened = page.evaluate(top)
    assert opened[0] == 0
    assert 0 < opened[1] < 300  # under the head of the page, in the window
    shot(page, "phone-opens", full=False)
    page.check("fieldset.slot:not([data-kind=derived]) input >> nth=0")
    page.wait_for_selector("#state .fine")
    page.goto(page.url)  # with a draft the next question lies further down still
    assert page.evaluate(top)[0] == 0
    page.click("#submit")
    page.wait_for_selector("fieldset.wrong")
    until(lambda: 0 <= page.evaluate("document.querySelector('fieldset.wrong').getBoundingClientRect().top") < 640)


def test_back_saves_first_and_keeps_times_out_of_the_address(serve: Serve) -> None:
    site = serve(study())
    page = site.window("ann")
    first = page.url
    for key in ("1", "2", "Escape", "Enter"):
        page.keyboard.press(key)
    page.wait_for_selector(".progress:has-text('1 done')")
    second = page.url
    page.evaluate("""() => {  // a choice, a comment and Back, with no time between them for a draft to go out by itself
      document.querySelector("input[name='s.mood'][value=calm]").click();
      const comment = document.getElementById("comment");
      comment.value = "typo";
      comment.dispatchEvent(new Event("input", { bubbles: true }));
      document.getElementById("back").click();
    }""")
    page.wait_for_selector("#state:has-text('Submitted')")
    assert page.url == first
    page.click("text=Forward")
    page.wait_for_selector("#state:has-text('Draft')")
    assert page.url == second
    assert page.is_checked("input[name='s.mood'][value=calm]")
    assert page.input_value("#comment") == "typo"


def test_back_stays_where_it_cannot_save(serve: Serve) -> None:
    site = serve(study())
    page = site.window("ann")
    for key in ("1", "2", "Escape", "Enter"):
        page.keyboard.press(key)
    page.wait_for_selector(".progress:has-text('1 done')")
    here = page.url
    site.stop()
    page.keyboard.press("3")
    page.click("#back")
    page.wait_for_selector("#state .problem:has-text('cannot be reached')")
    assert page.url == here
    assert page.is_checked("input[name='s.mood'][value=calm]")
    site.start()
    page.wait_for_selector("#state .fine")  # tried again by itself
    page.click("#back")
    page.wait_for_selector("#state:has-text('Submitted')")


SPANS = """
name = "spans"
title = "Spans"
skip_reasons = [{ id = "unclear", names = "unclear" }]
guidelines = { version = "1", text = "Read." }
shown = [{ field = "text", main = true }]

[[slots]]
id = "which"
kind = "label_set"
title = "Which?"
labels = "basic6_neutral"

[[slots]]
id = "where"
kind = "span"
field = "text"
title = "Where?"
"""


def test_spans_and_none_of_these_by_keyboard(serve: Serve) -> None:
    site = serve(study(SPANS), items=1)
    page = site.window("ann")
    page.keyboard.press("1")
    page.keyboard.press("-")  # none of these
    assert page.eval_on_selector_all("input:checked", "all => all.map(one => one.value)") == ["-none-"]
    page.keyboard.press("Enter")  # on to the question with the text
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.dataset.spans") == "where"
    page.keyboard.press("Control+Home")
    for _ in range(4):
        page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("Enter")
    assert page.inner_text("[data-marked] q").strip('“”"') == "Text"
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Control+Shift+ArrowRight")
    page.keyboard.press("Enter")
    assert page.eval_on_selector_all("[data-marked] q", "all => all.map(one => one.textContent.trim())") == [
        "Text",
        "number",
    ]
    # Nothing that is typed, pasted, cut or composed changes the text.
    page.keyboard.type("xyz")
    page.keyboard.press("Control+a")
    page.keyboard.press("Control+x")
    page.keyboard.press("Control+v")
    page.keyboard.press("Delete")
    cdp = page.context.new_cdp_session(page)
    cdp.send("Input.imeSetComposition", {"text": "好", "selectionStart": 1, "selectionEnd": 1})
    cdp.send("Input.insertText", {"text": "好"})
    assert page.input_value("[data-spans]") == "Text number 0 of all."
    shot(page, "spans")
    page.keyboard.press("ArrowRight")  # nothing selected: Enter goes on
    page.keyboard.press("Enter")
    page.wait_for_selector("text=nothing left")
    assert stored(site)[0]["values"] == {
        "which": [],
        "where": [{"start": 0, "end": 4, "text": "Text"}, {"start": 5, "end": 11, "text": "number"}],
    }


def test_practice_takes_the_same_keys_and_shows_ones_own_answers(serve: Serve) -> None:
    site = serve(read_design("chiaro"), items=0)
    for stage in ("consent", "instructions"):
        with site.run.store.write() as conn:
            panels.add_stage(conn, site.run.persons["ann"].id, stage, {"agreed": True}, 0.0)
    page = site.window("ann")
    assert page.url.endswith("/stage/training")
    page.keyboard.press("?")
    page.wait_for_selector("#keys[open]")
    listed = page.eval_on_selector_all("#keys th kbd", "all => all.map(one => one.textContent)")
    assert listed == ["?", "u", "g", "Enter", "Esc", "n", "p"]
    page.keyboard.press("Escape")
    assert page.evaluate("scrollY") == 0
    for key in "s3111":  # s does nothing here; the third of A's five, then the first of each other question
        page.keyboard.press(key)
    page.keyboard.press("u")
    page.keyboard.press("2")
    checked = "all => all.map(one => [one.name, one.closest('.option').querySelector('kbd').textContent])"
    assert page.eval_on_selector_all("form[data-keys] input:checked", checked) == [
        ["t.train-chiaro-1.s.A", "3"],
        ["t.train-chiaro-1.s.B", "1"],
        ["t.train-chiaro-2.s.A", "1"],
        ["t.train-chiaro-2.s.B", "2"],
    ]
    page.keyboard.press("Enter")
    page.wait_for_selector("text=answers were right")
    wrong = page.inner_text("li:has(.problem) >> nth=0")
    assert "Expected: " in wrong
    assert "You answered: " in wrong
    shot(page, "practised")


def test_questionnaires_take_keys_and_hide_what_is_not_asked(serve: Serve) -> None:
    asked = {
        "id": "past",
        "title": "Before",
        "slots": [
            {"id": "done", "kind": "yes_no", "title": "Done it before?"},
            {"id": "times", "kind": "number", "title": "How often?", "when": {"slot": "done", "equals": ["yes"]}},
            {"id": "mood", "kind": "scale", "title": "Mood?", "low": 1, "high": 5},
        ],
    }
    site = serve(study(questionnaires=[asked]))
    page = site.window("ann")
    assert page.is_hidden("fieldset[data-slot=times]")
    page.keyboard.press("1")
    page.wait_for_selector("fieldset[data-slot=times]:visible")
    page.keyboard.type("12?")
    assert page.input_value("input[name='s.times']") == "12?"
    page.wait_for_selector(".esc:visible")
    shot(page, "questionnaire-keys", full=False)
    page.keyboard.press("Backspace")
    page.keyboard.press("Enter")
    page.keyboard.press("4")
    page.keyboard.press("Enter")
    page.wait_for_url("**/item/**")
    with site.run.store.read() as conn:
        (said,) = panels.stages_of(conn, site.run.persons["ann"].id)["q.past"]
    assert said["values"] == {"done": "yes", "times": 12, "mood": 4}


def test_undo_in_a_questionnaire_is_kept_like_any_change(serve: Serve) -> None:
    asked = {"id": "past", "title": "Before", "slots": [{"id": "done", "kind": "yes_no", "title": "Done it before?"}]}
    site = serve(study(questionnaires=[asked]))
    page = site.window("ann")
    for key in ("1", "2", "u"):
        with page.expect_response("**/keep"):
            page.keyboard.press(key)
    page.goto(page.url)
    assert page.eval_on_selector_all("input:checked", "all => all.map(one => one.value)") == ["yes"]
