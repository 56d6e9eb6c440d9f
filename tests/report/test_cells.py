from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affectlab.metrics.scores import Cell, Matrix, Table
from affectlab.report.cells import (
    cell_text,
    column_units,
    figure_units,
    headings,
    in_percent,
    interval_text,
    matrix_texts,
    number_text,
    numeric_columns,
    reasons,
    scale_note,
    table_texts,
    unit_by_words,
)
from affectlab.stats.estimate import Estimate, Unit

UNITS: tuple[Unit, ...] = ("share", "difference", "number", "p")


@pytest.mark.parametrize(
    ("heading", "unit"),
    [
        ("macro-F1", "share"),
        ("macro_f1", "share"),
        ("precision", "share"),
        ("positive", "share"),
        ("parse rate", "share"),
        ("P", "share"),  # precision
        ("P(joy)", "share"),  # a probability
        ("", "share"),
        ("表面肯定", "share"),
        ("p", "p"),
        ("p (Holm)", "p"),
        ("p adjusted", "p"),
        ("p-value", "p"),
        ("P-value", "p"),
        ("mid-p", "p"),
        ("kappa", "number"),
        ("Cohen's κ", "number"),
        ("odds ratio", "number"),
        ("strength", "number"),
        ("mean change of log margin", "number"),
        ("difference", "difference"),
        ("position bias", "difference"),
        ("Δ", "difference"),
        ("smallest detectable difference", "share"),
        # Words inside other words say nothing.
        ("f1:admiration", "share"),  # ratio
        ("inspiration", "share"),  # ratio
        ("dialogue", "share"),  # log
        ("machine", "share"),  # chi
        ("exchange", "share"),  # change
        ("accosting", "share"),  # cost
        ("unbiased", "share"),  # bias
        ("pride", "share"),
        # Statistics that are no shares.
        ("spearman", "number"),
        ("Spearman's ρ", "number"),
        ("wasserstein", "number"),
        ("rmse", "number"),
        ("RMSE", "number"),
        ("rmse:valence", "number"),
    ],
)
def test_a_column_without_a_declaration_is_read_by_whole_words(heading: str, unit: Unit) -> None:
    assert unit_by_words(heading) == unit
    assert column_units(Table("t", "T", (heading,), ((0.3,),))) == (unit,)


def test_a_value_beyond_one_is_no_share() -> None:
    assert unit_by_words("anything", (0.3, -1.2)) == "number"
    assert unit_by_words("difference", (1.2,)) == "number"
    assert unit_by_words("p", (1.2,)) == "p"
    # 1 is a whole score; 12 is a count; an estimate has its own unit
    assert unit_by_words("anything", (1.0, -1.0, 12, "x", None, Estimate("x", 4.5))) == "share"


@given(st.sampled_from(UNITS), st.text(), st.floats(-5, 5, allow_nan=False))
def test_a_declared_unit_is_the_unit_whatever_heading_and_value(unit: Unit, heading: str, value: float) -> None:
    table = Table("t", "T", ("who", heading), (("a", value),), units={heading: unit})
    assert column_units(table)[1] == unit
    assert table_texts(table)[0][1].main == number_text(value, unit)


@pytest.mark.parametrize(
    ("unit", "text"),
    [
        ("share", "50.0 [40.0, 60.0]"),
        ("difference", "+50.0 [+40.0, +60.0]"),
        ("number", "0.500 [0.400, 0.600]"),
        ("p", "0.500 [0.400, 0.600]"),
    ],
)
@pytest.mark.parametrize("heading", ["F1", "rmse", "p", "difference"])
def test_an_estimate_is_written_by_its_own_unit(unit: Unit, text: str, heading: str) -> None:
    estimate = Estimate("x", 0.5, 0.4, 0.6, unit=unit)
    declared: tuple[dict[str, Unit], ...] = ({}, {heading: "share"}, {heading: "number"})
    for units in declared:
        assert table_texts(Table("t", "T", (heading,), ((estimate,),), units=units))[0][0].line == text


def test_a_column_may_hold_figures_of_several_units() -> None:
    rows: tuple[tuple[Cell, ...], ...] = (
        ("accuracy", Estimate("accuracy", 0.5), 3),
        ("rmse", Estimate("rmse", 2.5, unit="number"), 4),
        ("mae", 0.5, None),
        ("kappa", Estimate("kappa", None, reason="no gold", unit="p"), 5),
    )
    table = Table("t", "T", ("who", "value", "n"), rows, units={"value": "difference"})
    assert [row[1].main for row in table_texts(table)] == ["50.0", "2.500", "+50.0", "–"]
    assert list(map(sorted, figure_units(table))) == [[], ["difference", "number", "share"], []]


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0.9124, "share", "91.2"),
        (1.0, "share", "100.0"),
        (0.0, "share", "0.0"),
        (-0.0001, "share", "0.0"),  # rounds to zero: no sign
        (0.0001, "difference", "0.0"),
        (-0.0001, "difference", "0.0"),
        (0.031, "difference", "+3.1"),
        (-0.031, "difference", "−3.1"),
        (0.031, "share", "3.1"),
        (0.0004, "p", "<0.001"),
        (0.0312, "p", "0.031"),
        (0.8271, "number", "0.827"),
        (-1234.56, "number", "−1,234.6"),
    ],
)
def test_numbers(value: float, unit: Unit, text: str) -> None:
    assert number_text(value, unit) == text


