"""What reading a reply can end in."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Outcome(StrEnum):
    """How reading a reply ended. Everything but ``OK`` counts as wrong unless a policy says otherwise."""

    OK = "ok"
    UNPARSEABLE = "unparseable"
    """A reply without a readable answer, or with an answer outside the declared label space (flag ``out_of_space``)."""
    AMBIGUOUS = "ambiguous"
    """Several answers and none marked final, or an answer that contradicts itself."""
    REFUSAL = "refusal"
    """The model declined to answer."""
    TRUNCATED = "truncated"
    """The reply was cut off before an answer (unclosed reasoning, or the token limit)."""
    EMPTY = "empty"
    """No text, or only white space and reasoning."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One answer read from a reply.

    Attributes:
        outcome: How reading ended.
        value: The answer when ``outcome`` is ``OK``, else ``None``: an option key, a label id, a level, a number,
            a tuple of label ids, or a bool.
        flags: Facts worth counting, from a fixed vocabulary in ``reading.flags``
            (for instance ``self_corrected``, ``positional``, ``out_of_space``, ``letter_text_conflict``).
        evidence: The piece of the reply the answer was taken from, for people who check.
    """

    outcome: Outcome
    value: Any = None
    flags: tuple[str, ...] = ()
    evidence: str = ""

    @property
    def ok(self) -> bool:
        """Whether there is an answer."""
        return self.outcome is Outcome.OK
