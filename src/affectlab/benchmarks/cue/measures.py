"""CUE-Bench's predictions as counted events, and the statistics of their totals.

The three tasks' figures are computed under two policies for replies that cannot be read: counted wrong (plain names),
as the public code does, and left out (``:answered``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from affectlab.benchmarks.choices import same_in_all_orders
from affectlab.benchmarks.cue.prompts import CHAIN, SPACES
from affectlab.benchmarks.cue.protocols import SLOTS, STATED, TASKS
from affectlab.labels import LabelSpace
from affectlab.metrics import classification as cl
from affectlab.metrics.predictions import PredictionTable
from affectlab.stats.measures import Measures, Over, Share, Statistic, Totals

SPACE_OF: dict[str, LabelSpace] = {**SPACES, STATED: SPACES["stance"]}
SIZE = {slot: len(space) for slot, space in SPACE_OF.items()}
CODES = {slot: {label: code for code, label in enumerate(space.ids)} for slot, space in SPACE_OF.items()}
LEVELS = (*CHAIN, "none")
"""Where along the chain the first error can be; ``none`` when all five levels are right."""

_CELLS = {slot: size * (size + 1) for slot, size in SIZE.items()}
OFFSET = dict(zip(SLOTS, np.cumsum([0, *(_CELLS[slot] for slot in SLOTS)]).tolist(), strict=False))
_EXTRA = (
    *(f"{word}:{task}" for task in TASKS for word in ("read", "unread")),
    "all_right",
    "not_all_right",
    "agrees",
    "contradicts",
    *(f"first_error:{level}" for level in LEVELS),
    "same_in_all_orders",
    "changed_with_order",
)
EVENT = {name: sum(_CELLS.values()) + code for code, name in enumerate(_EXTRA)}
N_EVENTS = sum(_CELLS.values()) + len(_EXTRA)

Cells = NDArray[np.intp]
Figure = Callable[[NDArray[np.float64]], NDArray[np.float64]]
Pieces = list[tuple[NDArray[Any], NDArray[Any]]]


def cells(slot: str) -> Cells:
    """Event codes of a slot's confusion matrix, [L, L + 1]."""
    codes = np.arange(OFFSET[slot], OFFSET[slot] + _CELLS[slot], dtype=np.intp)
    return codes.reshape(SIZE[slot], SIZE[slot] + 1)


def _matrix(totals: Totals, slot: str, *, answered: bool) -> NDArray[np.float64]:
    """A slot's confusion [B, L, L + 1] from totals of its cells; without the unread answers if ``answered``."""
    size = SIZE[slot]
    if not answered:
        return cl.from_totals(totals, size)
    return np.concatenate([totals.reshape(-1, size, size), np.zeros((len(totals), size, 1))], axis=2)


def _of_slot(figure: Figure, slot: str, *, answered: bool, resampled: Any = None) -> Over:
    of = partial(_matrix, slot=slot, answered=answered)
    return Over(
        (cells(slot)[:, :-1] if answered else cells(slot)).ravel(),
        lambda totals: figure(of(totals)),
        resampled=None if resampled is None else lambda observed, totals: resampled(of(observed), of(totals)),
    )


def _accuracy(slot: str, *, answered: bool) -> Share:
    shown = cells(slot)[:, :-1] if answered else cells(slot)
    return Share(np.diagonal(cells(slot)).copy(), shown.ravel())


def _average(*, answered: bool) -> Over:
    """The paper's Avg.: plain mean of accuracy, macro-F1 and weighted-F1 of the three tasks (Table 3)."""
    shown = [(cells(task)[:, :-1] if answered else cells(task)).ravel() for task in TASKS]
    bounds = np.cumsum([len(codes) for codes in shown])[:-1]

    def matrices(totals: Totals) -> list[NDArray[np.float64]]:
        parts = np.split(totals, bounds, axis=1)
        return [_matrix(part, task, answered=answered) for part, task in zip(parts, TASKS, strict=True)]

    def mean(found: list[NDArray[np.float64]], macro: list[NDArray[np.float64]]) -> NDArray[np.float64]:
        figures = [*macro, *map(cl.accuracy, found), *map(cl.weighted_f1, found)]
        return np.asarray(np.mean(figures, axis=0), dtype=np.float64)

    def function(totals: Totals) -> NDArray[np.float64]:
        found = matrices(totals)
        return mean(found, [cl.macro_f1(matrix) for matrix in found])

    def resampled(observed: Totals, totals: Totals) -> NDArray[np.float64]:
        found = matrices(totals)
        pairs = zip(matrices(observed), found, strict=True)
        return mean(found, [cl.macro_f1_resampled(before, matrix) for before, matrix in pairs])

    return Over(np.concatenate(shown), function, resampled=resampled)


