"""Comparing two runs on the same clusters.

The interval resamples clusters, with both runs' events of a cluster kept together. The p-value comes from
swapping the two runs' events within clusters at random: if neither run is better, every swap is as likely as
what was seen.

Reference: Good (2005), Permutation, Parametric and Bootstrap Tests of Hypotheses, chapter 3; Phipson and
Smyth (2010), Statistical Applications in Genetics and Molecular Biology 9, 39, for counting the observed
value among the permutations.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from affectlab.errors import UserError
from affectlab.stats.bootstrap import (
    USUAL,
    Interval,
    Patterns,
    bootstrap_totals,
    chunks,
    clusters_behind,
    patterns,
    percentile_interval,
    predictions_behind,
    rounding,
)
from affectlab.stats.differences import name_differences
from affectlab.stats.estimate import Estimate
from affectlab.stats.measures import Measures, Over, Statistic, Totals, on_resampled
from affectlab.stats.power import smallest_detectable_difference


@dataclass(frozen=True, slots=True)
class PairedResult:
    """Two runs compared by one statistic on the same clusters.

    Attributes:
        name: Id of the statistic.
        a: The first run's value; ``None`` when undefined.
        b: The second run's.
        difference: ``a - b`` with the percentile interval of the paired cluster bootstrap.
        se: Standard error of the difference: standard deviation of its bootstrap replicates times
            sqrt(G / (G - 1)) for G clusters; ``None`` when there is no interval.
        p: Two-sided p-value of the paired permutation test; ``None`` when the difference is undefined.
        permutations: Random swaps behind ``p``.
        undefined_permutations: Swaps that left the statistic undefined; they count as extreme.
        detectable: Smallest true difference this many clusters detect with power 0.8 at level 0.05; ``None``
            when there is no standard error.
    """

    name: str
    a: float | None
    b: float | None
    difference: Estimate
    se: float | None
    p: float | None
    permutations: int
    undefined_permutations: int
    detectable: float | None


def paired_difference(a: Measures, b: Measures, name: str | None = None, how: Interval = USUAL) -> PairedResult:
    """Compare two runs on the same clusters by one statistic; see :func:`paired_differences`."""
    chosen = a.headline if name is None else name
    return paired_differences(a, b, (chosen,), how)[chosen]


def paired_differences(
    a: Measures, b: Measures, names: tuple[str, ...], how: Interval = USUAL
) -> dict[str, PairedResult]:
    """Compare two runs on the same clusters by several statistics, from the same resamples and swaps.

    Args:
        a: The first run.
        b: The second run.
        names: Statistics both have.
        how: Level, replicates (bootstrap samples, and as many random swaps) and seed.

    Returns:
        Results by name, in the order of ``names``.

    Raises:
        UserError: When the runs do not cover the same clusters and units, or are not scored by the same
            measures.
    """
    _refuse_unpaired(a, b, names)
    chosen = {name: a.statistics[name] for name in names}
    apart = {name: one for name, one in chosen.items() if isinstance(one, Over) and one.where_both}
    rest = tuple(name for name in names if name not in apart)
    results = _compared(a, b, rest, how) if rest else {}
    for name, statistic in apart.items():
        results |= _compared(*_where_both(a, b, statistic), (name,), how)
    return {name: results[name] for name in names}


def _where_both(a: Measures, b: Measures, statistic: Over) -> tuple[Measures, Measures]:
    """Both sides with events only in the clusters in which both have what a statistic counts."""
    counted = statistic.events if statistic.counted is None else statistic.counted
    has = (side.cluster[np.isin(side.event, counted)].tolist() for side in (a, b))
    one, other = ({side.clusters[code] for code in codes} for side, codes in zip((a, b), has, strict=True))
    shared = one & other

    def cut(side: Measures) -> Measures:
        kept = np.array([cluster in shared for cluster in side.clusters], dtype=bool)[side.cluster]
        weight = None if side.weight is None else side.weight[kept]
        return replace(side, cluster=side.cluster[kept], event=side.event[kept], weight=weight)

    return cut(a), cut(b)


def _compared(a: Measures, b: Measures, names: tuple[str, ...], how: Interval) -> dict[str, PairedResult]:
    k = a.n_events
    grouped = _paired_patterns(a, b)
    resampled = bootstrap_totals(grouped, how.replicates, how.seed)
    swapped = permutation_totals(grouped, how.replicates, how.seed)
    observed = np.concatenate([a.totals(), b.totals()], axis=1)
    in_first = grouped.counts[:, :k]
    in_either = in_first + grouped.counts[:, k:]
    counts = grouped.multiplicity @ in_first
    results = {}
    for name in names:
        statistic = a.statistics[name]
        n = predictions_behind(statistic, counts)
        clusters = clusters_behind(statistic, in_either, grouped.multiplicity)
        values = a.value(name), b.value(name)
        size = max(abs(value or 0.0) for value in values)
        difference = float(_difference(statistic, observed, k)[0])
        replicates = on_resampled(statistic, observed[:, :k], resampled[:, :k]) - on_resampled(
            statistic, observed[:, k:], resampled[:, k:]
        )
        estimate = percentile_interval(name, difference, replicates, n, clusters, how, size)
        estimate = replace(estimate, unit="difference")
        se = None
        if estimate.low is not None:
            # The bootstrap's variance is that of the sample with G in the denominator: make it G - 1.
            se = float(np.nanstd(replicates) * np.sqrt(clusters / (clusters - 1)))
        p, undefined = _permutation_p(difference, _difference(statistic, swapped, k), size)
        detectable = smallest_detectable_difference(se) if se is not None else None
        results[name] = PairedResult(name, *values, estimate, se, p, how.replicates, undefined, detectable)
    return results


def _paired_patterns(a: Measures, b: Measures) -> Patterns:
    """Clusters by the events of both runs, the first run's K before the second's."""
    place = {cluster: code for code, cluster in enumerate(a.clusters)}
    b_cluster = np.array([place[cluster] for cluster in b.clusters], dtype=np.int32)[b.cluster]
    weight = None
    if a.weight is not None or b.weight is not None:
        weight = np.concatenate([np.ones(len(run.event)) if run.weight is None else run.weight for run in (a, b)])
    return patterns(
        np.concatenate([a.cluster, b_cluster]),
        np.concatenate([a.event, b.event + a.n_events]),
        2 * a.n_events,
        len(a.clusters),
        weight,
    )


def permutation_totals(grouped: Patterns, permutations: int, seed: int) -> Totals:
    """Totals after swapping the two runs' events in a random half of the clusters.

    Swaps of clusters with equal totals are exchangeable, so their number is one binomial draw for each
    pattern.

    Args:
        grouped: Clusters by the events of both runs, the first run's K events before the second's.
        permutations: Number of random swaps, B.
        seed: Seed of the draws.

    Returns:
        Totals [B, 2 K].
    """
    # A stream of its own: the swaps must not repeat the draws of the bootstrap of the same seed.
    rng = np.random.Generator(np.random.PCG64([seed, 1]))
    totals, multiplicity = grouped.totals, grouped.multiplicity
    k = totals.shape[1] // 2
    first, second = totals[:, :k], totals[:, k:]
    moved = second - first
    width = len(multiplicity)
    draws = (rng.binomial(multiplicity, 0.5, size=(size, width)) for size in chunks(permutations, width))
    gain = np.concatenate([draw @ moved for draw in draws])
    return np.concatenate([multiplicity @ first + gain, multiplicity @ second - gain], axis=1)


def _difference(statistic: Statistic, totals: Totals, k: int) -> NDArray[np.float64]:
    return statistic(totals[:, :k]) - statistic(totals[:, k:])


def _permutation_p(observed: float, permuted: NDArray[np.float64], size: float) -> tuple[float | None, int]:
    undefined = int(np.isnan(permuted).sum())
    if np.isnan(observed):
        return None, undefined
    extreme = int((np.abs(permuted) >= abs(observed) - rounding(size)).sum()) + undefined
    return (1 + extreme) / (1 + len(permuted)), undefined


def _refuse_unpaired(a: Measures, b: Measures, names: tuple[str, ...]) -> None:
    for what, of_a, of_b in (
        ("cluster", set(a.clusters), set(b.clusters)),
        ("unit", set(a.correct), set(b.correct)),
    ):
        if of_a != of_b:
            raise UserError(
                f"The runs cannot be paired: {name_differences(of_a, of_b, what)}. "
                "Compare runs of the same items, or run the missing ones first."
            )
    if a.n_events != b.n_events or a.statistics.keys() != b.statistics.keys() or not _of_the_same_events(a, b):
        raise UserError("The runs cannot be paired: their scores differ in kind. Compare runs of one benchmark.")
    if unknown := [name for name in names if name not in a.statistics]:
        known = ", ".join(sorted(a.statistics))
        raise UserError(f"There is no statistic {unknown[0]!r} to compare by. There are: {known}.")


def _of_the_same_events(a: Measures, b: Measures) -> bool:
    """Whether both sides number their events alike: one side's statistics are applied to the other's totals."""
    pairs = ((one, b.statistics[name]) for name, one in a.statistics.items())
    return all(one is other or _events(one) == _events(other) for one, other in pairs)


def _events(statistic: Statistic) -> tuple[list[int] | None, ...]:
    found = (getattr(statistic, name, None) for name in ("events", "hits", "counted"))
    return tuple(None if codes is None else codes.tolist() for codes in found)
