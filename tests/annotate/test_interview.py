"""CAREBench's interview: fixed questions, a model's questions, and a story that keeps the writer's words."""

from __future__ import annotations

import pytest

from affectlab.annotate import interview as talk
from affectlab.annotate.design_file import read_design

STORY = read_design("care").story
assert STORY is not None
ASKED = STORY
ANSWERS = ["We missed the last train home", "The meeting ran late", "My sister, who waited with me", "We took a taxi."]


def told(follow_ups: list[str] | None = None) -> talk.Interview:
    state = talk.begin(ASKED, "en")
    questions = iter(follow_ups or [])
    answers = iter(ANSWERS)
    while not state.told:
        text = "She drove." if state.by_model else next(answers)
        state = talk.answer(state, text)
        follow_up = next(questions, "") if talk.may_follow_up(ASKED, state) else ""
        state = talk.go_on(ASKED, state, follow_up, "en")
    return state


def test_without_a_model_the_four_fixed_questions_are_asked() -> None:
    state = told()
    assert [turn.step for turn in state.turns] == ["event", "cause", "people", "outcome"]
    assert [turn.answer for turn in state.turns] == ANSWERS
    story = talk.propose(state)
    assert story.origin == "joined"
    assert story.story == (
        "We missed the last train home. The meeting ran late. My sister, who waited with me. We took a taxi."
    )


def test_a_model_asks_at_most_so_often_a_step() -> None:
    state = told(["How far was it?"] * 20)
    assert [turn.step for turn in state.turns if turn.by_model] == [
        s for s in ("event", "cause", "people", "outcome") for _ in "12"
    ]


@pytest.mark.parametrize(
    ("reply", "question"),
    [
        ("How far was it?", "How far was it?"),
        ("“你们等了多久？”", "你们等了多久？"),
        ("TOLD", ""),
        ("<think>is it told?</think>TOLD", ""),
        ("It is all told.", ""),
        ("First?\nSecond?", ""),
        ("x" * 400 + "?", ""),
        ("", ""),
        (None, ""),
    ],
)
def test_a_models_reply_is_one_question_or_none(reply: str | None, question: str) -> None:
    assert talk.read_follow_up(reply) == question


def test_a_story_in_the_writers_words_is_proposed() -> None:
    reply = "The meeting ran late, and we missed the last train home. My sister waited with me. We took a taxi."
    found = talk.propose(told(), reply, asked_model=True)
    assert (found.origin, found.story) == ("model", reply)


@pytest.mark.parametrize(
    "reply", ["I was devastated and furious that evening, abandoned at a cold platform.", "", None]
)
def test_a_story_in_other_words_is_not(reply: str | None) -> None:
    found = talk.propose(told(), reply, asked_model=True)
    assert found.origin == "model_refused"
    assert found.story.startswith("We missed")


def test_words_are_counted_not_only_found() -> None:
    assert talk.own_share("train train train", ["the train"]) == pytest.approx(1 / 3)
    assert talk.own_share("我们坐车", ["我们没赶上车"]) == pytest.approx(3 / 4)


def test_chinese_answers_are_joined_without_blanks() -> None:
    assert talk.joined(["我们没赶上车", "打车回家了。"]) == "我们没赶上车。打车回家了。"


def test_too_little_is_asked_again_but_not_of_a_models_question() -> None:
    state = talk.begin(ASKED, "en")
    assert talk.too_short(ASKED, state, "A train.")
    assert not talk.too_short(ASKED, state, "We missed the last train home, all of us.")
    asked = talk.go_on(ASKED, talk.answer(state, "x" * 50), "How far?", "en")
    assert not talk.too_short(ASKED, asked, "Far.")


def test_an_interview_survives_being_stored() -> None:
    state = told(["How far was it?"])
    assert talk.Interview.from_body(state.body()) == state


def test_prompts_hold_what_was_told_and_ask_for_nothing_else() -> None:
    state = told()
    (message,) = talk.follow_up_messages(ASKED, state, "zh")
    assert all(text in message.content for text in ANSWERS)
    assert "Chinese" in message.content
    (message,) = talk.story_messages(state)
    assert all(text in message.content for text in ANSWERS)
