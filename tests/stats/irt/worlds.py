"""Respondents and items whose parameters are known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from affectlab.stats.irt import Responses


@dataclass(frozen=True)
class World:
    theta: NDArray[np.float64]
    a: NDArray[np.float64]
    b: NDArray[np.float64]
    responses: Responses


def simulate(
    respondents: int, items: int, categories: int = 2, repeats: int = 1, seed: int = 0, bad: tuple[str, ...] = ()
) -> World:
    """Answers of simulated respondents; ``bad`` names what replaces the last items: reversed, noise, constant."""
    rng = np.random.default_rng(seed)
    theta = rng.standard_normal(respondents)
    a = np.exp(0.35 * rng.standard_normal(items))
    b = np.sort(rng.standard_normal((items, categories - 1)) * 1.2, axis=1)
    b[:, 1:] += 0.4 * np.arange(1, categories - 1)
    counts = np.zeros((respondents, items, categories))
    for item in range(items):
        reach = expit(a[item] * (theta[:, None] - b[item]))
        for place, kind in enumerate(bad):
            if item == items - len(bad) + place:
                reach = {
                    "reversed": expit(-1.5 * (theta[:, None] - b[item])),
                    "noise": np.full_like(reach, 0.5),
                    "constant": np.ones_like(reach),
                }[kind]
        for _ in range(repeats):
            answer = (rng.random((respondents, 1)) < reach).sum(axis=1)
            counts[np.arange(respondents), item, answer] += 1
    names = tuple(f"model {number}" for number in range(respondents))
    return World(
        theta,
        a,
        b,
        Responses.of_counts(counts, names, tuple(f"item {n}" for n in range(items)), np.full(items, categories)),
    )
