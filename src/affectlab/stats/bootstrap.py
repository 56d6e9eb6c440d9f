"""Cluster bootstrap of statistics of totals, exact in distribution and cheap at any size.

Clusters with equal totals are exchangeable, so drawing G of G clusters with replacement is one multinomial draw
over the P different patterns. Half a million scenes of a thousand count patterns cost what a thousand scenes do.
Clusters of weighted events are seldom alike; then P is near G, and the cost grows with the clusters.

Reference: Efron and Tibshirani (1993), An Introduction to the Bootstrap, chapters 6 and 13 (percentile
interval); Davison and Hinkley (1997), section 3.8 (resampling whole clusters).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from affectlab.errors import UserError
from affectlab.stats.estimate import Estimate
from affectlab.stats.measures import Measures, Over, Share, Statistic, Totals, on_resampled
from affectlab.stats.proportion import wilson

_CELLS_AT_ONCE = 4_000_000
"""Draws held in memory at a time (32 MB); it does not change the draws."""

_SAME = 1e-12
"""Relative to the size of the figures, but no less than for figures of size 1; see :func:`rounding`."""


def rounding(size: float) -> float:
    """How far apart two values of this size may be and still be one: sums in another order differ in last digits."""
    return _SAME * max(1.0, size)


class Patterns(NamedTuple):
    """Clusters grouped by their events, in an order that depends on the events alone.

    Attributes:
        totals: Sparse matrix [P, K] (``scipy.sparse.csr_array``): total of each event in one cluster of each pattern.
        counts: The same with every event counting 1; the same object when no event has a weight.
        multiplicity: Number of clusters of each pattern [P].
    """

    totals: Any
    counts: Any
    multiplicity: NDArray[np.int64]


def patterns(
    cluster: NDArray[Any],
    event: NDArray[Any],
    n_events: int,
    n_clusters: int,
    weight: NDArray[np.float64] | None = None,
) -> Patterns:
    """Group clusters by their events.

    Args:
        cluster: Cluster code of each event [N], in [0, ``n_clusters``).
        event: Event code of each [N], in [0, ``n_events``).
        n_events: Number of different events, K.
        n_clusters: Number of clusters, G; those without an event are a pattern of zeros.
        weight: What each event adds to its total [N]; 1 each when ``None``.

    Returns:
        The distinct vectors of totals and counts, and how many clusters have each. The order of rows and the numbering
        of clusters make no difference.
    """
    from scipy.sparse import csr_array, vstack

    cell = cluster.astype(np.int64) * n_events + event
    cells, count = np.unique(cell, return_counts=True)
    owner, column = np.divmod(cells, max(n_events, 1))
    first = np.flatnonzero(np.r_[True, owner[1:] != owner[:-1]]) if len(owner) else np.empty(0, np.int64)
    bounds = np.append(first, len(cells))
    token = column * (count.max(initial=0) + 1) + count
    columns = [count.astype(np.float64)]
    if weight is not None:
        total = _sorted_sums(cell, count, weight)
        _, number = np.unique(total, return_inverse=True)
        _, token = np.unique(token * (number.max(initial=0) + 1) + number, return_inverse=True)
        columns.append(total)
    _, representative, multiplicity = np.unique(_number_sequences(token, bounds), return_index=True, return_counts=True)
    found = [csr_array((values, column, bounds), shape=(len(first), n_events))[representative] for values in columns]
    if empty := n_clusters - len(first):
        found = [vstack([csr_array((1, n_events)), matrix], format="csr") for matrix in found]
        multiplicity = np.append(empty, multiplicity)
    return Patterns(found[-1], found[0], multiplicity)


def _sorted_sums(cell: NDArray[np.int64], count: NDArray[np.int64], weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Total weight of each distinct cell, in ascending order of cells, each with ``count`` rows.

    Terms are added in ascending order, so that equal clusters have equal totals whatever the order of their rows.
    """
    order = np.lexsort((weight, cell))
    owner = np.repeat(np.arange(len(count)), count)
    return np.bincount(owner, weights=weight[order], minlength=len(count)).astype(np.float64)


def _number_sequences(token: NDArray[np.int64], bounds: NDArray[np.int64]) -> NDArray[np.int64]:
    """Equal numbers for equal token sequences ``token[bounds[i]:bounds[i + 1]]``, ordered by content.

    Sequences are told apart one position at a time (as radix sort does), which is exact where hashing is not.
    """
    length = np.diff(bounds)
    code = np.zeros(len(length), np.int64)
    alphabet = token.max(initial=0) + 1
    used = 1
    active = np.arange(len(length))
    for position in range(length.max(initial=0)):
        active = active[length[active] > position]
        extended = code[active] * alphabet + token[bounds[active] + position]
        seen, number = np.unique(extended, return_inverse=True)
        # Numbers of longer sequences start above those of sequences that ended here.
        code[active] = used + number
        used += len(seen)
    return code


