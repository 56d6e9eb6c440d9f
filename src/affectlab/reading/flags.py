"""The fixed vocabulary of facts that reading notes beside an outcome.

Flags are counted in score sheets; none of them changes an outcome by itself.
"""

from __future__ import annotations

from typing import Final

SELF_CORRECTED: Final = "self_corrected"
"""Several stated answers that differ; the last one was taken."""
POSITIONAL: Final = "positional"
"""Bare answers without agent names, taken in the order of the slots."""
OUT_OF_SPACE: Final = "out_of_space"
"""An answer was stated, and it is not among the declared ones."""
SWAPPED: Final = "swapped"
"""The answer given for one agent is on the other agent's list only."""
LETTER_TEXT_CONFLICT: Final = "letter_text_conflict"
"""An option's letter (or a level's number) stands beside the text of another option."""
BARE_NUMBER: Final = "bare_number"
"""A number in answer to a scale that was offered in words."""
NUMBER_WORD: Final = "number_word"
"""A number written as a word."""
MEMBER_WORD: Final = "member_word"
"""One word of a label that is a group of words, standing for the group."""
NONE_WITH_LABELS: Final = "none_with_labels"
""""None" beside labels."""
LIST_ECHO: Final = "list_echo"
"""The whole list of options was repeated."""
DUPLICATE_KEY: Final = "duplicate_key"
"""A JSON object holds the field twice with different values; the last one was taken."""
REPAIRED: Final = "repaired"
"""JSON that a strict parser refuses (trailing comma, single quotes, comments, a missing brace)."""
OTHER_KEY: Final = "other_key"
"""A JSON object holds the answer under another name of the field, such as ``stance`` for ``affective_stance``."""
NOT_JSON: Final = "not_json"
"""The answer was stated outside JSON although JSON was asked for."""
ONE_ANSWER: Final = "one_answer"
"""A single answer where one for each of several was asked: nobody can say whose it is."""
TIE: Final = "tie"
"""Equal scores; the documented fixed result was taken."""
ONE_SIDED: Final = "one_sided"
"""Only one of two compared tokens came with a log-probability."""
AT_LIMIT: Final = "at_limit"
"""The reply hit the token limit after a complete answer."""

ALL: Final = frozenset(
    {
        SELF_CORRECTED,
        POSITIONAL,
        OUT_OF_SPACE,
        SWAPPED,
        LETTER_TEXT_CONFLICT,
        BARE_NUMBER,
        NUMBER_WORD,
        MEMBER_WORD,
        NONE_WITH_LABELS,
        LIST_ECHO,
        DUPLICATE_KEY,
        REPAIRED,
        NOT_JSON,
        OTHER_KEY,
        ONE_ANSWER,
        TIE,
        ONE_SIDED,
        AT_LIMIT,
    }
)
