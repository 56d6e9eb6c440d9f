"""How pages look: nothing is wider than a phone, text can be read, everything has a name, focus goes down the page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.annotate.browser.conftest import Site, shot
from tests.annotate.support import study

from affectlab.annotate.design_file import read_design
from affectlab.annotate.sources import read_units
from affectlab.annotate.store import panels, project
from affectlab.annotate.units import make_unit

pytestmark = [pytest.mark.browser, pytest.mark.slow]

Serve = Callable[..., Site]

WIDER = """() => {
  const wide = [...document.querySelectorAll("main *, header *")].filter(one => one.offsetParent
    && !one.closest(".wide") && one.getBoundingClientRect().right > innerWidth + 1)
    .map(one => one.tagName + "." + one.className);
  return { page: document.documentElement.scrollWidth, wide };
}"""

# Contrast as WCAG 2 defines it, of every visible text against the first opaque background behind it.
CONTRAST = """() => {
  const channel = c => { c /= 255; return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; };
  const parse = text => (text.match(/[\\d.]+/g) || []).map(Number);
  const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const behind = one => { for (let e = one; e; e = e.parentElement) {
    const c = parse(getComputedStyle(e).backgroundColor);
    if (c.length === 3 || c[3] === 1) return c; } return [255, 255, 255]; };
  const found = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const one = walk.currentNode.parentElement;
    if (!walk.currentNode.textContent.trim() || !one.offsetParent || one.closest("script, option")) continue;
    const [a, b] = [light(parse(getComputedStyle(one).color)), light(behind(one))].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < 4.5) found.push([walk.currentNode.textContent.trim().slice(0, 30), Math.round(ratio * 100) / 100]);
  }
  return found;
}"""

NAMELESS = """() => [...document.querySelectorAll("input:not([type=hidden]), textarea, select, button, a, fieldset")]
  .filter(one => one.offsetParent).filter(one => !(one.getAttribute("aria-label") || (one.labels && one.labels.length
    && [...one.labels].some(label => label.textContent.trim())) || one.innerText.trim() || one.querySelector("legend")))
  .map(one => one.outerHTML.slice(0, 80))"""


# Words and figures that stand on more than one line; addresses may break anywhere.
BROKEN = """() => {
  const found = [];
  const walk = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const node = walk.currentNode;
    if (!node.parentElement.offsetParent || node.parentElement.closest("code")) continue;
    for (const word of node.textContent.matchAll(/(?<!\\w)-?[A-Za-z0-9.]+/g)) {
      const range = document.createRange();
      range.setStart(node, word.index);
      range.setEnd(node, word.index + word[0].length);
      if (new Set([...range.getClientRects()].map(one => Math.round(one.top))).size > 1) found.push(word[0]);
    }
  }
  return found;
}"""


def check(page: Any, name: str) -> None:
    """Looks at a page at the width of a phone and of a desk."""
    for width in (360, 1200):
        page.set_viewport_size({"width": width, "height": 800})
        measured = page.evaluate(WIDER)
        assert measured == {"page": width, "wide": []}, (name, width)
        assert page.evaluate(BROKEN) == [], (name, width)
        shot(page, f"{name}-{width}")
    assert page.evaluate(CONTRAST) == [], name
    assert page.evaluate(NAMELESS) == [], name


def test_pages_of_people_who_are_not_signed_in(serve: Serve) -> None:
    from affectlab.annotate.store import people

    site = serve(study())
    with site.run.store.write() as conn:
        token = people.invite_token(project.secret_of(conn), people.make_invite(conn, "annotator", 0.0))
    for path, name in (("/login", "login"), (f"/invite/{token}", "invite"), (f"/invite/{token}?lang=zh", "invite-zh")):
        check(site.window("", path), name)


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("name", ["chiaro", "cue", "emoscene", "decisions", "care"])
def test_the_five_designs(serve: Serve, name: str, language: str) -> None:
    design = read_design(name)
    site = serve(design, items=0)
    with site.run.store.write() as conn:
        if name == "care":
            units = [make_unit(design, "one", {"story": "My train was cancelled, and my sister came to fetch me."})]
        else:
            units = read_units(design, f"src/affectlab/benchmarks/{name}/sample.jsonl")[:3]
        project.add_units(conn, design, units, 0)
        conn.exec_driver_sql(f"UPDATE person SET language = '{language}'")
    stages = [*(["consent"] if design.consent else []), "instructions"]
    stages += [f"q.{one.id}" for one in design.questionnaires]
    stages += (["training"] if design.training else []) + (["story"] if design.story else [])
    for stage in stages:
        page = site.window("ann")
        assert page.url.endswith(f"/stage/{stage}")
        check(page, f"{name}-{language}-{stage}")
        body = {"agreed": True, "passed": True, "over": True}
        with site.run.store.write() as conn:
            panels.add_stage(conn, site.run.persons["ann"].id, stage, body, 0.0)
    page = site.window("ann")
    assert page.get_attribute("html", "lang") == language
    check(page, f"{name}-{language}-item")


def test_focus_goes_down_the_page(serve: Serve) -> None:
    site = serve(study())
    page = site.window("ann")
    page.focus("a >> nth=0")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the item"
    seen = []
    for _ in range(40):
        page.keyboard.press("Tab")
        where = page.evaluate(
            "(e => e === document.body ? null : e.name || e.id || e.textContent.trim())(document.activeElement)"
        )
        if where is None:
            break
        seen.append(where)
    names = list(dict.fromkeys(seen))
    for earlier, later in (("s.mood", "s.strength"), ("s.strength", "s.why"), ("s.why", "submit")):
        assert names.index(earlier) < names.index(later)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_pages_of_those_who_judge(serve: Serve, language: str) -> None:
    site = serve(study(), items=4, people=("ann", "bob", "judge", "boss"))
    with site.run.store.write() as conn:
        conn.exec_driver_sql(f"UPDATE person SET language = '{language}'")
    for name, mood in (("ann", "glad"), ("bob", "sad")):
        site.run.answer_all(name, {"mood": mood, "strength": 3, "why": "so"})
    page = site.window("judge", "/adjudicate")
    check(page, f"adjudication-{language}")
    page.click(".list a >> nth=0")
    check(page, f"decision-{language}")
    page.check("input[name=choice][value=A]")
    with page.expect_navigation():
        page.click("form.answers button:not([type=button])")
    page.goto(f"http://127.0.0.1:{site.port}/adjudicate")
    assert page.locator(".list li").count() == 3
    boss = site.window("boss", "/admin")
    check(boss, f"admin-{language}")
    boss.click("a[href^='/admin/people/'] >> nth=0")
    check(boss, f"quality-{language}")
    for path, name in (("agreement", "agreement"), ("items/i0", "admin-item")):
        boss.goto(f"http://127.0.0.1:{site.port}/admin/{path}")
        check(boss, f"{name}-{language}")
    ann = site.window("ann", "/mine")
    check(ann, f"mine-{language}")
