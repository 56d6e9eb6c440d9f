"""Pages for adjudication: slots that disagree, one at a time, with candidates whose order says nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from sqlalchemy import Connection
from starlette.responses import Response

from affectlab.annotate.adjudicate import (
    DECIDABLE,
    Made,
    Panel,
    Settled,
    basis,
    candidates,
    may_decide,
    queue,
    settle,
    shown_hash,
)
from affectlab.annotate.design import Design
from affectlab.annotate.slots import Slot, named
from affectlab.annotate.store import panels, project, replies
from affectlab.annotate.store.people import RefusedError
from affectlab.annotate.values import LONGEST_NOTE, Reply, clean_text, from_form, last, options_of, problem, tell
from affectlab.annotate.web.kept import DECISION, forget, keep_form, kept
from affectlab.annotate.web.outdated import FIELD, is_outdated, renew
from affectlab.annotate.web.remarks import reasons_of
from affectlab.annotate.web.visit import Visit
from affectlab.annotate.web.work import slot_view
from affectlab.annotate.words import say


def adjudication(visit: Visit) -> Response:
    """What waits for a decision."""
    with visit.site.store.read() as conn:
        design = visit.site.design(conn)
        _allowed(visit, design)
        open_slots = _queue(visit, conn, design)
    mine = {panel.unit.id for panel, _, _ in open_slots if any(vote.person == visit.me.id for vote in panel.votes)}
    if mine:
        # Who knows that an answer differs knows what the other one is where there are two.
        with visit.site.store.write() as conn:
            replies.begin_discussions(conn, mine, visit.me.id, visit.site.store.now())
    rows = [
        {
            "path": _path(slot, panel),
            "title": say(slot.title, visit.language),
            "text": panel.unit.text(design.main_field)[:120],
            "status": where.status,
            "reopened": where.reopened,
        }
        for panel, slot, where in open_slots
    ]
    return visit.page("adjudication.html", rows=rows)


def decision(visit: Visit) -> Response:
    """One slot of one item: show the candidates, or take the decision."""
    with visit.site.store.write() as conn:
        design = visit.site.design(conn)
        _allowed(visit, design)
        panel = panels.panel(conn, design, visit.request.path_params["item"])
        slot = design.slot.get(visit.request.path_params["slot"])
        if panel is None or slot is None or not slot.asked or not panel.complete:
            return visit.refuse("not_found", 404)
        if not _may(visit, design, panel):
            return visit.refuse("own_item", 403)
        if settle(design, slot, panel).status not in DECIDABLE:
            return visit.refuse("nothing_to_decide", 409)
        if any(vote.person == visit.me.id for vote in panel.votes):
            replies.begin_discussions(conn, [panel.unit.id], visit.me.id, visit.site.store.now())
        if visit.request.method == "GET":
            return _show(visit, conn, design, panel, slot)
        refused = _decide(visit, conn, design, panel, slot)
    return refused or _onward(visit, panel, slot)


def _onward(visit: Visit, panel: Panel, slot: Slot) -> Response:
    """To the next slot that waits: of this item, of one after it, of the first; to the list when none does."""
    with visit.site.store.read() as conn:
        design = visit.site.design(conn)
        waiting = _queue(visit, conn, design)
        order = [one.id for one in project.units(conn)]
    if not waiting:
        return visit.go("/adjudicate")
    here = order.index(panel.unit.id)
    after = [(one, open_slot) for one, open_slot, _ in waiting if order.index(one.unit.id) >= here]
    where = after[0] if after else waiting[0][:2]
    return visit.go(f"{_path(where[1], where[0])}?left={len(waiting)}")


def _queue(visit: Visit, conn: Connection, design: Design) -> list[tuple[Panel, Slot, Settled]]:
    found = queue(design, panels.panels(conn, design))
    return [(panel, slot, where) for panel, slot, where in found if _may(visit, design, panel)]


def note(visit: Visit) -> Response:
    """Add a note to the discussion of an item."""
    text = clean_text(visit.field("note"))[:LONGEST_NOTE]
    with visit.site.store.write() as conn:
        design = visit.site.design(conn)
        _allowed(visit, design)
        panel = panels.panel(conn, design, visit.request.path_params["item"])
        slot = design.slot.get(visit.field("slot"))
        if panel is None or slot is None or not panel.complete or not _may(visit, design, panel):
            return visit.refuse("not_found", 404)
        if text:
            panels.add_note(conn, panel.unit.id, visit.me.id, text, visit.site.store.now())
        # The same form holds the decision to be made, which is not lost with the note.
        keep_form(visit, conn, _place(slot, panel), {**visit.form, "note": [""]})
    return visit.go(_path(slot, panel))


def _decide(visit: Visit, conn: Connection, design: Design, panel: Panel, slot: Slot) -> Response | None:
    """Keep the decision of a form; the page that says why not, where it is none."""
    choice = visit.field("choice")
    reason = clean_text(visit.field("reason"))[:LONGEST_NOTE]
    if is_outdated(design, visit.form):
        return _show(visit, conn, design, panel, slot, wrong="design_changed", status=409)
    if visit.field("shown") != shown_hash(slot, panel, _seed(conn)):  # the letters may stand for other answers by now
        return _show(visit, conn, design, panel, slot, wrong="answers_changed", status=409)
    letters = dict(candidates(slot, panel, _seed(conn)))
    value: Any = None
    if choice in letters:
        value, kind = letters[choice], "accept"
    elif choice == "other":
        value, kind = from_form(slot, panel.unit, visit.form), "other"
        if value is None or problem(slot, options_of(slot, panel.unit), value, panel.unit):
            return _show(visit, conn, design, panel, slot, wrong="other_needed", status=422)
    elif choice == "no_gold":
        kind = "no_gold"
    else:
        return _show(visit, conn, design, panel, slot, wrong="choose_first", status=422)
    if kind == "other" and not reason:
        return _show(visit, conn, design, panel, slot, wrong="reason_needed", status=422)
    forget(visit, conn, _place(slot, panel))
    now = visit.site.store.now()
    made = Made(value, kind, reason, basis(slot, panel), visit.me.id, now)
    version = panels.decide(conn, panel.unit.id, slot.id, made)
    replies.log(conn, visit.me.id, "decision", {"item": panel.unit.id, "slot": slot.id, "version": version}, now)
    return None


def _show(
    visit: Visit, conn: Connection, design: Design, panel: Panel, slot: Slot, *, wrong: str = "", status: int = 200
) -> Response:
    shown = shown_hash(slot, panel, _seed(conn))
    kept_before = {} if visit.form else kept(visit, conn, _place(slot, panel))
    form = visit.form or kept_before
    written = renew(form, last(form, FIELD), project.design_mappings(conn))
    value = from_form(slot, panel.unit, written)
    choice = last(written, "choice")
    if (last(written, "shown") != shown or is_outdated(design, written)) and choice not in {"other", "no_gold"}:
        choice = ""  # its letter may stand for another answer by now
    names = named(options_of(slot, panel.unit), visit.language)
    reasons = reasons_of(design, visit.language)
    where, left = settle(design, slot, panel), visit.request.query_params.get("left", "")
    found = [(letter, tell(slot, value, names)) for letter, value in candidates(slot, panel, _seed(conn))]
    return visit.page(
        "decision.html",
        status,
        design=design,
        unit=panel.unit,
        slot=slot,
        view=slot_view(slot, panel.unit, visit.language),
        reply=Reply({} if value is None else {slot.id: value}),
        choice=choice,
        where=where,
        standing=_standing(visit, slot, panel, names) if where.status in {"decided", "no_gold"} else None,
        left_out=[reasons.get(vote.reply.skipped, vote.reply.skipped) for vote in panel.votes if vote.reply.skipped],
        left=left if left.isdecimal() and len(left) < 9 else "",
        candidates=found,
        comments=[vote.reply.comment for vote in panel.votes if vote.reply.comment],
        notes=[(text, person == visit.me.id) for person, text, _ in panels.notes(conn, panel.unit.id)],
        wrong=wrong,
        reason=clean_text(last(written, "reason"))[:LONGEST_NOTE],
        note=clean_text(last(written, "note"))[:LONGEST_NOTE],
        shown=shown,
        place=_place(slot, panel),
        restored=bool(kept_before),
        path_note=f"/note/{quote(panel.unit.id, safe='')}",
    )


def _standing(visit: Visit, slot: Slot, panel: Panel, names: Mapping[str, str]) -> dict[str, Any]:
    """The decision that holds, for who wants to change it."""
    made = panel.decisions[slot.id]
    value = "" if made.choice == "no_gold" else tell(slot, made.value, names)
    return {"value": value, "reason": made.reason, "own": made.person == visit.me.id}


def _allowed(visit: Visit, design: Design) -> None:
    if visit.me.role == "annotator" and not design.adjudication.own_items:
        raise RefusedError("not_allowed")


def _may(visit: Visit, design: Design, panel: Panel) -> bool:
    return may_decide(design, visit.me.role, visit.me.id, panel)


def _path(slot: Slot, panel: Panel) -> str:
    return f"/adjudicate/{slot.id}/{quote(panel.unit.id, safe='')}"


def _place(slot: Slot, panel: Panel) -> str:
    return f"{DECISION}:{slot.id}:{panel.unit.id}"


def _seed(conn: Connection) -> str:
    return str(project.get_setting(conn, "seed"))
