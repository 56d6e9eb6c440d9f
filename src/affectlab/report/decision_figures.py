"""Figures of decisions under emotion: the map of shifts with its stars, and drift against strength."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from affectlab.audits.drift import Drifted
from affectlab.benchmarks.decisions.curves import Curve
from affectlab.benchmarks.decisions.heatmap import NOT_ASKED, UNDEFINED, Heatmap, Shift
from affectlab.benchmarks.decisions.measures import NAMES
from affectlab.report.svg import GRID, INK, MUTED, PAPER, SERIES, canvas, drawing, print_svg

_CELL = (0.82, 0.34)
_DASHES = ("-", (0, (4, 2)), (0, (1, 1.5)))


def shift_map(found: Heatmap, title: str) -> Any:
    """Roles by emotions, a panel a model: blue more of the focal behaviour, red less, stars after correction.

    Cells without a test say so; they are never blank.
    """
    models, roles, emotions = found.names("model"), found.names("role"), found.names("emotion")
    cells = {(one.model, one.role, one.emotion): one for one in found.cells}
    largest = max((abs(one.change) for one in found.cells if one.change is not None), default=0.0) or 1.0
    stacked = len(models) * (len(roles) + 1)
    with drawing():
        figure, axes = canvas(2.0 + _CELL[0] * max(len(emotions), 4), 1.1 + _CELL[1] * stacked)
        for panel, model in enumerate(models):
            top = panel * (len(roles) + 1)
            axes.text(-0.5, top - 0.12, model, ha="left", va="center", fontweight="bold", color=INK)
            for row, role in enumerate(roles):
                for column, emotion in enumerate(emotions):
                    place = (column, top + row + 0.75)
                    if (one := cells.get((model, role, emotion))) is not None:
                        _draw(axes, one, place, largest)
                    else:
                        axes.text(*place, NOT_ASKED, ha="center", va="center", fontsize=7, color=MUTED)
        ticks = [
            (panel * (len(roles) + 1) + row + 0.75, role)
            for panel in range(len(models))
            for row, role in enumerate(roles)
        ]
        axes.set_yticks([at for at, _ in ticks], [role.replace("_", " ") for _, role in ticks])
        axes.set_xticks(range(len(emotions)), emotions)
        axes.xaxis.tick_top()
        axes.tick_params(length=0)
        axes.set_xlim(-0.5, max(len(emotions), 4) - 0.5)
        axes.set_ylim(stacked - 0.2, -0.5)
        axes.spines[:].set_visible(False)
        axes.set_title(title, pad=18)
        axes.xaxis.set_label_position("bottom")
        axes.set_xlabel(
            "points of the feasible range\n* q < .05, ** q < .01, *** q < .001 over the map", loc="left", fontsize=7.5
        )
    return figure


def _draw(axes: Any, one: Shift, place: tuple[float, float], largest: float) -> None:
    from matplotlib.patches import Rectangle

    x, y = place
    share = abs(one.change or 0.0) / largest
    colour = SERIES[0] if (one.change or 0.0) > 0 else SERIES[1]
    axes.add_patch(Rectangle((x - 0.48, y - 0.46), 0.96, 0.92, facecolor=colour, alpha=0.75 * share, linewidth=0))
    axes.add_patch(Rectangle((x - 0.48, y - 0.46), 0.96, 0.92, fill=False, edgecolor=GRID, linewidth=0.6))
    colour = MUTED if one.text == UNDEFINED or not one.change else PAPER if share > 0.85 else INK
    axes.text(x, y, one.text, ha="center", va="center", fontsize=8, color=colour)


def strength_curves(found: Sequence[Curve], title: str) -> Any | None:
    """NDM over strength: all emotions, random vectors; intervals as whiskers. ``None`` without strengths to draw."""
    lines = [one for one in found if one.figure == "ndm" and not one.emotion and len(one.strengths) > 1]
    if not lines:
        return None
    with drawing():
        figure, axes = canvas(4.6, 2.8)
        for place, one in enumerate(lines):
            colour = SERIES[0] if one.kind == "emotion" else SERIES[1]
            points = [(s, p) for s, p in zip(one.strengths, one.points, strict=True) if p.value is not None]
            axes.plot(
                [s for s, _ in points],
                [p.value for _, p in points],
                marker="o",
                markersize=5,
                color=colour,
                linestyle=_DASHES[place % len(_DASHES)],
                label=one.title,
            )
            for strength, point in points:
                if point.low is not None and point.high is not None:
                    axes.plot([strength, strength], [point.low, point.high], color=colour, linewidth=1.2)
        axes.set_xlabel("strength")
        axes.set_ylabel(NAMES["ndm"])
        axes.set_ylim(bottom=0)
        axes.yaxis.grid(True, zorder=0)
        axes.set_axisbelow(True)
        axes.set_title(title, pad=18)
        axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2, borderaxespad=0.2)
    return figure


def write_figures(found: Drifted, folder: Path) -> tuple[Path, ...]:
    """Every map and every run's curves as SVG files in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    figures = {
        f"shifts-{dose}": shift_map(one, f"Shift against neutral, strength {dose}") for dose, one in found.maps.items()
    }
    for name, lines in found.curves.items():
        if (figure := strength_curves(lines, name)) is not None:
            figures[f"strength-{name}"] = figure
    for name, figure in figures.items():
        path = folder / ("".join(letter if letter.isalnum() or letter in ".-" else "_" for letter in name) + ".svg")
        path.write_text(print_svg(figure), encoding="utf-8")
        written.append(path)
    return tuple(written)
