"""RQ1 and RQ2 as counted and weighted events: squared errors, hits of label sets, overlap of texts.

Nothing is filled in. A rating that cannot be read is in no RMSE and wrong in the accuracy; a label set that cannot be
read is wrong (F1 0, its gold labels missed), never the empty set; every figure has its coverage beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from affectlab.benchmarks.care import spaces
from affectlab.benchmarks.care.counterfactual import Counterfactual
from affectlab.benchmarks.care.nodes import Core, asked_under
from affectlab.benchmarks.care.protocols import PROTOCOLS, node
from affectlab.benchmarks.care.shifts import shift_measures
from affectlab.benchmarks.care.spread import spread_measures
from affectlab.benchmarks.care.subjectivity import Subjective
from affectlab.benchmarks.care.tally import Floats, Tally, mean, numbers, root_mean
from affectlab.metrics import multilabel
from affectlab.metrics.classification import macro_resampled
from affectlab.metrics.predictions import Column, PredictionTable
from affectlab.metrics.text import rouge_l
from affectlab.stats.measures import Measures, Over, Share, Statistic

EXPECTED = tuple(spaces.expected(slot) for slot in spaces.RATED)
LEAVING_OUT = ("rmse", "rouge")
"""What is in the name of figures that leave out answers that could not be read."""
SIDES = ("positive", "negative")
SET_FIGURES = ("example_f1", "micro_f1", "macro_f1", "exact_match")


def measures(table: PredictionTable, protocol: str) -> Measures:
    """Events of one condition's predictions by story, and the statistics the protocol's headline is made of.

    Args:
        table: Predictions of one condition; rows without gold count for the coverage alone.
        protocol: Name of the protocol they come from.
    """
    asked = PROTOCOLS[protocol]
    if isinstance(asked, Counterfactual):
        return shift_measures(table)
    if isinstance(asked, Subjective):
        return spread_measures(table)
    return node_measures(table, protocol)


def presentations(protocol: str) -> dict[str, str]:
    """What a protocol of RQ1 or RQ2 gives in each presentation."""
    return dict(node(protocol).given)


def named(figure: str, variant: str) -> str:
    """Name of a figure in one presentation."""
    return f"{figure}:{variant}" if variant else figure


def coverage_of(figure: str) -> str:
    """Name of the coverage of what a figure is of (``"negative_level_coverage"`` of ``"negative_level_rmse"``)."""
    what = figure.partition("_")[0]
    if what == "rouge":
        return "core_coverage"
    if what not in SIDES:
        return f"{what}_coverage"
    return f"{what}_{'level' if '_level_' in figure else 'labels'}_coverage"


def headline_names(protocol: str) -> tuple[str, ...]:
    """Figures of the headline, the main one first."""
    asked = node(protocol)
    if isinstance(asked, Core):
        return ("rouge_l", "coverage")
    scored = asked.by_likelihood
    found: list[str] = []
    for variant, given in presentations(protocol).items():
        # Of what is put beside the story alone only the main figures: the rest is in the tables.
        figures = [f"{side}_{kind}" for side in SIDES for kind in SET_FIGURES[: 1 if variant else None]]
        if not variant or scored:
            figures += [f"{side}_level_rmse{mean}" for side in SIDES for mean in ("", "_expected")[: 1 + scored]]
        if spaces.DIMENSIONS[0] in asked_under(given):
            figures = ["appraisal_rmse", *(["appraisal_rmse_expected"] if scored else []), *figures]
        found += [named(figure, variant) for figure in figures]
    found.append("coverage")
    return tuple(found)


def node_measures(table: PredictionTable, protocol: str, weight: Floats | None = None) -> Measures:
    """Events of RQ1 and RQ2.

    Args:
        table: Predictions of one condition.
        protocol: Name of the protocol they come from.
        weight: Weight of each prediction; 1 each when ``None``.
    """
    tally = Tally(table)
    weights = np.ones(len(table)) if weight is None else weight
    statistics: dict[str, Statistic] = {}
    for variant in presentations(protocol):
        shown = table.variant.equals(variant)
        for slot in (*spaces.RATED, *EXPECTED):
            _rated(tally, table, shown, slot, variant, weights)
        for slot in spaces.SETS:
            _set(tally, table, shown, slot, variant, weights)
        _core(tally, table, shown, variant, weights)
        statistics |= {named(name, variant): one for name, one in _statistics(tally, variant).items()}
    asked = (*spaces.RATED, *spaces.SETS, *spaces.CORE)
    places = [(slot, variant) for variant in presentations(protocol) for slot in asked]
    read, all_asked = (
        [name for slot, variant in places for name in _at(slot, variant, *events)]
        for events in (("read",), ("read", "not read"))
    )
    statistics["coverage"] = Share(tally.events(read), tally.events(all_asked))
    leaving_out = frozenset(name for name in statistics if any(part in name for part in LEAVING_OUT))
    return tally.measures(statistics, headline_names(protocol)[0], leaving_out)


def _rows(table: PredictionTable, shown: NDArray[np.bool_], slot: str) -> NDArray[np.intp]:
    return np.flatnonzero(shown & table.slot.equals(slot))


def _at(slot: str, variant: str, *events: str) -> list[str]:
    return [f"{variant}/{slot}/{event}" for event in events]


def _rated(
    tally: Tally, table: PredictionTable, shown: NDArray[np.bool_], slot: str, variant: str, weight: Floats
) -> None:
    rows = _rows(table, shown, slot)
    gold, answer = numbers(table.gold.take(rows)), numbers(table.value.take(rows))
    low, high = spaces.bounds(slot)
    both = ~np.isnan(gold) & ~np.isnan(answer)
    error, exact, wrong, unread, read, not_read = _at(slot, variant, *RATED_EVENTS)
    share = (answer[both] - gold[both]) / (high - low)
    tally.add(error, rows[both], share * share * weight[rows[both]])
    for name, chosen in (
        (exact, both & (gold == answer)),
        (wrong, both & (gold != answer)),
        (unread, ~np.isnan(gold) & np.isnan(answer)),
        (read, ~np.isnan(answer)),
        (not_read, np.isnan(answer)),
    ):
        tally.add(name, rows[chosen], weight[rows[chosen]])


RATED_EVENTS = ("error", "exact", "wrong", "unread", "read", "not read")


def _members(column: Column, labels: Sequence[str]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Label sets [N, L], and which rows hold one [N]."""
    held = np.array(
        [[isinstance(v, tuple) and label in v for label in labels] for v in column.values] or [[False] * len(labels)]
    )
    there = np.array([isinstance(value, tuple) for value in column.values] or [False])
    return held[column.codes], there[column.codes]


