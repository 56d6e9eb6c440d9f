"""Two sides measured on the same answers.

A figure may count an unread answer as wrong (macro-F1) or leave it out (the mean of ratings, of decisions). The second
kind rests on other items wherever the two sides were not read alike, and its difference would be one of items as much
as of answers: it is taken over the answers read on both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from affectlab.metrics.predictions import PredictionTable
from affectlab.stats.bootstrap import Interval
from affectlab.stats.estimate import Estimate
from affectlab.stats.measures import Measures
from affectlab.stats.paired import PairedResult, paired_differences

NONE_READ = "no answer was read on both sides"


@dataclass(frozen=True)
class Answers:
    """One side: its predictions, and how they are measured."""

    table: PredictionTable
    measure: Callable[[PredictionTable], Measures]

    @property
    def read(self) -> NDArray[np.bool_]:
        """Which predictions could be read [N]."""
        return ~self.table.value.equals(None)

    def where(self, rows: NDArray[np.bool_]) -> Answers:
        """The side restricted to some rows."""
        return Answers(self.table.where(rows), self.measure)

    def measures(self) -> Measures:
        """Its events and statistics."""
        return self.measure(self.table)

    def keys(self) -> list[tuple[object, ...]]:
        """What pairs each prediction with the other side's [N]."""
        columns = (self.table.item, self.table.slot, self.table.variant, self.table.repeat)
        rows = zip(*(column.codes.tolist() for column in columns), strict=True)
        return [tuple(column.values[code] for column, code in zip(columns, row, strict=True)) for row in rows]


def differences(a: Answers, b: Answers, names: Sequence[str], interval: Interval) -> dict[str, PairedResult]:
    """The first side minus the second by several figures, each on answers that both sides give it.

    Raises:
        UserError: When the sides do not cover the same clusters and units.
    """
    leaving = tuple(name for name in names if _leaves_out(a, name) and _leaves_out(b, name)) if _unread(a, b) else ()
    rest = tuple(name for name in names if name not in leaving)
    results = paired_differences(a.measures(), b.measures(), rest, interval) if rest else {}
    if leaving:
        common_a, common_b = _read_on_both(a, b)
        if len(common_a.table):
            results |= paired_differences(common_a.measures(), common_b.measures(), leaving, interval)
        else:
            results |= {name: _undefined(name) for name in leaving}
    return {name: results[name] for name in names}


def _unread(a: Answers, b: Answers) -> bool:
    return not (a.read.all() and b.read.all())


def _leaves_out(side: Answers, name: str) -> bool:
    """Whether a figure is the same without the unread answers."""
    read = side.read
    if read.all():
        return True
    only = side.where(read).measures() if read.any() else None
    without = only.value(name) if only is not None and name in only.statistics else None
    return side.measures().value(name) == without


def _read_on_both(a: Answers, b: Answers) -> tuple[Answers, Answers]:
    keys = [side.keys() for side in (a, b)]
    read = [
        {key for key, kept in zip(found, side.read.tolist(), strict=True) if kept}
        for found, side in zip(keys, (a, b), strict=True)
    ]
    both = read[0] & read[1]
    first, second = (np.array([key in both for key in found], dtype=bool) for found in keys)
    return a.where(first), b.where(second)


def _undefined(name: str) -> PairedResult:
    nothing = Estimate(name, None, reason=NONE_READ, unit="difference")
    return PairedResult(name, None, None, nothing, None, None, 0, 0, None)
