"""Ratings with decimals: as many values as answers, and still no table of every two values."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from affectlab.stats.agreement import Level, alpha, krippendorff_alpha, ratings, ratings_of_matrix
from affectlab.stats.agreement.summary import Scale, slot_agreement
from affectlab.stats.agreement.weights import distance
from affectlab.stats.bootstrap import Interval


def answers(units: int, seed: int = 3) -> list[tuple[str, str, float]]:
    rng = np.random.default_rng(seed)
    truth = rng.uniform(0, 100, units)
    return [(str(unit), who, float(truth[unit] + rng.normal(0, 5) + 30)) for unit in range(units) for who in ("a", "b")]


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval", "ratio"])
def test_a_thousand_items_of_two_thousand_values_fit_into_memory(level: Level) -> None:
    # A table of every two values has 2000² cells (32 MB); one for each of 1000 replicates would take 32 GB.
    data = ratings(answers(1000))
    assert len(data.values) > 1990
    tracemalloc.start()
    found = slot_agreement("a", data, Scale(level), Interval(replicates=100))
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 400e6
    assert found.figures[0].n == 2000


@pytest.mark.parametrize("values", [range(7), range(6, -1, -1)])
def test_kappa_by_formula_is_kappa_by_table(values: range) -> None:
    """Against scikit-learn, which makes the whole table; however the values are declared."""
    a, b = np.random.default_rng(8).integers(0, 7, (2, 60))
    given = {"a": a, "b": b}
    data = ratings(
        ((str(unit), who, float(value)) for who, said in given.items() for unit, value in enumerate(said)), values
    )
    found = slot_agreement("a", data, Scale("ordinal"), Interval(replicates=10))
    for name, weights in (("", None), ("_linear", "linear"), ("_quadratic", "quadratic")):
        expected = cohen_kappa_score(a, b, labels=range(7), weights=weights)
        assert found.figure(f"cohen_kappa{name}").value == pytest.approx(expected)


def test_one_value_throughout_expects_no_disagreement_at_all() -> None:
    """Not what rounding leaves of one: 3.6e-15 here, which would make a kappa of nothing."""
    place = np.array([0.1, 0.2, 0.8])
    used = np.array([[0.0, 0.0, 7.0]])
    for weights in ("none", "linear", "quadratic"):
        assert distance(weights, 3, place).met(np.arange(3), used, used)[0] == 0


def test_alpha_in_blocks_is_alpha(monkeypatch: pytest.MonkeyPatch) -> None:
    # Krippendorff (2011), data C: ratio .797. With room for five distances at a time, each value is a block.
    monkeypatch.setattr(alpha, "_CELLS", 5)
    data = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
        [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
    ]
    assert krippendorff_alpha(ratings_of_matrix(data), "ratio").value == pytest.approx(0.797403, abs=5e-7)
