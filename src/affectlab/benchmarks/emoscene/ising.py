"""A prior over all 256 combinations of the eight emotions, and the exact posterior of a scenario.

The prior is the pairwise Ising model, P(e) ∝ exp(Σ h_k e_k + Σ_{j<k} J_jk e_j e_k) over e in {0, 1}^8: of all
distributions with given shares of emotions and of pairs, the one of highest entropy. With eight emotions every sum runs
over all 256 states, so nothing is approximated.

Reference: Wainwright and Jordan (2008), Graphical Models, Exponential Families, and Variational Inference, section 3.1.
The paper (arXiv 2604.00819) names the idea; its equations are in no text we have: this is ours, not a replication.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

L = 8
FEWEST = 20
"""Independent scenarios with gold below which nothing is fitted."""
STATES = ((np.arange(2**L)[:, None] >> np.arange(L)[::-1]) & 1).astype(np.float64)
"""All combinations [256, 8]."""
J_OF, K_OF = np.triu_indices(L, 1)
DESIGN = np.hstack([STATES, STATES[:, J_OF] * STATES[:, K_OF]])
"""Sufficient statistics of each combination [256, 36]: emotions, then pairs."""
_P = DESIGN.shape[1]
# Products of two statistics are products of at most four emotions, of which there are 162 and not 36 * 36.
_PRODUCTS, _WHICH = np.unique(
    (DESIGN[:, :, None] * DESIGN[:, None, :]).reshape(len(DESIGN), -1), axis=1, return_inverse=True
)
_EVEN = np.r_[np.full(L, 0.5), np.full(_P - L, 0.25)]

Floats = NDArray[np.float64]


def logit(share: Floats) -> Floats:
    """Log-odds of shares in (0, 1)."""
    return np.asarray(np.log(share) - np.log1p(-share), dtype=np.float64)


def sigmoid(odds: Floats) -> Floats:
    """The logistic function, without overflow."""
    return np.asarray(0.5 * (1 + np.tanh(0.5 * odds)), dtype=np.float64)


@dataclass(frozen=True)
class Priors:
    """One prior, or several stacked: S of them.

    Attributes:
        parameters: Fields h, then couplings J of the pairs in order [S, 36].
        marginals: Share of each emotion [S, 8], in (0, 1).
    """

    parameters: Floats
    marginals: Floats

    @property
    def log_weights(self) -> Floats:
        """Unnormalised log-probability of each combination [S, 256]."""
        return np.asarray(self.parameters @ DESIGN.T, dtype=np.float64)

    def probabilities(self) -> Floats:
        """Probability of each combination [S, 256]."""
        return _normalised(self.log_weights)[0]


def prior_of(h: Floats, couplings: Floats) -> Priors:
    """A prior with given fields [8] and symmetric couplings [8, 8]."""
    parameters = np.r_[h, couplings[J_OF, K_OF]][None, :]
    return Priors(parameters, _normalised(parameters @ DESIGN.T)[0] @ STATES)


def fit_priors(labels: NDArray[np.bool_], weights: Floats, start: Floats | None = None) -> Priors:
    """Maximum of the penalised likelihood, for S weightings of the same scenarios at once.

    Half a pseudo-scenario with and half without each emotion keeps the marginals within (0, 1): they are exactly
    (n_k + ½) / (N + 1). Couplings have a standard normal prior, so that few scenarios give weak couplings.

    Args:
        labels: Emotions of each scenario [N, 8].
        weights: How often each counts [S, N].
        start: Parameters to start from [36].
    """
    states = labels.astype(np.float64)
    n = weights.sum(axis=1, keepdims=True) + 1
    target = (weights @ np.hstack([states, states[:, J_OF] * states[:, K_OF]]) + _EVEN) / n
    ridge = np.where(np.arange(_P) < L, 0.0, 1.0) / n
    theta = np.hstack([logit(target[:, :L]), np.zeros((len(n), _P - L))])
    if start is not None:
        theta = np.tile(start, (len(n), 1))
    value, gradient, mean, p = _objective(theta, target, ridge)
    for _ in range(100):
        # Each stops by itself, so that it depends on its own scenarios alone.
        moving = np.abs(gradient).max(axis=1) >= 1e-9
        if not moving.any():
            break
        hessian = (p @ _PRODUCTS)[:, _WHICH.ravel()].reshape(-1, _P, _P) - mean[:, :, None] * mean[:, None, :]
        hessian[:, np.arange(_P), np.arange(_P)] += ridge + 1e-12
        step = np.where(moving[:, None], np.linalg.solve(hessian, gradient[:, :, None])[:, :, 0], 0.0)
        gain = (step * gradient).sum(axis=1)
        size = np.ones(len(theta))
        for _ in range(30):  # a full Newton step may overshoot far from the optimum
            tried = theta - size[:, None] * step
            found = _objective(tried, target, ridge)
            worse = found[0] > value - 1e-4 * size * gain + 1e-13
            if not worse.any():
                break
            size = np.where(worse, size / 2, size)
        theta, (value, gradient, mean, p) = tried, found
    return Priors(theta, target[:, :L])


def _objective(theta: Floats, target: Floats, ridge: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    p, log_z = _normalised(theta @ DESIGN.T)
    mean = p @ DESIGN
    value = log_z - (theta * target).sum(axis=1) + 0.5 * (ridge * theta**2).sum(axis=1)
    return value, mean - target + ridge * theta, mean, p


def _normalised(log_weights: Floats) -> tuple[Floats, Floats]:
    top = log_weights.max(axis=-1, keepdims=True)
    weights = np.exp(log_weights - top)
    total = weights.sum(axis=-1, keepdims=True)
    return weights / total, (top + np.log(total))[..., 0]


def posterior(
    odds: Floats, log_weights: Floats, marginals: Floats, strength: float | Floats = 1.0
) -> tuple[Floats, Floats]:
    """Exact posterior of each scenario over all combinations.

    ``odds`` are posterior log-odds of each emotion by itself, which hold its marginal prior already. That is divided
    out before the joint prior comes in: otherwise marginals would count twice. The prior is mixed, in logarithms, from
    the independent one (``strength`` 0, giving back ``odds``) to the full one (1).

    Args:
        odds: Calibrated log-odds [N, 8].
        log_weights: Of the prior [256], or of each scenario's own [N, 256].
        marginals: Of the prior [8] or [N, 8]; of shares ½ when ``odds`` are likelihood ratios.
        strength: In [0, 1]; one, or each scenario's own [N, 1].

    Returns:
        Probability of each combination [N, 256] and of each emotion [N, 8].
    """
    evidence = odds - strength * logit(marginals)
    p, _ = _normalised(evidence @ STATES.T + strength * log_weights)
    return p, p @ STATES
