"""A level of a scale whose levels have names."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from affectlab.reading import flags
from affectlab.reading.conclude import conclude, unread
from affectlab.reading.markup import plain
from affectlab.reading.outcome import Outcome, Reading
from affectlab.reading.prepare import prepare
from affectlab.reading.statements import read_statement
from affectlab.reading.vocabulary import Vocabulary, name_key, vocabulary


@dataclass(frozen=True, slots=True)
class Scale:
    """A scale offered in words.

    Attributes:
        levels: Level -> its names, the displayed one first.
        accept_numbers: A number alone ("5", "Answer: 5") is an answer too; it is flagged ``bare_number``.
    """

    levels: Mapping[int, Sequence[str]]
    accept_numbers: bool = False

    @classmethod
    def of(cls, labels: Sequence[str], *, first: int = 1, accept_numbers: bool = False) -> Scale:
        """A scale from its labels in order, counted from ``first``."""
        return cls({first + i: (label,) for i, label in enumerate(labels)}, accept_numbers)


def read_likert(text: str | None, scale: Scale, *, finish: str = "stop") -> Reading:
    """Read which level of a scale a reply names.

    Only whole names count: "agree" is part of two names and names neither. A name in prose counts when no other is
    mentioned and it is not negated. "4 - Somewhat agree" must agree with itself, else it is ``ambiguous`` with the flag
    ``letter_text_conflict``. A number alone was not offered: ``unparseable`` with the flag ``bare_number`` unless the
    scale accepts numbers.

    Args:
        text: The reply, or ``None``.
        scale: What was offered.
        finish: Why generation ended.

    Returns:
        Reading whose value is a level (int).
    """
    prepared = prepare(text, finish)
    empty = unread(prepared)
    if empty is not None:
        return empty
    vocab = _scale_vocabulary(scale)
    words = plain(prepared.text)
    reading = read_statement(vocab, words, cut=prepared.at_limit)
    if reading.ok:
        number_alone = _NUMBER.fullmatch(reading.evidence) is not None
        raised = (*reading.flags, flags.BARE_NUMBER) if number_alone else reading.flags
        if number_alone and not scale.accept_numbers:
            reading = Reading(Outcome.UNPARSEABLE, None, raised, reading.evidence)
        else:
            reading = Reading(Outcome.OK, int(reading.value), raised, reading.evidence)
    elif reading.outcome is Outcome.UNPARSEABLE and not reading.flags:
        reading = _off_scale(words, vocab) or reading
    return conclude(prepared, reading)


def _scale_vocabulary(scale: Scale) -> Vocabulary:
    return vocabulary(
        [(str(level), tuple(names)) for level, names in scale.levels.items()], lettered=True, mentions=True
    )


def _off_scale(words: str, vocab: Vocabulary) -> Reading | None:
    """A short answer that is no name of the scale: a number between levels, "agree", "neutral"."""
    if _NUMBER.fullmatch(words):
        return Reading(Outcome.UNPARSEABLE, None, (flags.BARE_NUMBER, flags.OUT_OF_SPACE), words)
    said = name_key(words).split()
    if not said or len(said) > _FEW or "\n" in words or set(said) & _NO_LABEL:
        return None
    if len(said) == 1 or set(said) <= {word for name in vocab.names for word in name.split()}:
        return Reading(Outcome.UNPARSEABLE, None, (flags.OUT_OF_SPACE,), words)
    return None


_NUMBER: Final = re.compile(r"[-+−]?\d+(?:\.\d+)?[.]?")
_FEW: Final = 3
_NO_LABEL: Final = frozenset({"i", "not", "no", "none", "don't", "unsure"})
