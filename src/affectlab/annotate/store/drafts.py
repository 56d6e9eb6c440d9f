"""What is not sent yet: drafts of answers, under a revision; forms and interviews under keys that are no item's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, and_, delete, insert, select, update

from affectlab.annotate.design import Design
from affectlab.annotate.store import tables as t
from affectlab.annotate.store.claims import renew
from affectlab.annotate.store.people import RefusedError
from affectlab.annotate.values import Reply


@dataclass(frozen=True)
class Window:
    """Which window of a browser saves, by its submit key, and the revision it has last read."""

    key: str
    rev: int


def save_draft(conn: Connection, design: Design, key: tuple[str, str], reply: Reply, window: Window, now: float) -> int:
    """Keep what is not submitted yet; returns the new revision. A sign of life: the lease is renewed.

    Raises:
        RefusedError: ``draft_changed`` when another window has saved since this one read its revision.
    """
    item, person = key
    mine = and_(t.draft.c.item == item, t.draft.c.person == person)
    there = conn.execute(select(t.draft.c.rev, t.draft.c.window).where(mine).with_for_update()).first()
    rev = there.rev if there else 0
    # A window whose answer got lost on the way repeats itself with the old revision.
    if rev != window.rev and (there is None or there.window != window.key):
        raise RefusedError("draft_changed")
    values = {"body": reply.body(), "rev": rev + 1, "window": window.key, "at": now}
    if there:
        conn.execute(update(t.draft).where(mine).values(**values))
    else:
        conn.execute(insert(t.draft).values(item=item, person=person, **values))
    renew(conn, design, item, person, now)
    return int(rev) + 1


def read_draft(conn: Connection, item: str, person: str) -> tuple[Reply | None, int]:
    """A draft and its revision; nothing and 0 when there is none."""
    query = select(t.draft.c.body, t.draft.c.rev).where(t.draft.c.item == item, t.draft.c.person == person)
    row = conn.execute(query).first()
    return (Reply.from_body(row.body), row.rev) if row else (None, 0)


def put(conn: Connection, key: str, person: str, body: Mapping[str, Any], now: float) -> None:
    """Keep something of a person under a key, in the place of what was kept there."""
    drop(conn, key, person)
    conn.execute(insert(t.draft).values(item=key, person=person, body=dict(body), rev=1, window="", at=now))


def get(conn: Connection, key: str, person: str) -> dict[str, Any] | None:
    """What is kept of a person under a key; ``None`` when there is nothing."""
    query = select(t.draft.c.body).where(t.draft.c.item == key, t.draft.c.person == person)
    found: dict[str, Any] | None = conn.execute(query).scalar()
    return found


def drop(conn: Connection, key: str, person: str) -> None:
    """Forget what is kept of a person under a key."""
    conn.execute(delete(t.draft).where(t.draft.c.item == key, t.draft.c.person == person))
