"""EmoScene's answers as events, and the statistics of their totals.

A reply that cannot be read is no yes: it misses a gold emotion, raises no false alarm, and is wrong for exact match,
example-F1 and Hamming loss (plain names). ``:answered`` names leave it out.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from affectlab.benchmarks.emoscene.answers import NOT_ASKED, SLOTS, UNREAD, YES, Answers, answers_of
from affectlab.metrics import multilabel
from affectlab.metrics.classification import Floats, macro_resampled, ratio_or
from affectlab.metrics.predictions import PredictionTable
from affectlab.stats.measures import Measures, Over, Share, Statistic, Totals

L = len(SLOTS)
PAIRS = [(j, k) for j in range(L) for k in range(j + 1, L)]
_SHAPE = (L, 2, 3)
"""Cells: emotion, gold (absent, present), answer (no, yes, unread)."""
CELLS = np.arange(np.prod(_SHAPE))
_GRID = CELLS.reshape(_SHAPE)
READ_CELLS = _GRID[:, :, :UNREAD].ravel()

_EXTRA = ("read", "unread", "exact", "inexact", "exact_unread", "example", "example_read", "example_f1", "f1_read")
EVENT = {name: len(CELLS) + code for code, name in enumerate(_EXTRA)}
GOLD_PAIR = len(CELLS) + len(_EXTRA) + np.arange(len(PAIRS))
SAID_PAIR = GOLD_PAIR + len(PAIRS)
N_EVENTS = int(SAID_PAIR[-1]) + 1

HEADLINE = (
    "macro_f1",
    "macro_precision",
    "macro_recall",
    "micro_f1",
    "example_f1",
    "exact_match",
    "hamming_loss",
    "parse_rate",
)


def label_counts(cells: Totals) -> Floats:
    """Hits, false alarms and misses by emotion [B, 8, 3] from totals of cells [B, 8 * 2 * answers]."""
    grid = cells.reshape(len(cells), L, 2, -1)
    return np.stack([grid[:, :, 1, YES], grid[:, :, 0, YES], grid[:, :, 1].sum(axis=-1) - grid[:, :, 1, YES]], axis=-1)


def precision(counts: Floats) -> Floats:
    """Precision by emotion [B, 8]; 0 for an emotion never answered, as in the paper's recipe."""
    return ratio_or(counts[..., 0], counts[..., 0] + counts[..., 1], 0.0)


def recall(counts: Floats) -> Floats:
    """Recall by emotion [B, 8]; 0 for an emotion without gold, as in the paper's recipe."""
    return ratio_or(counts[..., 0], counts[..., 0] + counts[..., 2], 0.0)


def _macro(by_label: Callable[[Floats], Floats], cells: NDArray[np.intp]) -> Over:
    def observed(totals: Totals) -> NDArray[np.float64]:
        return np.where(totals.sum(axis=1) > 0, by_label(label_counts(totals)).mean(axis=1), np.nan)

    def resampled(seen: Totals, totals: Totals) -> NDArray[np.float64]:
        counts = label_counts(totals)
        return macro_resampled(by_label(counts), multilabel.support(counts), multilabel.support(label_counts(seen)))

    return Over(cells, observed, resampled=resampled)


def _micro(totals: Totals) -> NDArray[np.float64]:
    return np.where(totals.sum(axis=1) > 0, multilabel.micro_f1(label_counts(totals)), np.nan)


def _of_label(function: Callable[[Floats], Floats], code: int, rows: NDArray[np.intp]) -> Over:
    """A figure of one emotion, undefined without any gold of or answer to it as ``rows`` says."""
    return Over(
        CELLS,
        lambda totals: np.where(totals[:, rows].sum(axis=1) > 0, function(label_counts(totals))[:, code], np.nan),
        counted=rows,
    )


def _mean(total: str, count: str) -> Over:
    return Over(
        np.array([EVENT[total], EVENT[count]]),
        lambda totals: ratio_or(totals[:, 0], totals[:, 1], np.nan),
        counted=np.array([EVENT[count]]),
    )


def _share(hits: list[str], events: list[str]) -> Share:
    return Share(np.array([EVENT[name] for name in hits]), np.array([EVENT[name] for name in events]))


def _pair_gap(totals: Totals) -> NDArray[np.float64]:
    n = totals[:, -1]
    gap = np.abs(totals[:, len(PAIRS) : -1] - totals[:, : len(PAIRS)]).mean(axis=1)
    return ratio_or(gap, n, np.nan)


