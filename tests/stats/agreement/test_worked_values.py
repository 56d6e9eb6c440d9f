"""Published worked examples, to the digits they are printed with, and small ones by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from affectlab.stats.agreement import (
    Level,
    Ratings,
    cohen_kappa,
    fleiss_by_category,
    fleiss_kappa,
    given_upstream,
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

N = None
# Krippendorff (2011), Computing Krippendorff's Alpha-Reliability: A (binary), B (nominal), C and D (missing values).
A = [[0, 1, 0, 0, 0, 0, 0, 0, 1, 0], [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]]
B = [list("aabbdcccedda"), list("babbbccceddd")]
C = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, N, N, N],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, N, 3],
    [N, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, N],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, N],
]
# Wikipedia, Krippendorff's alpha: three coders, 15 units.
W = [
    [N, N, N, N, N, 3, 4, 1, 2, 1, 1, 3, 3, N, 3],
    [1, N, 2, 1, 3, 3, 4, 3, N, N, N, N, N, N, N],
    [N, N, 2, 1, 3, 4, 4, N, 2, 1, 1, 3, 3, N, 4],
]
# Wikipedia, Fleiss' kappa: 10 subjects, 14 raters, 5 values.
FLEISS = [
    [0, 0, 0, 0, 14],
    [0, 2, 6, 4, 2],
    [0, 0, 3, 5, 6],
    [0, 3, 9, 2, 0],
    [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0],
    [3, 2, 6, 3, 0],
    [2, 5, 3, 2, 2],
    [6, 5, 2, 1, 0],
    [0, 2, 2, 3, 7],
]
COHEN_1960 = [[88, 14, 18], [10, 40, 10], [2, 6, 12]]
FLEISS_COHEN_EVERITT = [[106, 10, 4], [22, 28, 10], [2, 12, 6]]
SHROUT_FLEISS = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]


def of_counts(counts: list[list[int]]) -> Ratings:
    """Ratings in which each unit got each value so often; who gave which makes no difference."""
    rows = []
    for unit, row in enumerate(counts):
        given = [value for value, count in enumerate(row) for _ in range(count)]
        rows += [(str(unit), f"{rater:02}", value) for rater, value in enumerate(given)]
    return ratings(rows, range(len(counts[0])))


@pytest.mark.parametrize(
    ("matrix", "level", "value", "digits"),
    [
        (A, "nominal", 0.095, 3),
        (B, "nominal", 0.692, 3),
        (C, "nominal", 0.743421, 6),
        (C, "ordinal", 0.815388, 6),
        (C, "interval", 0.849107, 6),
        (C, "ratio", 0.797403, 6),
        (W, "nominal", 0.691358, 6),
        (W, "ordinal", 0.8067214, 7),
        (W, "interval", 0.8108449, 7),
        # Intensities of one label, absent as 0, two raters.
        ([[3, 0, 2, 0, 0], [3, 0, 3, 1, 0]], "interval", 0.898, 3),
        ([[3, 0, 2, 0, 0], [3, 0, 3, 1, 0]], "ordinal", 0.834, 3),
    ],
)
def test_krippendorffs_alpha(matrix: Any, level: Level, value: float, digits: int) -> None:
    found = krippendorff_alpha(ratings_of_matrix(matrix), level)
    assert found.value == pytest.approx(value, abs=0.51 * 10**-digits)


def test_the_unit_with_one_value_is_dropped() -> None:
    # C has 12 units; the last got one answer. 41 answers, 40 of them in pairs.
    found = krippendorff_alpha(ratings_of_matrix(C))
    assert (found.n, found.clusters) == (40, 11)


def test_one_disagreement_among_constants_is_no_better_than_chance() -> None:
    # 5 × 5, one answer differs: D_o = 2 · 4 / (25 · 4), D_e = 2 · 24 · 1 / (25 · 24).
    matrix = np.ones((5, 5), int)
    matrix[2, 3] = 2
    assert krippendorff_alpha(ratings_of_matrix(matrix.tolist())).value == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(("level", "value"), [("masi", 4 / 7), ("jaccard", 2 / 3), ("nominal", 0.4)])
def test_sets(level: Level, value: float) -> None:
    # {x,y}/{x} and {z}/{z}. Jaccard: D_o = 2 · 1/2 / 4 = 1/4. Expected over ordered pairs: the two sets meet once each
    # way (1/2 + 1/2), each meets z and z both ways (8 · 1): 9 / (4 · 3) = 3/4; alpha = 1 - 1/3. MASI: 1 - 1/2 · 2/3 is
    # 2/3, so D_o = 1/3, D_e = (4/3 + 8) / 12 = 7/9, alpha = 1 - 3/7. Nominal: D_o = 1/2, D_e = 10 / 12.
    data = ratings([("1", "a", {"x", "y"}), ("1", "b", {"x"}), ("2", "a", {"z"}), ("2", "b", {"z"})])
    assert krippendorff_alpha(data, level).value == pytest.approx(value)


@pytest.mark.parametrize(("level", "value"), [("masi", 7 / 12), ("jaccard", 2 / 3)])
def test_sets_that_overlap(level: Level, value: float) -> None:
    # {x,y}/{y,z}, {x,y}/{x,y}, {w}/{w}. The first two share one of three: d is 2/3 by Jaccard, and 1 - 1/3 · 1/3 = 8/9
    # by MASI. D_o = 2d / 6. Expected over ordered pairs: {y,z} meets three {x,y} both ways (6d), each {w} meets four
    # others both ways (16): D_e = (6d + 16) / (6 · 5). Jaccard: (2/9) / (20/30) = 1/3. MASI: (8/27) / (64/90) = 5/12.
    given = {"1": ("xy", "yz"), "2": ("xy", "xy"), "3": ("w", "w")}
    data = ratings((unit, who, set(said)) for unit, both in given.items() for who, said in zip("ab", both, strict=True))
    assert krippendorff_alpha(data, level).value == pytest.approx(value)


def test_the_empty_set_is_a_value() -> None:
    data = ratings([("1", "a", ()), ("1", "b", ()), ("2", "a", ("x",)), ("2", "b", ("x",))])
    assert krippendorff_alpha(data, "masi").value == 1.0
    assert krippendorff_alpha(data, "jaccard").value == 1.0


@pytest.mark.parametrize(
    ("table", "weights", "value", "digits"),
    [
        (COHEN_1960, "none", 0.492, 3),
        (COHEN_1960, [[0, 1, 3], [1, 0, 6], [3, 6, 0]], 0.348, 3),
        (COHEN_1960, [[0, 1, 4], [1, 0, 6], [2, 2, 0]], 0.353, 3),
        ([[0.25, 0.13, 0.12], [0.12, 0.02, 0.16], [0.03, 0.15, 0.02]], "none", -0.092, 3),
        (FLEISS_COHEN_EVERITT, "none", 0.429, 3),
        # Their similarities, as disagreements: 1 - w.
        (FLEISS_COHEN_EVERITT, [[0, 1, 1 - 0.4444], [1, 0, 1 - 0.6667], [1 - 0.4444, 1 - 0.6667, 0]], 0.507, 3),
        # scikit-learn's tests: 46, 44 and 10 against 50, 40 and 10.
        ([[46, 0, 0], [4, 40, 0], [0, 0, 10]], "none", 0.9315, 4),
        ([[46, 0, 0], [4, 40, 0], [0, 0, 10]], "linear", 0.9412, 4),
        ([[46, 0, 0], [4, 40, 0], [0, 0, 10]], "quadratic", 0.9541, 4),
        ([[20, 20], [10, 50]], "none", 0.348, 3),  # Artstein and Poesio (2008)
        ([[20, 5], [10, 15]], "none", 0.400, 3),  # Wikipedia, three tables
        ([[45, 15], [25, 15]], "none", 0.130, 3),
        ([[25, 35], [5, 35]], "none", 0.259, 3),
        ([[90, 5], [5, 0]], "none", -0.053, 3),  # the kappa paradox: 90 % agreement
    ],
)
def test_cohens_kappa(table: Any, weights: Any, value: float, digits: int) -> None:
    assert cohen_kappa(table, weights).value == pytest.approx(value, abs=0.51 * 10**-digits)


def test_kappa_of_answers_is_kappa_of_their_table() -> None:
    rows: list[tuple[str, str, str]] = []
    for a, row in enumerate(COHEN_1960):
        for b, count in enumerate(row):
            for _ in range(count):
                unit = f"u{len(rows)}"
                rows += [(unit, "A", "xyz"[a]), (unit, "B", "xyz"[b])]
    data = ratings(rows)
    expected = cohen_kappa(COHEN_1960).value
    assert pair_kappa(data, "A", "B").value == pytest.approx(expected)
    assert pairwise_kappa(data).mean.value == pytest.approx(expected)
    assert percent_agreement(data).value == pytest.approx(0.70)


def test_fleiss_kappa() -> None:
    assert fleiss_kappa(of_counts(FLEISS)).value == pytest.approx(0.210, abs=5e-4)
    # Randolph's calculator. 8 raters: P = (42 + 0) / 56 and (6 + 20) / 56; shares 10/16 and 6/16.
    assert fleiss_kappa(of_counts([[7, 1], [3, 5]])).value == pytest.approx(0.161905, abs=5e-7)


def test_fleiss_diagnoses() -> None:
    """Fleiss (1971), 30 patients, 6 raters, 5 diagnoses; the data are in statsmodels' own tests."""
    diagnoses = pytest.importorskip("statsmodels.stats.tests.test_inter_rater").diagnoses
    data = ratings_of_matrix(np.asarray(diagnoses).T.tolist())
    assert fleiss_kappa(data).value == pytest.approx(0.430, abs=5e-4)
    by_value = [one.value for one in fleiss_by_category(data).values()]
    assert by_value == pytest.approx([0.245, 0.245, 0.520, 0.471, 0.566], abs=5e-4)


