"""Replies that state a number."""

from __future__ import annotations

import pytest

from affectlab.reading import NumberRange, Outcome, flags, read_number

HUNDRED = NumberRange(0, 100)


@pytest.mark.parametrize(
    "text",
    [
        "33",
        "33.",
        "33.0",
        "**33**",
        "$33",
        "33%",
        "Answer: 33",
        "My guess is 33",
        "My guess: 33",
        "I choose 33.",
        "I would send $33.",
        "I'd pick 33 because 2/3 of 50 is about 33",
        "2/3 of 50 is 33.3, so 33",
        "Step 1: half is 50\nStep 2: 33.3\nAnswer: 33",
        "\\boxed{33}",
        "３３",
        "答案：33",
        "我选择33",
        "33 points",
        "33/100",
        "33 out of 100",
        "<think>50</think>33",
        "I think around 33.",
    ],
)
def test_thirty_three(text: str) -> None:
    reading = read_number(text, HUNDRED)
    assert (reading.outcome, reading.value) == (Outcome.OK, 33), reading


@pytest.mark.parametrize("text", ["-5", "101", "I would send $500.", "1,000", "Answer: -1"])
def test_out_of_range_is_not_clamped(text: str) -> None:
    reading = read_number(text, HUNDRED)
    assert (reading.outcome, reading.flags) == (Outcome.UNPARSEABLE, (flags.OUT_OF_SPACE,))


@pytest.mark.parametrize("text", ["between 20 and 30", "20 or 30", "20-30", "20\n30"])
def test_several_are_ambiguous(text: str) -> None:
    assert read_number(text, HUNDRED).outcome is Outcome.AMBIGUOUS


def test_whole_numbers_are_not_rounded() -> None:
    assert read_number("33.3", NumberRange(0, 100, integer=True)).flags == (flags.OUT_OF_SPACE,)
    assert read_number("33.0", NumberRange(0, 100, integer=True)).value == 33


@pytest.mark.parametrize(("text", "value"), [("Ten dollars", 10), ("twenty-five", 25), ("I offer five.", 5), ("五", 5)])
def test_number_words_need_an_option(text: str, value: int) -> None:
    plain = read_number(text, HUNDRED)
    assert (plain.outcome, plain.flags) == (Outcome.UNPARSEABLE, (flags.NUMBER_WORD,))
    reading = read_number(text, NumberRange(0, 100, accept_words=True))
    assert (reading.value, reading.flags) == (value, (flags.NUMBER_WORD,))


@pytest.mark.parametrize(
    ("text", "finish", "outcome"),
    [
        (None, "stop", Outcome.EMPTY),
        ("a lot", "stop", Outcome.UNPARSEABLE),
        ("I will send", "length", Outcome.TRUNCATED),
        ("I can't help with that.", "stop", Outcome.REFUSAL),
    ],
)
def test_no_number(text: str | None, finish: str, outcome: Outcome) -> None:
    assert read_number(text, HUNDRED, finish=finish).outcome is outcome


# fmt: off
ENTANGLED = [
    "ANSWER: half of 10", "ANSWER: 2 or 3, not 9", "ANSWER: not 5", "ANSWER: 10 - 3", "ANSWER: 10-3=7", "ANSWER: 2+3",
    "ANSWER: 5-10", "ANSWER: 5/10", "ANSWER: minus 5", "ANSWER: 10 million", "ANSWER: 5 points or 6",
    "ANSWER: 5, 6 or 7", "ANSWER: 5 to 7",
    "ANSWER: 5 out of 10", "ANSWER: 10%", "I will not send 5", "I don't send 5", "more than 5", "ANSWER: at most 4",
    "ANSWER: two thirds of 9", "ANSWER: up to 7", "ANSWER: over 5", "up to 5", "答案：不是5", "不是5",
    "ANSWER: 5万", "答案：5或6",
    "5 times 2", "2/3 of 9 is 6, so 5", "You offer 4, which is 1 too many", "The last round of round 6 had a zero",
]
PLAIN = [
    "ANSWER: 5", "ANSWER: 5.", "**ANSWER: 5**", "5", "ANSWER: 5 points", "answer: $5", "I send 5.",
    "I thought of 10 at first.\nANSWER: 5", "ANSWER: 5 - I want to win",
    "ANSWER: 5\n10 would be more", "I send 5 to the other.", "I hold 10.\n5",
    "答案：5", "我选择5。", "ANSWER: 5 (I do not want to lose)", "ANSWER: 5 because 9 is too much",
]
# fmt: on


@pytest.mark.parametrize("text", ENTANGLED)
def test_a_number_that_must_stand_by_itself_is_not_taken_out_of_others(text: str) -> None:
    assert read_number(text, NumberRange(0, 10, integer=True, plain=True)).outcome is Outcome.AMBIGUOUS


@pytest.mark.parametrize("text", PLAIN)
def test_a_number_that_stands_by_itself_is_read(text: str) -> None:
    reading = read_number(text, NumberRange(0, 10, integer=True, plain=True))
    assert (reading.outcome, reading.value) == (Outcome.OK, 5), reading
