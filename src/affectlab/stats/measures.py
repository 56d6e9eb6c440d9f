"""What figures are computed from: events counted by cluster, and statistics of their totals.

Nearly every figure of the field is a function of totals of additive counts: macro-F1 of a confusion matrix,
accuracy of numbers right and asked, a mean of a sum and a count. Written that way, a figure can be resampled,
permuted and compared without ever touching the predictions again.
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
    """

    events: NDArray[np.intp]
    function: Statistic

    def __call__(self, totals: Totals) -> NDArray[np.float64]:
        """The statistic of totals [B, K], as [B]."""
        return self.function(totals[:, self.events])


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
        return share


@dataclass(frozen=True)
class Measures:
    """Events of one run by cluster, and the statistics of their totals.

    Attributes:
        cluster: Cluster code of each counted event [N], an index into ``clusters``.
        event: Event code of each [N], in [0, ``n_events``): a cell of a confusion matrix, say. One prediction
            may count in several events: concatenate.
        clusters: Distinct names of the clusters; two runs are paired by them.
        n_events: Number of different events, K.
        statistics: Name -> statistic of the totals [B, K].
        correct: Unit (item) -> whether it is right as a whole, for McNemar's test. May be empty.
        headline: Name of the statistic a paper would quote.

    Raises:
        ValueError: When codes are out of range, lengths differ, or the headline is no statistic.
    """

    cluster: NDArray[np.int32]
    event: NDArray[np.int32]
    clusters: tuple[str, ...]
    n_events: int
    statistics: Mapping[str, Statistic]
    correct: Mapping[str, bool]
    headline: str

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

    def totals(self) -> Totals:
        """Totals of all events on the data as they are, [1, K]."""
        return np.bincount(self.event, minlength=self.n_events).astype(np.float64)[None, :]

    def value(self, name: str) -> float | None:
        """A statistic on the data as they are; ``None`` when undefined."""
        value = float(self.statistics[name](self.totals())[0])
        return None if np.isnan(value) else value