def chunks(replicates: int, width: int) -> Iterator[int]:
    """Split replicates into groups whose draws of ``width`` cells each fit into memory at once."""
    step = max(1, _CELLS_AT_ONCE // max(width, 1))
    for start in range(0, replicates, step):
        yield min(step, replicates - start)


def bootstrap_totals(grouped: Patterns, replicates: int, seed: int) -> Totals:
    """Totals of the events in bootstrap samples of whole clusters, those without events included.

    Args:
        grouped: The clusters by pattern.
        replicates: Number of samples, B.
        seed: Seed of the draws; the same seed and clusters give the same bits.

    Returns:
        Totals [B, K].
    """
    return np.concatenate(list(bootstrap_chunks(grouped, replicates, seed, len(grouped.multiplicity))))


def bootstrap_chunks(grouped: Patterns, replicates: int, seed: int, width: int) -> Iterator[Totals]:
    """The rows of :func:`bootstrap_totals`, some at a time, for statistics of very many events.

    Args:
        grouped: The clusters by pattern.
        replicates: Number of samples, B.
        seed: Seed of the draws.
        width: Cells a sample needs in memory; it sets how many samples come at a time, and not what they are.
    """
    rng = np.random.Generator(np.random.PCG64(seed))
    multiplicity = grouped.multiplicity
    clusters = int(multiplicity.sum())
    if not clusters:
        yield np.zeros((replicates, grouped.totals.shape[1]))
        return
    shares = multiplicity / clusters
    for size in chunks(replicates, width):
        yield rng.multinomial(clusters, shares, size=size) @ grouped.totals


def _events(statistic: Statistic) -> NDArray[np.intp] | slice:
    return statistic.events if isinstance(statistic, Over | Share) else slice(None)


def predictions_behind(statistic: Statistic, counts: NDArray[np.float64]) -> int:
    """Number of predictions a statistic rests on, from the number of events of each kind [K]."""
    counted = statistic.counted if isinstance(statistic, Over) else None
    return int(counts[_events(statistic) if counted is None else counted].sum())


def clusters_behind(statistic: Statistic, counts: Any, multiplicity: NDArray[np.int64]) -> int:
    """Number of clusters a statistic rests on, from event counts [P, K] by pattern: those with its events, or all."""
    if isinstance(statistic, Over) and statistic.every_cluster:
        return int(multiplicity.sum())
    touched = counts[:, _events(statistic)].sum(axis=1) > 0
    return int(multiplicity[touched].sum())


@dataclass(frozen=True, slots=True)
class Interval:
    """How an interval is made.

    Attributes:
        level: Confidence level in (0, 1).
        replicates: Bootstrap samples, at least 1.
        seed: Seed of the draws, not negative.

    Raises:
        UserError: When one of them is out of range.
    """

    level: float = 0.95
    replicates: int = 1000
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 < self.level < 1:
            raise UserError(f"confidence level must lie between 0 and 1, not {self.level}; 0.95 is usual")
        if self.replicates < 1:
            raise UserError(f"the bootstrap needs at least 1 replicate, not {self.replicates}; 1000 is usual")
        if self.seed < 0:
            raise UserError(f"the bootstrap's seed must not be negative, but is {self.seed}")

    def __str__(self) -> str:
        return f"cluster bootstrap, {self.replicates} replicates, seed {self.seed}, {100 * self.level:g} %"


USUAL = Interval()
"""95 %, 1000 replicates, seed 0."""


def percentile_interval(
    name: str,
    value: float,
    replicates: NDArray[np.float64],
    n: int,
    clusters: int,
    how: Interval,
    size: float | None = None,
) -> Estimate:
    """A figure with the percentile interval of its bootstrap replicates.

    Undefined replicates (NaN) are left out and counted in ``method``. There is no interval, and ``reason``
    says why, when the value is undefined, when it rests on one cluster, when most replicates are undefined,
    or when all replicates agree (then the sample shows no variation to build an interval on).

    Args:
        name: Id of the statistic.
        value: The statistic on the data as they are; NaN when undefined.
        replicates: The statistic in bootstrap samples [B].
        n: Predictions it rests on.
        clusters: Clusters it rests on.
        how: Level, and the settings to name in ``method``.
        size: Size of the figures behind the value, by which rounding is judged; that of the value when ``None``. A
            difference is smaller than what it is the difference of.
    """
    undefined = int(np.isnan(replicates).sum())
    defined = replicates[~np.isnan(replicates)]
    method = str(how) + (f", undefined in {undefined} replicates" if undefined else "")
    if np.isnan(value):
        return Estimate(
            name, None, n=n, clusters=clusters, reason="undefined on these data" if n else "nothing to score"
        )
    if clusters < 2:
        reason = "one cluster only: nothing to resample"
    elif 2 * undefined > len(replicates):
        reason = f"undefined in {undefined} of {len(replicates)} bootstrap replicates"
    elif _agree(defined, abs(value) if size is None else size):
        reason = "all bootstrap replicates agree: the clusters show no variation"
    else:
        tail = (1 - how.level) / 2
        low, high = np.quantile(defined, (tail, 1 - tail))
        return Estimate(name, value, float(low), float(high), n, clusters, method)
    return Estimate(name, value, n=n, clusters=clusters, reason=reason)


def _agree(replicates: NDArray[np.float64], size: float) -> bool:
    return len(replicates) > 0 and bool(np.ptp(replicates) <= rounding(size))


def estimates(measures: Measures, names: Iterable[str] | None = None, how: Interval = USUAL) -> dict[str, Estimate]:
    """Several statistics with their intervals, all from the same bootstrap samples.

    The interval is the percentile interval of the cluster bootstrap. A
    :class:`~affectlab.stats.measures.Share` whose replicates all agree (all right, all wrong) gets Wilson's
    interval with the clusters as trials instead: a bootstrap of clusters that are all alike would claim
    certainty.

    Args:
        measures: Events and statistics.
        names: Which statistics; all when ``None``.
        how: Level, replicates and seed.

    Returns:
        Estimates by name, in the order of ``names``.

    Raises:
        KeyError: When a name is no statistic of ``measures``.
    """
    wanted = list(measures.statistics if names is None else names)
    grouped = patterns(measures.cluster, measures.event, measures.n_events, len(measures.clusters), measures.weight)
    counts = grouped.multiplicity @ grouped.counts
    observed = measures.totals()
    totals = bootstrap_totals(grouped, how.replicates, how.seed)
    found = {}
    for name in wanted:
        statistic = measures.statistics[name]
        n = predictions_behind(statistic, counts)
        clusters = clusters_behind(statistic, grouped.counts, grouped.multiplicity)
        value = float(statistic(observed)[0])
        replicates = on_resampled(statistic, observed, totals)
        if isinstance(statistic, Share) and clusters > 1 and _agree(replicates[~np.isnan(replicates)], 1.0):
            found[name] = wilson_of_clusters(name, value, n, clusters, how.level)
        else:
            found[name] = percentile_interval(name, value, replicates, n, clusters, how)
    return found


def wilson_of_clusters(name: str, value: float, n: int, clusters: int, level: float) -> Estimate:
    """A share that is the same in every cluster, with Wilson's interval on the number of clusters."""
    low, high = wilson(value * clusters, clusters, level)
    return Estimate(name, value, low, high, n, clusters, f"Wilson on clusters (all alike), {100 * level:g} %")


def estimate(measures: Measures, name: str, how: Interval = USUAL) -> Estimate:
    """One statistic with its interval; see :func:`estimates`."""
    return estimates(measures, (name,), how)[name]


def bootstrap_statistic(
    cluster: NDArray[Any], function: Callable[[NDArray[np.intp]], float], replicates: int, seed: int
) -> NDArray[np.float64]:
    """Replicates of a statistic that is no function of totals (a rank correlation, a quantile).

    Args:
        cluster: Cluster code of each row [N].
        function: From row indices (with repetition) to the statistic; NaN when undefined.
        replicates: Number of bootstrap samples, B.
        seed: Seed of the draws.

    Returns:
        The statistic in each sample [B]; give them to :func:`percentile_interval`.
    """
    rng = np.random.Generator(np.random.PCG64(seed))
    order = np.argsort(cluster, kind="stable")
    _, first, size = np.unique(cluster[order], return_index=True, return_counts=True)
    values = np.empty(replicates)
    for replicate in range(replicates):
        drawn = rng.integers(len(size), size=len(size))
        ends = np.cumsum(size[drawn])
        within = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - size[drawn], size[drawn])
        values[replicate] = function(order[np.repeat(first[drawn], size[drawn]) + within])
    return values