def _statistics() -> dict[str, Statistic]:
    found: dict[str, Statistic] = {}
    wrong = np.concatenate([_GRID[:, 0, 1:].ravel(), _GRID[:, 1, [0, UNREAD]].ravel()])
    for suffix, cells in (("", CELLS), (":answered", READ_CELLS)):
        found["macro_f1" + suffix] = _macro(multilabel.f1, cells)
        found["macro_precision" + suffix] = _macro(precision, cells)
        found["macro_recall" + suffix] = _macro(recall, cells)
        found["micro_f1" + suffix] = Over(cells, _micro)
        found["hamming_loss" + suffix] = Share(np.intersect1d(wrong, cells), cells)
    found["example_f1"] = _mean("example_f1", "example")
    found["example_f1:answered"] = _mean("f1_read", "example_read")
    found["exact_match"] = _share(["exact"], ["exact", "inexact", "exact_unread"])
    found["exact_match:answered"] = _share(["exact"], ["exact", "inexact"])
    found["parse_rate"] = _share(["read"], ["read", "unread"])
    found["cooccurrence_gap"] = Over(
        np.concatenate([GOLD_PAIR, SAID_PAIR, [EVENT["example"]]]), _pair_gap, counted=np.array([EVENT["example"]])
    )
    for code, slot in enumerate(SLOTS):
        answered, there = _GRID[code, :, YES], _GRID[code, 1]
        found[f"precision:{slot}"] = Share(_GRID[code, 1, [YES]], answered)
        found[f"recall:{slot}"] = Share(_GRID[code, 1, [YES]], there)
        found[f"f1:{slot}"] = _of_label(multilabel.f1, code, _GRID[code].ravel())
    return found


STATISTICS = _statistics()
LEAVING_OUT = frozenset(
    name for name in STATISTICS if name.endswith(":answered") or name.startswith(("macro_precision", "precision:"))
)
"""A reply that cannot be read is no yes, so that it is in no precision."""


def measures(table: PredictionTable, protocol: str) -> Measures:
    """Events of one condition's predictions by scenario, and which scenarios are right in all eight.

    Args:
        table: Predictions of one condition. Rows without gold count only for the parse rate.
        protocol: Name of the protocol they come from; all are measured alike.
    """
    return counted(answers_of(table))


def counted(answers: Answers) -> Measures:
    """The events of some answers."""
    gold, said, cluster = answers.gold, answers.said, answers.cluster
    pieces: list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]] = []

    def add(owner: NDArray[np.int64], event: NDArray[np.int64], weight: NDArray[np.float64] | None = None) -> None:
        pieces.append((owner, event, np.ones(len(event)) if weight is None else weight))

    unit, slot = np.nonzero(said != NOT_ASKED)
    add(cluster[unit], np.where(said[unit, slot] == UNREAD, EVENT["unread"], EVENT["read"]))
    unit, slot = np.nonzero((said != NOT_ASKED) & (gold >= 0))
    add(cluster[unit], _GRID[slot, gold[unit, slot], said[unit, slot]])

    whole = answers.whole
    truth, answer = gold[whole] == 1, said[whole] == YES
    read = (said[whole] != UNREAD).all(axis=1)
    owner = cluster[whole]
    right = multilabel.exact_match(truth, answer, read)
    add(owner, np.where(right, EVENT["exact"], np.where(read, EVENT["inexact"], EVENT["exact_unread"])))
    score = multilabel.example_f1(truth, answer, read)
    add(owner, np.full(len(owner), EVENT["example"]))
    add(owner, np.full(len(owner), EVENT["example_f1"]), score)
    add(owner[read], np.full(int(read.sum()), EVENT["example_read"]))
    add(owner[read], np.full(int(read.sum()), EVENT["f1_read"]), score[read])
    for (j, k), of_gold, of_said in zip(PAIRS, GOLD_PAIR, SAID_PAIR, strict=True):
        for sets, event in ((truth, of_gold), (answer, of_said)):
            both = sets[:, j] & sets[:, k]
            add(owner[both], np.full(int(both.sum()), event))

    names = [name for name, keep in zip(answers.names, whole.tolist(), strict=True) if keep]
    return Measures(
        cluster=np.concatenate([piece[0] for piece in pieces]).astype(np.int32),
        event=np.concatenate([piece[1] for piece in pieces]).astype(np.int32),
        clusters=answers.clusters,
        n_events=N_EVENTS,
        statistics=STATISTICS,
        correct=dict(zip(names, right.tolist(), strict=True)),
        headline="macro_f1",
        weight=np.concatenate([piece[2] for piece in pieces]),
        units_independent=len(np.unique(owner)) == len(owner),
        leaving_out=LEAVING_OUT,
    )
