from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affectlab.metrics.scores import Scores, Table
from affectlab.report.latex import escape, run_to_latex, table_latex
from affectlab.report.model import RunReport
from affectlab.stats.estimate import Estimate


def test_every_table_with_its_notes(run_report: RunReport, scores: Scores) -> None:
    text = run_to_latex(run_report)
    assert text.count(r"\begin{table}") == text.count(r"\end{table}") == 2 + len(scores.tables) + len(scores.matrices)
    for table in scores.tables:
        assert rf"\caption{{{escape(table.title)}" in text
    for note in scores.notes:
        assert escape(note) in text
    assert r"31.4 {\scriptsize [24.4, 38.4]}" in text
    assert r"\textbf{SmolLM2-135M-Instruct (this run)}" in text
    assert r"\usepackage{booktabs}" in text


def test_every_row_has_as_many_cells_as_headings(run_report: RunReport) -> None:
    for tabular in re.findall(r"\\begin{tabular}.*?\\end{tabular}", run_to_latex(run_report), re.DOTALL):
        rows = [line for line in tabular.splitlines() if line.endswith(r"\\")]
        assert len({len(re.findall(r"(?<!\\)&", row)) for row in rows}) == 1


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("50 % & A_1 #2", r"50 \% \& A\_1 \#2"),
        (r"\input{x}", r"\textbackslash{}input\{x\}"),
        ("−3", "$-$3"),
        ("a\n\nb", "a  b"),
        ("κ", r"$\kappa$"),
        ("κ\u0304 .827, κ+", r"$\bar{\kappa}$ .827, $\kappa$+"),
        ("50 % x\u0304_1", r"50 \% $\bar{x}$\_1"),
        ("a\x1b\r", r"a\textbackslash{}x1b\textbackslash{}r"),
        ("e\u0301", "é"),  # one character where there is one
        ("μ ≤ σ", r"$\mu$ $\leq$ $\sigma$"),
    ],
)
def test_escape(text: str, escaped: str) -> None:
    assert escape(text) == escaped


@given(st.text())
def test_nothing_active_is_left(text: str) -> None:
    rest = re.sub(r"\\(?:[{}$&#%_]|[a-z]+\{\})", "", escape(text))
    rest = re.sub(r"\$-\$|\$\\(?:bar|hat|tilde|dot)\{\\?[A-Za-z]+\}\$|\$\\[A-Za-z]+\$", "", rest)
    assert not set(rest) & set("\\{}$&#^_~%\n")


def test_row_that_starts_with_a_bracket_is_guarded() -> None:
    text = table_latex(Table("t", "T", ("a", "b"), (("x", 1), ("[y]", 2))))
    assert "{}[y] & 2" in text


def test_caption_names_the_unit_and_table_the_sign() -> None:
    text = table_latex(
        Table("t", "T", ("who", "difference"), (("A", Estimate("d", -0.05, -0.1, 0.02, unit="difference")),))
    )
    assert r"Scores and shares in \%." in text
    assert r"$-$5.0 {\scriptsize [$-$10.0, +2.0]}" in text
