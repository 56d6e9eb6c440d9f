"""Gold in a benchmark's own format, so that ``affectlab run`` takes it at once.

The rows are those of the file the items came from, with gold in the fields where the benchmark reads it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from affectlab.annotate.answers import json_lines, plain_id
from affectlab.annotate.exchange.gold import Settled, require_settled
from affectlab.errors import UserError
from affectlab.items import Gold, read_rows
from affectlab.items.personal import drop_personal


@dataclass(frozen=True)
class Filled:
    """A benchmark's rows with gold.

    Attributes:
        rows: One for each item with gold.
        without: Ids of items left out because some slot has no gold.
        unused: Slots that the benchmark's format has no field for -> values left out.
        personal: Columns with personal data, which are left out.
    """

    rows: tuple[dict[str, Any], ...]
    without: tuple[str, ...]
    unused: Mapping[str, int]
    personal: tuple[str, ...] = ()

    def to_jsonl(self) -> str:
        """The rows as JSON lines."""
        return json_lines(self.rows)


def _chiaro(row: dict[str, Any], gold: Mapping[str, Gold]) -> dict[str, Any]:
    kept = {name: value for name, value in row.items() if name not in _CHIARO_GOLD}
    return kept | {f"agent_{slot.lower()}_emotion": gold[slot] for slot in ("A", "B") if slot in gold}


_CHIARO_GOLD = frozenset({"agent_a_emotion", "agent_b_emotion", "agent_A_emotion", "agent_B_emotion"})


def _cue(row: dict[str, Any], gold: Mapping[str, Gold]) -> dict[str, Any]:
    from affectlab.benchmarks.cue.prompts import KEYS

    kept = {name: value for name, value in row.items() if name not in KEYS.values()}
    return kept | {field: gold[slot] for slot, field in KEYS.items() if slot in gold}


def _emoscene(row: dict[str, Any], gold: Mapping[str, Gold]) -> dict[str, Any]:
    from affectlab.benchmarks.emoscene.record import EMOTIONS, PRESENT

    written = {name for emotion in EMOTIONS.ids for name in (emotion, emotion.capitalize(), emotion.upper())}
    kept = {name: value for name, value in row.items() if name not in written and name != "labels"}
    missing = [slot for slot in EMOTIONS.ids if slot not in gold]
    if missing:
        raise UserError(f"EmoScene's gold is all eight emotions; {', '.join(missing)} is missing.")
    return kept | {"labels": [slot for slot in EMOTIONS.ids if gold[slot] == PRESENT]}


def _care(row: dict[str, Any], gold: Mapping[str, Gold]) -> dict[str, Any]:
    from affectlab.benchmarks.care import spaces

    ratings = {slot: _as_json(gold[slot]) for slot in spaces.DIMENSIONS if slot in gold}
    feelings = {slot: _as_json(gold[slot]) for slot in spaces.LEVELS if slot in gold}
    feelings |= {
        slot.replace("_labels", "_emotion_labels"): _as_json(gold[slot]) for slot in spaces.SETS if slot in gold
    }
    core = {group: gold[slot] for slot, group in zip(spaces.CORE, spaces.GROUPS, strict=True) if slot in gold}
    questions = dict(row.get("cognitive_questions") or {})
    return {
        **row,
        **({"appraisal_ratings": ratings} if ratings else {}),
        **({"emotion_labels": {**(row.get("emotion_labels") or {}), **feelings}} if feelings else {}),
        **({"cognitive_questions": {**questions, "summary_answers": core}} if core else {}),
    }


def _as_json(value: Gold) -> Any:
    """A level as a whole number, a set as a list: what CAREBench's records hold."""
    if isinstance(value, tuple):
        return list(value)
    return int(value) if isinstance(value, float) and value.is_integer() else value


_FILL: Mapping[str, Callable[[dict[str, Any], Mapping[str, Gold]], dict[str, Any]]] = {
    "chiaro": _chiaro,
    "cue": _cue,
    "emoscene": _emoscene,
    "care": _care,
}


def fill(
    benchmark: str,
    source: str,
    gold: Iterable[Settled],
    fields: Mapping[str, str] | None = None,
    *,
    strict: bool = True,
) -> Filled:
    """A benchmark's data with the gold of an annotation round.

    Args:
        benchmark: Its name.
        source: The file that the items came from.
        gold: What :func:`affectlab.annotate.exchange.gold.settle` gives.
        fields: Our field name -> the file's column, as the items were read.
        strict: Refuse while anything is pending; else items with a pending slot are left out and named.

    Raises:
        PendingError: When strict and something is pending.
        UserError: When the benchmark takes no gold, the source cannot be read, or gold is of items that it lacks.
    """
    from affectlab.benchmarks import open_benchmark

    opened = open_benchmark(benchmark)
    if benchmark not in _FILL:
        raise UserError(f"{benchmark} has no gold to fill in; {', '.join(_FILL)} have.")
    settled = list(gold)
    if strict:
        require_settled(settled)
    by_item: dict[str, dict[str, Settled]] = {}
    for one in settled:
        by_item.setdefault(one.item, {})[one.slot] = one
    items = opened.load(source, fields or {}, {})
    rows, personal = drop_personal(read_rows(source, fields or {}), keep=fields or ())
    if len(items) != len(rows):
        raise UserError(f"{source} has {len(rows)} rows for {len(items)} items: gold needs one row an item.")
    by_item = _as_in(by_item, [item.id for item in items])
    if strange := by_item.keys() - {item.id for item in items}:
        raise UserError(f"{source} lacks {len(strange)} annotated items, {min(strange)!r} among them; name their file.")
    unused = {
        slot: count
        for slot in {one.slot for one in settled} - set(opened.slots)
        if (count := sum(one.slot == slot and one.value is not None for one in settled))
    }
    filled: list[dict[str, Any]] = []
    without: list[str] = []
    for item, row in zip(items, rows, strict=True):
        mine = {slot: one for slot, one in by_item.get(item.id, {}).items() if slot in opened.slots}
        values = {slot: one.value for slot, one in mine.items() if one.value is not None}
        if not values or len(values) < len(mine):
            without.append(item.id)
        else:
            filled.append(_FILL[benchmark](dict(row.data), values))
    return Filled(tuple(filled), tuple(without), unused, personal)


def _as_in(by_item: Mapping[str, dict[str, Settled]], ids: Iterable[str]) -> dict[str, dict[str, Settled]]:
    """Gold under the ids of the source: files of answers are read with ids in composed form and without blanks."""
    alike: dict[str, list[str]] = defaultdict(list)
    for one in ids:
        alike[plain_id(one)].append(one)
    there = {one for found in alike.values() for one in found}
    found = {}
    for item, gold in by_item.items():
        others = alike.get(plain_id(item), [])
        found[item if item in there or len(others) != 1 else others[0]] = gold
    return found
