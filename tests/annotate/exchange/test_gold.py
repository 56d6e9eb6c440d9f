"""Where gold comes from, what is pending, wide tables, and gold in the formats benchmarks read."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from affectlab.annotate.answers import Answer, Decision
from affectlab.annotate.exchange.benchmark import fill
from affectlab.annotate.exchange.gold import (
    PendingError,
    Settled,
    gold_counts,
    gold_to_csv,
    gold_to_jsonl,
    require_settled,
    same_value,
    settle,
    wide_to_csv,
)
from affectlab.benchmarks import open_benchmark
from affectlab.errors import UserError
from affectlab.items import Item


def human(item: str, *values: Any, slot: str = "s") -> list[Answer]:
    status = ["submitted" if value is not None else "skipped" for value in values]
    return [Answer(item, f"p{n}", value, slot, "human", status[n]) for n, value in enumerate(values)]  # type: ignore[arg-type]


def models(item: str, *values: Any, slot: str = "s") -> list[Answer]:
    status = ["submitted" if value is not None else "invalid" for value in values]
    return [Answer(item, f"m{n}", value, slot, "model", status[n]) for n, value in enumerate(values)]  # type: ignore[arg-type]


def only(answers: list[Answer], decisions: Any = (), **options: Any) -> tuple[Any, str]:
    (found,) = settle(answers, decisions, **options)
    return found.value, found.source


@pytest.mark.parametrize(
    ("answers", "options", "value", "source"),
    [
        (human("i", "joy", "joy"), {}, "joy", "unanimous"),
        (human("i", "joy"), {}, None, "pending"),
        (human("i", "joy"), {"annotators": 1}, "joy", "single"),
        (human("i", "joy", None), {}, None, "pending"),
        (human("i", "joy", "fear"), {"majority": True}, None, "pending"),
        (human("i", "joy", "joy", "fear"), {"majority": True}, "joy", "majority"),
        (human("i", "joy", "joy", "fear"), {}, None, "pending"),
        (human("i", "joy", "joy", "fear", "fear"), {"majority": True}, None, "pending"),
        (human("i", ("a", "b"), ("b", "a")), {}, ("a", "b"), "unanimous"),
        (human("i", {"a": 1.0, "b": 0.0}, {"a": 1.0}), {}, {"a": 1.0, "b": 0.0}, "unanimous"),
        (models("i", "joy", "joy"), {}, "joy", "model-agreed"),
        (models("i", "joy", "fear"), {}, None, "pending"),
        (models("i", "joy"), {}, None, "pending"),
        (models("i", "joy", None), {}, None, "pending"),
        # A person's word counts, models' agreement does not outvote it.
        (models("i", "joy", "joy") + human("i", "fear"), {"annotators": 1}, "fear", "single"),
        (models("i", "joy", "joy") + human("i", "fear"), {}, None, "pending"),
    ],
)
def test_how_a_slot_is_settled(answers: list[Answer], options: dict[str, Any], value: Any, source: str) -> None:
    assert only(answers, **options) == (value, source)


def test_the_last_decision_counts_before_everything() -> None:
    decisions = [Decision("i", "s", "joy", "carl"), Decision("i", "s", "fear", "dora")]
    (found,) = settle(human("i", "joy", "joy"), decisions)
    assert found == Settled("i", "s", "fear", "adjudicated", 2, 0, "dora")
    assert only([], [Decision("i", "s", "joy", "judge", "model")]) == ("joy", "model-adjudicated")
    (none,) = settle(human("i", "joy", "fear"), [Decision("i", "s", None, "carl")])
    assert (none.value, none.source, none.open) == (None, "no-gold", False)


def test_what_nobody_answered_is_pending() -> None:
    assert [one.source for one in settle([], expected=[("i", "s"), ("j", "s")])] == ["pending", "pending"]


def test_five_slots_of_which_one_differs() -> None:
    answers = [one for slot in "abcde" for one in human("i", "x", "y" if slot == "c" else "x", slot=slot)]
    gold = settle(answers)
    assert [one.source for one in gold] == ["unanimous", "unanimous", "pending", "unanimous", "unanimous"]
    assert gold_counts(gold)["c"] == {"pending": 1}
    with pytest.raises(PendingError, match=r"1 of 5 slots are pending \(c 1\): i \(c\)\. Nothing was written"):
        require_settled(gold)
    require_settled(settle(answers, [Decision("i", "c", "y", "carl")]))


def test_equal_values() -> None:
    assert same_value(("a", "b"), ("b", "a"))
    assert same_value({"a": 0.0}, {})
    assert not same_value((), {})
    assert not same_value("1", 1.0)


def test_gold_as_tables() -> None:
    gold = settle([*human("i", "=joy", "=joy"), *human("j", ("a", "b"), ("b", "a"), slot="t")])
    rows = list(csv.reader(io.StringIO(gold_to_csv(gold))))
    assert rows == [
        ["item", "slot", "value", "type", "source", "answers", "agreeing", "by"],
        ["i", "s", "'=joy", "label", "unanimous", "2", "2", ""],
        ["j", "t", '["a", "b"]', "set", "unanimous", "2", "2", ""],
    ]
    assert [json.loads(line)["value"] for line in gold_to_jsonl(gold).splitlines()] == ["=joy", ["a", "b"]]


def test_wide_tables() -> None:
    answers = [*human("i", "joy", None), *models("i", "fear"), *human("j", "joy", "joy")]
    rows = list(csv.reader(io.StringIO(wide_to_csv(answers, settle(answers), bom=True).removeprefix("\ufeff"))))
    assert rows == [
        ["item", "s/p0", "s/p1", "s/m0 (model)", "s (gold)", "s (source)"],
        ["i", "joy", "", "fear", "", "pending"],
        ["j", "joy", "joy", "", "joy", "unanimous"],
    ]


def test_annotators_called_gold_keep_their_columns() -> None:
    answers = [Answer("i", "gold", "sad", "s"), Answer("i", "source", "joy", "s")]
    rows = list(csv.reader(io.StringIO(wide_to_csv(answers, [Settled("i", "s", "fear", "adjudicated", 2, 0, "carl")]))))
    assert rows == [
        ["item", "s/gold", "s/source", "s (gold)", "s (source)"],
        ["i", "sad", "joy", "fear", "adjudicated"],
    ]
    same = [Answer("i", "x", "sad", "s", "model"), Answer("i", "x (model)", "joy", "s")]
    with pytest.raises(UserError, match=r"would be 's/x \(model\)'"):
        wide_to_csv(same)


def test_how_many_gave_the_gold() -> None:
    (found,) = settle(human("i", "joy", "joy", "fear"), majority=True)
    assert (found.answers, found.agreeing) == (3, 2)


def sample(name: str, tmp_path: Path) -> tuple[str, list[Item]]:
    opened = open_benchmark(name)
    path = tmp_path / "source.jsonl"
    path.write_text(opened.sample.read_text(encoding="utf-8"), encoding="utf-8")
    return str(path), list(opened.load(str(path), {}, {}))


def rotated(item: Item, name: str) -> dict[str, Any]:
    """Gold that differs from the file's: labels of the same kind and group."""
    changed: dict[str, Any] = {}
    for slot, value in item.gold.items():
        space = open_benchmark(name).slots[slot]
        if isinstance(value, str) and space is not None:
            alike = [one for one in space.ids if not space.groups or space.group_of(one) == space.group_of(value)]
            changed[slot] = alike[(alike.index(value) + 1) % len(alike)]
        elif isinstance(value, str):
            changed[slot] = f"{value} And so on."
        elif isinstance(value, tuple):
            changed[slot] = space.ids[:2] if space is not None else value
        elif isinstance(value, int | float):
            changed[slot] = float(value - 1 if value > 1 else value + 1)
    return changed


