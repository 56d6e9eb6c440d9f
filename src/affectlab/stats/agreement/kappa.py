"""Cohen's kappa of two annotators, its weighted forms, its mean over pairs, and who confuses what with what.

Reference: Cohen (1960), Educational and Psychological Measurement 20, 37-46; Cohen (1968), Psychological Bulletin 70,
213-220, for weights; Bowker (1948), Journal of the American Statistical Association 43, 572-574, for symmetry.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from affectlab.errors import UserError
from affectlab.stats.agreement.alpha import why_undefined
from affectlab.stats.agreement.figure import (
    NO_EXPECTED_DISAGREEMENT,
    NO_PAIRS,
    NO_UNITS,
    SINGLE_CATEGORY,
    TOO_MANY,
    Figure,
    estimate,
    events,
    ratio,
)
from affectlab.stats.agreement.ratings import Ratings, Value
from affectlab.stats.agreement.weights import Distance, Weights, distance
from affectlab.stats.bootstrap import Interval
from affectlab.stats.estimate import Estimate
from affectlab.stats.measures import Totals

_MEAN = "mean_pairwise_kappa"
_MOST_RATERS = 100
_MOST_ROWS = 20_000_000


@dataclass(frozen=True, eq=False)
class Confusion:
    """Two annotators' answers to the units that both answered.

    Attributes:
        rater_a: Whose answers are the rows.
        rater_b: Whose answers are the columns.
        values: All values in declared order; one that neither used has a row and a column of zeros.
        counts: Units [C, C].
    """

    rater_a: str
    rater_b: str
    values: tuple[Value, ...]
    counts: NDArray[np.int64]

    @property
    def n(self) -> int:
        """Units that both answered."""
        return int(self.counts.sum())

    @property
    def margins(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """How often each used each value, on these units: [C] of the rows, [C] of the columns."""
        return self.counts.sum(axis=1), self.counts.sum(axis=0)

    def most_confused(self, most: int = 5) -> list[tuple[Value, Value, int]]:
        """The unordered pairs of different values that met most often, and how often."""
        both = np.triu(self.counts + self.counts.T, 1)
        order = np.argsort(-both, axis=None, kind="stable")[:most]
        cells = (np.unravel_index(place, both.shape) for place in order)
        return [(self.values[row], self.values[col], int(both[row, col])) for row, col in cells if both[row, col]]

    @cached_property
    def bowker_p(self) -> float | None:
        """Bowker's test that the table is symmetric: a small p says one annotator leans another way than the other.

        ``None`` where they never disagree.
        """
        from scipy.stats import chi2

        upper, lower = (
            self.counts[np.triu_indices_from(self.counts, 1)],
            self.counts.T[np.triu_indices_from(self.counts, 1)],
        )
        met = upper + lower > 0
        if not met.any():
            return None
        statistic = (np.square(upper - lower)[met] / (upper + lower)[met]).sum()
        return float(chi2.sf(statistic, int(met.sum())))


def cohen_kappa(table: Sequence[Sequence[float]] | NDArray[Any], weights: Weights = "none") -> Estimate:
    """Cohen's kappa of a table of counts or shares.

    Args:
        table: [C, C], rows for one annotator and columns for the other, values in the same order.
        weights: ``linear`` and ``quadratic`` take the values for equally spaced.

    Returns:
        ``kappa``, in at most 1. Undefined (``single_category``) when both used one and the same value throughout.
    """
    counts = np.asarray(table, dtype=np.float64)
    if counts.ndim != 2 or counts.shape[0] != counts.shape[1] or (counts < 0).any():
        raise UserError(f"A table of two annotators is square and holds counts; this one has shape {counts.shape}.")
    size = len(counts)
    code = np.arange(size)
    delta = distance(weights, size).between(*np.meshgrid(code, code, indexing="ij"))
    n = round(counts.sum())
    expected = float(counts.sum(axis=1) @ delta @ counts.sum(axis=0))
    if expected <= 0:
        return Estimate("kappa", None, n=n, clusters=n, reason=_why(counts), unit="number")
    value = 1 - float((counts * delta).sum() * counts.sum()) / expected
    return Estimate("kappa", value, n=n, clusters=n, unit="number")


def _why(table: NDArray[np.float64]) -> str:
    if not table.sum():
        return NO_UNITS
    used = (table.sum(axis=0) + table.sum(axis=1)) > 0
    return SINGLE_CATEGORY if used.sum() == 1 else NO_EXPECTED_DISAGREEMENT


class _Cells:
    """The cells of two annotators' table that are not empty, and kappa from how often each occurs.

    Ratings with decimals can have as many values as there are answers: a whole table would be far too large.

    Attributes:
        codes: Values that either used [U].
    """

    def __init__(self, cells: NDArray[np.int64], size: int, weights: Distance) -> None:
        """Cells [S] in ascending order, row × ``size`` + column."""
        a, b = np.divmod(cells, max(size, 1))
        self.codes, place = np.unique(np.concatenate([a, b]), return_inverse=True)
        self._margins = [_margin(side) for side in np.split(place, 2)]
        self._weights, self._cost = weights, weights.between(a, b)

    def kappa(self, totals: Totals) -> NDArray[np.float64]:
        """Kappa [B] of counts of the cells [B, S]; NaN where chance would never disagree."""
        rows, cols = (self._summed(totals, *margin) for margin in self._margins)
        expected = self._weights.met(self.codes, rows, cols)
        return 1 - ratio((totals @ self._cost) * totals.sum(axis=1), expected)

    @property
    def why(self) -> str:
        """Why kappa of these cells is undefined, if it is."""
        return NO_EXPECTED_DISAGREEMENT if len(self.codes) > 1 else SINGLE_CATEGORY if len(self.codes) else NO_UNITS

    def _summed(
        self, totals: Totals, order: NDArray[np.int64], starts: NDArray[np.int64], codes: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        found = np.zeros((len(totals), len(self.codes)))
        if len(starts):
            found[:, codes] = np.add.reduceat(totals[:, order], starts, axis=1)
        return found


def _margin(place: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Cells in order of their value, where each value starts, and which values those are."""
    order = np.argsort(place, kind="stable")
    codes, starts = np.unique(place[order], return_index=True)
    return order, starts, codes