def _f1_of_label(slot: str, code: int) -> Over:
    """F1 of one label: 2 TP / (gold + answers); undefined when it has neither."""
    row, column = cells(slot)[code], cells(slot)[:, code]
    size = SIZE[slot]

    def function(totals: Totals) -> NDArray[np.float64]:
        gold, answers = totals[:, : size + 1].sum(axis=1), totals[:, size + 1 :].sum(axis=1)
        return cl.ratio_or(2 * totals[:, code], gold + answers, np.nan)

    return Over(np.concatenate([row, column]), function, counted=np.union1d(row, column))


def _share(hits: list[str], events: list[str]) -> Share:
    return Share(np.array([EVENT[name] for name in hits]), np.array([EVENT[name] for name in events]))


def _statistics() -> dict[str, Statistic]:
    found: dict[str, Statistic] = {"average": _average(answered=False), "average:answered": _average(answered=True)}
    for slot in SLOTS:
        for suffix, answered in (("", False), (":answered", True)):
            found[f"accuracy:{slot}{suffix}"] = _accuracy(slot, answered=answered)
            found[f"macro_f1:{slot}{suffix}"] = _of_slot(
                cl.macro_f1, slot, answered=answered, resampled=cl.macro_f1_resampled
            )
            found[f"weighted_f1:{slot}{suffix}"] = _of_slot(cl.weighted_f1, slot, answered=answered)
        for code, label in enumerate(SPACE_OF[slot].ids):
            hit = cells(slot)[code, code : code + 1]
            found[f"precision:{slot}:{label}"] = Share(hit, cells(slot)[:, code])
            found[f"recall:{slot}:{label}"] = Share(hit, cells(slot)[code])
            found[f"f1:{slot}:{label}"] = _f1_of_label(slot, code)
    for task in TASKS:
        found[f"parse_rate:{task}"] = _share([f"read:{task}"], [f"read:{task}", f"unread:{task}"])
    reads = [f"read:{task}" for task in TASKS]
    found["parse_rate"] = _share(reads, [*reads, *(f"unread:{task}" for task in TASKS)])
    found["joint_accuracy"] = _share(["all_right"], ["all_right", "not_all_right"])
    found["contradiction_rate"] = _share(["contradicts"], ["agrees", "contradicts"])
    found["order_consistency"] = _share(["same_in_all_orders"], ["same_in_all_orders", "changed_with_order"])
    first = [f"first_error:{level}" for level in LEVELS]
    for place, level in enumerate(CHAIN):
        found[f"first_error:{level}"] = _share([first[place]], first)
        found[f"right_after_right:{level}"] = _share(first[place + 1 :], first[place:])
    found["whole_chain"] = _share([first[-1]], first)
    return found


STATISTICS = _statistics()
LEAVING_OUT = frozenset(
    name for name in STATISTICS if name.endswith(":answered") or name.startswith(("precision:", "contradiction_rate"))
)


def tasks_of(table: PredictionTable) -> tuple[str, ...]:
    """The tasks that some predictions are about."""
    return tuple(task for task in TASKS if table.slot.equals(task).any())


def measures(table: PredictionTable, protocol: str) -> Measures:
    """Events of one condition's predictions by source, and which records are right in every task asked.

    Args:
        table: Predictions of one condition. Rows without gold count only for the parse rate.
        protocol: Name of the protocol they come from; the events do not depend on it.
    """
    correct, independent = _units(table)
    return replace(counted(table), correct=correct, units_independent=independent)


def counted(table: PredictionTable) -> Measures:
    """:func:`measures` without naming each record, which is all that scoring needs."""
    present, cluster = np.unique(table.cluster.codes, return_inverse=True)
    pieces: Pieces = []
    for slot in SLOTS:
        rows = table.slot.equals(slot)
        predicted, gold = _coded(table, slot)
        if slot in TASKS:
            pieces.append(
                (cluster[rows], np.where(predicted[rows] >= 0, EVENT[f"read:{slot}"], EVENT[f"unread:{slot}"]))
            )
        scored = rows & (gold >= 0)
        events = OFFSET[slot] + cl.confusion_events(gold[scored], predicted[scored], SIZE[slot])
        pieces.append((cluster[scored], events))
    pieces += _together(table, cluster)
    pieces += _chain(table, cluster)
    pieces += _orders(table, cluster)
    asked = tasks_of(table)
    return Measures(
        cluster=np.concatenate([piece[0] for piece in pieces]).astype(np.int32),
        event=np.concatenate([piece[1] for piece in pieces]).astype(np.int32),
        clusters=tuple(table.cluster.values[code] for code in present.tolist()),
        n_events=N_EVENTS,
        statistics=STATISTICS,
        correct={},
        headline=f"macro_f1:{asked[0]}" if len(asked) == 1 else "average",
        leaving_out=LEAVING_OUT,
    )


