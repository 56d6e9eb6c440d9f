"""Joint inference without touching the labels of the scenario at hand.

Scenarios are dealt into five folds by cluster. What is fitted (calibration, prior, its strength, thresholds) is for
each fold fitted on the other four. Strength and thresholds are chosen there on predictions that were themselves
cross-fitted among the four, so that no label serves twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from affectlab.benchmarks.emoscene.calibrate import best_thresholds, platt
from affectlab.benchmarks.emoscene.ising import STATES, Floats, Priors, fit_priors, logit, posterior, sigmoid
from affectlab.metrics.classification import macro_resampled
from affectlab.metrics.multilabel import f1

FOLDS = 5
STRENGTHS = (0.0, 0.25, 0.5, 0.75, 1.0)
_SUBSETS = [*((fold,) for fold in range(FOLDS)), *combinations(range(FOLDS), 2)]
_PLACE = {frozenset(left_out): place for place, left_out in enumerate(_SUBSETS)}
_CELLS = 4_000_000
"""Numbers in one array of a batch of fits (32 MB)."""

Yes = NDArray[np.bool_]


@dataclass(frozen=True)
class Evidence:
    """What a model says of scenarios with known emotions.

    Attributes:
        odds: Log-odds of each emotion [N, 8]; NaN where the model says nothing.
        gold: Emotions that are there [N, 8].
        fold: Fold of each scenario [N].
        cluster: Code of its cluster [N].
    """

    odds: Floats
    gold: Yes
    fold: NDArray[np.int64]
    cluster: NDArray[np.int64]


@dataclass(frozen=True)
class Decisions:
    """What each way of deciding answers, all for scenarios that its fits have not seen.

    Attributes:
        yes: Way -> answers [N, 8]: ``raw_tuned``; ``independent`` and ``joint`` at probability ½ and, ``_tuned``, at
            thresholds for F1; ``joint_map``, the most probable combination.
        independent: Calibrated probabilities [N, 8].
        joint: Posterior probabilities [N, 8].
        strengths: Strength of the prior chosen for each fold.
    """

    yes: Mapping[str, Yes]
    independent: Floats
    joint: Floats
    strengths: tuple[float, ...]


def folds_of(clusters: Sequence[str], seed: int = 0) -> NDArray[np.int64]:
    """Fold of each cluster [G], equally many in each; a function of the clusters' names and the seed alone."""
    order = np.argsort(np.array(clusters, dtype=object), kind="stable")
    dealt = np.random.Generator(np.random.PCG64(seed)).permutation(len(clusters))
    fold = np.empty(len(clusters), dtype=np.int64)
    fold[order] = dealt % FOLDS
    return fold


def cross_fit(evidence: Evidence) -> Decisions:
    """Decide every scenario by what the other folds teach."""
    return next(_decide(evidence, np.ones((1, len(evidence.gold))), None))


def refitted(
    evidence: Evidence, strengths: tuple[float, ...], replicates: int, seed: int
) -> Iterator[tuple[Floats, Decisions]]:
    """The whole procedure again in bootstrap samples of clusters.

    A cluster stays in its fold, however often it is drawn, so no scenario is ever decided by itself. The strength of
    the prior is kept; calibration, prior and thresholds are fitted again.

    Yields:
        How often each scenario was drawn [N], and the decisions.
    """
    clusters = int(evidence.cluster.max()) + 1
    rng = np.random.Generator(np.random.PCG64([seed, 2]))
    counts = rng.multinomial(clusters, np.full(clusters, 1 / clusters), size=replicates).astype(np.float64)
    weights = counts[:, evidence.cluster]
    yield from zip(weights, _decide(evidence, weights, strengths), strict=True)


