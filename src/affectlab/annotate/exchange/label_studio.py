"""Label Studio's JSON: one task for each item, people's answers as annotations, models' as predictions.

Format: https://labelstud.io/guide/task_format. A task's ``data`` also holds our item id, and what each slot holds,
which a single choice does not show. Intensities are one number for each label, named ``SLOT::LABEL``.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from affectlab.annotate.answer_files import BadFieldError, plain_value
from affectlab.annotate.answers import SLOT, Answer, normal
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
    value_from,
)
from affectlab.items import Gold

_JOIN = "::"
_ITEM, _TYPES = "affectlab_item", "affectlab_slots"


def write(answers: Sequence[Answer], texts: Mapping[str, str]) -> Written:
    """Tasks with annotations and predictions. Answers that were skipped one by one have no place in it."""
    types = slot_types(answers)
    people = {
        name: number for number, name in enumerate(sorted({one.annotator for one in answers if one.kind == "human"}), 1)
    }
    tasks = []
    left: Counter[str] = Counter()
    for index, (item, given) in enumerate(by_item(answers).items(), 1):
        by_annotator: dict[tuple[str, str], list[Answer]] = defaultdict(list)
        for one in given:
            by_annotator[one.kind, one.annotator].append(one)
        annotations, predictions = [], []
        for (kind, who), his in by_annotator.items():
            kept, lost = counted(his, lambda one: one.counts, lambda one: one.status)
            result = [part for one in kept for part in _result(one)]
            skipped = not kept and kind == "human" and all(one.status == "skipped" for one in his)
            if not skipped:
                left += lost
            if kind == "model" and kept:
                predictions.append({"model_version": who, "result": result})
            elif kept or skipped:
                made = {"created_at": his[0].time} if his[0].time else {}
                by = {"id": people[who], "email": who}
                annotations.append({"completed_by": by, "was_cancelled": skipped, "result": result, **made})
        data = {
            "text": texts.get(item, ""),
            _ITEM: item,
            _TYPES: {one.slot: types.get(one.slot, "label") for one in given},
        }
        tasks.append({"id": index, "data": data, "annotations": annotations, "predictions": predictions})
    return Written({"label-studio.json": dump_json(tasks)}, dict(left))


def _result(answer: Answer) -> list[dict[str, Any]]:
    value = answer.value
    assert value is not None
    if isinstance(value, Mapping):
        return [
            _part(f"{answer.slot}{_JOIN}{label}", "number", {"number": number(much)})
            for label, much in (value or {"": 0.0}).items()
        ]
    if isinstance(value, str | tuple):
        return [_part(answer.slot, "choices", {"choices": [value] if isinstance(value, str) else list(value)})]
    return [_part(answer.slot, "number", {"number": number(value)})]


def _part(name: str, kind: str, value: dict[str, Any]) -> dict[str, Any]:
    return {"from_name": name, "to_name": "text", "type": kind, "value": value}


def read(path: str) -> Found:
    """Answers of annotations and predictions.

    The item is the id we wrote, else the task's. A slot whose choices are ever none or several holds sets. A cancelled
    annotation is a skip. Kinds of results other than choices, numbers, ratings, texts and taxonomies are counted and
    left out.

    Raises:
        UserError: When the file is no list of tasks, or listing every result that cannot be read.
    """
    tasks = load_json(path)
    bad: list[str] = []
    if not isinstance(tasks, list) or not all(
        isinstance(task, dict) and isinstance(task.get("data"), dict) for task in tasks
    ):
        merged(path, ["expected a list of tasks, each with data"])
    left: Counter[str] = Counter()
    sets, seen = _sets(tasks), _slots(tasks)
    answers: list[Answer] = []
    for task in tasks:
        item = str(task["data"].get(_ITEM, task.get("id", "")))
        types = {**dict.fromkeys(sets, "set"), **task["data"].get(_TYPES, {})}
        made = [(one, "human", _who(one.get("completed_by"))) for one in task.get("annotations", ())]
        made += [(one, "model", str(one.get("model_version") or "model")) for one in task.get("predictions", ())]
        for one, kind, who in made:
            shared: dict[str, Any] = {
                "item": normal(item),
                "annotator": normal(who),
                "kind": kind,
                "time": one.get("created_at") or "",
            }
            if one.get("was_cancelled"):
                answers += [
                    Answer(value=None, slot=slot, status="skipped", **shared)
                    for slot in task["data"].get(_TYPES) or sorted(seen) or [SLOT]
                ]
                continue
            try:
                answers += [
                    Answer(value=value, slot=slot, **shared)
                    for slot, value in _values(one.get("result", ()), types, left)
                ]
            except BadFieldError as error:
                bad.append(f"task {task.get('id')}, {who}: {error}")
    merged(path, bad)
    return Found(tuple(answers), dict(left))


def _who(found: Any) -> str:
    if isinstance(found, dict):
        return str(found.get("email") or found.get("username") or found.get("id") or "unknown")
    return "unknown" if found is None else str(found)


def _choices(part: Mapping[str, Any]) -> list[Any] | None:
    """What a result chose; ``None`` for results that are no answer to a slot."""
    value = part.get("value", {})
    kind = part.get("type")
    if kind == "choices":
        return list(value.get("choices", ()))
    if kind == "taxonomy":
        return [" / ".join(map(str, path)) for path in value.get("taxonomy", ())]
    if kind in ("rating", "number"):
        return [value.get(kind)]
    if kind == "textarea":
        text = value.get("text", ())
        return [text if isinstance(text, str) else "\n".join(map(str, text))]
    return None


def _slots(tasks: Sequence[Mapping[str, Any]]) -> set[str]:
    """Names of all results, which are the slots of a project whose tasks do not say them."""
    made = (one for task in tasks for one in (*task.get("annotations", ()), *task.get("predictions", ())))
    return {str(part.get("from_name")) for one in made for part in one.get("result", ()) if _choices(part) is not None}


def _sets(tasks: Sequence[Mapping[str, Any]]) -> set[str]:
    found = set()
    for task in tasks:
        for made in (*task.get("annotations", ()), *task.get("predictions", ())):
            for part in made.get("result", ()):
                chosen = _choices(part)
                if part.get("type") in ("choices", "taxonomy") and chosen is not None and len(chosen) != 1:
                    found.add(str(part.get("from_name")))
    return found


def _values(
    result: Sequence[Mapping[str, Any]], types: Mapping[str, str], left: Counter[str]
) -> list[tuple[str, Gold]]:
    found: dict[str, Gold] = {}
    for part in result:
        chosen = _choices(part)
        name = str(part.get("from_name"))
        if chosen is None:
            left[f"result of type {part.get('type')}"] += 1
            continue
        slot, joined, label = name.partition(_JOIN)
        if joined and types.get(slot) == "intensities":
            much = plain_value(chosen[0])
            if not isinstance(much, float):
                raise BadFieldError(name, chosen[0], "a number")
            found[slot] = {**found.get(slot, {}), **({label: much} if label else {})}  # type: ignore[dict-item]
        elif name in found:
            raise BadFieldError(name, chosen, "one result for each slot (per-region results are not read)")
        elif (value := value_from(chosen, types.get(name, "label"))) is None:
            left["result without a value"] += 1
        else:
            found[name] = value
    return list(found.items())


FORMAT = Format("label-studio", "Label Studio JSON (one file of tasks)", write, read)
