"""Weighted events collected piece by piece, and statistics of their totals that CAREBench's figures share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from affectlab.metrics.classification import ratio_or
from affectlab.metrics.predictions import Column, PredictionTable
from affectlab.stats.measures import Measures, Over, Statistic

Floats: TypeAlias = NDArray[np.float64]
Codes: TypeAlias = NDArray[Any]


class Tally:
    """Events by cluster, each event named when it is first added."""

    def __init__(self, table: PredictionTable) -> None:
        present, self.cluster = np.unique(table.cluster.codes, return_inverse=True)
        self.clusters: tuple[str, ...] = tuple(table.cluster.values[code] for code in present.tolist())
        self._numbers: dict[str, int] = {}
        self._pieces: list[tuple[Codes, int, Floats]] = []

    def event(self, name: str) -> int:
        """Number of an event."""
        return self._numbers.setdefault(name, len(self._numbers))

    def events(self, names: Sequence[str]) -> NDArray[np.intp]:
        """Numbers of several events."""
        return np.array([self.event(name) for name in names], dtype=np.intp)

    def add(self, name: str, rows: Codes, weight: Floats | float = 1.0) -> None:
        """Count an event once in the cluster of each of some rows, with a weight each."""
        clusters = self.cluster[rows]
        self.add_to(name, clusters, weight)

    def add_to(self, name: str, clusters: Codes, weight: Floats | float = 1.0) -> None:
        """The same, for cluster codes."""
        weights = np.broadcast_to(np.asarray(weight, dtype=np.float64), clusters.shape)
        self._pieces.append((clusters, self.event(name), weights))

    def measures(
        self, statistics: Mapping[str, Statistic], headline: str, leaving_out: frozenset[str] = frozenset()
    ) -> Measures:
        """Everything collected, with statistics of it, and which of them leave unread answers out.

        Two can be paired only if they name their events in the same order: make statistics before anything is added.
        """
        pieces = self._pieces or [(np.zeros(0, dtype=np.int64), 0, np.zeros(0))]
        return Measures(
            cluster=np.concatenate([clusters for clusters, _, _ in pieces]).astype(np.int32),
            event=np.concatenate([np.full(len(clusters), event) for clusters, event, _ in pieces]).astype(np.int32),
            clusters=self.clusters,
            n_events=max(len(self._numbers), 1),
            statistics=statistics,
            correct={},
            headline=headline,
            weight=np.concatenate([weights for _, _, weights in pieces]),
            leaving_out=leaving_out,
        )


def numbers(column: Column) -> Floats:
    """A column's values as numbers; NaN for what is none."""
    plain = [float(value) if isinstance(value, int | float) else np.nan for value in column.values]
    return np.array(plain or [np.nan])[column.codes]


def mean(tally: Tally, sums: Sequence[str], counts: Sequence[str], *, where_both: bool = False) -> Over:
    """Total of some weighted events over the number of others; ``where_both`` as in :class:`Over`."""
    found = _over(tally, sums, counts, lambda total, number: ratio_or(total, number, np.nan))
    return replace(found, where_both=where_both)


def root_mean(tally: Tally, sums: Sequence[str], counts: Sequence[str]) -> Over:
    """Root of the same: RMSE from squared errors."""
    return _over(tally, sums, counts, lambda total, number: np.sqrt(ratio_or(total, number, np.nan)))


def _over(tally: Tally, sums: Sequence[str], counts: Sequence[str], function: Any) -> Over:
    split = len(sums)
    counted = tally.events(counts)
    return Over(
        np.concatenate([tally.events(sums), counted]),
        lambda totals: function(totals[:, :split].sum(axis=1), totals[:, split:].sum(axis=1)),
        counted=counted,
    )


def correlation(tally: Tally, name: str) -> Over:
    """Pearson's correlation of the pairs added by :func:`add_pairs`; undefined for fewer than 3, or a constant side."""
    parts = tally.events([f"{name}/{part}" for part in ("n", "x", "y", "xx", "yy", "xy")])
    return Over(parts, _pearson, counted=parts[:1])


def add_pairs(tally: Tally, name: str, clusters: Codes, x: Floats, y: Floats) -> None:
    """Add pairs for :func:`correlation`."""
    for part, weight in (("n", np.ones(len(x))), ("x", x), ("y", y), ("xx", x * x), ("yy", y * y), ("xy", x * y)):
        tally.add_to(f"{name}/{part}", clusters, weight)


def _pearson(totals: Floats) -> Floats:
    n, x, y, xx, yy, xy = (totals[:, column] for column in range(6))
    varied_x, varied_y = n * xx - x * x, n * yy - y * y
    # What is left of equal values by rounding is no variation.
    enough = (n >= 3) & (varied_x > 1e-9 * n * xx) & (varied_y > 1e-9 * n * yy)
    found = ratio_or(n * xy - x * y, np.sqrt(np.where(enough, varied_x * varied_y, 0.0)), np.nan)
    return np.asarray(np.clip(found, -1.0, 1.0), dtype=np.float64)
