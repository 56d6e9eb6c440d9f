from __future__ import annotations

import pytest

from affectlab.report.words import against, basis, meaning, sentence, value_text
from affectlab.stats.estimate import Estimate


def test_value_with_its_unit() -> None:
    assert value_text(Estimate("macro_f1", 0.314)) == "31.4 %"
    assert value_text(Estimate("kappa", 0.314, unit="number")) == "0.314"
    assert value_text(Estimate("swap_rate", 0.031, unit="difference")) == "+3.1 points"
    assert value_text(Estimate("f1:admiration", 0.314)) == "31.4 %"
    assert value_text(Estimate("trend", 0.0001, unit="p")) == "<0.001"
    assert value_text(Estimate("macro_f1", None)) == "undefined"


def test_basis_counts_in_words() -> None:
    assert basis(Estimate("f1", 0.5, n=1200, clusters=60)) == "1,200 predictions in 60 clusters"
    assert basis(Estimate("f1", 0.5, n=1, clusters=1)) == "1 prediction in 1 cluster"
    assert basis(Estimate("f1", 0.5)) == ""


@pytest.mark.parametrize(
    ("low", "high", "place"),
    [(0.25, 0.4, "lies above"), (0.1, 0.15, "lies below"), (0.1, 0.3, "includes"), (0.2, 0.3, "includes")],
)
def test_where_the_interval_stands(low: float, high: float, place: str) -> None:
    text = against(Estimate("accuracy", (low + high) / 2, low, high), "Chance", 0.2)
    assert text == f"The interval {place} chance (20.0)."


def test_a_fixed_value_is_written_in_the_figures_unit() -> None:
    text = against(Estimate("rmse", 2.0, 1.5, 2.5, unit="number"), "Chance", 3.25)
    assert text == "The interval lies below chance (3.250)."


def test_no_interval_says_nothing() -> None:
    assert against(Estimate("accuracy", 0.5), "Chance", 0.2) == ""


def test_sentences() -> None:
    assert sentence("no gold") == "No gold."
    assert sentence("No gold.") == "No gold."
    assert sentence("") == ""


def test_unknown_figures_have_no_meaning_and_known_ones_do() -> None:
    assert meaning("never_heard_of") == ""
    assert "label" in meaning("macro_f1")
