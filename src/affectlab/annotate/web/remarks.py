"""What annotators say about items beside their answers, for the administrator: flags, comments, why left out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from starlette.responses import Response

from affectlab.annotate.adjudicate import settle
from affectlab.annotate.design import Design
from affectlab.annotate.slots import Slot, named
from affectlab.annotate.store import panels, people, project, replies
from affectlab.annotate.store.replies import Stored
from affectlab.annotate.units import Unit
from affectlab.annotate.values import options_of, tell
from affectlab.annotate.web.visit import Visit
from affectlab.annotate.words import say


@dataclass(frozen=True)
class Said:
    """What one person says about an item.

    Attributes:
        person: The person's id.
        flag: Whether somebody should look at it.
        left_out: Id of the reason for leaving it out; empty when answered.
        comment: In the person's words; may be empty.
    """

    person: str
    flag: bool
    left_out: str
    comment: str


def remarks(stored: Iterable[Stored]) -> dict[str, list[Said]]:
    """Item -> what people say about it, in the order of the answers; items nobody says anything about are left out."""
    found: dict[str, list[Said]] = {}
    for one in stored:
        reply = one.reply
        if reply.flag or reply.skipped or reply.comment:
            found.setdefault(one.item, []).append(Said(one.person, reply.flag, reply.skipped, reply.comment))
    return found


def item(visit: Visit) -> Response:
    """One item with all that was answered, said, noted and decided about it, by name."""
    wanted = visit.request.path_params["item"]
    with visit.site.store.read() as conn:
        design = visit.site.design(conn)
        unit = project.unit_of(conn, wanted)
        if unit is None:
            return visit.refuse("not_found", 404)
        panel = panels.panel(conn, design, wanted)
        stored = panels.renamed(replies.current(conn, item=wanted), project.design_mappings(conn), design)
        names = {one.id: one.name for one in people.people(conn)}
        notes = [(names.get(person, person), text) for person, text, _ in panels.notes(conn, wanted)]
    rows = []
    for slot in design.slots:
        where = settle(design, slot, panel) if panel else None
        made = panel.decisions.get(slot.id) if panel else None
        rows.append(
            {
                "title": say(slot.title, visit.language),
                "answers": [_worded(slot, unit, one.reply.values.get(slot.id), visit.language) for one in stored],
                "status": where.status if where else "",
                "gold": _worded(slot, unit, where.value, visit.language) if where else "–",
                "decided": (names.get(made.person, made.person), made.reason) if made else None,
            }
        )
    return visit.page(
        "admin_item.html",
        design=design,
        unit=unit,
        answered_by=[names.get(one.person, one.person) for one in stored],
        rows=rows,
        said=remarks(stored).get(wanted, []),
        names=names,
        reasons=reasons_of(design, visit.language),
        notes=notes,
    )


def reasons_of(design: Design, language: str) -> Mapping[str, str]:
    """Reasons for leaving an item out: id -> words."""
    return named(design.skip_reasons, language)


def _worded(slot: Slot, unit: Unit, value: Any, language: str) -> str:
    if value is None:
        return "–"
    return tell(slot, value, named(options_of(slot, unit), language))
