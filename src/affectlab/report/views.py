"""What the HTML templates print: texts, anchors and flags, made from tables, matrices and estimates."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from affectlab.metrics.scores import Matrix, Table
from affectlab.report import cells, words
from affectlab.report.heatmap import shading
from affectlab.report.model import Example
from affectlab.report.names import figure_name
from affectlab.stats.estimate import Estimate

_PROSE = 34
_SHORT = 14
_LEVEL = re.compile(r"(\d+(?:\.\d+)?) ?%")


@dataclass(frozen=True, slots=True)
class ColumnView:
    """A heading, whether the column holds figures, and the class of its cells."""

    heading: str
    figure: bool
    css: str


@dataclass(frozen=True, slots=True)
class RowView:
    """A row; ``own`` rows stand out."""

    cells: tuple[cells.Text, ...]
    own: bool


@dataclass(frozen=True, slots=True)
class TableView:
    """A table with its caption and notes."""

    anchor: str
    title: str
    columns: tuple[ColumnView, ...]
    rows: tuple[RowView, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MatrixView:
    """A matrix with its cells as text [row][column], and what the colours of its map say."""

    anchor: str
    matrix: Matrix
    texts: tuple[tuple[str, ...], ...]
    shading: str


@dataclass(frozen=True, slots=True)
class Track:
    """Where a share and its interval lie on a line from 0 to 100."""

    at: float
    left: float
    width: float | None


@dataclass(frozen=True, slots=True)
class Card:
    """A headline figure."""

    name: str
    value: str
    defined: bool
    level: str
    interval: str
    track: Track | None
    sentences: tuple[str, ...]
    basis: str


@dataclass(frozen=True, slots=True)
class Block:
    """One thing in a section: a table, several small ones side by side, a figure, or a matrix with its figure.

    ``svg`` is markup of our own making, or empty. A table with ``folded`` opens under these words.
    """

    kind: Literal["table", "tables", "figure", "matrix"]
    title: str = ""
    table: TableView | None = None
    tables: tuple[TableView, ...] = ()
    matrix: MatrixView | None = None
    svg: str = ""
    folded: str = ""

    @property
    def entries(self) -> tuple[tuple[str, str], ...]:
        """Anchor and title of what the table of contents lists."""
        tables = [(view.anchor, view.title) for view in (self.table, *self.tables) if view is not None]
        matrices = [] if self.matrix is None else [(self.matrix.anchor, self.matrix.matrix.title)]
        return (*tables, *matrices)


@dataclass(frozen=True, slots=True)
class Details:
    """Names and values under a heading."""

    title: str
    rows: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class SectionView:
    """A section of the page.

    ``parts`` are folded, each with its title and ``line`` to open it; ``opened`` ones are open at first. Of ``alike``
    cards none is larger than the others.
    """

    anchor: str
    title: str
    cards: tuple[Card, ...] = ()
    small: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    blocks: tuple[Block, ...] = ()
    examples: tuple[Example, ...] = ()
    command: str = ""
    details: tuple[Details, ...] = ()
    alike: bool = False
    line: str = ""
    opened: bool = False
    parts: tuple[SectionView, ...] = ()

    @property
    def entries(self) -> tuple[tuple[str, str], ...]:
        """Anchor and title of what the table of contents lists under the section."""
        if self.parts:
            return tuple((part.anchor, part.title) for part in self.parts)
        entries = tuple(entry for block in self.blocks for entry in block.entries)
        return entries if len(entries) > 1 or not self.title else ()


@dataclass(frozen=True, slots=True)
class Page:
    """A whole page."""

    tab_title: str
    title: str
    lead: str
    facts: tuple[str, ...]
    sections: tuple[SectionView, ...]
    footer: str


def anchor(*parts: str) -> str:
    """An id for an element, or a file's name. Other characters are spelled out, so that different names stay apart."""
    joined = "-".join(part for part in parts if part)
    return re.sub(r"[^A-Za-z0-9_-]", lambda match: f"~{ord(match.group()):x}~", joined)


