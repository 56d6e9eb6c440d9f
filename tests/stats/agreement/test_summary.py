"""What is said of one slot: its coefficients, what they rest on, and the sentence."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from affectlab.stats.agreement import fleiss_kappa, ratings_of_matrix
from affectlab.stats.agreement.summary import Scale, methods_sentence, slot_agreement, split_intensities
from affectlab.stats.bootstrap import USUAL, Interval

QUICK = Interval(replicates=20)
N = None


def test_minus_signs_stand_before_numbers_only() -> None:
    # Table [[0, 2], [2, 0]] of 1 and 5: p_o 0, p_e 1/2, so every kappa is -1.
    data = ratings_of_matrix([[1, 1, 5, 5], [5, 5, 1, 1]], [1, 2, 3, 4, 5])
    said = methods_sentence(slot_agreement("a", data, Scale("ordinal"), QUICK))
    assert "quadratic-weighted κ −1.000" in said
    assert "Cohen's κ −1.000" in said


def test_answers_and_items_behind_a_figure_fit_together() -> None:
    # Five items; the last has one answer, which Fleiss' kappa and AC1 count for the shares of the values, the others
    # not at all.
    data = ratings_of_matrix([["x", "y", "x", "y", "x"], ["x", "y", "y", "y", N]])
    found = {one.name: (one.n, one.clusters) for one in slot_agreement("a", data, how=QUICK).figures}
    assert found == {
        "percent_agreement": (8, 4),
        "cohen_kappa": (4, 4),
        "fleiss_kappa": (9, 5),
        "alpha_nominal": (8, 4),
        "gwet_ac1": (9, 5),
    }


def test_an_interval_that_does_not_hold_its_figure_is_none() -> None:
    # Two annotators who never agree and use four values alike: p_e is 1/4, the least there is, and kappa -1/3. Every
    # resample has p_e of 1/4 or more, so kappa is -1/3 or less.
    found = fleiss_kappa(ratings_of_matrix([list("abcd" * 10), list("bcda" * 10)]), USUAL)
    assert found.value == pytest.approx(-1 / 3)
    assert (found.low, found.high) == (None, None)
    assert "one side" in found.reason


def test_intensities_at_both_levels_and_given_that_a_label_is_there() -> None:
    # Rows (3,3), (0,0), (2,3), (0,1), (0,0): interval .898 and ordinal .834 with 0 for absent. Both gave it on the
    # first and the third: interval alpha of (3,3), (2,3). D_o = 2 · 1 / 4, D_e = 6 · 1 / (4 · 3), so alpha is 0.
    rows: list[tuple[str, str, Mapping[str, float]]] = [
        (str(unit), who, {"joy": float(much)} if much else {})
        for unit, both in enumerate([(3, 3), (0, 0), (2, 3), (0, 1), (0, 0)])
        for who, much in zip("ab", both, strict=True)
    ]
    found = {
        name: slot_agreement(name, data, Scale("interval"), QUICK) for name, data in split_intensities(rows).items()
    }
    assert list(found) == ["joy", "joy, where given"]
    assert found["joy"].figure("alpha_interval").value == pytest.approx(0.898, abs=5e-4)
    assert found["joy"].figure("alpha_ordinal").value == pytest.approx(0.834, abs=5e-4)
    there = found["joy, where given"]
    assert (there.ratings.paired_units, len(there.ratings)) == (2, 5)
    assert there.figure("alpha_interval").value == pytest.approx(0.0)
    assert "(ordinal)" not in methods_sentence(found["joy"])
    none = split_intensities([("1", "a", {"joy": 0.0}), ("1", "b", {"joy": 0.0})])["joy, where given"]
    assert slot_agreement("joy", none, Scale("interval"), QUICK).figures[0].reason == "no_units"


def test_the_sentence_names_the_icc_that_fits() -> None:
    turns = ratings_of_matrix([[1, 2, N, 4], [1, N, 3, 5], [N, 2, 4, N]])
    said = methods_sentence(slot_agreement("a", turns, Scale("interval"), QUICK))
    assert "ICC(1) 0." in said
    assert "ICC(A,1)" not in said
    whole = ratings_of_matrix([[1, 2, 3, 4], [1, 2, 3, 5]])
    said = methods_sentence(slot_agreement("a", whole, Scale("interval"), QUICK))
    assert "ICC(A,1) 0." in said
    assert "ICC(1)" not in said
