"""The score sheet of a run: figures, tables and matrices, the same for every benchmark.

A benchmark's scorer fills one; reports, exports and comparisons read it and know no benchmark.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, TypeAlias, TypeVar

from affectlab.stats.estimate import Estimate, Unit

T = TypeVar("T")

Cell: TypeAlias = "str | int | float | Estimate | None"


@dataclass(frozen=True, slots=True)
class Table:
    """A table of results.

    Attributes:
        id: Stable name (``"per_emotion"``); file name of its CSV export.
        title: For people.
        columns: Headings.
        rows: One tuple per row, as long as ``columns``. Shares and scores are in [0, 1].
        note: What a reader must know to read it right (policy, denominator).
        units: Heading -> what the bare floats of that column are. An estimate knows its own unit; an undeclared
            column is read by the words of its heading.
    """

    id: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    units: Mapping[str, Unit] = field(default_factory=dict, hash=False)

    def __repr__(self) -> str:
        return f"<table {self.id}: {len(self.rows)} rows of {', '.join(self.columns)}>"


@dataclass(frozen=True, slots=True)
class Matrix:
    """Counts or values over two label sets, such as a confusion matrix (rows: gold, columns: predicted)."""

    id: str
    title: str
    row_title: str
    column_title: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: tuple[tuple[float | None, ...], ...]
    note: str = ""

    def __repr__(self) -> str:
        return f"<matrix {self.id}: {len(self.rows)} × {len(self.columns)}>"


@dataclass(frozen=True, slots=True)
class Scores:
    """Everything computed from one run's predictions under one condition.

    Attributes:
        headline: The figures a paper would quote, the benchmark's main one first.
        tables: In reading order.
        matrices: In reading order.
        notes: Sentences that must accompany the figures (incomplete run, no gold, thin support).
        signature: What would have to be equal for two figures to be comparable, sacreBLEU style.
        of_run: What of the sheet is about all conditions of the run together, not about this one: names of headline
            figures, ids of tables and whole notes. :meth:`split` takes it apart.
    """

    headline: tuple[Estimate, ...]
    tables: tuple[Table, ...] = ()
    matrices: tuple[Matrix, ...] = ()
    notes: tuple[str, ...] = ()
    signature: str = ""
    of_run: tuple[str, ...] = ()

    def __repr__(self) -> str:
        tables = ", ".join([*(one.id for one in self.tables), *(one.id for one in self.matrices)])
        return f"<scores: {'; '.join(map(str, self.headline)) or 'no figure'}. Tables: {tables or 'none'}>"

    def figure(self, name: str) -> Estimate:
        """The headline figure of that name.

        Raises:
            KeyError: When there is none; it names those there are.
        """
        return _named({estimate.name: estimate for estimate in self.headline}, name)

    def table(self, table_id: str) -> Table:
        """The table of that id.

        Raises:
            KeyError: When there is none; it names those there are.
        """
        return _named({table.id: table for table in self.tables}, table_id)

    def split(self) -> tuple[Scores | None, Scores]:
        """What is about the whole run (``None`` where nothing is), and what is about this condition."""
        if not self.of_run:
            return None, self

        def part(whole: bool) -> Scores:
            return Scores(
                tuple(one for one in self.headline if (one.name in self.of_run) == whole),
                tuple(one for one in self.tables if (one.id in self.of_run) == whole),
                () if whole else self.matrices,
                tuple(one for one in self.notes if (one in self.of_run) == whole),
                self.signature,
            )

        return part(True), part(False)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Scores:
        """The inverse of :meth:`to_dict`, also after a round trip through JSON."""
        return cls(
            headline=tuple(Estimate(**figure) for figure in data["headline"]),
            tables=tuple(
                Table(
                    id=table["id"],
                    title=table["title"],
                    columns=tuple(table["columns"]),
                    rows=tuple(tuple(_cell(cell) for cell in row) for row in table["rows"]),
                    note=table["note"],
                    units=table.get("units", {}),
                )
                for table in data["tables"]
            ),
            matrices=tuple(
                Matrix(
                    **{
                        **matrix,
                        "rows": tuple(matrix["rows"]),
                        "columns": tuple(matrix["columns"]),
                        "values": tuple(tuple(row) for row in matrix["values"]),
                    }
                )
                for matrix in data["matrices"]
            ),
            notes=tuple(data["notes"]),
            signature=data["signature"],
            of_run=tuple(data.get("of_run", ())),
        )


def _named(found: Mapping[str, T], name: str) -> T:
    if name not in found:
        raise KeyError(f"{name!r} is not here; there are {', '.join(found) or 'none'}")
    return found[name]


def _cell(cell: Any) -> Cell:
    return Estimate(**cell) if isinstance(cell, dict) else cell


def dumps(data: Any) -> str:
    """JSON as every file of a run folder is written: UTF-8, no NaN, stable."""
    return json.dumps(data, ensure_ascii=False, allow_nan=False, indent=2)
