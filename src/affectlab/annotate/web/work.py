"""Pages for labelling: the next item, the item itself, drafts, leaving an item out, one's own list."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from sqlalchemy import Connection
from starlette.responses import Response

from affectlab.annotate.design import Design
from affectlab.annotate.keys import COMMANDS, shortcuts
from affectlab.annotate.keystrokes import read_typing
from affectlab.annotate.slots import Option, Slot, named
from affectlab.annotate.stages import CONSENT, STORY, TRAINING, stages_after, stages_before
from affectlab.annotate.store import claims, drafts, panels, project, replies
from affectlab.annotate.store.drafts import Window
from affectlab.annotate.store.people import Person, RefusedError
from affectlab.annotate.store.replies import Measured, Submit
from affectlab.annotate.units import Unit
from affectlab.annotate.values import Reply, checked, last, options_of, read_reply
from affectlab.annotate.web.outdated import FIELD, is_outdated, renew
from affectlab.annotate.web.visit import Visit

LONGEST_MS = 24 * 3600 * 1000


def work(visit: Visit) -> Response:
    """To what the person has to do next: a stage before the work, an item, a stage after it, or nothing."""
    claims.free_lapsed(visit.site.store)
    with visit.site.store.write() as conn:
        design = visit.site.design(conn)
        stage = next_stage(conn, design, visit.me)
        if stage is not None:
            return visit.go(f"/stage/{stage}")
        item = claims.claim(conn, design, visit.me, visit.site.store.now())
        if item is None:
            done = panels.stages_of(conn, visit.me.id)
            after = next((name for name in stages_after(design) if name not in done), None)
            if after is not None:
                return visit.go(f"/stage/{after}")
            counts = _progress(conn, design, visit.me)
    if item is not None:
        return visit.go(f"/item/{quote(item, safe='')}")
    return visit.page("done.html", design=design, counts=counts)


def next_stage(conn: Connection, design: Design, person: Person) -> str | None:
    """First stage before the work that the person has not been through."""
    done = panels.stages_of(conn, person.id)
    for name in stages_before(design):
        rounds = done.get(name, [])
        if name == TRAINING:
            assert design.training is not None
            over = any(one["passed"] for one in rounds)
        elif name == CONSENT:
            over = bool(rounds) and rounds[-1]["agreed"]
        elif name == STORY:
            over = any(one.get("over") for one in rounds)
        else:
            over = bool(rounds)
        if not over:
            return name
    return None


def item(visit: Visit) -> Response:
    """Show an item with what the person said so far, or take an answer."""
    key = (visit.request.path_params["item"], visit.me.id)
    if visit.request.method == "GET":
        with visit.site.store.read() as conn:
            design = visit.site.design(conn)
            unit = _mine(conn, key)
            if unit is None:
                return visit.refuse("not_yours", 404)
            return _show(visit, conn, design, unit)
    return _take(visit, key)


def _take(visit: Visit, key: tuple[str, str]) -> Response:
    with visit.site.store.write() as conn:
        design = visit.site.design(conn)
        unit = _mine(conn, key)
        if unit is None:
            return visit.refuse("not_yours", 404)
        if is_outdated(design, visit.form):
            return _again(visit, conn, design, unit)
        written = read_reply(design.slots, unit, visit.form)
        reply, problems = checked(design.slots, unit, written)
        if problems:
            return _show(visit, conn, design, unit, reply=written, problems=problems)
        return _store(visit, conn, design, key, reply)


def skip(visit: Visit) -> Response:
    """Leave an item out, with a reason."""
    key = (visit.request.path_params["item"], visit.me.id)
    with visit.site.store.write() as conn:
        design = visit.site.design(conn)
        unit = _mine(conn, key)
        if unit is None:
            return visit.refuse("not_yours", 404)
        if is_outdated(design, visit.form):
            return _again(visit, conn, design, unit)
        written = read_reply(design.slots, unit, visit.form)
        reason = visit.field("reason")
        if reason not in {option.id for option in design.skip_reasons}:
            return _show(visit, conn, design, unit, reply=written, problems={"": "reason_missing"})
        reply = Reply(comment=written.comment, flag=written.flag, skipped=reason)
        return _store(visit, conn, design, key, reply)


def _again(visit: Visit, conn: Connection, design: Design, unit: Unit) -> Response:
    """To a form of another version of the design: the item as it is asked now, with what was chosen."""
    if replies.submitted_by(conn, (unit.id, visit.me.id), visit.field("submit_key")):
        return visit.go("/work")  # sent twice: the first was stored before the design changed
    form = renew(visit.form, last(visit.form, FIELD), project.design_mappings(conn))
    return _show(visit, conn, design, unit, reply=read_reply(design.slots, unit, form), outdated=True)


def _store(visit: Visit, conn: Connection, design: Design, key: tuple[str, str], reply: Reply) -> Response:
    now = visit.site.store.now()
    submit_key = visit.field("submit_key")
    if not 16 <= len(submit_key) <= 64:
        return visit.refuse("unreadable", 400)
    typed = read_typing(visit.field("typing_log")) if design.typing and visit.me.typing else None
    measured = Measured(_milliseconds(visit.field("active_ms")), _milliseconds(visit.field("elapsed_ms")), typed)
    version = replies.submit(conn, design, key, reply, Submit(submit_key, measured), now)
    replies.log(conn, key[1], "skip" if reply.skipped else "submit", {"item": key[0], "version": version}, now)
    return visit.go("/work")


def draft(visit: Visit) -> Response:
    """Keep what is on the page; answers with the line that says so."""
    key = (visit.request.path_params["item"], visit.me.id)
    with visit.site.store.write() as conn:
        design = visit.site.design(conn)
        unit = _mine(conn, key)
        if unit is None:
            return visit.refuse("not_yours", 404)
        if replies.submitted_by(conn, key, visit.field("submit_key")):
            return visit.page("saved.html", rev=visit.field("rev"))  # on its way when the answer was submitted
        if is_outdated(design, visit.form):
            raise RefusedError("design_changed_draft")
        reply = read_reply(design.slots, unit, visit.form)
        rev = int(visit.field("rev")) if visit.field("rev").isdecimal() and len(visit.field("rev")) < 9 else 0
        window = Window(visit.field("submit_key")[:64], rev)
        rev = drafts.save_draft(conn, design, key, reply, window, visit.site.store.now())
    return visit.page("saved.html", rev=rev)


def mine(visit: Visit) -> Response:
    """What the person has done, each to be opened and changed."""
    with visit.site.store.read() as conn:
        design = visit.site.design(conn)
        listed = replies.my_items(conn, visit.me.id)
        rows = []
        for name, state in listed:
            unit = project.unit_of(conn, name)
            rows.append({"item": name, "state": state, "text": unit.text(design.main_field)[:120] if unit else ""})
    return visit.page("mine.html", design=design, rows=rows)


def _mine(conn: Connection, key: tuple[str, str]) -> Unit | None:
    """The item, if the person was given it. Nobody sees an item, or anything about it, that is not his or hers."""
    return project.unit_of(conn, key[0]) if replies.state_of(conn, *key) is not None else None


def _show(
    visit: Visit,
    conn: Connection,
    design: Design,
    unit: Unit,
    reply: Reply | None = None,
    problems: dict[str, str] | None = None,
    *,
    outdated: bool = False,
) -> Response:
    saved, rev = drafts.read_draft(conn, unit.id, visit.me.id)
    state = replies.state_of(conn, unit.id, visit.me.id)
    submitted = replies.current(conn, item=unit.id, person=visit.me.id)
    submitted = panels.renamed(submitted, project.design_mappings(conn), design)
    before = submitted[0].reply if submitted else Reply()
    listed = [name for name, _ in replies.my_items(conn, visit.me.id)]
    place = listed.index(unit.id) if unit.id in listed else 0
    shown = visit.page(
        "item.html",
        409 if outdated else 422 if problems else 200,
        design=design,
        unit=unit,
        pages=form_pages(design, unit, visit.language),
        reply=reply or saved or before,
        changed=saved is not None and bool(submitted),
        problems=problems or {},
        outdated=outdated,
        rev=rev,
        commands=COMMANDS,
        state=state,
        skipped=before.skipped,
        discussed=bool(submitted) and replies.discussed(conn, unit.id),
        submit_key=secrets.token_hex(16),
        back=listed[place - 1] if place > 0 else None,
        forward=listed[place + 1] if place + 1 < len(listed) else None,
        counts=_progress(conn, design, visit.me),
        typing=design.typing and visit.me.typing,
        action=f"/item/{quote(unit.id, safe='')}",
        draft=f"/draft/{quote(unit.id, safe='')}",
    )
    if outdated:
        shown.headers["HX-Push-Url"] = "false"  # it may come in answer to /skip, which nobody can go back to
    return shown


def form_pages(design: Design, unit: Unit, language: str) -> list[dict[str, Any]]:
    """Slots as the template draws them, page by page."""
    pages = design.pages or ()
    grouped = [(page.title, [design.slot[name] for name in page.slots]) for page in pages] or [({}, list(design.slots))]
    return [{"title": title, "slots": [slot_view(slot, unit, language) for slot in slots]} for title, slots in grouped]


@dataclass(frozen=True)
class SlotView:
    """A slot as the template draws it.

    Attributes:
        slot: The slot.
        options: Its options for this item.
        keys: Their keys, by option id.
        derive: For a derived slot: what it is made of, as JSON for the page's script.
        when: Its condition, likewise.
    """

    slot: Slot
    options: tuple[Option, ...]
    keys: Mapping[str, str]
    derive: str
    when: str


def slot_view(slot: Slot, unit: Unit | None, language: str) -> SlotView:
    """A slot with its options, their keys, and what the page's script must know of it."""
    offered = options_of(slot, unit)
    keys = shortcuts(slot, offered)
    made_of = ""
    if slot.kind == "derived":
        from affectlab.labels import load as load_labels

        space = load_labels(slot.labels)
        names = named(slot.options, language)
        table = {"|".join(label.parts): names.get(label.id, label.id) for label in space}
        made_of = json.dumps({"of": list(slot.composes), "table": table}, ensure_ascii=False)
    when = json.dumps({"slot": slot.when.slot, "equals": list(slot.when.equals)}) if slot.when else ""
    return SlotView(slot, offered, keys, made_of, when)


def _progress(conn: Connection, design: Design, person: Person) -> dict[str, int]:
    states = [state for _, state in replies.my_items(conn, person.id)]
    return {"done": states.count("done"), "skipped": states.count("skipped"), "left": claims.left(conn, design, person)}


def _milliseconds(text: str) -> int | None:
    return min(int(text), LONGEST_MS) if text.isdecimal() and len(text) < 12 else None
