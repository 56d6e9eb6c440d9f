"""How figures are written for people: percent with one decimal, p-values, counts, differences with a sign.

Whole numbers are counts. An estimate is written by its own unit, a bare float by the unit its table declares for the
column (``stats.estimate.Unit``). A column without a declaration is read by the words of its heading.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from affectlab.metrics.scores import Cell, Matrix, Table
from affectlab.report.names import figure_name, heading_name, row_name
from affectlab.stats.estimate import Estimate, Unit

NONE = "–"
MINUS = "−"
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
PERCENT: frozenset[Unit] = frozenset({"share", "difference"})
"""Units that are shown times 100."""
_WORD = re.compile(r"[^\W\d_]+")
_NUMBER = re.compile(
    "kappa|κ|alpha|α|rho|ρ|tau|τ|chi|χ|odds|ratio|statistic|correlation|spearman|pearson|kendall|cohen|krippendorff|"
    "rmse|mse|mae|wasserstein|kl|nll|perplexity|log|strength|seconds|tokens|cost"
)
_DRIFT = re.compile(r"\b(ndm|nad)(?![a-z])", re.IGNORECASE)
_DIFFERENCE = re.compile("difference|change|gap|bias|minus|δ")


def visible(text: str) -> str:
    """Text with its control characters, those of writing direction included, written out; line ends and tabs stay.

    Replies and labels come from elsewhere: a terminal or a browser would act on what they hold.

    >>> visible("\\x1b[31mB")
    '\\\\x1b[31mB'
    """
    return _CONTROL.sub(lambda found: ascii(found.group())[1:-1], text)


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


def unit_by_words(heading: str, values: Iterable[Cell] = ()) -> Unit:
    """The unit of a column that declares none, from whole words of its heading.

    A column with a float outside [-1, 1] holds numbers whatever its heading says.

    >>> unit_by_words("odds ratio"), unit_by_words("f1:admiration"), unit_by_words("p (Holm)")
    ('number', 'share', 'p')
    """
    found = _WORD.findall(heading)
    words = {word.casefold() for word in found}
    # A capital P alone is precision or a probability.
    if "p" in found or {"p", "value"} <= words:
        return "p"
    if any(map(_NUMBER.fullmatch, words)) or any(isinstance(value, float) and abs(value) > 1 for value in values):
        return "number"
    # A detectable difference is a size, without direction.
    return "difference" if any(map(_DIFFERENCE.fullmatch, words)) and "detectable" not in words else "share"


def number_text(value: float, unit: Unit) -> str:
    """A number as a reader sees it.

    >>> number_text(0.9124, "share"), number_text(0.031, "difference"), number_text(0.0004, "p")
    ('91.2', '+3.1', '<0.001')
    """
    if unit == "p":
        return "<0.001" if value < 0.001 else f"{value:.3f}"
    shown = 100 * value if unit in PERCENT else value
    text = f"{shown:.1f}" if unit in PERCENT else f"{shown:.3f}" if abs(shown) < 10 else f"{shown:,.1f}"
    text = text.lstrip("-") if float(text.replace(",", "")) == 0 else text
    if unit == "difference" and not text.startswith("-") and text.strip("0.") != "":
        text = "+" + text
    return text.replace("-", MINUS)


def cell_text(cell: Cell, unit: Unit) -> Text:
    """A cell of a table as text; ``unit`` is what a bare float is in."""
    if cell is None:
        return Text(NONE, numeric=True)
    if isinstance(cell, Estimate):
        if cell.value is None:
            return Text(NONE, reason=cell.reason, numeric=True)
        return Text(number_text(cell.value, cell.unit), interval_text(cell), cell.reason, numeric=True)
    if isinstance(cell, bool):
        return Text("yes" if cell else "no")
    if isinstance(cell, int):
        return Text(f"{cell:,}".replace("-", MINUS), numeric=True)
    if isinstance(cell, float):
        return Text(number_text(cell, unit), numeric=True)
    return Text(cell)


def interval_text(estimate: Estimate) -> str:
    """The interval (``"88.0, 93.9"``), or empty when there is none."""
    if estimate.low is None or estimate.high is None:
        return ""
    return f"{number_text(estimate.low, estimate.unit)}, {number_text(estimate.high, estimate.unit)}"


def counts(matrix: Matrix) -> bool:
    """Whether a matrix holds counts: whole numbers, none below 0."""
    return all(value is None or (value >= 0 and float(value).is_integer()) for row in matrix.values for value in row)


def matrix_texts(matrix: Matrix) -> tuple[tuple[str, ...], ...]:
    """Every cell of a matrix as text [row][column]: counts, or numbers."""
    counted = counts(matrix)

    def text(value: float | None) -> str:
        if value is None:
            return NONE
        return f"{int(value):,}" if counted else number_text(value, "number")

    return tuple(tuple(map(text, row)) for row in matrix.values)


def table_texts(table: Table) -> tuple[tuple[Text, ...], ...]:
    """Every cell of a table as text. Ids of figures, and of the parts in a breakdown, are spelled out."""
    units = column_units(table)
    named = [heading.casefold() in ("figure", "score", "statistic") for heading in table.columns]

    def text(index: int, cell: Cell) -> Text:
        if isinstance(cell, str) and named[index]:
            return Text(figure_name(cell) if cell.islower() else cell)
        if isinstance(cell, str) and index == 0 and is_breakdown(table):
            return Text(row_name(cell))
        return cell_text(cell, units[index])

    return tuple(tuple(text(index, cell) for index, cell in enumerate(row)) for row in table.rows)


def is_breakdown(table: Table) -> bool:
    """Whether a table breaks the scores down by a slice: a row per part, its id first."""
    return table.id.startswith("by_")


def headings(table: Table) -> tuple[str, ...]:
    """A table's headings as people read them."""
    return tuple(map(heading_name, table.columns))


