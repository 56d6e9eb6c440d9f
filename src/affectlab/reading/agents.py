"""One answer for each of several people: "AGENT A: C / AGENT B: A"."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final, NamedTuple, TypeAlias

from affectlab.reading import flags
from affectlab.reading.choice import letters_in_a_row, option_vocabulary
from affectlab.reading.conclude import conclude, unread
from affectlab.reading.markup import plain
from affectlab.reading.objects import Pairs, find_objects
from affectlab.reading.outcome import Outcome, Reading
from affectlab.reading.phrases import Follow, phrase_at
from affectlab.reading.prepare import Prepared, prepare
from affectlab.reading.statements import read_statement
from affectlab.reading.vocabulary import Vocabulary, lower, name_key

_GENERIC: Final = re.compile(
    r"(?<![a-z])(?:agent|character|person|role|speaker|participant|individual|subject|party|player)[ _-]?"
    r"(?P<slot>[a-z0-9]{1,3})(?![a-z0-9])"
    r"|(?:角色|人物|智能体|代理|主体|参与者|说话人|当事人|个体)[ _-]?(?P<zh>[a-z0-9]{1,3})(?![a-z0-9])"
)
_SHORT: Final = re.compile(
    r"(?:(?<=[\n,;/(|.])|\A|(?<=[a-z0-9)] ))[ ]?[\"'(]?"
    r"(?P<slot>[a-z0-9甲乙丙丁]{1,3})[\"')]?(?=[ ]?(?:[:=→]|->|[-–—][ ]))"
)
_AFTER: Final = re.compile(
    r"[\"')\]]{0,2}(?:'s)?(?:[ ]?\([^()\n]{0,80}\))?[ ]?"
    r"(?:(?:most likely |most |final |primary |main |dominant |correct )?"
    r"(?:emotion|feeling|answer|choice|option|label|letter|response)s?[ ]?|的?(?:情绪|情感|答案|选项|选择)[ ]?)?"
    r"(?:(?P<mark>[:=→]+|->|=>|[-–—]+>?(?![a-z])|(?=\n|\Z))"
    r"|(?P<verb>(?:most likely |probably |likely |would |will |must |should |might )?"
    r"(?:is|be|feels?|feeling|experiences?|has)"
    r"(?: feeling| most likely| likely| probably)?(?![a-z'])|是|为|感到|选择|选))[ ]?"
)
_TRAILING: Final = re.compile(
    r"(?:[ ,;]+(?:and|while|whereas|but|for|the|of|answer|emotion|is|但|而))+$", re.IGNORECASE
)
_PARTS: Final = re.compile(r"[\n,;/&+]+| and | ")
_ITEM_NUMBER: Final = re.compile(r"^(?:\(?\d{1,2}[.)]) ?", re.MULTILINE)


_ONE_MORE: Final = re.compile(
    r"[ ]?(?:(?P<loose>[,=])|/|&|\+|(?<![a-z])and(?![a-z])|和|与|與|及|、)[ ]?(?:and )?"
    r"(?P<slot>[a-z0-9甲乙丙丁]{1,3}(?![a-z0-9]))?"
)


_Spot: TypeAlias = tuple[str, int, int]
"""A slot, and where it is named."""


class _Heading(NamedTuple):
    slot: str
    start: int
    end: int
    marked: bool


class _Shared(NamedTuple):
    """One heading of all slots, in the order named."""

    slots: list[str]
    start: int
    end: int


def read_agents(
    text: str | None,
    options: Mapping[str, Mapping[str, str]],
    *,
    names: Mapping[str, Sequence[str]] | None = None,
    finish: str = "stop",
) -> dict[str, Reading]:
    """Read one answer per slot from a reply with a line (or part) for each.

    A slot is announced by "Agent A", "Person A", "角色A", …, by one of its ``names``, or (when nothing else is) by
    its id alone ("A: C"). Bare answers without any announcement are taken in the order of the slots when there
    are exactly as many as slots, with the flag ``positional``. The text of another slot's option is never an answer:
    ``unparseable`` with the flags ``out_of_space`` and ``swapped``.

    Args:
        text: The reply, or ``None``.
        options: Slot -> option key -> option text.
        names: Slot -> other names it may be called by (roles, proper names).
        finish: Why generation ended.

    Returns:
        Slot -> reading whose value is an option key of that slot.
    """
    prepared = prepare(text, finish)
    empty = unread(prepared)
    if empty is not None:
        return dict.fromkeys(options, empty)
    vocabs = {slot: _slot_vocabulary(slot, options) for slot in options}
    called = {slot: [name_key(name) for name in (names or {}).get(slot, ())] for slot in options}
    found = _from_json(prepared, vocabs, called) or _from_text(prepared, vocabs, called)
    return {slot: conclude(prepared, found.get(slot, Reading(Outcome.UNPARSEABLE))) for slot in options}


def _slot_vocabulary(slot: str, options: Mapping[str, Mapping[str, str]]) -> Vocabulary:
    foreign = tuple(text for other, shown in options.items() if other != slot for text in shown.values())
    return _vocabulary(tuple(options[slot].items()), foreign)


@lru_cache(maxsize=1024)  # a run shows the same few arrangements of options over and over
def _vocabulary(own: tuple[tuple[str, str], ...], foreign: tuple[str, ...]) -> Vocabulary:
    return option_vocabulary(dict(own), outside=[(text, (flags.OUT_OF_SPACE, flags.SWAPPED)) for text in foreign])


def _from_json(
    prepared: Prepared, vocabs: Mapping[str, Vocabulary], called: Mapping[str, Sequence[str]]
) -> dict[str, Reading]:
    """Answers of JSON objects that together name every slot; the last that names a slot counts."""
    if "{" not in prepared.text:
        return {}
    values: dict[str, Reading] = {}
    for pairs in find_objects(prepared.text).objects:
        for key, value in [*_record(pairs), *pairs]:
            slot = _slot_of_key(key, called)
            if slot is not None and isinstance(value, str):
                values[slot] = read_statement(vocabs[slot], plain(value))
    return values if values.keys() == vocabs.keys() else {}


def _record(pairs: Pairs) -> list[tuple[str, Any]]:
    """``{"agent": "A", "answer": "C"}`` as the pair it stands for."""
    by_key = {name_key(key): value for key, value in pairs}
    who = next((by_key[key] for key in _WHO if isinstance(by_key.get(key), str)), None)
    what = next((by_key[key] for key in _WHAT if isinstance(by_key.get(key), str)), None)
    return [(who, what)] if who is not None and what is not None else []


_WHO: Final = ("agent", "person", "character", "role", "name", "slot")
_WHAT: Final = ("answer", "choice", "letter", "option", "emotion", "label")


@lru_cache(maxsize=64)
def _slots_by_id(slots: tuple[str, ...]) -> Mapping[str, str]:
    """Slots by their ids, and by what counts them off: 1 2 3, 甲乙丙."""
    counted = {mark: slot for marks in ("1234", "甲乙丙丁") for mark, slot in zip(marks, slots, strict=False)}
    return {**counted, **{name_key(slot): slot for slot in slots}}


def _slot_of_key(key: str, called: Mapping[str, Sequence[str]]) -> str | None:
    folded = name_key(key).replace("_", " ")
    by_id = _slots_by_id(tuple(called))
    generic = _GENERIC.match(folded)
    if generic is not None:
        return by_id.get(generic.group("slot") or generic.group("zh"))
    return by_id.get(folded) or next((slot for slot, names in called.items() if folded in names), None)


def _from_text(
    prepared: Prepared, vocabs: Mapping[str, Vocabulary], called: Mapping[str, Sequence[str]]
) -> dict[str, Reading]:
    words = plain(prepared.text)
    low = lower(words)
    spots = _spots(low, called)
    shared = _shared_heading(low, spots, called)
    if shared is not None:
        low = low[: shared.start] + " " * (shared.end - shared.start) + low[shared.end :]
        spots = [spot for spot in spots if not shared.start <= spot[1] < shared.end]
    headings = _headings(low, spots, called)
    for wanted in (True, False):
        chosen = [heading for heading in headings if heading.marked or not wanted]
        readings = _sections(words, chosen, vocabs)
        if any(reading.outcome is not Outcome.UNPARSEABLE or reading.flags for reading in readings.values()):
            return readings
    if len(vocabs) == 1:
        ((slot, vocab),) = vocabs.items()
        return {slot: read_statement(vocab, words, cut=prepared.at_limit)}
    if shared is not None:
        answer = words[shared.end :].strip()
        return _by_position(answer, {slot: vocabs[slot] for slot in shared.slots}) or _one_for_all(answer, vocabs)
    if headings:
        return {}
    return _by_position(words, vocabs) or _one_for_all(words, vocabs)


def _spots(low: str, called: Mapping[str, Sequence[str]]) -> list[_Spot]:
    """Where slots are named by "Agent A" and its kin or by one of their names, in the order of the text."""
    by_id = _slots_by_id(tuple(called))
    spots: list[_Spot] = []
    for match in _GENERIC.finditer(low):
        slot = by_id.get(match.group("slot") or match.group("zh"))
        if slot is not None:
            spots.append((slot, match.start(), match.end()))
    for slot, names in called.items():
        for name in names:
            at = low.find(name) if name else -1
            while at >= 0:
                end = at + len(name)
                if not (low[at - 1 : at].isalnum() and name[0].isascii()) and not (
                    low[end : end + 1].isalnum() and name[-1].isascii()
                ):
                    spots.append((slot, at, end))
                at = low.find(name, end)
    return sorted(spots, key=lambda spot: (spot[1], -spot[2]))


def _shared_heading(low: str, spots: Sequence[_Spot], called: Mapping[str, Sequence[str]]) -> _Shared | None:
    """The last heading that names every slot ("Agent A and Agent B: C") and so heads no slot's own answer."""
    by_id = _slots_by_id(tuple(called))
    starts = {start: (slot, end) for slot, start, end in spots}
    found = None
    for slot, start, end in spots:
        named = [slot]
        while (more := _ONE_MORE.match(low, end)) is not None:
            at = more.start("slot") if more.group("slot") else more.end()
            alone = None if more.group("loose") else by_id.get(more.group("slot") or "")
            other, stop = starts.get(at, (alone, more.end()))
            if other is None or other in named:
                break
            named.append(other)
            end = stop
        after = _AFTER.match(low, end)
        if len(named) == len(called) > 1 and after is not None:
            found = _Shared(named, start, after.end())
    return found


