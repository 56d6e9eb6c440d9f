from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.benchmarks.decisions.worlds import prediction, world

from affectlab.benchmarks.base import Scoring
from affectlab.benchmarks.decisions.measures import Drifts, choices_of, drifts_of
from affectlab.benchmarks.decisions.reasoning import (
    correlation_table,
    difference_table,
    length_table,
    moderation,
    regression_table,
    thoughts,
    with_and_without,
)
from affectlab.benchmarks.decisions.scores import score
from affectlab.errors import UserError
from affectlab.metrics.predictions import Prediction, PredictionTable
from affectlab.stats.bootstrap import Interval
from affectlab.stats.estimate import Estimate

FEW = Interval(replicates=100)


def thought(item: str, condition: str, y: float | None, words: int, **affective: int) -> Prediction:
    detail = {"reasoning": "so it is", "reasoning_words": words, "affective": affective}
    return replace(prediction("stag_hunt", item, condition, y), detail=detail)


ROWS = [
    thought("a", "neutral", 0.0, 10),
    thought("b", "neutral", 1.0, 20),
    thought("c", "neutral", 0.0, 30),
    thought("a", "anger@1.0", 0.0, 10, anger=1),
    thought("b", "anger@1.0", 0.0, 40, anger=3, joy=1),
    thought("c", "anger@1.0", 1.0, 50, anger=2),
    prediction("stag_hunt", "d", "anger@1.0", 1.0),
]


def test_lengths_affective_words_and_moves_by_condition() -> None:
    found = thoughts(ROWS)
    assert len(found) == 6
    assert [(one.move, one.affective, one.own) for one in found[3:]] == [(0.0, 1, 1), (-1.0, 4, 3), (1.0, 2, 2)]
    # What cannot move and what was not read in one of the two states has no move.
    fixed = [replace(one, item="f", slices={**one.slices, "y_min": "1", "y_max": "1"}) for one in (ROWS[1], ROWS[4])]
    unread = [thought("u", "neutral", 1.0, 5), thought("u", "anger@1.0", None, 5)]
    assert [one.move for one in thoughts([*ROWS, *fixed, *unread])[-4:]] == [None, None, 0.0, None]
    assert [one.move for one in thoughts(ROWS[3:6])] == [None, None, None]
    neutral, anger = length_table(found).rows
    assert neutral == ("neutral", 3, 20.0, 0.0, None, 0.0)
    assert anger[:2] == ("anger@1.0", 3)
    assert list(anger[2:]) == pytest.approx([100 / 3, 7 / 3, 2.0, 2 / 3])


def test_moves_are_correlated_with_length_over_emotion_conditions_only() -> None:
    # Sizes 0, 1, 1 against words 10, 40, 50: ranks 1, 2.5, 2.5 and 1, 2, 3: 1.5 / sqrt(1.5 · 2) = .866025.
    shown = correlation_table(thoughts(ROWS), FEW)
    length = shown.rows[0][1]
    assert isinstance(length, Estimate)
    assert length.value == pytest.approx(0.866025, abs=1e-6)
    assert length.clusters == 3
    none = correlation_table((), FEW).rows[0][1]
    assert isinstance(none, Estimate)
    assert none.value is None
    assert none.reason


def test_thoughts_on_items_of_one_group_are_resampled_together() -> None:
    grouped = [replace(row, cluster="story" if row.item in ("a", "b") else row.item) for row in ROWS]
    length = correlation_table(thoughts(grouped), FEW).rows[0][1]
    assert isinstance(length, Estimate)
    assert length.clusters == 2


def test_a_run_with_reasoning_shows_it_in_its_sheet() -> None:
    table = PredictionTable.from_rows(ROWS)
    sheet = score(Scoring(table, "neutral", "cot", FEW, predictions=ROWS))
    assert sheet.table("reasoning").rows
    assert sheet.table("reasoning_correlations").rows


def agent(share: float) -> Drifts:
    """Moves the first ``share`` of twelve items of two roles up under joy and fear."""
    return drifts_of(
        choices_of(
            world(
                lambda role, number, condition, repeat: float(condition != "neutral" and number < 12 * share),
                ["joy@1.0", "fear@1.0"],
                ["stag_hunt", "escalation"],
            )
        )
    )


