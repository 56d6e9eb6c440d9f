"""Deciding from the command line what the adjudication page decides."""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy import Connection

from affectlab.annotate.adjudicate import (
    DECIDABLE,
    Made,
    Panel,
    basis,
    candidates,
    canonical,
    may_decide,
    queue,
    settle,
)
from affectlab.annotate.design import Design
from affectlab.annotate.slots import ONE_OF, Slot
from affectlab.annotate.store import panels, people, project, replies
from affectlab.annotate.values import LONGEST_NOTE, clean_text, options_of, problem, tell
from affectlab.errors import UserError


def open_slots(conn: Connection) -> list[dict[str, Any]]:
    """What waits for a decision: item, slot, status, and the candidates without names."""
    design = project.current_design(conn)
    seed = str(project.get_setting(conn, "seed"))
    return [
        {
            "item": panel.unit.id,
            "slot": slot.id,
            "status": where.status,
            "reopened": where.reopened,
            "candidates": [f"{letter}: {tell(slot, value, {})}" for letter, value in candidates(slot, panel, seed)],
        }
        for panel, slot, where in queue(design, panels.panels(conn, design))
    ]


def decide_slot(conn: Connection, name: str, value: str | None, reason: str, by: str, now: float) -> int:
    """Decide one slot; returns the version of the decision.

    Args:
        conn: A writing transaction.
        name: ``ITEM.SLOT``.
        value: The gold as text; ``None`` for no gold.
        reason: Why; needed where the value is none of the candidates.
        by: Name of the adjudicator's account.
        now: The time.

    Raises:
        UserError: When there is no such slot, account or value, or the person may not decide about the item.
    """
    design = project.current_design(conn)
    panel, slot = _named(conn, design, name)
    item = panel.unit.id
    if not panel.complete:
        raise UserError(f"{item} has {len(panel.votes)} of {panel.wanted} answers; it is decided when all are there.")
    where = settle(design, slot, panel)
    if where.status not in DECIDABLE:
        raise UserError(f"{name} is not open ({where.status.replace('_', ' ')}): only slots that disagree are decided.")
    person = next((one for one in people.people(conn) if one.name == people.plain_name(by)), None)
    if person is None or (person.role == "annotator" and not design.adjudication.own_items):
        raise UserError(f"--by {by!r}: give the name of an adjudicator's or administrator's account.")
    mine = any(vote.person == person.id for vote in panel.votes)
    if not may_decide(design, person.role, person.id, panel):
        raise UserError(f"{by} has {'' if mine else 'not '}labelled {item}; somebody else decides.")
    gold = None if value is None else _value(slot, value)
    if gold is not None and (wrong := problem(slot, options_of(slot, panel.unit), gold, panel.unit)):
        offered = ", ".join(option.id for option in options_of(slot, panel.unit))
        raise UserError(
            f"--value {value}: {wrong.replace('_', ' ')}" + (f"; {item} offers {offered}." if offered else ".")
        )
    given = {canonical(vote.reply.values.get(slot.id)) for vote in panel.votes}
    choice = "no_gold" if gold is None else "accept" if canonical(gold) in given else "other"
    reason = clean_text(reason)[:LONGEST_NOTE]
    if choice == "other" and not reason:
        raise UserError(f"Nobody answered {value!r}: say why, with --reason.")
    if mine:
        replies.begin_discussions(conn, [item], person.id, now)
    version = panels.decide(conn, item, slot.id, Made(gold, choice, reason, basis(slot, panel), person.id, now))
    replies.log(conn, person.id, "decision", {"item": item, "slot": slot.id, "version": version}, now)
    return version


def _named(conn: Connection, design: Design, name: str) -> tuple[Panel, Slot]:
    """Item and slot of ``ITEM.SLOT``; both may have dots in them."""
    found = [
        (panel, slot)
        for slot in design.slots
        if slot.asked
        and name.endswith(f".{slot.id}")
        and (panel := panels.panel(conn, design, name.removesuffix(f".{slot.id}"))) is not None
    ]
    if not found:
        raise UserError(f"There is no {name!r}; `affectlab annotate adjudicate` lists what is open, as ITEM and SLOT.")
    if len(found) > 1:
        meant = " or ".join(f"{slot.id!r} of {panel.unit.id!r}" for panel, slot in found)
        raise UserError(f"{name!r} is slot {meant}; decide it on the page.")
    return found[0]


def _value(slot: Slot, text: str) -> Any:
    """What a text on the command line means for a slot; what cannot be read stays text, for the check to refuse."""
    if slot.kind == "text":
        return clean_text(text)
    if slot.kind in ONE_OF:
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text
