"""A matrix as a coloured map: counts by their share of the row, changes by size and sign over the whole matrix."""

from __future__ import annotations

from math import cos, radians, sin
from typing import Any

from affectlab.metrics.scores import Matrix
from affectlab.report import cells
from affectlab.report.svg import HEAT, INK, MUTED, PAPER, SERIES, canvas, clipped, drawing, inches, tile

_SLANT = 35


def heatmap(matrix: Matrix) -> Any | None:
    """Values in cells; ``None`` for a matrix without any. What the colours say, :func:`shading` tells.

    In a table of counts columns that are no row (no answer) stand apart.
    """
    if not matrix.rows or not matrix.columns:
        return None
    places: list[float] = []
    counted = cells.counts(matrix)
    for index, column in enumerate(matrix.columns):
        apart = counted and column not in matrix.rows and index > 0 and matrix.columns[index - 1] in matrix.rows
        places.append((places[-1] + 1 if places else 0) + (0.25 if apart else 0))
    cell = max(0.34, min(0.5, 4.2 / len(matrix.columns)))
    with drawing():
        slanted = inches(matrix.columns)
        width = 0.5 + inches(matrix.rows) + cell * 1.2 * (places[-1] + 1) + slanted * cos(radians(_SLANT)) * 0.6
        figure, axes = canvas(width, 0.5 + cell * len(matrix.rows) + slanted * sin(radians(_SLANT)))
        _fill(axes, matrix, places)
        axes.set_xlim(-0.5, places[-1] + 0.5)
        axes.set_ylim(len(matrix.rows) - 0.5, -0.5)
        axes.set_xticks(
            places,
            [clipped(column) for column in matrix.columns],
            rotation=_SLANT,
            ha="left",
            rotation_mode="anchor",
        )
        axes.xaxis.tick_top()
        axes.xaxis.set_label_position("top")
        axes.tick_params(length=0)
        axes.set_yticks(range(len(matrix.rows)), [clipped(row) for row in matrix.rows])
        axes.set_xlabel(clipped(matrix.column_title))
        axes.set_ylabel(clipped(matrix.row_title))
        axes.spines[:].set_visible(False)
    return figure


def shading(matrix: Matrix) -> str:
    """What the colours of a matrix's map say, in a sentence."""
    if cells.counts(matrix):
        return "Shading: share of the row."
    return "Shading: blue above 0, orange below, the stronger the further from it; one scale for the whole matrix."


def _fill(axes: Any, matrix: Matrix, places: list[float]) -> None:
    counted = cells.counts(matrix)
    whole = max((abs(value) for values in matrix.values for value in values if value is not None), default=0.0)
    for y, values in enumerate(matrix.values):
        total = sum(value for value in values if value is not None) if counted else whole
        for x, value in zip(places, values, strict=True):
            share = abs(value) / total if value is not None and total else 0.0
            text = cells.NONE if value is None else f"{value:,.0f}" if counted else _two(value)
            if counted:
                shown = tile(axes, (x, y), text, HEAT, share)
            else:
                shown = tile(axes, (x, y), text, SERIES[0] if (value or 0.0) > 0 else SERIES[1], 0.75 * share)
            shown.set_color(MUTED if not value else PAPER if share > 0.85 and not counted else INK)


def _two(value: float) -> str:
    """A value with two decimals, and never −0.00."""
    return f"{round(value, 2) + 0.0:.2f}".replace("-", cells.MINUS)