def test_with_reasoning_against_without_on_the_same_items() -> None:
    found = with_and_without(agent(0.75), agent(0.25), FEW)
    assert set(found) == {"", "joy", "fear"}
    every = found[""].result
    assert (every.a, every.b) == pytest.approx((0.75, 0.25))
    assert every.difference.value == pytest.approx(0.5)
    assert every.p is not None
    assert every.p < 0.05
    assert (found[""].left_out, found[""].cells) == (0, 48)
    aligned = with_and_without(agent(0.75), agent(0.25), FEW, "nad")
    # Stag hunt: joy up, fear down. Escalation: joy nowhere, fear down. All moves are up.
    assert aligned["joy"].result.difference.value == pytest.approx(0.25)
    assert aligned["fear"].result.difference.value == pytest.approx(-0.5)
    assert len(difference_table({"ndm": found, "nad": aligned}).rows) == 6


def test_an_answer_that_one_run_lacks_is_taken_from_neither() -> None:
    # Both runs move 1 of 10 at the weak strength and 9 of 10 at the strong one; one lacks the strong on half the items.
    def moves(gap: int) -> Drifts:
        def answer(role: str, number: int, condition: str, repeat: int) -> float | None:
            if condition == "anger@1.5":
                return None if number < gap else 9.0
            return 1.0 if condition == "anger@0.6" else 0.0

        return drifts_of(choices_of(world(answer, ["anger@0.6", "anger@1.5"], ["trust_trustor"])))

    found = with_and_without(moves(6), moves(0), FEW)[""]
    # 12 items have both at .6 (.1 each), 6 at 1.5 (.9 each): (.1 + .9) / 2 on either side.
    assert (found.result.a, found.result.b) == pytest.approx((0.5, 0.5))
    assert (found.result.difference.value, found.result.p) == (0.0, 1.0)
    assert (found.left_out, found.cells) == (6, 24)
    shown = difference_table({"ndm": {"": found}})
    assert shown.rows[0][-1] == 0.25


def test_runs_are_aligned_by_item_and_condition_whatever_their_order() -> None:
    # Under joy a moves with reasoning and b is unread; without it b moves. Under fear nothing does.
    def run(items: str, conditions: tuple[str, ...], joy: dict[str, float | None]) -> Drifts:
        rows = [
            prediction("stag_hunt", item, condition, joy[item] if condition == "joy@1.0" else 0.0)
            for condition in ("neutral", *conditions)
            for item in items
        ]
        return drifts_of(choices_of(PredictionTable.from_rows(rows)))

    reasoned = run("ab", ("joy@1.0", "fear@1.0"), {"a": 1.0, "b": None})
    direct = run("ba", ("fear@1.0", "joy@1.0"), {"a": 0.0, "b": 1.0})
    assert (reasoned.items, direct.items) == (("a", "b"), ("b", "a"))
    found = with_and_without(reasoned, direct, FEW)["joy"].result
    # Only a has both: 1 with, 0 without.
    assert (found.a, found.b) == (1.0, 0.0)


def test_option_orders_that_one_run_lacks_are_taken_from_neither() -> None:
    # Both runs move in order 1 and not in order 0; with reasoning order 1 is unread.
    def run(orders: str, second: float | None, repeat: int = 0) -> Drifts:
        rows = [
            replace(prediction("stag_hunt", item, condition, y, repeat=repeat), variant=order)
            for item in "ab"
            for order in orders
            for condition, y in (("neutral", 0.0), ("joy@1.0", second if order == "1" else 0.0))
        ]
        return drifts_of(choices_of(PredictionTable.from_rows(rows)))

    found = with_and_without(run("01", None), run("10", 1.0), FEW)[""].result
    assert (found.a, found.b) == (0.0, 0.0)
    # No question in common: items are compared, each over its own.
    apart = with_and_without(run("01", None), run("10", 1.0, repeat=1), FEW)[""].result
    assert (apart.a, apart.b) == (0.0, 0.5)


def test_runs_without_a_question_in_common_are_aligned_by_item() -> None:
    # Other repeats and another order of items: b moves in both runs, and is unread without reasoning.
    def run(items: str, repeat: int, joy: dict[str, float | None]) -> Drifts:
        rows = [
            prediction("stag_hunt", item, condition, y, repeat=repeat)
            for item in items
            for condition, y in (("neutral", 0.0), ("joy@1.0", joy[item]))
        ]
        return drifts_of(choices_of(PredictionTable.from_rows(rows)))

    reasoned = run("ab", 0, {"a": 0.0, "b": 1.0})
    direct = run("ba", 1, {"a": 1.0, "b": None})
    found = with_and_without(reasoned, direct, FEW)[""]
    # Only a has both: 0 with, 1 without. By place instead of name b's 1 would stand against a's 1.
    assert (found.result.a, found.result.b) == (0.0, 1.0)
    assert (found.left_out, found.cells) == (1, 2)


