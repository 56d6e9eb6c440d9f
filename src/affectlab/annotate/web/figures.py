"""Tables of figures as pages show them, in the language of the page."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from affectlab.metrics.scores import Cell, Matrix, Table
from affectlab.stats.estimate import Estimate

NO_NAMES: Mapping[str, str] = {}
_HOLE = re.compile(r"\\\{(\w+)\\\}")


@dataclass(frozen=True)
class Shown:
    """A cell as text, and whether it is a plain number."""

    text: str
    figure: bool = False


@dataclass(frozen=True)
class View:
    """A table as texts."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Shown, ...], ...]
    note: str = ""


def table_view(table: Table, language: str = "en", names: Mapping[str, str] = NO_NAMES) -> View:
    """A table of figures as texts.

    Args:
        table: The table, whose words are English.
        language: Language of the page.
        names: Values that have a name in this language: id -> name.
    """
    rows = tuple(tuple(_shown(cell, language, names) for cell in row) for row in table.rows)
    columns = tuple(in_language(name, language) for name in table.columns)
    return View(in_language(table.title, language), columns, rows, in_language(table.note, language))


def matrix_view(matrix: Matrix, language: str = "en", names: Mapping[str, str] = NO_NAMES) -> View:
    """A matrix of counts as texts, its rows named in the first column."""
    rows = tuple(
        (Shown(_named(name, names)), *(_shown(cell, language, names) for cell in row))
        for name, row in zip(matrix.rows, matrix.values, strict=True)
    )
    columns = (f"{matrix.row_title} / {matrix.column_title}", *(_named(name, names) for name in matrix.columns))
    return View(in_language(matrix.title, language), columns, rows)


def _shown(cell: Cell, language: str, names: Mapping[str, str]) -> Shown:
    if isinstance(cell, str):
        named = _named(cell, names)
        return Shown(in_language(cell, language) if named == cell else named)
    return Shown(cell_text(cell, language), figure=not isinstance(cell, Estimate))


def _named(value: str, names: Mapping[str, str]) -> str:
    """A value, or a set of them, by name."""
    return ", ".join(names.get(one, one) for one in value.split(", "))


def cell_text(cell: Cell, language: str = "en") -> str:
    """A cell as text: an estimate with its interval, or the reason why there is none."""
    if cell is None:
        return "–"
    if not isinstance(cell, Estimate):
        return f"{cell:g}" if isinstance(cell, float) else str(cell)
    if cell.value is None:
        return f"– ({in_language(cell.reason.replace('_', ' '), language)})"
    percent = cell.unit != "number"
    shown = f"{100 * cell.value:.1f} %" if percent else f"{cell.value:.3f}"
    if cell.low is not None and cell.high is not None:
        ends = (f"{100 * end:.1f}" if percent else f"{end:.3f}" for end in (cell.low, cell.high))
        shown = f"{shown} [{', '.join(ends)}]"
    return shown.replace("-", "−")


def in_language(text: str, language: str) -> str:
    """Words of a module of figures in the language of the page: whole or sentence by sentence, else as they are."""
    plain, shaped = _templates(language)
    if not plain or text in plain:
        return plain.get(text, text)
    for ends in (r"(?<=\.) ", r"(?<=;) "):  # before holes are looked at, which would hold whole sentences
        sentences = re.split(ends, text)
        told = [in_language(one, language) for one in sentences] if len(sentences) > 1 else []
        if told and all(one != source for one, source in zip(told, sentences, strict=True)):
            return "".join(told)
    for pattern, wanted in shaped:
        if found := pattern.fullmatch(text):
            parts = found.groupdict()
            if "WORDS" in parts:
                parts["WORDS"] = in_language(parts["WORDS"], language)
            return wanted.format(**parts)
    return text


@cache
def _templates(language: str) -> tuple[Mapping[str, str], list[tuple[re.Pattern[str], str]]]:
    """What is written whole in a language, and what has holes."""
    written = (files("affectlab.annotate") / "web" / "figures.toml").read_text(encoding="utf-8")
    words: Mapping[str, str] = tomllib.loads(written).get(language, {})
    plain = {source: wanted for source, wanted in words.items() if "{" not in source}
    # The longest first: "{value} s" would hold every sentence that ends in seconds.
    holes = sorted((source for source in words if "{" in source), key=len, reverse=True)
    return plain, [(re.compile(_HOLE.sub(_hole, re.escape(one))), words[one]) for one in holes]


def _hole(found: re.Match[str]) -> str:
    return f"(?P<{found[1]}>{'.+?' if found[1].isupper() else r'[^ ]+?'})"