def _set(
    tally: Tally, table: PredictionTable, shown: NDArray[np.bool_], slot: str, variant: str, weight: Floats
) -> None:
    rows = _rows(table, shown, slot)
    labels = spaces.SETS[slot].ids
    gold, has_gold = _members(table.gold.take(rows), labels)
    answer, answered = _members(table.value.take(rows), labels)
    tally.add(_at(slot, variant, "read")[0], rows[answered], weight[rows[answered]])
    tally.add(_at(slot, variant, "not read")[0], rows[~answered], weight[rows[~answered]])
    rows, gold, answer, answered = rows[has_gold], gold[has_gold], answer[has_gold], answered[has_gold]
    weights = weight[rows]
    right = multilabel.exact_match(gold, answer, answered)
    empty = right & ~gold.any(axis=1)
    for event, chosen in (("both empty", empty), ("exact", right & ~empty), ("other", ~right)):
        tally.add(_at(slot, variant, event)[0], rows[chosen], weights[chosen])
    tally.add(_at(slot, variant, "f1")[0], rows, multilabel.example_f1(gold, answer, answered) * weights)
    for column, label in enumerate(labels):
        for event, cells in (("hit", gold & answer), ("alarm", ~gold & answer), ("miss", gold & ~answer)):
            chosen = cells[:, column]
            tally.add(_at(slot, variant, f"{label}/{event}")[0], rows[chosen], weights[chosen])


@lru_cache(maxsize=65536)
def _overlap(gold: str, answer: str) -> float:
    return rouge_l(gold, answer)


def _core(tally: Tally, table: PredictionTable, shown: NDArray[np.bool_], variant: str, weight: Floats) -> None:
    for slot in spaces.CORE:
        rows = _rows(table, shown, slot)
        pairs = [
            (table.gold.values[gold], table.value.values[answer])
            for gold, answer in zip(table.gold.codes[rows].tolist(), table.value.codes[rows].tolist(), strict=True)
        ]
        answered = np.array([answer is not None for _, answer in pairs], dtype=bool)
        both = np.array([gold is not None and answer is not None for gold, answer in pairs], dtype=bool)
        overlap = np.array(
            [_overlap(gold, answer) for gold, answer in pairs if gold is not None and answer is not None]
        )
        rouge, scored, read, not_read = _at(slot, variant, "rouge", "scored", "read", "not read")
        tally.add(rouge, rows[both], overlap * weight[rows[both]])
        tally.add(scored, rows[both], weight[rows[both]])
        tally.add(read, rows[answered], weight[rows[answered]])
        tally.add(not_read, rows[~answered], weight[rows[~answered]])


