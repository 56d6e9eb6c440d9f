"""Two sides compared on what both have.

A strong vector leaves answers unread on some items and a weak one does not. Sides that are averaged each over what it
has then differ in which strengths they average, and the difference shows an effect where there is none. So both are
first cut to the cells that both have, and cells are averaged as the figures themselves are: over items within a role
and a pair of conditions, over controls of one condition, over conditions within the role, over roles.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from affectlab.benchmarks.decisions.measures import Floats, in_order, over_roles
from affectlab.metrics.classification import mean_defined, ratio_or
from affectlab.stats.bootstrap import Interval
from affectlab.stats.measures import Measures, Totals
from affectlab.stats.paired import PairedResult, paired_difference

Groups = Sequence[int]
"""For each of P columns, from 0 on, which one of several it is a reading of: they are averaged before the others."""


def common(first: Floats, second: Floats) -> tuple[Floats, Floats]:
    """Both, NaN wherever either is."""
    both = ~np.isnan(first) & ~np.isnan(second)
    return np.where(both, first, np.nan), np.where(both, second, np.nan)


def paired_cells(
    roles: Sequence[str],
    clusters: Sequence[str],
    first: Floats,
    second: Floats,
    interval: Interval,
    groups: Groups | None = None,
) -> PairedResult:
    """The mean of one side minus that of the other, over the cells that both have.

    Args:
        roles: Role of each item [I].
        clusters: Cluster of each item [I].
        first: A value for each item and pair of conditions [I, P], or for each item [I]; NaN: none.
        second: The same of the other side.
        interval: How its interval is made; resamples clusters. The p-value swaps sides within clusters.
        groups: Columns averaged before the others; each on its own when ``None``.
    """
    one, other = (cell_measures(roles, clusters, values, groups) for values in common(first, second))
    return paired_difference(one, other, "mean", interval)


def cell_measures(
    roles: Sequence[str], clusters: Sequence[str], values: Floats, groups: Groups | None = None
) -> Measures:
    """Values [I, P] or [I] as ``mean``: over items within role and column, then groups, columns and roles.

    NaN: no value. Roles, groups and columns without any are in no mean.
    All clusters are declared, those without a value too, so that two conditions can be paired.
    """
    names = in_order(roles)
    code = np.array([names.index(role) for role in roles], dtype=np.int64)
    known, cluster = np.unique(np.array(clusters, dtype=object), return_inverse=True)
    table = values.reshape(len(roles), -1)
    item, column = np.nonzero(~np.isnan(table))
    width = table.shape[1]
    n = len(names) * width
    cell = code[item] * width + column
    events = np.arange(2 * n, dtype=np.intp)
    by_role = partial(_by_role, len(names), np.arange(width) if groups is None else np.array(groups, dtype=np.intp))
    return Measures(
        cluster=np.tile(cluster[item], 2).astype(np.int32),
        event=np.concatenate([cell, cell + n]).astype(np.int32),
        clusters=tuple(map(str, known)),
        n_events=2 * n,
        statistics={"mean": over_roles(events, by_role, events[n:])},
        correct={},
        headline="mean",
        weight=np.concatenate([table[item, column], np.ones(len(item))]),
    )


def _by_role(n_roles: int, groups: NDArray[np.intp], totals: Totals) -> Floats:
    half = totals.shape[1] // 2
    cells = ratio_or(totals[:, :half], totals[:, half:], np.nan).reshape(len(totals), n_roles, len(groups))
    by_group = [mean_defined(cells[..., groups == group]) for group in np.unique(groups)]
    return mean_defined(np.stack(by_group, axis=-1))
