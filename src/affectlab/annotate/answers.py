"""Answers of annotators and decisions of adjudicators: plain values, and the long form they are kept in.

Long form has one row for each item × annotator × slot. In JSON lines a value is what JSON says it is: text is a label,
a number a rating, a list a set of labels, an object label -> intensity. In a table the column ``type`` says it, and a
cell that a spreadsheet would run as a formula starts with an apostrophe, which is taken off again when read.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast, get_args

from affectlab.errors import UserError
from affectlab.items import DataError, Gold, Row
from affectlab.items.problems import Problem, shorten
from affectlab.items.read import scan_rows
from affectlab.items.source import HUB, read_text

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


@dataclass(frozen=True)
class AnswerFile:
    """Answers of a file, and its columns that nothing reads."""

    answers: tuple[Answer, ...]
    ignored: tuple[str, ...] = ()


_COLUMNS = tuple(one.name for one in fields(Answer))
_TYPE = "type"
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
    columns = (*_COLUMNS[:3], _TYPE, *_COLUMNS[3:])
    rows = (
        (one.item, one.annotator, *value_text(one.value), *(getattr(one, name) for name in _COLUMNS[3:]))
        for one in answers
    )
    return table_text(columns, rows, bom=bom)


def answers_to_jsonl(answers: Iterable[Answer]) -> str:
    """Answers in long form as JSON lines; empty fields are left out."""
    return json_lines(map(answer_to_dict, answers))


def answer_to_dict(answer: Answer) -> dict[str, Any]:
    """An answer as plain data; empty fields are left out."""
    kept = {name: getattr(answer, name) for name in _COLUMNS}
    return {name: value for name, value in kept.items() if name == "value" or value != ""}


def write_answers(answers: Iterable[Answer], path: str | Path, *, bom: bool = False) -> None:
    """Write answers in long form: CSV where the name ends in ``.csv``, else JSON lines.

    Raises:
        OSError: When the file cannot be written.
    """
    path = Path(path)
    text = answers_to_csv(answers, bom=bom) if path.suffix.lower() == ".csv" else answers_to_jsonl(answers)
    path.write_text(text, encoding="utf-8", newline="")


def read_answers(
    source: str, columns: Mapping[str, str] | None = None, *, numbers: bool = False, sets: bool = False
) -> AnswerFile:
    """Read answers in long form, and refuse the file whole when a row is bad.

    Args:
        source: A file of JSON lines, JSON, CSV or TSV with at least ``item``, ``annotator`` and ``value``.
        columns: Our column -> the file's, where they differ.
        numbers: Read values without a type as numbers.
        sets: Read text values without a type as sets of labels separated by ``;`` (``none``: the empty set).

    Returns:
        Answers in file order, and columns that were not used.

    Raises:
        DataError: Listing every bad row, also a second answer of one annotator to one slot.
        UserError: When the file cannot be read or lacks a column.
        WorldError: When the disk fails.
    """
    rows, found = scan_rows(source, columns or {})
    there = dict.fromkeys(name for row in rows for name in row.data)
    needed = ("item", "annotator", *(() if "status" in there else ("value",)))  # all may have been skipped
    if absent := [name for name in needed if name not in there]:
        raise UserError(
            f"{source}: no row has {', '.join(absent)}. The columns are: {', '.join(there)}. "
            f"Say which one is meant, for example --map {absent[0]}=COLUMN"
        )
    problems = list(found)
    answers: list[Answer] = []
    table = _is_table(source)
    first: dict[tuple[str, str, str, str], Row] = {}
    for row in rows:
        try:
            answer = answer_of(row.data, numbers=numbers, sets=sets, table=table)
        except BadFieldError as bad:
            problems.append(row.problem(bad.field, shorten(bad.found), bad.expected))
            continue
        key = (answer.item, answer.slot, answer.annotator, answer.kind)
        if (earlier := first.setdefault(key, row)) is not row:
            problems.append(_second(row, answer, earlier))
        answers.append(answer)
    if problems:
        raise DataError(source, problems)
    return AnswerFile(tuple(answers), tuple(name for name in there if name not in {*_COLUMNS, _TYPE}))


def _is_table(source: str) -> bool:
    """Whether a source is a table, and no JSON: only there is text marked that a spreadsheet would run."""
    suffix = Path(source).suffix.lower()
    if source.startswith(HUB) or suffix in {".jsonl", ".ndjson", ".json"}:
        return False
    return suffix in {".csv", ".tsv", ".tab"} or not read_text(source).lstrip().startswith(("[", "{"))


class BadFieldError(ValueError):
    """One field that is no answer's; :func:`read_answers` lists it with its row."""

    def __init__(self, field: str, found: Any, expected: str) -> None:
        super().__init__(f"{field}: found {found!r}; expected {expected}")
        self.field, self.found, self.expected = field, found, expected


