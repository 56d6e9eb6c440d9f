"""Working in a real browser: keys, drafts, lost sessions, servers that go away, input methods, undo, marks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import delete, select
from tests.annotate.browser.conftest import Site, shot, until
from tests.annotate.support import STUDY, study

from affectlab.annotate.store import project, replies
from affectlab.annotate.store import tables as t

pytestmark = [pytest.mark.browser, pytest.mark.slow]

Serve = Callable[..., Site]

SAVED = "#state .fine"


def answers(site: Site) -> list[dict[str, Any]]:
    with site.run.store.read() as conn:
        return [dict(one.reply.values) for one in replies.current(conn)]


def draft(site: Site) -> dict[str, Any]:
    """Ann's newest draft."""
    with site.run.store.read() as conn:
        body = conn.execute(select(t.draft.c.body)).scalars().first()
    return dict(body["values"]) if body else {}


def versions(site: Site) -> int:
    with site.run.store.read() as conn:
        return len(conn.execute(select(t.response.c.item)).all())


def marked(page: Any) -> list[str]:
    found: list[str] = page.eval_on_selector_all("#work input:checked", "all => all.map(one => one.value)")
    return found


def test_a_whole_item_by_keyboard(serve: Serve) -> None:
    site = serve(study())
    page = site.window("ann")
    page.keyboard.press("2")
    page.keyboard.press("4")
    page.keyboard.type("1 2 s u ?")  # the open question has the focus now: all of it is text
    assert page.input_value("textarea[name='s.why']") == "1 2 s u ?"
    assert marked(page) == ["sad", "4"]
    page.keyboard.press("Escape")
    page.keyboard.press("Enter")
    page.wait_for_selector(".progress:has-text('1 done')")
    assert answers(site) == [{"mood": "sad", "strength": 4, "why": "1 2 s u ?"}]
    assert marked(page) == []


def test_choices_and_text_outlive_a_reload_and_a_restart_of_the_server(serve: Serve) -> None:
    site = serve(study())
    page = site.window("ann")
    page.keyboard.press("1")
    page.keyboard.press("5")
    page.keyboard.type("because")
    until(lambda: draft(site).get("why") == "because")
    for _ in range(2):
        page.reload()
        assert marked(page) == ["glad", "5"]
        assert page.input_value("textarea[name='s.why']") == "because"
        assert "not submitted" in page.inner_text("#state")
        site.stop()
        site.start()
    assert answers(site) == []


def test_without_a_session_nothing_is_lost_and_nothing_seems_saved(serve: Serve) -> None:
    site = serve(study())
    page = site.window("ann")
    page.keyboard.press("1")
    page.wait_for_selector(SAVED)
    with site.run.store.write() as conn:
        conn.execute(delete(t.session))
    with page.expect_response(lambda one: "/draft/" in one.url) as told:
        page.keyboard.press("3")
    assert told.value.status == 401
    page.wait_for_selector("#state .problem:has-text('Not saved')")
    page.click("#submit")
    page.wait_for_timeout(300)
    assert "Not saved" in page.inner_text("#state")
    assert marked(page) == ["glad", "3"]
    assert page.get_attribute("#state a", "target") == "_blank"
    shot(page, "session-over", full=False)
    page.context.add_cookies([site.cookie("ann")])  # signed in again, in another tab
    page.evaluate("window.dispatchEvent(new Event('focus'))")
    until(lambda: draft(site) == {"mood": "glad", "strength": 3})
    page.click("#submit")
    page.wait_for_selector(".progress:has-text('1 done')")
    assert answers(site) == [{"mood": "glad", "strength": 3}]
    assert versions(site) == 1


def test_a_server_that_goes_away_is_told_and_what_was_chosen_is_saved_when_it_is_back(serve: Serve) -> None:
    site = serve(study())
    page = site.window("ann")
    site.stop()
    page.keyboard.press("2")
    page.wait_for_selector("#state .problem:has-text('cannot be reached')")
    site.start()
    until(lambda: draft(site) == {"mood": "sad"})
    page.reload()
    assert marked(page) == ["sad"]


