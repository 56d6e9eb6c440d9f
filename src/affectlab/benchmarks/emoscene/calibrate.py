"""From a model's log-odds to calibrated ones, and the threshold that suits F1."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from affectlab.benchmarks.emoscene.ising import Floats, logit, sigmoid


def platt(
    odds: Floats, labels: NDArray[np.bool_], weights: Floats, start: tuple[Floats, Floats] | None = None
) -> tuple[Floats, Floats]:
    """Slope and intercept of calibrated log-odds a · odds + c for each emotion, for S weightings at once.

    Logistic regression with the slope drawn to 1 (unit normal prior) and one pseudo-scenario at the mean evidence, half
    with the emotion and half without, so that both stay finite. A negative slope (more yes where the emotion is
    rarer) is set to 0: such evidence says nothing.

    Args:
        odds: Evidence [N, 8]; NaN where there is none.
        labels: Emotions of each scenario [N, 8].
        weights: How often each counts [S, N].
        start: Slopes and intercepts to start from, [8] each.

    Returns:
        Slopes and intercepts, [S, 8] each.

    Reference: Platt (1999), Probabilistic outputs for support vector machines.
    """
    seen = ~np.isnan(odds)
    middle = np.where(seen.any(axis=0), np.where(seen, odds, 0).sum(axis=0) / np.maximum(seen.sum(axis=0), 1), 0.0)
    x = np.vstack([np.where(seen, odds, 0.0), middle])
    y = np.vstack([labels.astype(np.float64), np.full(odds.shape[1], 0.5)])
    counts = np.hstack([weights, np.ones((len(weights), 1))])[:, :, None] * np.vstack([seen, np.ones_like(middle)])
    rate = np.clip((counts * y).sum(axis=1) / counts.sum(axis=1), 1e-12, 1 - 1e-12)
    slope, intercept = np.ones_like(rate), logit(rate) - middle
    if start is not None:
        slope, intercept = (np.tile(values, (len(weights), 1)) for values in start)
    value = _loss(slope, intercept, x, y, counts)
    for _ in range(60):
        p = sigmoid(slope[:, None] * x + intercept[:, None])
        error, spread = counts * (p - y), counts * p * (1 - p) + 1e-12
        g_slope, g_intercept = (error * x).sum(axis=1) + (slope - 1), error.sum(axis=1)
        h_ss, h_si, h_ii = (spread * x * x).sum(axis=1) + 1, (spread * x).sum(axis=1), spread.sum(axis=1)
        det = h_ss * h_ii - h_si**2
        d_slope = (h_ii * g_slope - h_si * g_intercept) / det
        d_intercept = (h_ss * g_intercept - h_si * g_slope) / det
        moving = np.maximum(np.abs(d_slope), np.abs(d_intercept)) >= 1e-7
        if not moving.any():
            break
        d_slope, d_intercept = np.where(moving, d_slope, 0.0), np.where(moving, d_intercept, 0.0)
        size = np.ones_like(slope)
        for _ in range(30):
            tried = _loss(slope - size * d_slope, intercept - size * d_intercept, x, y, counts)
            worse = tried > value + 1e-12
            if not worse.any():
                break
            size = np.where(worse, size / 2, size)
        slope, intercept, value = slope - size * d_slope, intercept - size * d_intercept, tried
    useless = slope < 0
    return np.where(useless, 0.0, slope), np.where(useless, logit(rate), intercept)


def _loss(slope: Floats, intercept: Floats, x: Floats, y: Floats, counts: Floats) -> Floats:
    z = slope[:, None] * x + intercept[:, None]
    return np.asarray((counts * (np.logaddexp(0, z) - y * z)).sum(axis=1) + 0.5 * (slope - 1) ** 2, dtype=np.float64)


def best_thresholds(p: Floats, labels: NDArray[np.bool_], weights: Floats) -> Floats:
    """For each emotion the threshold of its probability with the highest F1 [8].

    Midway between two neighbouring probabilities; of equally good ones the highest. ½ for an emotion without any
    example.

    Args:
        p: Probabilities [N, 8].
        labels: Emotions of each scenario [N, 8].
        weights: How often each counts [N].
    """
    kept = weights > 0
    order = np.argsort(-p[kept], axis=0, kind="stable")
    columns = np.arange(p.shape[1])
    sorted_p = p[kept][order, columns]
    counts = weights[kept][order]
    hit = np.cumsum(counts * labels[kept][order, columns], axis=0)
    f1 = 2 * hit / np.maximum(np.cumsum(counts, axis=0) + hit[-1], 1e-12)
    below = np.vstack([sorted_p[1:], np.zeros(p.shape[1])])
    best = np.argmax(np.where(sorted_p == below, -1.0, f1), axis=0)  # no threshold lies between equal probabilities
    middle = (sorted_p[best, columns] + below[best, columns]) / 2
    return np.where(hit[-1] > 0, middle, 0.5)
