"""What the quality sheet needs of one person."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, select

from affectlab.annotate.adjudicate import Panel
from affectlab.annotate.design import Design
from affectlab.annotate.quality import Work
from affectlab.annotate.store import tables as t
from affectlab.annotate.store.panels import renamed
from affectlab.annotate.store.project import design_mappings
from affectlab.annotate.store.replies import current
from affectlab.annotate.units import Unit


def works_of(conn: Connection, design: Design, person: str) -> list[Work]:
    """A person's newest answers, in the order they arrived, with the labels of the newest design."""
    query = select(t.item).join(t.assignment, t.assignment.c.item == t.item.c.id).where(t.assignment.c.person == person)
    items = {row.id: row for row in conn.execute(query)}
    found = []
    stored = renamed(current(conn, person=person), design_mappings(conn), design)
    for one in sorted(stored, key=lambda one: one.at):
        row = items[one.item]
        unit = Unit.from_body(row.id, row.body)
        found.append(
            Work(
                item=one.item,
                kind=row.kind,
                text="\n".join(unit.text(shown.field) for shown in design.shown),
                values=one.reply.values,
                skipped=one.reply.skipped,
                at=one.at,
                active_ms=one.measured.active_ms,
                expected=row.expected,
                of=row.of or "",
                typing=one.measured.typing,
                options={slot: [option.id for option in options] for slot, options in unit.options.items()},
            )
        )
    return found


def others_of(found: Sequence[Panel], person: str) -> dict[str, dict[str, Mapping[str, Any]]]:
    """What the others answered: item -> person -> values by slot."""
    return {
        panel.unit.id: {
            vote.person: vote.reply.values for vote in panel.votes if vote.person != person and not vote.reply.skipped
        }
        for panel in found
    }