def test_pressing_submit_twice_is_one_answer(serve: Serve) -> None:
    site = serve(study())
    page = site.window("ann")
    page.keyboard.press("1")
    page.keyboard.press("2")
    page.dblclick("#submit")
    page.wait_for_selector(".progress:has-text('1 done')")
    page.wait_for_timeout(300)
    assert versions(site) == 1


def test_enter_held_down_submits_one_item(serve: Serve) -> None:
    site = serve(study(STUDY.split('[[slots]]\nid = "why"')[0]))
    page = site.window("ann")
    page.keyboard.press("1")
    page.keyboard.press("2")
    page.keyboard.down("Enter")
    page.keyboard.down("Enter")
    page.keyboard.down("Enter")
    page.wait_for_selector(".progress:has-text('1 done')")
    page.wait_for_timeout(300)
    assert versions(site) == 1


def test_keys_of_an_input_method_are_text(serve: Serve) -> None:
    site = serve(study())
    page = site.window("ann")
    compose = """(query) => {
      const target = document.querySelector(query);
      target.focus();
      for (const [key, code] of [["1", 229], ["Enter", 229], ["s", 229], ["Enter", 13]])
        target.dispatchEvent(
          new KeyboardEvent("keydown", { key, keyCode: code, isComposing: true, bubbles: true, cancelable: true }));
    }"""
    for query in ("textarea[name='s.why']", "fieldset[data-slot=mood]"):
        page.evaluate(compose, query)
    page.wait_for_timeout(200)
    assert marked(page) == []
    assert not page.is_visible("dialog[open]")
    assert versions(site) == 0
    page.fill("textarea[name='s.why']", "我很高兴，因为……")
    until(lambda: draft(site) == {"why": "我很高兴，因为……"})
    page.reload()
    assert page.input_value("textarea[name='s.why']") == "我很高兴，因为……"


def test_the_overlay_lists_every_key(serve: Serve) -> None:
    site = serve(study())
    page = site.window("ann")
    page.keyboard.press("?")
    page.wait_for_selector("#keys[open]")
    listed = page.eval_on_selector_all("#keys th kbd", "all => all.map(one => one.textContent)")
    assert listed == [*"?ubsfcg", "Enter", "Esc", "n", "p", "1", "2", "3", "1", "2", "3", "4", "5"]
    shot(page, "keys", full=False)
    page.keyboard.press("2")  # keys of the page do nothing under the overlay
    page.keyboard.press("Escape")
    assert marked(page) == []


def test_undo_takes_back_one_change_after_another(serve: Serve) -> None:
    site = serve(study())
    page = site.window("ann")
    page.keyboard.press("1")
    page.keyboard.press("p")
    page.keyboard.press("2")
    page.keyboard.press("3")
    assert marked(page) == ["sad", "3"]
    page.click("#undo")
    assert marked(page) == ["sad"]
    page.keyboard.press("Escape")
    page.click("#undo")
    assert marked(page) == ["glad"]
    until(lambda: draft(site) == {"mood": "glad"})
    page.reload()
    assert marked(page) == ["glad"]


def test_a_changed_mind_on_a_scale_is_one_value(serve: Serve) -> None:
    site = serve(study())
    page = site.window("ann")
    page.check("input[name='s.mood'][value=calm]")
    page.check("input[name='s.strength'][value='2']")
    page.check("input[name='s.strength'][value='5']")
    page.click("#submit")
    page.wait_for_selector(".progress:has-text('1 done')")
    assert answers(site)[0]["strength"] == 5


def test_leaving_out_asks_why_and_going_back_takes_it_back(serve: Serve) -> None:
    site = serve(study())
    page = site.window("ann")
    page.keyboard.press("s")
    page.wait_for_selector("#skip-dialog[open]")
    shot(page, "skip", full=False)
    page.check("input[name=reason][value=broken]")
    page.click("#skip-dialog button:has-text('Leave it out')")
    page.wait_for_selector(".progress:has-text('1 left out')")
    page.keyboard.press("b")
    page.wait_for_selector("#state:has-text('Left out')")
    page.keyboard.press("1")
    page.keyboard.press("1")
    page.click("#submit")
    page.wait_for_selector(".progress:has-text('1 done, 0 left out')")


