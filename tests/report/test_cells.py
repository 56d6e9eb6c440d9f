from __future__ import annotations

import pytest

from affectlab.metrics.scores import Cell, Table
from affectlab.report.cells import (
    Style,
    Unit,
    cell_text,
    headings,
    in_percent,
    interval_text,
    number_text,
    numeric_columns,
    reasons,
    style_of,
    table_texts,
)
from affectlab.stats.estimate import Estimate

PERCENT, SIGNED = Style(Unit.PERCENT), Style(Unit.PERCENT, signed=True)


@pytest.mark.parametrize(
    ("heading", "values", "unit"),
    [
        ("macro-F1", [0.3], Unit.PERCENT),
        ("precision", [0.3, None], Unit.PERCENT),
        ("p", [0.3], Unit.P_VALUE),
        ("p (Holm)", [0.3], Unit.P_VALUE),
        ("p adjusted", [0.3], Unit.P_VALUE),
        ("p-value", [0.3], Unit.P_VALUE),
        ("positive", [0.3], Unit.PERCENT),
        ("parse rate", [0.3], Unit.PERCENT),
        ("kappa", [0.3], Unit.PLAIN),
        ("odds ratio", [0.3], Unit.PLAIN),
        ("difference", [0.3], Unit.PERCENT),
        ("strength", [0.5], Unit.PLAIN),
        ("anything", [0.3, 1.2], Unit.PLAIN),
        ("anything", [Estimate("x", 4.5)], Unit.PLAIN),
    ],
)
def test_heading_and_values_decide_the_unit(heading: str, values: list[Cell], unit: Unit) -> None:
    assert style_of(heading, values).unit is unit


@pytest.mark.parametrize("heading", ["difference", "share predicted − gold", "A − B", "change"])
def test_differences_carry_their_sign(heading: str) -> None:
    assert style_of(heading, [0.1]).signed


@pytest.mark.parametrize("heading", ["smallest detectable difference", "macro-F1"])
def test_other_columns_carry_none(heading: str) -> None:
    assert not style_of(heading, [0.1]).signed


@pytest.mark.parametrize(
    ("value", "style", "text"),
    [
        (0.9124, PERCENT, "91.2"),
        (1.0, PERCENT, "100.0"),
        (0.0, PERCENT, "0.0"),
        (-0.0001, PERCENT, "0.0"),  # rounds to zero: no sign
        (0.0001, SIGNED, "0.0"),
        (0.031, SIGNED, "+3.1"),
        (-0.031, SIGNED, "−3.1"),
        (0.0004, Style(Unit.P_VALUE), "<0.001"),
        (0.0312, Style(Unit.P_VALUE), "0.031"),
        (0.8271, Style(Unit.PLAIN), "0.827"),
        (-1234.56, Style(Unit.PLAIN), "−1,234.6"),
    ],
)
def test_numbers(value: float, style: Style, text: str) -> None:
    assert number_text(value, style) == text


def test_cells_of_every_kind() -> None:
    assert cell_text("joy", PERCENT).main == "joy"
    assert cell_text(1200, PERCENT).main == "1,200"
    assert cell_text(-3, PERCENT).main == "−3"
    assert cell_text(True, PERCENT).main == "yes"
    assert cell_text(None, PERCENT).main == "–"
    undefined = cell_text(Estimate("f1", None, reason="no support"), PERCENT)
    assert (undefined.main, undefined.reason, undefined.interval) == ("–", "no support", "")
    assert cell_text(Estimate("f1", 0.5, 0.4, 0.6), PERCENT).line == "50.0 [40.0, 60.0]"


def test_interval_needs_both_ends() -> None:
    assert interval_text(Estimate("f1", 0.5, 0.4, None), PERCENT) == ""


def test_only_columns_of_figures_are_numeric() -> None:
    table = Table("t", "T", ("label", "f1", "n"), (("joy", 0.5, 3), ("fear", None, 4)))
    assert numeric_columns(table_texts(table), 3) == (False, True, True)
    assert numeric_columns((), 3) == (False, False, False)


def test_percent_is_announced_only_where_it_is_used() -> None:
    assert in_percent(Table("t", "T", ("label", "f1"), (("joy", 0.5),)))
    assert not in_percent(Table("t", "T", ("label", "n", "kappa", "p"), (("joy", 5, 0.5, 0.1),)))


def test_ids_are_spelled_out_in_headings_and_columns_of_figures() -> None:
    table = Table("t", "T", ("figure", "macro_f1", "label"), (("joint_accuracy", 0.5, "zero_sum"), ("F1", 0.5, "x")))
    assert headings(table) == ("figure", "Macro-F1", "label")
    assert [[text.main for text in row] for row in table_texts(table)] == [
        ["Joint accuracy", "50.0", "zero_sum"],
        ["F1", "50.0", "x"],
    ]


def test_each_reason_once() -> None:
    missing = Estimate("f1", None, reason="no support")
    assert reasons(Table("t", "T", ("a", "b"), ((missing, missing), (missing, 0.2)))) == ("no support",)
