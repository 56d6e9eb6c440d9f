"""Gold in the formats that benchmarks read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from affectlab.annotate.answers import Answer
from affectlab.annotate.exchange.benchmark import fill
from affectlab.annotate.exchange.gold import PendingError, Settled, settle
from affectlab.benchmarks import open_benchmark
from affectlab.errors import UserError
from affectlab.items import Item


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
