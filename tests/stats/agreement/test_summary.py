"""What is said of one slot: its coefficients, what they rest on, and the sentence."""

from __future__ import annotations

from affectlab.stats.agreement import ratings_of_matrix
from affectlab.stats.agreement.summary import Scale, methods_sentence, slot_agreement
from affectlab.stats.bootstrap import Interval

QUICK = Interval(replicates=20)
N = None


def test_minus_signs_stand_before_numbers_only() -> None:
    # Table [[0, 2], [2, 0]] of 1 and 5: p_o 0, p_e 1/2, so every kappa is -1.
    data = ratings_of_matrix([[1, 1, 5, 5], [5, 5, 1, 1]], [1, 2, 3, 4, 5])
    said = methods_sentence(slot_agreement("a", data, Scale("ordinal"), QUICK))
    assert "quadratic-weighted κ −1.000" in said
    assert "Cohen's κ −1.000" in said
