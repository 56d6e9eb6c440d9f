"""Macro-F1 in resamples, alike in every benchmark that reports it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from affectlab.benchmarks import open_benchmark
from affectlab.benchmarks.base import Scoring
from affectlab.benchmarks.care import spaces
from affectlab.benchmarks.care.measures import measures as care
from affectlab.benchmarks.chiaro.measures import measures as chiaro
from affectlab.benchmarks.chiaro.protocols import EMOTIONS
from affectlab.benchmarks.cue.measures import SPACE_OF
from affectlab.benchmarks.cue.measures import measures as cue
from affectlab.benchmarks.emoscene.answers import SLOTS
from affectlab.benchmarks.emoscene.crossfit import figures
from affectlab.benchmarks.emoscene.measures import measures as emoscene
from affectlab.metrics.predictions import Prediction, PredictionTable
from affectlab.stats.bootstrap import Interval, estimates
from affectlab.stats.measures import Measures, on_resampled

Pair = tuple[int, int]
"""Codes of the label that is right and of the one that is answered."""


@dataclass(frozen=True)
class Case:
    """Where a benchmark's macro-F1 over L labels is, and how to make its predictions of one label an item."""

    name: str
    labels: tuple[str, ...]
    measures: Any
    figure: str
    slot: str = ""
    sets: bool = False

    def of(self, pairs: Sequence[Pair]) -> Measures:
        rows = [row for number, pair in enumerate(pairs) for row in self.rows(f"{number:03d}", *pair)]
        return self.measures(PredictionTable.from_rows(rows))  # type: ignore[no-any-return]

    def rows(self, item: str, gold: int, answer: int) -> list[Prediction]:
        if not self.slot:
            there = ("absent", "present")
            return [
                Prediction(item, item, slot, "ok", there[code == answer], there[code == gold])
                for code, slot in enumerate(SLOTS)
            ]
        value, truth = ((self.labels[code],) if self.sets else self.labels[code] for code in (answer, gold))
        return [Prediction(item, item, self.slot, "ok", value, truth)]


EMOTION = SPACE_OF["emotion"].ids
CASES = {
    case.name: case
    for case in (
        Case("chiaro", EMOTIONS.ids, partial(chiaro, protocol="joint"), "macro_f1", "A"),
        Case("cue", EMOTION, partial(cue, protocol="direct"), "macro_f1:emotion", "emotion"),
        Case(
            "care",
            spaces.SETS["positive_labels"].ids,
            partial(care, protocol="s"),
            "positive_macro_f1",
            "positive_labels",
            sets=True,
        ),
        Case("emoscene", SLOTS, partial(emoscene, protocol="list"), "macro_f1"),
    )
}
case_of = pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())

PAIRS = [(0, 0)] * 4 + [(1, 1), (0, 1)]
WITHOUT_THE_SECOND = np.array([1.0, 1, 1, 1, 0, 2])
"""A resample: the only item whose label is the second is not drawn, the last item twice."""


def in_resample(measures: Measures, drawn: np.ndarray[Any, np.dtype[np.float64]]) -> dict[str, float]:
    weight = np.ones(len(measures.event)) if measures.weight is None else measures.weight
    counts = np.bincount(measures.event, weight * drawn[measures.cluster], measures.n_events)
    totals = counts.astype(np.float64)[None, :]
    return {
        name: float(on_resampled(one, measures.totals(), totals)[0])
        for name, one in measures.statistics.items()
        if "macro_f1" in name
    }


@case_of
def test_a_label_that_the_resample_did_not_draw_is_left_out_and_labels_never_there_keep_their_weight(
    case: Case,
) -> None:
    # First label: 4 hits, 2 misses: F1 = 8/(8+2) = .8. The second has gold in the sample and none here: left out, its
    # two false alarms with it. The others never have gold: 2 of L labels have, so .8 * 2/L.
    found = in_resample(case.of(PAIRS), WITHOUT_THE_SECOND)
    assert found[case.figure] == pytest.approx(0.8 * 2 / len(case.labels))


def test_joint_inference_fitted_again_follows_the_same_rule() -> None:
    gold, yes = (np.array([[code == pair[side] for code in range(8)] for pair in PAIRS]) for side in (0, 1))
    assert figures(yes, gold, WITHOUT_THE_SECOND)["macro_f1"] == pytest.approx(0.8 * 2 / 8)


def test_within_a_polarity_the_labels_of_that_polarity_count() -> None:
    # As above; 2 of the 5 positive labels have gold, and no negative one has.
    found = in_resample(CASES["chiaro"].of(PAIRS), WITHOUT_THE_SECOND)
    assert found["macro_f1_positive"] == pytest.approx(0.8 * 2 / 5)


@pytest.mark.parametrize(
    ("name", "protocol", "slot", "gold"),
    [("chiaro", "joint", "A", "joy"), ("emoscene", "yes_no", "joy", "yes"), ("cue", "direct", "intent", "Humor")],
)
def test_the_signature_says_by_which_rule_intervals_are_made(name: str, protocol: str, slot: str, gold: str) -> None:
    table = PredictionTable.from_rows([Prediction("1", "1", slot, "ok", gold, gold)])
    scores = open_benchmark(name).score(Scoring(table, "neutral", protocol, Interval(replicates=2)))
    assert "|resampled macro:labels drawn|cluster bootstrap, 2 replicates" in scores.signature


@case_of
@settings(max_examples=15, deadline=None)
@given(st.data())
def test_the_interval_of_a_perfect_prediction_holds_it(case: Case, data: st.DataObject) -> None:
    codes = data.draw(st.lists(st.integers(0, len(case.labels) - 1), min_size=2, max_size=12))
    found = estimates(case.of([(code, code) for code in codes]), [case.figure], Interval(replicates=100))[case.figure]
    assert found.value == pytest.approx(len(set(codes)) / len(case.labels))
    # Every resample is as perfect: there is nothing to make an interval of, and a reason instead.
    assert found.low is None
    assert "all bootstrap replicates agree" in (found.reason or "")


@case_of
@settings(max_examples=15, deadline=None, derandomize=True)
@given(st.data())
def test_an_interval_holds_its_figure_whatever_is_answered(case: Case, data: st.DataObject) -> None:
    # No theorem; it held in all of 1,500 random cases of up to 12 items.
    code = st.integers(0, len(case.labels) - 1)
    pairs = data.draw(st.lists(st.tuples(code, code), min_size=2, max_size=12))
    found = estimates(case.of(pairs), [case.figure], Interval(replicates=200))[case.figure]
    if found.value is not None and found.low is not None and found.high is not None:
        assert found.low - 1e-9 <= found.value <= found.high + 1e-9
