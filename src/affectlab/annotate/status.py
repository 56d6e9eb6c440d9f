"""Where a project stands, as plain data."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection

from affectlab.annotate.adjudicate import tally
from affectlab.annotate.quality import sheet
from affectlab.annotate.store import panels, people, works
from affectlab.annotate.store.project import awaited_names, current_design


def project_status(conn: Connection) -> dict[str, Any]:
    """Items, slots by status, people with what is flagged about their work, and names of ``awaited`` people.

    The latter have items fixed for them and no account.
    """
    design = current_design(conn)
    found = panels.panels(conn, design)
    everybody = []
    for one in people.people(conn):
        figures = sheet(design, works.works_of(conn, design, one.id), works.others_of(found, one.id))
        everybody.append(
            {
                "id": one.id,
                "name": one.name,
                "role": one.role,
                "answered": figures.answered,
                "skipped": figures.skipped,
                "flags": [flag.name for flag in figures.flags],
            }
        )
    return {
        "design": f"{design.name} (version {design.version}, guidelines {design.guidelines.version})",
        "items": len(found),
        "complete": sum(panel.complete for panel in found),
        "slots": {slot: dict(counts) for slot, counts in tally(design, found).items()},
        "people": everybody,
        "awaited": awaited_names(conn),
        "skipped_by_all": [
            panel.unit.id for panel in found if panel.complete and all(vote.reply.skipped for vote in panel.votes)
        ],
    }
