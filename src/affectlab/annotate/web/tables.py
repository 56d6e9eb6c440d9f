"""Tables of figures as the agreement page shows them."""

from __future__ import annotations

from dataclasses import dataclass

from affectlab.metrics.scores import Cell, Matrix, Table
from affectlab.stats.estimate import Estimate


@dataclass(frozen=True)
class View:
    """A table as texts."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


def table_view(table: Table) -> View:
    """A table of figures as texts."""
    rows = tuple(tuple(cell_text(cell) for cell in row) for row in table.rows)
    return View(table.title, tuple(table.columns), rows, table.note)


def matrix_view(matrix: Matrix) -> View:
    """A matrix of counts as texts, its rows named in the first column."""
    rows = tuple(
        (name, *(cell_text(cell) for cell in row)) for name, row in zip(matrix.rows, matrix.values, strict=True)
    )
    return View(matrix.title, (f"{matrix.row_title} / {matrix.column_title}", *matrix.columns), rows)


def cell_text(cell: Cell) -> str:
    """A cell as text: an estimate with its interval, or the reason why there is none."""
    if cell is None:
        return "–"
    if not isinstance(cell, Estimate):
        return f"{cell:g}" if isinstance(cell, float) else str(cell)
    if cell.value is None:
        return f"– ({cell.reason.replace('_', ' ')})"
    percent = cell.unit != "number"
    shown = f"{100 * cell.value:.1f} %" if percent else f"{cell.value:.3f}"
    if cell.low is None or cell.high is None:
        return shown
    ends = (f"{100 * end:.1f}" if percent else f"{end:.3f}" for end in (cell.low, cell.high))
    return f"{shown} [{', '.join(ends)}]"
