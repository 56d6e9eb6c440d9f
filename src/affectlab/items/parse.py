"""From the text of a data file to its rows: JSON lines, JSON documents, and CSV or TSV with a header."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from json.decoder import WHITESPACE  # type: ignore[attr-defined]
from typing import Any, NamedTuple

from affectlab.errors import UserError
from affectlab.items.problems import Problem, place_of, shorten

_WRAPPERS = ("data", "rows", "items", "examples", "records")


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a data file.

    Attributes:
        line: Line of the file it starts on, from 1 (for a hub data set: its number).
        data: Its fields by name.
        number: Its number, from 1, where rows are not lines (a JSON document, a hub data set); else 0.
        file: File within the source it stands in, where the source is a folder; else empty.
    """

    line: int
    data: dict[str, Any]
    number: int = 0
    file: str = ""

    @property
    def place(self) -> str:
        """Where it is, in words (``"line 7"``, ``"row 3"``)."""
        return place_of(self.line, self.number, self.file)

    def problem(self, field: str, found: str, expected: str) -> Problem:
        """Something that is wrong in this row."""
        return Problem(self.line, field, found, expected, self.number, self.file)


class Parsed(NamedTuple):
    """The rows a file holds, and what is wrong in its other rows."""

    rows: list[Row]
    problems: list[Problem]


class _RefusedError(ValueError):
    """JSON that ``json`` accepts and a data file must not hold."""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) < len(pairs):
        names = [name for name, _ in pairs]
        raise _RefusedError(f"the key {next(n for n in names if names.count(n) > 1)!r} twice in one object")
    return table


def _no_constant(name: str) -> Any:
    raise _RefusedError(f"{name}, which is not JSON")


def _int(digits: str) -> int:
    try:
        return int(digits)
    except ValueError as error:  # Python's limit on the length of written numbers
        raise _RefusedError(f"a number of {len(digits)} digits") from error


def _float(digits: str) -> float:
    value = float(digits)
    if math.isinf(value):
        raise _RefusedError(f"the number {digits}, which is too large")
    return value


_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_constant, parse_int=_int, parse_float=_float)


def parse_json_lines(text: str) -> Parsed:
    """Rows of a file with one JSON object a line; every other line is a problem. Blank lines hold no row."""
    rows: list[Row] = []
    problems: list[Problem] = []
    # Not splitlines: that also breaks at U+2028 and U+0085, which JSON strings may hold.
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            value = _DECODER.decode(line)
            _check_text(line, value)
        except json.JSONDecodeError as error:
            cut = error.pos >= len(line.rstrip()) or error.msg.startswith("Unterminated")
            what = "a line that breaks off" if cut else f"{error.msg} at column {error.colno}"
            problems.append(Problem(number, "", f"{what} ({shorten(line.strip())})", "one whole JSON object"))
        except _RefusedError as error:
            problems.append(Problem(number, "", str(error), "one plain JSON object"))
        except RecursionError:
            problems.append(Problem(number, "", "objects nested too deeply", "one plain JSON object"))
        else:
            if isinstance(value, dict):
                rows.append(Row(number, value))
            else:
                problems.append(Problem(number, "", shorten(value), "a JSON object in braces"))
    return Parsed(rows, problems)


def parse_json(source: str, text: str) -> Parsed:
    """Rows of one JSON document: a list of objects; an object that wraps such a list; or one object, one row.

    An object counts as a wrapper when the list is its only field or is called data, rows, items, examples or
    records. Every element that is no object is a problem.

    Raises:
        UserError: When the document is not JSON, or of another shape.
    """
    try:
        start = _skip(text, 0)
        if text[start] == "[":
            elements = list(_elements(text, start))
            end = elements.pop()[0]
        else:
            value, end = _DECODER.raw_decode(text, start)
            elements = _unwrap(source, text, start, value)
        rest = _skip(text, end)
        if rest < len(text):
            raise json.JSONDecodeError("Extra data", text, rest)
        _check_text(text, [value for _, value in elements])
    except json.JSONDecodeError as error:
        raise UserError(_not_json(source, text, error)) from error
    except _RefusedError as error:
        raise UserError(f"{source} holds {error}; correct it and try again") from error
    except RecursionError as error:
        raise UserError(f"{source} holds objects nested too deeply to be data") from error
    return _rows(text, elements)


