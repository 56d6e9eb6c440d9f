"""Potato's state: one folder for each annotator with ``user_state.json``.

``instance_id_to_label_to_value`` holds, for each item, pairs of a schema with a name, and a value. Of a choice the name
is the label; of a scale, a number or a text the value is the answer.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from affectlab.annotate.answer_files import BadFieldError, plain_value
from affectlab.annotate.answers import Answer, Kind, normal
from affectlab.annotate.exchange.plain import (
    Format,
    Found,
    Written,
    counted,
    dump_json,
    file_name,
    files_of,
    load_json,
    merged,
    number,
    slot_types,
)
from affectlab.items import Gold

_LABELS, _SPANS = "instance_id_to_label_to_value", "instance_id_to_span_to_value"
_TYPES = "affectlab_slots"
_ON = (True, "true", "True", "on")
_OFF = (False, "false", "False", "", None)


def write(answers: Sequence[Answer], texts: Mapping[str, str]) -> Written:
    """A ``user_state.json`` for each annotator. Texts of items are the project's and stay out of it."""
    types = slot_types(answers)
    kept, left = counted(answers, lambda one: one.counts, lambda one: one.status)
    states: dict[tuple[str, str], dict[str, list[Any]]] = defaultdict(lambda: defaultdict(list))
    for one in kept:
        states[one.kind, one.annotator][one.item] += list(_pairs(one))
    files = {}
    for (kind, who), labels in states.items():
        state: dict[str, Any] = {
            "user_id": who,
            "instance_id_ordering": list(labels),
            _LABELS: labels,
            _SPANS: {},
            _TYPES: types,
        }
        if kind == "model":
            state["origin"] = {"kind": "llm"}
        files[f"annotation_output/{file_name(who)}/user_state.json"] = dump_json(state)
    return Written(files, dict(left))


def _pairs(answer: Answer) -> Iterable[list[Any]]:
    value = answer.value
    if isinstance(value, str):
        yield [{"schema": answer.slot, "name": value}, True]
    elif isinstance(value, Mapping):
        # An answer without labels must still be seen to be one.
        yield from ([{"schema": answer.slot, "name": label}, number(much)] for label, much in value.items())
        if not value:
            yield [{"schema": answer.slot, "name": ""}, 0]
    elif isinstance(value, tuple):
        yield from ([{"schema": answer.slot, "name": label}, True] for label in value)
        if not value:
            yield [{"schema": answer.slot, "name": ""}, True]
    else:
        assert value is not None
        yield [{"schema": answer.slot, "name": "value"}, number(value)]


def read(path: str) -> Found:
    """Answers of one state, or of all states in a folder.

    A value that only says "on", or repeats its name, makes the name a label; several of one schema make a set, in every
    answer to it. Any other value is the answer itself. Spans are counted and left out.

    Raises:
        UserError: When there is no state, or listing every value that cannot be read.
    """
    left: Counter[str] = Counter()
    bad: list[str] = []
    states = []
    for file in files_of(path, "user_state.json"):
        state = load_json(str(file))
        if not isinstance(state, dict) or not isinstance(state.get(_LABELS), dict):
            merged(str(file), [f"expected an object with {_LABELS}"])
        left["span"] += sum(len(spans) for spans in (state.get(_SPANS) or {}).values())
        states.append((state, str(state.get("user_id") or file.parent.name)))
    types: dict[str, str] = {}
    for state, _ in states:
        for given in state[_LABELS].values():
            for schema, entries in _by_schema(given).items():
                if sum(_chosen(*entry) for entry in entries) > 1:
                    types[schema] = "set"
        types.update(state.get(_TYPES, {}))
    answers: list[Answer] = []
    for state, who in states:
        kind: Kind = "model" if (state.get("origin") or {}).get("kind") not in (None, "human") else "human"
        for item, given in state[_LABELS].items():
            for schema, entries in _by_schema(given).items():
                try:
                    value = _value(entries, types.get(schema, ""))
                except BadFieldError as error:
                    bad.append(f"{who}, {item}, {schema}: {error}")
                    continue
                if value is not None:
                    answers.append(Answer(normal(str(item)), normal(who), value, normal(schema), kind))
    merged(path, bad)
    return Found(tuple(answers), {name: count for name, count in left.items() if count})


def _by_schema(given: Any) -> dict[str, list[tuple[str, Any]]]:
    """Names and values by schema, from pairs or from nested objects (both occur)."""
    found: dict[str, list[tuple[str, Any]]] = defaultdict(list)
    if isinstance(given, Mapping):
        for schema, named in given.items():
            found[str(schema)] += [(str(name), value) for name, value in dict(named).items()]
    else:
        for label, value in given:
            found[str(label.get("schema"))].append((str(label.get("name", "")), value))
    return {schema: [entry for entry in entries if _is_made(entry[1])] for schema, entries in found.items()}


def _is_made(value: Any) -> bool:
    """Whether an entry says something; a box that was unticked again does not. 0 is a number."""
    return type(value) in (int, float) or value not in _OFF


def _chosen(name: str, value: Any) -> bool:
    return (type(value) not in (int, float) and value in _ON) or value == name


def _value(entries: Sequence[tuple[str, Any]], kind: str) -> Gold | None:
    if kind == "set":
        return plain_value([name for name, value in entries if name and _chosen(name, value)])
    if kind == "intensities":
        return plain_value({name: value for name, value in entries if name})
    if not entries:
        return None
    if len(entries) != 1:
        raise BadFieldError("value", [name for name, _ in entries], "one value")
    name, value = entries[0]
    if kind != "number" and _chosen(name, value):
        return plain_value(name)
    return plain_value(value)


FORMAT = Format("potato", "Potato state (one folder for each annotator)", write, read)
