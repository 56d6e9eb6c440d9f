"""Worked values and the agreement with scikit-learn on random predictions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, f1_score, precision_recall_fscore_support

from affectlab.metrics import classification as score
from affectlab.metrics.classification import Floats


def matrix(labels: str, gold: Sequence[str], answers: Sequence[str]) -> Floats:
    """Confusion of one-letter labels; letters outside ``labels`` are answers outside the label space."""
    codes = {label: code for code, label in enumerate(labels)}
    return score.confusion(
        np.array([codes[label] for label in gold]),
        np.array([codes.get(label, -1) for label in answers]),
        len(labels),
    )


def test_confusion_keeps_answers_outside_the_space_in_the_last_column() -> None:
    counts = matrix("ab", "aabb", "ab?b")
    assert counts.tolist() == [[1, 1, 0], [0, 1, 1]]


def test_events_are_the_cells_row_by_row() -> None:
    events = score.confusion_events(np.array([0, 1, 1]), np.array([1, 1, -1]), 2)
    assert events.tolist() == [1, 4, 5]
    totals = np.bincount(events, minlength=6).astype(float)
    assert score.from_totals(totals, 2).tolist() == [[0, 1, 0], [0, 1, 1]]


@pytest.mark.parametrize(("gold", "answer"), [(2, 0), (-1, 0), (0, 2), (0, -2)])
def test_codes_out_of_range_are_refused(gold: int, answer: int) -> None:
    with pytest.raises(ValueError, match="codes must lie in"):
        score.confusion_events(np.array([gold]), np.array([answer]), 2)


def test_three_classes_of_the_sklearn_documentation() -> None:
    # class 0: TP 2, FP 1, FN 0 -> 2*2/(4+1) = .8; classes 1, 2: TP 0 -> 0; macro .8/3
    counts = matrix("012", "012012", "021001")
    assert score.f1(counts) == pytest.approx([0.8, 0, 0])
    assert score.macro_f1(counts) == pytest.approx(0.266667, abs=5e-7)


def test_macro_is_the_mean_of_f_not_the_f_of_means() -> None:
    # F: 0 -> 2/3, 1 -> 2*2/(4+1) = .8, 2 -> 1; mean .822222 (F of mean P and mean R would be .860215)
    assert score.macro_f1(matrix("012", "001122", "011122")) == pytest.approx(0.822222, abs=5e-7)


def test_label_that_never_occurs_counts_by_the_stated_policy() -> None:
    # a: TP 1, FN 1 -> 2/3; b: 1; c: TP 0, FP 1 -> 0; d never occurs
    counts = matrix("abcd", "aabb", "acbb")
    assert score.macro_f1(counts) == pytest.approx(0.416667, abs=5e-7)  # (2/3 + 1 + 0 + 0) / 4
    assert score.macro_f1(counts, zero_division=np.nan) == pytest.approx(0.555556, abs=5e-7)  # (5/3) / 3
    assert score.macro_f1(counts, zero_division=1.0) == pytest.approx(0.666667, abs=5e-7)  # (8/3) / 4
    assert score.weighted_f1(counts) == pytest.approx(0.833333, abs=5e-7)  # (2/3 * 2 + 1 * 2) / 4
    assert score.micro_f1(counts) == pytest.approx(0.75)
    assert score.accuracy(counts) == pytest.approx(0.75)


def test_micro_f1_leaves_accuracy_when_answers_leave_the_space() -> None:
    counts = matrix("ab", "aabb", "acbb")
    assert score.macro_f1(counts) == pytest.approx(0.833333, abs=5e-7)  # (2/3 + 1) / 2
    assert score.micro_f1(counts) == pytest.approx(0.857143, abs=5e-7)  # 2*3 / (4 + 3)
    assert score.accuracy(counts) == pytest.approx(0.75)


def test_four_scenes_with_two_agents_each() -> None:
    """Ten labels: joy, pride, relief, and two positives that never occur; the negatives likewise."""
    labels = "jprxyAFSDZ"
    counts = matrix(labels, "jApFrSjD", "rApSrS?D")
    positive, negative = np.arange(5), np.arange(5, 10)
    # joy 0; pride 1; relief TP 1, FP 1 -> 2/3; anger 1; fear 0; sadness TP 1, FP 1 -> 2/3; disgust 1
    assert score.macro_f1(counts) == pytest.approx(0.433333, abs=5e-7)  # 13/3 / 10
    assert score.macro_f1(counts, positive) == pytest.approx(0.333333, abs=5e-7)  # 5/3 / 5
    assert score.macro_f1(counts, negative) == pytest.approx(0.533333, abs=5e-7)  # 8/3 / 5
    present = np.flatnonzero(score.support(counts))
    assert score.macro_f1(counts, present) == pytest.approx(0.619048, abs=5e-7)  # 13/3 / 7
    assert score.accuracy(counts) == pytest.approx(0.625)  # 5 of 8


def test_answers_outside_the_space_are_misses_and_no_false_alarms() -> None:
    # gold A A B, answers A Z B: 2*2 / (3 + 2) = .8, accuracy 2/3
    counts = matrix("AB", "AAB", "AZB")
    assert score.micro_f1(counts) == pytest.approx(0.8)
    assert score.accuracy(counts) == pytest.approx(2 / 3)


def test_undefined_is_nan_and_never_a_warning() -> None:
    empty = np.zeros((2, 3))
    for undefined in (score.macro_f1, score.weighted_f1, score.micro_f1, score.accuracy):
        assert np.isnan(undefined(empty))
    counts = matrix("ab", "aa", "a?")
    assert np.isnan(score.precision(counts)[1])
    assert np.isnan(score.recall(counts)[1])
    assert score.precision(counts, 0.0).tolist() == [1, 0]
    assert score.recall(counts, 0.0).tolist() == [0.5, 0]


predictions = st.integers(2, 6).flatmap(
    lambda n: st.tuples(
        st.just(n),
        st.lists(st.tuples(st.integers(0, n - 1), st.integers(-1, n - 1)), min_size=1, max_size=60),
    )
)


@settings(deadline=None, max_examples=50)
@given(predictions)
def test_agrees_with_sklearn(drawn: tuple[int, list[tuple[int, int]]]) -> None:
    n, pairs = drawn
    gold, answers = (np.array(column) for column in zip(*pairs, strict=True))
    counts = score.confusion(gold, answers, n)
    labels = list(range(n))
    p, r, f, s = precision_recall_fscore_support(gold, answers, labels=labels, zero_division=0.0)
    assert score.precision(counts, 0.0) == pytest.approx(p)
    assert score.recall(counts, 0.0) == pytest.approx(r)
    assert score.f1(counts) == pytest.approx(f)
    assert score.support(counts).tolist() == s.tolist()
    for average, ours in (
        ("macro", score.macro_f1),
        ("micro", score.micro_f1),
        ("weighted", score.weighted_f1),
    ):
        assert ours(counts) == pytest.approx(f1_score(gold, answers, labels=labels, average=average, zero_division=0.0))
    assert score.accuracy(counts) == pytest.approx(accuracy_score(gold, answers))


@settings(deadline=None, max_examples=50)
@given(predictions)
def test_label_order_and_row_order_do_not_matter(drawn: tuple[int, list[tuple[int, int]]]) -> None:
    n, pairs = drawn
    gold, answers = (np.array(column) for column in zip(*reversed(pairs), strict=True))
    renamed = np.append(np.arange(n)[::-1], -1)  # the last entry keeps -1 as it is
    before = score.confusion(gold[::-1], answers[::-1], n)
    after = score.confusion(renamed[gold], renamed[answers], n)
    assert score.macro_f1(after) == pytest.approx(score.macro_f1(before))
    assert score.f1(after)[::-1] == pytest.approx(score.f1(before))


def test_many_replicates_at_once_equal_one_by_one() -> None:
    rng = np.random.default_rng(3)
    stack = rng.integers(0, 4, size=(5, 7, 3, 4)).astype(float)
    for function in (score.macro_f1, score.weighted_f1, score.micro_f1, score.accuracy):
        whole = function(stack)
        assert whole.shape == (5, 7)
        assert whole[2, 3] == pytest.approx(function(stack[2, 3]))


def test_coverage_of_macro_f1_intervals_on_small_samples() -> None:
    """250 studies of 10 and of 30 two-slot scenes: a 95 % interval holds the truth nearly as often as it says."""
    rng = np.random.default_rng(1)
    skill = np.array([0.3, 0.5, 0.7, 0.4, 0.6, 0.5, 0.8, 0.6, 0.4, 0.7])

    def study(scenes: int) -> Floats:
        cells = np.zeros((scenes, 10, 11))
        for first in (0, 5):
            gold = rng.permutation(np.arange(scenes) % 5) + first  # every label has gold
            answer = np.where(rng.random(scenes) < skill[gold], gold, rng.integers(0, 5, scenes) + first)
            cells[np.arange(scenes), gold, answer] += 1
        return cells

    truth = score.macro_f1(study(100_000).sum(axis=0))
    for scenes, least in ((10, 0.81), (30, 0.86)):
        held = 0
        for _ in range(250):
            cells = study(scenes)
            draws = rng.multinomial(scenes, np.full(scenes, 1 / scenes), size=200)
            totals = np.tensordot(draws, cells, axes=1)
            low, high = np.quantile(score.macro_f1_resampled(cells.sum(axis=0)[None], totals), (0.025, 0.975))
            held += int(low <= truth <= high)
        assert held / 250 >= least


def test_resampled_macro_of_labels_that_nobody_has_in_the_sample_is_the_figures_0() -> None:
    # One of two labels is asked about, and it has no gold: macro-F1 over it is 0 in the figure and in every replicate.
    observed = np.array([[[2.0, 0, 0], [0, 0, 0]]])
    replicates = np.array([[[3.0, 0, 0], [0, 0, 0]], [[1.0, 1, 0], [0, 0, 0]]])
    assert score.macro_f1_resampled(observed, replicates, np.array([1])).tolist() == [0.0, 0.0]
    assert score.macro_f1(observed[0], np.array([1])) == 0.0
    # Both labels: the first alone has gold, half of them; right 3/3, and 2 * 1 / (2 + 1).
    assert score.macro_f1_resampled(observed, replicates) == pytest.approx([1 / 2, (2 / 3) / 2])
