"""Predictions as one row a scenario: eight golds, eight answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from affectlab.benchmarks.emoscene.record import ABSENT, EMOTIONS, PRESENT
from affectlab.metrics.predictions import Prediction, PredictionTable

SLOTS = EMOTIONS.ids
SLOT = {slot: place for place, slot in enumerate(SLOTS)}
NO, YES, UNREAD, NOT_ASKED = 0, 1, 2, -1
_BIT = {ABSENT: NO, PRESENT: YES}


@dataclass(frozen=True)
class Answers:
    """Scenarios as they were asked: each item, once for each repeat.

    Attributes:
        gold: 1 where the emotion is there, 0 where not, -1 where the data do not say [U, 8].
        said: 1 yes, 0 no, 2 a reply that could not be read, -1 no reply yet [U, 8].
        cluster: Code of each one's cluster [U], an index into ``clusters``.
        clusters: Names of all clusters.
        names: What tells the scenarios apart, for people [U].
        keys: Item, variant and repeat of each [U].
    """

    gold: NDArray[np.int64]
    said: NDArray[np.int64]
    cluster: NDArray[np.int64]
    clusters: tuple[str, ...]
    names: tuple[str, ...]
    keys: tuple[tuple[str, str, int], ...] = ()

    @property
    def whole(self) -> NDArray[np.bool_]:
        """Which have gold and a reply for all eight [U]."""
        return np.asarray(((self.gold >= 0) & (self.said != NOT_ASKED)).all(axis=1), dtype=np.bool_)

    def only(self, rows: NDArray[np.bool_]) -> Answers:
        """Some of them, with their own clusters."""
        kept, codes = np.unique(self.cluster[rows], return_inverse=True)
        chosen = np.flatnonzero(rows).tolist()
        return Answers(
            self.gold[rows],
            self.said[rows],
            codes,
            tuple(self.clusters[code] for code in kept.tolist()),
            tuple(self.names[row] for row in chosen),
            tuple(self.keys[row] for row in chosen),
        )

    def deciding(self, yes: NDArray[np.bool_]) -> Answers:
        """The same scenarios with other answers [U, 8]."""
        return replace(self, said=yes.astype(np.int64))


def answers_of(table: PredictionTable) -> Answers:
    """Predictions of one condition, one row a scenario, in the order of their ids, whatever order they came in."""
    unit, first = table.groups("item", "variant", "repeat")
    keys = list(_keys(table, first))
    order = np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.int64)
    place = np.argsort(order)[unit]
    slot = table.slot.recode(SLOT, -1)
    gold = np.full((len(first), len(SLOTS)), -1)
    said = np.full((len(first), len(SLOTS)), NOT_ASKED)
    gold[place, slot] = table.gold.recode(_BIT, -1)
    said[place, slot] = table.value.recode(_BIT, UNREAD)
    owners = [table.cluster.values[code] for code in table.cluster.codes[first[order]].tolist()]
    clusters = sorted(set(owners))
    number = {name: code for code, name in enumerate(clusters)}
    return Answers(
        gold,
        said,
        np.array([number[owner] for owner in owners], dtype=np.int64),
        tuple(clusters),
        tuple(table.names(first[order], "item", "variant", "repeat")),
        tuple(keys[row] for row in order.tolist()),
    )


def _keys(table: PredictionTable, rows: NDArray[np.intp]) -> Iterator[tuple[str, str, int]]:
    columns = [(column.codes[rows].tolist(), column.values) for column in (table.item, table.variant, table.repeat)]
    for item, variant, repeat in zip(*(codes for codes, _ in columns), strict=True):
        yield columns[0][1][item], columns[1][1][variant], columns[2][1][repeat]


def details(answers: Answers, predictions: Sequence[Prediction], field: str, condition: str) -> NDArray[np.float64]:
    """A number that predictions keep in their ``detail``, by scenario and emotion [U, 8]; NaN where there is none.

    Args:
        answers: The scenarios of the same predictions.
        predictions: Rows of all conditions.
        field: Name within ``detail``.
        condition: The one that is scored.
    """
    found = np.full(answers.gold.shape, np.nan)
    place = {key: row for row, key in enumerate(answers.keys)}
    for row in predictions:
        value = row.detail.get(field) if row.condition == condition else None
        if value is not None:
            found[place[row.item, row.variant, row.repeat], SLOT[row.slot]] = value
    return found
