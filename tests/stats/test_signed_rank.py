from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import rankdata, wilcoxon

from affectlab.stats import signed_rank as module
from affectlab.stats.signed_rank import signed_rank


def test_the_worked_example_of_the_facts_page() -> None:
    # [3,-1,4,1,-5,9,2,6]: ranks 4, 1.5, 5, 1.5, 6, 8, 3, 7; negative 1.5 + 6 = 7.5; p .15625 (scipy, permutation).
    found = signed_rank([3, -1, 4, 1, -5, 9, 2, 6])
    assert (found.positive, found.negative) == (28.5, 7.5)
    assert found.p == pytest.approx(0.15625)
    assert found.effect == pytest.approx((28.5 - 7.5) / 36)


def test_without_ties_it_is_the_table_of_the_test() -> None:
    differences = np.array([0.3, -1.1, 2.4, 3.7, -0.2, 5.9, 4.4, 1.8, 2.9])
    assert signed_rank(differences).p == pytest.approx(float(wilcoxon(differences, method="exact").pvalue))


@given(st.lists(st.integers(-3, 3), max_size=9))
def test_with_ties_it_counts_every_pattern_of_signs(differences: list[int]) -> None:
    found = signed_rank(differences)
    moved = np.array([one for one in differences if one], dtype=float)
    ranks = rankdata(np.abs(moved))
    sums = np.array([sum(r for r, up in zip(ranks, signs, strict=True) if up) for signs in _signs(len(moved))])
    centre = ranks.sum() / 2
    assert found.p == pytest.approx(float((np.abs(sums - centre) >= abs(found.positive - centre) - 1e-9).mean()))
    assert (found.n, found.zeros) == (len(moved), len(differences) - len(moved))


def _signs(n: int) -> list[tuple[bool, ...]]:
    return list(product((False, True), repeat=n))


def test_many_pairs_are_approximated_close_to_the_count(monkeypatch: pytest.MonkeyPatch) -> None:
    differences = np.random.default_rng(0).integers(-4, 6, size=120).astype(np.float64)
    counted = signed_rank(differences)
    monkeypatch.setattr(module, "EXACT_UP_TO", 50)
    approximate = signed_rank(differences)
    assert counted.exact
    assert not approximate.exact
    assert approximate.p == pytest.approx(counted.p, rel=0.02)


def test_the_approximation_takes_half_a_rank_off(monkeypatch: pytest.MonkeyPatch) -> None:
    # Four differences without ties: ranks 1 to 4, positive 2 + 3 + 4 = 9, mean 5, variance 30 / 4.
    # |9 - 5| - .5 over sqrt(7.5) = 1.278019, two-sided p = .201243 (normal table).
    monkeypatch.setattr(module, "EXACT_UP_TO", 3)
    assert signed_rank([-0.1, 0.2, 0.3, 0.4]).p == pytest.approx(0.201243, abs=1e-5)


def test_no_difference_is_no_evidence() -> None:
    found = signed_rank([0.0, 0.0])
    assert (found.p, found.n, found.zeros, found.effect) == (1.0, 0, 2, None)


def test_a_missing_difference_is_refused() -> None:
    with pytest.raises(ValueError, match="finite"):
        signed_rank([1.0, float("nan")])


def test_differences_that_are_one_but_for_rounding_are_tied() -> None:
    plain = [3, -1, 4, 1, -5, 9, 2, 6]
    shifted = [(0.5 + one / 20) - 0.5 for one in plain]
    assert len(set(map(abs, shifted))) == 8  # one of the pair of ones is off in its last digit
    assert signed_rank(shifted) == signed_rank(plain)
    assert signed_rank([0.1 + 0.2 - 0.3, 0.5]).zeros == 1
