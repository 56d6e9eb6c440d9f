from __future__ import annotations

import pytest

from affectlab.report.names import figure_name, heading_name, same_figure


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("macro_f1", "Macro-F1"),
        ("macro_f1_positive", "Macro-F1 positive"),
        ("joint_accuracy", "Joint accuracy"),
        ("macro_f1:non-physical", "Macro-F1, non-physical"),
        ("precision:joy", "Precision, joy"),
        ("rmse", "RMSE"),
        ("mu_mae", "μ-MAE"),
        ("variance_rho:s", "Spearman's ρ of variances, s"),
        ("cooccurrence_gap", "Co-occurrence gap"),
        ("x", "X"),
        ("", ""),
    ],
)
def test_names(name: str, shown: str) -> None:
    assert figure_name(name) == shown


@pytest.mark.parametrize(
    ("heading", "shown"),
    [
        ("macro_f1", "Macro-F1"),
        ("F1", "F1"),
        ("share chosen", "share chosen"),
        ("A − B", "A − B"),
        ("macro_f1, left out", "Macro-F1, left out"),
        ("joy, left out", "joy, left out"),
        ("scenes", "scenes"),
    ],
)
def test_only_ids_are_spelled_out(heading: str, shown: str) -> None:
    assert heading_name(heading) == shown


def test_same_figure() -> None:
    assert same_figure("joint_accuracy", "Joint accuracy")
    assert same_figure("μ-MAE", "mu_mae")
    assert not same_figure("macro_f1", "micro_f1")