def parse_table(source: str, text: str, delimiter: str) -> Parsed:
    """Rows of a CSV or TSV file with a header, quoted as RFC 4180 says. An empty cell is an absent field.

    Every row with more or fewer cells than the header is a problem.

    Raises:
        UserError: When the header is wrong or a quote is never closed.
    """
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows: list[Row] = []
    problems: list[Problem] = []
    header: list[str] = []
    line = 1
    try:
        for cells in reader:
            line, started = reader.line_num + 1, line
            if not cells:
                continue
            if not header:
                header = _header(source, cells)
            elif len(cells) != len(header):
                found = f"{len(cells)} cells ({shorten(cells)})"
                problems.append(Problem(started, "", found, f"{len(header)}, as in the header"))
            else:
                rows.append(Row(started, {name: cell for name, cell in zip(header, cells, strict=True) if cell}))
    except csv.Error as error:
        raise UserError(
            f"{source}, line {line}: {error}; quote a cell that holds a quote mark and double the mark"
        ) from error
    return Parsed(rows, problems)


def _header(source: str, cells: list[str]) -> list[str]:
    header = [cell.strip() for cell in cells]
    twice = sorted({name for name in header if header.count(name) > 1})
    if twice:
        raise UserError(f"{source}: the header has {', '.join(map(repr, twice))} twice; rename the columns")
    return header


def _skip(text: str, position: int) -> int:
    end: int = WHITESPACE.match(text, position).end()
    return end


def _elements(text: str, start: int) -> Iterator[tuple[int, Any]]:
    """Elements of the JSON list at ``start`` with their offsets; last, the offset after it and ``None``."""
    position = _skip(text, start + 1)
    if text[position : position + 1] == "]":
        yield position + 1, None
        return
    while True:
        value, end = _DECODER.raw_decode(text, position)
        yield position, value
        position = _skip(text, end)
        mark = text[position : position + 1]
        if mark == "]":
            yield position + 1, None
            return
        if mark != ",":
            raise json.JSONDecodeError("Expecting ',' delimiter", text, position)
        position = _skip(text, position + 1)


def _unwrap(source: str, text: str, start: int, value: Any) -> list[tuple[int, Any]]:
    if not isinstance(value, dict):
        raise UserError(f"{source} holds {shorten(value)}; it must hold a list of objects, or objects line by line")
    lists = [name for name, inner in value.items() if isinstance(inner, list)]
    wraps = [name for name in lists if len(value) == 1 or name in _WRAPPERS]
    if not wraps:
        return [(start, value)]
    if len(wraps) > 1:
        raise UserError(f"{source} holds several lists ({', '.join(wraps)}); keep one a file")
    key = start + 1
    while True:
        key = _skip(text, key)
        name, end = _DECODER.raw_decode(text, key)
        inner = _skip(text, _skip(text, end) + 1)
        if name == wraps[0]:
            return list(_elements(text, inner))[:-1]
        _, end = _DECODER.raw_decode(text, inner)
        key = _skip(text, end) + 1


def _rows(text: str, elements: list[tuple[int, Any]]) -> Parsed:
    rows: list[Row] = []
    problems: list[Problem] = []
    line, counted = 1, 0
    for number, (offset, value) in enumerate(elements, 1):
        line += text.count("\n", counted, offset)
        counted = offset
        if isinstance(value, dict):
            rows.append(Row(line, value, number))
        else:
            problems.append(Problem(line, "", shorten(value), "a JSON object in braces", number))
    return Parsed(rows, problems)


def _check_text(text: str, value: Any) -> None:
    # Half a surrogate pair is legal JSON and cannot be written as UTF-8 again; look only where one can be.
    if "\\u" in text:
        try:
            json.dumps(value, ensure_ascii=False).encode("utf-8")
        except UnicodeEncodeError as error:
            raise _RefusedError("half a surrogate pair (\\ud800 to \\udfff), which is no character") from error


def _not_json(source: str, text: str, error: json.JSONDecodeError) -> str:
    where = f"line {error.lineno}, column {error.colno}"
    if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated"):
        return f"{source} breaks off at {where}: the JSON document is not complete; fetch the file again"
    single = text[error.pos : error.pos + 1] == "'"
    hint = "it looks like a Python literal: write it with json.dump" if single else "correct it and try again"
    return f"{source}, {where}: not JSON ({error.msg}); {hint}"
