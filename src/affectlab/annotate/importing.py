"""Adding items and answers from files to a project that is there.

Answers are checked all together before the first is added. Both are then added in pieces, so that people who work
meanwhile wait for a moment only.
"""

from __future__ import annotations

import json
import math
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, TypeVar

from sqlalchemy import Connection, insert, select, update

from affectlab.annotate.answers import Answer, normal, read_answers
from affectlab.annotate.design import Design
from affectlab.annotate.exchange import FORMATS
from affectlab.annotate.slots import Slot
from affectlab.annotate.sources import read_units
from affectlab.annotate.store import people, project, replies
from affectlab.annotate.store import tables as t
from affectlab.annotate.store.claims import take_place
from affectlab.annotate.store.engine import Store
from affectlab.annotate.store.panels import renamed
from affectlab.annotate.store.people import Newcomer
from affectlab.annotate.store.replies import Measured, Stored
from affectlab.annotate.units import Unit, unique
from affectlab.annotate.values import Reply, checked, options_of
from affectlab.errors import UserError

_ITEMS, _REPLIES = 500, 50
_PAUSE = 0.15
"""Seconds between pieces on SQLite: those who wait for it ask again after at most a tenth of a second."""

UNSTATED = "unstated"
"""Reason of an item that was left out elsewhere, where nobody asked for one."""

_SHOWN = 20
_T = TypeVar("_T")


def import_items(store: Store, source: str, fields: Mapping[str, str]) -> tuple[int, int]:
    """Add the items of a file; returns how many were added and how many were there already."""
    with store.read() as conn:
        design = project.current_design(conn)
    kept, doubled = unique(read_units(design, source, fields))
    added = there = 0
    for piece in _pieces(store, kept, _ITEMS):
        with store.write() as conn:
            dropped = project.add_units(conn, design, piece, int(project.get_setting(conn, "seed")))
        added += len(piece) - len(dropped)
        there += len(dropped)
    return added, there + len(doubled)


def _pieces(store: Store, every: Sequence[_T], size: int) -> Iterator[Sequence[_T]]:
    for start in range(0, len(every), size):
        if start and store.is_sqlite:
            time.sleep(_PAUSE)
        yield every[start : start + size]


@dataclass(frozen=True)
class Added:
    """What an import of answers came to.

    Attributes:
        answers: Answers added.
        annotators: Of how many people.
        there: Answers left out because the project holds the same from an earlier import.
        left_out: What another tool's file holds that is no answer -> how many.
    """

    answers: int
    annotators: int
    there: int = 0
    left_out: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class _Ready:
    """A checked reply of one person to one item."""

    item: str
    person: str
    name: str
    body: Mapping[str, Any]
    skipped: bool
    answers: int
    version: int
    guidelines: str
    at: float

    @property
    def key(self) -> str:
        return sha256(f"import:{self.person}:{self.item}".encode()).hexdigest()

    @property
    def where(self) -> str:
        return f"item {self.item!r}, {self.person!r}"


def import_answers(store: Store, source: str, columns: Mapping[str, str], form: str = "long") -> Added:
    """Add people's answers from a file; the same file again adds what is still missing.

    Each annotator becomes an account without a password, under the code of the file. An answer takes one of the item's
    places, so that nobody else is asked for it. It is kept under the version of the design that the file names, the
    newest where it names none.

    Args:
        store: The project's.
        source: A file in long form, or what another tool keeps its answers in.
        columns: Our column -> the file's, for the long form.
        form: ``long``, or a name in :data:`affectlab.annotate.exchange.FORMATS`.

    Raises:
        UserError: Listing answers that fit no item, slot or version, that are no person's or not finished, or that
            there is no place for. Nothing is added then.
    """
    found, left_out = _read(source, columns, form)
    with store.read() as conn:
        design = project.current_design(conn)
        ready, there, problems = _checked(conn, found, store.now())
    if problems:
        more = f"\n  … and {len(problems) - _SHOWN} more" if len(problems) > _SHOWN else ""
        raise UserError(f"{source}: nothing was added\n  " + "\n  ".join(problems[:_SHOWN]) + more)
    late: list[str] = []
    added: list[_Ready] = []
    for piece in _pieces(store, ready, _REPLIES):
        with store.write() as conn:
            _accounts(conn, piece, store.now())
            for one in piece:
                if problem := _add(conn, design, one):
                    late.append(problem)
                else:
                    added.append(one)
    if late:
        more = f"\n  … and {len(late) - _SHOWN} more" if len(late) > _SHOWN else ""
        raise UserError(
            f"{source}: {len(added)} replies were added; {len(late)} were not, as people went on working meanwhile\n  "
            + "\n  ".join(late[:_SHOWN])
            + more
        )
    return Added(sum(one.answers for one in added), len({one.person for one in added}), there, left_out)


