"""Laws the coefficients obey, and agreement with independent computations of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import fleiss_kappa as statsmodels_fleiss

from affectlab.stats.agreement import (
    FORMS,
    Ratings,
    cohen_kappa,
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
from affectlab.stats.bootstrap import Interval
from affectlab.stats.estimate import Estimate

RATERS, VALUES = 4, 3
cells = st.one_of(st.none(), st.integers(0, VALUES - 1))
matrices = st.lists(st.lists(cells, min_size=RATERS, max_size=RATERS), min_size=1, max_size=12)
whole = st.lists(st.lists(st.integers(0, VALUES - 1), min_size=3, max_size=3), min_size=2, max_size=12)

Coefficient = Callable[..., Estimate]
UNORDERED: dict[str, Coefficient] = {
    "alpha": krippendorff_alpha,
    "fleiss": fleiss_kappa,
    "ac1": gwet_ac1,
    "percent": percent_agreement,
    "majority": majority_agreement,
    "pairs": lambda data, how=None: pairwise_kappa(data, how=how).mean,
}
EVERY: dict[str, Coefficient] = {
    **UNORDERED,
    **{
        f"alpha {level}": (lambda data, level=level: krippendorff_alpha(data, level))
        for level in ("ordinal", "interval")
    },
    **{form: (lambda data, form=form: icc(data, form)) for form in FORMS},
}


def of_units(units: list[list[Any]], values: Any = range(VALUES)) -> Ratings:
    return ratings_of_matrix([list(column) for column in zip(*units, strict=True)], values)


def alike(one: Estimate, other: Estimate) -> bool:
    if one.value is None or other.value is None:
        return (one.value, one.reason) == (other.value, other.reason)
    return one.value == pytest.approx(other.value, abs=1e-9)


def alpha_by_definition(units: list[list[Any]], delta: Callable[[Any, Any, Counter[Any]], float]) -> float | None:
    """Krippendorff's alpha from ordered pairs, one at a time."""
    paired = [[value for value in unit if value is not None] for unit in units]
    paired = [unit for unit in paired if len(unit) > 1]
    said = Counter(value for unit in paired for value in unit)
    n = sum(said.values())
    observed = sum(delta(a, b, said) / (len(unit) - 1) for unit in paired for a, b in permutations(unit, 2))
    expected = sum(said[a] * said[b] * delta(a, b, said) for a in said for b in said)
    return None if expected == 0 else 1 - (n - 1) * observed / expected


def ordinal(a: int, b: int, said: Counter[int]) -> float:
    between = sum(count for value, count in said.items() if min(a, b) <= value <= max(a, b))
    return (between - (said[a] + said[b]) / 2) ** 2


DELTAS: dict[str, Callable[[Any, Any, Counter[Any]], float]] = {
    "nominal": lambda a, b, said: float(a != b),
    "ordinal": ordinal,
    "interval": lambda a, b, said: float((a - b) ** 2),
    "ratio": lambda a, b, said: 0.0 if a == b else ((a - b) / (a + b)) ** 2,
}


@settings(deadline=None, max_examples=60)
@given(matrices)
@pytest.mark.parametrize("level", list(DELTAS))
def test_alpha_is_what_its_definition_says(level: Any, units: list[list[Any]]) -> None:
    found = krippendorff_alpha(of_units(units), level).value
    expected = alpha_by_definition(units, DELTAS[level])
    assert (found is None) == (expected is None)
    assert expected is None or found == pytest.approx(expected, abs=1e-9)


@settings(deadline=None, max_examples=60)
@given(matrices)
@pytest.mark.parametrize("level", ["jaccard", "masi"])
def test_alpha_of_sets_is_what_its_definition_says(level: Any, units: list[list[Any]]) -> None:
    sets = [frozenset(), frozenset("x"), frozenset("xy")]

    def delta(a: frozenset[str], b: frozenset[str], said: Counter[Any]) -> float:
        jaccard = len(a & b) / len(a | b) if a | b else 1.0
        if level == "jaccard":
            return 1 - jaccard
        return 1 - jaccard * (1 if a == b else 2 / 3 if a & b and (a <= b or b <= a) else 1 / 3 if a & b else 0)

    given_sets = [[None if code is None else sets[code] for code in unit] for unit in units]
    found = krippendorff_alpha(of_units(given_sets, sets), level).value
    expected = alpha_by_definition(given_sets, delta)
    assert (found is None) == (expected is None)
    assert expected is None or found == pytest.approx(expected, abs=1e-9)


