"""Figures of decisions under emotion, drawn from their tables: the map of shifts, drift over strength."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from affectlab.games import EMOTIONS
from affectlab.metrics.scores import Table
from affectlab.report import cells
from affectlab.report.svg import INK, MUTED, PAPER, SERIES, canvas, drawing, print_svg, tile
from affectlab.stats.estimate import Estimate

if TYPE_CHECKING:
    from affectlab.audits.drift import Drifted

MAPS, STRENGTHS = "shifts_", "strengths"
"""How the ids of the tables begin that these figures are drawn from."""
_CELL = (0.82, 0.34)
_DASHES = ("-", (0, (4, 2)), (0, (1, 1.5)))
_POINTS = re.compile(r"([+−]?\d+\.\d)\**")


def shift_map(table: Table, title: str = "") -> Any | None:
    """Roles by emotions, a panel a model: blue more of the focal behaviour, orange less, stars after correction.

    Cells without a test say so; they are never blank.

    Args:
        table: What ``benchmarks.decisions.heatmap.heatmap_table`` makes: models where there are several, roles, then a
            column an emotion with points and stars as text.
        title: Over the figure; a page has its own.

    Returns:
        The figure; ``None`` for a table without a column of roles or without a row.
    """
    if "role" not in table.columns:
        return None
    emotions = table.columns[table.columns.index("role") + 1 :]
    panels: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
    for row in table.rows:
        texts = tuple(map(str, row))
        *model, role = texts[: len(texts) - len(emotions)]
        panels.setdefault(model[0] if model else "", []).append((role, texts[len(texts) - len(emotions) :]))
    if not panels or not emotions:
        return None
    points = [abs(value) for rows in panels.values() for _, texts in rows for value in map(_points, texts) if value]
    named = len(panels) > 1
    stacked = sum(len(rows) + named for rows in panels.values())
    with drawing():
        figure, axes = canvas(2.0 + _CELL[0] * max(len(emotions), 4), 1.1 + _CELL[1] * stacked)
        top, ticks = 0, []
        for model_name, rows in panels.items():
            if named:
                axes.text(-0.5, top - 0.12, cells.visible(model_name), ha="left", va="center", fontweight="bold")
            for place, (role, texts) in enumerate(rows):
                height = top + place + (0.75 if named else 0.0)
                ticks.append((height, cells.visible(role)))
                for column, text in enumerate(texts):
                    _draw(axes, text, (column, height), max(points, default=1.0))
            top += len(rows) + named
        axes.set_yticks([at for at, _ in ticks], [role for _, role in ticks])
        axes.set_xticks(range(len(emotions)), emotions)
        axes.xaxis.tick_top()
        axes.tick_params(length=0)
        axes.set_xlim(-0.5, max(len(emotions), 4) - 0.5)
        axes.set_ylim(stacked - (0.2 if named else 0.4), -0.5)
        axes.spines[:].set_visible(False)
        if title:
            axes.set_title(title, pad=18)
        axes.xaxis.set_label_position("bottom")
        axes.set_xlabel(
            "points of the feasible range\nblue: more of the focal behaviour, orange: less\n"
            "* q < .05, ** q < .01, *** q < .001 over the map",
            loc="left",
            fontsize=7.5,
        )
    return figure


def _points(text: str) -> float | None:
    """The change that a cell tells; ``None`` where it tells why there is none."""
    found = _POINTS.fullmatch(text)
    return float(found.group(1).replace(cells.MINUS, "-")) if found else None


def _draw(axes: Any, text: str, place: tuple[float, float], largest: float) -> None:
    change = _points(text)
    share = abs(change or 0.0) / largest
    shown = tile(axes, place, text, SERIES[0] if (change or 0.0) > 0 else SERIES[1], 0.75 * share)
    shown.set(fontsize=8, color=MUTED if not change else PAPER if share > 0.85 else INK)


def strength_curves(table: Table, title: str = "") -> Any | None:
    """NDM over strength: emotions together, random vectors; intervals as whiskers. ``None`` without strengths to draw.

    Args:
        table: What ``benchmarks.decisions.tables.strength_table`` makes: line, figure, then a column a strength.
        title: Over the figure; a page has its own.
    """
    strengths = [float(heading) for heading in table.columns[2:]]
    lines = [row for row in table.rows if row[1] == "NDM" and str(row[0]).partition(", ")[0] not in EMOTIONS]
    if len(strengths) < 2 or not lines:
        return None
    with drawing():
        figure, axes = canvas(4.6, 2.8)
        step = 0.012 * (max(strengths) - min(strengths))
        for place, row in enumerate(lines):
            # Whiskers of two lines at one strength stand beside each other.
            aside = step * (place - (len(lines) - 1) / 2)
            colour = SERIES[1] if str(row[0]).partition(", ")[0] == "random" else SERIES[0]
            points = [
                (strength + aside, point)
                for strength, point in zip(strengths, row[2:], strict=True)
                if isinstance(point, Estimate) and point.value is not None
            ]
            axes.plot(
                [strength for strength, _ in points],
                [point.value for _, point in points],
                marker="o",
                markersize=5,
                color=colour,
                linestyle=_DASHES[place % len(_DASHES)],
                label=str(row[0]),
            )
            for strength, point in points:
                if point.low is not None and point.high is not None:
                    axes.plot([strength, strength], [point.low, point.high], color=colour, linewidth=1.2)
        axes.set_xlabel("strength")
        axes.set_ylabel("NDM")
        axes.set_ylim(bottom=0)
        axes.yaxis.grid(True, zorder=0)
        axes.set_axisbelow(True)
        if title:
            axes.set_title(title, pad=18)
        axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2, borderaxespad=0.2)
    return figure


def figure_of(table: Table) -> Any | None:
    """The figure of a table of decisions; ``None`` for any other table."""
    if table.id.startswith(MAPS):
        return shift_map(table)
    return strength_curves(table) if table.id.startswith(STRENGTHS) else None


def write_figures(found: Drifted, folder: Path) -> tuple[Path, ...]:
    """Every map and every run's curves as SVG files in a folder."""
    from affectlab.benchmarks.decisions.heatmap import heatmap_table
    from affectlab.benchmarks.decisions.tables import strength_table

    folder.mkdir(parents=True, exist_ok=True)
    figures: Mapping[str, Any | None] = {
        **{
            f"shifts-{dose}": shift_map(heatmap_table(one, dose), f"Shift against neutral, strength {dose}")
            for dose, one in found.maps.items()
        },
        **{f"strength-{name}": strength_curves(strength_table(lines), name) for name, lines in found.curves.items()},
    }
    written = []
    for name, figure in figures.items():
        if figure is None:
            continue
        path = folder / ("".join(letter if letter.isalnum() or letter in ".-" else "_" for letter in name) + ".svg")
        path.write_text(print_svg(figure), encoding="utf-8")
        written.append(path)
    return tuple(written)
