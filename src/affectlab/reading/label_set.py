"""A set of labels out of a list, or none of them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from affectlab.reading import flags
from affectlab.reading.conclude import conclude, unread
from affectlab.reading.markup import plain
from affectlab.reading.objects import find_objects
from affectlab.reading.outcome import Outcome, Reading
from affectlab.reading.prepare import fold, prepare
from affectlab.reading.vocabulary import Vocabulary, join_lines, lower, name_at, name_key, vocabulary

_COMMA: Final = re.compile(r"\s*,\s*")
_SEPARATOR: Final = re.compile(r"[;\n|]+")
_JOIN: Final = re.compile(
    r"[\s,:;/&+.\"'()\[\]]*(?:(?:and|as well as|plus|also|和|与|以及|及)(?![a-z]))?[\s,;/&+.\"'()\[\]]*"
)
_ITEM: Final = re.compile(r"^(?:\(?\d{1,2}[.):]|\(?[a-z][.)]|[-*•+])[ ]?")
_ANNOUNCED: Final = re.compile(
    r"(?:answers?|labels?|emotions?|groups?|choices?|selections?|options?|answer is|are|is|felt|feel|include|"
    r"答案|选择|标签|情绪)"
    r"[ ]?(?::|are|is|是|为)?[ ]?:?[ ]*",
    re.IGNORECASE,
)
_EXPLANATION: Final = re.compile(
    r"\n+(?:explanation|reason(?:ing)?|rationale|because|note|justification|why|解释|理由|说明)\b[\s\S]*\Z",
    re.IGNORECASE,
)
_WHOLE_LIST: Final = 4


@dataclass(frozen=True, slots=True)
class LabelSet:
    """A list of labels of which any number may be chosen.

    Attributes:
        labels: Label id -> its names; names may hold commas.
        members: Label id -> words that stand for it because it is a group of words; each is flagged ``member_word``.
        none: Ways to say that no label holds; folded like names.
    """

    labels: Mapping[str, Sequence[str]]
    members: Mapping[str, Sequence[str]] = field(default_factory=dict)
    none: Sequence[str] = (
        "None",
        "none of the above",
        "none of these",
        "none of them",
        "no emotion",
        "no emotions",
        "no labels",
        "n/a",
        "无",
        "没有",
        "以上都不是",
        "都没有",
    )


def read_label_set(text: str | None, wanted: LabelSet, *, finish: str = "stop") -> Reading:
    """Read which labels a reply lists.

    Labels may be separated by ``;``, lines, bullets, numbers, "and", or commas (whole names first, so that commas
    inside a label do not split it), or stand in a JSON list. "None" is the empty set. One label outside the list
    makes the whole answer ``unparseable`` with the flag ``out_of_space`` and the strange pieces as evidence; "None"
    beside labels, or all labels (four or more) repeated in their order, is ``ambiguous``. A list cut off at the token
    limit is ``truncated``.

    Args:
        text: The reply, or ``None``.
        wanted: What was offered.
        finish: Why generation ended.

    Returns:
        Reading whose value is a tuple of label ids in declared order, without repeats.
    """
    prepared = prepare(text, finish)
    empty = unread(prepared)
    if empty is not None:
        return empty
    if prepared.at_limit:
        return conclude(prepared, Reading(Outcome.UNPARSEABLE))
    listed = _json_list(prepared.text)
    words = "\n".join(listed) if listed is not None else _EXPLANATION.sub("", plain(prepared.text))
    reading = _read_list(words, wanted, from_json=listed is not None)
    return conclude(prepared, reading)


def _json_list(text: str) -> list[str] | None:
    """The strings of a JSON list, or of the first list in the last JSON object."""
    if "[" not in text and "{" not in text:
        return None
    found = find_objects(f'{{"list": {text.strip().strip("`").removeprefix("json")}}}').objects
    for pairs in reversed(found or find_objects(text).objects):
        for _, value in pairs:
            if isinstance(value, list) and all(isinstance(part, str) for part in value):
                return [fold(part) for part in value] or ["None"]
    return None


class _Tally:
    """What a list holds, piece by piece."""

    def __init__(self) -> None:
        self.order: list[str] = []
        self.members = False
        self.none = False
        self.strange: list[str] = []

    def add(self, found: _Pieces) -> None:
        self.order.extend(found.labels)
        self.members = self.members or found.members
        self.none = self.none or found.none


@dataclass(frozen=True, slots=True)
class _Pieces:
    labels: tuple[str, ...]
    members: bool
    none: bool


_NONE: Final = "\x00none"


def _vocabularies(wanted: LabelSet) -> tuple[Vocabulary, Vocabulary]:
    whole = [(key, tuple(_spaced(fold(name)) for name in (key, *names))) for key, names in wanted.labels.items()]
    return (
        vocabulary([*whole, (_NONE, tuple(wanted.none))], lettered=False),
        vocabulary([(key, tuple(words)) for key, words in wanted.members.items()], lettered=False),
    )


def _read_list(words: str, wanted: LabelSet, *, from_json: bool) -> Reading:
    whole, members = _vocabularies(wanted)
    words = join_lines(whole, words)
    tally = _tally(words, whole, members)
    if tally.strange and not from_json:
        # Prose may announce the list: read from the last announcement on.
        for announced in reversed(list(_ANNOUNCED.finditer(words))[-20:]):
            later = _tally(words[announced.end() :], whole, members)
            if not later.strange and (later.order or later.none):
                tally = later
                break
    raised = (flags.MEMBER_WORD,) if tally.members else ()
    if tally.strange:
        declared = tally.order or any(len(piece.split()) <= 3 and _labelish(piece) for piece in tally.strange)
        marks = (*raised, flags.OUT_OF_SPACE) if declared else raised
        return Reading(Outcome.UNPARSEABLE, None, marks, "; ".join(tally.strange)[:200])
    if tally.none and tally.order:
        return Reading(Outcome.AMBIGUOUS, None, (flags.NONE_WITH_LABELS,), words[:200])
    if not tally.none and not tally.order:
        return Reading(Outcome.UNPARSEABLE)
    chosen = tuple(key for key in wanted.labels if key in tally.order)
    if len(chosen) == len(wanted.labels) >= _WHOLE_LIST and tuple(dict.fromkeys(tally.order)) == chosen:
        return Reading(Outcome.AMBIGUOUS, None, (flags.LIST_ECHO,), words[:200])
    return Reading(Outcome.OK, chosen, raised, words[:200])


def _labelish(piece: str) -> bool:
    return piece.replace(" ", "").replace(",", "").replace("-", "").isalpha()


def _tally(words: str, whole: Vocabulary, members: Vocabulary) -> _Tally:
    tally = _Tally()
    for segment in _SEPARATOR.split(words):
        piece = _ITEM.sub("", segment.strip(" \t\"'“”,."), count=1) if segment.strip() else ""
        piece = piece.strip(" \t\"'“”[](),.")
        if not any(c.isalnum() for c in piece):
            continue
        found = _tile(piece, whole, members)
        if found is None:
            tally.strange.append(piece)
        else:
            tally.add(found)
    return tally


def _spaced(text: str) -> str:
    """Single spaces, and one after each comma, which Chinese commas lack."""
    return " ".join(_COMMA.sub(", ", text).split())


def _tile(piece: str, whole: Vocabulary, members: Vocabulary) -> _Pieces | None:
    """A piece as names laid end to end, or ``None`` when something is left over."""
    low = lower(_spaced(piece))
    labels: list[str] = []
    member = none = False
    lead = _JOIN.match(low)
    at = lead.end() if lead else 0
    while at < len(low):
        name = name_at(whole, low, at)
        if name is not None:
            key = whole.names[name]
        else:
            name = name_at(members, low, at)
            if name is None:
                return None
            key, member = members.names[name], True
        none = none or key == _NONE
        if key != _NONE:
            labels.append(key)
        joined = _JOIN.match(low, at + len(name))
        at = joined.end() if joined else at + len(name)
    return _Pieces(tuple(labels), member, none)


def names_of_group(label: str) -> tuple[str, ...]:
    """The words of a label that is a group of words separated by commas ("Glad, happy, joyful")."""
    words = tuple(name_key(word) for word in label.split(","))
    return words if len(words) > 1 else ()


def label_groups(labels: Sequence[str]) -> LabelSet:
    """A label set from labels that are their own ids, each word of a group standing for it."""
    found: dict[str, Any] = {label: (label,) for label in labels}
    return LabelSet(found, {label: words for label in labels if (words := names_of_group(label))})
