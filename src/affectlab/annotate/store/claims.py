"""Who gets which item: exactly n distinct people each, leases that lapse, an order of one's own, probes in between.

Rows of people and items are locked with ``key_share`` here and in the other modules of the store: on PostgreSQL whoever
adds a row that refers to one would else wait for the lock, and two windows of one person for each other.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, exists, func, insert, or_, select, update

from affectlab.annotate.design import Design
from affectlab.annotate.store import tables as t
from affectlab.annotate.store.engine import Store
from affectlab.annotate.store.people import Person, RefusedError
from affectlab.annotate.store.project import PRIME, get_setting

EDGE = 2
"""Attention items are never among the first or last two."""

_MOST_TURNS = 200
"""So often a claim waits for an item that turns out to be full by then: more than people who could claim at once."""


def claim(conn: Connection, design: Design, person: Person, now: float) -> str | None:
    """The item a person is to work on: one already open, else a new one; ``None`` when there is none left.

    What lapsed is freed before, by :func:`free_lapsed`.

    Items that others have begun come first, so that agreement can be watched early; among equals the order is the
    person's own, fixed by the project's seed.

    Raises:
        RefusedError: ``busy`` when others went first again and again.
    """
    conn.execute(select(t.person.c.id).where(t.person.c.id == person.id).with_for_update(key_share=True))
    seed = str(get_setting(conn, "seed"))
    opened = _open_item(conn, person)
    if opened is not None:
        renew(conn, design, opened, person.id, now)
        return opened
    number = _count(conn, person)
    extra = _attention(conn, design, person, number, seed) or _repeat(conn, design, person, number, seed)
    if extra is not None:
        _assign(conn, design, extra, person, None, number, now)
        return extra
    item = _next(conn, design, person, seed)
    if item is None:
        return None
    _assign(conn, design, item, person, _free_place(conn, item), number, now)
    conn.execute(update(t.item).where(t.item.c.id == item).values(taken=t.item.c.taken + 1))
    return item


def claim_own(conn: Connection, design: Design, item: str, person: Person, now: float) -> None:
    """Give a person an item outside all counts: a story of his or her own, a training item."""
    there = select(t.assignment.c.item).where(t.assignment.c.item == item, t.assignment.c.person == person.id)
    if not conn.execute(there).first():
        _assign(conn, design, item, person, None, _count(conn, person), now)


def take_place(conn: Connection, design: Design, item: str, person: str, now: float) -> bool:
    """Give an imported answer one of the item's places; false when all are taken."""
    taken = conn.execute(select(t.item.c.taken).where(t.item.c.id == item).with_for_update(key_share=True)).scalar_one()
    if taken >= design.overlap:
        return False
    place = _free_place(conn, item)
    values = {"place": place, "number": 0, "state": "open", "leased_until": now, "at": now}
    conn.execute(insert(t.assignment).values(item=item, person=person, **values))
    conn.execute(update(t.item).where(t.item.c.id == item).values(taken=taken + 1))
    return True


def free_lapsed(store: Store) -> None:
    """Free lapsed items in a transaction of its own.

    One that went on to claim would hold locks of items in whatever order, and others with it could wait in a circle.
    """
    now = store.now()
    with store.read() as conn:
        if not conn.execute(select(exists().where(_lapsed(now)))).scalar_one():
            return
    with store.write() as conn:
        release_lapsed(conn, now)


def _lapsed(now: float) -> ColumnElement[bool]:
    a = t.assignment
    return and_(a.c.state == "open", a.c.leased_until < now, a.c.place.is_not(None))


def release_lapsed(conn: Connection, now: float) -> int:
    """Free the items of people who gave no sign of life for the length of a lease; returns how many."""
    a = t.assignment
    rows = conn.execute(
        select(a.c.item, a.c.person).where(_lapsed(now)).order_by(a.c.item).with_for_update(skip_locked=True)
    ).all()
    for row in rows:
        mine = and_(a.c.item == row.item, a.c.person == row.person)
        conn.execute(update(a).where(mine).values(state="lapsed", place=None))
        conn.execute(update(t.item).where(t.item.c.id == row.item).values(taken=t.item.c.taken - 1))
    return len(rows)


def renew(conn: Connection, design: Design, item: str, person: str, now: float) -> None:
    """Lengthen the lease of an open item."""
    a = t.assignment
    mine = and_(a.c.item == item, a.c.person == person, a.c.state == "open")
    conn.execute(update(a).where(mine).values(leased_until=now + 60 * design.lease_minutes))


def regain(conn: Connection, design: Design, item: str, person: str, now: float) -> bool:
    """Take a lapsed item up again, if nobody else has taken the place meanwhile."""
    conn.execute(select(t.item.c.id).where(t.item.c.id == item).with_for_update(key_share=True))
    taken = conn.execute(select(t.item.c.taken).where(t.item.c.id == item)).scalar_one()
    if taken >= design.overlap:
        return False
    mine = and_(t.assignment.c.item == item, t.assignment.c.person == person)
    values = {"state": "open", "place": _free_place(conn, item), "leased_until": now + 60 * design.lease_minutes}
    conn.execute(update(t.assignment).where(mine).values(**values))
    conn.execute(update(t.item).where(t.item.c.id == item).values(taken=taken + 1))
    return True


