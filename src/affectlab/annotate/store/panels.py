"""Items with the answers that count and the decisions made about them; stages people have been through."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, and_, func, insert, select

from affectlab.annotate.adjudicate import Made, Panel, Vote
from affectlab.annotate.design import Design
from affectlab.annotate.slots import compose
from affectlab.annotate.store import tables as t
from affectlab.annotate.store.project import decision_rows, design_mappings, newest_version, unit_of, units, up_to_date
from affectlab.annotate.store.replies import Stored, current
from affectlab.annotate.units import Unit


def panels(conn: Connection, design: Design) -> list[Panel]:
    """All items to be worked on, in file order."""
    return panels_and_answers(conn, design)[0]


def panels_and_answers(conn: Connection, design: Design) -> tuple[list[Panel], list[Stored]]:
    """All items to be worked on, in file order, and the stored answers that count."""
    query = select(t.assignment.c.item, t.assignment.c.person).where(t.assignment.c.place.is_not(None))
    counting = {(row.item, row.person) for row in conn.execute(query)}
    stored = [one for one in current(conn) if (one.item, one.person) in counting]
    votes: dict[str, list[Vote]] = defaultdict(list)
    for one, named in zip(stored, renamed(stored, design_mappings(conn), design), strict=True):
        votes[one.item].append(Vote(one.person, named.reply, one.reply))
    made = _decisions(conn)
    return [_panel(design, unit, votes[unit.id], made[unit.id]) for unit in units(conn)], stored


def awaited(conn: Connection, found: Sequence[Panel]) -> list[Panel]:
    """Items that people are still to answer. A story that its writer has left out is shown to nobody."""
    a = t.assignment
    own = and_(a.c.item == t.item.c.id, a.c.person == t.item.c.author)
    left_out = set(conn.execute(select(t.item.c.id).join(a, own).where(a.c.state == "skipped")).scalars())
    return [one for one in found if not one.complete and one.unit.id not in left_out]


def panel(conn: Connection, design: Design, item: str) -> Panel | None:
    """One item; ``None`` when there is none of this id to be worked on."""
    kind = conn.execute(select(t.item.c.kind).where(t.item.c.id == item)).scalar()
    unit = unit_of(conn, item)
    if unit is None or kind != "work":
        return None
    mine = and_(t.assignment.c.item == item, t.assignment.c.place.is_not(None))
    counting = set(conn.execute(select(t.assignment.c.person).where(mine)).scalars())
    stored = [one for one in current(conn, item=item) if one.person in counting]
    named = renamed(stored, design_mappings(conn), design)
    votes = [Vote(one.person, new.reply, one.reply) for one, new in zip(stored, named, strict=True)]
    return _panel(design, unit, votes, _decisions(conn, item)[item])


def _panel(design: Design, unit: Unit, votes: list[Vote], made: Mapping[str, Made]) -> Panel:
    return Panel(unit, tuple(votes), design.overlap, made)


def renamed(
    stored: list[Stored], mappings: Mapping[int, Mapping[str, Mapping[str, str]]], design: Design
) -> list[Stored]:
    """Answers with the labels of the newest design: renamed by every version after the one they were given under."""
    if not any(mappings.values()):
        return stored
    return [_rename(one, mappings, design) for one in stored]


def _rename(one: Stored, mappings: Mapping[int, Mapping[str, Mapping[str, str]]], design: Design) -> Stored:
    values = {slot: up_to_date(v, slot, one.design_version, mappings) for slot, v in one.reply.values.items()}
    for slot in design.slots:
        if slot.kind == "derived" and slot.id in values:
            values[slot.id] = compose(slot, values)
    return replace(one, reply=replace(one.reply, values=values))


def _decisions(conn: Connection, item: str | None = None) -> dict[str, dict[str, Made]]:
    mappings = design_mappings(conn)
    found: dict[str, dict[str, Made]] = defaultdict(dict)
    for row in decision_rows(conn, item).values():
        value = up_to_date(row.value["value"], row.slot, row.version_of_design, mappings)
        found[row.item][row.slot] = Made(value, row.choice, row.reason, row.basis, row.person, row.at)
    return found


def decide(conn: Connection, item: str, slot: str, made: Made) -> int:
    """Add a decision; returns its version. Earlier ones stay."""
    d = t.decision
    conn.execute(select(t.item.c.id).where(t.item.c.id == item).with_for_update(key_share=True))
    last = conn.execute(select(func.max(d.c.version)).where(d.c.item == item, d.c.slot == slot)).scalar() or 0
    conn.execute(
        insert(d).values(
            item=item,
            slot=slot,
            version=last + 1,
            value={"value": made.value, "design": newest_version(conn)},
            choice=made.choice,
            reason=made.reason,
            basis=made.basis,
            person=made.person,
            at=made.at,
        )
    )
    return int(last) + 1


def add_note(conn: Connection, item: str, person: str, text: str, now: float) -> None:
    """Add a note to the discussion of an item."""
    conn.execute(insert(t.note).values(item=item, person=person, text=text, at=now))


def notes(conn: Connection, item: str) -> list[tuple[str, str, float]]:
    """Notes on an item, oldest first: person, text, time."""
    query = select(t.note).where(t.note.c.item == item).order_by(t.note.c.id)
    return [(row.person, row.text, row.at) for row in conn.execute(query)]


def add_stage(conn: Connection, person: str, name: str, body: Mapping[str, Any], now: float) -> int:
    """Write down that a person has been through a stage; returns how often now."""
    conn.execute(select(t.person.c.id).where(t.person.c.id == person).with_for_update(key_share=True))
    mine = and_(t.stage.c.person == person, t.stage.c.name == name)
    attempt = (conn.execute(select(func.max(t.stage.c.attempt)).where(mine)).scalar() or 0) + 1
    conn.execute(insert(t.stage).values(person=person, name=name, attempt=attempt, body=dict(body), at=now))
    return int(attempt)


def stages_of(conn: Connection, person: str) -> dict[str, list[dict[str, Any]]]:
    """What a person has been through: stage -> what was said each time, oldest first."""
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    query = select(t.stage.c.name, t.stage.c.body).where(t.stage.c.person == person).order_by(t.stage.c.attempt)
    for row in conn.execute(query):
        found[row.name].append(row.body)
    return found
