from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from affectlab.benchmarks.alike import NONE_READ, Answers, differences
from affectlab.metrics.predictions import PredictionTable
from affectlab.stats.bootstrap import Interval
from affectlab.stats.measures import Measures, Over, Share, Totals

QUICK = Interval(replicates=50)


def _measure(table: PredictionTable) -> Measures:
    """``mean`` of the values that were read; ``right``: share of 1 among all that were asked."""
    values = [table.value.values[code] for code in table.value.codes.tolist()]
    event = np.array([{1: 0, 0: 1, None: 2}[value] for value in values], dtype=np.int32)
    names = sorted({str(table.cluster.values[code]) for code in table.cluster.codes.tolist()})
    cluster = [names.index(str(table.cluster.values[code])) for code in table.cluster.codes.tolist()]

    def mean(totals: Totals) -> Totals:
        with np.errstate(invalid="ignore"):
            return np.asarray(totals[:, 0] / totals.sum(axis=1))

    return Measures(
        cluster=np.array(cluster, dtype=np.int32),
        event=event,
        clusters=tuple(names),
        n_events=3,
        statistics={"mean": Over(np.array([0, 1]), mean), "right": Share(np.array([0]), np.array([0, 1, 2]))},
        correct={},
        headline="mean",
    )


def _answers(values: Mapping[str, int | None]) -> Answers:
    rows: list[Mapping[str, Any]] = [
        {
            "item": item,
            "cluster": item,
            "slot": "choice",
            "variant": "v",
            "condition": "neutral",
            "repeat": 0,
            "outcome": "ok" if value is not None else "unparseable",
            "value": value,
            "gold": None,
            "position": None,
            "slices": {},
            "flags": [],
        }
        for item, value in values.items()
    ]
    return Answers(PredictionTable.from_rows(rows), _measure)


def test_a_figure_that_leaves_unread_answers_out_is_compared_on_those_read_on_both_sides() -> None:
    a = _answers({"1": 1, "2": 0, "3": 1, "4": None})
    b = _answers({"1": 0, "2": None, "3": 1, "4": 0})
    found = differences(a, b, ("mean", "right"), QUICK)
    # Read on both: 1 and 3, so 2/2 - 1/2. Over whatever each side read it would be 2/3 - 1/3.
    assert (found["mean"].a, found["mean"].b, found["mean"].difference.value) == (1.0, 0.5, 0.5)
    assert found["mean"].difference.n == 2
    # Unread counts as wrong here, so all four count: 2/4 - 1/4.
    assert found["right"].difference.value == 0.25
    assert found["right"].difference.n == 4


def test_without_a_common_answer_there_is_no_difference_and_the_reason_is_given() -> None:
    found = differences(_answers({"1": 1, "2": None}), _answers({"1": None, "2": 0}), ("mean",), QUICK)["mean"]
    assert found.difference.value is None
    assert found.difference.reason == NONE_READ
    assert found.p is None


def test_where_everything_was_read_all_answers_count() -> None:
    found = differences(_answers({"1": 1, "2": 1}), _answers({"1": 0, "2": 1}), ("mean", "right"), QUICK)
    assert [found[name].difference.value for name in ("mean", "right")] == [0.5, 0.5]


def test_one_side_without_any_reply_that_could_be_read() -> None:
    found = differences(_answers({"1": None, "2": None}), _answers({"1": 1, "2": 1}), ("mean", "right"), QUICK)
    assert found["mean"].difference.value is None
    assert found["right"].difference.value == -1.0
