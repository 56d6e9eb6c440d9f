"""Free text."""

from __future__ import annotations

import pytest

from affectlab.reading import Outcome, read_text


@pytest.mark.parametrize(
    "text",
    [
        "It “hurt” me…",
        "  It “hurt” me…\n",
        "<think>Hm.</think>It “hurt” me…",
        "```\nIt “hurt” me…\n```",
        "<answer>It “hurt” me…</answer>",
        "Answer: It “hurt” me…",
        "**Answer:** It “hurt” me…",
        '"It “hurt” me…"',
    ],
)
def test_the_text_is_kept_as_written(text: str) -> None:
    assert read_text(text).value == "It “hurt” me…"


@pytest.mark.parametrize(
    ("text", "finish", "outcome"),
    [
        (None, "stop", Outcome.EMPTY),
        ("...", "stop", Outcome.UNPARSEABLE),
        ("It hurt", "length", Outcome.TRUNCATED),
        ("<think>It", "stop", Outcome.TRUNCATED),
        ("I'm sorry, but I can't help with that.", "stop", Outcome.REFUSAL),
    ],
)
def test_no_text(text: str | None, finish: str, outcome: Outcome) -> None:
    assert read_text(text, finish=finish).outcome is outcome


def test_somebody_else_who_cannot_help_is_no_refusal() -> None:
    assert read_text("She feels low because her friend could not come to the party.").ok


@pytest.mark.parametrize(
    "text",
    [
        "I could not say no with all of them looking at me.",
        "I cannot make people like me.",
        "They want us to go quietly, and we will not.",
        "I could not tell how it went, I have no memory of it.",
        "I'm sorry for what I said, but I had to say it.",
        "I will not help him again, he has lied to me twice.",
        "I had to refuse, it was against my principles.",
    ],
)
def test_a_person_who_cannot_is_no_refusal(text: str) -> None:
    assert read_text(text, in_person=True).value == text


@pytest.mark.parametrize(
    "text",
    [
        "As an AI language model I have no feelings.",
        "I'm sorry, but I can't take somebody else's place.",
        "I cannot help with this request.",
        "I won't be answering. I must decline to answer.",
        "I am unable to engage in this role-play.",
        "This request violates our content policy.",
        "抱歉，我无法回答这个问题。",
        "作为一个人工智能，我没有感受。",
    ],
)
def test_an_assistant_who_declines_is_one(text: str) -> None:
    assert read_text(text, in_person=True).outcome is Outcome.REFUSAL


def test_a_person_cut_off_is_cut_off() -> None:
    assert read_text("I could not tell how", finish="length", in_person=True).outcome is Outcome.TRUNCATED
    assert read_text("I felt fine.", finish="filter").outcome is Outcome.REFUSAL