def confusions(measures: Measures) -> dict[str, NDArray[np.float64]]:
    """The counts behind some measures as a confusion matrix [L, L + 1] for each slot."""
    totals = measures.totals()[0]
    return {slot: totals[cells(slot)] for slot in SLOTS}


def _coded(table: PredictionTable, slot: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Codes of answers and gold in a slot's space [N each]; -1 where there is none."""
    return table.value.recode(CODES[slot], -1), table.gold.recode(CODES[slot], -1)


def _right(table: PredictionTable) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which rows have gold, and which of them are right [N each]."""
    scored = ~table.gold.equals(None)
    alike = {value: code for code, value in enumerate(dict.fromkeys((*table.value.values, *table.gold.values)))}
    return scored, scored & (table.value.recode(alike, -1) == table.gold.recode(alike, -2))


def _tasks(table: PredictionTable) -> NDArray[np.bool_]:
    """Rows of the three tasks."""
    return table.slot.recode(dict.fromkeys(TASKS, 1), 0).astype(bool)


def _together(table: PredictionTable, cluster: NDArray[np.intp]) -> Pieces:
    """One event per presentation whose three tasks all have gold.

    Asked in every order, the tasks have as many orders as labels. Each order of the longest list then goes with the
    order of that number of the shorter ones, counted on from their first after their last.
    """
    if set(tasks_of(table)) != set(TASKS):
        return []
    group, first = table.groups("item", "repeat")
    order = np.array([int(name.partition("=")[2] or 0) for name in table.variant.values])[table.variant.codes]
    scored, right = _right(table)
    found = []
    for task in TASKS:
        rows = table.slot.equals(task)
        outcome = np.full((len(first), order[rows].max() + 1), -1)
        outcome[group[rows], order[rows]] = np.where(scored[rows], right[rows], -1)
        found.append(outcome)
    longest = np.arange(max(outcome.shape[1] for outcome in found))
    together = np.stack([outcome[:, longest % outcome.shape[1]] for outcome in found])
    record, number = np.nonzero((together >= 0).all(axis=0))
    hits = together[:, record, number].all(axis=0)
    return [(cluster[first[record]], np.where(hits, EVENT["all_right"], EVENT["not_all_right"]))]


def _chain(table: PredictionTable, cluster: NDArray[np.intp]) -> Pieces:
    """Where a matrix-guided reply first went wrong, and whether its stance contradicts its own signals.

    The level of the stance is judged by the stance as the model wrote it: φ of two right signals cannot be wrong.
    """
    if not table.slot.equals(STATED).any():
        return []
    group, first = table.groups("item", "variant", "repeat")
    n = len(first)
    scored, right = _right(table)
    level_of = {**{slot: place for place, slot in enumerate(CHAIN) if slot != "stance"}, STATED: CHAIN.index("stance")}
    level = table.slot.recode(level_of, -1)
    judged = level >= 0
    whole = np.bincount(group, weights=judged & scored, minlength=n) == len(CHAIN)
    first_error = np.full(n, len(CHAIN))
    wrong = judged & ~right
    np.minimum.at(first_error, group[wrong], level[wrong])
    events = np.array([EVENT[f"first_error:{name}"] for name in LEVELS])
    both = {}
    for slot in ("stance", STATED):
        rows = table.slot.equals(slot)
        both[slot] = np.full(n, -1)
        both[slot][group[rows]] = _coded(table, slot)[0][rows]
    readable = (both["stance"] >= 0) & (both[STATED] >= 0)
    contradicts = both["stance"] != both[STATED]
    return [
        (cluster[first[whole]], events[first_error[whole]]),
        (cluster[first[readable]], np.where(contradicts[readable], EVENT["contradicts"], EVENT["agrees"])),
    ]


def _orders(table: PredictionTable, cluster: NDArray[np.intp]) -> Pieces:
    """Where a task was shown in several orders: whether its answer was the same, and readable, in all."""
    asked, same = same_in_all_orders(table)
    tasks = _tasks(table)[asked]
    event = np.where(same, EVENT["same_in_all_orders"], EVENT["changed_with_order"])
    return [(cluster[asked[tasks]], event[tasks])]


def _units(table: PredictionTable) -> tuple[dict[str, bool], bool]:
    """Whether each record (and repeat) is right in every task and order, and whether no two lie in one cluster."""
    part = table.where(_tasks(table))
    group, first = part.groups("item", "repeat")
    scored, right = _right(part)
    asked = np.bincount(group, minlength=len(first))
    whole = np.bincount(group, weights=scored, minlength=len(first)) == asked
    hits = np.bincount(group, weights=right, minlength=len(first)) == asked
    names = part.names(first[whole], "item", "repeat")
    clusters = part.cluster.codes[first[whole]]
    return dict(zip(names, hits[whole].tolist(), strict=True)), len(np.unique(clusters)) == len(clusters)
