"""Matplotlib figures as SVG text: for a page that has a light and a dark theme, or for a paper.

Figures are drawn in stand-in colours. In a page these become CSS variables and ``currentColor``, so that the
figure follows the theme; in a file for a paper they become fixed colours (Okabe and Ito's, which colour-blind
readers tell apart too).
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from html import escape
from typing import Any

from affectlab.report.cells import visible

INK, MUTED, GRID, HEAT = "#010203", "#010204", "#010205", "#010206"
SERIES = ("#010211", "#010212", "#010213")
PAPER = "#010207"
LABEL_LIMIT = 34
_CHARACTER = 0.085

_PAGE = {
    INK: "currentColor",
    MUTED: "var(--muted)",
    GRID: "var(--rule)",
    HEAT: "var(--heat)",
    PAPER: "var(--paper)",
    **{colour: f"var(--series-{index})" for index, colour in enumerate(SERIES, start=1)},
}
_PRINT = {
    INK: "#1a1a1a",
    MUTED: "#5f6368",
    GRID: "#d9d9d9",
    HEAT: "#56b4e9",
    PAPER: "#ffffff",
    **dict(zip(SERIES, ("#0072b2", "#d55e00", "#009e73"), strict=True)),
}

_SETTINGS = {
    "svg.fonttype": "none",
    "svg.hashsalt": "affectlab",
    "text.parse_math": False,
    "font.family": ["DejaVu Sans"],
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.spines.left": False,
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "axes.titlelocation": "left",
    "axes.titlesize": 9,
    "axes.grid": False,
    "grid.color": GRID,
    "grid.linewidth": 0.8,
    "text.color": INK,
    "xtick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.color": MUTED,
    "ytick.labelcolor": INK,
    "ytick.major.size": 0,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
}


@contextmanager
def drawing() -> Iterator[None]:
    """Matplotlib settings for our figures; nothing of the caller's own settings is changed."""
    import matplotlib as mpl

    with mpl.rc_context(_SETTINGS), warnings.catch_warnings():
        # Text stays text: the reader's fonts have the glyphs that the measuring font lacks.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        yield


def canvas(width: float, height: float) -> tuple[Any, Any]:
    """A figure and its axes, in inches. Needs :func:`drawing`. No pyplot, so no state and no window."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    figure.patch.set_visible(False)
    axes = figure.add_subplot()
    axes.patch.set_visible(False)
    return figure, axes


def tile(axes: Any, place: tuple[float, float], text: str, fill: str, share: float) -> Any:
    """A cell of a map: its text, on a colour as strong as ``share`` (0 to 1) says, in a frame.

    Returns:
        The text.
    """
    from matplotlib.colors import to_rgba
    from matplotlib.patches import Rectangle

    x, y = place
    box = Rectangle((x - 0.48, y - 0.46), 0.96, 0.92, facecolor=to_rgba(fill, share), edgecolor=GRID, linewidth=0.6)
    axes.add_artist(box)
    shown = axes.text(x, y, visible(text), ha="center", va="center", color=INK)
    # It lies inside the axes: to measure hundreds of them would take most of the time that drawing takes.
    shown.set_in_layout(False)
    return shown


def clipped(label: str, limit: int = LABEL_LIMIT) -> str:
    """The label on one line, cut where it would leave no room for the figure. Chinese characters count twice."""
    from rich.cells import cell_len, set_cell_size

    line = visible(" ".join(label.split()))
    return line if cell_len(line) <= limit else set_cell_size(line, limit - 1).rstrip() + "…"


def inches(labels: Sequence[str]) -> float:
    """Room the longest label takes, about."""
    from rich.cells import cell_len

    return _CHARACTER * max((cell_len(clipped(label)) for label in labels), default=0)


def page_svg(figure: Any, name: str, title: str, css: str) -> str:
    """The figure as an ``<svg>`` element to put into our HTML page.

    Args:
        figure: What :func:`canvas` made.
        name: Unique on the page and fit for an id; ids inside the SVG start with it.
        title: What the figure shows, read out by screen readers.
        css: Class of the element.
    """
    text = _svg(figure)
    text = text[text.index("<svg") :]
    text = re.sub(r'(\bid="|xlink:href="#|url\(#)', lambda match: f"{match.group(1)}{name}-", text)
    text = re.sub(r"<style type=\"text/css\">.*?</style>", "", text, flags=re.DOTALL)
    # A fixed family in the markup would win over the page's.
    text = text.replace("'DejaVu Sans'", "var(--figure-font)")
    width, height = (float(number) for number in re.findall(r'\s(?:width|height)="([\d.]+)pt"', text)[:2])
    text = re.sub(r'\swidth="[\d.]+pt"', f' width="{width * 4 / 3:.0f}"', text, count=1)
    text = re.sub(r'\sheight="[\d.]+pt"', f' height="{height * 4 / 3:.0f}"', text, count=1)
    text = text.replace("<svg", f'<svg class="{css}" role="img" aria-label="{escape(visible(title))}"', 1)
    return _recoloured(text, _PAGE)


def print_svg(figure: Any) -> str:
    """The figure as an SVG file for a paper: fixed colours, no background."""
    return _recoloured(_svg(figure), _PRINT)


def _svg(figure: Any) -> str:
    buffer = io.StringIO()
    with drawing():
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    return re.sub(r"\s*<metadata>.*?</metadata>", "", buffer.getvalue(), flags=re.DOTALL)


def _recoloured(text: str, colours: dict[str, str]) -> str:
    return re.sub("|".join(colours), lambda match: colours[match.group()], text)
