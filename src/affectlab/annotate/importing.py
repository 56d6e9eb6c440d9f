"""Adding items and answers from files to a project that is there."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from sqlalchemy import Connection, insert, update

from affectlab.annotate.answers import Answer, read_answers
from affectlab.annotate.design import Design
from affectlab.annotate.slots import Slot
from affectlab.annotate.sources import read_units
from affectlab.annotate.store import people, project, replies
from affectlab.annotate.store import tables as t
from affectlab.annotate.store.claims import take_place
from affectlab.annotate.store.engine import Store
from affectlab.annotate.store.people import Newcomer
from affectlab.annotate.units import Unit, unique
from affectlab.annotate.values import Reply, checked
from affectlab.errors import UserError


def import_items(store: Store, source: str, fields: Mapping[str, str]) -> tuple[int, int]:
    """Add the items of a file; returns how many were added and how many were there already."""
    with store.read() as conn:
        design = project.current_design(conn)
    kept, doubled = unique(read_units(design, source, fields))
    added = there = 0
    # In pieces, so that people who submit meanwhile wait for a moment only.
    for start in range(0, len(kept), 500):
        piece = kept[start : start + 500]
        with store.write() as conn:
            dropped = project.add_units(conn, design, piece, int(project.get_setting(conn, "seed")))
        added += len(piece) - len(dropped)
        there += len(dropped)
    return added, there + len(doubled)


def import_answers(store: Store, source: str, columns: Mapping[str, str]) -> tuple[int, int]:
    """Add the answers of a file in long form; returns how many, and of how many annotators.

    Each annotator becomes an account without a password, under the code of the file. An answer takes one of the item's
    places, so that nobody else is asked for it.

    Raises:
        UserError: Listing answers that fit no item or slot, or that there is no place for. Nothing is added then.
    """
    found = read_answers(source, columns).answers
    by_reply: dict[tuple[str, str], list[Answer]] = defaultdict(list)
    for one in found:
        by_reply[one.annotator, one.item].append(one)
    problems: list[str] = []
    with store.write() as conn:
        design = project.current_design(conn)
        persons = _accounts(conn, [annotator for annotator, _ in by_reply], store.now())
        for (annotator, item), given in by_reply.items():
            problems += _add(conn, design, item, persons[annotator], given, store.now())
        if problems:
            more = f"\n  … and {len(problems) - 20} more" if len(problems) > 20 else ""
            raise UserError(f"{source}: nothing was added\n  " + "\n  ".join(problems[:20]) + more)
    return len(found), len(persons)


def _accounts(conn: Connection, names: list[str], now: float) -> dict[str, str]:
    there = {one.name: one.id for one in people.people(conn)} | {one.id: one.id for one in people.people(conn)}
    found = {}
    for name in dict.fromkeys(names):
        found[name] = there.get(name) or people.add_person(
            conn, Newcomer(name, ""), "annotator", now, code=name if len(name) <= 32 else ""
        )
    return found


def _add(conn: Connection, design: Design, item: str, person: str, given: list[Answer], now: float) -> list[str]:
    unit = project.unit_of(conn, item)
    if unit is None:
        return [f"item {item!r} is not in the project"]
    reply, problems = _reply(design, unit, given)
    if problems:
        return [f"item {item!r}, {given[0].annotator!r}: {text}" for text in problems]
    if replies.state_of(conn, item, person) is not None:
        return [f"item {item!r}, {given[0].annotator!r}: has an answer already"]
    if not take_place(conn, design, item, person, now):
        return [f"item {item!r}, {given[0].annotator!r}: {design.overlap} people have it already"]
    key = sha256(f"import:{person}:{item}".encode()).hexdigest()
    row = {"item": item, "person": person, "version": 1, "body": reply.body(), "submit_key": key}
    conn.execute(
        insert(t.response).values(
            **row, design_version=design.version, guideline_version=design.guidelines.version, at=now
        )
    )
    state = "skipped" if reply.skipped else "done"
    mine = (t.assignment.c.item == item) & (t.assignment.c.person == person)
    conn.execute(update(t.assignment).where(mine).values(state=state))
    return []


def _reply(design: Design, unit: Unit, given: list[Answer]) -> tuple[Reply, list[str]]:
    unknown = [f"there is no slot {one.slot!r}" for one in given if one.slot not in design.slot]
    if unknown:
        return Reply(), unknown
    if all(not one.counts for one in given):
        known = {option.id for option in design.skip_reasons}
        reason = given[0].reason if given[0].reason in known else design.skip_reasons[0].id
        return Reply(skipped=reason), []
    values = {one.slot: stored_value(design.slot[one.slot], one.value) for one in given if one.counts}
    reply, wrong = checked(design.slots, unit, Reply(values))
    return reply, [f"slot {slot!r}: {what.replace('_', ' ')}" for slot, what in wrong.items() if slot in values]


def stored_value(slot: Slot, value: Any) -> Any:
    """An exported value as it is stored."""
    if slot.kind in {"scale", "number"} and isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, tuple):
        return [option.id for option in slot.options if option.id in value]
    if isinstance(value, Mapping):
        return {name: int(level) for name, level in value.items()}
    return value