@settings(deadline=None, max_examples=40)
@given(whole)
def test_kappas_are_those_of_scikit_learn_and_statsmodels(units: list[list[int]]) -> None:
    data = of_units(units)
    a, b, _ = zip(*units, strict=True)
    for weights, theirs in (("none", None), ("linear", "linear"), ("quadratic", "quadratic")):
        if len({*a, *b}) > 1:
            found = pair_kappa(data, "0000", "0001", weights).value  # type: ignore[arg-type]
            assert found == pytest.approx(cohen_kappa_score(a, b, labels=range(VALUES), weights=theirs), abs=1e-9)
    counts = np.array([[unit.count(value) for value in range(VALUES)] for unit in units])
    if (counts.sum(axis=0) > 0).sum() > 1:
        assert fleiss_kappa(data).value == pytest.approx(statsmodels_fleiss(counts), abs=1e-9)


@settings(deadline=None, max_examples=30)
@given(whole)
def test_intraclass_correlations_are_those_of_the_analysis_of_variance(units: list[list[int]]) -> None:
    """Mean squares by the textbook, one sum at a time."""
    x = np.array(units, float)
    n, k = x.shape
    grand = x.mean()
    rows = k * ((x.mean(axis=1) - grand) ** 2).sum() / (n - 1)
    columns = n * ((x.mean(axis=0) - grand) ** 2).sum() / (k - 1)
    within = ((x - x.mean(axis=1, keepdims=True)) ** 2).sum() / (n * (k - 1))
    rest = x - x.mean(axis=1, keepdims=True) - x.mean(axis=0) + grand
    error = (rest**2).sum() / ((n - 1) * (k - 1))
    expected = {
        "ICC1": (rows - within, rows + (k - 1) * within),
        "ICC2": (rows - error, rows + (k - 1) * error + k * (columns - error) / n),
        "ICC3": (rows - error, rows + (k - 1) * error),
        "ICC1k": (rows - within, rows),
        "ICC2k": (rows - error, rows + (columns - error) / n),
        "ICC3k": (rows - error, rows),
    }
    data = of_units(units)
    for form, (above, below) in expected.items():
        found = icc(data, form).value  # type: ignore[arg-type]
        if below > 1e-6:
            assert found == pytest.approx(above / below, abs=1e-6)


@settings(deadline=None, max_examples=30)
@given(matrices, st.randoms(use_true_random=False))
@pytest.mark.parametrize("name", list(EVERY))
def test_neither_order_nor_names_matter(name: str, units: list[list[Any]], random: Any) -> None:
    coefficient = EVERY[name]
    expected = coefficient(of_units(units))
    shuffled = list(units)
    random.shuffle(shuffled)
    turned = [unit[::-1] for unit in shuffled]
    assert alike(coefficient(of_units(turned)), expected)


@settings(deadline=None, max_examples=30)
@given(matrices, st.permutations(range(VALUES)))
@pytest.mark.parametrize("name", list(UNORDERED))
def test_nominal_coefficients_know_no_names_of_values(name: str, units: list[list[Any]], new: list[int]) -> None:
    renamed = [[None if code is None else f"v{new[code]}" for code in unit] for unit in units]
    expected = UNORDERED[name](of_units(units))
    assert alike(UNORDERED[name](of_units(renamed, [f"v{code}" for code in range(VALUES)])), expected)


@settings(deadline=None, max_examples=40)
@given(matrices, st.floats(0.01, 1000), st.floats(-1000, 1000))
def test_interval_alpha_knows_no_unit_and_no_zero(units: list[list[Any]], scale: float, shift: float) -> None:
    moved = [[None if value is None else value * scale + shift for value in unit] for unit in units]
    expected = krippendorff_alpha(of_units(units), "interval")
    found = krippendorff_alpha(of_units(moved, None), "interval")
    assert (found.value is None) == (expected.value is None)
    assert expected.value is None or found.value == pytest.approx(expected.value, abs=1e-6)


@settings(deadline=None, max_examples=40)
@given(matrices)
def test_kappa_is_symmetric(units: list[list[Any]]) -> None:
    data = of_units(units)
    assume({"0000", "0001"} <= set(data.raters))
    for weights in ("none", "linear", "quadratic"):
        one = pair_kappa(data, "0000", "0001", weights)
        assert alike(one, pair_kappa(data, "0001", "0000", weights))


