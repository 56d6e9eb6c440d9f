"""Replies that say yes or no."""

from __future__ import annotations

import math

import pytest

from affectlab.reading import Outcome, flags, read_yes_no, yes_no_from_logprobs


@pytest.mark.parametrize(
    "text",
    [
        "Yes",
        "yes",
        "YES!",
        "Yes.",
        "**Yes**",
        '"Yes"',
        "Y",
        "y",
        "True",
        "true",
        "1",
        "Yes, there is some joy.",
        "Yes. No doubt about it.",
        "Yes - it is there",
        "Yes because he smiles",
        "A. Yes",
        "(A) Yes",
        "Answer: Yes",
        "The answer is yes.",
        "Yes, joy is present.",
        "Present",
        "present.",
        "是",
        "是的。",
        "有",
        "对",
        "存在",
        "答案：是",
        "答案是：有",
        "<think>No.</think>Yes",
        "Yes\n\nNo anger is shown.",
        "```\nYes\n```",
        "\\boxed{Yes}",
        "<answer>yes</answer>",
        "I think yes.",
        "No wait. Final answer: Yes",
        "Ｙｅｓ",
    ],
)
def test_yes(text: str) -> None:
    reading = read_yes_no(text)
    assert (reading.outcome, reading.value) == (Outcome.OK, True), reading


@pytest.mark.parametrize(
    "text",
    [
        "No",
        "no",
        "NO!",
        "No.",
        "**No**",
        "N",
        "n",
        "False",
        "0",
        "No, there is no joy.",
        "No. Yes would be wrong.",
        "No because he frowns",
        "B. No",
        "B) No.",
        "Answer: No",
        "The answer is no.",
        "Absent",
        "Not present",
        "not present.",
        "It is not present.",
        "Not really.",
        "Not at all.",
        "Definitely not.",
        "否",
        "不是。",
        "没有",
        "没有喜悦。",
        "不存在愤怒",
        "不",
        "不存在",
        "答案：否",
        "答案是没有",
        "<think>Yes.</think>No",
        "No\n\nThe tone is flat.",
        "I don't think so.",
    ],
)
def test_no(text: str) -> None:
    reading = read_yes_no(text)
    assert (reading.outcome, reading.value) == (Outcome.OK, False), reading


@pytest.mark.parametrize(
    "text",
    [
        "Yes and no",
        "Yes/No",
        "yes or no",
        "Yes, no",
        "Not really, no joy here; yes, some fear",
        "No joy. Yes, fear.",
        "Yes\nNo",
        "是或否",
    ],
)
def test_both_are_ambiguous(text: str) -> None:
    assert read_yes_no(text).outcome is Outcome.AMBIGUOUS


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        (None, Outcome.EMPTY),
        ("Maybe", Outcome.UNPARSEABLE),
        ("不确定", Outcome.UNPARSEABLE),
        ("I am not sure", Outcome.UNPARSEABLE),
        ("Yesterday was fine", Outcome.UNPARSEABLE),
        ("Nothing is shown", Outcome.UNPARSEABLE),
        ("I'm sorry, but I can't help with that.", Outcome.REFUSAL),
        ("No, I cannot help with that request.", Outcome.REFUSAL),
        ("<think>Yes", Outcome.TRUNCATED),
    ],
)
def test_neither(text: str | None, outcome: Outcome) -> None:
    assert read_yes_no(text).outcome is outcome


def test_logprobs_decide() -> None:
    assert yes_no_from_logprobs({"Yes": -0.1, "No": -2.0}).value is True
    assert yes_no_from_logprobs({"Yes": -2.0, "No": -0.1}).value is False
    assert yes_no_from_logprobs({" yes": -2.0, "▁No": -0.1}).value is False


def test_forms_of_a_word_are_summed() -> None:
    # 0.3 + 0.3 = 0.6 for yes beats 0.4 for no, though no single form does.
    tokens = {"Yes": math.log(0.3), " yes": math.log(0.3), "No": math.log(0.4)}
    assert yes_no_from_logprobs(tokens).value is True


def test_a_tie_is_no_and_noted() -> None:
    for tokens in ({"Yes": -1.0, "No": -1.0}, {"No": -1.0, "Yes": -1.0}):
        reading = yes_no_from_logprobs(tokens)
        assert (reading.value, reading.flags) == (False, (flags.TIE,))


def test_one_side_alone_wins_and_is_noted() -> None:
    reading = yes_no_from_logprobs({"Yes": -5.0, "Maybe": -0.1})
    assert (reading.value, reading.flags) == (True, (flags.ONE_SIDED,))


def test_no_side_is_unparseable() -> None:
    assert yes_no_from_logprobs({}).outcome is Outcome.UNPARSEABLE
    assert yes_no_from_logprobs({"Maybe": -1.0}).outcome is Outcome.UNPARSEABLE
    assert yes_no_from_logprobs({"Yes": math.nan, "No": -1.0}).outcome is Outcome.UNPARSEABLE