def _statistics(tally: Tally, variant: str) -> dict[str, Statistic]:
    def over(slots: Sequence[str], *events: str) -> list[str]:
        return [name for slot in slots for name in _at(slot, variant, *events)]

    def rmse(slots: Sequence[str]) -> Over:
        return root_mean(tally, over(slots, "error"), over(slots, "exact", "wrong"))

    def coverage(slots: Sequence[str]) -> Share:
        return Share(tally.events(over(slots, "read")), tally.events(over(slots, "read", "not read")))

    found: dict[str, Statistic] = {}
    scored = [("appraisal", spaces.DIMENSIONS), *((slot, (slot,)) for slot in spaces.LEVELS)]
    for name, slots in (*scored, *((group, spaces.APPRAISALS.by_group(group)) for group in spaces.GROUPS)):
        found[f"{name}_rmse"] = rmse(slots)
        found[f"{name}_rmse_expected"] = rmse([spaces.expected(slot) for slot in slots])
        found[f"{name}_accuracy"] = Share(
            tally.events(over(slots, "exact")), tally.events(over(slots, "exact", "wrong", "unread"))
        )
        found[f"{name}_coverage"] = coverage(slots)
    # What is put beside the story alone has no breakdowns: there are enough tables without.
    for dimension in () if variant else spaces.DIMENSIONS:
        found[f"rmse:{dimension}"] = rmse((dimension,))
        found[f"coverage:{dimension}"] = coverage((dimension,))
    for slot in spaces.SETS:
        side = slot.partition("_")[0]
        found |= {f"{side}_{name}": one for name, one in _set_statistics(tally, slot, variant).items()}
        found[f"{side}_labels_coverage"] = coverage((slot,))
    found["core_coverage"] = coverage(spaces.CORE)
    found["rouge_l"] = mean(tally, over(spaces.CORE, "rouge"), over(spaces.CORE, "scored"))
    for slot in spaces.CORE:
        found[f"rouge_l:{slot}"] = mean(tally, over((slot,), "rouge"), over((slot,), "scored"))
    return found


def _set_statistics(tally: Tally, slot: str, variant: str) -> dict[str, Statistic]:
    sets = _at(slot, variant, "both empty", "exact", "other")
    labels = spaces.SETS[slot].ids
    cells = tally.events(
        [_at(slot, variant, f"{one}/{event}")[0] for one in labels for event in ("hit", "alarm", "miss")]
    )
    counted = tally.events(sets)

    def counts(totals: Floats) -> Floats:
        return totals.reshape(len(totals), len(labels), 3)

    def resampled(observed: Floats, totals: Floats) -> Floats:
        found, gold = counts(totals), multilabel.support(counts(observed))
        return macro_resampled(multilabel.f1(found), multilabel.support(found), gold)

    def scored_only(figure: str) -> Over:
        events = np.concatenate([cells, counted])
        size = len(cells)
        function = multilabel.micro_f1 if figure == "micro_f1" else multilabel.macro_f1
        return Over(
            events,
            lambda totals: np.where(totals[:, size:].sum(axis=1) > 0, function(counts(totals[:, :size])), np.nan),
            counted=counted,
            resampled=(lambda observed, totals: resampled(observed[:, :size], totals[:, :size]))
            if figure == "macro_f1"
            else None,
        )

    found: dict[str, Statistic] = {
        "example_f1": mean(tally, _at(slot, variant, "f1"), sets),
        "micro_f1": scored_only("micro_f1"),
        "macro_f1": scored_only("macro_f1"),
        "exact_match": Share(tally.events(sets[:2]), counted),
        "both_empty": Share(tally.events(sets[:1]), counted),
    }
    for place, label in enumerate(() if variant else labels):
        mine = cells[3 * place : 3 * place + 3]
        found[f"f1:{label}"] = Over(
            mine, lambda totals: multilabel.f1(totals[:, None, :], np.nan)[:, 0], counted=counted
        )
    return found