@pytest.mark.parametrize("name", ["chiaro", "cue", "emoscene", "care"])
def test_gold_goes_where_the_benchmark_reads_it(name: str, tmp_path: Path) -> None:
    source, items = sample(name, tmp_path)
    answers, expected = [], {}
    for item in items[:6]:
        expected[item.id] = gold = rotated(item, name)
        assert gold != dict(item.gold)
        answers += [Answer(item.id, who, value, slot) for slot, value in gold.items() for who in ("a", "b")]
    filled = fill(name, source, settle(answers))
    out = tmp_path / "gold.jsonl"
    out.write_text(filled.to_jsonl(), encoding="utf-8")
    loaded = open_benchmark(name).load(str(out), {}, {})
    assert {item.id: dict(item.gold) for item in loaded} == expected
    assert filled.without == tuple(item.id for item in items[6:])
    assert [item.inputs for item in loaded] == [item.inputs for item in items[:6]] or name == "care"


def test_strict_gold_is_refused_while_anything_is_pending(tmp_path: Path) -> None:
    source, items = sample("chiaro", tmp_path)
    one, two = items[:2]
    answers = [Answer(one.id, who, one.gold[slot], slot) for slot in "AB" for who in ("a", "b")]
    answers += [Answer(two.id, "a", two.gold["A"], "A")]
    with pytest.raises(PendingError):
        fill("chiaro", source, settle(answers))
    loose = fill("chiaro", source, settle(answers), strict=False)
    assert [row["id"] for row in loose.rows] == [one.id]
    assert two.id in loose.without


