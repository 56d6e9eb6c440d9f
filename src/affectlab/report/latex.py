"""A run's tables for a paper: LaTeX with booktabs, to be pulled in with ``\\input``."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from itertools import zip_longest

from affectlab.metrics.scores import Matrix, Scores, Table
from affectlab.report import cells, words
from affectlab.report.cells import Text
from affectlab.report.model import RunReport
from affectlab.report.names import figure_name
from affectlab.report.references import standing

_HEAD = (
    "% Made with affectlab. In the preamble: \\usepackage{booktabs}\n"
    "% Chinese and other scripts need XeLaTeX or LuaLaTeX and a font that has them.\n"
)


def _greek(letter: str) -> str:
    name = unicodedata.name(letter).rpartition(" ")[2].replace("LAMDA", "LAMBDA")
    return name.capitalize() if letter.isupper() else name.lower()


_GREEK = {letter: _greek(letter) for letter in "αβγδεζηθικλμνξπρστυφχψωΓΔΘΛΞΠΣΦΨΩ"}
_ACCENTS = {"\u0302": "hat", "\u0303": "tilde", "\u0304": "bar", "\u0305": "bar", "\u0307": "dot"}
_ESCAPES = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "−": "$-$",
    "–": "--",
    "×": r"$\times$",
    "…": r"\dots{}",
    "√": r"$\surd$",
    "‖": r"$\Vert$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "≠": r"$\neq$",
    "≈": r"$\approx$",
    "→": r"$\to$",
    **{letter: rf"$\{name}$" for letter, name in _GREEK.items()},
    "\n": " ",
}
_ALL = ", all conditions together"
_SPECIAL = re.compile("|".join(re.escape(character) for character in _ESCAPES))
_ACCENTED = re.compile(f"([A-Za-z{''.join(_GREEK)}])([{''.join(_ACCENTS)}])")


def run_to_latex(report: RunReport) -> str:
    """Every table of a run as a LaTeX ``table``: headline, published figures, then the scorer's own."""
    parts = [_HEAD]
    several = len(report.scores) > 1
    together = report.together
    if together is not None and together.headline:
        parts.append(table_latex(headline_figures(together, _ALL), suffix=_ALL))
    if report.overview is not None:
        parts.append(table_latex(report.overview))
    for condition, scores in report.sheets.items():
        suffix = f", {condition}" if several else ""
        parts.append(table_latex(headline_figures(scores, suffix), suffix=suffix))
    published = standing(report)
    if published is not None:
        parts.append(table_latex(published.table, bold=published.own))
    parts += [table_latex(table, suffix=_ALL) for table in (together.tables if together is not None else ())]
    for condition, scores in report.sheets.items():
        suffix = f", {condition}" if several else ""
        parts += [table_latex(table, suffix=suffix) for table in scores.tables]
        parts += [matrix_latex(matrix, suffix=suffix) for matrix in scores.matrices]
    return "\n".join(parts)


def headline_figures(scores: Scores, suffix: str = "") -> Table:
    """The headline figures as a table of one row, as papers print them."""
    columns = tuple(figure_name(estimate.name) for estimate in scores.headline)
    note = " ".join((*words.methods(scores.headline), *map(words.sentence, scores.notes)))
    return Table("headline", f"Scores{suffix}", columns, (tuple(scores.headline),), note)


def table_latex(table: Table, *, bold: Collection[int] = (), suffix: str = "") -> str:
    """One table.

    Args:
        table: The table.
        bold: Rows to set in bold.
        suffix: Put after the caption and into the label, to keep conditions apart.
    """
    texts = cells.table_texts(table)
    figures = cells.numeric_columns(texts, len(table.columns))
    rows = [[_cell(text, index in bold) for text in row] for index, row in enumerate(texts)]
    percent = "Scores and shares in %." if cells.in_percent(table) else ""
    caption = " ".join(words.sentence(part) for part in (table.title + suffix, percent, table.note) if part)
    align = "".join("r" if figure else "l" for figure in figures)
    return _environment(align, [escape(heading) for heading in cells.headings(table)], rows, caption, table.id + suffix)


def matrix_latex(matrix: Matrix, *, suffix: str = "") -> str:
    """A matrix as a table, its row labels first."""
    rows = [
        [escape(label), *map(escape, texts)]
        for label, texts in zip(matrix.rows, cells.matrix_texts(matrix), strict=True)
    ]
    caption = f"{matrix.title}{suffix} (rows: {matrix.row_title}, columns: {matrix.column_title}). {matrix.note}"
    headings = ["", *map(escape, matrix.columns)]
    return _environment("l" + "r" * len(matrix.columns), headings, rows, caption.strip(), matrix.id + suffix)


def escape(text: str) -> str:
    """Text for LaTeX, with nothing left that LaTeX would act on.

    >>> escape("50 % of A_1")
    '50 \\\\% of A\\\\_1'
    """
    # Composed where Unicode can; what is left on a letter (a bar over κ) is an accent of mathematics.
    composed = unicodedata.normalize("NFC", cells.visible(text))
    parts = _ACCENTED.split(composed)
    pieces = [_SPECIAL.sub(lambda match: _ESCAPES[match.group()], piece) for piece in parts[::3]]
    marks = [rf"$\{_ACCENTS[mark]}{{{_math(letter)}}}$" for letter, mark in zip(parts[1::3], parts[2::3], strict=True)]
    return "".join(piece + mark for piece, mark in zip_longest(pieces, marks, fillvalue=""))


def _math(letter: str) -> str:
    return rf"\{_GREEK[letter]}" if letter in _GREEK else letter


def _cell(text: Text, bold: bool) -> str:
    main = escape(text.main)
    if bold:
        main = rf"\textbf{{{main}}}"
    return f"{main} {{\\scriptsize [{escape(text.interval)}]}}" if text.interval else main


def _environment(align: str, headings: list[str], rows: list[list[str]], caption: str, label: str) -> str:
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{escape(caption)}}}",
        rf"\label{{tab:{re.sub(r'[^A-Za-z0-9]+', '-', label)}}}",
        rf"\begin{{tabular}}{{@{{}}{align}@{{}}}}",
        r"\toprule",
        " & ".join(headings) + r" \\",
        r"\midrule",
        *(_row(row) for row in rows),
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _row(row: list[str]) -> str:
    # LaTeX would read a row that starts with "[" as the optional argument of the "\\" before it.
    line = " & ".join(row)
    return ("{}" if line.startswith("[") else "") + line + r" \\"
