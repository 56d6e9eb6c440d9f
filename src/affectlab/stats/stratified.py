"""Two-by-two tables by stratum: Cochran-Mantel-Haenszel, the pooled odds ratio, Breslow-Day with Tarone's correction.

A stratum in which a margin is zero (all chose the same) says nothing about the odds ratio. It adds nothing to the
first two, and turns the third into nothing in the usual libraries; here such strata are left out and counted.

The test takes strata as independent and units within a stratum as unmatched. Units that return in every stratum (the
items of a benchmark in every sampling repeat) are neither: see ``docs/decisions-statistics.md`` for how far off it is.

Reference: Mantel and Haenszel (1959), Journal of the National Cancer Institute 22, 719-748; Breslow and Day (1980),
Statistical Methods in Cancer Research 1, section 4.4; Tarone (1985), Biometrika 72, 91-95.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Tables: TypeAlias = "Sequence[Sequence[Sequence[float]]] | NDArray[Any]"
"""Counts [strata, 2, 2]: rows are the groups compared, columns whether the event happened."""


@dataclass(frozen=True, slots=True)
class Homogeneity:
    """Whether the odds ratio is the same in all strata.

    Attributes:
        statistic: Breslow-Day statistic with Tarone's correction; ``None`` when it cannot be had.
        p: Its p-value.
        df: Degrees of freedom: strata used minus one.
        reason: Why there is none.
    """

    statistic: float | None
    p: float | None
    df: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Stratified:
    """What 2 × 2 tables of several strata say together.

    Attributes:
        statistic: Cochran-Mantel-Haenszel statistic without continuity correction, 1 degree of freedom; ``None``
            when no stratum says anything.
        p: Its p-value.
        corrected: The statistic with continuity correction, as R prints by default.
        corrected_p: Its p-value.
        odds_ratio: Pooled odds ratio (Mantel-Haenszel); ``None`` when it is infinite or undefined.
        odds_low: Lower end of its 95 % interval (Robins, Breslow and Greenland).
        odds_high: Upper end.
        homogeneity: Breslow-Day.
        strata: Strata given.
        used: Strata that say something.
        reason: Why a figure is missing; empty when none is.
    """

    statistic: float | None
    p: float | None
    corrected: float | None
    corrected_p: float | None
    odds_ratio: float | None
    odds_low: float | None
    odds_high: float | None
    homogeneity: Homogeneity
    strata: int
    used: int
    reason: str = ""

    @property
    def dropped(self) -> int:
        """Strata with a zero margin, which say nothing."""
        return self.strata - self.used


def informative(tables: Tables) -> NDArray[np.float64]:
    """The strata without a zero margin [used, 2, 2].

    Raises:
        ValueError: When the tables are not [strata, 2, 2] or a count is negative or not finite.
    """
    counts = np.asarray(tables, dtype=np.float64)
    if not counts.size:
        return np.empty((0, 2, 2))
    if counts.ndim != 3 or counts.shape[1:] != (2, 2):
        raise ValueError(f"tables must be [strata, 2, 2], not {list(counts.shape)}")
    if not (np.isfinite(counts) & (counts >= 0)).all():
        raise ValueError("counts must be finite and not negative")
    margins = np.concatenate([counts.sum(axis=1), counts.sum(axis=2)], axis=1)
    return counts[(margins > 0).all(axis=1)]


def stratified(tables: Tables) -> Stratified:
    """Test whether an event is as frequent in both groups, stratum by stratum.

    Args:
        tables: Counts [strata, 2, 2].

    Raises:
        ValueError: See :func:`informative`.
    """
    counts = informative(tables)
    given, used = len(tables), len(counts)
    if not used:
        reason = "no stratum says anything: in each, a group is empty or all did the same"
        return Stratified(
            None, None, None, None, None, None, None, Homogeneity(None, None, 0, reason), given, used, reason
        )
    from statsmodels.stats.contingency_tables import StratifiedTable

    pooled = StratifiedTable(counts.transpose(1, 2, 0))
    plain, corrected = pooled.test_null_odds(correction=False), pooled.test_null_odds(correction=True)
    cells = counts.reshape(used, 4).T
    total = cells.sum(axis=0)
    over, under = float((cells[0] * cells[3] / total).sum()), float((cells[1] * cells[2] / total).sum())
    finite = over > 0 and under > 0
    ratio = over / under if finite else None
    low, high = map(float, pooled.oddsratio_pooled_confint(0.05)) if finite else (None, None)
    reason = "" if finite else "the pooled odds ratio is 0 or infinite: in no stratum did both groups do both"
    return Stratified(
        float(plain.statistic),
        float(plain.pvalue),
        float(corrected.statistic),
        float(corrected.pvalue),
        ratio,
        low,
        high,
        _homogeneity(counts, ratio, reason),
        given,
        used,
        reason,
    )


def _homogeneity(counts: NDArray[np.float64], ratio: float | None, reason: str) -> Homogeneity:
    """Tarone's version from the pooled odds ratio. statsmodels divides by 0 where that ratio is 1."""
    df = len(counts) - 1
    if not df or ratio is None:
        return Homogeneity(None, None, df, reason or "one stratum says something: there is nothing to compare")
    from scipy.stats import chi2

    first, second = counts.sum(axis=2).T
    column = counts[:, :, 0].sum(axis=1)
    # The expected cell x solves x (second - column + x) = ratio (first - x)(column - x).
    middle = ratio * (first + column) + second - column
    expected = 2 * ratio * first * column / (middle + np.sqrt(middle**2 - 4 * (ratio - 1) * ratio * first * column))
    cells = np.stack([expected, first - expected, column - expected, second - column + expected])
    variance = 1 / (1 / cells).sum(axis=0)
    apart = counts[:, 0, 0] - expected
    statistic = float((apart**2 / variance).sum() - apart.sum() ** 2 / variance.sum())
    return Homogeneity(statistic, float(chi2.sf(statistic, df)), df)