def column_units(table: Table) -> tuple[Unit, ...]:
    """What the bare floats of each column are in: the unit declared, else what the heading's words say."""
    return tuple(
        table.units.get(heading) or unit_by_words(heading, (row[index] for row in table.rows))
        for index, heading in enumerate(table.columns)
    )


def figure_units(table: Table) -> tuple[frozenset[Unit], ...]:
    """Units of the figures in each column, estimates and bare floats alike; empty where there are none."""
    return tuple(
        frozenset(
            cell.unit if isinstance(cell, Estimate) else unit
            for row in table.rows
            if figure(cell := row[index]) is not None
        )
        for index, unit in enumerate(column_units(table))
    )


def numeric_columns(texts: Sequence[Sequence[Text]], width: int) -> tuple[bool, ...]:
    """Which columns hold figures only (and are set flush right)."""
    return tuple(bool(texts) and all(row[index].numeric for row in texts) for index in range(width))


def in_percent(table: Table) -> bool:
    """Whether some figure of the table is shown times 100, which its caption must then say."""
    return any(units & PERCENT for units in figure_units(table))


def scale_note(tables: Sequence[Table], figures: Sequence[Estimate] = ()) -> str:
    """What figures are in and what brackets hold, as far as it is so of these; empty where there is nothing to say.

    NDM and NAD are shares too, but printed as their paper prints them.
    """
    found = [*figures, *(cell for table in tables for row in table.rows for cell in row if isinstance(cell, Estimate))]
    percent = any(map(in_percent, tables)) or any(one.unit in PERCENT for one in figures)
    written = [*(one.name for one in figures), *(text for table in tables for text in _texts(table))]
    drifts = any(map(_DRIFT.search, written))
    parts = ["Scores and shares are in %"] if percent else []
    if drifts:
        parts.append(
            f"{'NDM and NAD are not: ' if percent else 'in NDM and NAD '}1 is a move over all that is feasible"
        )
    if any(one.low is not None for one in found):
        parts.append("brackets hold intervals")
    said = "; ".join(parts)
    return f"{said[:1].upper()}{said[1:]}." if said else ""


def _texts(table: Table) -> tuple[str, ...]:
    return (*table.columns, *(cell for row in table.rows for cell in row if isinstance(cell, str)))


def reasons(table: Table) -> tuple[str, ...]:
    """Why figures of the table, or their intervals, are missing: a sentence for each reason."""
    found = [cell for row in table.rows for cell in row if isinstance(cell, Estimate) and cell.reason]
    said = (f"{NONE} {one.reason}" if one.value is None else f"No interval: {one.reason}" for one in found)
    return tuple(dict.fromkeys(said))


def figure(cell: Cell) -> float | None:
    """The figure a cell holds; ``None`` for counts, texts and what is missing."""
    if isinstance(cell, Estimate):
        return cell.value
    return cell if isinstance(cell, float) else None
