from __future__ import annotations

import numpy as np
import pytest

from affectlab.errors import UserError
from affectlab.stats.regression import clustered_regression

RNG = np.random.default_rng(5)
CLUSTER = [f"item {i // 6}" for i in range(180)]
EMOTION = ["anger", "fear", "joy"] * 60
DIFFICULTY = np.repeat(RNG.standard_normal(30), 6)
OUTCOME = (
    0.5
    + 0.3 * DIFFICULTY
    + 0.2 * (np.array(EMOTION) == "joy")
    + np.repeat(RNG.normal(0, 0.1, 30), 6)
    + RNG.normal(0, 0.1, 180)
)


def test_the_sandwich_is_the_one_of_the_textbook() -> None:
    found = clustered_regression(OUTCOME, {"difficulty": DIFFICULTY}, {"emotion": EMOTION}, CLUSTER)
    assert [one.name for one in found.coefficients] == ["intercept", "difficulty", "emotion=fear", "emotion=joy"]
    x = np.column_stack([np.ones(180), DIFFICULTY, *((np.array(EMOTION) == e).astype(float) for e in ("fear", "joy"))])
    bread = np.linalg.inv(x.T @ x)
    beta = bread @ x.T @ OUTCOME
    scores = [x[i * 6 : i * 6 + 6].T @ (OUTCOME - x @ beta)[i * 6 : i * 6 + 6] for i in range(30)]
    meat = sum((np.outer(one, one) for one in scores), np.zeros((4, 4)))
    factor = 30 / 29 * 179 / (180 - 4)
    se = np.sqrt(np.diag(bread @ meat @ bread) * factor)
    assert [one.value for one in found.coefficients] == pytest.approx(beta.tolist())
    assert [one.se for one in found.coefficients] == pytest.approx(se.tolist())
    # t with 29 degrees of freedom reaches 2.045230 at 97.5 % (tables).
    slope = found["difficulty"]
    assert slope.high - slope.value == pytest.approx(2.045230 * slope.se, rel=1e-6)
    assert (found.n, found.clusters) == (180, 30)


def test_the_planted_slopes_are_found() -> None:
    found = clustered_regression(OUTCOME, {"difficulty": DIFFICULTY}, {"emotion": EMOTION}, CLUSTER)
    assert found["difficulty"].value == pytest.approx(0.3, abs=0.06)
    assert found["emotion=joy"].p < 1e-6
    assert found["emotion=fear"].p > 0.01
    assert found.r_squared > 0.5


def test_terms_that_determine_each_other_and_too_few_clusters_are_refused() -> None:
    with pytest.raises(UserError, match="not independent"):
        clustered_regression(OUTCOME, {"constant": np.ones(180)}, {}, CLUSTER)
    with pytest.raises(UserError, match="two clusters"):
        clustered_regression(OUTCOME, {}, {}, ["one"] * 180)


def test_an_outcome_that_never_varies_is_refused() -> None:
    # .1 + .2 and .3 differ by rounding alone.
    outcome = np.where(np.arange(180) % 2, 0.1 + 0.2, 0.3)
    with pytest.raises(UserError, match="nothing to explain"):
        clustered_regression(outcome, {"difficulty": DIFFICULTY}, {}, CLUSTER)
