"""A run's results for other programs: CSV files, LaTeX tables, SVG figures, pandas and polars frames.

CSV and frames hold bare numbers (shares in [0, 1]), a figure with an interval as three columns: ``F1``, ``F1 low``,
``F1 high``. LaTeX is for people and shows what the other reports show.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, TypeAlias

from affectlab.errors import UserError
from affectlab.metrics.scores import Matrix, Scores, Table
from affectlab.report.latex import run_to_latex
from affectlab.report.model import RunReport
from affectlab.report.references import standing
from affectlab.report.views import anchor
from affectlab.stats.estimate import Estimate

__all__ = [
    "all_tables",
    "bare_columns",
    "run_to_latex",
    "table_csv",
    "to_pandas",
    "to_polars",
    "write_csv",
    "write_figures",
]

Bare: TypeAlias = "str | int | float | None"

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def write_csv(report: RunReport, folder: Path) -> list[Path]:
    """Write one CSV file per table, with several conditions in a subfolder each.

    Also written: ``headline.csv``, ``notes.csv``, each matrix, ``conditions.csv`` where there are several, and
    ``references.csv`` where there are published figures. What is about all conditions together stands in ``folder``.

    Returns:
        The files, in reading order.

    Raises:
        OSError: When the folder cannot be made or written to.
    """
    several = len(report.scores) > 1
    files: list[Path] = []
    together = {} if report.together is None else {"": report.together}
    for condition, scores in (*together.items(), *report.sheets.items()):
        place = folder / anchor(condition) if several and condition else folder
        place.mkdir(parents=True, exist_ok=True)
        for table in all_tables(scores):
            path = place / f"{anchor(table.id)}.csv"
            path.write_text(table_csv(table), encoding="utf-8", newline="")
            files.append(path)
    published = standing(report)
    beside = {"conditions": report.overview, "references": published.table if published else None}
    for name, extra in beside.items():
        if extra is not None:
            path = folder / f"{name}.csv"
            path.write_text(table_csv(extra), encoding="utf-8", newline="")
            files.append(path)
    return files


def write_figures(report: RunReport, folder: Path) -> list[Path]:
    """Write every figure of the report as an SVG file for a paper, with several conditions in a subfolder each.

    Raises:
        OSError: When the folder cannot be made or written to.
    """
    from affectlab.report import figures
    from affectlab.report.svg import print_svg

    files: list[Path] = []
    for condition, name, figure in figures.figures_of(report):
        place = folder / anchor(condition) if condition and len(report.scores) > 1 else folder
        place.mkdir(parents=True, exist_ok=True)
        path = place / f"{anchor(name)}.svg"
        path.write_text(print_svg(figure), encoding="utf-8")
        files.append(path)
    return files


def all_tables(scores: Scores) -> Iterator[Table]:
    """Headline, notes, tables and matrices of one condition, all as tables."""
    yield headline_table(scores)
    if scores.notes:
        notes = tuple((note,) for note in scores.notes)
        yield Table("notes", "Notes", ("note",), notes)
    yield from scores.tables
    yield from map(matrix_table, scores.matrices)


def headline_table(scores: Scores) -> Table:
    """The headline figures as a table with everything an estimate holds."""
    return Table(
        "headline",
        "Headline",
        ("figure", "value", "n", "clusters", "method", "reason"),
        tuple((one.name, one, one.n, one.clusters, one.method, one.reason) for one in scores.headline),
    )


def matrix_table(matrix: Matrix) -> Table:
    """A matrix as a table: the row's label first, then a column per column."""
    rows = tuple((label, *values) for label, values in zip(matrix.rows, matrix.values, strict=True))
    heading = f"{matrix.row_title} \\ {matrix.column_title}"
    return Table(matrix.id, matrix.title, (heading, *matrix.columns), rows, matrix.note)


def table_csv(table: Table) -> str:
    """A table as CSV text. Text that a spreadsheet would run as a formula gets an apostrophe in front."""
    columns = bare_columns(table)
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(_harmless(name) for name in columns)
    writer.writerows(zip(*(map(_harmless, values) for values in columns.values()), strict=True))
    return buffer.getvalue()


def bare_columns(table: Table) -> dict[str, list[Bare]]:
    """A table by column, estimates taken apart into value, low and high. Repeated headings are numbered."""
    columns: dict[str, list[Bare]] = {}
    for index, heading in enumerate(table.columns):
        cells = [row[index] for row in table.rows]
        values: list[Bare] = [cell.value if isinstance(cell, Estimate) else cell for cell in cells]
        columns[_unused(heading, columns)] = values
        if any(isinstance(cell, Estimate) for cell in cells):
            for end in ("low", "high"):
                ends: list[Bare] = [getattr(cell, end) if isinstance(cell, Estimate) else None for cell in cells]
                columns[_unused(f"{heading} {end}", columns)] = ends
    return columns


def to_pandas(table: Table) -> Any:
    """The table as a pandas DataFrame, columns as in the CSV export.

    Raises:
        UserError: When pandas is not installed.
    """
    return _library("pandas").DataFrame(bare_columns(table))


def to_polars(table: Table) -> Any:
    """The table as a polars DataFrame, columns as in the CSV export.

    Raises:
        UserError: When polars is not installed.
    """
    return _library("polars").DataFrame(bare_columns(table), strict=False)


def _library(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        raise UserError(f"{name} is not installed; install it with: pip install 'affectlab[frames]'") from error


def _unused(heading: str, taken: Mapping[str, Any]) -> str:
    name, count = heading, 1
    while name in taken:
        count += 1
        name = f"{heading} ({count})"
    return name


def _harmless(value: Bare) -> Bare:
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
