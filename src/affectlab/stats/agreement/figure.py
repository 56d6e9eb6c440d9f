"""A coefficient of agreement as a statistic of totals over units, and its estimate with an interval by unit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from affectlab.stats.bootstrap import (
    Interval,
    bootstrap_chunks,
    patterns,
    percentile_interval,
    rounding,
    wilson_of_clusters,
)
from affectlab.stats.estimate import Estimate, Unit
from affectlab.stats.measures import Statistic, Totals

NO_UNITS: Final = "no_units"
ONE_ANNOTATOR: Final = "one_annotator"
SINGLE_CATEGORY: Final = "single_category"
NO_EXPECTED_DISAGREEMENT: Final = "no_expected_disagreement"
NO_PAIRS: Final = "no_pairs"
NO_VARIANCE: Final = "no_variance"
INCOMPLETE: Final = "incomplete"
TOO_MANY: Final = "too_many_annotators"

REASONS: Final = {
    NO_UNITS: "no unit has answers of two annotators",
    ONE_ANNOTATOR: "one annotator only",
    SINGLE_CATEGORY: "only one value was used, so chance alone would agree as well",
    NO_EXPECTED_DISAGREEMENT: "chance alone would never disagree",
    NO_PAIRS: "no pair of annotators has enough units in common and a defined kappa",
    NO_VARIANCE: "all units are rated alike",
    INCOMPLETE: "no unit has an answer of every annotator; ICC(1) takes such data",
    TOO_MANY: "annotators are too many to compare in pairs; alpha takes any number",
}
"""Why a coefficient is undefined: ``Estimate.reason`` -> the same in words."""

ONE_SIDE: Final = "bootstrap replicates lie to one side of the figure: no interval holds it"
"""Why a coefficient has a value and no interval."""


@dataclass(frozen=True, eq=False)
class Figure:
    """A coefficient, before it is estimated.

    Attributes:
        name: Id.
        unit: Code of the unit of each event [E]; units without an event take no part.
        event: Code of each event [E], in [0, ``n_events``).
        weight: What each adds to its total [E].
        n_events: Number of different events, K.
        statistic: From totals [B, K] to the coefficient [B]; NaN where undefined.
        n: Answers it rests on.
        undefined: The reason (a key of :data:`REASONS`) when it is NaN on the data as they are.
        counts: What the figure counts, for reports.
    """

    name: str
    unit: NDArray[np.int64]
    event: NDArray[np.int64]
    weight: NDArray[np.float64]
    n_events: int
    statistic: Statistic
    n: int
    undefined: str
    counts: Unit = "number"

    def totals(self) -> Totals:
        """Totals of the events on the data as they are, [1, K]; the order of rows makes no difference."""
        order = np.lexsort((self.weight, self.event))
        sums = np.bincount(self.event[order], weights=self.weight[order], minlength=self.n_events)
        return np.asarray(sums, dtype=np.float64)[None, :]


def estimate(figure: Figure, how: Interval | None = None) -> Estimate:
    """A coefficient, with a percentile interval of the bootstrap over units unless ``how`` is ``None``.

    Replicates in which it is undefined are left out and counted in ``method``. A share that is the same in every unit
    gets Wilson's interval on the units instead. An interval that would not hold the value is none: at the edge of what
    a coefficient can be, all resamples lie to one side of it.
    """
    units, codes = np.unique(figure.unit, return_inverse=True)
    value = float(figure.statistic(figure.totals())[0]) if len(units) else np.nan
    shell = Estimate(figure.name, None, n=figure.n, clusters=len(units), reason=figure.undefined, unit=figure.counts)
    if np.isnan(value):
        return shell
    if how is None:
        return replace(shell, value=value, reason="")
    grouped = patterns(codes, figure.event, figure.n_events, len(units), figure.weight)
    width = max(len(grouped.multiplicity), figure.n_events)
    found = [figure.statistic(totals) for totals in bootstrap_chunks(grouped, how.replicates, how.seed, width)]
    made = percentile_interval(figure.name, value, np.concatenate(found), figure.n, len(units), how)
    if figure.counts == "share" and len(units) > 1 and value in (0.0, 1.0):
        made = wilson_of_clusters(figure.name, value, figure.n, len(units), how.level)
    if made.low is not None and made.high is not None and not _holds(made.low, value, made.high):
        return replace(shell, value=value, reason=ONE_SIDE)
    return replace(made, unit=figure.counts, method=made.method.replace("cluster bootstrap", "bootstrap over units"))


def _holds(low: float, value: float, high: float) -> bool:
    return low - rounding(abs(value)) <= value <= high + rounding(abs(value))


def ratio(above: NDArray[np.float64], below: NDArray[np.float64]) -> NDArray[np.float64]:
    """Quotients, NaN where the divisor is 0."""
    found: NDArray[np.float64] = np.full(np.broadcast(above, below).shape, np.nan)
    np.divide(above, below, out=found, where=below > 0)
    return found


def events(*blocks: tuple[NDArray[Any], NDArray[Any] | int, NDArray[Any] | float]) -> dict[str, Any]:
    """Blocks of (unit, event, weight) joined; a single event or weight stands for all of its block."""
    unit = np.concatenate([block[0] for block in blocks])
    event = np.concatenate([np.broadcast_to(np.asarray(block[1]), block[0].shape) for block in blocks])
    weight = np.concatenate([np.broadcast_to(np.asarray(block[2], np.float64), block[0].shape) for block in blocks])
    return {"unit": unit.astype(np.int64), "event": event.astype(np.int64), "weight": weight}
