"""Figures of a run, drawn from its tables and matrices.

Which figure a table gets follows from its id and headings, never from the benchmark: tables whose id starts
with ``by_`` are slices, one with columns precision, recall and F1 is drawn per label, ``position`` is position
bias, bins with what was stated and what came true make a reliability diagram, ``shifts_`` begins a map of shifts and
``strengths`` curves over strength (``report.decision_figures``). Every function returns a
matplotlib figure (or ``None`` when there is nothing to draw) in the stand-in colours of ``report.svg``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from affectlab.metrics.scores import Cell, Scores, Table
from affectlab.report import cells
from affectlab.report.decision_figures import figure_of
from affectlab.report.heatmap import heatmap
from affectlab.report.layouts import pieces
from affectlab.report.model import RunReport
from affectlab.report.names import figure_name, heading_name, row_name
from affectlab.report.references import standing
from affectlab.report.reliability import reliability
from affectlab.report.svg import GRID, INK, LABEL_LIMIT, MUTED, PAPER, SERIES, canvas, clipped, drawing
from affectlab.stats.estimate import Estimate, Unit

WIDTH = 5.6
PUBLISHED, SLICES = "published", "slices"
_ROW, _TALL_ROW = 0.27, 0.42
"""Inches a row takes whose label has one line, and two."""
_MARKERS = {"human": "D", "model": "o", "encoder": "s", "baseline": "|"}


def figures_of(report: RunReport) -> Iterator[tuple[str, str, Any]]:
    """Every figure of a run: condition (empty: all of them), name, figure. The name is a table's or matrix's id."""
    place = standing(report)
    if place is not None and (figure := published(place.table, place.own)) is not None:
        yield "", PUBLISHED, figure
    together = {} if report.together is None else {"": report.together}
    for condition, scores in (*together.items(), *report.sheets.items()):
        for name, figure in _drawn(scores):
            if figure is not None:
                yield condition, name, figure


def _drawn(scores: Scores) -> Iterator[tuple[str, Any | None]]:
    yield SLICES, slices(breakdowns(scores), scores.headline[0] if scores.headline else None)
    for table in scores.tables:
        yield table.id, position(table) if table.id == "position" else _by_headings(table)
    for matrix in scores.matrices:
        yield matrix.id, heatmap(matrix)


def _by_headings(table: Table) -> Any | None:
    return figure_of(table) or per_label(table) or reliability(table)


def breakdowns(scores: Scores) -> list[Table]:
    """The tables that break the scores down by a slice."""
    return [table for table in scores.tables if cells.is_breakdown(table)]


def published(table: Table, own: Mapping[int, str]) -> Any | None:
    """The main figure of a run among published ones: a dot plot, whiskers where there is an interval.

    Args:
        table: ``report.references.standing``'s table: name first, then the main figure.
        own: Rows of this run -> what to call them.
    """
    kinds = table.columns.index("Kind")
    rows = [(index, row) for index, row in enumerate(table.rows) if cells.figure(row[1]) is not None]
    if not rows or cells.figure_units(table)[1] != {"share"}:
        return None
    labels = [_on_lines(own[index]) if index in own else clipped(str(row[0])) for index, row in rows]
    step = _TALL_ROW if any("\n" in label for label in labels) else _ROW
    with drawing():
        figure, axes = canvas(WIDTH, 0.75 + step * len(rows))
        for height, (index, row) in enumerate(rows):
            value, kind, mine = _percent(row[1]), str(row[kinds]), index in own
            if kind == "baseline":
                axes.axvline(value, color=MUTED, linewidth=0.8, linestyle=(0, (2, 3)), zorder=1)
            _whisker(axes, row[1], height, SERIES[0])
            marker = "o" if mine else _MARKERS.get(kind, "o")
            axes.plot(
                value,
                height,
                marker,
                color=SERIES[0] if mine else MUTED,
                markerfacecolor=SERIES[0] if mine else PAPER,
                markersize=7 if mine else 6,
                zorder=3,
            )
        _rows(axes, labels)
        for height, (index, _) in enumerate(rows):
            if index in own:
                axes.get_yticklabels()[height].set_fontweight("bold")
        _percent_axis(axes, table.columns[1])
    return figure


def per_label(table: Table) -> Any | None:
    """Precision, recall and F1 of every label, F1 with its interval; support at the right if there is any."""
    named = {heading.casefold(): index for index, heading in enumerate(table.columns)}
    if not {"precision", "recall", "f1"} <= named.keys() or not table.rows:
        return None
    with drawing():
        figure, axes = canvas(WIDTH, 1.05 + _ROW * len(table.rows))
        for height, row in enumerate(table.rows):
            ends = [
                _percent(row[named[name]])
                for name in ("precision", "recall")
                if cells.figure(row[named[name]]) is not None
            ]
            if len(ends) == 2:
                axes.plot(ends, [height, height], color=GRID, linewidth=3, solid_capstyle="round", zorder=1)
            _whisker(axes, row[named["f1"]], height, SERIES[0])
        for name, marker, colour, filled in (
            ("precision", "<", SERIES[1], False),
            ("recall", ">", SERIES[2], False),
            ("f1", "o", SERIES[0], True),
        ):
            points = [
                (_percent(row[named[name]]), y)
                for y, row in enumerate(table.rows)
                if cells.figure(row[named[name]]) is not None
            ]
            axes.plot(
                [x for x, _ in points],
                [y for _, y in points],
                marker,
                color=colour,
                markerfacecolor=colour if filled else PAPER,
                markersize=6,
                label=table.columns[named[name]],
                zorder=3,
            )
        _rows(axes, [clipped(str(row[0])) for row in table.rows])
        if "support" in named:
            _right_notes(axes, [f"n = {row[named['support']]}" for row in table.rows])
        _percent_axis(axes, "")
        _legend(axes, 3)
    return figure


def slices(tables: Sequence[Table], overall: Estimate | None) -> Any | None:
    """One figure of every breakdown: a group of rows per table, with intervals, the overall figure as a line.

    Of each table the first column of shares with intervals is drawn. Tables without one are left out.
    """
    groups = [(table, column) for table in tables if (column := _estimates(table, "share")) is not None]
    labels: list[str] = []
    points: list[Estimate | None] = []
    counts: list[str] = []
    titles: list[int] = []
    for table, column in groups:
        titles.append(len(labels))
        labels.append(table.title)
        points.append(None)
        counts.append("")
        for row in table.rows:
            cell = row[column]
            labels.append(row_name(str(row[0])))
            points.append(cell if isinstance(cell, Estimate) else None)
            counts.append(_counted(row, column))
    if not groups:
        return None
    with drawing():
        figure, axes = canvas(WIDTH, 0.7 + _ROW * len(labels))
        if overall is not None and overall.value is not None and overall.unit == "share":
            axes.axvline(100 * overall.value, color=MUTED, linewidth=0.8, linestyle=(0, (2, 3)), zorder=1)
        for height, point in enumerate(points):
            if point is not None and point.value is not None:
                _whisker(axes, point, height, SERIES[0])
                axes.plot(100 * point.value, height, "o", color=SERIES[0], markersize=6, zorder=3)
        _rows(axes, list(map(clipped, labels)))
        _right_notes(axes, counts)
        for height in titles:
            axes.get_yticklabels()[height].set_fontweight("bold")
        drawn = dict.fromkeys(figure_name(heading_name(table.columns[column])) for table, column in groups)
        _percent_axis(axes, "" if len(drawn) > 1 else next(iter(drawn)))
    return figure


def _counted(row: tuple[Cell, ...], column: int) -> str:
    """How many the row is about: its own count where it has one, else what its figure rests on."""
    cell = row[column]
    counts = [one for one in row if isinstance(one, int) and not isinstance(one, bool)]
    n = counts[0] if counts else cell.n if isinstance(cell, Estimate) else 0
    return f"n = {n:,}" if n else ""


def differences(table: Table) -> Any | None:
    """The first column of estimated differences: a row each, its interval, and a line at zero.

    Rows in another unit than points have no place on this axis and are left to the table.
    """
    column = _estimates(table, "difference")
    if column is None:
        return None
    drawn = [
        (text[0].main, cell)
        for text, row in zip(cells.table_texts(table), table.rows, strict=True)
        if isinstance(cell := row[column], Estimate) and cell.unit == "difference"
    ]
    with drawing():
        figure, axes = canvas(WIDTH, 0.75 + _ROW * len(drawn))
        axes.axvline(0, color=MUTED, linewidth=1, zorder=1)
        for height, (_, cell) in enumerate(drawn):
            if cell.value is not None:
                _whisker(axes, cell, height, SERIES[0])
                axes.plot(100 * cell.value, height, "o", color=SERIES[0], markersize=6, zorder=3)
        _rows(axes, [clipped(name) for name, _ in drawn])
        reach = max(5.0, *(abs(end) for end in axes.get_xlim()))
        axes.set_xlim(-1.05 * reach, 1.05 * reach)
        axes.set_xlabel(f"{clipped(cells.headings(table)[column])}, points")
    return figure


def position(table: Table) -> Any | None:
    """Position bias: for every position of an option, each share of the table side by side."""
    units = cells.figure_units(table)
    series = [index for index in range(1, len(units)) if units[index] == {"share"}][: len(SERIES)]
    if not series:
        return None
    with drawing():
        figure, axes = canvas(WIDTH, 2.9)
        step = 0.8 / len(series)
        for place, column in enumerate(series):
            offset = (place - (len(series) - 1) / 2) * step
            drawn = [
                (x + offset, row[column]) for x, row in enumerate(table.rows) if cells.figure(row[column]) is not None
            ]
            axes.bar(
                [x for x, _ in drawn],
                [_percent(cell) for _, cell in drawn],
                width=step * 0.9,
                color=SERIES[place],
                label=clipped(table.columns[column]),
                zorder=2,
            )
            for x, cell in drawn:
                if isinstance(cell, Estimate) and cell.low is not None and cell.high is not None:
                    axes.plot([x, x], [100 * cell.low, 100 * cell.high], color=INK, linewidth=1.2, zorder=3)
        axes.set_xticks(range(len(table.rows)), [clipped(str(row[0])) for row in table.rows])
        axes.set_xlabel(clipped(table.columns[0]))
        axes.set_ylabel("%")
        axes.set_ylim(0, 1.06 * axes.get_ylim()[1])
        axes.yaxis.grid(True, zorder=0)
        axes.set_axisbelow(True)
        _legend(axes, len(series))
    return figure


def _whisker(axes: Any, cell: Cell, height: float, colour: str) -> None:
    if isinstance(cell, Estimate) and cell.low is not None and cell.high is not None:
        axes.plot([100 * cell.low, 100 * cell.high], [height, height], color=colour, linewidth=1.6, zorder=2)


def _rows(axes: Any, labels: Sequence[str]) -> None:
    axes.set_yticks(range(len(labels)), labels)
    axes.set_ylim(len(labels) - 0.4, -0.6)
    axes.xaxis.grid(True, zorder=0)
    axes.set_axisbelow(True)


def _on_lines(label: str) -> str:
    """The label, on two lines where it is long: a condition must not be cut where it differs from others."""
    lines = [""]
    for piece in pieces(" ".join(label.split())):
        if lines[-1] and len(lines) < 2 and len(lines[-1] + piece) > LABEL_LIMIT:
            lines.append("")
        lines[-1] += piece
    return "\n".join(map(clipped, lines))


def _right_notes(axes: Any, notes: Sequence[str]) -> None:
    for height, note in enumerate(notes):
        axes.text(
            1.02,
            height,
            note,
            transform=axes.get_yaxis_transform(),
            ha="left",
            va="center",
            color=MUTED,
            fontsize=8,
        )


def _percent_axis(axes: Any, label: str) -> None:
    axes.set_xlim(-2, 102)
    axes.set_xticks(range(0, 101, 20))
    axes.set_xlabel(f"{clipped(label)}, %" if label else "%")


def _legend(axes: Any, columns: int) -> None:
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=columns, borderaxespad=0.2, handletextpad=0.4)


def _estimates(table: Table, unit: Unit) -> int | None:
    """The first column of estimates of that unit."""
    for index in range(1, len(table.columns)):
        if any(isinstance(cell := row[index], Estimate) and cell.unit == unit for row in table.rows):
            return index
    return None


def _percent(cell: Cell) -> float:
    value = cells.figure(cell)
    if value is None:
        raise ValueError("a missing figure cannot be drawn")
    return 100 * value