def _weights_for(data: Ratings, weights: Weights) -> Distance:
    if isinstance(weights, str) and weights != "none" and not data.ordered:
        raise UserError(f"{weights.capitalize()} weights need the order of the values; declare it.")
    return distance(weights, len(data.values), data.numbers)


def pair_kappa(
    data: Ratings, rater_a: str, rater_b: str, weights: Weights = "none", how: Interval | None = None
) -> Estimate:
    """Cohen's kappa of two annotators, on the units that both answered."""
    size = len(data.values)
    unit, a, b = _both(data, data.raters.index(rater_a), data.raters.index(rater_b))
    seen, number = np.unique(a * size + b, return_inverse=True)
    cells = _Cells(seen, size, _weights_for(data, weights))
    figure = Figure(
        "kappa",
        **events((unit, number, 1.0)),
        n_events=len(seen),
        statistic=cells.kappa,
        n=len(unit),
        undefined=cells.why,
    )
    return estimate(figure, how)


def confusion(data: Ratings, rater_a: str, rater_b: str) -> Confusion:
    """Who said what where both answered, every value a row and a column."""
    size = len(data.values)
    _, a, b = _both(data, data.raters.index(rater_a), data.raters.index(rater_b))
    return Confusion(
        rater_a, rater_b, data.values, np.bincount(a * size + b, minlength=size * size).reshape(size, size)
    )


