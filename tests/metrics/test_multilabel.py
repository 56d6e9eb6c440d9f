from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, f1_score

from affectlab.metrics import multilabel
from affectlab.metrics.multilabel import Sets


def sets(*rows: str) -> Sets:
    return np.array([[letter == "1" for letter in row] for row in rows])


GOLD = sets("1010", "0000", "0000", "0100", "1100")
ANSWERS = sets("1100", "0000", "1000", "0000", "1100")


def test_example_f1_by_hand() -> None:
    # 2*1/(2+2), both empty, 0, 0, 2*2/(2+2): mean .5
    scores = multilabel.example_f1(GOLD, ANSWERS)
    assert scores.tolist() == [0.5, 1, 0, 0, 1]
    assert scores.mean() == pytest.approx(0.5)


def test_a_missing_answer_is_no_empty_set() -> None:
    answered = np.array([True, False, True, True, True])
    assert multilabel.example_f1(GOLD, ANSWERS, answered).tolist() == [0.5, 0, 0, 0, 1]
    assert multilabel.exact_match(GOLD, ANSWERS, answered).tolist() == [False, False, False, False, True]


def test_exact_match() -> None:
    assert multilabel.exact_match(GOLD, ANSWERS).tolist() == [False, True, False, False, True]


def test_label_scores_by_hand() -> None:
    assert multilabel.support(multilabel.counts(GOLD, ANSWERS)).tolist() == [2, 2, 1, 0]
    # label 1: TP 2, FP 1, FN 0 -> .8; label 2: TP 1, FP 1, FN 1 -> .5; label 3: FN 1 -> 0; label 4 never occurs
    totals = multilabel.counts(GOLD, ANSWERS)
    assert totals.tolist() == [[2, 1, 0], [1, 1, 1], [0, 0, 1], [0, 0, 0]]
    assert multilabel.f1(totals) == pytest.approx([0.8, 0.5, 0, 0])
    assert multilabel.micro_f1(totals) == pytest.approx(0.6)  # 6 / (6 + 2 + 2)
    assert multilabel.macro_f1(totals) == pytest.approx(0.325)
    assert multilabel.macro_f1(totals, 1.0) == pytest.approx(0.575)
    assert multilabel.macro_f1(totals, np.nan) == pytest.approx(0.433333, abs=5e-7)


def test_nothing_there_is_undefined_by_the_stated_policy() -> None:
    nothing = np.zeros((2, 3))
    assert np.isnan(multilabel.macro_f1(nothing, np.nan))
    assert np.isnan(multilabel.micro_f1(nothing, np.nan))
    assert multilabel.macro_f1(nothing) == 0


def test_replicates_at_once() -> None:
    stack = np.random.default_rng(0).integers(0, 5, (6, 4, 3)).astype(float)
    assert multilabel.macro_f1(stack)[2] == pytest.approx(multilabel.macro_f1(stack[2]))
    assert multilabel.micro_f1(stack)[2] == pytest.approx(multilabel.micro_f1(stack[2]))


@settings(deadline=None, max_examples=40)
@given(st.integers(2, 5).flatmap(lambda n: st.lists(st.tuples(*[st.booleans()] * (2 * n)), min_size=2, max_size=20)))
def test_agrees_with_sklearn(rows: list[tuple[bool, ...]]) -> None:
    gold, answers = np.hsplit(np.array(rows), 2)
    totals = multilabel.counts(gold, answers)
    f1 = {name: f1_score(gold, answers, average=name, zero_division=0.0) for name in ("macro", "micro")}
    assert multilabel.macro_f1(totals) == pytest.approx(f1["macro"])
    assert multilabel.micro_f1(totals) == pytest.approx(f1["micro"])
    samples = f1_score(gold, answers, average="samples", zero_division=1.0)
    assert multilabel.example_f1(gold, answers).mean() == pytest.approx(samples)
    assert multilabel.exact_match(gold, answers).mean() == pytest.approx(accuracy_score(gold, answers))


def test_bad_input_is_refused() -> None:
    for gold, answers in ((GOLD, GOLD[:2]), (GOLD[0], GOLD[0])):
        with pytest.raises(ValueError, match="examples, labels"):
            multilabel.example_f1(gold, answers)