def test_gwet_with_missing_answers() -> None:
    # Gwet's four raters, which are Krippendorff's C; values of irrCAC.
    data = ratings_of_matrix(C)
    assert gwet_ac1(data).value == pytest.approx(0.77544, abs=5e-6)
    assert fleiss_kappa(data).value == pytest.approx(0.76117, abs=5e-6)


def test_intraclass_correlations() -> None:
    # Shrout and Fleiss (1979), Table 4: six targets, four judges.
    data = ratings_of_matrix(np.array(SHROUT_FLEISS).T.tolist())
    found = [icc(data, form).value for form in ("ICC1", "ICC2", "ICC3", "ICC1k", "ICC2k", "ICC3k")]
    assert found == pytest.approx([0.17, 0.29, 0.71, 0.44, 0.62, 0.91], abs=5e-3)


def test_majority() -> None:
    # aab: majority; abc: none; aabb: a tie is none; ab: none; aa: majority; a alone: not asked about.
    units = ["aab", "abc", "aabb", "ab", "aa", "a"]
    data = ratings((str(unit), str(rater), one) for unit, said in enumerate(units) for rater, one in enumerate(said))
    found = majority_agreement(data)
    assert (found.value, found.clusters) == (2 / 5, 5)


def test_the_majority_of_two_is_their_agreement() -> None:
    data = ratings_of_matrix(B)
    assert majority_agreement(data).value == percent_agreement(data).value == pytest.approx(9 / 12)


