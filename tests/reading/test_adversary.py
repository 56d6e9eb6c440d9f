"""Replies that a hostile reader found to be read wrongly, with the right outcome."""

from __future__ import annotations

import pytest

from affectlab.reading import (
    NumberRange,
    Outcome,
    Scale,
    label_groups,
    read_agents,
    read_choice,
    read_json,
    read_label,
    read_label_set,
    read_likert,
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


@pytest.mark.parametrize(
    "text",
    [
        "Answer: E. excitement and A. joy",
        "E. excitement and A. joy",
        "Answer: (E) excitement or (A) joy",
        "E - excitement & A - joy",
        "E. excitement and A",
        "B. pride and joy",
        "Answer: A. joy/pride",
    ],
)
def test_two_options_with_their_texts_are_two_answers(text: str) -> None:
    reading = read_choice(text, FIVE)
    assert (reading.outcome, reading.evidence) == (Outcome.AMBIGUOUS, text.removeprefix("Answer: ").lstrip("("))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("A. joy and relief mix in her", "A"),
        ("The answer is A. joy and pride are close, but joy fits.", "A"),
        ("B. pride and a warm glow", "B"),
        ("B. pride and I am sure", "B"),
    ],
)
def test_an_explanation_that_goes_on_from_the_text_is_no_second_answer(text: str, value: str) -> None:
    assert read_choice(text, FIVE).value == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Answer: B. No wait, A.", "A"),
        ("Answer: B. Wait, no, A", "A"),
        ("B. No wait, it's A", "A"),
        ("B. Scratch that: A. joy", "A"),
        ("Answer: B. Hmm, wait. Actually no, A.", "A"),
        ("答案是B。不对，A", "A"),
        ("B. wait, no", None),
        ("Answer: B. No wait, neither.", None),
        ("Answer: B. Never mind.", None),
    ],
)
def test_an_answer_taken_back_counts_no_more(text: str, value: str | None) -> None:
    reading = read_choice(text, FIVE)
    assert reading.value == value
    assert reading.outcome is (Outcome.OK if value else Outcome.AMBIGUOUS)
    assert ("self_corrected" in reading.flags) == (value is not None)


@pytest.mark.parametrize(
    "text",
    [
        "B. Wait times were long, which made him proud.",
        "Answer: B. The owner has to wait, and she is glad.",
        "Answer: B. No other option fits.",
        "Answer: B. Never mind the others.",
        "Answer: B. Wait, let me check that. She did it herself. So yes.",
        "Wait. B",
        "No wait: B",
        "B. pride. Wait, I, the reader, agree. It is so.",
    ],
)
def test_words_that_take_nothing_back(text: str) -> None:
    assert read_choice(text, FIVE).value == "B"


def test_every_reader_of_one_answer_knows_second_thoughts() -> None:
    scale = Scale.of(["Strongly disagree", "Disagree", "Neutral", "Agree", "Strongly agree"])
    assert read_likert("Strongly agree. No wait, disagree", scale).value == 2
    somewhat = Scale.of(["Somewhat disagree", "Somewhat agree", "Strongly agree"])
    assert read_likert("Strongly agree. No wait, disagree", somewhat).outcome is Outcome.AMBIGUOUS
    assert read_label("joy. No wait, fear.", {"joy": (), "fear": ()}).value == "fear"
    assert read_yes_no("Yes. On second thought, no.").value is False
    assert read_yes_no("No. Wait, yes.").value is True
    assert read_agents("AGENT A: B. No wait, C\nAGENT B: A", {"A": FIVE, "B": OTHER})["A"].value == "C"


@pytest.mark.parametrize("text", ["Strongly\nagree", "I strongly\nagree.", "Answer: **Strongly\n\nagree**"])
def test_a_label_broken_over_two_lines_is_one_label(text: str) -> None:
    scale = Scale.of(["Strongly disagree", "Disagree", "Neutral", "Agree", "Strongly agree"])
    assert read_likert(text, scale).value == 5
    assert read_likert("Agree\nStrongly", scale).value == 4


def test_a_group_label_broken_over_two_lines_is_one_label() -> None:
    groups = label_groups(["Glad, happy, joyful", "Sad, down"])
    reading = read_label_set("Glad, happy,\njoyful\nSad,\ndown", groups)
    assert (reading.value, reading.flags) == (("Glad, happy, joyful", "Sad, down"), ())


@pytest.mark.parametrize("text", ["B B", "Answer: B B.", "pride pride", "B\nB"])
def test_an_answer_said_twice_is_one(text: str) -> None:
    assert read_choice(text, FIVE).value == "B"


def test_two_numbers_are_not_one_said_twice() -> None:
    assert not read_likert("4 4", Scale.of(["a b", "c d", "e f", "g h"])).ok


@pytest.mark.parametrize("text", ["AB", "CA", "ABCDE"])
def test_letters_run_together_are_nobodys_answer(text: str) -> None:
    found = (read_choice(text, FIVE), *read_agents(text, {"A": FIVE, "B": OTHER}).values())
    assert {(reading.outcome, reading.flags) for reading in found} == {(Outcome.AMBIGUOUS, ("list_echo",))}


@pytest.mark.parametrize(
    "text", ["AGENT A and AGENT B: C", "Agent A & Agent B: C", "AGENT A and B: C", "Agent A = Agent B = C"]
)
def test_one_answer_under_the_names_of_both_is_one_answer(text: str) -> None:
    readings = read_agents(text, {"A": FIVE, "B": OTHER})
    assert {(reading.outcome, reading.flags) for reading in readings.values()} == {
        (Outcome.UNPARSEABLE, ("one_answer",))
    }


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("AGENT A and AGENT B: C and D", ["C", "D"]),
        ("AGENT A/AGENT B: C/A", ["C", "A"]),
        ("Agent B and Agent A: C, D", ["D", "C"]),
        ("the owner and the walker: C and A", ["C", "A"]),
        ("Agent A and Agent B both want it.\nAGENT A: C\nAGENT B: A", ["C", "A"]),
        ("Answers of Agent A and Agent B:\nAGENT A: C\nAGENT B: A", ["C", "A"]),
    ],
)
def test_a_heading_of_both_with_an_answer_for_each(text: str, values: list[str]) -> None:
    readings = read_agents(text, {"A": FIVE, "B": OTHER}, names={"A": ["the owner"], "B": ["the walker"]})
    assert [reading.value for reading in readings.values()] == values
