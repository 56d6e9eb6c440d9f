"""Adding items and answers from files to a project that is there.

Answers are checked all together before the first is added. Both are then added in pieces, so that people who work
meanwhile wait for a moment only.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from sqlalchemy import Connection, select

from affectlab.annotate.answer_files import read_answers
from affectlab.annotate.answers import Answer
from affectlab.annotate.design import Design
from affectlab.annotate.exchange import FORMATS
from affectlab.annotate.incoming import Ready, hold_against
from affectlab.annotate.sources import read_units
from affectlab.annotate.store import people, project, replies
from affectlab.annotate.store import tables as t
from affectlab.annotate.store.claims import take_place
from affectlab.annotate.store.engine import Store
from affectlab.annotate.store.people import Newcomer
from affectlab.annotate.store.replies import Measured, Stored
from affectlab.annotate.units import unique
from affectlab.annotate.values import Reply
from affectlab.errors import UserError, as_lines, first_of

_ITEMS, _REPLIES = 500, 50
_PAUSE = 0.15
"""Seconds between pieces on SQLite: those who wait for it ask again after at most a tenth of a second."""

_SHOWN = 20
_T = TypeVar("_T")


def import_items(store: Store, source: str, fields: Mapping[str, str]) -> tuple[int, int]:
    """Add the items of a file; returns how many were added and how many were there already.

    Raises:
        UserError: Listing ids that the project has with other content. Nothing is added then.
    """
    with store.read() as conn:
        design = project.current_design(conn)
        rows = conn.execute(select(t.item.c.id, t.item.c.digest, t.item.c.kind)).all()
    kept, doubled = unique(read_units(design, source, fields))
    known, digests = {row.id for row in rows}, {row.digest for row in rows if row.kind == "work"}
    if taken := [unit.id for unit in kept if unit.id in known and unit.digest not in digests]:
        raise UserError(
            f"{source}: nothing was added. The project has other items of these ids already: "
            f"{first_of(taken, _SHOWN)}; rename them."
        )
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


def import_answers(store: Store, source: str, columns: Mapping[str, str], form: str = "long") -> Added:
    """Add people's answers from a file; the same file again adds what is still missing. Those of models are left out.

    Each annotator becomes an account without a password, under the code of the file. An answer takes one of the item's
    places, so that nobody else is asked for it. It is kept under the version of the design that the file names, the
    newest where it names none.

    Args:
        store: The project's.
        source: A file in long form, or what another tool keeps its answers in.
        columns: Our column -> the file's, for the long form.
        form: ``long``, or a name in :data:`affectlab.annotate.exchange.FORMATS`.

    Raises:
        UserError: Listing answers that fit no item, slot or version, that are not finished, or that there
            is no place for; or when the file holds no person's. Nothing is added then.
    """
    every, left_out = _read(source, columns, form)
    found = [one for one in every if one.kind == "human"]
    if len(found) < len(every):
        models = first_of(sorted({one.annotator for one in every if one.kind == "model"}))
        if not found:
            raise UserError(f"{source}: nothing was added. A project holds people's answers, these are of {models}.")
        left_out = {**left_out, f"answers of models ({models})": len(every) - len(found)}
    with store.read() as conn:
        design = project.current_design(conn)
        ready, there, problems = hold_against(conn, found, store.now())
    if problems:
        raise UserError(f"{source}: nothing was added{as_lines(problems)}")
    late: list[str] = []
    added: list[Ready] = []
    for piece in _pieces(store, ready, _REPLIES):
        with store.write() as conn:
            _accounts(conn, piece, store.now())
            for one in piece:
                if problem := _add(conn, design, one):
                    late.append(problem)
                else:
                    added.append(one)
    if late:
        raise UserError(
            f"{source}: {len(added)} replies were added; {len(late)} were not, as people went on working meanwhile"
            + as_lines(late)
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


def _accounts(conn: Connection, ready: Sequence[Ready], now: float) -> None:
    there = {one.id for one in people.people(conn)}
    for person, name in dict.fromkeys((one.person, one.name) for one in ready):
        if person not in there:
            people.add_person(conn, Newcomer(name, ""), "annotator", now, code=person)


def _add(conn: Connection, design: Design, one: Ready) -> str:
    """Store a reply; returns what stood in the way."""
    if replies.state_of(conn, one.item, one.person) is not None:
        return f"{one.where}: has an answer already"
    if not take_place(conn, design, one.item, one.person, one.at):
        return f"{one.where}: {design.overlap} people have it already"
    reply = Reply.from_body(one.body)
    answer = Stored(one.item, one.person, 1, reply, one.version, one.guidelines, one.at, Measured())
    replies.add(conn, answer, one.key)
    return ""