def test_kappa_given_agreement_upstream() -> None:
    # Ten units; upstream equal on six, whose downstream table is [[3, 1], [0, 2]]: p_o = 5/6, p_e = 1/2, kappa = 2/3.
    downstream = ["xx", "xx", "xx", "xy", "yy", "yy", "xx", "xx", "yx", "yy"]
    upstream = ["pp"] * 3 + ["qq"] * 3 + ["pq"] * 4
    code = {
        name: ratings(
            (str(unit), rater, said[place]) for unit, said in enumerate(given) for place, rater in enumerate("AB")
        )
        for name, given in (("down", downstream), ("up", upstream))
    }
    found = given_upstream(code["down"], code["up"])
    assert (found.kept, found.n, found.without) == (6, 10, 0)
    assert pair_kappa(found.ratings, "A", "B").value == pytest.approx(2 / 3)
    assert pair_kappa(code["down"], "A", "B").value != pytest.approx(2 / 3)


def test_upstream_answers_of_others_do_not_count() -> None:
    # C answered only downstream; unit 2 has one person upstream and is not counted at all.
    up = ratings([("1", "A", "p"), ("1", "B", "p"), ("2", "A", "p")])
    down = ratings([("1", "A", "x"), ("1", "B", "y"), ("1", "C", "x"), ("2", "A", "x"), ("2", "B", "x")])
    found = given_upstream(down, up)
    assert (found.kept, found.n, found.without) == (1, 1, 2)
    assert percent_agreement(found.ratings).value == 0.0


def test_mean_pairwise_kappa_is_over_pairs_and_lists_the_undefined() -> None:
    # A/B: [[1, 1], [0, 2]], p_o 3/4, p_e (2·1 + 2·3)/16 = 1/2, kappa 1/2. C says x only where A and B do: undefined.
    data = ratings_of_matrix([["x", "x", "y", "y"], ["x", "y", "y", "y"], ["x", N, N, N]])
    found = pairwise_kappa(data)
    assert found.mean.value == pytest.approx(0.5)
    assert found.undefined == {("0000", "0002"): "single_category", ("0001", "0002"): "single_category"}
    assert found.n == {("0000", "0001"): 4, ("0000", "0002"): 1, ("0001", "0002"): 1}
    few = pairwise_kappa(data, min_n=2)
    assert few.too_few == (("0000", "0002"), ("0001", "0002"))
    assert few.mean.value == pytest.approx(0.5)
    assert pairwise_kappa(data, min_n=9).mean.reason == "no_pairs"


def test_pairs_may_be_weighted_by_their_units() -> None:
    # A/B as above on 4 units (kappa 1/2); A/C on 2 units, always right (kappa 1); B/C on 2: x/x, y/y (kappa 1).
    data = ratings_of_matrix([["x", "x", "y", "y"], ["x", "y", "y", "y"], ["x", N, "y", N]])
    assert pairwise_kappa(data).mean.value == pytest.approx((0.5 + 1 + 1) / 3)
    assert pairwise_kappa(data, by_units=True).mean.value == pytest.approx((4 * 0.5 + 2 + 2) / 8)
