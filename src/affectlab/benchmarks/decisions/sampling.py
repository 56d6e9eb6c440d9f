"""Tests under sampling: repeats of the same items are neither new items nor independent answers.

Four questions, four populations:

* *item-level difference* (the headline): would other items like these shift? Items are resampled and swapped.
* *Cochran-Mantel-Haenszel by repeat* (the paper's test): treats every repeat as a fresh sample of unmatched units. With
  the same items in all repeats its size is wrong both ways (``bench/cmh_size.py``).
* *Cochran-Mantel-Haenszel by item*: did exactly these items shift, over other draws of the sampler?
* *Breslow-Day*: is the odds ratio the same in every repeat?
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from affectlab.benchmarks.decisions.heatmap import item_means
from affectlab.benchmarks.decisions.measures import Choices, Floats
from affectlab.benchmarks.decisions.pairing import common, paired_cells
from affectlab.benchmarks.decisions.states import State, induced_states
from affectlab.metrics.scores import Table
from affectlab.stats.bootstrap import Interval
from affectlab.stats.estimate import Estimate
from affectlab.stats.multiple import adjust
from affectlab.stats.paired import PairedResult
from affectlab.stats.stratified import Stratified, stratified

MIDDLE = 0.5
"""From here on an ordered response counts as the focal behaviour: the upper half of the feasible range."""


@dataclass(frozen=True)
class Sampled:
    """One role under one condition, over repeats.

    Attributes:
        role: Of the game.
        state: The condition.
        item_level: Difference of item means with item-clustered interval and permutation p.
        by_repeat: Cochran-Mantel-Haenszel and Breslow-Day with repeats as strata.
        by_item: The same with items as strata.
        pooled: Change of the rate of focal behaviour, all answers pooled; ``None`` without answers.
        changes: That change within each repeat.
    """

    role: str
    state: State
    item_level: PairedResult
    by_repeat: Stratified
    by_item: Stratified
    pooled: float | None
    changes: tuple[float | None, ...]

    @property
    def stable(self) -> bool | None:
        """Whether no two repeats change in opposite directions; ``None`` when none changes."""
        signs = {np.sign(change) for change in self.changes if change}
        return len(signs) == 1 if signs else None


def sampled(choices: Choices, interval: Interval) -> tuple[Sampled, ...]:
    """Every role under every condition but neutral."""
    states = induced_states(choices.conditions)
    return tuple(_sampled(choices, role, state, interval) for role in choices.role_names for state in states)


def _sampled(choices: Choices, role: str, state: State, interval: Interval) -> Sampled:
    rows = choices.rows_of(role)
    # A question that lacks one of the two answers is on neither side.
    after, before = common(choices.of(state.name)[rows], choices.of("neutral")[rows])
    item, repeat = choices.item[rows], choices.repeat[rows]
    here = np.unique(item)
    roles, clusters = ([names[code] for code in here] for names in (choices.roles, choices.clusters))
    level = [_item_values(values, item) for values in (after, before)]
    by_repeat = [_table(after[repeat == one], before[repeat == one]) for one in choices.repeats]
    by_item = [_table(after[item == one], before[item == one]) for one in here]
    return Sampled(
        role,
        state,
        paired_cells(roles, clusters, level[0], level[1], interval),
        stratified(by_repeat),
        stratified(by_item),
        _change(np.sum(by_repeat, axis=0)),
        tuple(_change(np.array(one)) for one in by_repeat),
    )


def _item_values(values: Floats, item: NDArray[np.int64]) -> Floats:
    """Mean of each item's values that are there, in order of item codes; NaN where none is."""
    there = ~np.isnan(values)
    found = np.full(len(codes := np.unique(item)), np.nan)
    if there.any():
        found[np.isin(codes, item[there])] = item_means(values[there], item[there])
    return found


