"""Reading a ``predictions.jsonl``: a million lines in seconds, and the number of the first line that is none."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from operator import itemgetter
from pathlib import Path
from typing import Any

from affectlab.errors import UserError
from affectlab.metrics.predictions import PredictionTable

_REQUIRED = ("item", "slot", "outcome")
_required: Callable[[Any], tuple[Any, ...]] = itemgetter(*_REQUIRED)
_BYTES_AT_ONCE = 1 << 18


def read_predictions(path: str | Path) -> PredictionTable:
    """The predictions of a file, as a table.

    A row needs ``item``, ``slot`` and ``outcome``; its cluster is the item unless it says otherwise. Blank lines and a
    byte order mark are skipped. Only distinct values stay in memory.

    Raises:
        UserError: When the file is missing, unreadable or not UTF-8, or a line is no prediction (naming it).
    """
    try:
        return PredictionTable.from_rows(_rows(Path(path)))
    except FileNotFoundError as error:
        raise UserError(f"No file {path}.") from error
    except OSError as error:
        raise UserError(f"{path} cannot be read ({error.strerror}).") from error
    except UnicodeDecodeError as error:
        raise UserError(f"{path} is not UTF-8 text ({error.reason} at byte {error.start} of a block).") from error


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    number = 1
    with path.open(encoding="utf-8-sig") as file:
        while lines := file.readlines(_BYTES_AT_ONCE):
            for row in _parsed(lines) or _parsed_one_by_one(path, lines, number):
                row.setdefault("cluster", row["item"])
                yield row
            number += len(lines)


def _parsed(lines: list[str]) -> list[dict[str, Any]] | None:
    """All lines parsed as one array, which is half the work; ``None`` when any is not exactly one prediction."""
    try:
        rows = json.loads(f"[{','.join(lines)}]")
        complete = len(rows) == len(lines) and {dict}.issuperset(map(type, rows)) and len(list(map(_required, rows)))
    except (ValueError, KeyError):
        return None
    return rows if complete else None


def _parsed_one_by_one(path: Path, lines: list[str], first: int) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(lines, start=first):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            raise UserError(f"{path}, line {number}: not JSON ({error}).") from error
        if not isinstance(row, dict):
            raise UserError(f"{path}, line {number}: expected an object with {', '.join(_REQUIRED)}.")
        if missing := [name for name in _REQUIRED if name not in row]:
            raise UserError(f"{path}, line {number}: a prediction needs {' and '.join(missing)}.")
        yield row
