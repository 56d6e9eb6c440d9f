"""Two sides measured on the same answers.

A figure may count an unread answer as wrong (macro-F1) or leave it out (the mean of ratings, of decisions); a
benchmark's measures declare which (:attr:`~affectlab.stats.measures.Measures.leaving_out`). The second kind rests on
other items wherever the two sides were not read alike, and its difference would be one of items as much as of answers:
it is taken over the answers read on both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from affectlab.metrics.predictions import Column, PredictionTable
from affectlab.reading import Outcome
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

    def only(self, rows: NDArray[np.bool_]) -> Answers:
        """The side as if only some rows had been read; the others keep their gold, which may say what they are for."""
        return Answers(
            replace(
                self.table,
                value=_blank(self.table.value, rows, None),
                outcome=_blank(self.table.outcome, rows, Outcome.UNPARSEABLE.value),
            ),
            self.measure,
        )

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
    of_a, of_b = a.measures(), b.measures()
    unread = not (a.read.all() and b.read.all())
    leaving = tuple(name for name in names if unread and name in of_a.leaving_out)
    rest = tuple(name for name in names if name not in leaving)
    results = paired_differences(of_a, of_b, rest, interval) if rest else {}
    if leaving:
        common_a, common_b = _read_on_both(a, b)
        if common_a.read.any():
            results |= paired_differences(common_a.measures(), common_b.measures(), leaving, interval)
        else:
            results |= {name: _undefined(name) for name in leaving}
    return {name: results[name] for name in names}


def _blank(column: Column, kept: NDArray[np.bool_], value: Any) -> Column:
    codes = np.where(kept, column.codes, len(column.values)).astype(np.int32)
    return Column(codes, (*column.values, value))


def _read_on_both(a: Answers, b: Answers) -> tuple[Answers, Answers]:
    keys = [side.keys() for side in (a, b)]
    read = [
        {key for key, kept in zip(found, side.read.tolist(), strict=True) if kept}
        for found, side in zip(keys, (a, b), strict=True)
    ]
    both = read[0] & read[1]
    first, second = (np.array([key in both for key in found], dtype=bool) for found in keys)
    return a.only(first), b.only(second)


def _undefined(name: str) -> PairedResult:
    nothing = Estimate(name, None, reason=NONE_READ, unit="difference")
    return PairedResult(name, None, None, nothing, None, None, 0, 0, None)