def table_view(table: Table, prefix: str = "", own: Collection[int] = ()) -> TableView:
    """A table for the template."""
    texts = cells.table_texts(table)
    figures = cells.numeric_columns(texts, len(table.columns))
    with_interval = [any(row[index].interval for row in texts) for index in range(len(table.columns))]
    crowded = sum(with_interval) > 2
    columns = []
    for index, heading in enumerate(cells.headings(table)):
        longest = max((len(row[index].main) for row in texts), default=0)
        prose = longest > _PROSE
        stacked = crowded and with_interval[index]
        text = "prose" if prose else "short" if longest <= _SHORT else "words"
        css = "figure stacked" if stacked else "figure" if figures[index] else text
        columns.append(ColumnView(heading, figures[index], css))
    notes = (table.note, *cells.reasons(table))
    return TableView(
        anchor=anchor(prefix, table.id),
        title=table.title,
        columns=tuple(columns),
        rows=tuple(RowView(row, index in own) for index, row in enumerate(texts)),
        notes=tuple(note for note in notes if note),
    )


def matrix_view(matrix: Matrix, prefix: str = "") -> MatrixView:
    """A matrix for the template."""
    return MatrixView(anchor(prefix, matrix.id), matrix, cells.matrix_texts(matrix), shading(matrix))


def card(estimate: Estimate, baselines: Mapping[str, float]) -> Card:
    """A headline figure for the template.

    Args:
        estimate: The figure.
        baselines: Name -> the same figure of chance, majority and the like.
    """
    track = _track(estimate) if estimate.unit == "share" else None
    against = (words.against(estimate, name, value) for name, value in baselines.items())
    level = _LEVEL.search(estimate.method)
    return Card(
        name=figure_name(estimate.name),
        value=words.value_text(estimate),
        defined=estimate.value is not None,
        level=f"{level.group(1)} % interval" if level else "interval",
        interval=cells.interval_text(estimate).replace(", ", " to "),
        track=track,
        sentences=tuple(
            s
            for s in (
                words.meaning(estimate.name),
                words.sentence(estimate.reason),
                " ".join(filter(None, against)),
            )
            if s
        ),
        basis=words.basis(estimate),
    )


def details(manifest: Mapping[str, Any], first: str = "Run") -> tuple[Details, ...]:
    """A manifest as groups of names and values: single values first, then a group per mapping or listed mapping."""
    single = tuple(
        (_name(key), _value(value))
        for key, value in manifest.items()
        if not isinstance(value, Mapping) and not _mappings(value)
    )
    groups = [Details(first, single)] if single else []
    for key, value in manifest.items():
        if isinstance(value, Mapping) and value:
            groups.append(Details(_name(key), tuple(_flat(value))))
        elif _mappings(value):
            groups += [
                Details(f"{_name(key)}, {number}", tuple(_flat(part))) for number, part in enumerate(value, start=1)
            ]
    return tuple(groups)


def _mappings(value: Any) -> bool:
    return isinstance(value, Sequence) and bool(value) and all(isinstance(part, Mapping) for part in value)


def _track(estimate: Estimate) -> Track | None:
    if estimate.value is None or not 0 <= estimate.value <= 1:
        return None
    if estimate.low is None or estimate.high is None:
        return Track(round(100 * estimate.value, 2), 0.0, None)
    low, high = max(0.0, estimate.low), min(1.0, estimate.high)
    return Track(round(100 * estimate.value, 2), round(100 * low, 2), round(100 * (high - low), 2))


def _flat(mapping: Mapping[str, Any], prefix: str = "") -> list[tuple[str, str]]:
    rows: list[tuple[str, str]] = []
    for key, value in mapping.items():
        name = f"{prefix}{_name(key, first=not prefix)}"
        if isinstance(value, Mapping) and value:
            rows += _flat(value, f"{name}, ")
        else:
            rows.append((name, _value(value)))
    return rows


def _name(key: str, *, first: bool = True) -> str:
    text = str(key).replace("_", " ")
    return text[:1].upper() + text[1:] if first else text


def _value(value: Any) -> str:
    if value is None or value == "" or value == {} or value == []:
        return cells.NONE
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(_value(part) for part in value)
    return str(value)
