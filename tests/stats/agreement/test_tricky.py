"""What libraries get wrong, crash on or answer with NaN: each is a value with a named reason, or a clear refusal."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from affectlab.errors import UserError
from affectlab.stats.agreement import (
    FORMS,
    REASONS,
    Ratings,
    cohen_kappa,
    confusion,
    fleiss_by_category,
    fleiss_kappa,
    gwet_ac1,
    icc,
    krippendorff_alpha,
    majority_agreement,
    pair_kappa,
    pairwise_kappa,
    percent_agreement,
    ratings,
    ratings_of_matrix,
)
from affectlab.stats.bootstrap import USUAL, Interval
from affectlab.stats.estimate import Estimate

N = None
ALL = (
    krippendorff_alpha,
    fleiss_kappa,
    gwet_ac1,
    percent_agreement,
    majority_agreement,
    lambda data, how=None: pairwise_kappa(data, how=how).mean,
)


def undefined(found: Estimate, reason: str) -> bool:
    return (found.value, found.low, found.high, found.reason) == (None, None, None, reason) and reason in REASONS


def test_a_single_category_is_undefined_and_its_agreement_is_not() -> None:
    data = ratings_of_matrix([[1, 1, 1], [1, 1, 1]])
    for level in ("nominal", "ordinal", "interval", "ratio"):
        assert undefined(krippendorff_alpha(data, level), "single_category")
    assert undefined(fleiss_kappa(data), "single_category")
    assert undefined(pairwise_kappa(data).mean, "single_category")
    assert undefined(cohen_kappa([[3, 0], [0, 0]]), "single_category")
    assert undefined(gwet_ac1(data), "single_category")
    assert percent_agreement(data).value == 1.0
    assert all(undefined(icc(data, form), "no_variance") for form in FORMS)
    assert undefined(
        krippendorff_alpha(ratings_of_matrix([[0.1] * 3, [0.1] * 3, [0.1] * 3]), "interval"), "single_category"
    )


@pytest.mark.parametrize("values", [None, [1, 2]])
def test_a_second_value_that_is_never_paired_is_no_second_category(values: Any) -> None:
    """In an unpaired cell, or only declared: other libraries give NaN and a warning."""
    data = ratings_of_matrix([[1, 1, 2], [1, 1, N]] if values is None else [[1, 1], [1, 1]], values)
    for level in ("nominal", "ordinal", "interval", "ratio"):
        assert undefined(krippendorff_alpha(data, level), "single_category")
    assert undefined(pair_kappa(data, "0000", "0001"), "single_category")


def test_ac1_counts_declared_values() -> None:
    # Two values declared, one used: nothing is left to chance, and all agree.
    assert gwet_ac1(ratings_of_matrix([[1, 1], [1, 1]], [1, 2])).value == 1.0


def test_all_agree() -> None:
    data = ratings_of_matrix([[1, 2, 1], [1, 2, 1]])
    for level in ("nominal", "ordinal", "interval", "ratio"):
        assert krippendorff_alpha(data, level).value == 1.0
    assert all(function(data).value == 1.0 for function in ALL)
    assert icc(data, "ICC2").value == 1.0


def test_one_rater() -> None:
    data = ratings_of_matrix([[1, 2, 3]])
    assert all(undefined(function(data), "one_annotator") for function in ALL)
    assert all(undefined(icc(data, form), "one_annotator") for form in FORMS)


@pytest.mark.parametrize("how", [None, Interval(replicates=20)])
def test_no_unit_answered_twice(how: Interval | None) -> None:
    data = ratings_of_matrix([[1, N], [N, 2]])
    assert all(undefined(function(data, how=how), "no_units") for function in ALL)
    assert all(undefined(icc(data, form, how), "no_units") for form in FORMS)
    assert undefined(pair_kappa(data, "0000", "0001", how=how), "no_units")


def test_annotators_who_take_turns_have_the_one_way_icc_alone() -> None:
    """Three annotators, two an item: no item has all three, though every item has two."""
    data = ratings_of_matrix([[1, 2, N, 4], [1, N, 3, 5], [N, 2, 4, N]])
    assert undefined(icc(data, "ICC2"), "incomplete")
    assert undefined(icc(data, "ICC3k"), "incomplete")
    assert icc(data, "ICC1").value is not None


def test_one_way_icc_of_items_with_unequal_numbers_of_answers() -> None:
    # Items {1, 2}, {4, 6}, {2, 3, 4}; N = 7, G = 3, grand mean 22/7, Donner's k0 = (7 - 17/7) / 2 = 16/7.
    # Within: 0.5 + 2 + 2 = 4.5 on 4: 9/8. Between: 1.5²·2 + 5²·2 + 3²·3 - 22²/7 = 81.5 - 484/7 = 173/14 on 2: 173/28.
    data = ratings_of_matrix([[1, 4, 2], [2, 6, 3], [N, N, 4]])
    among, within, k = 173 / 28, 9 / 8, 16 / 7
    assert icc(data, "ICC1").value == pytest.approx((among - within) / (among + (k - 1) * within))


def test_no_answers() -> None:
    data = ratings([])
    assert all(undefined(function(data), "no_units") for function in ALL)
    assert fleiss_by_category(data) == {}


def test_missing_answers_are_counted_and_no_category() -> None:
    data = ratings_of_matrix([["a", None, "nan"], ["a", float("nan"), "nan"]])
    assert (data.missing, data.values) == (2, ("a", "nan"))
    assert percent_agreement(data).value == 1.0


def test_truth_values_are_categories() -> None:
    data = ratings_of_matrix([[True, False, True], [True, False, False]])
    assert data.values == (False, True)
    # Table [[1, 0], [1, 1]]: p_o 2/3, p_e (1·2 + 2·1) / 9 = 4/9.
    assert pair_kappa(data, "0000", "0001").value == pytest.approx((2 / 3 - 4 / 9) / (5 / 9))


def test_unequal_numbers_of_answers() -> None:
    # aab and ab, c alone. Agreement: 1/3 and 0; shares over three units: a (2/3 + 1/2) / 3, b (1/3 + 1/2) / 3, c 1/3.
    data = ratings_of_matrix([["a", "a", "c"], ["a", "b", N], ["b", N, N]])
    share = np.array([7 / 18, 5 / 18, 6 / 18])
    chance = (share**2).sum()
    assert fleiss_kappa(data).value == pytest.approx((1 / 6 - chance) / (1 - chance))


def test_a_value_outside_the_declared_ones_is_refused() -> None:
    with pytest.raises(UserError, match=r"2 answers are none of the declared values: 'rage' \(2 ×\)"):
        ratings_of_matrix([["joy", "rage"], ["joy", "rage"]], ["joy", "anger"])


def test_labels_have_no_order_until_one_is_declared() -> None:
    matrix = [["low", "mid", "high", "high"], ["low", "high", "high", "mid"]]
    data = ratings_of_matrix(matrix)
    with pytest.raises(UserError, match="declare"):
        pair_kappa(data, "0000", "0001", "linear")
    with pytest.raises(UserError, match="declare"):
        krippendorff_alpha(data, "ordinal")
    declared = ratings_of_matrix(matrix, ["low", "mid", "high"])
    # Disagreement 2 of 4, one step each. Margins (1,1,2) twice: expected (1·1·2 + 1·2·4 + 1·2·2) / 16 = 14/16.
    assert pair_kappa(declared, "0000", "0001", "linear").value == pytest.approx(1 - (2 / 4) / (14 / 16))


def test_numbers_are_weighted_by_how_far_they_are_apart() -> None:
    """1, 2 and 5 observed on a scale to 5: not three equal steps."""
    matrix = [[1, 2, 5, 5], [1, 5, 5, 1]]
    undeclared = pair_kappa(ratings_of_matrix(matrix), "0000", "0001", "quadratic").value
    declared = pair_kappa(ratings_of_matrix(matrix, range(1, 6)), "0000", "0001", "quadratic").value
    assert undeclared == pytest.approx(declared)
    # Σd² = 9 + 16; expected: {1, 2, 5, 5} × {1, 5, 5, 1}: 2·(0 + 16) + 2·(1 + 9) + 4·(16 + 0) = 116 of 16.
    assert declared == pytest.approx(1 - (25 / 4) / (116 / 16))


def test_the_same_rater_twice_on_a_unit_is_refused() -> None:
    with pytest.raises(UserError, match="A on u1"):
        ratings([("u1", "A", 1), ("u1", "A", 2)])


def test_ratio_refuses_negative_values() -> None:
    data = ratings_of_matrix([[-1, 2], [1, 2]])
    with pytest.raises(UserError, match="starts at 0"):
        krippendorff_alpha(data, "ratio")
    assert krippendorff_alpha(ratings_of_matrix([[0, 2], [0, 2]]), "ratio").value == 1.0


@pytest.mark.parametrize(
    ("rows", "level", "words"),
    [
        ([("1", "a", "x"), ("1", "b", "y")], "interval", "needs numbers"),
        ([("1", "a", "x"), ("1", "b", "y")], "masi", "sets of labels"),
        ([("1", "a", "x"), ("1", "b", "y")], "cardinal", "no level 'cardinal'"),
    ],
)
def test_values_that_do_not_fit_the_level(rows: Any, level: Any, words: str) -> None:
    with pytest.raises(UserError, match=words):
        krippendorff_alpha(ratings(rows), level)


def test_mixed_kinds_of_values() -> None:
    with pytest.raises(UserError, match="mix labels and numbers"):
        ratings_of_matrix([["joy", 1]])
    with pytest.raises(UserError, match="twice"):
        ratings([], ["a", "a"])
    with pytest.raises(UserError, match="Intensities"):
        ratings([("1", "a", {"joy": 1})])


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ("cubic", "no 'cubic' weights"),
        ([[0, 1]], "3 × 3"),
        ([[0, 1, 1], [1, 1, 1], [1, 1, 0]], "0 for agreement"),
        ([[0, -1, 1], [1, 0, 1], [1, 1, 0]], "0 or more"),
    ],
)
def test_bad_weights(weights: Any, words: str) -> None:
    with pytest.raises(UserError, match=words):
        cohen_kappa(np.eye(3), weights)


def test_weights_that_expect_no_disagreement() -> None:
    assert undefined(cohen_kappa([[1, 1], [1, 1]], [[0, 0], [0, 0]]), "no_expected_disagreement")
    with pytest.raises(UserError, match="square"):
        cohen_kappa([[1, 2]])


def test_confusions_show_values_nobody_used() -> None:
    data = ratings_of_matrix([["b", "b", "c"], ["c", "c", "c"]], ["a", "b", "c"])
    found = confusion(data, "0000", "0001")
    assert found.counts.tolist() == [[0, 0, 0], [0, 0, 2], [0, 0, 1]]
    assert [margin.tolist() for margin in found.margins] == [[0, 2, 1], [0, 0, 3]]
    assert found.most_confused() == [("b", "c", 2)]
    # Bowker: (2 - 0)² / 2 on one degree of freedom; the tail of chi-square beyond 2.
    assert found.bowker_p == pytest.approx(0.157299, abs=5e-7)
    assert confusion(ratings_of_matrix([["a"], ["a"]]), "0000", "0001").bowker_p is None


def test_very_many_annotators_are_not_compared_in_pairs() -> None:
    data = ratings((str(unit), str(rater), rater % 2) for unit in range(2) for rater in range(101))
    found = pairwise_kappa(data)
    assert undefined(found.mean, "too_many_annotators")
    assert krippendorff_alpha(data).value is not None


def test_undefined_resamples_are_counted() -> None:
    # Nine units agree on a, one is split: a resample without the tenth has one value only.
    data = ratings_of_matrix([["a"] * 9 + ["a"], ["a"] * 9 + ["b"]])
    found = krippendorff_alpha(data, how=USUAL)
    assert found.value == pytest.approx(0.0)
    assert "bootstrap over units" in found.method
    # (9/10)^10 = 0.349 of the resamples.
    count = int(found.method.partition("undefined in ")[2].split()[0])
    assert 300 < count < 400


def test_perfect_agreement_gets_wilsons_interval_and_alpha_none() -> None:
    data = ratings_of_matrix([[1, 2, 1, 2], [1, 2, 1, 2]])
    share = percent_agreement(data, USUAL)
    # Wilson, 4 of 4: 4 / (4 + 1.96²) = 0.510.
    assert [share.low, share.high] == pytest.approx([0.510109, 1.0], abs=5e-6)
    alpha = krippendorff_alpha(data, how=USUAL)
    assert (alpha.value, alpha.low) == (1.0, None)
    assert "no variation" in alpha.reason


def test_wide_data_have_a_readable_form() -> None:
    assert repr(ratings_of_matrix([[1, 2], [1, 2]])) == "<4 ratings of 2 units by 2 annotators, 2 values>"
    assert isinstance(ratings([]), Ratings)
