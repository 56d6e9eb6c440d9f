from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from tests.benchmarks.emoscene.worlds import prior

from affectlab.benchmarks.emoscene.ising import STATES, Priors, fit_priors, logit, posterior, prior_of, sigmoid

NEVER = -40.0


def two(h: tuple[float, float], coupling: float) -> Priors:
    """A prior over two emotions; the other six never occur."""
    couplings = np.zeros((8, 8))
    couplings[0, 1] = couplings[1, 0] = coupling
    return prior_of(np.array([*h, *[NEVER] * 6]), couplings)


TWO = two((-1.0, -0.5), 1.2)


def pairs(probabilities: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> list[float]:
    """Probabilities of 00, 01, 10, 11 for the first two emotions, the other six absent."""
    return [float(probabilities[place]) for place in (0, 64, 128, 192)]


def test_a_prior_of_two_emotions_by_hand() -> None:
    # Weights 1, e^-.5 = .606531, e^-1 = .367879, e^(-1 - .5 + 1.2) = .740818; sum 2.715228.
    right = [1 / 2.715228, 0.606531 / 2.715228, 0.367879 / 2.715228, 0.740818 / 2.715228]
    assert pairs(TWO.probabilities()[0]) == pytest.approx(right, abs=1e-6)
    assert TWO.marginals[0, :2] == pytest.approx([0.408326, 0.496219], abs=1e-6)


def test_evidence_as_likelihood_ratios_by_hand() -> None:
    # Each weight times e^(.8 e1 - .4 e2): 1, .406570, .818731, 1.105171; sum 3.330472. Shares ½ divide nothing out.
    odds = np.array([[0.8, -0.4, *[0.0] * 6]])
    p, marginals = posterior(odds, TWO.log_weights[0], np.full(8, 0.5))
    assert pairs(p[0]) == pytest.approx([0.300258, 0.122076, 0.245830, 0.331836], abs=1e-6)
    assert marginals[0, :2] == pytest.approx([0.577666, 0.453912], abs=1e-6)


def test_posterior_log_odds_have_their_marginal_prior_divided_out_by_hand() -> None:
    # logit of .408326 is -.370892, of .496219 is -.015122: evidence .8 + .370892 and -.4 + .015122.
    # Weights 1, .606531 e^-.384878, .367879 e^1.170892, .740818 e^(1.170892 - .384878).
    odds = np.array([[0.8, -0.4, *logit(TWO.marginals[0, 2:])]])
    p, marginals = posterior(odds, TWO.log_weights[0], TWO.marginals[0])
    assert pairs(p[0]) == pytest.approx([0.236689, 0.097697, 0.280799, 0.384815], abs=1e-6)
    assert marginals[0, :2] == pytest.approx([0.665614, 0.482512], abs=1e-6)


ODDS = arrays(np.float64, (3, 8), elements=st.floats(-12, 12))


@settings(deadline=None, max_examples=40)
@given(ODDS, st.floats(0, 1))
def test_posteriors_sum_to_one_and_marginals_are_their_sums(odds: np.ndarray, strength: float) -> None:
    world = prior(entangled=True)
    p, marginals = posterior(odds, world.log_weights[0], world.marginals[0], strength)
    assert p.sum(axis=1) == pytest.approx(1)
    assert marginals == pytest.approx(p @ STATES)


@settings(deadline=None, max_examples=40)
@given(ODDS)
def test_without_strength_or_coupling_it_is_the_independent_classifier(odds: np.ndarray) -> None:
    entangled, independent = prior(entangled=True), prior(entangled=False)
    for world, strength in ((entangled, 0.0), (independent, 1.0), (independent, 0.5)):
        _, marginals = posterior(odds, world.log_weights[0], world.marginals[0], strength)
        assert marginals == pytest.approx(sigmoid(odds))


def test_overwhelming_evidence_decides_whatever_the_prior() -> None:
    world = prior(entangled=True)
    for state in STATES[[0, 5, 170, 255]]:
        p, marginals = posterior((200 * state - 100)[None, :], world.log_weights[0], world.marginals[0])
        assert marginals[0] == pytest.approx(state)
        assert STATES[p[0].argmax()].tolist() == state.tolist()


def test_renaming_emotions_renames_the_posterior() -> None:
    rng = np.random.default_rng(0)
    couplings = np.triu(rng.normal(size=(8, 8)), 1)
    couplings += couplings.T
    h, odds, order = rng.normal(size=8), rng.normal(size=(4, 8)), rng.permutation(8)
    here, there = prior_of(h, couplings), prior_of(h[order], couplings[np.ix_(order, order)])
    _, first = posterior(odds, here.log_weights[0], here.marginals[0])
    _, second = posterior(odds[:, order], there.log_weights[0], there.marginals[0])
    assert second == pytest.approx(first[:, order])


def test_a_fit_has_the_smoothed_marginals_exactly() -> None:
    rng = np.random.default_rng(1)
    labels = rng.random((37, 8)) < 0.3
    labels[:, 5] = False
    fitted = fit_priors(labels, np.ones((1, 37)))
    # (n + ½) / (N + 1), also for an emotion that never occurs: .5 / 38
    assert fitted.marginals[0] == pytest.approx((labels.sum(axis=0) + 0.5) / 38)
    assert fitted.probabilities()[0] @ STATES == pytest.approx(fitted.marginals[0], abs=1e-8)
    assert np.isfinite(fitted.parameters).all()


def test_a_fit_recovers_the_prior_that_scenarios_were_drawn_from() -> None:
    world = prior(entangled=True)
    drawn = STATES[np.random.default_rng(2).choice(256, size=40_000, p=world.probabilities()[0])]
    fitted = fit_priors(drawn > 0.5, np.ones((1, len(drawn))))
    assert np.abs(fitted.parameters - world.parameters).max() < 0.2
    divergence = np.sum(world.probabilities() * np.log(world.probabilities() / fitted.probabilities()))
    assert 0 <= divergence < 0.001


def test_weighting_a_scenario_is_repeating_it() -> None:
    labels = np.random.default_rng(3).random((30, 8)) < 0.4
    counts = np.random.default_rng(4).integers(0, 4, size=30)
    weighted = fit_priors(labels, np.array([np.ones(30), counts]))
    assert weighted.parameters[0] == pytest.approx(fit_priors(labels, np.ones((1, 30))).parameters[0], abs=1e-6)
    repeated = np.repeat(labels, counts, axis=0)
    assert weighted.parameters[1] == pytest.approx(
        fit_priors(repeated, np.ones((1, len(repeated)))).parameters[0], abs=1e-6
    )


def test_the_fit_does_not_depend_on_where_it_starts() -> None:
    labels = np.random.default_rng(5).random((25, 8)) < 0.5
    far = np.random.default_rng(6).normal(0, 3, size=36)
    fitted = [fit_priors(labels, np.ones((1, 25)), start).parameters for start in (None, far)]
    assert fitted[0] == pytest.approx(fitted[1], abs=1e-6)


def test_nothing_seen_is_nothing_coupled() -> None:
    """The pseudo-scenario is itself independent: without scenarios all 256 combinations are as probable."""
    fitted = fit_priors(np.ones((1, 8), dtype=bool), np.zeros((1, 1)))
    assert fitted.probabilities()[0] == pytest.approx(np.full(256, 1 / 256))
