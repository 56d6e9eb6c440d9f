"""Cases of reading replies: what was put in, by task, and whether the reading is the right one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from affectlab.reading import (
    NumberRange,
    Outcome,
    Reading,
    Scale,
    flags,
    label_groups,
    read_agents,
    read_choice,
    read_json,
    read_label,
    read_label_set,
    read_likert,
    read_number,
    read_yes_no,
    yes_no_from_logprobs,
)

_LEVELS = ("Not at all", "Very slightly", "Slightly", "Moderately", "Quite a bit", "Very", "Extremely")
_FINISH = {"length": "length", "max_tokens": "length", "content_filter": "filter", "filter": "filter"}


def check(case: Mapping[str, Any]) -> str | None:
    """``None`` when our reading is the right one, else what came out."""
    given, right = case["input"], case["right_outcome"]
    reader = _READERS.get(given.get("task"), _reader_by_shape(given))
    if reader is None:
        return f"unknown shape: {sorted(given)}"
    return reader(given, right)


def _reader_by_shape(given: Mapping[str, Any]) -> Callable[[Mapping[str, Any], Mapping[str, Any]], str | None] | None:
    """Tasks named otherwise than those we know are told by what they offer."""
    keys = set(given)
    if {"options_A", "options_B"} <= keys:
        return _agents
    if "options" in keys:
        return _choice
    if {"key", "labels"} <= keys:
        return _json
    if "tokens" in keys:
        return _logprobs
    task = str(given.get("task", ""))
    if "labels" in keys and "label" in task:
        return _label_set
    if "labels" in keys:
        return _likert if ("level" in task or "pt" in task) else _label
    if {"low", "high"} <= keys:
        return _number
    return None


def _said(given: Mapping[str, Any]) -> tuple[str | None, str]:
    """Text and finish of the reply."""
    message = given.get("api_message") or {}
    finish = given.get("finish_reason") or given.get("finish") or message.get("finish_reason") or "stop"
    text = given["output"]
    if text is None:
        text = message.get("content") or message.get("refusal")
    return text, _FINISH.get(finish, "stop")


def _choice(given: Mapping[str, Any], right: Mapping[str, Any]) -> str | None:
    text, finish = _said(given)
    options: dict[str, str] = dict(given["options"])
    reading = read_choice(text, options, finish=finish)
    value = options.get(reading.value) if right.get("value") not in options else reading.value
    return judge(reading, value, right)


def _label(given: Mapping[str, Any], right: Mapping[str, Any]) -> str | None:
    text, finish = _said(given)
    reading = read_label(text, dict.fromkeys(given["labels"], ()), finish=finish)
    return judge(reading, reading.value, right)


def _agents(given: Mapping[str, Any], right: Mapping[str, Any]) -> str | None:
    text, finish = _said(given)
    options = {"A": given["options_A"], "B": given["options_B"]}
    called = given.get("names") or given.get("roles") or {}
    names = {
        slot: [called[slot]] if isinstance(called[slot], str) else called[slot] for slot in called if slot in options
    }
    readings = read_agents(text, options, names=names, finish=finish)
    for slot, reading in readings.items():
        if slot in right:
            said = options[slot].get(reading.value) if reading.ok else None
            if right[slot] not in (said, reading.value):
                return f"{slot}: {_shown(reading, said)}"
    status = right["status"]
    oks = [reading.ok for reading in readings.values()]
    if status == "ok":
        return None if all(oks) else _all_shown(readings)
    if status in ("partial", "incomplete"):
        return None if any(oks) and not all(oks) else _all_shown(readings)
    passed = any(judge(reading, reading.value, {"status": status}) is None for reading in readings.values())
    return None if passed else _all_shown(readings)


def _scale(given: Mapping[str, Any], *, accept_numbers: bool = False) -> Scale:
    labels: Sequence[str] = given["labels"]
    first = 1 if str(labels[0]).lower().startswith("strongly") else 0
    return Scale.of(labels, first=first, accept_numbers=accept_numbers)


def _likert(given: Mapping[str, Any], right: Mapping[str, Any]) -> str | None:
    text, finish = _said(given)
    reading = read_likert(text, _scale(given), finish=finish)
    return judge(reading, reading.value, right)


def _gold_level(given: Mapping[str, Any], right: Mapping[str, Any]) -> str | None:
    value = given["value"]
    sign = "negative" if "negative" in str(value).lower() else "positive"
    labels = given.get("labels") or [f"{level} {sign}" for level in _LEVELS]
    reading = read_likert(None if value is None else str(value), _scale({"labels": labels}, accept_numbers=True))
    return judge(reading, reading.value, right)


def _label_set(given: Mapping[str, Any], right: Mapping[str, Any]) -> str | None:
    text, finish = _said(given)
    reading = read_label_set(text, label_groups(given["labels"]), finish=finish)
    value = list(reading.value) if reading.ok else None
    wanted = dict(right)
    if isinstance(wanted.get("value"), list):
        wanted["value"] = [label for label in given["labels"] if label in wanted["value"]]
    return judge(reading, value, wanted)


def _json(given: Mapping[str, Any], right: Mapping[str, Any]) -> str | None:
    text, finish = _said(given)
    names = given["key"].split("+")
    labels = given["labels"]
    aliases = given.get("aliases", {})
    spec = {label: [alias for alias, meant in aliases.items() if meant == label] for label in labels}
    readings = list(read_json(text, dict.fromkeys(names, spec), finish=finish).values())
    worst = next((reading for reading in readings if not reading.ok), readings[-1])
    wanted = dict(right)
    value: Any = worst.value
    if len(names) > 1 and isinstance(wanted.get("value"), dict):
        wanted["value"] = list(wanted["value"].values())
        value = [reading.value for reading in readings]
    return judge(worst, value, wanted)


def _yes_no(given: Mapping[str, Any], right: Mapping[str, Any]) -> str | None:
    text, finish = _said(given)
    reading = read_yes_no(text, finish=finish)
    return judge(reading, None if reading.value is None else int(reading.value), right)


def _logprobs(given: Mapping[str, Any], right: Mapping[str, Any]) -> str | None:
    reading = yes_no_from_logprobs({token: float(value) for token, value in given["tokens"].items()})
    wanted = dict(right)
    if len(set(given["tokens"].values())) == 1 and wanted["status"] == "ok":
        wanted.setdefault("value", 0)
        if flags.TIE not in reading.flags:
            return _shown(reading, reading.value)
    return judge(reading, None if reading.value is None else int(reading.value), wanted)


def _number(given: Mapping[str, Any], right: Mapping[str, Any]) -> str | None:
    text, finish = _said(given)
    reading = read_number(text, NumberRange(given["low"], given["high"]), finish=finish)
    return judge(reading, reading.value, right)


_READERS = {
    "single_choice": _choice,
    "chiaro_two_agent": _agents,
    "gold_level_field": _gold_level,
    "json_label": _json,
    "yes_no_text": _yes_no,
    "emoscene_logits": _logprobs,
}

_OUTCOMES: Mapping[str, tuple[Outcome, ...]] = {
    "no_answer": (Outcome.UNPARSEABLE, Outcome.EMPTY),
    "empty": (Outcome.EMPTY,),
    "unparseable": (Outcome.UNPARSEABLE,),
    "invalid": (Outcome.UNPARSEABLE,),
    "ambiguous": (Outcome.AMBIGUOUS,),
    "refusal": (Outcome.REFUSAL,),
    "truncated": (Outcome.TRUNCATED,),
}


def judge(reading: Reading, value: Any, right: Mapping[str, Any]) -> str | None:
    """``None`` when a reading has the right status and value.

    ``invalid`` asks for the flag ``out_of_space``; ``flag`` for any flag, and for the value where one was read and one
    is given.
    """
    status = right["status"]
    if status == "ok":
        passed = reading.ok and ("value" not in right or (value == right["value"] and value is not None))
    elif status == "flag":
        passed = bool(reading.flags) and (not reading.ok or "value" not in right or value == right["value"])
    elif status in _OUTCOMES:
        passed = reading.outcome in _OUTCOMES[status]
        passed = passed and (status != "invalid" or flags.OUT_OF_SPACE in reading.flags)
    else:
        return f"unknown shape: status {status!r}"
    return None if passed else _shown(reading, value)


def _shown(reading: Reading, value: Any) -> str:
    noted = f", flags {', '.join(reading.flags)}" if reading.flags else ""
    return f"{reading.outcome.value} {value!r}{noted}"


def _all_shown(readings: Mapping[str, Reading]) -> str:
    return "; ".join(f"{slot}: {_shown(reading, reading.value)}" for slot, reading in readings.items())
