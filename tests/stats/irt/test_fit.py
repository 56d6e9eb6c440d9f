from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import binomtest
from tests.stats.irt.worlds import World, simulate

from affectlab.errors import UserError
from affectlab.stats.irt import Sampler, check_items, fit, respondent_stability, screen, seed_stability
from affectlab.stats.irt.fitting import Gate

pytest.importorskip("numpyro", reason="needs affectlab[irt]")

SHORT = Sampler(chains=2, warmup=300, draws=500)


def correlation(one: np.ndarray, other: np.ndarray) -> float:
    return float(np.corrcoef(one, other)[0, 1])


@pytest.fixture(scope="module")
def binary() -> World:
    return simulate(120, 14, repeats=6, seed=1)


def test_the_probabilities_of_the_facts_page() -> None:
    import jax.numpy as jnp

    from affectlab.stats.irt.models import graded_log_probabilities

    # a = 1.5, b = (-1, 0, 1), θ = .2: .141851 .283706 .342967 .231475.
    found = graded_log_probabilities(jnp.array([0.2]), jnp.array([1.5]), jnp.array([[-1.0, 0.0, 1.0]]), jnp.array([4]))
    assert np.exp(np.asarray(found)[0, 0]) == pytest.approx([0.141851, 0.283706, 0.342967, 0.231475], abs=1e-6)
    # η = -40 with cuts 0, 1, 2, 3: log P(y = 2) = -41.458675, where a subtraction of probabilities gives log 0.
    far = graded_log_probabilities(
        jnp.array([-40.0]), jnp.array([1.0]), jnp.array([[0.0, 1.0, 2.0, 3.0]]), jnp.array([5])
    )
    assert float(np.asarray(far)[0, 0, 2]) == pytest.approx(-41.458675, abs=1e-5)
    # 2PL, a = 1.2, b = -.5, θ = .3: p = .723122; as a graded item of two categories it is the same.
    two = graded_log_probabilities(jnp.array([0.3]), jnp.array([1.2]), jnp.array([[-0.5]]), jnp.array([2]))
    assert np.exp(np.asarray(two)[0, 0]) == pytest.approx([1 - 0.723122, 0.723122], abs=1e-6)


def test_an_item_with_fewer_categories_has_probabilities_that_sum_to_one_over_its_own() -> None:
    import jax.numpy as jnp

    from affectlab.stats.irt.models import graded_log_probabilities

    found = np.exp(
        np.asarray(
            graded_log_probabilities(
                jnp.array([0.4, -2.0]),
                jnp.array([0.7, 2.0]),
                jnp.array([[-1.0, 0.5, 9.0], [0.0, 1.0, 2.0]]),
                jnp.array([3, 4]),
            )
        )
    )
    assert found[:, 0, :3].sum(axis=1) == pytest.approx([1, 1], abs=1e-6)
    assert found[:, 1].sum(axis=1) == pytest.approx([1, 1], abs=1e-6)
    assert found[0, 0, 2] == pytest.approx(float(expit(0.7 * (0.4 - 0.5))), abs=1e-6)


def test_parameters_of_binary_items_are_recovered_and_the_gate_opens(binary: World) -> None:
    found = fit(binary.responses, SHORT)
    assert found.gate is not None
    assert found.gate.passed, found.gate.reasons
    assert correlation(found.theta, binary.theta) > 0.9
    assert correlation(found.a, binary.a) > 0.9
    assert correlation(found.b[:, 0], binary.b[:, 0]) > 0.9
    # 95 % intervals cover the truth about 95 times of 100.
    covered = np.abs(found.theta - binary.theta) < 1.96 * found.theta_sd
    assert binomtest(int(covered.sum()), len(covered), 0.95).pvalue > 0.001
    assert [one.problems for one in check_items(found)] == [()] * 14


def test_the_quick_fit_agrees_with_the_truth_and_has_no_gate(binary: World) -> None:
    found = screen(binary.responses, steps=1500)
    assert found.gate is None
    assert np.isnan(found.a_mcse).all()
    assert correlation(found.theta, binary.theta) > 0.9
    assert correlation(found.b[:, 0], binary.b[:, 0]) > 0.9


def test_thresholds_of_ordered_items_are_recovered_in_order() -> None:
    world = simulate(150, 8, categories=4, repeats=2, seed=2)
    found = screen(world.responses, steps=1500)
    assert found.b.shape == (8, 3)
    assert (np.diff(found.b, axis=1) > 0).all()
    assert correlation(found.b.ravel(), world.b.ravel()) > 0.9
    assert correlation(found.theta, world.theta) > 0.9
    assert correlation(found.a, world.a) > 0.8


def test_planted_bad_items_are_flagged_and_good_ones_are_not() -> None:
    world = simulate(120, 12, repeats=3, seed=3, bad=("reversed", "noise", "constant"))
    checks = check_items(screen(world.responses, steps=1500))
    assert [one.item for one in checks if one.problems] == ["item 9", "item 10", "item 11"]
    assert "runs against" in checks[9].problems[0]
    assert "hardly tells respondents apart" in checks[10].problems[-1]
    assert "everyone answers alike" in checks[11].problems


def test_converged_seeds_differ_by_monte_carlo_error(binary: World) -> None:
    small = binary.responses.take_items(["item 0", "item 1", "item 2", "item 3"])
    found = seed_stability(small, (0, 1), Sampler(chains=2, warmup=200, draws=300))
    assert found.delta_a.max() < 0.2
    assert found.a_over_mcse.max() < 5
    assert found.a_over_sd.max() < 0.5
    with pytest.raises(ValueError, match="two seeds"):
        seed_stability(small, (1, 1))


def test_other_respondents_move_parameters_more_than_other_seeds_do(binary: World) -> None:
    small = binary.responses.take_items(["item 0", "item 1", "item 2", "item 3"])
    spread = respondent_stability(small, replicates=3, steps=500)
    assert spread.a.shape == spread.b.shape == (4,)
    assert (spread.a > 0.01).all()


@pytest.mark.parametrize(
    ("gate", "said"),
    [
        (Gate(1.02, 900, 900, 0), "R-hat"),
        (Gate(float("nan"), 900, 900, 0), "R-hat"),
        (Gate(1.001, 399, 900, 0), "399"),
        (Gate(1.001, 900, 120, 0), "120"),
        (Gate(1.001, 900, 900, 3), "3 divergent"),
    ],
)
def test_the_gate_says_what_is_wrong(gate: Gate, said: str) -> None:
    assert not gate.passed
    assert said in gate.reasons[0]
    assert Gate(1.001, 900, 900, 0).passed


def test_too_few_chains_are_refused() -> None:
    with pytest.raises(UserError, match="2 chains"):
        Sampler(chains=1)
