"""Agreement of any number of annotators with chance taken from all of them together: Fleiss' kappa, Gwet's AC1.

Beside them stand the two figures that take no account of chance: percent agreement and the share of units with a
majority. A unit may have any number of answers.

Reference: Fleiss (1971), Psychological Bulletin 76, 378-382; Gwet (2008), British Journal of Mathematical and
Statistical Psychology 61, 29-48, for AC1; Gwet (2014), Handbook of Inter-Rater Reliability, chapter 2, for units with
unequal numbers of answers: agreement is over units with two or more, shares of values over all units.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from affectlab.stats.agreement.alpha import why_undefined
from affectlab.stats.agreement.figure import Figure, estimate, events, ratio
from affectlab.stats.agreement.ratings import Ratings
from affectlab.stats.bootstrap import Interval
from affectlab.stats.estimate import Estimate
from affectlab.stats.measures import Totals


def percent_agreement(data: Ratings, how: Interval | None = None) -> Estimate:
    """Share of pairs of annotators who agree on a unit, averaged over units with two answers or more, in [0, 1]."""
    unit, agreed = _agreed(data)
    return estimate(_share("percent_agreement", data, unit, agreed), how)


def majority_agreement(data: Ratings, how: Interval | None = None) -> Estimate:
    """Share of units with two answers or more on which more than half say the same, in [0, 1]. A tie is no majority."""
    unit, _, count = data.counts()
    most = np.zeros(len(data.units), dtype=np.int64)
    np.maximum.at(most, unit, count)
    units = np.flatnonzero(data.sizes > 1)
    return estimate(_share("majority_agreement", data, units, (2 * most > data.sizes)[units].astype(np.float64)), how)


def fleiss_kappa(data: Ratings, how: Interval | None = None) -> Estimate:
    """Fleiss' kappa, in at most 1. Undefined (``single_category``) when only one value was used."""

    def statistic(agreed: NDArray[np.float64], share: NDArray[np.float64]) -> NDArray[np.float64]:
        chance = np.square(share).sum(axis=1)
        return ratio(agreed - chance, _left(chance))

    return estimate(_figure("fleiss_kappa", data, statistic), how)


def gwet_ac1(data: Ratings, how: Interval | None = None) -> Estimate:
    """Gwet's AC1, in at most 1: steady where one value is far more common than the others.

    Chance is computed from the number of values: those declared, used or not; those that occur when none were declared.
    """
    size = len(data.values)

    def statistic(agreed: NDArray[np.float64], share: NDArray[np.float64]) -> NDArray[np.float64]:
        if size < 2:
            return np.full(len(agreed), np.nan)
        chance = (share * (1 - share)).sum(axis=1) / (size - 1)
        return ratio(agreed - chance, 1 - chance)

    return estimate(_figure("gwet_ac1", data, statistic), how)


def fleiss_by_category(data: Ratings, how: Interval | None = None) -> dict[str, Estimate]:
    """Fleiss' kappa of each value against all others together; values nobody used are undefined."""
    return {name: fleiss_kappa(one, how) for name, one in against_rest(data).items()}


def against_rest(data: Ratings) -> dict[str, Ratings]:
    """For each value, the answers as that value (1) or another one (0)."""
    return {
        str(value): Ratings(
            data.unit,
            data.rater,
            (data.code == code).astype(np.int64),
            data.units,
            data.raters,
            (0.0, 1.0),
            ordered=True,
            missing=data.missing,
        )
        for code, value in enumerate(data.values)
    }


def _left(chance: NDArray[np.float64]) -> NDArray[np.float64]:
    """What chance leaves to agree on; shares of one value alone may sum to 1 but for rounding."""
    left = 1 - chance
    return np.where(left > 1e-12, left, 0.0)


def _agreed(data: Ratings) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Units with two answers or more, and the share of pairs of answers to each that agree."""
    unit, _, count = data.counts()
    pairs = np.bincount(unit, weights=count * (count - 1), minlength=len(data.units))
    units = np.flatnonzero(data.sizes > 1)
    return units, pairs[units] / (data.sizes[units] * (data.sizes[units] - 1))


def _share(name: str, data: Ratings, unit: NDArray[np.int64], value: NDArray[np.float64]) -> Figure:
    """A mean over units; events: units, and their value."""
    return Figure(
        name,
        **events((unit, 0, 1.0), (unit, 1, value)),
        n_events=2,
        statistic=lambda totals: np.clip(ratio(totals[:, 1], totals[:, 0]), 0, 1),
        n=int(data.paired.sum()),
        undefined=why_undefined(data),
        counts="share",
    )


def _figure(name: str, data: Ratings, chance_corrected: Any) -> Figure:
    """Events: units with two answers or more, their agreement, all units, and the share of each value in each.

    A unit with a single answer has no agreement, but tells how common its value is: its answer counts in ``n``, and the
    unit among the clusters.
    """
    paired, agreed = _agreed(data)
    unit, code, count = data.counts()
    every = np.unique(data.unit)

    def statistic(totals: Totals) -> NDArray[np.float64]:
        share = ratio(totals[:, 3:], totals[:, 2:3])
        found: NDArray[np.float64] = chance_corrected(ratio(totals[:, 1], totals[:, 0]), share)
        return found

    return Figure(
        name,
        **events((paired, 0, 1.0), (paired, 1, agreed), (every, 2, 1.0), (unit, 3 + code, count / data.sizes[unit])),
        n_events=3 + len(data.values),
        statistic=statistic,
        n=len(data),
        undefined=why_undefined(data),
    )
