"""Answers: from a form to plain values, and what is wrong with a value. Pure.

Values by kind: an option id (choice, yes_no), a whole number (scale), a number, a text in NFC, a list of option ids in
declared order or, with intensities, a mapping from option id to level (label_set), a list of ``{start, end, text}`` in
code points (span).
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from affectlab.annotate.slots import NUMERIC, ONE_OF, Option, Slot, compose
from affectlab.annotate.units import Unit

Form: TypeAlias = Mapping[str, Sequence[str]]

LONGEST_NOTE = 4000


@dataclass(frozen=True)
class Reply:
    """What one person says about one item.

    Attributes:
        values: Answer by slot; a slot without one is absent.
        comment: To the adjudicator.
        flag: Whether somebody should look at the item.
        skipped: Id of the reason for leaving it out; empty when it was answered.
    """

    values: Mapping[str, Any] = field(default_factory=dict)
    comment: str = ""
    flag: bool = False
    skipped: str = ""

    def body(self) -> dict[str, Any]:
        """As it is stored."""
        return {"values": dict(self.values), "comment": self.comment, "flag": self.flag, "skipped": self.skipped}

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> Reply:
        """From what was stored."""
        return cls(body["values"], body["comment"], body["flag"], body["skipped"])


def clean_text(text: str) -> str:
    """A typed text as it is kept: NFC, line feeds only, no blanks at its ends, no control characters."""
    unified = unicodedata.normalize("NFC", text.replace("\r\n", "\n").replace("\r", "\n"))
    return "".join(char for char in unified if char in "\n\t" or unicodedata.category(char) != "Cc").strip()


def read_reply(slots: Iterable[Slot], unit: Unit | None, form: Form) -> Reply:
    """What a form says, complete or not, right or not."""
    values: dict[str, Any] = {}
    for slot in slots:
        value = from_form(slot, unit, form)
        if value is not None:
            values[slot.id] = value
    return Reply(
        values=values,
        comment=clean_text(last(form, "comment"))[:LONGEST_NOTE],
        flag=bool(last(form, "flag")),
    )


def from_form(slot: Slot, unit: Unit | None, form: Form) -> Any:
    """A slot's value in a form; ``None`` when there is none. What cannot be read stays text, for :func:`problem`."""
    written = [text for text in form.get(f"s.{slot.id}", ()) if text]
    if not written or not slot.asked:
        return None
    if slot.kind in ONE_OF:
        return written[-1]
    if slot.kind == "text":
        return clean_text(written[-1]) or None
    if slot.kind in NUMERIC:
        return _number(written[-1])
    if slot.kind == "span":
        return [_span(text, unit.text(slot.field) if unit else "") for text in written]
    return _label_set(slot, written, form)


def checked(slots: Sequence[Slot], unit: Unit | None, reply: Reply) -> tuple[Reply, dict[str, str]]:
    """A reply with what is not asked taken out and derived labels put in, and what is wrong by slot.

    Args:
        slots: All slots, in order.
        unit: The item; ``None`` for a questionnaire.
        reply: As read.

    Returns:
        The reply, and slot -> name of the problem in the interface's words.
    """
    values: dict[str, Any] = {}
    problems: dict[str, str] = {}
    for slot in slots:
        if not is_asked(slot, values):
            continue
        if not slot.asked:
            made = compose(slot, values) if not problems.keys() & set(slot.composes) else None
            if made is not None:
                values[slot.id] = made
            continue
        value = reply.values.get(slot.id)
        if value is None:
            if slot.required:
                problems[slot.id] = "missing"
            continue
        wrong = problem(slot, options_of(slot, unit), value, unit)
        if wrong:
            problems[slot.id] = wrong
        else:
            values[slot.id] = value
    return Reply(values, reply.comment, reply.flag, reply.skipped), problems


def options_of(slot: Slot, unit: Unit | None) -> tuple[Option, ...]:
    """Options of a slot as this item offers them."""
    return unit.options.get(slot.id, slot.options) if unit else slot.options


def is_asked(slot: Slot, values: Mapping[str, Any]) -> bool:
    """Whether the slot's condition holds under the answers so far."""
    if slot.when is None:
        return True
    value = values.get(slot.when.slot)
    held = set(map(str, value)) if isinstance(value, list | dict) else {str(value)}
    return bool(held & set(slot.when.equals))


