"""Reading a ``predictions.jsonl``: a million lines in seconds, and the number of the first line that is none.

Lines are decoded into typed rows; fields that may hold anything (value, gold, slices, flags) stay as bytes until
only their few distinct values are left to decode. That, and not the JSON itself, is what makes it fast.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import attrgetter
from pathlib import Path
from typing import Any

import msgspec

from affectlab.errors import UserError
from affectlab.metrics.predictions import COLUMNS, PredictionTable

_BYTES_AT_ONCE = 1 << 18
_UTF8_BOM = b"\xef\xbb\xbf"
_RAW = frozenset({"value", "gold", "slices", "flags"})


class _Row(msgspec.Struct, gc=False):
    """A line; other fields are skipped."""

    item: str
    slot: str
    outcome: str
    cluster: str | None = None
    variant: str = ""
    condition: str = "neutral"
    repeat: int = 0
    value: msgspec.Raw = msgspec.Raw(b"null")
    gold: msgspec.Raw = msgspec.Raw(b"null")
    position: int | None = None
    slices: msgspec.Raw = msgspec.Raw(b"{}")
    flags: msgspec.Raw = msgspec.Raw(b"[]")


_decoder = msgspec.json.Decoder(_Row)
_cells = attrgetter(*COLUMNS)


def read_predictions(path: str | Path) -> PredictionTable:
    """The predictions of a file, as a table.

    A row needs ``item``, ``slot`` and ``outcome``; its cluster is the item unless it says otherwise. Blank lines and a
    byte order mark are skipped. Only distinct values stay in memory.

    Raises:
        UserError: When the file is missing, or unreadable, or a line is no prediction (naming it).
    """
    try:
        return PredictionTable.from_columns(_columns(Path(path)), dict.fromkeys(_RAW, msgspec.json.decode))
    except FileNotFoundError as error:
        raise UserError(f"No file {path}.") from error
    except OSError as error:
        raise UserError(f"{path} cannot be read ({error.strerror}).") from error


def _columns(path: Path) -> Iterator[list[Sequence[Any]]]:
    """The file in batches, each as one sequence per column."""
    number = 1
    with path.open("rb") as file:
        if file.read(3) != _UTF8_BOM:
            file.seek(0)
        while lines := file.readlines(_BYTES_AT_ONCE):
            rows = _decoded(path, lines, number)
            number += len(lines)
            if not rows:
                continue
            columns: list[Sequence[Any]] = list(zip(*map(_cells, rows), strict=True))
            for place, name in enumerate(COLUMNS):
                if name in _RAW:
                    columns[place] = list(map(bytes, columns[place]))
                elif name == "cluster" and None in columns[place]:
                    columns[place] = [row.item if row.cluster is None else row.cluster for row in rows]
            yield columns


def _decoded(path: Path, lines: list[bytes], first: int) -> list[_Row]:
    try:
        return _decoder.decode_lines(b"".join(lines))
    except msgspec.DecodeError:
        return [row for number, line in enumerate(lines, start=first) for row in _one(path, line, number)]


def _one(path: Path, line: bytes, number: int) -> list[_Row]:
    """The row of a line; none if it is blank."""
    if not line.strip():
        return []
    try:
        return [_decoder.decode(line)]
    except msgspec.ValidationError as error:
        raise UserError(f"{path}, line {number}: no prediction ({error}).") from error
    except msgspec.DecodeError as error:
        raise UserError(f"{path}, line {number}: not JSON ({error}).") from error