def test_correlations_resample_items_and_not_thoughts() -> None:
    # Six items of 20 alike thoughts. Over 120 thoughts the standard error would be about .1, over 6 items .4.
    moved = dict(zip("abcdef", (0.0, 1.0, 0.0, 0.0, 1.0, 1.0), strict=True))
    rows = [
        replace(thought(item, condition, y * (condition != "neutral"), 10 * place), repeat=repeat)
        for place, (item, y) in enumerate(moved.items())
        for condition in ("neutral", "anger@1.0")
        for repeat in range(20)
    ]
    length = correlation_table(thoughts(rows), FEW).rows[0][1]
    assert isinstance(length, Estimate)
    assert (length.n, length.clusters) == (120, 6)
    assert length.low is not None
    assert length.high is not None
    assert length.high - length.low > 0.8


def test_what_reasoning_adds_is_taken_from_strengths_that_both_runs_have() -> None:
    # Reasoning adds n / 20 to item n at either strength, which without it moves .1 and .8 or .4 by n's parity.
    def run(added: float, gap: int) -> Drifts:
        def answer(role: str, number: int, condition: str, repeat: int) -> float | None:
            if condition == "neutral" or (condition == "anger@1.5" and number < gap):
                return 0.0 if condition == "neutral" else None
            return (1.0 if condition == "anger@0.6" else 4.0 if number % 2 else 8.0) + added * number

        return drifts_of(choices_of(world(answer, ["anger@0.6", "anger@1.5"], ["trust_trustor"], items=4)))

    names = run(0, 0).items
    difficulty = dict(zip(names, [0.0, 0.05, 0.1, 0.15], strict=True))
    discrimination = dict(zip(names, [1.0, 2.0, 2.0, 1.0], strict=True))
    found = moderation(run(0.5, 2), run(0, 0), difficulty, discrimination, "ndm")
    assert [one.value for one in found.coefficients] == pytest.approx([0.0, 1.0, 0.0])
    assert (found.n, found.clusters) == (4, 4)


def test_runs_on_other_items_or_conditions_are_refused_by_name() -> None:
    other = drifts_of(choices_of(world(lambda *_: 0.0, ["joy@1.0"], ["stag_hunt"])))
    with pytest.raises(UserError, match="12 items are in the first run only"):
        with_and_without(agent(0.5), other, FEW)
    fewer = drifts_of(choices_of(world(lambda *_: 0.0, ["joy@1.0"], ["stag_hunt", "escalation"])))
    with pytest.raises(UserError, match=r"fear@1\.0"):
        with_and_without(agent(0.5), fewer, FEW)


def test_a_planted_effect_of_difficulty_on_what_reasoning_adds_is_found() -> None:
    rng = np.random.default_rng(2)
    difficulty = {f"{role}-{n:02d}": float(n) / 12 for role in ("stag_hunt", "trust_trustor") for n in range(12)}
    discrimination = {item: float(rng.uniform(0.5, 2)) for item in difficulty}

    def reasoned(role: str, number: int, condition: str, repeat: int) -> float:
        return 0.0 if condition == "neutral" else number / 12 if role == "stag_hunt" else 10 * number / 12

    conditions = ["joy@1.0", "fear@1.0"]
    runs = [
        drifts_of(choices_of(world(one, conditions, ["stag_hunt", "trust_trustor"])))
        for one in (reasoned, lambda *_: 0.0)
    ]
    found = moderation(runs[0], runs[1], difficulty, discrimination, "ndm")
    # NDM with reasoning is the difficulty itself, without it 0.
    assert found["difficulty"].value == pytest.approx(1.0)
    assert found["discrimination"].value == pytest.approx(0.0, abs=1e-9)
    assert (found.n, found.clusters) == (48, 24)
    assert [one.name for one in found.coefficients][3:] == ["emotion=joy", "game=trust"]
    assert len(regression_table(found, "ndm").rows) == 5
    grouped = replace(runs[0], clusters=tuple(item.rpartition("-")[2] for item in runs[0].items))
    assert moderation(grouped, runs[1], difficulty, discrimination, "ndm").clusters == 12
