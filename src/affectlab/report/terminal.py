"""Reports in the terminal, with rich: never wider than it, with colour only where it can be shown."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import IO, Any, Literal, TypeAlias

from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.rule import Rule
from rich.text import Text

from affectlab.metrics.scores import Matrix, Scores, Table
from affectlab.report import cells, words
from affectlab.report.layouts import Column, Fitting, Sheet, styled
from affectlab.report.model import LAST_TABLES, Document, RunReport, Section
from affectlab.report.names import figure_name
from affectlab.report.references import Standing, nearest, standing

_LARGEST = 10
_FIGURES = 6
"""Most figures of published rows that are shown side by side."""
_LANDMARKS = 4
"""Published rows on each side of this run's where there are very many."""
IntervalPlace: TypeAlias = Literal["beside", "under"]


def make_console(file: IO[str] | None = None, width: int | None = None) -> Console:
    """A console for reports: plain text unless ``file`` is a terminal and ``NO_COLOR`` is unset."""
    return Console(file=file or sys.stdout, width=width, highlight=False, soft_wrap=False, emoji=False, markup=False)


def print_report(report: RunReport, console: Console | None = None) -> None:
    """Print one run: headline, notes, published figures, tables, matrices, outcomes."""
    (console or make_console()).print(render_run(report))


def print_scores(scores: Scores, condition: str = "", console: Console | None = None) -> None:
    """Print a score sheet that belongs to no run folder."""
    (console or make_console()).print(Group(render_headline(scores, condition), *_notes(scores.notes), *_body(scores)))


def print_document(document: Document, console: Console | None = None) -> None:
    """Print a comparison or any other set of tables."""
    (console or make_console()).print(render_document(document))


def render_run(report: RunReport) -> RenderableType:
    """One run as a rich renderable."""
    parts: list[RenderableType] = [
        _title(report.benchmark_title, report.benchmark_question),
        _made_by(report),
    ]
    published, together = standing(report), report.together
    shown = [] if published is None else [render_table(*_short(published))]
    if together is not None:
        if together.headline:
            parts.append(render_headline(together, "all conditions together"))
        parts.extend(_notes(together.notes))
        parts.extend(shown)
    if report.overview is not None:
        parts.append(render_table(report.overview))
    if together is not None:
        parts.extend(_body(replace(together, signature="")))
    # Of many conditions only the first is shown whole here: 25 of them would fill fifty screens.
    for condition, scores in list(report.sheets.items())[:1]:
        several = len(report.scores) > 1
        parts.append(render_headline(scores, condition if several else ""))
        parts.extend(_notes(scores.notes))
        if together is None:
            parts.extend(shown)
        parts.extend(_body(scores))
        if several:
            others = ", ".join(list(report.scores)[1:])
            parts.append(styled(f"Shown whole: {condition}. In the HTML report, --csv and --json: {others}.", "dim"))
    return Group(*parts)


def render_document(document: Document) -> RenderableType:
    """A document as a rich renderable."""
    parts: list[RenderableType] = [_title(document.title, document.summary)]
    if scale := cells.scale_note([table for section in document.sections for table in section.tables]):
        parts.append(styled(scale, "dim"))
    for section in document.sections:
        parts.extend(_section(section))
    return Group(*parts)


def render_headline(scores: Scores, condition: str = "") -> RenderableType:
    """The headline figures of one condition in a frame: value, interval, what they rest on."""
    sheets = [_headline_sheet(scores, with_basis) for with_basis in (True, False)]
    below = [styled(line, "yellow") for line in words.whose(scores.headline, "reason")]
    below += [styled(f"Intervals of {line}", "dim") for line in words.whose(scores.headline, "method")]
    title = f"Scores, {condition}" if condition else "Scores"
    below.append(styled(cells.scale_note((), scores.headline), "dim"))
    frame = Panel(Group(Fitting(sheets), *below), title=styled(title), title_align="left", border_style="cyan")
    return Group(Text(""), frame)


def _headline_sheet(scores: Scores, with_basis: bool) -> Sheet:
    rows: list[tuple[Text, ...]] = []
    for position, estimate in enumerate(scores.headline):
        style = "bold" if position == 0 else ""
        interval = cells.interval_text(estimate)
        row = (
            styled(figure_name(estimate.name), style),
            styled(words.value_text(estimate), f"{style} cyan".strip()),
            styled(f"[{interval}]" if interval else cells.NONE),
            styled(words.basis(estimate)),
        )
        rows.append(row)
    headings = ("", "", "interval", "rests on")[: 4 if with_basis else 3]
    columns = tuple(
        Column(styled(heading), tuple(row[index] for row in rows), figures=index in (1, 2))
        for index, heading in enumerate(headings)
    )
    return Sheet(columns, padding=2, ruled=False)


def render_table(table: Table, own: Collection[int] = ()) -> RenderableType:
    """A table of results that fits the terminal. Rows in ``own`` stand out.

    Where intervals do not fit beside the figures they go under them; where that does not fit either, the columns stand
    in several tables under each other.
    """
    texts = cells.table_texts(table)
    places: tuple[IntervalPlace, ...] = ("beside",)
    if any(text.interval for row in texts for text in row):
        places = ("beside", "under")
    sheets = [_sheet(table, texts, own, place, padding) for place in places for padding in (1, 0)]
    return Fitting(sheets, wide=_sheet(table, texts, own, places[-1], 1))


