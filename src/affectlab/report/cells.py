"""How figures are written for people: percent with one decimal, p-values, counts, differences with a sign.

Which it is follows from the column's heading and values, so that scorers hand over bare numbers:

* whole numbers are counts;
* a heading that is ``p`` or starts with ``p `` or ``p-`` holds p-values;
* a heading that names a statistic without a percent reading (kappa, alpha, odds, correlation, ...), or a
  column with a value outside [-1, 1], holds plain numbers;
* any other number is a share or score and is shown times 100. Headings that say ``difference``, ``change``,
  ``gap`` or contain a minus sign get an explicit sign.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from affectlab.metrics.scores import Cell, Table
from affectlab.report.names import figure_name, heading_name
from affectlab.stats.estimate import Estimate

NONE = "–"
IN_PERCENT = "Scores and shares are in %; brackets hold intervals."
MINUS = "−"
_P_VALUE = re.compile(r"p([\s\-(_].*|)$|.*\bp[- ]value", re.IGNORECASE)
_PLAIN = re.compile(
    r"kappa|κ|alpha|α|odds|correlation|rho|ρ|seconds|tokens|cost|ratio|χ|chi|statistic|rmse|log|strength|cohen",
    re.IGNORECASE,
)
_SIGNED = re.compile(r"(?<!detectable )difference|change|gap|bias|Δ|−|minus", re.IGNORECASE)


class Unit(StrEnum):
    """How the numbers of a column are written."""

    PERCENT = "percent"
    PLAIN = "plain"
    P_VALUE = "p"


@dataclass(frozen=True, slots=True)
class Style:
    """How the numbers of one column are written, and whether they carry a plus sign."""

    unit: Unit
    signed: bool = False


@dataclass(frozen=True, slots=True)
class Text:
    """A cell as text: the figure, its interval (``"88.0, 93.9"``, or empty), why it is missing."""

    main: str
    interval: str = ""
    reason: str = ""
    numeric: bool = False

    @property
    def line(self) -> str:
        """Figure and interval on one line."""
        return f"{self.main} [{self.interval}]" if self.interval else self.main


def style_of(heading: str, values: Iterable[Cell]) -> Style:
    """How to write a column, from its heading and its values."""
    if _P_VALUE.match(heading.strip()):
        return Style(Unit.P_VALUE)
    signed = bool(_SIGNED.search(heading))
    numbers = [number for number in map(_number, values) if number is not None]
    plain = bool(_PLAIN.search(heading)) or any(abs(number) > 1 for number in numbers)
    return Style(Unit.PLAIN if plain else Unit.PERCENT, signed)


def figure_style(name: str) -> Style:
    """How to write a headline figure of that id."""
    return style_of(name.replace("_", " "), ())


def number_text(value: float, style: Style) -> str:
    """A number as a reader sees it.

    >>> number_text(0.9124, Style(Unit.PERCENT))
    '91.2'
    >>> number_text(0.0004, Style(Unit.P_VALUE))
    '<0.001'
    """
    if style.unit is Unit.P_VALUE:
        return "<0.001" if value < 0.001 else f"{value:.3f}"
    if style.unit is Unit.PERCENT:
        text = f"{100 * value:.1f}"
    else:
        text = f"{value:.3f}" if abs(value) < 10 else f"{value:,.1f}"
    text = text.lstrip("-") if float(text.replace(",", "")) == 0 else text
    if style.signed and not text.startswith("-") and text.strip("0.") != "":
        text = "+" + text
    return text.replace("-", MINUS)


def cell_text(cell: Cell, style: Style) -> Text:
    """A cell of a table as text."""
    if cell is None:
        return Text(NONE, numeric=True)
    if isinstance(cell, Estimate):
        if cell.value is None:
            return Text(NONE, reason=cell.reason, numeric=True)
        return Text(number_text(cell.value, style), interval_text(cell, style), cell.reason, numeric=True)
    if isinstance(cell, bool):
        return Text("yes" if cell else "no")
    if isinstance(cell, int):
        return Text(f"{cell:,}".replace("-", MINUS), numeric=True)
    if isinstance(cell, float):
        return Text(number_text(cell, style), numeric=True)
    return Text(cell)


def interval_text(estimate: Estimate, style: Style) -> str:
    """The interval (``"88.0, 93.9"``), or empty when there is none."""
    if estimate.low is None or estimate.high is None:
        return ""
    return f"{number_text(estimate.low, style)}, {number_text(estimate.high, style)}"


def table_texts(table: Table) -> tuple[tuple[Text, ...], ...]:
    """Every cell of a table as text. In a column of figures' names, ids are spelled out."""
    styles = column_styles(table)
    named = [heading.casefold() in ("figure", "score", "statistic") for heading in table.columns]
    return tuple(
        tuple(
            Text(figure_name(cell) if cell.islower() else cell)
            if is_name and isinstance(cell, str)
            else cell_text(cell, style)
            for cell, style, is_name in zip(row, styles, named, strict=True)
        )
        for row in table.rows
    )


def headings(table: Table) -> tuple[str, ...]:
    """A table's headings as people read them."""
    return tuple(map(heading_name, table.columns))


def column_styles(table: Table) -> tuple[Style, ...]:
    """How each column of a table is written."""
    return tuple(style_of(heading, (row[index] for row in table.rows)) for index, heading in enumerate(table.columns))


def numeric_columns(texts: Sequence[Sequence[Text]], width: int) -> tuple[bool, ...]:
    """Which columns hold figures only (and are set flush right)."""
    return tuple(bool(texts) and all(row[index].numeric for row in texts) for index in range(width))


def in_percent(table: Table) -> bool:
    """Whether some figure of the table is shown times 100, which its caption must then say."""
    return any(
        style.unit is Unit.PERCENT and any(_number(row[index]) is not None for row in table.rows)
        for index, style in enumerate(column_styles(table))
    )


def reasons(table: Table) -> tuple[str, ...]:
    """Why figures of the table are missing, each reason once."""
    found = [cell.reason for row in table.rows for cell in row if isinstance(cell, Estimate) and cell.reason]
    return tuple(dict.fromkeys(found))


def _number(cell: Cell) -> float | None:
    if isinstance(cell, Estimate):
        return cell.value
    return cell if isinstance(cell, float) else None
