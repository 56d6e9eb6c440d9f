"""A set of labels out of a list, or none of them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from affectlab.reading import flags
from affectlab.reading.conclude import conclude, unread
from affectlab.reading.json_fields import from_objects
from affectlab.reading.markup import plain
from affectlab.reading.mentions import DENIED, clause_before
from affectlab.reading.objects import Pairs, find_objects, read_whole
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
    r"(?:(?<![A-Za-z])(?:(?P<noun>answers?|labels?|emotions?|groups?|choices?|selections?|options?)"
    r"(?: (?:felt|present))?|are|is|felt|feels?|includes?|including)(?![A-Za-z])|(?P<zh>答案|选择|标签|情绪)|感到|觉得)"
    r"[ ]?(?P<link>:|(?:are|is)(?![A-Za-z])|是|为)?[ ]?:?[ ]*",
    re.IGNORECASE,
)
_NO_DENIAL: Final = re.compile(
    r"(?<![A-Za-z])(?:no (?:doubt|question|wonder)|(?:without|beyond) (?:a |any )?(?:doubt|question|hesitation)"
    r"|not (?:only|surprisingly))(?![A-Za-z])|毫无疑问|无疑|不禁|不由得|不仅",
    re.IGNORECASE,
)
_SUBJECT: Final = r"(?=(?:I|we|he|she|they|it|the|my|this)(?![A-Za-z]))"
_OWN_CLAUSE: Final = re.compile(
    rf"(?:(?<![A-Za-z])(?:and|yet|so|although|even though|aside)|:) {_SUBJECT}", re.IGNORECASE
)
_LEADS_UP: Final = re.compile(
    r"\W*(?:(?:and|so|then|also) )?(?:even |al)?"
    r"(?:when|while|though|if|with|without|despite|given|after|once)(?![A-Za-z])",
    re.IGNORECASE,
)
_MAIN_CLAUSE: Final = re.compile(
    r"(?<![\w'])(?!(?:of|in|to|for|with|from|on|at|by|about|that|which|where|why|how|says?|thinks?|believes?|means?|sure"
    rf"|makes?|made|reason|way|chance) )[\w']+ {_SUBJECT}",
    re.IGNORECASE,
)
_UNCHOSEN: Final = re.compile(r"(?:un|non)[ _-]?(?:selected|chosen|felt|applicable|related|present)", re.IGNORECASE)
_LACKING: Final = re.compile(r"(?<![A-Za-z])(?:no|any)(?: \w+){0,3} $", re.IGNORECASE)
_WORD_START: Final = re.compile(r"(?<![A-Za-z0-9_])[A-Za-z0-9]|[\u3400-\u9fff]")
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


def read_label_set(text: str | None, wanted: LabelSet, *, field: str | None = None, finish: str = "stop") -> Reading:
    """Read which labels a reply lists.

    Labels may be separated by ``;``, lines, bullets, numbers, "and", or commas (whole names first, so that commas
    inside a label do not split it), or stand in JSON: as a list, in a text, or as keys with true and false. Prose may
    announce them ("I felt joy"), unless it denies them or names a label before. "None" is the empty set. One label
    outside the list makes the whole answer ``unparseable`` with the flag ``out_of_space`` and the strange pieces as
    evidence; "None" beside labels, all labels (four or more) repeated in their order, and several JSON lists with
    labels in one object are ``ambiguous``. A list cut off at the token limit is ``truncated``.

    Args:
        text: The reply, or ``None``.
        wanted: What was offered.
        field: Key of the JSON object that was asked for; where an object lacks it, or none was asked for, the object's
            only list with labels is the answer (in the former case with the flag ``other_key``).
        finish: Why generation ended.

    Returns:
        Reading whose value is a tuple of label ids in declared order, without repeats.
    """
    prepared = prepare(text, finish)
    empty = unread(prepared)
    if empty is not None:
        return empty
    whole, members = _vocabularies(wanted)
    listed = _in_json(prepared.text, field, (whole, members))
    if listed is not None:
        if not listed.ok:
            return conclude(prepared, listed)
        reading = _read_list("\n".join(listed.value), wanted, (whole, members), from_json=True)
        return conclude(prepared, replace(reading, flags=(*reading.flags, *listed.flags)))
    words = plain(prepared.text)
    explained = _EXPLANATION.search(words)
    if prepared.at_limit and explained is None:
        return conclude(prepared, Reading(Outcome.UNPARSEABLE))
    words = words if explained is None else words[: explained.start()]
    return conclude(prepared, _read_list(words, wanted, (whole, members), from_json=False))


def _in_json(text: str, field: str | None, vocabs: tuple[Vocabulary, Vocabulary]) -> Reading | None:
    """The labels as JSON gives them (a list of texts), several lists as ``ambiguous``; ``None`` where there is none."""
    names = vocabs[0]
    if "{" in text:
        answers = find_objects(text).answers
    else:
        bare = text.strip().strip("`").removeprefix("json").strip()
        answers = [[Pairs([("", read_whole(bare))])]] if bare.startswith("[") else []
    if field is not None and (told := from_objects(answers, {field: None}).get(field)) is not None:
        texts = _texts(told.value, names, or_one=True) if told.ok else None
        return Reading(Outcome.UNPARSEABLE, evidence=told.evidence) if texts is None else replace(told, value=texts)
    for answer in reversed(answers):
        keyed = [(key, value) for pairs in answer for key, value in pairs]
        denied = [value for key, value in keyed if _denies(key)]
        values = [*((key, value) for key, value in keyed if not _denies(key)), *(("", pairs) for pairs in answer)]
        lists = [
            (key, texts)
            for key, value in values
            if not any(value is other for other in denied) and (texts := _texts(value, names)) is not None
        ]
        # A list of reasons beside the labels is no second answer.
        labelled = [(key, texts) for key, texts in lists if _holds_labels(texts, vocabs)]
        if any(texts != labelled[0][1] for _, texts in labelled):
            return Reading(Outcome.AMBIGUOUS, evidence=text[:200])
        if labelled:
            key, texts = labelled[0]
            return Reading(Outcome.OK, texts, (flags.OTHER_KEY,) if field is not None and key else ())
        if lists:
            return Reading(Outcome.OK, lists[0][1])
    return None


def _holds_labels(texts: Sequence[str], vocabs: tuple[Vocabulary, Vocabulary]) -> bool:
    tallies = [_tally(text, *vocabs) for text in texts]
    return any(tally.order or tally.none for tally in tallies)


def _denies(key: str) -> bool:
    return DENIED.search(key.replace("_", " ")) is not None or _UNCHOSEN.match(key) is not None


def _texts(value: Any, names: Vocabulary, *, or_one: bool = False) -> list[str] | None:
    """A JSON value as the texts it lists; ``None`` when it is no list of labels.

    An object whose keys are labels, each true or false, lists those that are true; a text alone may be one.
    """
    if isinstance(value, str) and or_one:
        return [fold(value)]
    if isinstance(value, Pairs):
        if not value or not all(name_key(key) in names.names and _said(held) is not None for key, held in value):
            return None
        return [key for key, held in value if _said(held)] or ["None"]
    if not isinstance(value, list) or not all(isinstance(part, str) for part in value):
        return None
    placeholders = value and all(part.startswith("<") and part.endswith(">") for part in value)
    return None if placeholders else [fold(part) for part in value] or ["None"]


def _said(value: Any) -> bool | None:
    """A value as true or false, ``None`` when it is neither."""
    return _TRUTH.get(str(value).strip().lower())


_TRUTH: Final = {"true": True, "1": True, "yes": True, "present": True} | dict.fromkeys(
    ("false", "0", "no", "absent"), False
)


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


def _read_list(words: str, wanted: LabelSet, vocabs: tuple[Vocabulary, Vocabulary], *, from_json: bool) -> Reading:
    words = join_lines(vocabs[0], words)
    tally = _tally(words, *vocabs)
    if tally.strange and not from_json:
        tally = _announced(words, vocabs) or tally
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


def _announced(words: str, vocabs: tuple[Vocabulary, Vocabulary]) -> _Tally | None:
    """The list after the last words that announce one and deny nothing.

    "Answer:" may follow on anything; "felt" and "is" are prose, and announce nothing once a label was named.
    """
    low = lower(words)
    first = next((at.start() for at in _WORD_START.finditer(low) if _named_at(low, at.start(), vocabs)), len(low))
    for announced in reversed(list(_ANNOUNCED.finditer(words))[-20:]):
        firm = (announced.group("noun") or announced.group("zh")) and announced.group("link")
        if not firm and first < announced.start():
            continue
        tally = _tally(words[announced.end() :], *vocabs)
        if tally.strange or not (tally.order or tally.none):
            continue
        clause = clause_before(words, announced.start())
        # "There were no positive emotions: None" says the same twice.
        if not _denied(clause) or (tally.none and not tally.order and announced["noun"] and _LACKING.search(clause)):
            return tally
    return None


def _denied(clause: str) -> bool:
    """Whether the words before an announcement, in its clause, deny it.

    A denial counts unless the announcement has a clause of its own after it: "and I …", or a subject after words that
    only lead up to it ("When nobody came I …"), but not one that the denial governs ("Although I would not say I …").
    """
    clause = _NO_DENIAL.sub("", clause)
    starts = [*_OWN_CLAUSE.finditer(clause), *(_MAIN_CLAUSE.finditer(clause) if _LEADS_UP.match(clause) else ())]
    return DENIED.search(clause, max((start.end() for start in starts), default=0)) is not None


def _named_at(low: str, at: int, vocabs: tuple[Vocabulary, Vocabulary]) -> bool:
    return any(name_at(vocab, low, at) is not None for vocab in vocabs)


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