def _open_item(conn: Connection, person: Person) -> str | None:
    a = t.assignment
    query = (
        select(a.c.item)
        .join(t.item, t.item.c.id == a.c.item)
        .where(a.c.person == person.id, a.c.state == "open", t.item.c.kind != "training")
    )
    found: str | None = conn.execute(query.order_by(a.c.number).limit(1)).scalar()
    return found


def _count(conn: Connection, person: Person) -> int:
    """How many items a person has been given; the number of the next one."""
    query = (
        select(func.count())
        .select_from(t.assignment.join(t.item))
        .where(t.assignment.c.person == person.id, t.item.c.kind != "training")
    )
    return int(conn.execute(query).scalar_one())


def _attention(conn: Connection, design: Design, person: Person, number: int, seed: str) -> str | None:
    return next((item for item, place in _unseen(conn, design, person, seed).items() if place <= number), None)


def _unseen(conn: Connection, design: Design, person: Person, seed: str) -> dict[str, int]:
    """Attention items the person was not given yet, and at which number of the person's items each comes."""
    if not design.attention:
        return {}
    places = attention_places([probe.id for probe in design.attention], _total(conn), f"{seed}:{person.id}")
    given = set(conn.execute(_mine(person, "attention")).scalars())
    return {item: place for item, place in places.items() if item not in given}


def attention_places(probes: Sequence[str], total: int, seed: str) -> dict[str, int]:
    """At which number of a person's items each attention item comes, from 0: spread out, seeded, never at the edges.

    Args:
        probes: Ids of the attention items.
        total: Items of the project; with fewer than five there is no room and none is placed.
        seed: The project's seed and the person.
    """
    length = total + len(probes)
    first, last = EDGE, length - EDGE - 1
    if total < 2 * EDGE + 1:
        return {}
    order = sorted(probes, key=lambda probe: sha256(f"{seed}:{probe}".encode()).digest())
    width = (last - first + 1) / len(order)
    places: dict[str, int] = {}
    for index, probe in enumerate(order):
        shift = int.from_bytes(sha256(f"{seed}:{probe}:place".encode()).digest()[:4]) / 2**32
        places[probe] = min(last, first + int((index + shift) * width))
    return places


def repeats_of(design: Design, total: int) -> tuple[int, int]:
    """Repeats that the design wants of a person who does all items, and how many of them there can be.

    Args:
        design: The study.
        total: Items of the project. Only what was done ``repeat_gap`` items before the end can come again.
    """
    wanted = int(design.repeat_share * total + 0.5)
    return wanted, max(0, min(wanted, total - design.repeat_gap))


