"""Chiaro's predictions as counted events, and the statistics of their totals.

The headline statistics are computed under two policies for replies that cannot be read: counted wrong (plain names) and
left out (``:answered``), as the paper did for Emollama (Table 6).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from affectlab.benchmarks.chiaro.protocols import EMOTIONS, PROTOCOLS, SLOTS, Joint
from affectlab.benchmarks.choices import same_in_all_orders
from affectlab.metrics import classification as cl
from affectlab.metrics.predictions import PredictionTable
from affectlab.stats.measures import Measures, Over, Share, Statistic

N = len(EMOTIONS.ids)
CODES = {label: code for code, label in enumerate(EMOTIONS.ids)}
POSITIVE = np.array([CODES[label] for label in EMOTIONS.by_group("positive")])
NEGATIVE = np.array([CODES[label] for label in EMOTIONS.by_group("negative")])
CELLS = np.arange(N * (N + 1))

ANSWERED = CELLS.reshape(N, N + 1)[:, :N].ravel()
RIGHT = np.arange(N) * (N + 1) + np.arange(N)

_EXTRA = (
    "joint_right",
    "joint_wrong",
    "joint_unread",
    "read",
    "unread",
    "polarity_right",
    "polarity_wrong",
    "swapped",
    "not_swapped",
    "same_in_all_orders",
    "changed_with_order",
)
EVENT = {name: len(CELLS) + code for code, name in enumerate(_EXTRA)}
N_EVENTS = len(CELLS) + len(_EXTRA)
IS_POSITIVE = np.isin(np.arange(N), POSITIVE)


def offers_all_ten(protocol: str) -> bool:
    """Whether a protocol lets an answer have the wrong polarity."""
    asked = PROTOCOLS.get(protocol)
    return isinstance(asked, Joint) and asked.all_ten


def _matrix(totals: NDArray[np.float64]) -> NDArray[np.float64]:
    return cl.from_totals(totals, N)


def _answered_matrix(totals: NDArray[np.float64]) -> NDArray[np.float64]:
    """Confusion without the column of missing answers, which is put back empty [B, 10, 11]."""
    return np.concatenate([totals.reshape(-1, N, N), np.zeros((len(totals), N, 1))], axis=2)


def share_gap(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """Share of each label among answers minus its share in gold, both within its polarity [B, 10]."""
    predicted, gold = cl.predicted(matrix), cl.support(matrix)
    gap = np.full(predicted.shape, np.nan)
    for group in (POSITIVE, NEGATIVE):
        answers, truths = predicted[:, group], gold[:, group]
        totals = answers.sum(axis=1, keepdims=True), truths.sum(axis=1, keepdims=True)
        both = (totals[0] > 0) & (totals[1] > 0)
        with np.errstate(invalid="ignore", divide="ignore"):
            gap[:, group] = np.where(both, answers / totals[0] - truths / totals[1], np.nan)
    return gap


def _share(hits: list[str], events: list[str]) -> Share:
    return Share(np.array([EVENT[name] for name in hits]), np.array([EVENT[name] for name in events]))


def _statistics() -> dict[str, Statistic]:
    found: dict[str, Statistic] = {}

    def both_policies(name: str, group: NDArray[np.intp] | None) -> None:
        for suffix, cells, matrix_of in (("", CELLS, _matrix), (":answered", ANSWERED, _answered_matrix)):
            found[name + suffix] = Over(
                cells,
                lambda totals, matrix_of=matrix_of: _macro_of(matrix_of(totals), group),  # type: ignore[misc]
                counted=np.intersect1d(cells, CELLS if group is None else _rows(group)),
                resampled=lambda observed, totals, matrix_of=matrix_of: cl.macro_f1_resampled(  # type: ignore[misc]
                    matrix_of(observed), matrix_of(totals), group
                ),
            )

    both_policies("macro_f1", None)
    both_policies("macro_f1_positive", POSITIVE)
    both_policies("macro_f1_negative", NEGATIVE)
    found["accuracy"] = Share(RIGHT, CELLS)
    found["accuracy:answered"] = Share(RIGHT, ANSWERED)
    found["joint_accuracy"] = _share(["joint_right"], ["joint_right", "joint_wrong", "joint_unread"])
    found["joint_accuracy:answered"] = _share(["joint_right"], ["joint_right", "joint_wrong"])
    found["parse_rate"] = _share(["read"], ["read", "unread"])
    found["polarity_accuracy"] = _share(["polarity_right"], ["polarity_right", "polarity_wrong"])
    found["swap_rate"] = _share(["swapped"], ["swapped", "not_swapped"])
    found["order_consistency"] = _share(["same_in_all_orders"], ["same_in_all_orders", "changed_with_order"])
    for code, label in enumerate(EMOTIONS.ids):
        hit = RIGHT[code : code + 1]
        found[f"precision:{label}"] = Share(hit, _column(code))
        found[f"recall:{label}"] = Share(hit, _rows(hit // (N + 1)))
        either = np.union1d(_column(code), _rows(hit // (N + 1)))
        found[f"f1:{label}"] = Over(CELLS, _label_statistic(_f1_if_any_gold, code), counted=either)
        found[f"share_gap:{label}"] = Over(CELLS, _label_statistic(share_gap, code))
    return found


def _label_statistic(function: Any, code: int) -> Statistic:
    return lambda totals: function(_matrix(totals))[:, code]


def _f1_if_any_gold(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """F1 by label [B, 10]; undefined where nothing has gold, 0 for a label without any beside labels with."""
    return np.where(cl.support(matrix).sum(axis=-1, keepdims=True) > 0, cl.f1(matrix), np.nan)


def _macro_of(matrix: NDArray[np.float64], group: NDArray[np.intp] | None) -> NDArray[np.float64]:
    """Macro-F1 over some labels; undefined where none of them has gold."""
    support = cl.support(matrix)
    asked = (support if group is None else support[..., group]).sum(axis=-1) > 0
    return np.where(asked, cl.macro_f1(matrix, group), np.nan)


def _rows(labels: NDArray[np.intp]) -> NDArray[np.intp]:
    """Cells whose gold is one of some labels."""
    return CELLS.reshape(N, N + 1)[labels].ravel()


def _column(label: int) -> NDArray[np.intp]:
    """Cells whose answer is a label."""
    return CELLS.reshape(N, N + 1)[:, label].ravel()


STATISTICS = _statistics()
LEAVING_OUT = frozenset(
    name for name in STATISTICS if name.endswith(":answered") or name.startswith(("precision:", "swap_rate"))
)


def measures(table: PredictionTable, protocol: str) -> Measures:
    """Events of one condition's predictions by scene, and which scenes are right as a whole.

    Args:
        table: Predictions of one condition. Rows without gold count only for the parse rate.
        protocol: Name of the protocol they come from.
    """
    correct, independent = _units(table)
    return replace(counted(table, protocol), correct=correct, units_independent=independent)


def counted(table: PredictionTable, protocol: str) -> Measures:
    """:func:`measures` without naming each scene, which is all that scoring needs."""
    predicted = table.value.recode(CODES, -1)
    gold = table.gold.recode(CODES, -1)
    present, cluster = np.unique(table.cluster.codes, return_inverse=True)
    pieces = [(cluster, np.where(predicted >= 0, EVENT["read"], EVENT["unread"]))]
    scored = gold >= 0
    pieces.append((cluster[scored], cl.confusion_events(gold[scored], predicted[scored], N)))
    scene, first = table.groups("item", "variant", "repeat")
    pieces += _joint(scene[scored], first, cluster, predicted[scored], gold[scored])
    if offers_all_ten(protocol):
        pieces += _polarities(scene, first, cluster, predicted, gold)
    asked, same = same_in_all_orders(table)
    pieces.append((cluster[asked], np.where(same, EVENT["same_in_all_orders"], EVENT["changed_with_order"])))
    return Measures(
        cluster=np.concatenate([piece[0] for piece in pieces]).astype(np.int32),
        event=np.concatenate([piece[1] for piece in pieces]).astype(np.int32),
        clusters=tuple(table.cluster.values[code] for code in present.tolist()),
        n_events=N_EVENTS,
        statistics=STATISTICS,
        correct={},
        headline="macro_f1",
        leaving_out=LEAVING_OUT,
    )


def confusion(measures: Measures) -> NDArray[np.float64]:
    """The counts behind some measures as a confusion matrix [10, 11]."""
    return _matrix(measures.totals()[0, CELLS])


def _joint(
    scene: NDArray[np.intp],
    first: NDArray[np.intp],
    cluster: NDArray[np.intp],
    predicted: NDArray[np.int64],
    gold: NDArray[np.int64],
) -> list[tuple[NDArray[Any], NDArray[Any]]]:
    """One event per presentation whose two slots both have gold."""
    n = len(first)
    asked = np.bincount(scene, minlength=n)
    right = np.bincount(scene, weights=predicted == gold, minlength=n)
    unread = np.bincount(scene, weights=predicted < 0, minlength=n)
    event = np.where(right == len(SLOTS), EVENT["joint_right"], EVENT["joint_wrong"])
    event = np.where(unread > 0, EVENT["joint_unread"], event)
    whole = asked == len(SLOTS)
    return [(cluster[first[whole]], event[whole])]


def _polarities(
    scene: NDArray[np.intp],
    first: NDArray[np.intp],
    cluster: NDArray[np.intp],
    predicted: NDArray[np.int64],
    gold: NDArray[np.int64],
) -> list[tuple[NDArray[Any], NDArray[Any]]]:
    """Polarity of each answer (unread ones wrong), and whether a scene's two agents were taken for each other."""
    scored = gold >= 0
    wrong_polarity = (predicted >= 0) & scored & (IS_POSITIVE[predicted] != IS_POSITIVE[gold])
    right_polarity = (predicted >= 0) & scored & ~wrong_polarity
    n = len(first)
    whole = np.bincount(scene, weights=(predicted >= 0) & scored, minlength=n) == len(SLOTS)
    swapped = np.bincount(scene, weights=wrong_polarity, minlength=n) == len(SLOTS)
    return [
        (cluster[scored], np.where(right_polarity[scored], EVENT["polarity_right"], EVENT["polarity_wrong"])),
        (cluster[first[whole]], np.where(swapped[whole], EVENT["swapped"], EVENT["not_swapped"])),
    ]


def _units(table: PredictionTable) -> tuple[dict[str, bool], bool]:
    """Whether each presentation of a scene has both answers right, and whether no two lie in one cluster."""
    gold = table.gold.recode(CODES, -1)
    scored = gold >= 0
    scene, first = table.groups("item", "variant", "repeat")
    n = len(first)
    right = np.bincount(scene, weights=scored & (table.value.recode(CODES, -1) == gold), minlength=n) == len(SLOTS)
    whole = np.bincount(scene, weights=scored, minlength=n) == len(SLOTS)
    names = table.names(first[whole], "item", "variant", "repeat")
    clusters = table.cluster.codes[first[whole]]
    return dict(zip(names, right[whole].tolist(), strict=True)), len(np.unique(clusters)) == len(clusters)
