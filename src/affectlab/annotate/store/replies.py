"""Answers: only ever added, each submit once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, and_, func, insert, select, update

from affectlab.annotate.design import Design
from affectlab.annotate.store import drafts
from affectlab.annotate.store import tables as t
from affectlab.annotate.store.claims import regain
from affectlab.annotate.store.people import RefusedError
from affectlab.annotate.values import Reply

_DISCUSSION = "discussion"


@dataclass(frozen=True)
class Measured:
    """How an answer came about.

    Attributes:
        active_ms: Time the person was at it, as the page measured it.
        elapsed_ms: Time since the page was opened, likewise.
        typing: Rhythm of typing without content, where the person agreed.
    """

    active_ms: int | None = None
    elapsed_ms: int | None = None
    typing: Any = None


@dataclass(frozen=True)
class Submit:
    """One press of the button.

    Attributes:
        key: Drawn by the page, once for each time it is opened: the same key again stores nothing.
        measured: How the answer came about.
    """

    key: str
    measured: Measured = Measured()


@dataclass(frozen=True)
class Stored:
    """An answer as it is kept."""

    item: str
    person: str
    version: int
    reply: Reply
    design_version: int
    guideline_version: str
    at: float
    measured: Measured


def submit(conn: Connection, design: Design, key: tuple[str, str], reply: Reply, submit: Submit, now: float) -> int:
    """Store an answer, or a reason for leaving the item out; returns its version.

    The same submit key again gives the same version and stores nothing. A person's further answer to an item is a new
    version; the newest counts.

    Args:
        conn: A writing transaction.
        design: The current design.
        key: Item and person.
        reply: Checked answers.
        submit: Key and measures of this submit.
        now: The time.

    Raises:
        RefusedError: ``not_yours`` for an item the person was never given, ``lease_over`` when others have taken it up
            meanwhile (the draft stays), ``key_used`` when the key belongs to another answer, ``discussed`` for a change
            of an answer after :func:`begin_discussions`.
    """
    item, person = key
    mine = and_(t.assignment.c.item == item, t.assignment.c.person == person)
    state = conn.execute(select(t.assignment.c.state).where(mine).with_for_update()).scalar()
    if state is None:
        raise RefusedError("not_yours")
    before = conn.execute(select(t.response).where(t.response.c.submit_key == submit.key)).first()
    if before is not None:
        if (before.item, before.person) != key:
            raise RefusedError("key_used")
        return int(before.version)
    if state in {"done", "skipped"} and discussed(conn, item):
        raise RefusedError("discussed")
    if state == "lapsed" and not regain(conn, design, item, person, now):
        raise RefusedError("lease_over")
    last = select(func.max(t.response.c.version)).where(t.response.c.item == item, t.response.c.person == person)
    version = (conn.execute(last).scalar() or 0) + 1
    guidelines = design.guidelines.version
    add(conn, Stored(item, person, version, reply, design.version, guidelines, now, submit.measured), submit.key)
    drafts.drop(conn, item, person)
    return version


def add(conn: Connection, answer: Stored, submit_key: str) -> None:
    """Add an answer as it is, of somebody who was given the item, whose state it changes."""
    conn.execute(
        insert(t.response).values(
            item=answer.item,
            person=answer.person,
            version=answer.version,
            body=answer.reply.body(),
            submit_key=submit_key,
            design_version=answer.design_version,
            guideline_version=answer.guideline_version,
            at=answer.at,
            active_ms=answer.measured.active_ms,
            elapsed_ms=answer.measured.elapsed_ms,
            typing=answer.measured.typing,
        )
    )
    mine = and_(t.assignment.c.item == answer.item, t.assignment.c.person == answer.person)
    conn.execute(update(t.assignment).where(mine).values(state="skipped" if answer.reply.skipped else "done"))


def begin_discussions(conn: Connection, items: Iterable[str], person: str, now: float) -> None:
    """Write down that one of some items' annotators has seen what the others answered, or that it differs.

    From then on nobody changes an answer to them: agreement is about answers that were given independently, and what
    the discussion comes to is a decision.
    """
    known = conn.execute(select(t.event.c.body["item"].as_string()).where(t.event.c.kind == _DISCUSSION)).scalars()
    new = sorted(set(items) - set(known))
    if new:
        rows = [{"at": now, "person": person, "kind": _DISCUSSION, "body": {"item": item}} for item in new]
        conn.execute(insert(t.event), rows)


def discussed(conn: Connection, item: str) -> bool:
    """Whether :func:`begin_discussions` was called for an item."""
    e = t.event
    begun = select(e.c.id).where(e.c.kind == _DISCUSSION, e.c.body["item"].as_string() == item)
    return conn.execute(begun.limit(1)).first() is not None


def submitted_by(conn: Connection, key: tuple[str, str], submit_key: str) -> bool:
    """Whether an answer of this person to this item came with this submit key."""
    r = t.response
    mine = and_(r.c.item == key[0], r.c.person == key[1], r.c.submit_key == submit_key)
    return conn.execute(select(r.c.version).where(mine)).first() is not None


def state_of(conn: Connection, item: str, person: str) -> str | None:
    """State of a person's item; ``None`` when he or she was never given it."""
    query = select(t.assignment.c.state).where(t.assignment.c.item == item, t.assignment.c.person == person)
    found: str | None = conn.execute(query).scalar()
    return found


def current(conn: Connection, item: str | None = None, person: str | None = None) -> list[Stored]:
    """Newest answer of each person to each item, or of one item or person, in the order of items and people."""
    r = t.response
    newest = select(r.c.item, r.c.person, func.max(r.c.version).label("version")).group_by(r.c.item, r.c.person)
    if item is not None:
        newest = newest.where(r.c.item == item)
    if person is not None:
        newest = newest.where(r.c.person == person)
    last = newest.subquery()
    same = and_(r.c.item == last.c.item, r.c.person == last.c.person, r.c.version == last.c.version)
    query = select(r).join(last, same).join(t.item, t.item.c.id == r.c.item)
    return [_stored(row) for row in conn.execute(query.order_by(t.item.c.place, r.c.person))]


def history(conn: Connection, item: str, person: str) -> list[Stored]:
    """All answers of a person to an item, oldest first."""
    query = select(t.response).where(t.response.c.item == item, t.response.c.person == person)
    return [_stored(row) for row in conn.execute(query.order_by(t.response.c.version))]


def my_items(conn: Connection, person: str) -> list[tuple[str, str]]:
    """Items a person has been given and their states, in the order given; training left out."""
    a = t.assignment
    query = (
        select(a.c.item, a.c.state)
        .join(t.item, t.item.c.id == a.c.item)
        .where(a.c.person == person, t.item.c.kind != "training")
        .order_by(a.c.number)
    )
    return [(row.item, row.state) for row in conn.execute(query)]


def log(conn: Connection, person: str, kind: str, body: Mapping[str, Any], now: float) -> None:
    """Write down that something happened."""
    conn.execute(insert(t.event).values(at=now, person=person, kind=kind, body=dict(body)))


def _stored(row: Any) -> Stored:
    measured = Measured(row.active_ms, row.elapsed_ms, row.typing)
    return Stored(
        item=row.item,
        person=row.person,
        version=row.version,
        reply=Reply.from_body(row.body),
        design_version=row.design_version,
        guideline_version=row.guideline_version,
        at=row.at,
        measured=measured,
    )