def repeats_due(design: Design, total: int, early: int) -> int:
    """Repeats a person has been due so far: in proportion to ``early``, the items done long enough ago."""
    wanted, possible = repeats_of(design, total)
    return min(possible, wanted * early // (total - design.repeat_gap)) if possible else 0


def _repeat(conn: Connection, design: Design, person: Person, number: int, seed: str) -> str | None:
    """The repeat that is due, drawn from what the person did long enough ago."""
    if design.repeat_share == 0:
        return None
    a = t.assignment
    long_ago = (a.c.person == person.id, a.c.state == "done", a.c.number <= number - design.repeat_gap)
    of_work = select(a.c.item).join(t.item, t.item.c.id == a.c.item).where(t.item.c.kind == "work", *long_ago)
    early = conn.execute(select(func.count()).select_from(of_work.subquery())).scalar_one()
    if repeats_due(design, _total(conn), early) <= _number(conn, person, "repeat"):
        return None
    again = select(t.item.c.id).where(t.item.c.kind == "repeat", t.item.c.of.in_(of_work))
    found = conn.execute(again.where(t.item.c.id.not_in(_mine(person, "repeat")))).scalars()
    return min(found, key=lambda item: sha256(f"{seed}:{person.id}:{item}".encode()).digest(), default=None)


def _total(conn: Connection) -> int:
    return int(conn.execute(select(func.count()).select_from(t.item).where(t.item.c.kind == "work")).scalar_one())


def _number(conn: Connection, person: Person, kind: str) -> int:
    return int(conn.execute(select(func.count()).select_from(_mine(person, kind).subquery())).scalar_one())


def _mine(person: Person, kind: str) -> Any:
    return (
        select(t.assignment.c.item)
        .join(t.item, t.item.c.id == t.assignment.c.item)
        .where(t.assignment.c.person == person.id, t.item.c.kind == kind)
    )


def left(conn: Connection, design: Design, person: Person) -> int:
    """How many more items there are for a person, as things stand: of the study, attention items and repeats."""
    free = _free(conn, design, person)
    # Two counts by index, instead of asking each item whether the person had it.
    all_free = conn.execute(select(func.count()).select_from(t.item).where(*free)).scalar_one()
    query = select(func.count()).select_from(t.assignment.join(t.item)).where(*free)
    own = query.where(t.assignment.c.person == person.id, t.assignment.c.state != "lapsed")
    work = int(all_free) - int(conn.execute(own).scalar_one())
    number = _count(conn, person)
    last = number + work
    for place in sorted(_unseen(conn, design, person, str(get_setting(conn, "seed"))).values()):
        last += place <= last
    return last - number + _repeats_left(conn, design, person, number, last)


def _repeats_left(conn: Connection, design: Design, person: Person, number: int, last: int) -> int:
    """Repeats still to come for somebody who goes on from item ``number`` to ``last``."""
    if design.repeat_share == 0:
        return 0
    a = t.assignment
    query = select(a.c.number, a.c.state, t.item.c.kind).join(t.item, t.item.c.id == a.c.item)
    mine = conn.execute(query.where(a.c.person == person.id).order_by(a.c.number)).all()
    numbers = [row.number for row in mine if row.kind == "work" and row.state in {"done", "open"}]
    given = sum(row.kind == "repeat" for row in mine)
    total, more = _total(conn), 0
    while True:
        end = last + more - design.repeat_gap  # what has a number up to here can have come again by then
        early = bisect_right(numbers, end) + max(0, min(last - 1, end) - number + 1)
        due = repeats_due(design, total, early) - given
        if due <= more:
            return more
        more = due


def _next(conn: Connection, design: Design, person: Person, seed: str) -> str | None:
    digest = sha256(f"{seed}:{person.id}:order".encode()).digest()
    factor, shift = 1 + int.from_bytes(digest[:4]) % (PRIME - 1), int.from_bytes(digest[4:8]) % PRIME
    order = (t.item.c.rank * factor + shift) % PRIME
    query = select(t.item.c.id).where(*_open_to(conn, design, person))
    query = query.order_by(t.item.c.taken.desc(), order, t.item.c.place).limit(1)
    for _ in range(_MOST_TURNS):
        free: str | None = conn.execute(query.with_for_update(skip_locked=True, key_share=True)).scalar()
        if free is not None:
            return free
        # Nothing, or nothing but what others are just being given? Of those some may have places left: wait for one.
        wanted = conn.execute(query).scalar()
        if wanted is None:
            return None
        turn = conn.begin_nested()
        conn.execute(select(t.item.c.id).where(t.item.c.id == wanted).with_for_update(key_share=True))
        if conn.execute(query.where(t.item.c.id == wanted)).scalar() is not None:
            turn.commit()
            return str(wanted)
        turn.rollback()  # it is full; who kept its lock while waiting for the next could be waited for in turn
    raise RefusedError("busy")


def _open_to(conn: Connection, design: Design, person: Person) -> list[ColumnElement[bool]]:
    had = exists().where(
        t.assignment.c.item == t.item.c.id, t.assignment.c.person == person.id, t.assignment.c.state != "lapsed"
    )
    return [*_free(conn, design, person), ~had]


def _free(conn: Connection, design: Design, person: Person) -> list[ColumnElement[bool]]:
    """Items with a place that this person may have, whether or not he or she had them."""
    allowed: list[ColumnElement[bool]] = [t.item.c.kind == "work", t.item.c.taken < design.overlap]
    if design.story is not None:
        allowed += [or_(t.item.c.author.is_(None), t.item.c.author != person.id), _told()]
    if conn.execute(select(t.pairing.c.item).limit(1)).first():
        allowed.append(exists().where(t.pairing.c.item == t.item.c.id, t.pairing.c.name == person.name))
    return allowed


def _told() -> ColumnElement[bool]:
    """Stories are observed once their author has answered about them."""
    author = t.assignment.alias()
    told = exists().where(author.c.item == t.item.c.id, author.c.person == t.item.c.author, author.c.state == "done")
    return or_(t.item.c.author.is_(None), told)


def _free_place(conn: Connection, item: str) -> int:
    query = select(t.assignment.c.place).where(t.assignment.c.item == item, t.assignment.c.place.is_not(None))
    taken = set(conn.execute(query).scalars())
    return next(place for place in range(1, len(taken) + 2) if place not in taken)


def _assign(
    conn: Connection, design: Design, item: str, person: Person, place: int | None, number: int, now: float
) -> None:
    values: dict[str, Any] = {
        "place": place,
        "number": number,
        "state": "open",
        "leased_until": now + 60 * design.lease_minutes,
        "at": now,
    }
    mine = and_(t.assignment.c.item == item, t.assignment.c.person == person.id)
    if conn.execute(update(t.assignment).where(mine, t.assignment.c.state == "lapsed").values(**values)).rowcount == 0:
        conn.execute(insert(t.assignment).values(item=item, person=person.id, **values))