def test_gold_that_fits_nowhere(tmp_path: Path) -> None:
    source, items = sample("chiaro", tmp_path)
    item = items[0]
    gold = [Settled(item.id, slot, item.gold[slot], "unanimous", 2, 2) for slot in "AB"]
    filled = fill("chiaro", source, [*gold, Settled(item.id, "naturalness", 4.0, "unanimous", 2, 2)])
    assert filled.unused == {"naturalness": 1}
    with pytest.raises(UserError, match="lacks 1 annotated items, 'nowhere'"):
        fill("chiaro", source, [Settled("nowhere", "A", "joy", "unanimous", 2, 2)])
    with pytest.raises(UserError, match="has no gold to fill in"):
        fill("decisions", source, gold)


def test_an_item_with_a_slot_that_waits_is_left_out(tmp_path: Path) -> None:
    source, items = sample("chiaro", tmp_path)
    item = items[0]
    gold = [
        Settled(item.id, "A", item.gold["A"], "unanimous", 2, 2),
        Settled(item.id, "B", None, "pending", 2, 0),
    ]
    loose = fill("chiaro", source, gold, strict=False)
    assert loose.rows == ()
    assert item.id in loose.without


def test_gold_of_the_file_does_not_stay_beside_gold_of_people(tmp_path: Path) -> None:
    source, items = sample("cue", tmp_path)
    item = items[0]
    assert set(item.gold) >= {"intent", "emotion"}
    (row,) = fill("cue", source, [Settled(item.id, "intent", item.gold["intent"], "unanimous", 2, 2)]).rows
    left = {"explicit_polarity", "implicit_polarity", "affective_stance", "pragmatic_intent", "fine_grained_emotion"}
    assert left & row.keys() == {"pragmatic_intent"}


def test_gold_finds_items_however_their_ids_are_composed(tmp_path: Path) -> None:
    row = {"id": "cafe\u0301", "sentence": "Ana is on board.", "agent_a_role": "Ana", "agent_b_role": "Bo"}
    source = tmp_path / "scenes.jsonl"
    source.write_text(json.dumps({**row, "agent_a_polarity": "positive"}) + "\n", encoding="utf-8")
    gold = [Settled("caf\u00e9", slot, value, "unanimous", 2, 2) for slot, value in (("A", "joy"), ("B", "fear"))]
    (filled,) = fill("chiaro", str(source), gold).rows
    assert (filled["agent_a_emotion"], filled["agent_b_emotion"]) == ("joy", "fear")


def test_gold_of_items_that_are_written_alike_is_not_mixed(tmp_path: Path) -> None:
    row = {"sentence": "Ana is on board.", "agent_a_role": "Ana", "agent_b_role": "Bo", "agent_a_polarity": "positive"}
    source = tmp_path / "scenes.jsonl"
    ids = ["cafe\u0301", "caf\u00e9"]
    source.write_text("".join(json.dumps({**row, "id": one}) + "\n" for one in ids), encoding="utf-8")
    gold = [
        Settled(one, slot, value, "unanimous", 2, 2)
        for one, feel in zip(ids, ("joy", "pride"), strict=True)
        for slot, value in (("A", feel), ("B", "fear"))
    ]
    assert [one["agent_a_emotion"] for one in fill("chiaro", str(source), gold).rows] == ["joy", "pride"]
