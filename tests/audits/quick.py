"""Item response fits that are quick because they are not made."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from affectlab.audits import items as module
from affectlab.stats.irt import Fit, Gate, ItemCheck, Responses, Sampler
from affectlab.stats.irt.stability import RespondentStability, SeedStability


def made(responses: Responses, gate: Gate | None) -> Fit:
    n, k = len(responses.items), responses.counts.shape[2] - 1
    one, many = np.linspace(1, 2, n), np.zeros((n, k))
    theta = np.linspace(-1, 1, len(responses.respondents))
    expected = np.nan_to_num(responses.scores)
    return Fit(
        responses,
        one,
        one / 10,
        one / 100,
        many,
        many + 0.1,
        many + 0.01,
        theta,
        theta * 0 + 0.5,
        expected,
        gate,
        Sampler(),
    )


def fit_quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every item is good, and no fit takes time."""

    def seeds(responses: Responses, given: Sequence[int], sampler: Sampler | None) -> SeedStability:
        found = made(responses, Gate(1.05, 900, 900, 0))
        zero = np.zeros(len(responses.items))
        return SeedStability((found, found), zero + 0.02, zero + 0.03, zero + 1, zero + 1, zero + 0.1, zero + 0.1)

    monkeypatch.setattr(module, "screen", lambda responses, seed: made(responses, None))
    monkeypatch.setattr(module, "seed_stability", seeds)
    monkeypatch.setattr(
        module,
        "check_items",
        lambda fitted: tuple(
            ItemCheck(item, 1.0, 0.0, 0.02, 0.5, ordered=True, problems=()) for item in fitted.responses.items
        ),
    )
    monkeypatch.setattr(
        module,
        "respondent_stability",
        lambda responses, replicates, seed: RespondentStability(
            np.zeros(len(responses.items)), np.zeros(len(responses.items)), replicates
        ),
    )
