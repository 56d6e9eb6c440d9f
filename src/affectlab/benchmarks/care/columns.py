"""Flat tables as records: columns and ``--map`` names with dots stand for what lies inside a record's objects.

``appraisal_ratings.relevance.goals`` is the rating of a dimension, ``emotion_labels.positive_level`` an intensity,
``cognitive_questions.summary_answers.control`` a core answer, ``persona.age`` a fact of the writer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from affectlab.benchmarks.care import spaces
from affectlab.benchmarks.care.record import Answers, Feelings, Reasoning, Record, Situation
from affectlab.errors import UserError
from affectlab.items.load import spellings
from affectlab.items.parse import Row

INSIDE: Mapping[str, Mapping[str, Any]] = {
    "story_collection": Situation.model_fields,
    "cognitive_questions": Reasoning.model_fields,
    "emotion_labels": Feelings.model_fields,
}
"""Fields of the record that are objects with fields of their own."""
BY_NAME = frozenset({"appraisal_ratings", *spellings("persona", Record.model_fields["persona"])})
"""Fields that are objects from a name, which may hold dots itself, to a value."""


def path_of(column: str) -> list[str] | None:
    """Where in a record a dotted column belongs; ``None`` for one that is no path into it."""
    head, dot, rest = column.partition(".")
    if not dot or not rest:
        return None
    if head in BY_NAME:
        return [head, rest]
    inner, _, answer = rest.partition(".")
    if head == "cognitive_questions" and inner == "summary_answers" and answer in Answers.model_fields:
        return [head, inner, answer]
    return [head, rest] if rest in INSIDE.get(head, ()) else None


def nested(rows: Iterable[Row]) -> list[Row]:
    """Rows whose dotted columns stand inside the objects that they name; empty cells are left out."""
    return [replace(row, data=_nested(row.data)) for row in rows]


def _nested(data: Mapping[str, Any]) -> dict[str, Any]:
    paths = {column: path for column in data if (path := path_of(column)) is not None}
    found = {column: value for column, value in data.items() if column not in paths}
    for column, path in paths.items():
        if data[column] not in (None, ""):
            _put(found, path, data[column])
    return found


def _put(data: dict[str, Any], path: list[str], value: Any) -> None:
    head, *rest = path
    if not rest:
        data[head] = value
        return
    inner = data.get(head)
    data[head] = dict(inner) if isinstance(inner, Mapping) else {}  # the row that was read stays as it is
    _put(data[head], rest, value)


def check(fields: Mapping[str, str]) -> None:
    """Refuse a dotted name of ``--map`` that leads nowhere in a record.

    Raises:
        UserError: Naming it, and where names with dots may lead.
    """
    for name, column in fields.items():
        if "." not in name:
            continue
        path = path_of(name)
        if path is None or (path[0] == "appraisal_ratings" and spaces.APPRAISALS.resolve(path[1]) is None):
            raise UserError(
                f"--map {name}={column}: there is no {name!r} in a record. Names with dots are "
                f"appraisal_ratings.DIMENSION (`affectlab labels {spaces.APPRAISALS.name}` lists them), persona.FACT, "
                f"cognitive_questions.summary_answers.{{{','.join(Answers.model_fields)}}}, "
                + ", ".join(f"{head}.{{{','.join(inner)}}}" for head, inner in INSIDE.items())
                + "."
            )
