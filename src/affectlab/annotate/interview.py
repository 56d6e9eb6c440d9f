"""CAREBench's first stage as a state machine: questions step by step, then a story in the writer's own words. Pure.

A language model may ask further questions and put the answers in order; calling it is left to who uses this module.
Without one, the fixed question of each step is asked and the answers are put one after another.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from affectlab.annotate.design import Step, Story
from affectlab.annotate.words import say
from affectlab.models.base import Message
from affectlab.reading import read_text

OWN_WORDS = 0.85
"""Least share of a proposed story's words that must be the writer's."""

_TOLD = "TOLD"
_WORD = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]|[^\W_]+(?:['’-][^\W_]+)*")
_SMALL = frozenset(
    [
        "a",
        "an",
        "and",
        "as",
        "at",
        "but",
        "by",
        "for",
        "from",
        "he",
        "her",
        "his",
        "i",
        "in",
        "it",
        "its",
        "me",
        "my",
        "of",
        "on",
        "or",
        "she",
        "so",
        "that",
        "the",
        "then",
        "they",
        "to",
        "was",
        "we",
        "were",
        "with",
    ]
)
_ENDS = (".", "!", "?", "。", "！", "？", "…")


@dataclass(frozen=True)
class Turn:
    """A question, who asked it, and what was answered."""

    step: str
    question: str
    answer: str
    by_model: bool = False


@dataclass(frozen=True)
class Interview:
    """Where an interview stands.

    Attributes:
        turns: What has been asked and answered.
        question: What is asked now; empty when all is told.
        step: The step it belongs to.
        by_model: Whether a model asks it.
        story: The proposed story; empty until all is told.
        origin: Who put it together: ``model``, ``joined`` (no model), or ``model_refused`` (the model's text used too
            many words that are not the writer's, so the answers were joined instead).
    """

    turns: tuple[Turn, ...] = ()
    question: str = ""
    step: str = ""
    by_model: bool = False
    story: str = ""
    origin: str = ""

    def body(self) -> dict[str, Any]:
        """As it is stored."""
        return {
            "turns": [[turn.step, turn.question, turn.answer, turn.by_model] for turn in self.turns],
            "now": [self.question, self.step, self.by_model],
            "story": self.story,
            "origin": self.origin,
        }

    @classmethod
    def from_body(cls, body: dict[str, Any]) -> Interview:
        """From what was stored."""
        question, step, by_model = body["now"]
        turns = tuple(Turn(*turn) for turn in body["turns"])
        return cls(turns, question, step, by_model, body["story"], body["origin"])

    @property
    def told(self) -> bool:
        """Whether every step has been told and the story can be edited."""
        return not self.question


def begin(story: Story, language: str) -> Interview:
    """An interview before its first answer."""
    first = story.steps[0]
    return Interview(question=say(first.question, language), step=first.id)


def step_of(story: Story, interview: Interview) -> Step:
    """The step that is being told."""
    return next(step for step in story.steps if step.id == interview.step)


def too_short(story: Story, interview: Interview, answer: str) -> bool:
    """Whether an answer says too little; answers to a model's further questions may be as short as they like."""
    return not answer.strip() or (not interview.by_model and len(answer) < step_of(story, interview).shortest)


def answer(interview: Interview, text: str) -> Interview:
    """The interview with an answer to its question."""
    turn = Turn(interview.step, interview.question, text, interview.by_model)
    return replace(interview, turns=(*interview.turns, turn), question="", by_model=False)


def may_follow_up(story: Story, interview: Interview) -> bool:
    """Whether a model may still ask something at the step that was just answered."""
    asked = sum(turn.by_model and turn.step == interview.step for turn in interview.turns)
    return asked < story.most_follow_ups


def go_on(story: Story, interview: Interview, follow_up: str, language: str) -> Interview:
    """On to a model's further question, if there is one, else to the next step, else to the story."""
    if follow_up:
        return replace(interview, question=follow_up, by_model=True)
    ids = [step.id for step in story.steps]
    place = ids.index(interview.step) + 1
    if place == len(ids):
        return replace(interview, question="", by_model=False)
    step = story.steps[place]
    return replace(interview, question=say(step.question, language), step=step.id, by_model=False)


def follow_up_messages(story: Story, interview: Interview, language: str) -> tuple[Message, ...]:
    """What a model is asked: whether the step is told, and if not, one further question."""
    step = step_of(story, interview)
    told = "\n".join(f"Q: {turn.question}\nA: {turn.answer}" for turn in interview.turns)
    ask = (
        f"Somebody tells a situation from his or her own life. So far:\n\n{told}\n\n"
        f"The point at issue is {say(step.names, 'en')}. If a stranger could retell this point from the answers, reply "
        f"with the single word {_TOLD}. If something needed for it is missing, reply with one short, kind question "
        f"about it, in {'Chinese' if language == 'zh' else 'English'}, that suggests no answer and names no feeling. "
        "Reply with nothing else."
    )
    return (Message("user", ask),)


def read_follow_up(reply: str | None) -> str:
    """The further question in a model's reply; empty when all is told or the reply is no single question."""
    reading = read_text(reply)
    text = str(reading.value).strip('"“” ') if reading.ok else ""
    fine = 3 < len(text) <= 300 and text.endswith(("?", "？")) and "\n" not in text and _TOLD not in text
    return text if fine else ""


def story_messages(interview: Interview) -> tuple[Message, ...]:
    """What a model is asked: one story out of the answers, in the writer's words."""
    told = "\n".join(f"- {turn.answer}" for turn in interview.turns)
    ask = (
        "Here is what somebody told about one situation, answer by answer:\n\n"
        f"{told}\n\nPut it together as one story in the first person. Keep the writer's own words and sentences; only "
        "change their order, leave out what is said twice, and join them where needed. Add no fact, no feeling and no "
        "judgement. Write in the language of the answers. Reply with the story alone."
    )
    return (Message("user", ask),)


def propose(interview: Interview, reply: str | None = None, *, asked_model: bool = False) -> Interview:
    """The interview with its story: the model's if it keeps the writer's words, else the answers one after another."""
    answers = [turn.answer.strip() for turn in interview.turns]
    reading = read_text(reply)
    text = str(reading.value).strip() if reading.ok else ""
    if asked_model and text and own_share(text, answers) >= OWN_WORDS:
        return replace(interview, story=text, origin="model")
    return replace(interview, story=joined(answers), origin="model_refused" if asked_model else "joined")


def own_share(text: str, answers: Sequence[str]) -> float:
    """Share of a text's words that stand in the answers, at most as often as it does there; small words aside."""
    given = Counter(word for answer in answers for word in _words(answer))
    used = Counter(_words(text))
    total = sum(used.values())
    return sum((used & given).values()) / total if total else 0.0


def joined(answers: Sequence[str]) -> str:
    """Answers one after another as one text, each ending like a sentence."""
    ended = [text if text.endswith(_ENDS) else text + _stop(text) for text in answers if text]
    return ("" if all(text[-1] in "。！？…" for text in ended) else " ").join(ended)


def _stop(text: str) -> str:
    return "。" if re.search("[\u4e00-\u9fff]", text) else "."


def _words(text: str) -> list[str]:
    return [word for word in _WORD.findall(text.casefold()) if word not in _SMALL]
