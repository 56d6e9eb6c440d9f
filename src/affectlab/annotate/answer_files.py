"""Answers in long form in files: CSV, TSV, JSON and JSON lines, read whole or refused with every bad row."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast, get_args

from affectlab.annotate.answers import (
    COLUMNS,
    SLOT,
    TYPE,
    Answer,
    Kind,
    Status,
    answers_to_csv,
    answers_to_jsonl,
    normal,
    unescaped,
)
from affectlab.errors import UserError
from affectlab.items import DataError, Gold, Row
from affectlab.items.problems import Problem, shorten
from affectlab.items.read import scan_rows
from affectlab.items.source import HUB, read_text


@dataclass(frozen=True)
class AnswerFile:
    """Answers of a file, and its columns that nothing reads."""

    answers: tuple[Answer, ...]
    ignored: tuple[str, ...] = ()


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
            f"{source}: no row has a value for {', '.join(absent)}. Columns with values: {', '.join(there)}. "
            f"Fill it in, or say which one is meant, for example --map {absent[0]}=COLUMN"
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
    return AnswerFile(tuple(answers), tuple(name for name in there if name not in {*COLUMNS, TYPE}))


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
    value = _value(data.get("value"), data.get(TYPE) or "", numbers=numbers, sets=sets)
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
        raise BadFieldError(TYPE, kind, f"one of {', '.join(_READ)}")
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
