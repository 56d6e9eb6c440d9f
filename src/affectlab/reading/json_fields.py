"""Fields of a JSON answer."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from affectlab.reading import flags
from affectlab.reading.choice import read_prepared
from affectlab.reading.conclude import conclude, unread
from affectlab.reading.markup import plain
from affectlab.reading.objects import Objects, Pairs, find_objects
from affectlab.reading.outcome import Outcome, Reading
from affectlab.reading.prepare import Prepared, fold, prepare
from affectlab.reading.statements import read_statement
from affectlab.reading.vocabulary import Vocabulary, lower, vocabulary

_NOT_WORD: Final = re.compile(r"[\W_]+")
_SCHEMA: Final = re.compile(
    r"\A\s*(?:<[^<>]*>|\[[^\[\]]*\]|\{[^{}]*\}|\.{2,}|string|str|label|your (?:answer|choice).*)?\s*\Z", re.I
)
_INNER_KEYS: Final = ("label", "value", "answer", "name", "choice", "prediction")


def read_json(
    text: str | None,
    fields: Mapping[str, Mapping[str, Sequence[str]] | None],
    *,
    finish: str = "stop",
) -> dict[str, Reading]:
    """Read fields of the JSON object a reply answers with.

    The last object that holds a valid value of a field counts; echoes of the schema (``"<intent_name>"``, all labels
    joined by ``|``) are not answers. Keys match without regard to case, spaces, ``_`` and ``-``. Bent JSON is mended
    (flag ``repaired``). When no object holds the field, ``field: value`` on a line, or (for one field) the stated
    answer, is taken with the flag ``not_json``.

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
    objects = find_objects(prepared.text)
    return {field: _read_field(prepared, objects, field, labels, len(fields) == 1) for field, labels in fields.items()}


def _read_field(
    prepared: Prepared,
    objects: Objects,
    field: str,
    labels: Mapping[str, Sequence[str]] | None,
    only: bool,
) -> Reading:
    vocab = None if labels is None else _value_vocabulary(labels)
    readings: list[Reading] = []
    for pairs in objects.objects:
        readings.extend(_values(pairs, field, vocab))
    chosen = _last_valid(readings)
    if (
        chosen is None
        and not objects.objects
        and not objects.cut
        and (line := _line_value(prepared.text, field)) is not None
    ):
        chosen = _marked(_read_value(line, vocab), flags.NOT_JSON)
    if chosen is None and only and vocab is not None and not objects.objects and not objects.cut:
        stated = read_prepared(prepared, vocab)
        return _marked(stated, flags.NOT_JSON) if stated.ok else stated
    if chosen is None and objects.cut:
        return conclude(prepared, Reading(Outcome.TRUNCATED))
    if chosen is None:
        return conclude(prepared, Reading(Outcome.UNPARSEABLE))
    return conclude(prepared, _marked(chosen, flags.REPAIRED) if objects.repaired and chosen.ok else chosen)


def _value_vocabulary(labels: Mapping[str, Sequence[str]]) -> Vocabulary:
    return vocabulary(
        [(key, (key, *names)) for key, names in labels.items()], lettered=all(len(key) == 1 for key in labels)
    )


def _values(pairs: Pairs, field: str, vocab: Vocabulary | None) -> list[Reading]:
    """What one object says of a field; a key given twice with different values is noted."""
    wanted = _key(field)
    values = [value for key, value in pairs if _key(key) == wanted]
    readings = [_read_value(value, vocab) for value in values if not _is_schema(value, vocab)]
    if len({repr(reading.value) for reading in readings if reading.ok}) > 1:
        readings[-1] = _marked(readings[-1], flags.DUPLICATE_KEY)
        return readings[-1:]
    return readings


def _key(text: str) -> str:
    return _NOT_WORD.sub("", lower(fold(text)))


def _is_schema(value: Any, vocab: Vocabulary | None) -> bool:
    """Whether a value repeats the schema of the prompt instead of answering."""
    if not isinstance(value, str):
        return False
    if vocab is None:
        return value.startswith("<") and value.endswith(">")
    if _SCHEMA.match(value):
        return read_statement(vocab, plain(fold(value))).outcome is not Outcome.OK
    names = {part.strip(" \"'").lower() for part in re.split(r"[|/,]| or ", value)}
    return len(names) > 2 and len(names & vocab.names.keys()) >= len(set(vocab.names.values())) - 1


def _read_value(value: Any, vocab: Vocabulary | None) -> Reading:
    evidence = value if isinstance(value, str) else _shown(value)
    if isinstance(value, Pairs):
        inner = next((v for name in _INNER_KEYS for k, v in value if _key(k) == name), None)
        return Reading(Outcome.UNPARSEABLE, evidence=evidence) if inner is None else _read_value(inner, vocab)
    if isinstance(value, list) and vocab is not None:
        readings = [_read_value(part, vocab) for part in value]
        if len({reading.value for reading in readings if reading.ok}) > 1:
            return Reading(Outcome.AMBIGUOUS, evidence=evidence)
        return readings[0] if readings else Reading(Outcome.UNPARSEABLE, evidence=evidence)
    if value is None or (isinstance(value, str) and not value.strip()):
        return Reading(Outcome.UNPARSEABLE, evidence=evidence)
    if vocab is None:
        return Reading(Outcome.OK, value, evidence=evidence)
    reading = read_statement(vocab, plain(fold(str(value))))
    if reading.outcome is Outcome.UNPARSEABLE:
        return _marked(Reading(Outcome.UNPARSEABLE, evidence=evidence), flags.OUT_OF_SPACE)
    return reading


def _shown(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)[:120]


def _last_valid(readings: Sequence[Reading]) -> Reading | None:
    valid = [reading for reading in readings if reading.ok]
    if not valid:
        return readings[-1] if readings else None
    if any(reading.value != valid[-1].value for reading in valid):
        return _marked(valid[-1], flags.SELF_CORRECTED)
    return valid[-1]


def _line_value(text: str, field: str) -> str | None:
    """What stands after the field's name and a colon, on the last line that has one."""
    wanted = _key(field)
    found = None
    for line in plain(text).split("\n"):
        name, colon, value = line.partition(":")
        if colon and len(name) < 80 and _key(name) == wanted and value.strip():
            found = value.strip(" ,\"'{}")
    return found


def _marked(reading: Reading, flag: str) -> Reading:
    return Reading(reading.outcome, reading.value, (*reading.flags, flag), reading.evidence)