def test_a_key_pressed_the_moment_an_item_is_there_counts_for_it(serve: Serve) -> None:
    site = serve(study(STUDY.split('[[slots]]\nid = "why"')[0]))
    page = site.window("ann")
    page.evaluate("""() => {
      const first = document.getElementById("work");
      new MutationObserver((_, watching) => {
        const form = document.getElementById("work");
        if (!form || form === first) return;
        watching.disconnect();
        const key = new KeyboardEvent("keydown", { key: "2", bubbles: true, cancelable: true });
        document.activeElement.dispatchEvent(key);
      }).observe(document.body, { childList: true, subtree: true });
    }""")
    page.keyboard.press("1")
    page.keyboard.press("3")
    page.keyboard.press("Enter")
    page.wait_for_selector(".progress:has-text('1 done')")
    until(lambda: marked(page) == ["sad"])
    assert answers(site) == [{"mood": "glad", "strength": 3}]


def test_keys_pressed_while_an_answer_is_on_its_way_change_nothing(serve: Serve) -> None:
    site = serve(study(STUDY.split('[[slots]]\nid = "why"')[0]))
    page = site.window("ann")
    page.keyboard.press("1")
    page.keyboard.press("3")
    page.wait_for_selector(SAVED)
    held: list[Any] = []
    page.route("**/item/**", lambda route: held.append(route))
    with page.expect_request("**/item/**"):
        page.keyboard.press("Enter")
    page.keyboard.press("5")
    assert marked(page) == ["glad", "3"]
    page.keyboard.press("u")
    assert marked(page) == ["glad", "3"]
    held[0].abort()
    page.unroute("**/item/**")
    page.wait_for_selector("#state .problem:has-text('cannot be reached')")
    page.keyboard.press("5")  # nothing is on its way any more
    assert marked(page) == ["glad", "5"]
    page.keyboard.press("Enter")
    page.wait_for_selector(".progress:has-text('1 done')")
    assert answers(site) == [{"mood": "glad", "strength": 5}]
    assert marked(page) == []


def test_a_page_that_was_open_while_labels_changed_places_shows_them_and_stores_nothing(serve: Serve) -> None:
    site = serve(study())
    page = site.window("ann")
    page.check("input[name='s.mood'][value=glad]")
    page.wait_for_selector(SAVED)
    first = page.url
    new = STUDY.replace('"glad", names = "Glad"', '"sad", names = "Glad"')
    new = new.replace('"sad", names = "Sad"', '"glad", names = "Sad"')
    with site.run.store.write() as conn:
        mapping = {"mood": {"glad": "sad", "sad": "glad"}}
        project.replace_design(conn, study(new, version=2), mapping, site.run.store.now())
    page.check("input[name='s.strength'][value='4']")
    page.wait_for_selector("#state .problem:has-text('the questions of this study have changed')")
    assert marked(page) == ["glad", "4"]  # a refused draft changes nothing on the page
    page.click("#submit")
    page.wait_for_selector("main > .problem:has-text('Nothing was stored')")
    assert marked(page) == ["sad", "4"]
    assert page.is_checked("label:has-text('Glad') input")
    assert page.url == first
    assert answers(site) == []
    shot(page, "design-changed", full=False)
    page.click("#submit")
    page.wait_for_selector(".progress:has-text('1 done')")
    assert answers(site) == [{"mood": "sad", "strength": 4}]


def test_what_is_missing_is_marked_and_focused(serve: Serve) -> None:
    site = serve(study())
    page = site.window("ann")
    page.keyboard.press("1")
    page.click("#submit")
    page.wait_for_selector("fieldset.wrong[data-slot=strength]")
    assert page.get_attribute("fieldset.here", "data-slot") == "strength"
    assert marked(page) == ["glad"]
    shot(page, "missing", full=False)


