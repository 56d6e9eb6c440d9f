"""What is written on pages before and after the work, and in decisions, until it is sent: kept like drafts of items.

One form a person and kind of page is kept, as its fields; the page it belongs to fills itself with it again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlalchemy import Connection
from starlette.responses import Response

from affectlab.annotate.store import drafts
from affectlab.annotate.store.people import lock_person
from affectlab.annotate.web.visit import Visit

STAGE, DECISION = "stage", "decision"
_NOT_KEPT = frozenset({"csrf", "kept"})


def keep(visit: Visit) -> Response:
    """Keep the form of a page as it is now. Field ``kept`` says which page: a kind, a colon and what tells it apart."""
    kind = visit.field("kept").partition(":")[0]
    if kind not in {STAGE, DECISION}:
        return visit.refuse("unreadable", 400)
    with visit.site.store.write() as conn:
        keep_form(visit, conn, visit.field("kept"), visit.form)
    return Response(status_code=204)


def keep_form(visit: Visit, conn: Connection, place: str, form: Mapping[str, Sequence[str]]) -> None:
    """Keep a form in the place of the one kept before for this kind of page."""
    lock_person(conn, visit.me.id)
    body = {"kept": place, "form": {name: list(values) for name, values in form.items() if name not in _NOT_KEPT}}
    drafts.put(conn, _key(place), visit.me.id, body, visit.site.store.now())


def kept(visit: Visit, conn: Connection, place: str) -> dict[str, list[str]]:
    """Fields kept for a page; empty when there are none."""
    body = drafts.get(conn, _key(place), visit.me.id)
    return dict(body["form"]) if body and body["kept"] == place else {}


def forget(visit: Visit, conn: Connection, place: str) -> None:
    """Drop what is kept for this kind of page: it was sent."""
    drafts.drop(conn, _key(place), visit.me.id)


def _key(place: str) -> str:
    return f"kept:{place.partition(':')[0]}"
