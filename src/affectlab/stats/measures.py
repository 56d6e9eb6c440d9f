"""What figures are computed from: events counted by cluster, and statistics of their totals.

Nearly every figure of the field is a function of additive totals: macro-F1 of a confusion matrix, accuracy of
numbers right and asked, RMSE of a sum of squared errors and a count. Written that way, a figure can be resampled,
permuted and compared without ever touching the predictions again. An event counts 1, or its weight where what is
summed is continuous: a squared error, a Brier score, a ROUGE.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Totals: TypeAlias = NDArray[np.float64]
"""Totals of the events, [replicates, events]."""

Statistic: TypeAlias = Callable[[Totals], NDArray[np.float64]]
"""From totals [B, K] to one value per replicate [B]; NaN where the statistic is undefined."""


@dataclass(frozen=True)
class Over:
    """A statistic of some of the events only.

    Naming the events tells how many predictions and clusters the figure rests on.

    Attributes:
        events: Event codes [E]; ``function`` sees their totals [B, E] in this order.
        function: The statistic of these totals.
        counted: Codes of the events whose number, weights aside, is the figure's n; all of ``events`` when
            ``None``. They need not be among ``events``: F1 of label sets looks at hits, false alarms and misses, and
            rests on as many predictions as there are sets.
        resampled: What takes the place of ``function`` on resampled totals; it sees the observed totals [1, E] first. A
            mean over labels leaves out a label that a resample happened not to draw, where ``function`` must count a
            label without gold as 0.
        where_both: Whether two sides are compared on the clusters in which both have counted events: for a mean of a
            score that some clusters have none of (a correlation within a story where the answers do not vary), so that
            sides are never means over other clusters.
        every_cluster: Whether the figure rests on all declared clusters, those without any of ``events`` included:
            an empty label set rightly answered has neither hit nor false alarm nor miss. Otherwise it rests on the
            clusters with at least one of ``events``.
    """

    events: NDArray[np.intp]
    function: Statistic
    counted: NDArray[np.intp] | None = None
    every_cluster: bool = False
    resampled: Callable[[Totals, Totals], NDArray[np.float64]] | None = None
    where_both: bool = False

    def __call__(self, totals: Totals) -> NDArray[np.float64]:
        """The statistic of totals [B, K], as [B]."""
        return self.function(totals[:, self.events])


def on_resampled(statistic: Statistic, observed: Totals, totals: Totals) -> NDArray[np.float64]:
    """A statistic of resampled totals [B, K], given the observed ones [1, K], as [B]."""
    if isinstance(statistic, Over) and statistic.resampled is not None:
        return statistic.resampled(observed[:, statistic.events], totals[:, statistic.events])
    return statistic(totals)


@dataclass(frozen=True)
class Share:
    """A proportion: total of some events over the total of all that could have been one of them.

    Attributes:
        hits: Event codes counted as success, a subset of ``events``.
        events: Event codes counted as trials.
    """

    hits: NDArray[np.intp]
    events: NDArray[np.intp]

    def __post_init__(self) -> None:
        if not np.isin(self.hits, self.events).all():
            raise ValueError("hits of a share must be among its events")

    def __call__(self, totals: Totals) -> NDArray[np.float64]:
        """The share at totals [B, K], as [B] in [0, 1]; NaN where nothing was counted."""
        trials = totals[:, self.events].sum(axis=1)
        hits = totals[:, self.hits].sum(axis=1)
        share = np.full(len(trials), np.nan)
        np.divide(hits, trials, out=share, where=trials > 0)
        # Sums of the same weights in another order may differ in the last digit.
        return np.asarray(np.clip(share, 0.0, 1.0), dtype=np.float64)


@dataclass(frozen=True)
class Measures:
    """Events of one run by cluster, and the statistics of their totals.

    Attributes:
        cluster: Cluster code of each counted event [N], an index into ``clusters``.
        event: Event code of each [N], in [0, ``n_events``): a cell of a confusion matrix, say. One prediction
            may count in several events: concatenate.
        clusters: Distinct names of all clusters that were asked, with events or without. Intervals resample them
            all, and two runs are paired by them.
        n_events: Number of different events, K.
        statistics: Name -> statistic of the totals [B, K].
        correct: Unit (item) -> whether it is right as a whole, for McNemar's test. May be empty.
        units_independent: Whether no two units of ``correct`` lie in one cluster. Unless stated, McNemar's test gives
            counts and no p-value: repeats and option orders of one item would manufacture significance.
        headline: Name of the statistic a paper would quote.
        leaving_out: Names of statistics that an answer which could not be read is in no part of (a mean of ratings, a
            precision), where the others count it, as wrong or at all. Two sides are compared by them on the answers
            that both read.
        weight: What each event adds to its total [N], finite; 1 each when ``None``. Negative only outside the events
            of a :class:`Share`.

    Raises:
        ValueError: When codes or weights are out of range, lengths differ, or the headline is no statistic.
    """

    cluster: NDArray[np.int32]
    event: NDArray[np.int32]
    clusters: tuple[str, ...]
    n_events: int
    statistics: Mapping[str, Statistic]
    correct: Mapping[str, bool]
    headline: str
    weight: NDArray[np.float64] | None = None
    units_independent: bool = False
    leaving_out: frozenset[str] = frozenset()

    def __repr__(self) -> str:
        counts = f"{len(self.event)} events in {len(self.clusters)} clusters, {len(self.statistics)} statistics"
        return f"<measures: {counts}, {self.headline} first>"

    def __post_init__(self) -> None:
        if self.cluster.shape != self.event.shape or self.cluster.ndim != 1:
            raise ValueError(f"cluster {self.cluster.shape} and event {self.event.shape} must be equally long vectors")
        for name, codes, size in (
            ("cluster", self.cluster, len(self.clusters)),
            ("event", self.event, self.n_events),
        ):
            if len(codes) and not (codes.min() >= 0 and codes.max() < size):
                raise ValueError(f"{name} codes must lie in [0, {size}), found {codes.min()} to {codes.max()}")
        if self.headline not in self.statistics:
            raise ValueError(f"headline {self.headline!r} is not among the statistics {sorted(self.statistics)}")
        if unknown := self.leaving_out - self.statistics.keys():
            raise ValueError(f"leaving_out names {sorted(unknown)}, which are no statistics")
        if self.weight is not None:
            self._check_weights(self.weight)

    def _check_weights(self, weight: NDArray[np.float64]) -> None:
        if weight.shape != self.event.shape:
            raise ValueError(f"weight {weight.shape} and event {self.event.shape} must be equally long vectors")
        if not np.isfinite(weight).all():
            raise ValueError("weights must be finite; leave what is missing out")
        negative = np.unique(self.event[weight < 0])
        for name, statistic in self.statistics.items():
            if isinstance(statistic, Share) and np.isin(negative, statistic.events).any():
                raise ValueError(f"events of the share {name!r} must not have negative weights")

    def totals(self) -> Totals:
        """Totals of all events on the data as they are, [1, K]; the order of rows makes no difference."""
        if self.weight is None:
            return np.bincount(self.event, minlength=self.n_events).astype(np.float64)[None, :]
        # Floating-point sums depend on the order of their terms.
        order = np.lexsort((self.weight, self.event))
        sums = np.bincount(self.event[order], weights=self.weight[order], minlength=self.n_events)
        return sums.astype(np.float64)[None, :]

    def value(self, name: str) -> float | None:
        """A statistic on the data as they are; ``None`` when undefined."""
        value = float(self.statistics[name](self.totals())[0])
        return None if np.isnan(value) else value
