from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

from affectlab.benchmarks.alike import NONE_READ, Answers, differences
from affectlab.benchmarks.cue.measures import SPACE_OF
from affectlab.benchmarks.cue.measures import measures as cue
from affectlab.metrics.predictions import Prediction, PredictionTable
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
        leaving_out=frozenset({"mean"}),
    )


def _answers(values: Mapping[str, int | None]) -> Answers:
    return _of([Prediction(item, item, "choice", _outcome(value), value, None) for item, value in values.items()])


def _of(rows: Sequence[Prediction]) -> Answers:
    return Answers(PredictionTable.from_rows(rows), _measure)


def _outcome(value: object) -> str:
    return "ok" if value is not None else "unparseable"


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


@pytest.mark.parametrize("turned", [False, True], ids=["unread first", "unread second"])
def test_a_figure_that_counts_unread_answers_rests_on_all_even_where_they_happen_to_change_nothing(
    turned: bool,
) -> None:
    # Nothing right on the one side, so that its figure is 0 with and without what could not be read: 0/4 - 2/4.
    a, b = _answers({"1": None, "2": None, "3": 0, "4": 0}), _answers({"1": 1, "2": 1, "3": 0, "4": 0})
    found = (differences(b, a, ("right",), QUICK) if turned else differences(a, b, ("right",), QUICK))["right"]
    assert (found.difference.value, found.difference.n) == (0.5 if turned else -0.5, 4)


def test_macro_f1_of_a_model_that_reads_one_label_only_is_compared_on_all_answers() -> None:
    # One of three labels is read, and right: F1 1, 0 and 0, whether the other two are wrong or left out.
    labels = SPACE_OF["stance"].ids[:3]
    rows = [Prediction(label, label, "stance", "ok", label, label) for label in labels]
    some = [row if row.value == labels[0] else replace(row, value=None, outcome="empty") for row in rows]
    measure = partial(cue, protocol="direct")
    a, b = (Answers(PredictionTable.from_rows(made), measure) for made in (some, rows))
    part, whole = (side.measures().value("macro_f1:stance") for side in (a, b))
    found = differences(a, b, ("macro_f1:stance",), QUICK)["macro_f1:stance"]
    assert whole is not None
    assert part is not None
    assert (found.a, found.b) == (part, whole)
    assert found.difference.value == pytest.approx(part - whole)
    assert whole == pytest.approx(3 * part)


@pytest.mark.parametrize("column", ["slot", "variant", "repeat"])
def test_answers_are_paired_by_slot_presentation_and_repeat_as_well(column: str) -> None:
    # Two answers to each item. The first of item 1 is unread on one side, the second of item 2 on the other.
    def side(values: Mapping[tuple[str, int], int | None]) -> Answers:
        rows = []
        for (item, place), value in values.items():
            told: dict[str, Any] = {"slot": "choice", column: place if column == "repeat" else str(place)}
            rows.append(Prediction(item, item, outcome=_outcome(value), value=value, gold=None, **told))
        return _of(rows)

    a = side({("1", 0): None, ("1", 1): 1, ("2", 0): 1, ("2", 1): 0})
    b = side({("1", 0): 1, ("1", 1): 0, ("2", 0): 1, ("2", 1): None})
    found = differences(a, b, ("mean",), QUICK)["mean"]
    # On both: the second of item 1 and the first of item 2, so 2/2 and 1/2.
    assert (found.a, found.b, found.difference.n) == (1.0, 0.5, 2)


def test_rows_in_another_order_are_paired_by_what_they_answer() -> None:
    a, b = {"1": 1, "2": None, "3": 0}, {"3": 1, "2": 1, "1": None}
    found = differences(_answers(a), _answers(b), ("mean",), QUICK)["mean"]
    assert (found.a, found.b, found.difference.n) == (0.0, 1.0, 1)


def test_results_stand_in_the_order_that_was_asked_for() -> None:
    a, b = _answers({"1": 1, "2": None}), _answers({"1": 0, "2": 1})
    assert list(differences(a, b, ("right", "mean"), QUICK)) == ["right", "mean"]
    assert list(differences(a, b, ("mean", "right"), QUICK)) == ["mean", "right"]


def test_where_only_some_were_read_the_others_keep_their_gold() -> None:
    rows = [Prediction(str(n), str(n), "choice", "ok", n % 2, n) for n in range(3)]
    table = _of(rows).only(np.array([True, False, True])).table
    assert [table.value.values[code] for code in table.value.codes] == [0, None, 0]
    assert [table.outcome.values[code] for code in table.outcome.codes] == ["ok", "unparseable", "ok"]
    assert [table.gold.values[code] for code in table.gold.codes] == [0, 1, 2]