def _read(source: str, columns: Mapping[str, str], form: str) -> tuple[Sequence[Answer], Mapping[str, int]]:
    if form == "long":
        return read_answers(source, columns).answers, {}
    if form not in FORMATS:
        raise UserError(f"--form {form!r}: expected long, {', '.join(FORMATS)}.")
    if columns:
        raise UserError(f"--map names columns of the long form; {form} has its own.")
    found = FORMATS[form].read(source)
    return found.answers, found.left_out


def _checked(conn: Connection, found: Sequence[Answer], now: float) -> tuple[list[_Ready], int, list[str]]:
    """Replies to add, how many answers are there already, and what is wrong."""
    models = {one.annotator for one in found if one.kind == "model"}
    if models:
        named = ", ".join(sorted(models)[:5])
        return [], 0, [f"answers of models ({named}): a project holds people's only; leave these rows out"]
    check = _Check(conn, now)
    by_reply: dict[tuple[str, str], list[Answer]] = defaultdict(list)
    for one in found:
        by_reply[one.annotator, one.item].append(one)
    problems = check.accounts(list(dict.fromkeys(annotator for annotator, _ in by_reply)))
    ready: list[_Ready] = []
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
            self.ids[_plain(unit)].append(unit)
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

    def reply(self, annotator: str, item: str, given: Sequence[Answer]) -> tuple[_Ready | None, list[str]]:
        """The reply that answers of one annotator to one item make, or what is wrong with them."""
        alike = self.ids.get(_plain(item), [])
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
        made = _Ready(
            item=unit.id,
            person=self.person[annotator],
            name=annotator,
            body=reply.body(),
            skipped=bool(reply.skipped),
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

    def too_many(self, ready: Sequence[_Ready]) -> list[str]:
        """Replies for which their items have no place."""
        problems = []
        taken = dict(self.taken)
        for one in ready:
            if taken[one.item] >= self.design.overlap:
                problems.append(f"{one.where}: {self.design.overlap} people have it already")
            taken[one.item] += 1
        return problems


_UNFINISHED = frozenset({"draft", "invalid"})


def _plain(item: str) -> str:
    return normal(item).strip()


def _code(name: str) -> str:
    """Code of a new account: the name, where it fits."""
    return name if len(name) <= 32 else f"a-{sha256(name.encode()).hexdigest()[:12]}"


def _accounts(conn: Connection, ready: Sequence[_Ready], now: float) -> None:
    there = {one.id for one in people.people(conn)}
    for person, name in dict.fromkeys((one.person, one.name) for one in ready):
        if person not in there:
            people.add_person(conn, Newcomer(name, ""), "annotator", now, code=person)


def _add(conn: Connection, design: Design, one: _Ready) -> str:
    """Store a reply; returns what stood in the way."""
    if replies.state_of(conn, one.item, one.person) is not None:
        return f"{one.where}: has an answer already"
    if not take_place(conn, design, one.item, one.person, one.at):
        return f"{one.where}: {design.overlap} people have it already"
    conn.execute(
        insert(t.response).values(
            item=one.item,
            person=one.person,
            version=1,
            body=dict(one.body),
            submit_key=one.key,
            design_version=one.version,
            guideline_version=one.guidelines,
            at=one.at,
        )
    )
    mine = (t.assignment.c.item == one.item) & (t.assignment.c.person == one.person)
    conn.execute(update(t.assignment).where(mine).values(state="skipped" if one.skipped else "done"))
    return ""


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
