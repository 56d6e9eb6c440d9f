"""Answers of a file held against what a project holds: replies that can be added, and what is wrong with the others."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from sqlalchemy import Connection, select

from affectlab.annotate.answers import Answer, plain_id
from affectlab.annotate.design import Design
from affectlab.annotate.slots import Slot
from affectlab.annotate.store import people, project
from affectlab.annotate.store import tables as t
from affectlab.annotate.store.panels import renamed
from affectlab.annotate.store.replies import Measured, Stored
from affectlab.annotate.units import Unit
from affectlab.annotate.values import Reply, checked, options_of

UNSTATED = "unstated"
"""Reason of an item that was left out elsewhere, where nobody asked for one."""


@dataclass(frozen=True)
class Ready:
    """A checked reply of one person to one item.

    Attributes:
        item: The item's id in the project.
        person: Id of the account, which may have to be made.
        name: What the file calls the person.
        body: The reply as it is stored.
        answers: How many answers of the file it is.
        version: Version of the design it was given under.
        guidelines: Version of its guidelines.
        at: When, in seconds since 1970.
    """

    item: str
    person: str
    name: str
    body: Mapping[str, Any]
    answers: int
    version: int
    guidelines: str
    at: float

    @property
    def key(self) -> str:
        """Submit key: the same for the same person and item in every import."""
        return sha256(f"import:{self.person}:{self.item}".encode()).hexdigest()

    @property
    def where(self) -> str:
        """Item and person, for messages."""
        return f"item {self.item!r}, {self.person!r}"


def hold_against(conn: Connection, found: Sequence[Answer], now: float) -> tuple[list[Ready], int, list[str]]:
    """Replies to add, how many answers are there already, and what is wrong; one reply for each person and item.

    Args:
        conn: A reading transaction.
        found: Answers of people.
        now: The time of answers without one.
    """
    check = _Check(conn, now)
    by_reply: dict[tuple[str, str], list[Answer]] = defaultdict(list)
    for one in found:
        by_reply[one.annotator, one.item].append(one)
    problems = check.accounts(list(dict.fromkeys(annotator for annotator, _ in by_reply)))
    ready: list[Ready] = []
    there = 0
    for (annotator, item), given in by_reply.items():
        if annotator not in check.person:
            continue
        made, wrong = check.reply(annotator, item, given)
        problems += [f"item {item!r}, {annotator!r}: {text}" for text in wrong]
        if made is None:
            continue
        before = check.stored.get(made.key)
        if before is not None and before == made.body:
            there += made.answers
        elif (made.item, made.person) in check.given:
            problems.append(f"item {item!r}, {annotator!r}: has an answer already")
        else:
            ready.append(made)
    return ready, there, problems + check.too_many(ready)


class _Check:
    """What a project holds, against which the replies of a file are held."""

    def __init__(self, conn: Connection, now: float) -> None:
        self.now = now
        self.design = project.current_design(conn)
        designs = conn.execute(select(t.design.c.version, t.design.c.body))
        self.versions = {row.version: Design.model_validate(row.body) for row in designs}
        self.mappings = project.design_mappings(conn)
        self.units = {unit.id: unit for unit in project.units(conn)}
        # Files are read with ids in composed form and without blanks around them.
        self.ids: dict[str, list[str]] = defaultdict(list)
        for unit in self.units:
            self.ids[plain_id(unit)].append(unit)
        self.taken = {row.id: row.taken for row in conn.execute(select(t.item.c.id, t.item.c.taken))}
        query = select(t.assignment.c.item, t.assignment.c.person)
        self.given = {(row.item, row.person) for row in conn.execute(query)}
        first = select(t.response.c.submit_key, t.response.c.body).where(t.response.c.version == 1)
        self.stored = {row.submit_key: row.body for row in conn.execute(first)}
        everybody = people.people(conn)
        self.known = {one.name: one.id for one in everybody} | {one.id: one.id for one in everybody}
        self.person: dict[str, str] = {}

    def accounts(self, names: Sequence[str]) -> list[str]:
        """Find or name the account of each annotator; returns what is wrong."""
        problems = []
        whose: dict[str, str] = {}
        for name in names:
            kept = people.plain_name(name)
            code = self.known.get(name) or self.known.get(kept) or _code(kept)
            if not kept or len(kept) > 64:
                problems.append(f"annotator {name!r}: a name has 1 to 64 characters")
            elif code in whose:
                problems.append(f"annotators {whose[code]!r} and {name!r} are one account")
            else:
                whose[code] = name
                self.person[name] = code
        return problems

    def reply(self, annotator: str, item: str, given: Sequence[Answer]) -> tuple[Ready | None, list[str]]:
        """The reply that answers of one annotator to one item make, or what is wrong with them."""
        alike = self.ids.get(plain_id(item), [])
        if len(alike) != 1:
            many = f"{len(alike)} items of the project are written so, but for accents or blanks"
            return None, [many if alike else f"item {item!r} is not in the project"]
        unit = self.units[alike[0]]
        unknown = [f"there is no slot {one.slot!r}" for one in given if one.slot not in self.design.slot]
        unfinished = [f"slot {one.slot!r}: {one.status} is no answer" for one in given if one.status in _UNFINISHED]
        if unknown or unfinished:
            return None, [*unknown, *unfinished]
        version, problem = self._version(given)
        if problem:
            return None, [problem]
        reply, wrong = self._skip(given) if any(not one.counts for one in given) else self._values(version, unit, given)
        if wrong:
            return None, wrong
        at, wrong = self._time(given)
        under = self.versions[version]
        made = Ready(
            item=unit.id,
            person=self.person[annotator],
            name=annotator,
            body=reply.body(),
            answers=len(given),
            version=under.version,
            guidelines=under.guidelines.version,
            at=at,
        )
        return made, wrong

    def _version(self, given: Sequence[Answer]) -> tuple[int, str]:
        named = {one.schema for one in given}
        if len(named) > 1:
            return 0, f"answers under several versions of the design ({', '.join(sorted(named))})"
        (name,) = named
        if not name:
            return self.design.version, ""
        version = next((one for one in self.versions if str(one) == name), None)
        known = ", ".join(map(str, self.versions))
        if version is None:
            return 0, f"schema {name!r} is no version of the design ({known}); without the column the newest is meant"
        return version, ""

    def _skip(self, given: Sequence[Answer]) -> tuple[Reply, list[str]]:
        if any(one.counts for one in given):
            return Reply(), ["some slots are answered and some left out; an item is left out whole"]
        reasons = sorted({one.reason or UNSTATED for one in given})
        known = [option.id for option in self.design.skip_reasons]
        if len(reasons) > 1:
            return Reply(), [f"several reasons for leaving it out ({', '.join(reasons)})"]
        if reasons[0] not in (*known, UNSTATED):
            return Reply(), [f"reason {reasons[0]!r} is none of {', '.join(known)}"]
        return Reply(skipped=reasons[0]), []

    def _values(self, version: int, unit: Unit, given: Sequence[Answer]) -> tuple[Reply, list[str]]:
        wrote: dict[str, Any] = {}
        for one in given:
            wrote[one.slot] = stored_value(self.design.slot[one.slot], unit, one.value)
        old = Stored(unit.id, "", 1, Reply(wrote), version, "", self.now, Measured())
        (now,) = renamed([old], self.mappings, self.design)
        reply, wrong = checked(self.design.slots, unit, now.reply)
        asked_then = self.versions[version].slot
        problems = [
            f"slot {slot!r}: {what.replace('_', ' ')}"
            for slot, what in wrong.items()
            # What was not asked under an older version cannot be answered under it.
            if what != "missing" or slot in asked_then
        ]
        if not problems:
            problems = [
                f"slot {slot!r}: {self._unlike(slot)}"
                for slot, value in now.reply.values.items()
                if reply.values.get(slot) != value
            ]
        kept = {slot: wrote.get(slot, value) for slot, value in reply.values.items()}
        return Reply(kept), problems

    def _unlike(self, slot: str) -> str:
        if self.design.slot[slot].kind == "derived":
            return "is not what the slots it is made of come to"
        return "is not asked after these answers"

    def _time(self, given: Sequence[Answer]) -> tuple[float, list[str]]:
        """When the newest of the answers was given; the time of the import where the file does not say."""
        times = []
        for text in {one.time for one in given if one.time}:
            try:
                read = datetime.fromisoformat(text)
            except ValueError:
                return 0.0, [f"time {text!r} is not written as 2026-01-31T12:00:00+00:00"]
            times.append((read if read.tzinfo else read.replace(tzinfo=UTC)).timestamp())
        return max(times, default=self.now), []

    def too_many(self, ready: Sequence[Ready]) -> list[str]:
        """Replies for which their items have no place."""
        problems = []
        taken = dict(self.taken)
        for one in ready:
            if taken[one.item] >= self.design.overlap:
                problems.append(f"{one.where}: {self.design.overlap} people have it already")
            taken[one.item] += 1
        return problems


_UNFINISHED = frozenset({"draft", "invalid"})


def _code(name: str) -> str:
    """Code of a new account: the name, where it fits."""
    return name if len(name) <= 32 else f"a-{sha256(name.encode()).hexdigest()[:12]}"


def stored_value(slot: Slot, unit: Unit, value: Any) -> Any:
    """An exported value as it is stored; what does not fit stays as it is, for the check to refuse."""
    read: Callable[[Slot, Unit, Any], Any] | None = _STORED.get(slot.kind)
    return value if read is None else read(slot, unit, value)


def _whole(_: Slot, __: Unit, value: Any) -> Any:
    if isinstance(value, str):  # of a table that does not say what is a number
        try:
            value = float(value)
        except ValueError:
            return value
    whole = isinstance(value, float) and math.isfinite(value) and value.is_integer()
    return int(value) if whole else value


def _option(slot: Slot, unit: Unit, value: Any) -> Any:
    whole = _whole(slot, unit, value) if isinstance(value, float) else None
    return str(whole) if any(option.id == str(whole) for option in options_of(slot, unit)) else value


def _labels(slot: Slot, unit: Unit, value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _whole(slot, unit, level) for name, level in value.items()}
    if isinstance(value, tuple):
        offered = [option.id for option in options_of(slot, unit)]
        return [*(one for one in offered if one in value), *(one for one in value if one not in offered)]
    return value


def _spans(_: Slot, __: Unit, value: Any) -> Any:
    try:
        return json.loads(value) if isinstance(value, str) else value
    except ValueError:
        return value


_STORED: Mapping[str, Callable[[Slot, Unit, Any], Any]] = {
    "choice": _option,
    "scale": _whole,
    "number": _whole,
    "label_set": _labels,
    "span": _spans,
}
