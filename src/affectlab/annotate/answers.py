"""Answers of annotators and decisions of adjudicators: plain values, and how they are written in long form.

Long form has one row for each item × annotator × slot. In JSON lines a value is what JSON says it is: text is a label,
a number a rating, a list a set of labels, an object label -> intensity. In a table the column ``type`` says it, and a
cell that a spreadsheet would run as a formula starts with an apostrophe, which is taken off again when read.
"""

from __future__ import annotations

import csv
import io
import json
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal, TypeAlias

from affectlab.items import Gold

Kind: TypeAlias = Literal["human", "model"]
"""Who answers. Agreement among people and agreement with models never share a figure."""

Status: TypeAlias = Literal["submitted", "skipped", "draft", "invalid"]
"""``submitted`` counts. ``skipped`` and ``draft`` are missing; ``invalid`` is a reply of a model that is no label."""

SLOT = "label"
"""Name of the slot where a file has only one and does not name it."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What one annotator says to one slot of one item.

    Attributes:
        item: Id of the item.
        annotator: Code of the person within the study, or name of the model.
        value: A label id, a number, a set of label ids (empty: none of them), or label id -> intensity; ``None``
            unless submitted.
        slot: What was labelled.
        kind: A person or a model.
        status: Whether it counts.
        time: When, in ISO 8601 with a zone; empty when unknown.
        reason: Why it was skipped, or what made it invalid.
        schema: Version of the label set it was given under; empty when unknown. Versions are never mixed silently.
    """

    item: str
    annotator: str
    value: Gold | None
    slot: str = SLOT
    kind: Kind = "human"
    status: Status = "submitted"
    time: str = ""
    reason: str = ""
    schema: str = ""

    @property
    def counts(self) -> bool:
        """Whether it takes part in agreement and gold."""
        return self.status == "submitted"


@dataclass(frozen=True, slots=True)
class Decision:
    """What an adjudicator settles a slot on. Of several for one slot the last counts.

    Attributes:
        item: Id of the item.
        slot: Which slot.
        value: The gold; ``None`` for "no gold".
        adjudicator: Code of the person, or name of the model.
        kind: A person or a model.
        time: When, in ISO 8601 with a zone; empty when unknown.
        reason: Why, in the adjudicator's words.
    """

    item: str
    slot: str
    value: Gold | None
    adjudicator: str
    kind: Kind = "human"
    time: str = ""
    reason: str = ""


COLUMNS = tuple(one.name for one in fields(Answer))
"""Columns of the long form."""

TYPE = "type"
"""The column besides by which a table says what kind of value it holds."""

_FORMULA = re.compile(r"'*[=+\-@\t\r\n＝＋－＠]")
_NUMBER = re.compile(r"-?\d+(\.\d+)?([eE][+-]?\d+)?")


def harmless(text: str) -> str:
    """Text for a cell of a table, with an apostrophe in front where a spreadsheet would run it as a formula.

    >>> harmless("=1+1"), harmless("joy"), harmless("-2.5")
    ("'=1+1", 'joy', '-2.5')
    """
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text


def unescaped(cell: str) -> str:
    """The text that :func:`harmless` made a cell of."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


def normal(text: str) -> str:
    """Text in composed form (Unicode NFC): two spellings of one label that look alike are one label."""
    return unicodedata.normalize("NFC", text)


def plain_id(item: str) -> str:
    """An item's id as files of answers hold it: in composed form and without blanks around it."""
    return normal(item).strip()


def table_text(columns: Sequence[str], rows: Iterable[Sequence[str]], *, bom: bool = False) -> str:
    """A CSV table of texts, every cell harmless.

    Args:
        columns: Headings.
        rows: Cells of each row.
        bom: Start with a byte order mark, by which Excel knows UTF-8.
    """
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow([harmless(column) for column in columns])
    writer.writerows([harmless(cell) for cell in row] for row in rows)
    return ("\ufeff" if bom else "") + buffer.getvalue()


def json_lines(rows: Iterable[Mapping[str, Any]]) -> str:
    """Rows as JSON, one a line."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def type_of(value: Gold) -> str:
    """Kind of a value: ``label``, ``number``, ``set`` or ``intensities``."""
    if isinstance(value, str):
        return "label"
    if isinstance(value, int | float):
        return "number"
    return "intensities" if isinstance(value, Mapping) else "set"


def value_text(value: Gold | None) -> tuple[str, str]:
    """A value as a cell of a table, and its type (:func:`type_of`); twice empty for none."""
    return ("", "") if value is None else (_cell(value), type_of(value))


def _cell(value: Gold) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, int | float):
        return f"{value:.17g}" if isinstance(value, float) and not value.is_integer() else str(int(value))
    return json.dumps(dict(value) if isinstance(value, Mapping) else list(value), ensure_ascii=False)


def answers_to_csv(answers: Iterable[Answer], *, bom: bool = False) -> str:
    """Answers in long form as CSV text."""
    columns = (*COLUMNS[:3], TYPE, *COLUMNS[3:])
    rows = (
        (one.item, one.annotator, *value_text(one.value), *(getattr(one, name) for name in COLUMNS[3:]))
        for one in answers
    )
    return table_text(columns, rows, bom=bom)


def answers_to_jsonl(answers: Iterable[Answer]) -> str:
    """Answers in long form as JSON lines; empty fields are left out."""
    return json_lines(map(answer_to_dict, answers))


def answer_to_dict(answer: Answer) -> dict[str, Any]:
    """An answer as plain data; empty fields are left out."""
    kept = {name: getattr(answer, name) for name in COLUMNS}
    return {name: value for name, value in kept.items() if name == "value" or value != ""}
