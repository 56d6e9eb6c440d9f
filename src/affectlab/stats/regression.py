"""Least squares with errors that hold when rows of one cluster go together.

Reference: Liang and Zeger (1986), Biometrika 73, 13-22; the small-sample factor G/(G-1) · (N-1)/(N-K) and t with G-1
degrees of freedom as in Cameron and Miller (2015), Journal of Human Resources 50, 317-372.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from affectlab.errors import UserError
from affectlab.stats.bootstrap import rounding


@dataclass(frozen=True, slots=True)
class Coefficient:
    """One slope.

    Attributes:
        name: Of the covariate, or ``factor=level``.
        value: Change of the outcome for one unit.
        se: Cluster-robust standard error.
        low: Lower end of the 95 % interval.
        high: Upper end.
        p: Two-sided p-value, t with clusters minus 1 degrees of freedom.
    """

    name: str
    value: float
    se: float
    low: float
    high: float
    p: float


@dataclass(frozen=True, slots=True)
class Regression:
    """A fitted model.

    Attributes:
        coefficients: Intercept first, then covariates, then factor levels against the first level of each.
        n: Rows.
        clusters: Clusters.
        r_squared: Share of variance explained.
    """

    coefficients: tuple[Coefficient, ...]
    n: int
    clusters: int
    r_squared: float

    def __getitem__(self, name: str) -> Coefficient:
        return next(one for one in self.coefficients if one.name == name)


def clustered_regression(
    outcome: NDArray[np.float64],
    covariates: Mapping[str, NDArray[np.float64]],
    factors: Mapping[str, Sequence[str]],
    cluster: Sequence[str],
) -> Regression:
    """Ordinary least squares, errors clustered.

    Args:
        outcome: [N].
        covariates: Name -> values [N].
        factors: Name -> level of each row [N]; levels become 0/1 columns, the first in alphabetical order left out.
        cluster: Cluster of each row [N].

    Raises:
        UserError: When there are fewer than two clusters, the outcome is the same in every row, or the columns are not
            independent (a covariate that is constant, or constant within every level of a factor).
    """
    import statsmodels.api as sm

    names, columns = ["intercept"], [np.ones(len(outcome))]
    for name, values in covariates.items():
        names.append(name)
        columns.append(np.asarray(values, dtype=np.float64))
    for name, levels in factors.items():
        for level in sorted(set(levels))[1:]:
            names.append(f"{name}={level}")
            columns.append(np.array([one == level for one in levels], dtype=np.float64))
    design = np.column_stack(columns)
    _, code = np.unique(np.asarray(cluster), return_inverse=True)
    groups = int(code.max()) + 1 if len(code) else 0
    if groups < 2 or len(outcome) <= len(names):
        raise UserError(
            f"A regression of {len(outcome)} rows in {groups} clusters on {len(names)} terms cannot be made; "
            "it needs two clusters and more rows than terms."
        )
    if np.ptp(outcome) <= rounding(float(np.abs(outcome).max())):
        raise UserError(
            f"All {len(outcome)} rows have the same outcome, {outcome[0]:.3g}: there is nothing to explain."
        )
    if np.linalg.matrix_rank(design) < len(names):
        raise UserError(
            f"The terms {', '.join(names)} are not independent of each other: leave one out that the others determine."
        )
    fit = sm.OLS(outcome, design).fit(cov_type="cluster", cov_kwds={"groups": code}, use_t=True)
    low, high = fit.conf_int(0.05).T
    found = zip(names, fit.params, fit.bse, low, high, fit.pvalues, strict=True)
    return Regression(
        tuple(Coefficient(name, *(float(number) for number in numbers)) for name, *numbers in found),
        len(outcome),
        groups,
        float(fit.rsquared),
    )