def render_matrix(matrix: Matrix) -> RenderableType:
    """A confusion matrix; where it is too wide, its largest cells."""
    largest = largest_cells(matrix, _LARGEST)
    last = _sheet(largest, cells.table_texts(largest), (), "beside", 1)
    return Fitting([_matrix_sheet(matrix, 1), _matrix_sheet(matrix, 0), last])


def largest_cells(matrix: Matrix, count: int) -> Table:
    """The largest cells, for where the whole matrix does not fit: of counts those off the diagonal, which are what was
    confused; of other values those furthest from 0.
    """
    counted = cells.counts(matrix)
    found = [
        (value, row, column)
        for row, values in zip(matrix.rows, matrix.values, strict=True)
        for column, value in zip(matrix.columns, values, strict=True)
        if value and not (counted and row == column)
    ]
    found.sort(key=lambda cell: -abs(cell[0]))
    what = "cells off the diagonal" if counted else "cells, by size"
    return Table(
        id=matrix.id,
        title=f"{matrix.title}: the {min(count, len(found))} largest of {len(found)} {what}",
        columns=(matrix.row_title, matrix.column_title, "count" if counted else "value"),
        rows=tuple((row, column, int(value) if counted else float(value)) for value, row, column in found[:count]),
        note=matrix.note,
        units={} if counted else {"value": "number"},
    )


def _sheet(
    table: Table, texts: Sequence[Sequence[cells.Text]], own: Collection[int], place: IntervalPlace, padding: int
) -> Sheet:
    figures = cells.numeric_columns(texts, len(table.columns))
    columns = tuple(
        Column(styled(heading), tuple(_cell(row[index], place) for row in texts), figures[index], breaks=True)
        for index, heading in enumerate(cells.headings(table))
    )
    notes = (table.note, *cells.reasons(table))
    return Sheet(columns, table.title, tuple(note for note in notes if note), frozenset(own), padding)


def _cell(text: cells.Text, place: IntervalPlace) -> Text:
    if not text.interval:
        return styled(text.main)
    if place == "under":
        return Text.assemble(text.main, "\n", (text.interval.replace(", ", "…"), "dim"))
    return Text.assemble(text.main, " ", (f"[{text.interval}]", "dim"))


def _matrix_sheet(matrix: Matrix, padding: int) -> Sheet:
    title = f"{matrix.title} (rows: {matrix.row_title}, columns: {matrix.column_title})"
    columns = [Column(styled(""), tuple(map(styled, matrix.rows)), breaks=True)]
    shown = cells.matrix_texts(matrix)
    square = matrix.columns[: len(matrix.rows)] == matrix.rows
    for index, heading in enumerate(matrix.columns):
        values = zip(matrix.rows, (row[index] for row in shown), strict=True)
        texts = tuple(styled(value, "bold" if square and row == heading else "") for row, value in values)
        columns.append(Column(styled(heading), texts, figures=True, breaks=True))
    return Sheet(tuple(columns), title, (matrix.note,) if matrix.note else (), padding=padding)


def _short(published: Standing) -> tuple[Table, frozenset[int]]:
    """Without the columns of prose, with the main figure alone where there are many, and with the rows next to this
    run's where there are many; the HTML report has them.

    Returns:
        The table and which of its rows are this run's.
    """
    near = nearest(published, _LANDMARKS)
    left_out = 0 if near is None else len(published.table.rows) - len(near.table.rows)
    published = near or published
    table = published.table
    figures = [i for i, heading in enumerate(table.columns) if heading not in ("Who", "Kind", "Source", "Note")]
    kept = figures if len(figures) <= _FIGURES else figures[:1]
    columns = [i for i, heading in enumerate(table.columns) if heading in ("Who", "Kind") or i in kept]
    lines = [n for n, row in enumerate(table.rows) if n in published.own or any(row[i] is not None for i in kept)]
    more = [f"{left_out} more rows"] if left_out else []
    more += [f"{len(figures) - 1} more figures"] if kept != figures else []
    note = f"{table.note} The HTML report has {' and '.join(more)}." if more else table.note
    short = replace(
        table,
        columns=tuple(table.columns[i] for i in columns),
        rows=tuple(tuple(table.rows[n][i] for i in columns) for n in lines),
        note=note,
    )
    return short, frozenset(new for new, n in enumerate(lines) if n in published.own)


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
        yield styled(f"Signature: {scores.signature}", "dim")


def _section(section: Section) -> Iterator[RenderableType]:
    if section.title:
        yield Text("")
        yield Rule(styled(section.title, "bold"), align="left", style="dim")
    yield from _notes(section.notes)
    yield from map(render_table, section.tables)
    yield from map(render_matrix, section.matrices)


def _title(title: str, line: str) -> RenderableType:
    return Group(styled(title, "bold"), *([styled(line)] if line else []))


def _made_by(report: RunReport) -> RenderableType:
    manifest = report.manifest
    data = manifest.get("data") or {}
    said: Sequence[tuple[str, Any]] = (
        ("model", report.model_name),
        ("protocol", manifest.get("protocol")),
        ("items", data.get("items")),
    )
    shown = [f"{name} {value}" for name, value in said if value not in (None, "")]
    return styled(" · ".join(shown), "dim")


def _notes(notes: Sequence[str]) -> Iterator[RenderableType]:
    for note in notes:
        yield Text.assemble(("Note: ", "bold yellow"), cells.visible(note))
