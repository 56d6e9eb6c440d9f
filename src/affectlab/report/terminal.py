"""Reports in the terminal, with rich: never wider than it, with colour only where it can be shown."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Any, Literal

from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.measure import Measurement
from rich.panel import Panel
from rich.rule import Rule
from rich.table import Table as Grid
from rich.text import Text

from affectlab.metrics.scores import Matrix, Scores, Table
from affectlab.report import cells, words
from affectlab.report.model import LAST_TABLES, Document, RunReport, Section
from affectlab.report.references import standing

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_LARGEST = 10


def make_console(file: IO[str] | None = None, width: int | None = None) -> Console:
    """A console for reports: plain text unless ``file`` is a terminal and ``NO_COLOR`` is unset."""
    return Console(file=file or sys.stdout, width=width, highlight=False, soft_wrap=False, emoji=False, markup=False)


def print_report(report: RunReport, console: Console | None = None) -> None:
    """Print one run: headline, notes, published figures, tables, matrices, outcomes."""
    (console or make_console()).print(render_run(report))


def print_document(document: Document, console: Console | None = None) -> None:
    """Print a comparison or any other set of tables."""
    (console or make_console()).print(render_document(document))


def render_run(report: RunReport) -> RenderableType:
    """One run as a rich renderable."""
    parts: list[RenderableType] = [
        _title(report.benchmark_title, report.benchmark_question),
        _made_by(report),
    ]
    published = standing(report)
    for condition, scores in report.scores.items():
        parts.append(render_headline(scores, condition if len(report.scores) > 1 else ""))
        parts.extend(_notes(scores.notes))
    if published is not None:
        parts.append(render_table(_short(published.table), published.own))
    for condition, scores in report.scores.items():
        if len(report.scores) > 1:
            parts.append(Rule(_text(f"Condition: {condition}"), align="left", style="dim"))
        parts.extend(_body(scores))
    return Group(*parts)


def render_document(document: Document) -> RenderableType:
    """A document as a rich renderable."""
    parts: list[RenderableType] = [_title(document.title, document.summary), _text(cells.IN_PERCENT, "dim")]
    for section in document.sections:
        parts.extend(_section(section))
    return Group(*parts)


def render_headline(scores: Scores, condition: str = "") -> RenderableType:
    """The headline figures of one condition in a frame: value, interval, what they rest on."""
    grids = [(_headline_grid(scores, with_basis), False) for with_basis in (True, False)]
    below = [
        _text(f"{words.figure_name(estimate.name)}: {estimate.reason}", "yellow")
        for estimate in scores.headline
        if estimate.reason
    ]
    methods = dict.fromkeys(estimate.method for estimate in scores.headline if estimate.method)
    below += [_text(f"Intervals: {method}.", "dim") for method in methods]
    title = f"Scores, {condition}" if condition else "Scores"
    below.append(_text(cells.IN_PERCENT, "dim"))
    frame = Panel(Group(_Fitting("", grids), *below), title=_text(title), title_align="left", border_style="cyan")
    return Group(Text(""), frame)


def _headline_grid(scores: Scores, with_basis: bool) -> Grid:
    grid = Grid(box=None, header_style="dim", padding=(0, 2, 0, 0))
    rows: list[tuple[Text, ...]] = []
    for position, estimate in enumerate(scores.headline):
        style = "bold" if position == 0 else ""
        interval = cells.interval_text(estimate, cells.figure_style(estimate.name))
        row: tuple[Text, ...] = (
            _text(words.figure_name(estimate.name), style),
            _text(words.value_text(estimate), f"{style} cyan".strip()),
            _text(f"[{interval}]" if interval else cells.NONE),
            _text(words.basis(estimate)),
        )
        rows.append(row if with_basis else row[:3])
    for index, heading in enumerate(("", "", "interval", "rests on")[: 4 if with_basis else 3]):
        width = _narrowest(heading, [row[index].plain for row in rows], whole=index in (1, 2))
        grid.add_column(heading, justify="right" if index in (1, 2) else "left", min_width=width)
    for row in rows:
        grid.add_row(*row)
    return grid


def render_table(table: Table, own: frozenset[int] = frozenset()) -> RenderableType:
    """A table of results that fits the terminal. Rows in ``own`` stand out.

    Where intervals do not fit beside the figures they go under them, and where that does not fit either they
    are left out, with a line that says so.
    """
    texts = cells.table_texts(table)
    stacked = any(text.interval for row in texts for text in row)
    layouts = [Layout(), Layout(padding=0)]
    if stacked:
        layouts += [Layout("under"), Layout("under", 0), Layout("none"), Layout("none", 0)]
    notes = [table.note, *(f"{cells.NONE} {reason}" for reason in cells.reasons(table))]
    grids = [(_grid(table, texts, own, layout), layout.interval == "none") for layout in layouts]
    return _Fitting(table.title, grids, [note for note in notes if note])


def render_matrix(matrix: Matrix) -> RenderableType:
    """A confusion matrix; where it is too wide, its largest cells off the diagonal."""
    title = f"{matrix.title} (rows: {matrix.row_title}, columns: {matrix.column_title})"
    largest = largest_confusions(matrix, _LARGEST)
    last = _grid(largest, cells.table_texts(largest), frozenset(), Layout())
    grids = [(_matrix_grid(matrix, 1), False), (_matrix_grid(matrix, 0), False), (last, False)]
    return _Fitting(title, grids, [matrix.note] if matrix.note else [], last_title=largest.title)


@dataclass(frozen=True, slots=True)
class Layout:
    """One way to set a table: where intervals go, and blanks after each column."""

    interval: Literal["beside", "under", "none"] = "beside"
    padding: int = 1


class _Fitting:
    """The first of several grids that fits without breaking a word; the last one if none does."""

    def __init__(
        self, title: str, grids: Sequence[tuple[Grid, bool]], notes: Sequence[str] = (), last_title: str = ""
    ) -> None:
        self.title = title
        self.grids = grids
        self.notes = notes
        self.last_title = last_title or title

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        unbounded = options.update(width=10_000)
        fitting = (
            pair for pair in self.grids if Measurement.get(console, unbounded, pair[0]).minimum <= options.max_width
        )
        grid, without = next(fitting, self.grids[-1])
        if self.title:
            yield Text("")
            yield _text(self.last_title if grid is self.grids[-1][0] else self.title, "bold")
        yield grid
        if without:
            yield _text("The intervals do not fit here; the HTML report and --json have them.", "dim")
        for note in self.notes:
            yield _text(note, "dim")


def _narrowest(heading: str, column: Sequence[str], *, whole: bool) -> int:
    """Cells a column needs: its longest word, and the longest line of a column of figures."""
    parts = [word for text in (heading, *column) for word in text.split()]
    lines = [line for text in column for line in text.splitlines()] if whole else []
    return max(map(cell_len, (*parts, *lines)), default=1)


def largest_confusions(matrix: Matrix, count: int) -> Table:
    """The largest cells off the diagonal, for where the whole matrix does not fit."""
    off = [
        (value, row, column)
        for row, values in zip(matrix.rows, matrix.values, strict=True)
        for column, value in zip(matrix.columns, values, strict=True)
        if row != column and value
    ]
    off.sort(key=lambda cell: -cell[0])
    return Table(
        id=matrix.id,
        title=f"{matrix.title}: the {min(count, len(off))} largest of {len(off)} cells off the diagonal",
        columns=(matrix.row_title, matrix.column_title, "count"),
        rows=tuple((row, column, _whole_number(value)) for value, row, column in off[:count]),
    )


def _whole_number(value: float) -> int | float:
    return int(value) if float(value).is_integer() else value


def _grid(table: Table, texts: Sequence[Sequence[cells.Text]], own: frozenset[int], layout: Layout) -> Grid:
    grid = Grid(box=box.SIMPLE_HEAD, padding=(0, layout.padding, 0, 0))
    numeric = cells.numeric_columns(texts, len(table.columns))
    for index, heading in enumerate(table.columns):
        column = [_cell(row[index], layout).plain for row in texts]
        grid.add_column(
            _text(heading),
            justify="right" if numeric[index] else "left",
            overflow="fold",
            min_width=_narrowest(heading, column, whole=numeric[index]),
        )
    for position, row in enumerate(texts):
        grid.add_row(*(_cell(text, layout) for text in row), style="bold cyan" if position in own else "")
    return grid


def _cell(text: cells.Text, layout: Layout) -> Text:
    if not text.interval or layout.interval == "none":
        return _text(text.main)
    if layout.interval == "under":
        return Text.assemble(text.main, "\n", (text.interval.replace(", ", "…"), "dim"))
    return Text.assemble(text.main, " ", (f"[{text.interval}]", "dim"))


def _matrix_grid(matrix: Matrix, padding: int) -> Grid:
    grid = Grid(box=box.SIMPLE_HEAD, padding=(0, padding, 0, 0))
    grid.add_column("")
    for heading in matrix.columns:
        grid.add_column(_text(heading), justify="right", min_width=_narrowest(heading, (), whole=False))
    for row, values in zip(matrix.rows, matrix.values, strict=True):
        shown = (cells.NONE if value is None else f"{_whole_number(value):,}" for value in values)
        styles = ("bold" if row == column else "" for column in matrix.columns)
        grid.add_row(_text(row), *(_text(text, style) for text, style in zip(shown, styles, strict=True)))
    return grid


def _short(table: Table) -> Table:
    """Without the columns of prose, which the HTML report has."""
    keep = [index for index, heading in enumerate(table.columns) if heading not in ("Source", "Note")]
    rows = tuple(tuple(row[index] for index in keep) for row in table.rows)
    return Table(table.id, table.title, tuple(table.columns[index] for index in keep), rows, table.note)


def _body(scores: Scores) -> Iterator[RenderableType]:
    for table in scores.tables:
        if table.id not in LAST_TABLES:
            yield render_table(table)
    for matrix in scores.matrices:
        yield render_matrix(matrix)
    for table in scores.tables:
        if table.id in LAST_TABLES:
            yield render_table(table)
    if scores.signature:
        yield Text("")
        yield _text(f"Signature: {scores.signature}", "dim")


def _section(section: Section) -> Iterator[RenderableType]:
    if section.title:
        yield Text("")
        yield Rule(_text(section.title, "bold"), align="left", style="dim")
    yield from _notes(section.notes)
    yield from map(render_table, section.tables)
    yield from map(render_matrix, section.matrices)


def _title(title: str, line: str) -> RenderableType:
    return Group(_text(title, "bold"), *([_text(line)] if line else []))


def _made_by(report: RunReport) -> RenderableType:
    manifest = report.manifest
    data, requests = _mapping(manifest, "data"), _mapping(manifest, "requests")
    said: Sequence[tuple[str, Any]] = (
        ("model", report.model_name),
        ("protocol", manifest.get("protocol")),
        ("items", data.get("items")),
        ("requests", _counts(requests)),
    )
    shown = [f"{name} {value}" for name, value in said if value not in (None, "")]
    return _text(" · ".join(shown), "dim")


def _counts(requests: Mapping[str, Any]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in requests.items() if isinstance(count, int))


def _mapping(manifest: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = manifest.get(key)
    return value if isinstance(value, Mapping) else {}


def _notes(notes: Sequence[str]) -> Iterator[RenderableType]:
    for note in notes:
        yield Text.assemble(("Note: ", "bold yellow"), _CONTROL.sub("\ufffd", note))


def _text(content: str, style: str = "") -> Text:
    """Text without control characters: labels and slices come from users' files."""
    return Text(_CONTROL.sub("\ufffd", content), style=style)
