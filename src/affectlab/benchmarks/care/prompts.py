"""CAREBench's prompts, in our own words to the structure of the published ones.

One user turn: put yourself in the writer's place, the situation, one question, the options. The situation comes
first, so that all questions about one story share their beginning.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from affectlab.benchmarks.care import spaces
from affectlab.benchmarks.prompt import PromptTemplate

SITUATION = PromptTemplate(
    "Here somebody tells of something they went through. Put yourself in this person's place and answer as they "
    "would.\n\n"
    "My situation:\n{situation}\n\n",
    fields=("situation",),
)

RATING = PromptTemplate(
    "How far do I agree with this sentence about my situation?\n"
    "“{statement}.”\n\n"
    "{options}\n\n"
    "Reply with the words of one option and nothing else.",
    fields=("statement", "options"),
)

LEVEL = PromptTemplate(
    "How {side} did I feel in this situation, all in all?\n\n"
    "{options}\n\n"
    "Reply with the words of one option and nothing else.",
    fields=("side", "options"),
)

LABELS = PromptTemplate(
    "Which of these {side} feelings did I have in this situation? Each line is one group of feelings.\n\n"
    "{options}\n\n"
    "Reply with every group that fits, written as it stands here, with a semicolon between two groups. "
    "If no group fits, reply with the word None.",
    fields=("side", "options"),
)

LABEL = PromptTemplate(
    "Did I have feelings of this kind in this situation: {label}?\n\nReply with Yes or No and nothing else.",
    fields=("label",),
)

CORE: Mapping[str, str] = {
    "core_relevance": "What in this situation mattered to me, and why did it matter?",
    "core_certainty": "How clear was it to me what was going on and what would come of it?",
    "core_congruence": "How did the situation fit what I wanted or had expected?",
    "core_control": "How much could I, or anybody, do about the situation?",
    "core_accountability": "Who or what brought the situation about, and was that fair?",
}

CORE_QUESTION = PromptTemplate(
    "{question}\n\nReply as “I”, in one or two short sentences, without any heading.",
    fields=("question",),
)

APPRAISALS = PromptTemplate("{story}\n\nHow I see it:\n{sentences}", fields=("story", "sentences"))

PERSON = PromptTemplate(
    "Another person reads this and imagines being the one it happened to. About that person:\n{facts}\n\n"
    "Answer as that person would.\n\n",
    fields=("facts",),
)

ANSWER_PREFIX = "Answer:"
"""What the assistant's turn starts with when options are scored by likelihood."""


def listed(names: Iterable[str]) -> str:
    """Options, one a line."""
    return "\n".join(f"- {name}" for name in names)


def question(slot: str, statements: Mapping[str, str]) -> str:
    """The question of a slot.

    Args:
        slot: A rated slot, a label set, or a core question.
        statements: Dimension -> statement, where they are not our own.
    """
    if slot in CORE:
        return CORE_QUESTION.fill(question=CORE[slot])
    side = slot.partition("_")[0]
    if slot in spaces.SETS:
        return LABELS.fill(side=side, options=listed(label.names["en"] for label in spaces.SETS[slot]))
    options = listed(label.names["en"] for label in spaces.scale_of(slot))
    if slot in spaces.LEVELS:
        return LEVEL.fill(side=side, options=options)
    return RATING.fill(statement=statement_of(slot, statements), options=options)


def label_question(slot: str, label: str) -> str:
    """The question whether one group of a label set was felt."""
    return LABEL.fill(label=spaces.SETS[slot].name_of(label))


def statement_of(dimension: str, statements: Mapping[str, str]) -> str:
    """The statement of a dimension, without its full stop."""
    return statements.get(dimension, spaces.APPRAISALS[dimension].definition).rstrip(".")


def rated_sentences(ratings: Mapping[str, int], statements: Mapping[str, str]) -> str:
    """Ratings as sentences, one a line: "I somewhat agree that it matters to me."."""
    return listed(
        f"I {spaces.AGREEMENT.name_of(spaces.AGREEMENT.at_level(ratings[dimension])).lower()} that "
        f"{_inside(statement_of(dimension, statements))}."
        for dimension in spaces.DIMENSIONS
        if dimension in ratings
    )


def _inside(statement: str) -> str:
    """A sentence as it stands within another: its first letter small, unless the word is "I"."""
    first = statement.split(maxsplit=1)[0]
    return statement if first == "I" or first.startswith("I'") else statement[:1].lower() + statement[1:]
