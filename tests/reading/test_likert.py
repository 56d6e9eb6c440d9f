"""Replies that name a level."""

from __future__ import annotations

import pytest

from affectlab.reading import Outcome, Scale, flags, read_likert

AGREE = Scale.of(
    ["Strongly disagree", "Somewhat disagree", "Neither agree nor disagree", "Somewhat agree", "Strongly agree"]
)
LEVELS = ["Not at all", "Very slightly", "Slightly", "Moderately", "Quite a bit", "Very", "Extremely"]
POSITIVE = Scale.of([f"{level} positive" for level in LEVELS], first=0)
CHINESE = Scale({1: ("非常不同意",), 2: ("不同意",), 3: ("中立", "既不同意也不反对"), 4: ("同意",), 5: ("非常同意",)})


@pytest.mark.parametrize(
    "text",
    [
        "Somewhat agree",
        "somewhat agree",
        "SOMEWHAT AGREE",
        "Somewhat agree.",
        '"Somewhat agree"',
        "'Somewhat agree'",
        "“Somewhat agree.”",
        "**Somewhat agree**",
        "- Somewhat agree",
        "• Somewhat agree",
        "`Somewhat agree`",
        "```\nSomewhat agree\n```",
        "Somewhat  agree",
        "Somewhat\u00a0agree",
        "4 - Somewhat agree",
        "4 – Somewhat agree",
        "4 — Somewhat agree",
        "4－Somewhat agree",
        "4. Somewhat agree",
        "4: Somewhat agree",
        "4：Somewhat agree",
        "4) Somewhat agree",
        "(4) Somewhat agree",
        "4 = Somewhat agree",
        "Somewhat agree (4)",
        "My Answer: Somewhat agree",
        "My answer: 4 - Somewhat agree",
        "Answer: Somewhat agree.",
        "Answer：Somewhat agree",
        "The answer is somewhat agree.",
        "I somewhat agree.",
        "I somewhat agree with this statement.",
        "I would say somewhat agree.",
        "I think:\nSomewhat agree",
        "Somewhat agree, because it mattered to me.",
        "Somewhat agree\n\nBecause it mattered to me.",
        "It mattered to me.\n\nSomewhat agree",
        "<think>Strongly agree maybe</think>\nSomewhat agree",
        "<think>Strongly agree</think>Somewhat agree",
        "\\boxed{\\text{Somewhat agree}}",
        "<answer>Somewhat agree</answer>",
        "Not strongly agree but somewhat agree",
        "Maybe somewhat agree.",
        "Somewhat agree, I guess.",
    ],
)
def test_somewhat_agree(text: str) -> None:
    reading = read_likert(text, AGREE)
    assert (reading.outcome, reading.value) == (Outcome.OK, 4), reading


@pytest.mark.parametrize(
    ("text", "level"),
    [
        ("Very positive", 5),
        ("very slightly positive", 1),
        ("Slightly positive.", 2),
        ("I felt very slightly positive", 1),
        ("Not at all positive", 0),
        ("0 - Not at all positive", 0),
        ("6 - Extremely positive", 6),
        ("It was quite a bit positive for me.", 4),
        ("I was extremely positive about it", 6),
    ],
)
def test_levels_whose_names_share_words(text: str, level: int) -> None:
    assert read_likert(text, POSITIVE).value == level


@pytest.mark.parametrize(
    ("text", "level"),
    [
        ("同意", 4),
        ("不同意。", 2),
        ("非常不同意", 1),
        ("我的答案：非常同意", 5),
        ("答案是中立", 3),
        ("4 - 同意", 4),
        ("我选择不同意", 2),
    ],
)
def test_chinese_levels(text: str, level: int) -> None:
    assert read_likert(text, CHINESE).value == level


@pytest.mark.parametrize(
    "text",
    ["Agree", "agree.", "disagree", "Neutral", "Somewhat", "strongly", "neither", "Agree strongly", "Very happy agree"],
)
def test_parts_of_names_are_out_of_space(text: str) -> None:
    reading = read_likert(text, AGREE)
    assert reading.outcome is Outcome.UNPARSEABLE
    if text != "Very happy agree":
        assert reading.flags == (flags.OUT_OF_SPACE,)


@pytest.mark.parametrize(
    "text",
    [
        "Do not strongly agree",
        "I do not strongly agree.",
        "I don't somewhat agree",
        "not somewhat agree",
        "It mattered.",
        "I don't know",
    ],
)
def test_negated_names_are_no_answer(text: str) -> None:
    assert read_likert(text, AGREE).outcome is Outcome.UNPARSEABLE


@pytest.mark.parametrize(
    "text",
    [
        "Strongly agree / Somewhat agree",
        "Strongly agree or somewhat agree",
        "Between somewhat agree and strongly agree",
        "Strongly agree\nSomewhat agree",
        "\n".join(
            ("Strongly disagree", "Somewhat disagree", "Neither agree nor disagree", "Somewhat agree", "Strongly agree")
        ),
        "5 - Somewhat agree",
        "Somewhat agree (5)",
    ],
)
def test_contradictions_are_ambiguous(text: str) -> None:
    assert read_likert(text, AGREE).outcome is Outcome.AMBIGUOUS


@pytest.mark.parametrize("text", ["5", "5.", "Answer: 5", "**5**", "５", "\\boxed{5}", "(5)"])
def test_a_bare_number_needs_an_option(text: str) -> None:
    plain = read_likert(text, AGREE)
    assert (plain.outcome, plain.flags) == (Outcome.UNPARSEABLE, (flags.BARE_NUMBER,))
    accepting = Scale(AGREE.levels, accept_numbers=True)
    reading = read_likert(text, accepting)
    assert (reading.value, reading.flags) == (5, (flags.BARE_NUMBER,))


@pytest.mark.parametrize("text", ["6", "0", "3.5", "-1", "Answer: 7"])
def test_numbers_off_the_scale(text: str) -> None:
    reading = read_likert(text, Scale(AGREE.levels, accept_numbers=True))
    assert reading.outcome is Outcome.UNPARSEABLE
    assert flags.OUT_OF_SPACE in reading.flags


@pytest.mark.parametrize(
    ("text", "finish", "outcome"),
    [
        (None, "stop", Outcome.EMPTY),
        ("<think>Somewhat agree", "stop", Outcome.TRUNCATED),
        ("I think that", "length", Outcome.TRUNCATED),
        ("I'm sorry, but I can't help with that.", "stop", Outcome.REFUSAL),
        ("As an AI, I don't have personal feelings, so I cannot rate this.", "stop", Outcome.REFUSAL),
    ],
)
def test_no_level(text: str | None, finish: str, outcome: Outcome) -> None:
    assert read_likert(text, AGREE, finish=finish).outcome is outcome
