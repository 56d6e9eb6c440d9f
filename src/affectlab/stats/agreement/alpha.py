"""Krippendorff's alpha: any number of annotators, missing answers, and five kinds of data.

Reference: Krippendorff (2011), Computing Krippendorff's Alpha-Reliability; Passonneau (2006), LREC, 831-836, for the
distance between sets that is called MASI.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from affectlab.errors import UserError
from affectlab.stats.agreement.figure import (
    NO_UNITS,
    ONE_ANNOTATOR,
    SINGLE_CATEGORY,
    Figure,
    estimate,
    events,
    ratio,
)
from affectlab.stats.agreement.ratings import Ratings, Value
from affectlab.stats.bootstrap import Interval
from affectlab.stats.estimate import Estimate
from affectlab.stats.measures import Totals

Level: TypeAlias = Literal["nominal", "ordinal", "interval", "ratio", "jaccard", "masi"]
"""What counts as how large a disagreement: the level of measurement, or a distance between sets."""

LEVELS: tuple[Level, ...] = get_args(Level)

Distances: TypeAlias = Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.float64]]
"""From codes of values to how far apart they are, squared; of any two shapes that fit together."""

_CELLS = 4_000_000
"""Distances held in memory at a time (32 MB)."""


def krippendorff_alpha(data: Ratings, level: Level = "nominal", how: Interval | None = None) -> Estimate:
    """Krippendorff's alpha, 1 for no disagreement, 0 for as much as chance.

    Units with a single answer take no part. Undefined (``single_category``) when all answers that can be paired are
    the same value: there is then no disagreement to expect.

    Args:
        data: The answers.
        level: Nominal; ordinal (the declared order of values, or numbers); interval and ratio (numbers); Jaccard or
            MASI (sets).
        how: How to make the interval; none when ``None``.

    Returns:
        ``alpha_LEVEL``, in at most 1; its ``n`` is the number of answers that can be paired.

    Raises:
        UserError: When the values do not fit the level.
    """
    return estimate(alpha_figure(data, level), how)


def alpha_figure(data: Ratings, level: Level) -> Figure:
    """Krippendorff's alpha as a statistic of totals; see :func:`krippendorff_alpha`."""
    _check(data, level)
    used = data.take(data.paired)
    if level == "ordinal":
        parts, n_events, statistic = _ordinal(used)
    elif level == "interval":
        parts, n_events, statistic = _interval(used)
    elif level == "nominal":
        parts, n_events, statistic = _nominal(used)
    else:
        parts, n_events, statistic = _fixed(used, distances(used.values, level))
    return Figure(
        f"alpha_{level}", **parts, n_events=n_events, statistic=statistic, n=len(used), undefined=why_undefined(data)
    )


def why_undefined(data: Ratings) -> str:
    """The reason a coefficient of these answers is undefined, if it is."""
    if len(data.raters) == 1:
        return ONE_ANNOTATOR
    return SINGLE_CATEGORY if data.paired_units else NO_UNITS