@settings(deadline=None, max_examples=40)
@given(matrices, st.integers(0, VALUES - 1))
def test_a_unit_with_one_answer_changes_nothing(units: list[list[Any]], value: int) -> None:
    more = [*units, [value, None, None, None]]
    for level in ("nominal", "ordinal", "interval"):
        one = krippendorff_alpha(of_units(units), level)
        other = krippendorff_alpha(of_units(more), level)
        assert one.value == other.value or one.value == pytest.approx(other.value, abs=1e-9)
    assert percent_agreement(of_units(units)).value == percent_agreement(of_units(more)).value


@settings(deadline=None, max_examples=40)
@given(whole)
def test_doubling_all_units_leaves_kappa_and_moves_alpha(units: list[list[int]]) -> None:
    """Alpha corrects for small samples: (n - 1) / n of the disagreement becomes (2n - 1) / 2n. Scott's pi does not."""
    one, two = of_units(units), of_units([*units, *units])
    for name in ("fleiss", "ac1", "percent", "majority", "pairs"):
        assert alike(UNORDERED[name](one), UNORDERED[name](two))
    first, second = krippendorff_alpha(one).value, krippendorff_alpha(two).value
    if first is not None and second is not None:
        n = 3 * len(units)
        # 1 - alpha = (n - 1) · observed / expected; observed doubles, expected, of pairs, grows fourfold.
        assert (1 - second) / (1 - first) == pytest.approx((2 * n - 1) / (2 * (n - 1))) if first < 1 else second == 1


def test_the_interval_is_that_of_the_bootstrap_by_unit() -> None:
    """Against resampling units one by one: another generator, so equal but for chance."""
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 3, 60)
    units = [[int(value) if rng.random() < 0.75 else int(rng.integers(3)) for _ in range(3)] for value in truth]
    found = krippendorff_alpha(of_units(units), how=Interval(replicates=4000))
    again = []
    for _ in range(600):
        drawn = [units[place] for place in rng.integers(0, 60, 60)]
        again.append(krippendorff_alpha(of_units(drawn)).value)
    low, high = np.quantile(np.array(again, float), (0.025, 0.975))
    assert found.low == pytest.approx(low, abs=0.03)
    assert found.high == pytest.approx(high, abs=0.03)


@pytest.mark.parametrize("name", list(UNORDERED))
def test_intervals_hold_the_value_and_depend_on_the_seed_alone(name: str) -> None:
    rng = np.random.default_rng(5)
    units = [[int(rng.integers(3)) if rng.random() < 0.4 else unit % 3 for _ in range(3)] for unit in range(40)]
    how = Interval(replicates=200, seed=4)
    found = UNORDERED[name](of_units(units), how=how)
    assert found.value is not None
    assert found.low is not None
    assert found.high is not None
    assert found.low < found.value < found.high
    turned = UNORDERED[name](of_units(units[::-1]), how=how)
    assert (found.low, found.high) == pytest.approx((turned.low, turned.high), abs=1e-12)
    other = UNORDERED[name](of_units(units), how=Interval(replicates=200, seed=5))
    assert (found.low, found.high) != (other.low, other.high)


def test_fleiss_of_a_value_is_fleiss_of_that_value_against_the_rest() -> None:
    units = [["a", "b", "c"], ["a", "a", "b"], ["c", "c", "c"], ["b", "b", "a"]]
    by_value = fleiss_by_category(of_units(units, None))
    for value, found in by_value.items():
        alone = of_units([[one == value for one in unit] for unit in units], None)
        assert found.value == pytest.approx(fleiss_kappa(alone).value)


def test_cohens_kappa_takes_shares_for_counts() -> None:
    table = np.array([[20, 5], [10, 15]])
    assert cohen_kappa(table / 50).value == pytest.approx(cohen_kappa(table).value)


def test_a_hundred_thousand_answers_take_seconds() -> None:
    from time import process_time

    rng = np.random.default_rng(0)
    codes = rng.integers(0, 25, (50_000, 2))
    data = ratings(
        (str(unit), rater, int(codes[unit, place])) for unit in range(50_000) for place, rater in enumerate("AB")
    )
    began = process_time()
    for coefficient in UNORDERED.values():
        assert coefficient(data, how=Interval()).low is not None
    assert process_time() - began < 15
