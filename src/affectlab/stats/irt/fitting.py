"""Fitting: NUTS with a gate on convergence, and a quick variational stand-in for screening."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from affectlab.errors import UserError
from affectlab.stats.irt.responses import Responses

Floats = NDArray[np.float64]
INSTALL = 'pip install "affectlab[irt]"'


@dataclass(frozen=True, slots=True)
class Sampler:
    """How long to sample.

    Attributes:
        chains: Independent chains, at least 2.
        warmup: Draws of each that tune the sampler and are thrown away.
        draws: Draws of each that are kept. 1000 items need 1500 of both for R-hat below 1.01.
        seed: Of the sampler.
    """

    chains: int = 4
    warmup: int = 1000
    draws: int = 1000
    seed: int = 0

    def __post_init__(self) -> None:
        if self.chains < 2 or self.warmup < 1 or self.draws < 4:
            raise UserError("A sampler needs 2 chains, 1 warm-up draw and 4 draws at least.")


@dataclass(frozen=True, slots=True)
class Gate:
    """Whether draws may be read as a posterior.

    Attributes:
        r_hat: Largest split R-hat of any parameter.
        bulk: Smallest effective sample size of any parameter.
        tail: Smallest effective sample size of any parameter's 5 % and 95 % quantile.
        divergences: Divergent transitions.
    """

    r_hat: float
    bulk: float
    tail: float
    divergences: int

    @property
    def reasons(self) -> tuple[str, ...]:
        """What is wrong; empty when nothing is."""
        found = []
        if not self.r_hat < 1.01:
            found.append(f"R-hat {self.r_hat:.3f} is not below 1.01")
        if not min(self.bulk, self.tail) > 400:
            found.append(f"effective sample size {min(self.bulk, self.tail):.0f} is not above 400")
        if self.divergences:
            found.append(f"{self.divergences} divergent transitions")
        return tuple(found)

    @property
    def passed(self) -> bool:
        """R-hat below 1.01, effective sample sizes above 400, no divergence."""
        return not self.reasons


@dataclass(frozen=True)
class Fit:
    """A fitted model.

    Attributes:
        responses: What it was fitted to.
        a: Posterior mean discrimination [I].
        a_sd: Its posterior standard deviation [I].
        a_mcse: Monte Carlo error of the mean [I]; NaN for a variational fit.
        b: Posterior mean thresholds [I, K - 1]; one, the difficulty, for binary items. NaN beyond an item's own.
        b_sd: [I, K - 1].
        b_mcse: [I, K - 1].
        theta: Posterior mean ability [R].
        theta_sd: [R].
        expected: Posterior mean of the expected score of each respondent on each item [R, I], in [0, 1].
        gate: Diagnostics; ``None`` for a variational fit, whose standard deviations are too small to report.
        sampler: Settings it was made with.
    """

    responses: Responses
    a: Floats
    a_sd: Floats
    a_mcse: Floats
    b: Floats
    b_sd: Floats
    b_mcse: Floats
    theta: Floats
    theta_sd: Floats
    expected: Floats
    gate: Gate | None
    sampler: Sampler

    def __repr__(self) -> str:
        how = "variational" if self.gate is None else "converged" if self.gate.passed else "NOT converged"
        return f"<item response fit of {self.responses!r}: {how}>"

    @property
    def difficulty(self) -> Floats:
        """One number an item [I]: the mean of its thresholds."""
        return np.asarray(np.nanmean(self.b, axis=1), dtype=np.float64)


def fit(responses: Responses, sampler: Sampler | None = None) -> Fit:
    """Sample the posterior by NUTS.

    Args:
        responses: Answers.
        sampler: Chains, draws, seed.

    Raises:
        UserError: When numpyro is not installed, or there are too few respondents or items.
    """
    sampler = sampler or Sampler()
    program = _program(responses, sampler.chains)
    import jax
    from numpyro.infer import MCMC, NUTS, init_to_median

    mcmc = MCMC(
        NUTS(program, init_strategy=init_to_median),
        num_warmup=sampler.warmup,
        num_samples=sampler.draws,
        num_chains=sampler.chains,
        chain_method="parallel" if jax.local_device_count() >= sampler.chains else "sequential",
        progress_bar=False,
    )
    mcmc.run(jax.random.PRNGKey(sampler.seed), *_arguments(responses), extra_fields=("diverging",))
    draws = {name: np.asarray(value, dtype=np.float64) for name, value in mcmc.get_samples(group_by_chain=True).items()}
    diverging = int(np.asarray(mcmc.get_extra_fields()["diverging"]).sum())
    return _summarised(responses, draws, sampler, diverging)


def screen(responses: Responses, seed: int = 0, steps: int = 3000, draws: int = 500) -> Fit:
    """A mean-field variational approximation: seconds, close in its means, too sure of itself.

    Means are within .05 (a) and .10 (b) of NUTS; 95 % intervals cover 70 to 80 %. For screening and resampling only.

    Args:
        responses: Answers.
        seed: Of the optimiser.
        steps: Of Adam, its rate falling from .02 to 0 as a cosine.
        draws: Draws behind the figures.

    Raises:
        UserError: As :func:`fit`.
    """
    program = _program(responses, 1)
    import jax
    from numpyro.infer import SVI, Trace_ELBO
    from numpyro.infer.autoguide import AutoNormal
    from numpyro.infer.initialization import init_to_median
    from numpyro.optim import Adam

    key, other = jax.random.split(jax.random.PRNGKey(seed))
    guide = AutoNormal(program, init_loc_fn=init_to_median)
    arguments = _arguments(responses)

    def rate(step: Any) -> Any:
        return 0.01 * (1 + jax.numpy.cos(jax.numpy.pi * step / steps))

    svi = SVI(program, guide, Adam(rate), Trace_ELBO())
    found = svi.run(key, steps, *arguments, progress_bar=False)
    drawn = guide.sample_posterior(other, found.params, *arguments, sample_shape=(draws,))
    grouped = {name: np.asarray(value, dtype=np.float64)[None] for name, value in drawn.items()}
    if "gaps" in grouped:
        first, gaps = grouped["first"][..., None], grouped["gaps"]
        grouped["b"] = np.concatenate([first, first + np.cumsum(gaps, axis=-1)], axis=-1)
    return _summarised(responses, grouped, Sampler(seed=seed), None)


def _program(responses: Responses, chains: int) -> Any:
    if find_spec("numpyro") is None:
        raise UserError(f"Item response models need numpyro. Run: {INSTALL}")
    import numpyro

    # Chains run side by side on as many host devices; too late, and harmless, once jax has started.
    numpyro.set_host_device_count(chains)
    from affectlab.stats.irt import models

    return models.two_parameter if responses.binary else models.graded


def _arguments(responses: Responses) -> tuple[Any, Any]:
    import jax.numpy as jnp

    return jnp.asarray(responses.counts, dtype=jnp.float32), jnp.asarray(responses.categories)


def _summarised(responses: Responses, draws: dict[str, Floats], sampler: Sampler, divergences: int | None) -> Fit:
    """Figures from draws [chain, draw, …]."""
    if responses.binary:
        draws["b"] = draws["b"][..., None]
    parameters = {name: draws[name] for name in ("theta", "a", "b")}
    used = np.arange(responses.counts.shape[2] - 1) < responses.categories[:, None] - 1
    gate = None if divergences is None else _gate(parameters, used, divergences)
    mean, sd = ({name: of(value, axis=(0, 1)) for name, value in parameters.items()} for of in (np.mean, np.std))
    error = {
        name: sd[name] / np.sqrt(_effective(parameters[name])) if gate else np.full_like(sd[name], np.nan)
        for name in ("a", "b")
    }
    hidden = np.where(used, 1.0, np.nan)
    return Fit(
        responses,
        mean["a"],
        sd["a"],
        error["a"],
        mean["b"] * hidden,
        sd["b"] * hidden,
        error["b"] * hidden,
        mean["theta"],
        sd["theta"],
        _expected(parameters, used),
        gate,
        sampler,
    )


def _expected(parameters: dict[str, Floats], used: NDArray[np.bool_], most: int = 400) -> Floats:
    """Expected score in [0, 1], averaged over draws: the sum of P(Y ≥ k) over an item's thresholds, as a share."""
    from scipy.special import expit

    theta, a, b = (parameters[name].reshape(-1, *parameters[name].shape[2:]) for name in ("theta", "a", "b"))
    step = max(1, len(theta) // most)
    total = np.zeros((theta.shape[1], a.shape[1]))
    taken = range(0, len(theta), step)
    for draw in taken:
        reach = expit(a[draw][:, None] * (theta[draw][:, None, None] - b[draw]))
        total += (reach * used).sum(axis=-1) / used.sum(axis=-1)
    return total / len(taken)


def _effective(draws: Floats) -> Floats:
    """Effective sample size of draws [chain, draw, …]; as many as there are draws where nothing varies."""
    from numpyro.diagnostics import effective_sample_size

    constant = np.ptp(draws, axis=(0, 1)) == 0
    with np.errstate(invalid="ignore", divide="ignore"):
        found = np.asarray(effective_sample_size(draws), dtype=np.float64)
    return np.where(constant, draws.shape[0] * draws.shape[1], found)


def _gate(parameters: dict[str, Floats], used: NDArray[np.bool_], divergences: int) -> Gate:
    from numpyro.diagnostics import split_gelman_rubin

    columns = {**parameters, "b": parameters["b"][:, :, used]}
    worst, bulk, tail = 1.0, np.inf, np.inf
    for draws in columns.values():
        worst = max(worst, float(np.max(split_gelman_rubin(draws))))
        bulk = min(bulk, float(_effective(draws).min()))
        for level in (0.05, 0.95):
            below = (draws <= np.quantile(draws, level, axis=(0, 1))).astype(np.float64)
            tail = min(tail, float(_effective(below).min()))
    return Gate(worst, bulk, tail, divergences)
