"""Intraclass correlation of ratings: how much of what varies is the units, not the raters.

Reference: Shrout and Fleiss (1979), Psychological Bulletin 86, 420-428; McGraw and Wong (1996), Psychological Methods
1, 30-46, for absolute agreement and consistency; Donner (1986), International Statistical Review 54, 67-82, for
one-way analysis with unequal numbers of ratings.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from affectlab.errors import UserError
from affectlab.stats.agreement.figure import (
    INCOMPLETE,
    NO_UNITS,
    NO_VARIANCE,
    ONE_ANNOTATOR,
    Figure,
    estimate,
    events,
    ratio,
)
from affectlab.stats.agreement.ratings import Ratings
from affectlab.stats.bootstrap import Interval
from affectlab.stats.estimate import Estimate
from affectlab.stats.measures import Totals

Form: TypeAlias = Literal["ICC1", "ICC1k", "ICC2", "ICC2k", "ICC3", "ICC3k"]
"""ICC1: any raters, one-way. ICC2: the same raters throughout, absolute agreement. ICC3: the same, consistency (a
rater who is always one higher does no harm). With ``k``: of the mean of the raters."""

FORMS: tuple[Form, ...] = get_args(Form)


def icc(data: Ratings, form: Form = "ICC2", how: Interval | None = None) -> Estimate:
    """Intraclass correlation, in at most 1; may be negative.

    ``ICC1`` and ``ICC1k`` use all units with two ratings or more. The others need every rater on every unit they use:
    they leave units out that lack a rating, and their ``clusters`` says how many are left. Where none is left, as with
    annotators who take turns, they are undefined (``incomplete``).

    Raises:
        UserError: When the values are no numbers, or there is no such form.
    """
    if form not in FORMS:
        raise UserError(f"There is no ICC {form!r}; there are {', '.join(FORMS)}.")
    if (numbers := data.numbers) is None:
        raise UserError("An intraclass correlation needs numbers.")
    value = numbers[data.code]
    value = value - value.mean() if len(value) else value
    figure = _one_way(data, value, form) if form.startswith("ICC1") else _two_way(data, value, form)
    return estimate(figure, how)


def _one_way(data: Ratings, value: NDArray[np.float64], form: Form) -> Figure:
    """Events of a unit: 1, its ratings m, m², their sum, its square over m, and their sum of squares."""
    kept = data.paired
    unit = data.unit[kept]
    units, row = np.unique(unit, return_inverse=True)
    size = data.sizes[units].astype(np.float64)
    total = np.bincount(row, weights=value[kept], minlength=len(units))
    squares = np.bincount(row, weights=np.square(value[kept]), minlength=len(units))

    def statistic(totals: Totals) -> NDArray[np.float64]:
        groups, n, n2, sums, between, second = totals.T
        within = _variance(second - between, second, n - groups)
        among = _variance(between - ratio(np.square(sums), n), second, groups - 1)
        k = ratio(n - ratio(n2, n), groups - 1)
        return _correlation(among, within, k, form.endswith("k"))

    columns = (np.ones(len(units)), size, np.square(size), total, np.square(total) / size, squares)
    parts = events(*((units, place, column) for place, column in enumerate(columns)))
    return Figure(form, **parts, n_events=6, statistic=statistic, n=len(unit), undefined=_why(data, len(units)))


def _correlation(
    among: NDArray[np.float64], within: NDArray[np.float64], k: NDArray[np.float64], mean: bool
) -> NDArray[np.float64]:
    return ratio(among - within, among) if mean else ratio(among - within, among + (k - 1) * within)


def _two_way(data: Ratings, value: NDArray[np.float64], form: Form) -> Figure:
    """Events of a unit: 1, the square of its sum, its sum of squares, and the rating of each rater."""
    k = len(data.raters)
    whole = (data.sizes == k)[data.unit] & (k > 1)
    unit, rater, value = data.unit[whole], data.rater[whole], value[whole]
    units, row = np.unique(unit, return_inverse=True)
    total = np.bincount(row, weights=value, minlength=len(units))
    squares = np.bincount(row, weights=np.square(value), minlength=len(units))

    def statistic(totals: Totals) -> NDArray[np.float64]:
        n, rows, second, by_rater = totals[:, 0], totals[:, 1] / k, totals[:, 2], totals[:, 3:]
        grand = ratio(np.square(by_rater.sum(axis=1)), n * k)
        columns = ratio(np.square(by_rater).sum(axis=1), n)
        units_ms = _variance(rows - grand, second, n - 1)
        raters_ms = _variance(columns - grand, second, np.full_like(n, k - 1))
        error = _variance(second - rows - columns + grand, second, (n - 1) * (k - 1))
        found: NDArray[np.float64] = _FORMULAS[form](units_ms, raters_ms, error, n, k)
        return found

    parts = events((units, 0, 1.0), (units, 1, np.square(total)), (units, 2, squares), (unit, 3 + rater, value))
    return Figure(form, **parts, n_events=3 + k, statistic=statistic, n=len(unit), undefined=_why(data, len(units)))


def _variance(
    sums: NDArray[np.float64], scale: NDArray[np.float64], freedom: NDArray[np.float64]
) -> NDArray[np.float64]:
    """A mean square; what rounding alone leaves of sums of size ``scale`` is 0."""
    return ratio(np.where(sums > 1e-12 * scale, sums, 0.0), freedom)


_FORMULAS: dict[str, Callable[..., Any]] = {
    "ICC2": lambda units, raters, error, n, k: ratio(units - error, units + (k - 1) * error + k * (raters - error) / n),
    "ICC2k": lambda units, raters, error, n, k: ratio(units - error, units + (raters - error) / n),
    "ICC3": lambda units, raters, error, n, k: ratio(units - error, units + (k - 1) * error),
    "ICC3k": lambda units, raters, error, n, k: ratio(units - error, units),
}


def _why(data: Ratings, units: int) -> str:
    if len(data.raters) < 2:
        return ONE_ANNOTATOR
    if units:
        return NO_VARIANCE
    return INCOMPLETE if data.paired_units else NO_UNITS
