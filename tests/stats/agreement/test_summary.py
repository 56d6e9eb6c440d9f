"""What is said of one slot: its coefficients, what they rest on, and the sentence."""

from __future__ import annotations

import pytest

from affectlab.stats.agreement import fleiss_kappa, ratings_of_matrix
from affectlab.stats.agreement.summary import Scale, methods_sentence, slot_agreement
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