def _decide(evidence: Evidence, weights: Floats, strengths: tuple[float, ...] | None) -> Iterator[Decisions]:
    start: Floats | None = None
    line: tuple[Floats, Floats] | None = None
    if strengths is not None:  # the fits of a resample are near that of all scenarios, and need fewer steps from there
        everything = np.ones((1, len(evidence.gold)))
        start = fit_priors(evidence.gold, everything).parameters[0]
        slope, intercept = platt(evidence.odds, evidence.gold, everything)
        line = slope[0], intercept[0]
    kept = np.array([[fold not in left_out for fold in evidence.fold] for left_out in _SUBSETS], dtype=np.float64)
    step = max(1, _CELLS // (len(_SUBSETS) * evidence.odds.size))
    for first in range(0, len(weights), step):
        chunk = weights[first : first + step]
        training = (chunk[:, None, :] * kept).reshape(-1, kept.shape[1])
        priors = fit_priors(evidence.gold, training, start)
        slopes, intercepts = platt(evidence.odds, evidence.gold, training, line)
        for row, of_scenarios in enumerate(chunk):
            part = slice(row * len(_SUBSETS), (row + 1) * len(_SUBSETS))
            fitted = Priors(priors.parameters[part], priors.marginals[part])
            views = _Views.of(evidence, fitted, slopes[part], intercepts[part])
            chosen = views.strengths(evidence, of_scenarios) if strengths is None else strengths
            yield views.decide(evidence, of_scenarios, chosen)


@dataclass(frozen=True)
class _Views:
    """Every scenario as each fold sees it: by the fit that has seen neither the fold nor the scenario's own fold.

    Attributes:
        place: Number of that fit, by scenario and fold [N, 5].
        priors: Of all fits.
        odds: Calibrated log-odds, those of the marginals where the model says nothing [N, 5, 8].
    """

    place: NDArray[np.int64]
    priors: Priors
    odds: Floats

    @classmethod
    def of(cls, evidence: Evidence, priors: Priors, slopes: Floats, intercepts: Floats) -> _Views:
        pairs = [[_PLACE[frozenset((fold, own))] for fold in range(FOLDS)] for own in range(FOLDS)]
        place = np.array(pairs)[evidence.fold]
        raw = evidence.odds[:, None, :]
        odds = np.where(np.isnan(raw), logit(priors.marginals)[place], slopes[place] * raw + intercepts[place])
        return cls(place, priors, odds)

    def posterior(self, strengths: Floats) -> tuple[Floats, Floats]:
        """Probability of each combination and of each emotion [N * 5, …], with a strength for each fold [5]."""
        flat = self.place.ravel()
        each = np.tile(strengths, len(self.place))[:, None]
        odds = self.odds.reshape(len(flat), -1)
        return posterior(odds, self.priors.log_weights[flat], self.priors.marginals[flat], each)

    def strengths(self, evidence: Evidence, weights: Floats) -> tuple[float, ...]:
        """For each fold, the strength under which the other folds' emotions are most probable."""
        state = (evidence.gold @ (1 << np.arange(evidence.gold.shape[1])[::-1])).astype(np.int64)
        seen = weights[:, None] * (evidence.fold[:, None] != np.arange(FOLDS))
        scores = []
        for strength in STRENGTHS:
            p = self.posterior(np.full(FOLDS, strength))[0].reshape(len(state), FOLDS, -1)
            right = np.take_along_axis(p, state[:, None, None], axis=2)[:, :, 0]
            scores.append((seen * np.log(np.maximum(right, 1e-300))).sum(axis=0))
        return tuple(STRENGTHS[best] for best in np.argmax(scores, axis=0).tolist())

    def decide(self, evidence: Evidence, weights: Floats, strengths: tuple[float, ...]) -> Decisions:
        """Thresholds from what each fold sees of the others, applied to the fold."""
        n = len(evidence.gold)
        states, marginals = self.posterior(np.array(strengths))
        raw = sigmoid(np.where(np.isnan(evidence.odds), -np.inf, evidence.odds))
        seen = {
            "raw": np.repeat(raw[:, None, :], FOLDS, axis=1),
            "independent": sigmoid(self.odds),
            "joint": marginals.reshape(n, FOLDS, -1),
        }
        own = np.arange(n), evidence.fold
        yes = {}
        for name, p in seen.items():
            train = [evidence.fold != fold for fold in range(FOLDS)]
            tau = [
                best_thresholds(p[rows, fold], evidence.gold[rows], weights[rows]) for fold, rows in enumerate(train)
            ]
            yes[f"{name}_tuned"] = p[own] > np.array(tau)[evidence.fold]
        independent, joint = seen["independent"][own], seen["joint"][own]
        best = STATES[states.reshape(n, FOLDS, -1)[own].argmax(axis=1)]
        yes |= {"independent": independent > 0.5, "joint": joint > 0.5, "joint_map": best > 0.5}
        return Decisions(yes, independent, joint, strengths)


def figures(yes: Yes, gold: Yes, weights: Floats) -> dict[str, float]:
    """Macro-F1, exact match and Hamming loss of a resample in which scenario i occurs ``weights[i]`` times."""
    counts = np.stack([weights @ (gold & yes), weights @ (~gold & yes), weights @ (gold & ~yes)], axis=1)
    total = weights.sum()
    return {
        "macro_f1": float(macro_resampled(f1(counts), weights @ gold, gold.sum(axis=0))),
        "exact_match": float(weights @ (gold == yes).all(axis=1) / total),
        "hamming_loss": float(weights @ (gold != yes).mean(axis=1) / total),
    }