def _both(data: Ratings, a: int, b: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Units that two annotators answered, and what each said."""
    said = np.full((2, len(data.units)), -1)
    for row, rater in enumerate((a, b)):
        his = data.rater == rater
        said[row, data.unit[his]] = data.code[his]
    unit = np.flatnonzero((said >= 0).all(axis=0))
    return unit, said[0, unit], said[1, unit]


@dataclass(frozen=True, eq=False)
class PairwiseKappa:
    """Cohen's kappa over all pairs of annotators.

    Attributes:
        mean: Unweighted mean over the pairs in ``defined``.
        defined: Pair -> kappa, of pairs with enough units in common.
        n: Pair -> units in common, also of the others.
        undefined: Pairs with enough units and no kappa -> why.
        too_few: Pairs with some units in common, but fewer than asked for.
    """

    mean: Estimate
    defined: dict[tuple[str, str], float]
    n: dict[tuple[str, str], int]
    undefined: dict[tuple[str, str], str]
    too_few: tuple[tuple[str, str], ...]


def pairwise_kappa(
    data: Ratings,
    weights: Weights = "none",
    how: Interval | None = None,
    *,
    min_n: int = 1,
    by_units: bool = False,
) -> PairwiseKappa:
    """Mean of Cohen's kappa over pairs of annotators. For three or more it is neither Fleiss' kappa nor alpha.

    A pair without a defined kappa is listed and left out, never taken for 0 or 1. Among very many annotators
    pairs are not compared, and the mean is undefined (``too_many_annotators``).

    Args:
        data: The answers.
        weights: How much each disagreement counts.
        how: How to make the interval; none when ``None``. In a resample the mean is over the pairs defined there.
        min_n: Units a pair must have in common.
        by_units: Weight pairs by their units in common.
    """
    apart, size = _weights_for(data, weights), len(data.values)
    tables: list[_PairTable] = []
    few: list[tuple[str, str]] = []
    n_of: dict[tuple[str, str], int] = {}
    if len(data.raters) > _MOST_RATERS or _pair_rows(data) > _MOST_ROWS:
        return PairwiseKappa(Estimate(_MEAN, None, n=len(data), reason=TOO_MANY, unit="number"), {}, {}, {}, ())
    for pair, unit, cell in _pairs(data, size):
        n_of[pair] = len(unit)
        if len(unit) < min_n:
            few.append(pair)
        else:
            seen, number, count = np.unique(cell, return_inverse=True, return_counts=True)
            cells = _Cells(seen, size, apart)
            kappa = float(cells.kappa(count[None].astype(np.float64))[0])
            tables.append(_PairTable(pair, unit, number, len(seen), cells, kappa))
    kept = [table for table in tables if not np.isnan(table.kappa)]
    undefined = {table.pair: table.cells.why for table in tables if np.isnan(table.kappa)}
    reasons = {*undefined.values(), *([NO_PAIRS] if few else [])} or {why_undefined(data)}
    shares = np.array([n_of[table.pair] if by_units else 1.0 for table in kept])
    figure = _mean_figure(kept, shares, reasons.pop() if len(reasons) == 1 else NO_PAIRS)
    return PairwiseKappa(
        mean=estimate(figure, how),
        defined={table.pair: table.kappa for table in kept},
        n=n_of,
        undefined=undefined,
        too_few=tuple(few),
    )


class _PairTable(NamedTuple):
    """Two annotators, the units both answered, which of their cells each is in, these cells, and kappa."""

    pair: tuple[str, str]
    unit: NDArray[np.int64]
    cell: NDArray[np.int64]
    size: int
    cells: _Cells
    kappa: float


def _pair_rows(data: Ratings) -> int:
    return int((data.sizes * (data.sizes - 1) // 2).sum())


def _pairs(data: Ratings, size: int) -> Iterator[tuple[tuple[str, str], NDArray[np.int64], NDArray[np.int64]]]:
    """Each pair of annotators with units in common, the units, and the cell of each in the pair's table."""
    order = np.argsort(data.unit, kind="stable")
    unit, rater, code = data.unit[order], data.rater[order], data.code[order]
    for a in range(len(data.raters) - 1):
        said = np.full(len(data.units), -1)
        said[unit[rater == a]] = code[rater == a]
        others = np.flatnonzero((said[unit] >= 0) & (rater > a))
        for b in np.unique(rater[others]):
            both = others[rater[others] == b]
            yield (data.raters[a], data.raters[b]), unit[both], said[unit[both]] * size + code[both]


def _mean_figure(kept: Sequence[_PairTable], shares: NDArray[np.float64], why: str) -> Figure:
    nothing = np.zeros(0, np.int64)
    bounds = np.cumsum([0, *(table.size for table in kept)])
    unit = np.concatenate([nothing, *(table.unit for table in kept)])
    event = np.concatenate([nothing, *(table.cell + start for table, start in zip(kept, bounds, strict=False))])

    def statistic(totals: Totals) -> NDArray[np.float64]:
        found = np.empty((len(totals), len(kept)))
        for index, table in enumerate(kept):
            found[:, index] = table.cells.kappa(totals[:, bounds[index] : bounds[index + 1]])
        there = ~np.isnan(found)
        return ratio(np.where(there, found, 0.0) @ shares, there @ shares)

    parts = events((unit, event, 1.0))
    return Figure(_MEAN, **parts, n_events=int(bounds[-1]), statistic=statistic, n=len(unit), undefined=why)
