from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit, log_expit
from scipy.stats import binomtest, lognorm, norm
from tests.stats.irt.worlds import simulate

from affectlab.errors import UserError
from affectlab.stats.irt import (
    Fit,
    Gate,
    Responses,
    Sampler,
    check_items,
    fit,
    respondent_stability,
    screen,
    seed_stability,
    stability,
)

pytest.importorskip("numpyro", reason="needs affectlab[irt]")

SHORT = Sampler(chains=2, warmup=200, draws=400)


def correlation(one: np.ndarray, other: np.ndarray) -> float:
    return float(np.corrcoef(one, other)[0, 1])


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


def test_the_logarithm_of_the_logistic_and_its_slope_are_those_of_scipy_far_out_too() -> None:
    import jax

    from affectlab.stats.irt.models import log_sigmoid

    places = np.array([-1e4, -100.0, -40.0, -1.5, 0.0, 0.3, 20.0, 80.0, 1e4], dtype=np.float32)
    value = np.asarray(log_sigmoid(places))
    slope = np.asarray(jax.vmap(jax.grad(log_sigmoid))(places))
    assert value == pytest.approx(log_expit(places.astype(float)), rel=1e-6, abs=1e-30)
    assert slope == pytest.approx(expit(-places.astype(float)), rel=1e-6, abs=1e-30)


def test_the_binary_model_is_its_priors_and_the_probability_of_every_answer_as_often_as_it_was_given() -> None:
    from numpyro.infer.util import log_density

    from affectlab.stats.irt.models import two_parameter

    theta, a, b = np.array([0.3, -1.0]), np.array([1.2, 0.5, 2.0]), np.array([-0.5, 0.4, 1.0])
    counts = np.array([[[0, 1], [2, 3], [0, 0]], [[1, 0], [0, 4], [5, 2]]])  # lower, upper
    found, _ = log_density(two_parameter, (counts, None), {}, {"theta": theta, "a": a, "b": b})
    eta = a * (theta[:, None] - b)
    answers = counts[..., 1] * log_expit(eta) + counts[..., 0] * log_expit(-eta)
    priors = norm.logpdf(theta).sum() + lognorm.logpdf(a, 0.5).sum() + norm.logpdf(b, scale=1.5).sum()
    assert float(found) == pytest.approx(answers.sum() + priors, rel=1e-5)


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


@pytest.mark.slow
def test_parameters_of_binary_items_are_recovered_and_the_gate_judges_the_chains() -> None:
    binary = simulate(120, 14, repeats=6, seed=1)
    found = fit(binary.responses, SHORT)
    # Chains this short agree, and are too short for the gate: bench/irt.py has the full length.
    assert found.gate is not None
    assert found.gate.divergences == 0
    assert 1 <= found.gate.r_hat < 1.1
    assert found.gate.passed == (found.gate.r_hat < 1.01 and min(found.gate.bulk, found.gate.tail) > 400)
    assert correlation(found.theta, binary.theta) > 0.9
    assert correlation(found.a, binary.a) > 0.9
    assert correlation(found.b[:, 0], binary.b[:, 0]) > 0.9
    # 95 % intervals cover the truth about 95 times of 100.
    covered = np.abs(found.theta - binary.theta) < 1.96 * found.theta_sd
    assert binomtest(int(covered.sum()), len(covered), 0.95).pvalue > 0.001
    assert [one.problems for one in check_items(found)] == [()] * 14


@pytest.mark.slow
def test_thresholds_of_ordered_items_are_recovered_in_order() -> None:
    world = simulate(120, 8, categories=4, repeats=5, seed=2)
    found = screen(world.responses, steps=1000)
    assert found.b.shape == (8, 3)
    assert (np.diff(found.b, axis=1) > 0).all()
    assert correlation(found.b.ravel(), world.b.ravel()) > 0.9
    assert correlation(found.theta, world.theta) > 0.9
    assert correlation(found.a, world.a) > 0.8


@pytest.mark.slow
def test_planted_bad_items_are_flagged_and_good_ones_are_not() -> None:
    world = simulate(120, 12, repeats=3, seed=3, bad=("reversed", "noise", "constant"))
    checks = check_items(screen(world.responses, steps=1000))
    assert [one.item for one in checks if one.problems] == ["item 9", "item 10", "item 11"]
    assert any("runs against" in one for one in checks[9].problems)
    assert any("hardly tells respondents apart" in one for one in checks[10].problems)
    assert "everyone answers alike" in checks[11].problems


def stub(responses: Responses, a: list[float], b: list[float], gate: Gate | None = None) -> Fit:
    """A fit with given means, posterior deviations of .2 and Monte Carlo errors of .01."""
    one, many = np.array(a), np.array(b)[:, None]
    return Fit(
        responses,
        one,
        np.full_like(one, 0.2),
        np.full_like(one, 0.01),
        many,
        np.full_like(many, 0.2),
        np.full_like(many, 0.01),
        np.zeros(len(responses.respondents)),
        np.ones(len(responses.respondents)),
        np.full(responses.scores.shape, 0.5),
        gate,
        Sampler(),
    )


def test_movement_over_seeds_stands_beside_monte_carlo_error_and_posterior_deviation(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    responses = Responses.of_rows([("m1", "x", 1), ("m2", "x", 0), ("m1", "y", 0), ("m2", "y", 1)], 2)
    fits = {0: ([1.0, 2.0], [0.0, 0.5]), 1: ([1.02, 2.0], [0.1, 0.5]), 2: ([0.98, 2.0], [0.0, 0.4])}
    monkeypatch.setattr(stability, "fit", lambda given, sampler: stub(given, *fits[sampler.seed]))
    found = seed_stability(responses, (0, 1, 2))
    assert found.delta_a == pytest.approx([0.04, 0.0])
    assert found.delta_b == pytest.approx([0.1, 0.1])
    # A difference of two means has √2 Monte Carlo errors.
    assert found.a_over_mcse == pytest.approx([0.04 / (0.01 * 2**0.5), 0.0])
    assert found.b_over_sd == pytest.approx([0.5, 0.5])
    with pytest.raises(ValueError, match="two seeds"):
        seed_stability(responses, (1, 1))


def test_spread_over_respondents_is_that_of_fits_to_resampled_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    responses = Responses.of_rows([(f"m{n}", item, n % 2) for n in range(6) for item in ("x", "y")], 2)
    drawn: list[tuple[str, ...]] = []

    def fake(given: Responses, seed: int, steps: int) -> Fit:
        drawn.append(given.respondents)
        return stub(given, [1.0 + seed, 1.0], [0.0, 0.0])

    monkeypatch.setattr(stability, "screen", fake)
    spread = respondent_stability(responses, replicates=3)
    assert spread.a == pytest.approx([1.0, 0.0])
    assert spread.b == pytest.approx([0.0, 0.0])
    assert len(set(drawn)) > 1
    assert all(len(one) == 6 for one in drawn)


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
