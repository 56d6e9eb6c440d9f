from __future__ import annotations

import pytest
from scipy.stats import pearsonr, spearmanr

from affectlab.metrics.numeric import pearson, spearman

# Hollander and Wolfe (1973), tuna lightness; r and rho as R prints them.
X = [44.4, 45.9, 41.9, 53.3, 44.7, 44.1, 50.7, 45.2, 60.1]
Y = [2.6, 3.1, 2.5, 5.0, 3.6, 4.0, 5.2, 2.8, 3.8]


def test_correlations_against_r() -> None:
    assert pearson(X, Y).value == pytest.approx(0.571182, abs=5e-7)
    assert spearman(X, Y).value == pytest.approx(0.6)
    # ties: Pearson of mean ranks; the shortcut 1 - 6 sum d^2 / (n^3 - n) would give -.125
    assert spearman([1, 2, 2, 3, 5], [2, 2, 4, 4, 1]).value == pytest.approx(-0.216295, abs=5e-7)
    assert pearson(X, Y).value == pytest.approx(pearsonr(X, Y)[0])
    assert spearman(X, Y).value == pytest.approx(spearmanr(X, Y)[0])


def test_correlation_of_pairs_that_have_both() -> None:
    found = pearson([*X, 99.0], [*Y, None])
    assert found.value == pytest.approx(0.571182, abs=5e-7)
    assert (found.answered, found.asked) == (9, 10)
    assert found.coverage == pytest.approx(0.9)


def test_equal_vectors_correlate_at_exactly_one() -> None:
    for values in ([0.1, 0.7, 0.30000000000000004, 2.9], [1.0, 2.0, 4.0], [1e200, 3e200, -7e200]):
        assert pearson(values, values).value == 1.0
        assert spearman(values, values).value == 1.0
        assert pearson(values, [-value for value in values]).value == -1.0


def test_undefined_correlations_say_why() -> None:
    for correlation in (pearson, spearman):
        assert correlation([1, 1, 1], [1, 2, 3]).reason == "all right values are equal"
        assert correlation([1, 2, 3], [4, 4, 4]).reason == "all answers are equal"
        assert "at least 3 pairs" in correlation([1, 2], [1, 2]).reason
        assert (correlation([], []).value, correlation([], []).coverage) == (None, None)


def test_bad_input_is_refused() -> None:
    with pytest.raises(ValueError, match="no pairs"):
        pearson([1, 2], [1])
    with pytest.raises(ValueError, match="finite"):
        pearson([1, 2, 3], [1, float("nan"), 3])
