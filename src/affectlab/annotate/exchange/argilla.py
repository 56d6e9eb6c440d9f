"""Argilla's records: people's answers as responses to questions, a model's as suggestions.

A record holds one suggestion for each question, so only one model's answers go along. Intensities are a question for
each label, ``SLOT.LABEL``.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from affectlab.annotate.answer_files import BadFieldError, plain_value
from affectlab.annotate.answers import Answer, Kind, Status, normal
from affectlab.annotate.exchange.plain import (
    Format,
    Found,
    Written,
    by_item,
    counted,
    dump_json,
    load_json,
    merged,
    number,
    slot_types,
)

_TYPES = "affectlab_slots"
_STATUS: dict[str, Status] = {"submitted": "submitted", "draft": "draft", "discarded": "skipped"}


def write(answers: Sequence[Answer], texts: Mapping[str, str]) -> Written:
    """Records as ``Dataset.records.to_json`` writes them."""
    types = slot_types(answers)
    models = sorted({one.annotator for one in answers if one.kind == "model"})
    kept, left = counted(
        answers,
        lambda one: one.counts and (one.kind == "human" or one.annotator == models[0]),
        lambda one: one.status if not one.counts else "second model",
    )
    records = []
    for item, given in by_item(kept).items():
        responses: dict[str, list[dict[str, Any]]] = defaultdict(list)
        suggestions: dict[str, dict[str, Any]] = {}
        for one in given:
            for question, value in _questions(one):
                if one.kind == "model":
                    suggestions[question] = {"value": value, "score": None, "agent": one.annotator}
                else:
                    responses[question].append({"value": value, "user_id": one.annotator, "status": "submitted"})
        records.append(
            {
                "id": item,
                "fields": {"text": texts.get(item, "")},
                "metadata": {_TYPES: ",".join(f"{one}={types[one]}" for one in dict.fromkeys(a.slot for a in given))},
                "suggestions": suggestions,
                "responses": dict(responses),
                "vectors": {},
                "status": "completed" if responses else "pending",
            }
        )
    return Written({"argilla.json": dump_json(records)}, dict(left))


def _questions(answer: Answer) -> list[tuple[str, Any]]:
    value = answer.value
    if isinstance(value, Mapping):
        return [(f"{answer.slot}.{label}", number(much)) for label, much in value.items()] or [(f"{answer.slot}.", 0)]
    if isinstance(value, tuple):
        return [(answer.slot, list(value))]
    return [(answer.slot, value if isinstance(value, str) else number(value))]  # type: ignore[arg-type]


def read(path: str) -> Found:
    """Answers of records; discarded responses are skips.

    Raises:
        UserError: When the file is no list of records, or listing every response that cannot be read.
    """
    records = load_json(path)
    if not isinstance(records, list) or not all(isinstance(one, dict) and "fields" in one for one in records):
        merged(path, ["expected a list of records, each with fields"])
    bad: list[str] = []
    left: Counter[str] = Counter()
    answers: list[Answer] = []
    for record in records:
        item = normal(str(record.get("id", "")))
        types = dict(
            part.split("=", 1) for part in str((record.get("metadata") or {}).get(_TYPES, "")).split(",") if "=" in part
        )
        graded: dict[tuple[str, str, Kind], dict[str, float]] = {}
        for question, who, kind, one in _made(record):
            status = _STATUS.get(str(one.get("status") or "submitted"))
            slot, dot, label = question.rpartition(".")
            try:
                if status is None:
                    raise BadFieldError("status", one.get("status"), f"one of {', '.join(_STATUS)}")
                value = plain_value(one.get("value")) if status == "submitted" else None
            except BadFieldError as error:
                if _is_other(one.get("value")):
                    left["span or ranking"] += 1
                else:
                    bad.append(f"record {item}, {question}, {who}: {error}")
                continue
            if dot and types.get(slot) == "intensities" and isinstance(value, float):
                graded.setdefault((slot, who, kind), {}).update({label: value} if label else {})
            else:
                answers.append(Answer(item, who, value, normal(question), kind, status))
        answers += [Answer(item, who, value, slot, kind) for (slot, who, kind), value in graded.items()]
    merged(path, bad)
    return Found(tuple(answers), dict(left))


def _made(record: Mapping[str, Any]) -> list[tuple[str, str, Kind, Mapping[str, Any]]]:
    """Question, annotator, kind and content of each response and suggestion."""
    made: list[tuple[str, str, Kind, Mapping[str, Any]]] = [
        (question, normal(str(one.get("user_id"))), "human", one)
        for question, given in (record.get("responses") or {}).items()
        for one in given
    ]
    return made + [
        (question, normal(str(one.get("agent") or "model")), "model", one)
        for question, one in (record.get("suggestions") or {}).items()
    ]


def _is_other(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict)


FORMAT = Format("argilla", "Argilla records (one JSON file)", write, read)