def _table(after: Floats, before: Floats) -> list[list[float]]:
    """Focal or not under the condition, then under neutral."""
    return [_counts(after), _counts(before)]


def _counts(values: Floats) -> list[float]:
    there = values[~np.isnan(values)]
    focal = float((there >= MIDDLE).sum())
    return [focal, len(there) - focal]


def _change(table: NDArray[np.float64]) -> float | None:
    totals = table.sum(axis=1)
    return float(table[0, 0] / totals[0] - table[1, 0] / totals[1]) if totals.all() else None


def noise_floor(choices: Choices) -> float | None:
    """NDM of neutral against itself: mean distance of two draws of the same question, averaged as NDM is.

    Distances are taken within each presentation (order of options), then averaged over those of an item, over items and
    over roles. ``None`` without two repeats. Under sampling, drift below this is nothing.
    """
    draws: dict[int, tuple[int, list[float]]] = {}
    for asked, item, value in zip(choices.asked.tolist(), choices.item.tolist(), choices.of("neutral"), strict=True):
        if not np.isnan(value):
            draws.setdefault(asked, (item, []))[1].append(float(value))
    by_item: dict[int, list[float]] = {}
    for item, values in draws.values():
        if (n := len(values)) > 1:
            apart = np.abs(np.subtract.outer(values, values))
            by_item.setdefault(item, []).append(float(apart.sum() / (n * (n - 1))))
    by_role: dict[str, list[float]] = {}
    for item, distances in by_item.items():
        by_role.setdefault(choices.roles[item], []).append(float(np.mean(distances)))
    return float(np.mean([np.mean(distances) for distances in by_role.values()])) if by_role else None


def _odds_ratio(found: Stratified) -> Estimate:
    return Estimate("odds_ratio", found.odds_ratio, found.odds_low, found.odds_high, reason=found.reason, unit="number")


def sampling_table(found: Sequence[Sampled]) -> Table:
    """One row a role and condition; corrections run over the table."""
    q_item = adjust([one.item_level.p for one in found]).values
    q_repeat = adjust([one.by_repeat.p for one in found]).values
    q_same = adjust([one.by_repeat.homogeneity.p for one in found])
    rows = tuple(
        (
            one.role.replace("_", " "),
            one.state.name,
            one.item_level.difference,
            qi,
            one.pooled,
            _odds_ratio(one.by_repeat),
            qr,
            one.by_item.p,
            {True: "yes", False: "no", None: "no change"}[one.stable],
            qh,
            f"{one.by_repeat.used} of {one.by_repeat.strata}",
        )
        for one, qi, qr, qh in zip(found, q_item, q_repeat, q_same.values, strict=True)
    )
    return Table(
        "sampling",
        "Under sampling: which population each test speaks for",
        (
            "role",
            "condition",
            "item-level change",
            "q items",
            "pooled change",
            "odds ratio",
            "q CMH by repeat",
            "p CMH by item",
            "sign stable",
            "q Breslow–Day",
            "repeats used",
        ),
        rows,
        "q items: other items like these (item-clustered interval, permutation within items); read this one. "
        "Odds ratio: of the focal behaviour against neutral, repeats as strata (Mantel–Haenszel). CMH by repeat: the "
        "paper's test; it takes matched answers to the same items as unrelated, and its size is wrong "
        "(docs/decisions-statistics.md). CMH by item: exactly these items, other draws. Breslow–Day (Tarone): "
        f"same odds ratio in every repeat; not estimable in {q_same.untested} rows, which is not homogeneity. Repeats "
        "with a zero margin are dropped from CMH and Breslow–Day. q: Benjamini–Hochberg over the table. Ordered "
        "responses count as focal from the middle of their range in all but the item-level change. A question that "
        "lacks one of the two answers is in no column.",
        {
            "pooled change": "difference",
            "q items": "p",
            "q CMH by repeat": "p",
            "p CMH by item": "p",
            "q Breslow–Day": "p",
        },
    )