def test_cells_of_every_kind() -> None:
    assert cell_text("joy", "share").main == "joy"
    assert cell_text(1200, "share").main == "1,200"
    assert cell_text(-3, "share").main == "−3"
    assert cell_text(True, "share").main == "yes"
    assert cell_text(None, "share").main == "–"
    undefined = cell_text(Estimate("f1", None, reason="no support"), "share")
    assert (undefined.main, undefined.reason, undefined.interval) == ("–", "no support", "")
    assert cell_text(Estimate("f1", 0.5, 0.4, 0.6), "share").line == "50.0 [40.0, 60.0]"


def test_interval_needs_both_ends() -> None:
    assert interval_text(Estimate("f1", 0.5, 0.4, None)) == ""


def test_only_columns_of_figures_are_numeric() -> None:
    table = Table("t", "T", ("label", "f1", "n"), (("joy", 0.5, 3), ("fear", None, 4)))
    assert numeric_columns(table_texts(table), 3) == (False, True, True)
    assert numeric_columns((), 3) == (False, False, False)


def test_matrices_hold_counts_or_numbers() -> None:
    def texts(*values: float | None) -> tuple[str, ...]:
        return matrix_texts(Matrix("m", "M", "r", "c", ("a",), tuple("bcd"), (values,)))[0]

    assert texts(1234.0, 0.0, None) == ("1,234", "0", "–")
    assert texts(0.25, 1.0, None) == ("0.250", "1.000", "–")
    assert texts(-2.0, -0.0001, 12.0) == ("−2.000", "0.000", "12.0")


def test_percent_is_announced_only_where_it_is_used() -> None:
    assert in_percent(Table("t", "T", ("label", "f1"), (("joy", 0.5),)))
    assert not in_percent(Table("t", "T", ("label", "n", "kappa", "p"), (("joy", 5, 0.5, 0.1),)))
    assert not in_percent(Table("t", "T", ("f1",), ((Estimate("f1", None),),)))
    assert not in_percent(Table("t", "T", ("f1",), ((Estimate("f1", 0.5, unit="number"),),)))
    assert in_percent(Table("t", "T", ("rmse",), ((0.5,),), units={"rmse": "difference"}))


def test_ids_are_spelled_out_in_headings_and_columns_of_figures() -> None:
    table = Table("t", "T", ("figure", "macro_f1", "label"), (("joint_accuracy", 0.5, "zero_sum"), ("F1", 0.5, "x")))
    assert headings(table) == ("figure", "Macro-F1", "label")
    assert [[text.main for text in row] for row in table_texts(table)] == [
        ["Joint accuracy", "50.0", "zero_sum"],
        ["F1", "50.0", "x"],
    ]


def test_parts_of_a_breakdown_are_spelled_out_and_labels_elsewhere_are_not() -> None:
    rows = (("zero_sum", "zero_sum", 0.5), ("physical", "x", 0.5), ("Scene_1 B", "x", 0.5))
    table = Table("by_type", "T", ("type", "label", "F1"), rows)
    assert [row[0].main for row in table_texts(table)] == ["zero sum", "physical", "Scene_1 B"]
    assert table_texts(table)[0][1].main == "zero_sum"
    assert table_texts(Table("per_type", "T", ("type", "label", "F1"), rows))[0][0].main == "zero_sum"


def test_each_reason_once() -> None:
    missing = Estimate("f1", None, reason="no support")
    assert reasons(Table("t", "T", ("a", "b"), ((missing, missing), (missing, 0.2)))) == ("– no support",)


def test_a_missing_interval_is_not_explained_by_the_sign_of_a_missing_figure() -> None:
    alike = Estimate("f1", 0.0, reason="all bootstrap replicates agree")
    assert reasons(Table("t", "T", ("a",), ((alike,),))) == ("No interval: all bootstrap replicates agree",)


def test_the_note_on_scales_says_what_is_so() -> None:
    share = Estimate("accuracy", 0.5, 0.4, 0.6)
    drift = Estimate("ndm", 0.118, unit="number")
    assert scale_note((), (share,)) == "Scores and shares are in %; brackets hold intervals."
    assert scale_note((), (drift,)) == "In NDM and NAD 1 is a move over all that is feasible."
    assert scale_note((), (share, drift)) == (
        "Scores and shares are in %; NDM and NAD are not: 1 is a move over all that is feasible; "
        "brackets hold intervals."
    )
    table = Table("t", "T", ("figure", "value"), (("NAD (d ≠ 0)", replace(drift, low=0.0, high=0.2)),))
    assert scale_note((table,)) == "In NDM and NAD 1 is a move over all that is feasible; brackets hold intervals."
    assert scale_note((Table("t", "T", ("item", "count"), (("a nadir", 3),)),)) == ""
