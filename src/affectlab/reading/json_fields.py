"""Fields of a JSON answer."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from affectlab.reading import flags
from affectlab.reading.choice import read_prepared
from affectlab.reading.conclude import conclude, unread
from affectlab.reading.markup import plain
from affectlab.reading.mentions import another_named
from affectlab.reading.objects import Pairs, find_objects
from affectlab.reading.outcome import Outcome, Reading
from affectlab.reading.prepare import Prepared, fold, prepare
from affectlab.reading.statements import read_statement
from affectlab.reading.vocabulary import Vocabulary, join_lines, lower, vocabulary

_NOT_WORD: Final = re.compile(r"[\W_]+")
_SCHEMA: Final = re.compile(
    r"\A\s*(?:<[^<>]*>|\[[^\[\]]*\]|\{[^{}]*\}|\.{2,}|string|str|label|your (?:answer|choice).*)?\s*\Z", re.I
)
_SCHEMA_KEYS: Final = frozenset({"type", "enum"})
_INNER_KEYS: Final = ("label", "value", "answer", "name", "choice", "prediction")
_ITEM_NUMBER: Final = re.compile(r"\A\(?\d{1,2}[.)] ?")


def read_json(
    text: str | None,
    fields: Mapping[str, Mapping[str, Sequence[str]] | None],
    *,
    finish: str = "stop",
) -> dict[str, Reading]:
    """Read fields of the JSON object a reply answers with.

    The last object that holds a field counts, whatever it says; echoes of the schema (``"<intent_name>"``, all labels
    joined by ``|``) are not answers. Fields may be spread over objects, but an object that says otherwise of one field
    replaces what stood before it: a field that it lacks is then ``ambiguous``. Keys match without regard to case,
    spaces, ``_`` and ``-``. Bent JSON is mended (flag ``repaired``). When no object holds the field, ``field: value``
    on a line, or (for one field) the stated answer, is taken with the flag ``not_json``.

    Args:
        text: The reply, or ``None``.
        fields: Field -> label id -> names (the id is a name too), or ``None`` for a field that takes any value.
        finish: Why generation ended.

    Returns:
        Field -> reading; the value is a label id, or for a free field the value as JSON gave it.
    """
    prepared = prepare(text, finish)
    empty = unread(prepared)
    if empty is not None:
        return dict.fromkeys(fields, empty)
    found = find_objects(prepared.text)
    vocabs = {field: None if labels is None else _value_vocabulary(labels) for field, labels in fields.items()}
    stated = from_objects(found.answers, vocabs)
    readings = {}
    for field, vocab in vocabs.items():
        reading = stated.get(field)
        if reading is None and not found.answers and not found.cut:
            reading = _outside(prepared, field, vocab, only=len(fields) == 1)
        elif reading is not None and reading.ok and found.repaired:
            reading = _marked(reading, flags.REPAIRED)
        if reading is None:
            reading = Reading(Outcome.TRUNCATED if found.cut else Outcome.UNPARSEABLE)
        readings[field] = conclude(prepared, reading)
    return readings


def from_objects(answers: Sequence[Sequence[Pairs]], vocabs: Mapping[str, Vocabulary | None]) -> dict[str, Reading]:
    """What a reply says of fields in the end; fields that it says nothing of are left out.

    Args:
        answers: Its outermost objects, as :class:`affectlab.reading.objects.Objects` holds them.
        vocabs: Field -> what it can say, or ``None`` for a field that takes any value.
    """
    last: dict[str, Reading] = {}
    before: dict[str, Reading] = {}
    for answer in answers:
        told = {field: _in_one(answer, field, vocab) for field, vocab in vocabs.items()}
        held = {field: reading for field, reading in told.items() if reading is not None}
        if any(_corrects(reading, last.get(field)) for field, reading in held.items()):
            before |= last
            last = {}
        last |= held
    for field, earlier in before.items():
        if field not in last:
            last[field] = Reading(Outcome.AMBIGUOUS, evidence=earlier.evidence)
        elif _corrects(last[field], earlier):
            last[field] = _marked(last[field], flags.SELF_CORRECTED)
    return last


def _corrects(later: Reading, earlier: Reading | None) -> bool:
    """Whether an answer was given before, and another is now."""
    return earlier is not None and earlier.ok and _differ(later, earlier)


def _differ(one: Reading, other: Reading) -> bool:
    return (one.outcome, repr(one.value)) != (other.outcome, repr(other.value))


def _outside(prepared: Prepared, field: str, vocab: Vocabulary | None, *, only: bool) -> Reading | None:
    """An answer outside JSON: after the field's name on a line, or, where one field is asked, as it is stated."""
    line = _line_value(prepared.text, field)
    if line is not None:
        return _marked(_read_value(line, vocab), flags.NOT_JSON)
    if not only or vocab is None:
        return None
    stated = read_prepared(prepared, vocab)
    return _marked(stated, flags.NOT_JSON) if stated.ok else stated


