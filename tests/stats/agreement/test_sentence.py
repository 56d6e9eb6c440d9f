"""The sentence for a methods section."""

from __future__ import annotations

from typing import Any

import pytest

from affectlab.stats.agreement import LEVELS, Level, ratings_of_matrix
from affectlab.stats.agreement.sentence import NAMES, methods_sentence
from affectlab.stats.agreement.summary import Scale, slot_agreement
from affectlab.stats.bootstrap import Interval

QUICK = Interval(replicates=20)
N = None


def test_minus_signs_stand_before_numbers_only() -> None:
    # Table [[0, 2], [2, 0]] of 1 and 5: p_o 0, p_e 1/2, so every kappa is -1.
    data = ratings_of_matrix([[1, 1, 5, 5], [5, 5, 1, 1]], [1, 2, 3, 4, 5])
    said = methods_sentence(slot_agreement("a", data, Scale("ordinal"), QUICK))
    assert "quadratic-weighted κ −1.000" in said
    assert "Cohen's κ −1.000" in said


def test_the_sentence_names_the_icc_that_fits() -> None:
    turns = ratings_of_matrix([[1, 2, N, 4], [1, N, 3, 5], [N, 2, 4, N]])
    said = methods_sentence(slot_agreement("a", turns, Scale("interval"), QUICK))
    assert "ICC(1) 0." in said
    assert "ICC(A,1)" not in said
    whole = ratings_of_matrix([[1, 2, 3, 4], [1, 2, 3, 5]])
    said = methods_sentence(slot_agreement("a", whole, Scale("interval"), QUICK))
    assert "ICC(A,1) 0." in said
    assert "ICC(1)" not in said


@pytest.mark.parametrize("people", [2, 3])
@pytest.mark.parametrize("level", LEVELS)
def test_every_coefficient_has_a_name(level: Level, people: int) -> None:
    rows: list[list[Any]] = [[1, 2, 3, 4], [1, 2, 3, 5], [2, 2, 3, 4]][:people]
    if level in ("jaccard", "masi"):
        rows = [[[value] for value in row] for row in rows]
    weights = None if level in ("jaccard", "masi") else [[float(i != j) for j in range(5)] for i in range(5)]
    values = None if level in ("jaccard", "masi") else range(1, 6)
    found = slot_agreement("a", ratings_of_matrix(rows, values), Scale(level, weights), QUICK)
    assert {one.name for one in found.figures} <= NAMES.keys()
    assert methods_sentence(found).startswith(f"For a, {people} annotators gave {4 * people} answers on 4 items; ")
