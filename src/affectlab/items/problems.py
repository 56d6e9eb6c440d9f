"""What is wrong in a data file, row by row, and the one error that says all of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from affectlab.errors import UserError

SHOWN = 20
"""Most problems an error lists; the rest are counted."""

_LONGEST = 60


def place_of(line: int, number: int = 0, file: str = "") -> str:
    """Where a row is, in words: its line, or its number and, where that is another, its line.

    A file that is one row of a folder is named alone.

    >>> place_of(7), place_of(1, 3), place_of(18, 3)
    ('line 7', 'row 3', 'row 3 (line 18)')
    >>> place_of(1, 1, "a/7.json"), place_of(18, 3, "a/7.json")
    ('a/7.json', 'a/7.json, row 3 (line 18)')
    """
    if file:
        return file if (line, number) in {(1, 1), (1, 0)} else f"{file}, {place_of(line, number)}"
    if not number:
        return f"line {line}"
    return f"row {number}" if line in (1, number) else f"row {number} (line {line})"


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong in one row. :meth:`affectlab.items.Row.problem` makes one.

    Attributes:
        line: Line of the file the row starts on, from 1.
        field: Name of the field, dotted where nested; empty when the row as a whole is wrong.
        found: What is there, shortened.
        expected: What should be there, in plain words.
        number: Number of the row, from 1, where rows are not lines; else 0.
        file: File within the source, where the source is a folder; else empty.
    """

    line: int
    field: str
    found: str
    expected: str
    number: int = 0
    file: str = ""

    def __str__(self) -> str:
        field = f", field {self.field}" if self.field else ""
        return f"{place_of(self.line, self.number, self.file)}{field}: found {self.found}; expected {self.expected}"


class DataError(UserError):
    """A data file was refused. Lists every problem up to :data:`SHOWN`, with the total.

    Attributes:
        source: The file, as the user named it.
        problems: All problems, in the order of the rows.
    """

    def __init__(self, source: str, problems: Iterable[Problem]) -> None:
        self.source = source
        self.problems = tuple(sorted(problems, key=lambda problem: (problem.file, problem.line, problem.number)))
        total = len(self.problems)
        lines = [f"{source}: {total} problem{'s' if total != 1 else ''}; nothing was loaded"]
        lines += [f"  {problem}" for problem in self.problems[:SHOWN]]
        if total > SHOWN:
            lines.append(f"  … and {total - SHOWN} more")
        super().__init__("\n".join(lines))


def shorten(value: Any) -> str:
    """A value as an error shows it: its ``repr``, cut to a bounded length."""
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