def _value_vocabulary(labels: Mapping[str, Sequence[str]]) -> Vocabulary:
    names = [(key, (key, *given)) for key, given in labels.items()]
    return vocabulary(names, lettered=all(len(key) == 1 for key in labels), whole=True)


def _in_one(answer: Sequence[Pairs], field: str, vocab: Vocabulary | None) -> Reading | None:
    """What an object, or one inside it, says of a field; ``None`` when nothing, or only an echo of the schema."""
    told = [reading for pairs in answer if (reading := _value_of(pairs, field, vocab)) is not None]
    if not told:
        return None
    corrected = any(_corrects(told[-1], earlier) for earlier in told)
    return _marked(told[-1], flags.SELF_CORRECTED) if corrected else told[-1]


def _value_of(pairs: Pairs, field: str, vocab: Vocabulary | None) -> Reading | None:
    """The same for one object by itself; a key given twice with different values is noted."""
    wanted = _key(field)
    values = [value for key, value in pairs if _key(key) == wanted and not _holds(value, wanted)]
    told = [_read_value(value, vocab) for value in values if not _is_schema(value, vocab)]
    if not told:
        return None
    twice = any(_differ(told[-1], earlier) for earlier in told)
    return _marked(told[-1], flags.DUPLICATE_KEY) if twice else told[-1]


def _holds(value: Any, wanted: str) -> bool:
    """Whether a value is an object that holds the field in its turn, which is read by itself."""
    return isinstance(value, Pairs) and any(_key(key) == wanted for key, _ in value)


def _key(text: str) -> str:
    return _NOT_WORD.sub("", lower(fold(text)))


def _is_schema(value: Any, vocab: Vocabulary | None) -> bool:
    """Whether a value repeats the schema of the prompt instead of answering."""
    if isinstance(value, Pairs):
        inner = _inner(value)
        return any(_key(key) in _SCHEMA_KEYS for key, _ in value) if inner is None else _is_schema(inner, vocab)
    if isinstance(value, list) and value:
        return all(_is_schema(part, vocab) for part in value)
    if not isinstance(value, str):
        return False
    if vocab is None:
        return value.startswith("<") and value.endswith(">")
    if _SCHEMA.match(value):
        return read_statement(vocab, plain(fold(value))).outcome is not Outcome.OK
    names = {part.strip(" \"'").lower() for part in re.split(r"[|/,]| or ", value)}
    return len(names) > 2 and len(names & vocab.names.keys()) >= len(set(vocab.names.values())) - 1


def _inner(value: Pairs) -> Any:
    """The answer of an object that stands for a value (``{"label": "Irony", "confidence": 0.9}``)."""
    return next((inner for name in _INNER_KEYS for key, inner in value if _key(key) == name), None)


def _read_value(value: Any, vocab: Vocabulary | None) -> Reading:
    evidence = value if isinstance(value, str) else _shown(value)
    if isinstance(value, Pairs):
        inner = _inner(value)
        if inner is not None:
            return _read_value(inner, vocab)
        if vocab is not None:
            return Reading(Outcome.UNPARSEABLE, evidence=evidence)
    if isinstance(value, list) and vocab is not None:
        readings = [_read_value(part, vocab) for part in value]
        if unread := next((reading for reading in readings if not reading.ok), None):
            return unread
        if len({reading.value for reading in readings}) > 1:
            return Reading(Outcome.AMBIGUOUS, evidence=evidence)
        return readings[0] if readings else Reading(Outcome.UNPARSEABLE, evidence=evidence)
    if value is None or (isinstance(value, str) and not value.strip()):
        return Reading(Outcome.UNPARSEABLE, evidence=evidence)
    if vocab is None:
        return Reading(Outcome.OK, value, evidence=evidence)
    # A bar in a value stands between labels; in a reply it would be a table's.
    words = join_lines(vocab, plain(fold(str(value)).replace("|", "/")))
    reading = read_statement(vocab, words)
    if reading.outcome is Outcome.UNPARSEABLE:
        return _marked(Reading(Outcome.UNPARSEABLE, evidence=evidence), flags.OUT_OF_SPACE)
    at = words.find(reading.evidence)
    if reading.ok and at >= 0 and another_named(vocab, words, lower(words), at + len(reading.evidence), reading.value):
        return Reading(Outcome.AMBIGUOUS, evidence=evidence)
    return reading


def _shown(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)[:120]


def _line_value(text: str, field: str) -> str | None:
    """What stands after the field's name and a colon, on the last line that has one."""
    wanted = _key(field)
    found = None
    for line in plain(text).split("\n"):
        name, colon, value = line.partition(":")
        if colon and len(name) < 80 and _key(_ITEM_NUMBER.sub("", name)) == wanted and value.strip():
            found = value.strip(" ,\"'{}")
    return found


def _marked(reading: Reading, flag: str) -> Reading:
    return replace(reading, flags=tuple(dict.fromkeys((*reading.flags, flag))))
