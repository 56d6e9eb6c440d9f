"""The two models as log-likelihoods and numpyro programs. Imported only where a model is fitted.

Priors: ability ~ N(0, 1); discrimination ~ LogN(0, .5), positive, so that the scale cannot turn round; difficulty
~ N(0, 1.5); the first threshold of a graded item ~ N(-1.5, 1.5) and the gaps to the next ~ LogN(-.3, .6), so that
thresholds are ordered by construction.

The likelihood of graded answers is our own: numpyro's ``OrderedLogistic`` subtracts two probabilities, which in single
precision is log 0 far from the thresholds and then stops chains.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpyro
import numpyro.distributions as dist

SMALLEST_GAP = 1e-6


def _log_sigmoid(x: Any) -> Any:
    """log σ(x) elementwise. jax.nn's guards against infinities in ways that cost four times as much a step."""
    return jnp.minimum(x, 0) - jnp.log1p(jnp.exp(-jnp.abs(x)))


def _log_sigmoid_slope(primals: tuple[Any], tangents: tuple[Any]) -> tuple[Any, Any]:
    (x,), (change,) = primals, tangents
    small = jnp.exp(-jnp.abs(x))
    return log_sigmoid(x), jnp.where(x > 0, small, 1.0) / (1.0 + small) * change


log_sigmoid = jax.custom_jvp(_log_sigmoid)
log_sigmoid.defjvp(_log_sigmoid_slope)


def graded_log_probabilities(theta: Any, a: Any, b: Any, categories: Any) -> Any:
    """log P(Y = k) for every respondent, item and category [R, I, K].

    With u(k) = a (θ - b(k)) and P(Y ≥ k) = σ(u(k)), the probability between two thresholds is σ(u) - σ(v) =
    σ(u) σ(-v) (1 - exp(v - u)), whose logarithm never subtracts close numbers.

    Args:
        theta: Abilities [R].
        a: Discriminations [I].
        b: Ascending thresholds [I, K - 1].
        categories: Categories of each item [I]; those beyond are given probability of no meaning, and no counts.
    """
    u = a[:, None] * (theta[:, None, None] - b)
    reach = log_sigmoid(u)
    fail = log_sigmoid(-u)
    gap = jnp.maximum(a[:, None] * (b[:, 1:] - b[:, :-1]), SMALLEST_GAP)
    between = reach[..., :-1] + fail[..., 1:] + _log1mexp(gap)
    lowest, highest = fail[..., :1], reach[..., -1:]
    whole = jnp.concatenate([lowest, between, highest], axis=-1)
    top = jnp.arange(whole.shape[-1]) == (categories[:, None] - 1)
    reached = jnp.concatenate([jnp.zeros_like(lowest), reach], axis=-1)
    return jnp.where(top, reached, whole)


def _log1mexp(x: Any) -> Any:
    """log(1 - exp(-x)) for x above 0, without loss near 0 or far from it; both branches stay finite."""
    near = jnp.minimum(x, 0.7)
    far = jnp.maximum(x, 0.6)
    return jnp.where(x < 0.693, jnp.log(-jnp.expm1(-near)), jnp.log1p(-jnp.exp(-far)))


def two_parameter(counts: Any, categories: Any) -> None:
    """Binary items: counts [R, I, 2] of lower and upper category."""
    del categories
    respondents, items, _ = counts.shape
    theta, a = _ability_and_discrimination(respondents, items)
    b = numpyro.sample("b", dist.Normal(0.0, 1.5).expand([items]).to_event(1))
    eta = a * (theta[:, None] - b)
    # log σ(-η) = log σ(η) - η, so that each cell needs one logarithm.
    numpyro.factor("answers", (counts.sum(axis=-1) * log_sigmoid(eta) - counts[..., 0] * eta).sum())


def graded(counts: Any, categories: Any) -> None:
    """Ordered items: counts [R, I, K]."""
    respondents, items, k = counts.shape
    theta, a = _ability_and_discrimination(respondents, items)
    first = numpyro.sample("first", dist.Normal(-1.5, 1.5).expand([items]).to_event(1))
    gaps = numpyro.sample("gaps", dist.LogNormal(-0.3, 0.6).expand([items, k - 2]).to_event(2))
    b = numpyro.deterministic("b", jnp.concatenate([first[:, None], first[:, None] + jnp.cumsum(gaps, axis=1)], axis=1))
    numpyro.factor("answers", (counts * graded_log_probabilities(theta, a, b, categories)).sum())


def _ability_and_discrimination(respondents: int, items: int) -> tuple[Any, Any]:
    theta = numpyro.sample("theta", dist.Normal(0.0, 1.0).expand([respondents]).to_event(1))
    return theta, numpyro.sample("a", dist.LogNormal(0.0, 0.5).expand([items]).to_event(1))
