from __future__ import annotations

import re

import pytest

from affectlab.metrics.scores import Scores, Table
from affectlab.report.figures import _drawn
from affectlab.report.reliability import reliability
from affectlab.report.svg import print_svg

BINS = Table(
    "reliability_p",
    "Reliability of p(Yes)",
    ("bin", "number", "mean stated", "share true", "stated − true"),
    (("0 to 10 %", 400, 0.05, 0.25, -0.2), ("10 to 20 %", 0, None, None, None), ("90 to 100 %", 100, 0.95, 0.5, 0.45)),
)


def test_a_disc_for_each_bin_that_holds_answers() -> None:
    figure = reliability(BINS)
    assert figure is not None
    [axes] = figure.axes
    discs = [line for line in axes.lines if line.get_marker() == "o"]
    assert [(line.get_xdata()[0], line.get_ydata()[0]) for line in discs] == [(5.0, 25.0), (95.0, 50.0)]
    # Areas are as 400 to 100, so diameters as 2 to 1.
    assert discs[0].get_markersize() == pytest.approx(2 * discs[1].get_markersize())
    assert {text.get_text() for text in axes.texts} == {"400", "100"}
    diagonal = axes.lines[0]
    assert list(diagonal.get_xdata()) == list(diagonal.get_ydata()) == [0, 100]
    assert re.search(r"mean stated probability", print_svg(figure))


def test_other_tables_and_empty_ones_have_no_diagram() -> None:
    assert reliability(Table("x", "x", ("a", "number"), (("b", 1),))) is None
    assert reliability(Table("x", "x", BINS.columns, (BINS.rows[1],))) is None


def test_a_run_with_the_table_gets_the_diagram() -> None:
    assert dict(_drawn(Scores((), (BINS,))))["reliability_p"] is not None