EVERYTHING = """
name = "everything"
title = "Everything"
skip_reasons = [{ id = "unclear", names = "unclear" }]
guidelines = { version = "1", text = "Read." }
shown = [{ field = "text", main = true }]

[[slots]]
id = "explicit"
kind = "choice"
title = "Said"
labels = "cue_polarity3"

[[slots]]
id = "implicit"
kind = "choice"
title = "Meant"
labels = "cue_polarity3"

[[slots]]
id = "stance"
kind = "derived"
title = "Stance"
labels = "cue_stance9"
composes = ["explicit", "implicit"]

[[slots]]
id = "emotions"
kind = "label_set"
title = "Which?"
labels = "plutchik8"
intensities = ["slight", "clear", "strong"]

[[slots]]
id = "fits"
kind = "yes_no"
title = "Does it fit?"

[[slots]]
id = "fault"
kind = "text"
title = "What is wrong?"
when = { slot = "fits", equals = ["no"] }

[[slots]]
id = "age"
kind = "number"
title = "How old?"
low = 0
high = 120

[[slots]]
id = "evidence"
kind = "span"
field = "text"
title = "Where?"

[[pages]]
title = "First"
slots = ["explicit", "implicit", "stance", "emotions"]

[[pages]]
title = "Second"
slots = ["fits", "fault", "age", "evidence"]
"""


def test_every_kind_of_slot_over_two_pages(serve: Serve) -> None:
    from affectlab.annotate.store import project
    from affectlab.annotate.units import make_unit

    site = serve(study(EVERYTHING), items=0)
    with site.run.store.write() as conn:
        unit = make_unit(site.run.design, "one", {"text": "😢 她说没事，却哭了。"})
        project.add_units(conn, site.run.design, [unit], 0)
    page = site.window("ann")
    page.keyboard.press("1")
    page.keyboard.press("3")
    stance = page.inner_text("[data-output=stance]")
    assert stance == "Sarcastic Negative"  # positive in words, negative in meaning
    for key in "115":  # joy, joy again (clear), sadness
        page.keyboard.press(key)
    assert page.is_checked("input[name='i.emotions.joy'][value='2']")
    assert page.is_checked("input[name='i.emotions.sadness'][value='1']")
    page.check("[data-none]")
    assert page.eval_on_selector_all("[data-slot=emotions] input:checked", "all => all.length") == 1
    page.check("input[name='i.emotions.fear'][value='3']")
    assert not page.is_checked("[data-none]")
    assert page.is_hidden("#submit")
    shot(page, "every-kind-1")
    page.click("section.page:not([hidden]) [data-turn='1']")
    assert page.is_hidden("fieldset[data-slot=fault]")
    page.keyboard.press("2")
    assert page.is_visible("fieldset[data-slot=fault]")
    page.fill("textarea[name='s.fault']", "It does not.")
    page.fill("input[name='s.age']", "４１")  # full-width digits, as input methods give them
    page.evaluate("document.querySelector('[data-spans]').setSelectionRange(2, 6)")
    page.click("[data-mark]")
    # The emoji is two UTF-16 units and one code point: 2 to 6 in the browser is 1 to 5 in the text.
    assert page.inner_text("[data-marked] q").strip('“”"') == " 她说没"
    page.wait_for_selector(SAVED)
    shot(page, "every-kind-2")
    page.click("#submit")
    page.wait_for_selector("text=nothing left")
    assert answers(site) == [
        {
            "explicit": "positive",
            "implicit": "negative",
            "stance": "sarcastic_negative",
            "emotions": {"fear": 3},
            "fits": "no",
            "fault": "It does not.",
            "age": 41,
            "evidence": [{"start": 1, "end": 5, "text": " 她说没"}],
        }
    ]


def test_the_rhythm_of_typing_holds_no_letter(serve: Serve) -> None:
    site = serve(study(typing=True))
    with site.run.store.write() as conn:
        conn.execute(t.person.update().values(typing=True))
    page = site.window("ann")
    page.keyboard.press("1")
    page.keyboard.press("1")
    page.keyboard.type("abc")
    page.keyboard.press("Backspace")
    assert "being recorded" in page.inner_text(".notice")
    page.click("#submit")
    page.wait_for_selector(".progress:has-text('1 done')")
    with site.run.store.read() as conn:
        (now,) = replies.current(conn)
    assert [(row[0], row[2]) for row in now.measured.typing] == [("insert", 1)] * 3 + [("delete", -1)]
    assert now.measured.active_ms is not None
    assert 0 < now.measured.active_ms <= (now.measured.elapsed_ms or 0) + 1