def problem(slot: Slot, options: Sequence[Option], value: Any, unit: Unit | None = None) -> str:
    """Name of what is wrong with a value; empty when nothing is."""
    ids = {option.id for option in options}
    if slot.kind in ONE_OF:
        return "" if isinstance(value, str) and value in ids else "not_an_option"
    if slot.kind == "scale":
        levels = {option.level for option in options}
        return "" if type(value) is int and value in levels else "not_an_option"
    if slot.kind == "number":
        return _number_problem(slot, value)
    if slot.kind == "text":
        return _text_problem(slot, value)
    if slot.kind == "span":
        return "" if _spans_hold(value, unit.text(slot.field) if unit else "") else "not_a_span"
    if slot.intensities:
        levels = set(range(1, len(slot.intensities) + 1))
        fine = isinstance(value, Mapping) and value.keys() <= ids and all(type(v) is int for v in value.values())
        if not fine:
            return "not_an_option"
        return "" if set(value.values()) <= levels else "no_intensity"
    return "" if isinstance(value, list) and set(value) <= ids and len(set(value)) == len(value) else "not_an_option"


def tell(slot: Slot, value: Any, names: Mapping[str, str]) -> str:
    """A value in words; ``names`` are those of the options, by id."""
    if slot.kind == "scale":
        level = next((option for option in slot.options if option.level == value), None)
        return names.get(level.id, str(value)) if level else str(value)
    if isinstance(value, dict):
        return ", ".join(f"{names.get(name, name)} {level}" for name, level in value.items()) or "–"
    if slot.kind == "span":
        return " · ".join(span["text"] for span in value)
    if isinstance(value, list):
        return ", ".join(names.get(name, name) for name in value) or "–"
    return names.get(value, str(value))


def _text_problem(slot: Slot, value: Any) -> str:
    if not isinstance(value, str):
        return "not_an_option"
    if len(value) > slot.longest:
        return "too_long"
    return "too_short" if len(value) < slot.shortest else ""


def _number_problem(slot: Slot, value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return "not_a_number"
    low = -math.inf if slot.low is None else slot.low
    high = math.inf if slot.high is None else slot.high
    return "" if low <= value <= high else "out_of_range"


def _number(text: str) -> int | float | str:
    """The number a text is; the text itself where it is none that can be stored."""
    written = unicodedata.normalize("NFKC", text).strip()
    try:
        value = float(written)
    except ValueError:
        return text
    if not math.isfinite(value) or "_" in written:
        return text
    return int(value) if value.is_integer() and abs(value) < 2**53 else value


def _label_set(slot: Slot, written: Sequence[str], form: Form) -> list[str] | dict[str, int]:
    chosen = dict.fromkeys(written)
    ordered = [option.id for option in slot.options if option.id in chosen]
    strange = [text for text in chosen if text not in ordered and text != NONE]
    if not slot.intensities:
        return [*ordered, *strange]
    found: dict[str, int] = {}
    for label in (*ordered, *strange):
        level = _number(last(form, f"i.{slot.id}.{label}") or "0")
        found[label] = level if isinstance(level, int) else 0
    return found


NONE = "-none-"
"""What a form sends for "none of these": an empty set is an answer, no set is none."""


def _span(text: str, source: str) -> dict[str, Any]:
    start, _, end = text.partition("-")
    if not (start.isdecimal() and end.isdecimal()) or max(len(start), len(end)) > 9:
        return {"start": -1, "end": -1, "text": ""}
    return {"start": int(start), "end": int(end), "text": source[int(start) : int(end)]}


def _spans_hold(value: Any, source: str) -> bool:
    return isinstance(value, list) and all(
        isinstance(span, Mapping)
        and span.keys() == {"start", "end", "text"}
        and type(span["start"]) is int
        and type(span["end"]) is int
        and 0 <= span["start"] < span["end"] <= len(source)
        and span["text"] == source[span["start"] : span["end"]]
        for span in value
    )


def last(form: Form, name: str) -> str:
    """Last value of a field of a form; empty when there is none."""
    found = form.get(name, ())
    return found[-1] if found else ""
