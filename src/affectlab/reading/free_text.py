"""Free text: the reply itself, without reasoning and wrapping."""

from __future__ import annotations

import re
from typing import Final

from affectlab.reading.conclude import conclude, unread
from affectlab.reading.outcome import Outcome, Reading
from affectlab.reading.prepare import prepare
from affectlab.reading.refusal import is_refusal, is_refusal_in_person

_FENCED: Final = re.compile(r"\A```[\w+-]*\n(.*?)\n?```\Z", re.DOTALL)
_TAGGED: Final = re.compile(r"<answer>(.*?)</answer>\s*\Z", re.DOTALL | re.IGNORECASE)
_ANNOUNCED: Final = re.compile(r"\A(?:\*\*)?(?:my |the |final )?answer(?:\*\*)?\s?[:：](?:\*\*)?\s*", re.IGNORECASE)


def read_text(text: str | None, *, finish: str = "stop", in_person: bool = False) -> Reading:
    """Take a reply as free text.

    Reasoning, a fence or ``<answer>`` around the whole, a leading "Answer:" and one pair of quotes are taken off;
    nothing inside the text is changed. A reply cut at the token limit is ``truncated``.

    Args:
        text: The reply, or ``None``.
        finish: Why generation ended.
        in_person: The model was to speak as somebody in a story, who may say "I could not tell" or "we will not": only
            what an assistant alone would say is a refusal then.

    Returns:
        Reading whose value is a string.
    """
    prepared = prepare(text, finish)
    empty = unread(prepared)
    if empty is not None:
        return empty
    said = prepared.verbatim
    for pattern in (_TAGGED, _FENCED):
        if wrapped := pattern.search(said):
            said = wrapped.group(1).strip()
    said = _ANNOUNCED.sub("", said)
    if len(said) > 1 and (said[0], said[-1]) in (('"', '"'), ("“", "”"), ("「", "」")) and said[0] not in said[1:-1]:
        said = said[1:-1].strip()
    if not any(c.isalnum() for c in said):
        return conclude(prepared, Reading(Outcome.UNPARSEABLE))
    refused = is_refusal_in_person if in_person else is_refusal
    if prepared.withheld or refused(prepared.text):
        return Reading(Outcome.REFUSAL, evidence=prepared.text[:120])
    if prepared.truncated:
        return Reading(Outcome.TRUNCATED, evidence=prepared.text[:120])
    return Reading(Outcome.OK, said, evidence=said[:120])
