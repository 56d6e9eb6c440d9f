"""Made-up worlds of emotions and of models that read them with noise."""

from __future__ import annotations

import numpy as np

from affectlab.benchmarks.emoscene.crossfit import Evidence, folds_of
from affectlab.benchmarks.emoscene.ising import STATES, Priors, prior_of

TOGETHER = ((0, 1), (0, 7), (1, 7), (2, 4), (2, 6), (4, 6), (5, 6), (2, 3))
APART = ((0, 4), (0, 6), (1, 6), (0, 5))


def prior(*, entangled: bool) -> Priors:
    """Eight emotions of about equal share, coupled as joy and trust, or not at all."""
    couplings = np.zeros((8, 8))
    for pairs, strength in ((TOGETHER, 1.5), (APART, -1.5)):
        for j, k in pairs:
            couplings[j, k] = couplings[k, j] = strength * entangled
    return prior_of(np.full(8, -1.2), couplings)


def evidence(n: int, seed: int, *, entangled: bool) -> Evidence:
    """Scenarios drawn from the prior, and a model whose log-odds are noisy and off by a constant for each emotion."""
    rng = np.random.default_rng(seed)
    states = STATES[rng.choice(256, size=n, p=prior(entangled=entangled).probabilities()[0])]
    odds = 2 * (states - 0.5) + 1.5 * rng.normal(size=states.shape) + rng.normal(0, 0.7, size=8)
    return Evidence(odds, states > 0.5, folds_of([f"s{number}" for number in range(n)]), np.arange(n))