def distances(values: tuple[Value, ...], level: Level) -> Distances:
    """Squared difference of values by their codes, for the levels where it does not depend on the answers.

    Ratio: ((a − b) / (a + b))², 0 for two zeros. Jaccard: 1 − |a∩b| / |a∪b|, 0 for two empty sets. MASI: 1 − Jaccard
    index × (1 same, 2/3 one within the other, 1/3 overlapping, 0 disjoint).
    """
    if level in ("jaccard", "masi"):
        table = _set_distances(values, masi=level == "masi")
        return lambda a, b: table[a, b]
    numbers = np.array(values, dtype=np.float64)

    def ratios(a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.square(np.nan_to_num(ratio(numbers[a] - numbers[b], numbers[a] + numbers[b])))

    return ratios


def _set_distances(values: tuple[Value, ...], *, masi: bool) -> NDArray[np.float64]:
    sets: list[frozenset[Any]] = [value for value in values if isinstance(value, frozenset)]
    members = {name: code for code, name in enumerate({name for one in sets for name in one})}
    held = np.zeros((len(sets), len(members)))
    for row, one in enumerate(sets):
        held[row, [members[name] for name in one]] = 1
    common = held @ held.T
    size = held.sum(axis=1)
    either = size[:, None] + size - common
    index = np.divide(common, either, out=np.ones_like(common), where=either > 0)
    if masi:
        same = (common == size[:, None]) & (common == size)
        within = (common == size[:, None]) | (common == size)
        index = index * np.select([same, within & (common > 0), common > 0], [1, 2 / 3, 1 / 3], 0)
    return np.asarray(1 - index)


def _check(data: Ratings, level: Level) -> None:
    if level not in LEVELS:
        raise UserError(f"There is no level {level!r}; there are {', '.join(LEVELS)}.")
    numbers = data.numbers
    if level in ("interval", "ratio") and numbers is None:
        raise UserError(f"Level {level} needs numbers; the values are {_some(data)}. Use nominal or ordinal.")
    if level == "ratio" and numbers is not None and (numbers < 0).any():
        raise UserError(
            f"Level ratio needs a scale that starts at 0; there is a value {numbers.min():g}. Use interval."
        )
    if level == "ordinal" and not data.ordered:
        raise UserError(f"Level ordinal needs the order of the values; declare it (found {_some(data)}).")
    if level in ("jaccard", "masi") and not all(isinstance(value, frozenset) for value in data.values):
        raise UserError(f"Level {level} compares sets of labels; the values are {_some(data)}.")


def _some(data: Ratings) -> str:
    return ", ".join(map(repr, data.values[:4])) + (" …" if len(data.values) > 4 else "")


def _fixed(data: Ratings, apart: Distances) -> tuple[dict[str, Any], int, Callable[[Totals], Any]]:
    """Events: one for each value (how often it was said), and last the disagreement within units."""
    size = len(data.values)
    unit, low, high, weight = _meetings(data)
    codes, step = np.arange(size), max(1, _CELLS // max(size, 1))

    def statistic(totals: Totals) -> NDArray[np.float64]:
        said, observed = totals[:, :size], totals[:, size]
        expected = np.zeros(len(totals))
        for some in np.split(codes, range(step, size, step)):
            expected += ((said[:, some] @ apart(some[:, None], codes)) * said).sum(axis=1)
        return _one_minus(observed, expected, said.sum(axis=1))

    met = events((data.unit, data.code, 1.0), (unit, size, 2 * weight * apart(low, high)))
    return met, size + 1, statistic


def _nominal(data: Ratings) -> tuple[dict[str, Any], int, Callable[[Totals], Any]]:
    """Events as in :func:`_fixed`; every two different values are equally far apart, so that no table is needed."""
    size = len(data.values)
    unit, _, count = data.counts()
    same = np.bincount(unit, weights=np.square(count), minlength=len(data.units))
    units = np.flatnonzero(data.sizes)
    answers = data.sizes[units]
    disagreement = (np.square(answers) - same[units]) / (answers - 1)

    def statistic(totals: Totals) -> NDArray[np.float64]:
        said, observed = totals[:, :size], totals[:, size]
        n = said.sum(axis=1)
        return _one_minus(observed, np.square(n) - np.square(said).sum(axis=1), n)

    return events((data.unit, data.code, 1.0), (units, size, disagreement)), size + 1, statistic


def _interval(data: Ratings) -> tuple[dict[str, Any], int, Callable[[Totals], Any]]:
    """Events: answers, their sum, their sum of squares, and the disagreement within units."""
    numbers = np.array(data.values, dtype=np.float64)[data.code]
    if span := float(np.ptp(numbers)) if len(numbers) else 0.0:  # so that rounding is judged by the range in use
        numbers = (numbers - numbers.mean()) / span
    else:
        numbers = np.zeros(len(numbers))
    units, row = np.unique(data.unit, return_inverse=True)
    size = data.sizes[units]
    total = np.bincount(row, weights=numbers, minlength=len(units))
    mean = total / size
    # Σ over ordered pairs of (x − y)² is 2m Σ (x − mean)².
    spread = np.bincount(row, weights=np.square(numbers - mean[row]), minlength=len(units))
    disagreement = 2 * size * spread / (size - 1)
    squares = np.bincount(row, weights=np.square(numbers), minlength=len(units))

    def statistic(totals: Totals) -> NDArray[np.float64]:
        n, sums, second, observed = totals.T
        return _one_minus(observed, 2 * (n * second - np.square(sums)), n, 1e-13 * n * n)

    return events((units, 0, size), (units, 1, total), (units, 2, squares), (units, 3, disagreement)), 4, statistic


def _ordinal(data: Ratings) -> tuple[dict[str, Any], int, Callable[[Totals], Any]]:
    """Events: one for each value, then one for each two values that meet in a unit.

    The difference of two values is that of their mid-ranks among all answers that can be paired, which every resample
    has anew.
    """
    size = len(data.values)
    unit, low, high, weight = _meetings(data)
    cells, cell = np.unique(low * max(size, 1) + high, return_inverse=True)
    low_codes, high_codes = np.divmod(cells, max(size, 1))

    def statistic(totals: Totals) -> NDArray[np.float64]:
        said, met = totals[:, :size], totals[:, size:]
        rank = said.cumsum(axis=1) - said / 2
        n = said.sum(axis=1)
        observed = 2 * (met * np.square(rank[:, low_codes] - rank[:, high_codes])).sum(axis=1)
        mean = ratio((said * rank).sum(axis=1), n)
        expected = 2 * n * (said * np.square(rank - mean[:, None])).sum(axis=1)
        # Mid-ranks of two values are at least 1 apart.
        return _one_minus(observed, expected, n, 0.5)

    return events((data.unit, data.code, 1.0), (unit, size + cell, weight)), size + len(cells), statistic


def _meetings(data: Ratings) -> tuple[NDArray[np.int64], ...]:
    """Unit, lower value, higher value and weight of every two different values that meet in a unit."""
    unit, code, count = data.counts()
    found: list[list[NDArray[Any]]] = [[unit[:0]], [code[:0]], [code[:0]], [np.zeros(0)]]
    for step in range(1, len(unit)):
        together = unit[step:] == unit[:-step]
        if not together.any():
            break
        first, second = np.flatnonzero(together), np.flatnonzero(together) + step
        weight = count[first] * count[second] / (data.sizes[unit[first]] - 1)
        for part, values in zip(found, (unit[first], code[first], code[second], weight), strict=True):
            part.append(values)
    return tuple(np.concatenate(part) for part in found)


def _one_minus(
    observed: NDArray[np.float64], expected: NDArray[np.float64], n: NDArray[np.float64], least: Any = 0.0
) -> NDArray[np.float64]:
    """1 − D_o / D_e with D_o = observed / n and D_e = expected / (n (n − 1)); ``expected`` up to ``least`` is none."""
    return 1 - ratio((n - 1) * observed, np.where(expected > least, expected, 0.0))
