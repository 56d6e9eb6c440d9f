"""Flat tables as records: columns and ``--map`` names with dots stand for what lies inside a record's objects.

``appraisal_ratings.relevance.goals`` is the rating of a dimension (or of the statement that was rated),
``emotion_labels.positive_level`` an intensity, ``cognitive_questions.summary_answers.control`` a core answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from affectlab.benchmarks.care import spaces
from affectlab.benchmarks.care.record import Answers, Feelings, Reasoning, Record, Situation, plain
from affectlab.errors import UserError
from affectlab.items.load import spellings
from affectlab.items.parse import Parsed, Row
from affectlab.items.problems import Problem, shorten

INSIDE: Mapping[str, Mapping[str, Any]] = {
    "story_collection": Situation.model_fields,
    "cognitive_questions": Reasoning.model_fields,
    "emotion_labels": Feelings.model_fields,
}
"""Fields of the record that are objects with fields of their own."""
RATINGS = "appraisal_ratings"
"""The field that is an object from a name, which may hold dots itself, to a value."""


def path_of(column: str) -> list[str] | None:
    """Where in a record a dotted column belongs; ``None`` for one that is no path into it."""
    head, dot, rest = column.partition(".")
    if not dot or not rest:
        return None
    if head == RATINGS:
        return [head, rest]
    inner, _, answer = rest.partition(".")
    if head == "cognitive_questions" and inner == "summary_answers" and answer in Answers.model_fields:
        return [head, inner, answer]
    return [head, rest] if rest in INSIDE.get(head, ()) else None


def nested(rows: Iterable[Row], fields: Mapping[str, str]) -> Parsed:
    """Rows whose dotted columns stand inside the objects that they name; empty cells are left out.

    Args:
        rows: Rows under the user's names of columns.
        fields: Our field name -> the file's. What was mapped stands in place of what an object holds already.

    Returns:
        The rows, and a problem for each dotted column whose place another column has, and each story told twice.
    """
    made, problems = [], []
    for row in rows:
        data = {name: value for name, value in row.data.items() if path_of(name) is None}
        for column, path in ((column, path) for column in row.data if (path := path_of(column)) is not None):
            value = row.data[column]
            if value in (None, ""):
                continue
            there = _in_the_way(data, path)
            if there is None or (there.keys() == {column} and (column in fields or there[column] == value)):
                _put(data, path, value)
            else:
                [(name, other)] = there.items()
                problems.append(row.problem(column, shorten(value), f"nothing, as {name} is {shorten(other)} already"))
        problems += _told_twice(row, data, fields)
        made.append(replace(row, data=data))
    return Parsed(made, problems)


def _in_the_way(data: Mapping[str, Any], path: Sequence[str]) -> dict[str, Any] | None:
    """What stands where a value shall, or where the objects around it shall, under its dotted name."""
    inner: Any = data
    for depth, name in enumerate(path, 1):
        inner = inner.get(name)
        if inner in (None, ""):
            return None
        if depth == len(path) or not isinstance(inner, Mapping):
            return {".".join(path[:depth]): inner}
    return None


def _put(data: dict[str, Any], path: Sequence[str], value: Any) -> None:
    head, *rest = path
    if not rest:
        data[head] = value
        return
    data[head] = dict(data.get(head) or {})  # the row that was read stays as it is
    _put(data[head], rest, value)


def _told_twice(row: Row, data: Mapping[str, Any], fields: Mapping[str, str]) -> list[Problem]:
    """The problem of a row with two stories, of which none was mapped."""
    names = spellings("story_collection", Record.model_fields["story_collection"])
    told = {name: _text(data[name]) for name in names if _text(data.get(name)) not in (None, "")}
    if len(set(map(str, told.values()))) < 2 or any(name.partition(".")[0] in names for name in fields):
        return []
    expected = f"one story, not one in each of {', '.join(told)}; say which is meant with --map story=COLUMN"
    return [row.problem("story", shorten(told[names[-1]]), expected)]


def _text(story: Any) -> Any:
    return story.get("final_scenario") if isinstance(story, Mapping) else story


def check(fields: Mapping[str, str], statements: Mapping[str, str]) -> None:
    """Refuse a dotted name of ``--map`` that leads nowhere in a record.

    Args:
        fields: Our field name -> the file's.
        statements: Dimension -> the statement raters saw; empty for our own.

    Raises:
        UserError: Naming it, and where names with dots may lead.
    """
    rated = {plain(statement) for statement in statements.values()}
    for name, column in fields.items():
        if "." not in name:
            continue
        path = path_of(name)
        if path is None or (
            path[0] == RATINGS and plain(path[1]) not in rated and spaces.APPRAISALS.resolve(path[1]) is None
        ):
            raise UserError(
                f"--map {name}={column}: there is no {name!r} in a record. Names with dots are "
                f"{RATINGS}.DIMENSION (`affectlab labels {spaces.APPRAISALS.name}` lists them) or, with --set "
                f"statements=FILE, {RATINGS}.STATEMENT, "
                f"cognitive_questions.summary_answers.{{{','.join(Answers.model_fields)}}}, "
                + ", ".join(f"{head}.{{{','.join(inner)}}}" for head, inner in INSIDE.items())
                + "."
            )