def _second(row: Row, answer: Answer, earlier: Row) -> Problem:
    return row.problem(
        "annotator",
        f"a second answer of {answer.annotator!r} to {answer.slot!r} of {answer.item!r}",
        f"one; {earlier.place} has it already",
    )


def answer_of(data: Mapping[str, Any], *, numbers: bool = False, sets: bool = False, table: bool = False) -> Answer:
    """The answer a row of fields holds.

    Args:
        data: The fields.
        numbers: As in :func:`read_answers`.
        sets: As there.
        table: Whether cells may hold an apostrophe that :func:`harmless` put there.

    Raises:
        BadFieldError: Naming the first field that is wrong.
    """
    if table:
        data = {name: unescaped(cell) if isinstance(cell, str) else cell for name, cell in data.items()}
    value = _value(data.get("value"), data.get(_TYPE) or "", numbers=numbers, sets=sets)
    status = _choice(data, "status", get_args(Status), "submitted" if value is not None else "skipped")
    if value is None and status == "submitted":
        raise BadFieldError("value", data.get("value"), "a value, or a status that is not submitted")
    return Answer(
        item=_name(data, "item"),
        annotator=_name(data, "annotator"),
        value=value,
        slot=_name(data, "slot", SLOT),
        kind=cast(Kind, _choice(data, "kind", get_args(Kind), "human")),
        status=cast(Status, status),
        time=_text(data, "time"),
        reason=_text(data, "reason"),
        schema=_text(data, "schema"),
    )


def _text(data: Mapping[str, Any], name: str) -> str:
    found = data.get(name)
    if found is None:
        return ""
    if type(found) in (int, float):
        return f"{found:g}" if isinstance(found, float) else str(found)
    if not isinstance(found, str):
        raise BadFieldError(name, found, "text")
    return normal(found)


def _name(data: Mapping[str, Any], name: str, default: str = "") -> str:
    text = _text(data, name).strip() or default
    if not text:
        raise BadFieldError(name, data.get(name), "text that is not empty")
    return text


def _choice(data: Mapping[str, Any], name: str, known: Sequence[str], default: str) -> str:
    text = _text(data, name).strip() or default
    if text not in known:
        raise BadFieldError(name, text, f"one of {', '.join(known)}")
    return text


def _value(found: Any, kind: str, *, numbers: bool, sets: bool) -> Gold | None:
    if kind and kind not in _READ:
        raise BadFieldError(_TYPE, kind, f"one of {', '.join(_READ)}")
    if isinstance(found, str):
        text = normal(found).strip()
        if not text:
            return None
        return _READ[kind or ("number" if numbers else "names" if sets else "label")](text)
    return plain_value(found)


def plain_value(found: Any) -> Gold | None:
    """A value as JSON has it: text, a number, true or false, a list of names, an object of numbers, or nothing.

    Raises:
        BadFieldError: When it is something else.
    """
    if found is None or isinstance(found, str):
        return (normal(found).strip() or None) if found else None
    if isinstance(found, bool):
        return "yes" if found else "no"
    if isinstance(found, int | float) and math.isfinite(found):
        return float(found)
    if isinstance(found, list) and all(isinstance(one, str) and one.strip() for one in found):
        return tuple(dict.fromkeys(normal(one).strip() for one in found))
    if isinstance(found, dict) and all(type(one) in (int, float) for one in found.values()):
        return {normal(name): float(one) for name, one in found.items()}
    raise BadFieldError("value", found, "text, a number, a list of names, or an object from name to number")


def _number(text: str) -> Gold:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise BadFieldError("value", text, "a number")
    return value


def _json(shape: type) -> Callable[[str], Gold]:
    def read(text: str) -> Gold:
        try:
            found = json.loads(text)
        except ValueError:
            found = None
        if not isinstance(found, shape):
            raise BadFieldError("value", text, "a JSON list of names" if shape is list else "a JSON object of numbers")
        return cast(Gold, plain_value(found))

    return read


def _names(text: str) -> Gold:
    names = tuple(dict.fromkeys(name.strip() for name in re.split("[;；]", text) if name.strip()))
    return () if [name.casefold() for name in names] == ["none"] else names


_READ: dict[str, Callable[[str], Gold]] = {
    "label": lambda text: text,
    "number": _number,
    "set": _json(list),
    "intensities": _json(dict),
    "names": _names,
}
