"""Weighted events and answers without gold, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from affectlab.benchmarks.care import spaces
from affectlab.benchmarks.care.measures import node_measures
from affectlab.metrics.predictions import Prediction, PredictionTable

GLAD, CALM = "glad_happy_joyful", "calm_peaceful_relaxed"


def test_label_sets_of_people_count_by_their_weight() -> None:
    # One story with one observer, who has the label (weight 1); one with four (1/4 each), of whom one has another.
    # micro: 2 hits / (2 hits + alarms + misses) = 2 / (2 + .25 + .25) = .8
    # macro: F1 of the label 2 / (2 + .25) = 8/9, of all others 0, over all labels of the side.
    table = PredictionTable.from_rows(
        [
            Prediction("a", "a", "positive_labels", "ok", (GLAD,), (GLAD,)),
            Prediction("b", "b", "positive_labels", "ok", (CALM,), (GLAD,)),
        ]
    )
    found = node_measures(table, "s", np.array([1.0, 0.25]))
    assert found.value("positive_micro_f1") == pytest.approx(0.8)
    assert found.value("positive_macro_f1") == pytest.approx(8 / 9 / len(spaces.SETS["positive_labels"]))


def test_a_core_answer_whose_writer_gave_none_is_read_and_scores_nothing() -> None:
    slot, other = list(spaces.CORE)[:2]
    table = PredictionTable.from_rows(
        [
            Prediction("a", "a", slot, "ok", "they helped me", "they helped me"),
            Prediction("b", "b", slot, "ok", "nothing of this", None),
            Prediction("c", "c", slot, "ok", "he left", "they helped me"),
            Prediction("b", "b", other, "unparseable", None, "they helped me"),
        ]
    )
    found = node_measures(table, "core")
    # The same words: 1; none in common: 0. Three of four answers read.
    assert found.value("rouge_l") == 0.5
    assert found.value("coverage") == pytest.approx(3 / 4)
