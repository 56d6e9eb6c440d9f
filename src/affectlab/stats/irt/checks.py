"""What is wrong with an item: does it misfit, does it tell respondents apart, are its thresholds apart?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from affectlab.stats.irt.fitting import Fit, Floats

GROUPS = 4
MOST_ERROR = 0.10
LEAST_DISCRIMINATION = 0.4


@dataclass(frozen=True, slots=True)
class ItemCheck:
    """One item, judged.

    Attributes:
        item: Its name.
        discrimination: Posterior mean.
        difficulty: Mean of its thresholds.
        error: Posterior predictive error: mean distance of observed from expected score over four groups of respondents
            by ability, in [0, 1].
        rest: Correlation of its score with the mean score on all other items; ``None`` when one is constant.
        ordered: Whether thresholds ascend.
        problems: Why not to keep it; empty for a good item.
    """

    item: str
    discrimination: float
    difficulty: float
    error: float
    rest: float | None
    ordered: bool
    problems: tuple[str, ...]


def check_items(
    fitted: Fit, most_error: float = MOST_ERROR, least_discrimination: float = LEAST_DISCRIMINATION
) -> tuple[ItemCheck, ...]:
    """Judge every item.

    The prior keeps discriminations above 0: an item that runs against the others shows as a low one and by its
    correlation with the rest.

    Args:
        fitted: By ``fit`` or ``screen``.
        most_error: Largest posterior predictive error of a good item.
        least_discrimination: Smallest discrimination of a good item.
    """
    observed = fitted.responses.scores
    groups = _groups(fitted.theta)
    found = []
    for place, item in enumerate(fitted.responses.items):
        thresholds = fitted.b[place][~np.isnan(fitted.b[place])]
        error = _error(observed[:, place], fitted.expected[:, place], groups)
        rest = _rest(observed, place)
        ordered = bool((np.diff(thresholds) > 0).all())
        problems = []
        if error > most_error:
            problems.append(f"misfits (error {error:.2f})")
        if rest is None:
            problems.append("everyone answers alike")
        elif rest < 0:
            problems.append(f"runs against the other items (correlation {rest:.2f})")
        if fitted.a[place] < least_discrimination:
            problems.append(f"hardly tells respondents apart (discrimination {fitted.a[place]:.2f})")
        if not ordered:
            problems.append("thresholds are not in order")
        found.append(
            ItemCheck(
                item,
                float(fitted.a[place]),
                float(fitted.difficulty[place]),
                error,
                rest,
                ordered,
                tuple(problems),
            )
        )
    return tuple(found)


def predictive_error(fitted: Fit) -> float:
    """Mean over items of the posterior predictive error."""
    groups = _groups(fitted.theta)
    observed = fitted.responses.scores
    return float(np.mean([_error(o, e, groups) for o, e in zip(observed.T, fitted.expected.T, strict=True)]))


def _groups(theta: Floats) -> NDArray[np.int64]:
    """Group of each respondent by ability, equally large ones."""
    ranks = np.argsort(np.argsort(theta, kind="stable"), kind="stable")
    return np.asarray(ranks * min(GROUPS, len(theta)) // len(theta), dtype=np.int64)


def _error(observed: Floats, expected: Floats, groups: NDArray[np.int64]) -> float:
    present = ~np.isnan(observed)
    apart = [
        abs(float(observed[here].mean() - expected[here].mean()))
        for group in range(int(groups.max()) + 1)
        if (here := present & (groups == group)).any()
    ]
    return float(np.mean(apart))


def _rest(observed: Floats, place: int) -> float | None:
    others = np.delete(observed, place, axis=1)
    number = (~np.isnan(others)).sum(axis=1)
    rest = np.where(number > 0, np.nansum(others, axis=1) / np.maximum(number, 1), np.nan)
    both = ~np.isnan(observed[:, place]) & ~np.isnan(rest)
    x, y = observed[both, place], rest[both]
    if len(x) < 3 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return None
    return float(np.corrcoef(x, y)[0, 1])