def _headings(low: str, spots: Sequence[_Spot], called: Mapping[str, Sequence[str]]) -> list[_Heading]:
    by_id = _slots_by_id(tuple(called))
    headings = _announced(low, spots)
    marked = {heading.slot for heading in headings if heading.marked}
    if marked == called.keys():
        return headings
    short = [
        (by_id[match.group("slot")], match.start("slot"), match.end("slot"))
        for match in _SHORT.finditer(low)
        if match.group("slot") in by_id
    ]
    if marked:
        return _announced(low, [*spots, *(spot for spot in short if spot[0] not in marked)])
    return _announced(low, short) if {slot for slot, _, _ in short} == called.keys() else headings


def _announced(low: str, spots: Sequence[_Spot]) -> list[_Heading]:
    headings: list[_Heading] = []
    for slot, start, end in sorted(spots, key=lambda spot: (spot[1], -spot[2])):
        if headings and start < headings[-1].end:
            continue
        after = _AFTER.match(low, end)
        if after is not None:
            headings.append(_Heading(slot, start, after.end(), after.group("mark") is not None))
    return headings


def _sections(words: str, headings: list[_Heading], vocabs: Mapping[str, Vocabulary]) -> dict[str, Reading]:
    """The answer of each slot from the line its heading opens; the last heading with an answer counts."""
    readings: dict[str, Reading] = {}
    for index, heading in enumerate(headings):
        stop = headings[index + 1].start if index + 1 < len(headings) else len(words)
        section = words[heading.end : stop].lstrip("\n ").split("\n", 1)[0].rstrip(" ,;/&+-–—(")
        reading = read_statement(vocabs[heading.slot], _TRAILING.sub("", section))
        before = readings.get(heading.slot)
        if before is None or not before.ok or reading.ok:
            if before is not None and before.ok and before.value != reading.value:
                reading = replace(reading, flags=(*reading.flags, flags.SELF_CORRECTED))
            readings[heading.slot] = reading
    return readings


