"""EmoScene's prompts, in our own words: the stored text of the paper does not print its own.

The scenario always comes first and the question last, so that the eight questions about one scenario share everything
up to the emotion's name. Nothing says how many emotions to find.
"""

from __future__ import annotations

from affectlab.benchmarks.emoscene.settings import Extras
from affectlab.benchmarks.prompt import PromptTemplate

SYSTEM = (
    "You will read a scenario about a person and answer a question about what this person feels. "
    "Consider the whole scenario. Several emotions can be felt at once, and there can be none."
)

ONE_EMOTION = PromptTemplate(
    "Scenario: {text}\n\n{reply}\n\nQuestion: Does the person feel {emotion}?", fields=("text", "reply", "emotion")
)

ALL_EMOTIONS = PromptTemplate(
    "Scenario: {text}\n\nWhich of these emotions does the person feel?\n{emotions}\n\n{reply}",
    fields=("text", "emotions", "reply"),
)

YES_OR_NO = "Answer Yes or No, and nothing more."

NAMES_ONLY = (
    "Reply with the emotions that are felt, separated by commas, and nothing more. If there are none, reply: None."
)

ANSWER_PREFIX = "Answer:"
"""What the assistant's turn starts with when Yes and No are scored."""

_WHY = '"explanation": "<why, in one or two sentences>"'
_SURE = '"confidence": <how sure you are that your answer is right, from 0 to 100>'


def reply_format(answer: str, asked: Extras) -> str:
    """How to reply when more than the answer is asked: one JSON object.

    Args:
        answer: The field that holds the answer and its form, or an empty string when it was given before.
        asked: What else is wanted.
    """
    wanted = [answer, _SURE if asked.confidence else "", _WHY if asked.explain else ""]
    return "Reply with one JSON object and nothing more: {" + ", ".join(part for part in wanted if part) + "}"


YES_NO_FIELD = '"answer": "<Yes or No>"'
LIST_FIELD = '"emotions": ["<each emotion that is felt>"]'


def follow_up(asked: Extras) -> str:
    """The question after an answer was scored: how sure, and why."""
    return reply_format("", asked)
