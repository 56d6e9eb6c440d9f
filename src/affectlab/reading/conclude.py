"""The last step of every reader: what it means when no answer was read."""

from __future__ import annotations

from dataclasses import replace

from affectlab.reading import flags
from affectlab.reading.outcome import Outcome, Reading
from affectlab.reading.prepare import Prepared
from affectlab.reading.refusal import is_refusal


def unread(prepared: Prepared) -> Reading | None:
    """The outcome of a reply that says nothing outside its reasoning, or ``None`` when there is something to read."""
    if prepared.text:
        return None
    if prepared.withheld:
        return Reading(Outcome.REFUSAL)
    return Reading(Outcome.TRUNCATED if prepared.truncated else Outcome.EMPTY)


def conclude(prepared: Prepared, reading: Reading) -> Reading:
    """Tell a refusal and a cut-off reply from an unreadable one.

    What the server withheld is a refusal, even if a piece of it reads like an answer.
    An answer stands, with the flag ``at_limit`` when the reply was cut after it. A stated answer outside the
    declared space and a contradiction between letter and text stand too, unless the reply was cut off.
    """
    if prepared.withheld:
        return Reading(Outcome.REFUSAL, evidence=prepared.text[:120])
    if reading.ok:
        marked = not prepared.at_limit or flags.AT_LIMIT in reading.flags
        return reading if marked else replace(reading, flags=(*reading.flags, flags.AT_LIMIT))
    stated = flags.OUT_OF_SPACE in reading.flags or flags.LETTER_TEXT_CONFLICT in reading.flags
    if not stated and is_refusal(prepared.text):
        return Reading(Outcome.REFUSAL, evidence=prepared.text[:120])
    if prepared.truncated:
        return Reading(Outcome.TRUNCATED, flags=reading.flags, evidence=reading.evidence)
    return reading
