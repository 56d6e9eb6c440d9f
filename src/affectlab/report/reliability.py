"""The reliability diagram: how often what was stated with some probability came true."""

from __future__ import annotations

from typing import Any

from affectlab.metrics.scores import Table
from affectlab.report.svg import GRID, INK, MUTED, SERIES, canvas, drawing

COLUMNS = ("number", "mean stated", "share true")
_WIDTH, _HEIGHT = 4.2, 4.4
_LARGEST = 16.0


def reliability(table: Table) -> Any | None:
    """Share true against mean stated probability, a disc a bin, its area in proportion to the answers in the bin.

    Calibrated probabilities lie on the diagonal. There are no whiskers: answers of one item depend on each other, which
    the table does not tell.

    Returns:
        The figure; ``None`` for a table without the columns of :data:`COLUMNS`, or without any answer.
    """
    if not set(COLUMNS) <= set(table.columns):
        return None
    number, stated, true = (table.columns.index(name) for name in COLUMNS)
    bins = [(row[number], row[stated], row[true]) for row in table.rows]
    drawn = [(n, x, y) for n, x, y in bins if isinstance(n, int) and isinstance(x, float) and isinstance(y, float)]
    if not drawn:
        return None
    most = max(n for n, _, _ in drawn)
    with drawing():
        figure, axes = canvas(_WIDTH, _HEIGHT)
        axes.plot([0, 100], [0, 100], color=MUTED, linewidth=0.8, linestyle=(0, (2, 3)), zorder=1)
        axes.plot([100 * x for _, x, _ in drawn], [100 * y for _, _, y in drawn], color=GRID, linewidth=1.6, zorder=2)
        for n, x, y in drawn:
            size = max(3.0, _LARGEST * (n / most) ** 0.5)
            axes.plot(100 * x, 100 * y, "o", color=SERIES[0], markersize=size, zorder=3)
            axes.annotate(
                f"{n:,}", (100 * x, 100 * y), (0, size / 2 + 3), textcoords="offset points", ha="center", color=INK,
                fontsize=8,
            )  # fmt: skip
        axes.set_xlim(-4, 104)
        axes.set_ylim(-4, 108)
        axes.set_xticks(range(0, 101, 20))
        axes.set_yticks(range(0, 101, 20))
        axes.set_aspect("equal")
        axes.grid(True, zorder=0)
        axes.set_axisbelow(True)
        axes.set_xlabel("mean stated probability, %")
        axes.set_ylabel("share true, %")
    return figure