def _by_position(words: str, vocabs: Mapping[str, Vocabulary]) -> dict[str, Reading]:
    """Bare answers, as many as slots, in their order."""
    text = _ITEM_NUMBER.sub("", words)
    if len(text) > 40 * len(vocabs):
        return {}
    for parts in ([part for part in text.split("\n") if part.strip()], [p for p in _PARTS.split(text) if p.strip()]):
        if len(parts) != len(vocabs) or len({_is_key(part, vocabs) for part in parts}) > 1:
            continue  # "A. joy" is one answer with its letter, not a letter for one and a word for the other
        readings = {slot: _bare(vocab, part.strip()) for (slot, vocab), part in zip(vocabs.items(), parts, strict=True)}
        if all(reading is not None for reading in readings.values()):
            return {slot: reading for slot, reading in readings.items() if reading is not None}
    return {}


def _one_for_all(words: str, vocabs: Mapping[str, Vocabulary]) -> dict[str, Reading]:
    """Nothing that can be read, but the reason why, when a reply is one answer to several questions."""
    stated = [read_statement(vocab, words) for vocab in vocabs.values()]
    if any(reading.ok or flags.LETTER_TEXT_CONFLICT in reading.flags for reading in stated):
        return dict.fromkeys(vocabs, Reading(Outcome.UNPARSEABLE, None, (flags.ONE_ANSWER,), words[:120]))
    row = next(filter(None, (letters_in_a_row(words, vocab) for vocab in vocabs.values())), None)
    return {} if row is None else dict.fromkeys(vocabs, row)


def _is_key(part: str, vocabs: Mapping[str, Vocabulary]) -> bool:
    """Whether a part is an option's letter and no more."""
    return any(name_key(part) in vocab.letters for vocab in vocabs.values())


def _bare(vocab: Vocabulary, part: str) -> Reading | None:
    phrase = phrase_at(vocab, part, lower(part), 0)
    if phrase is None or (phrase.follow is not Follow.END and any(c.isalnum() for c in part[phrase.end :])):
        return None
    reading = read_statement(vocab, part)
    return replace(reading, flags=(flags.POSITIONAL, *reading.flags))
