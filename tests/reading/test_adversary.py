"""Replies that a hostile reader found to be read wrongly, with the right outcome."""

from __future__ import annotations

import pytest

from affectlab.reading import (
    NumberRange,
    Outcome,
    read_agents,
    read_choice,
    read_json,
    read_label,
    read_number,
    read_yes_no,
)

FIVE = {"A": "joy", "B": "pride", "C": "relief", "D": "gratitude", "E": "excitement"}
OTHER = {"A": "anger", "B": "sadness", "C": "fear", "D": "disgust", "E": "embarrassment"}
ECHO = "A. joy B. pride C. relief D. gratitude E. excitement"


@pytest.mark.parametrize("text", [ECHO, "A. B. C. D. E.", "A) joy, B) pride, C) relief, D) gratitude, E) excitement"])
def test_going_through_the_options_is_no_choice(text: str) -> None:
    reading = read_choice(text, FIVE)
    assert reading.outcome is Outcome.AMBIGUOUS
    assert "list_echo" in reading.flags


def test_a_choice_after_going_through_the_options_counts() -> None:
    assert read_choice(f"{ECHO}\nAnswer: C", FIVE).value == "C"


def test_agents_that_echo_their_options_chose_nothing() -> None:
    other = "A. anger B. sadness C. fear D. disgust E. embarrassment"
    readings = read_agents(f"AGENT A: {ECHO}\nAGENT B: {other}", {"A": FIVE, "B": OTHER})
    assert {reading.outcome for reading in readings.values()} == {Outcome.AMBIGUOUS}


@pytest.mark.parametrize("text", ["A. joy", "E. gratitude"])
def test_one_answer_for_two_says_why_it_is_not_read(text: str) -> None:
    readings = read_agents(text, {"A": FIVE, "B": OTHER})
    assert {(reading.outcome, reading.flags) for reading in readings.values()} == {
        (Outcome.UNPARSEABLE, ("one_answer",))
    }


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("答案是A吗？不，是B", "B"),
        ("no joy", None),
        ("no, joy", "A"),
        ("Answer: B\nWait, no.", None),
        ("Answer: B. No doubt.", "B"),
    ],
)
def test_questions_negations_and_second_thoughts(text: str, value: str | None) -> None:
    assert read_choice(text, FIVE).value == value


def test_what_the_server_withheld_is_a_refusal() -> None:
    assert read_choice("B", FIVE, finish="filter").outcome is Outcome.REFUSAL


@pytest.mark.parametrize(
    ("text", "outcome", "value"),
    [
        ("N/A", Outcome.UNPARSEABLE, None),
        ("not applicable", Outcome.UNPARSEABLE, None),
        ("No doubt.", Outcome.UNPARSEABLE, None),
        ("Yes, but no", Outcome.AMBIGUOUS, None),
        ("No. Yes.", Outcome.AMBIGUOUS, None),
        ("No.", Outcome.OK, False),
        ("Yes, there is joy.", Outcome.OK, True),
    ],
)
def test_yes_and_no(text: str, outcome: Outcome, value: bool | None) -> None:
    reading = read_yes_no(text)
    assert (reading.outcome, reading.value) == (outcome, value)


@pytest.mark.parametrize(
    ("text", "value"), [("1e1", 10.0), ("1e999", None), ("1e-400", 0.0), ("5,5", None), ("1,000", None), ("7", 7.0)]
)
def test_numbers_are_read_whole(text: str, value: float | None) -> None:
    assert read_number(text, NumberRange(0, 10)).value == value


@pytest.mark.parametrize(
    "text", ['{"result": {"emotion": "joy"}, "emotion": "anger"}', '{"emotion": "anger", "why": {"emotion": "joy"}}']
)
def test_an_objects_own_field_beats_one_inside_it(text: str) -> None:
    assert read_json(text, {"emotion": {"joy": ["joy"], "anger": ["anger"]}})["emotion"].value == "anger"


def test_a_single_name_is_not_its_letters() -> None:
    assert read_label("x", {"joy": "xyz"}).outcome is not Outcome.OK
    assert read_label("xyz", {"joy": "xyz"}).value == "joy"
