from __future__ import annotations

import pytest
from scipy.stats import pearsonr, spearmanr

from affectlab.metrics.numeric import mean_answered, normalised_rmse, pearson, spearman

# Hollander and Wolfe (1973), tuna lightness; r and rho as R prints them.
X = [44.4, 45.9, 41.9, 53.3, 44.7, 44.1, 50.7, 45.2, 60.1]
Y = [2.6, 3.1, 2.5, 5.0, 3.6, 4.0, 5.2, 2.8, 3.8]


def test_rmse_as_a_share_of_the_scale() -> None:
    # errors 0 0 1 -2 0... on 1-5: sqrt(6 / 5) = 1.095445, over 4
    assert normalised_rmse([1, 2, 4, 5, 3], [2, 2, 5, 3, 3], 4).value == pytest.approx(0.273861, abs=5e-7)
    # a narrow gold does not change the scale: sqrt(.2) / 4
    assert normalised_rmse([2, 2, 3, 3, 2], [2, 3, 3, 3, 2], 4).value == pytest.approx(0.111803, abs=5e-7)
    assert normalised_rmse([0], [6], 6).value == 1.0
    # pooled over 3 items of 2 dimensions: sqrt((1 + 16 + 0) / 6) / 4
    assert normalised_rmse([1, 5, 3, 3, 5, 1], [2, 5, 3, 3, 5, 5], 4).value == pytest.approx(0.420813, abs=5e-7)


def test_missing_answers_are_left_out_and_counted() -> None:
    found = normalised_rmse([1, 2, 3], [1, None, 5], 4)
    assert found.value == pytest.approx((2 / 16 * 1) ** 0.5)  # sqrt((0 + (2/4)^2) / 2)
    assert (found.answered, found.asked) == (2, 3)
    assert found.coverage == pytest.approx(2 / 3)
    assert mean_answered([8.0, None]).value == 8.0
    assert mean_answered([8.0, None]).coverage == 0.5


def test_no_answer_is_undefined() -> None:
    for found in (mean_answered([None]), normalised_rmse([1], [None], 4)):
        assert (found.value, found.coverage, found.reason) == (None, 0.0, "no answer")
    assert mean_answered([]).coverage is None


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
        assert correlation([], []).value is None


def test_bad_input_is_refused() -> None:
    with pytest.raises(ValueError, match="range must be positive"):
        normalised_rmse([1], [1], 0)
    with pytest.raises(ValueError, match="no pairs"):
        pearson([1, 2], [1])
    with pytest.raises(ValueError, match="finite"):
        pearson([1, 2, 3], [1, float("nan"), 3])
