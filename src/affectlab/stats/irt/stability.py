"""Do an item's parameters stay: over seeds of the sampler, and over other respondents?

Converged chains of two seeds differ by Monte Carlo error alone, which says nothing of the item; more than that says
that the sampler has not converged. What a retained item needs is to stay when other models answer: respondents are
resampled and the model is fitted again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from affectlab.stats.irt.fitting import Fit, Floats, Sampler, fit, screen
from affectlab.stats.irt.responses import Responses


@dataclass(frozen=True)
class SeedStability:
    """How far parameters move between seeds.

    Attributes:
        fits: One a seed.
        delta_a: Largest difference of each item's discrimination between two seeds [I].
        delta_b: Largest difference of any of its thresholds [I].
        a_over_mcse: ``delta_a`` in Monte Carlo errors of a difference [I]; about 1 to 3 when converged.
        b_over_mcse: The same for thresholds [I].
        a_over_sd: ``delta_a`` in posterior standard deviations [I].
        b_over_sd: The same for thresholds [I].
    """

    fits: tuple[Fit, ...]
    delta_a: Floats
    delta_b: Floats
    a_over_mcse: Floats
    b_over_mcse: Floats
    a_over_sd: Floats
    b_over_sd: Floats

    def __repr__(self) -> str:
        return f"<{len(self.fits)} seeds: max Δa {self.delta_a.max():.3f}, max Δb {self.delta_b.max():.3f}>"


def seed_stability(
    responses: Responses, seeds: Sequence[int] = (0, 1, 2), sampler: Sampler | None = None
) -> SeedStability:
    """Fit with several seeds.

    Args:
        responses: Answers.
        seeds: Two at least.
        sampler: Chains and draws.
    """
    if len(set(seeds)) < 2:
        raise ValueError("stability over seeds needs two seeds at least")
    base = sampler or Sampler()
    fits = tuple(fit(responses, replace(base, seed=seed)) for seed in seeds)
    delta_a = np.ptp([one.a for one in fits], axis=0)
    moved_b = np.ptp([one.b for one in fits], axis=0)
    a_mcse, a_sd, b_mcse, b_sd = (
        np.mean([getattr(one, name) for one in fits], axis=0) for name in ("a_mcse", "a_sd", "b_mcse", "b_sd")
    )
    return SeedStability(
        fits,
        delta_a,
        np.nanmax(moved_b, axis=1),
        delta_a / (np.sqrt(2) * a_mcse),
        np.nanmax(moved_b / (np.sqrt(2) * b_mcse), axis=1),
        delta_a / a_sd,
        np.nanmax(moved_b / b_sd, axis=1),
    )


@dataclass(frozen=True)
class RespondentStability:
    """Spread of parameters over resampled respondents.

    Attributes:
        a: Standard deviation of each item's discrimination [I].
        b: Largest standard deviation of its thresholds [I].
        replicates: Samples of respondents.
    """

    a: Floats
    b: Floats
    replicates: int


def respondent_stability(
    responses: Responses, replicates: int = 20, seed: int = 0, steps: int = 3000
) -> RespondentStability:
    """Draw respondents with replacement and fit again, by the variational approximation.

    Args:
        responses: Answers.
        replicates: Samples, at least 2.
        seed: Of the draws.
        steps: Of each fit.
    """
    rng = np.random.default_rng(seed)
    n = len(responses.respondents)
    fits = [
        screen(responses.take_respondents(rng.integers(0, n, n)), seed=number, steps=steps)
        for number in range(replicates)
    ]
    spread_b = np.std([one.b for one in fits], axis=0, ddof=1)
    return RespondentStability(np.std([one.a for one in fits], axis=0, ddof=1), np.nanmax(spread_b, axis=1), replicates)
