from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from affectlab.benchmarks.emoscene.record import EMOTIONS, load
from affectlab.errors import UserError
from affectlab.items import Item


def read(tmp_path: Path, *rows: dict[str, Any]) -> tuple[Item, ...]:
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    return load(str(path), {}).items


def there(item: Item) -> list[str]:
    return [slot for slot, value in item.gold.items() if value == "present"]


@pytest.mark.parametrize(
    ("labels", "right"),
    [
        (["joy", "Anticipation"], ["joy", "anticipation"]),
        ("anger; fear", ["fear", "anger"]),
        ("['sadness', 'joy']", ["joy", "sadness"]),
        ([0, 0, 1, 0, 1, 0, 0, 0], ["fear", "sadness"]),
        (["1", "0", "0", "0", "0", "0", "0", "1"], ["joy", "anticipation"]),
        ("[0, 1, 0, 0, 0, 0, 0, 0]", ["trust"]),
        ([], []),
        ("[]", []),
        ("none", []),
        (" None ", []),
        ("[none]", []),
        (["无"], []),
    ],
)
def test_labels_are_names_or_eight_zeros_and_ones(tmp_path: Path, labels: Any, right: list[str]) -> None:
    (item,) = read(tmp_path, {"id": "a", "text": "t", "labels": labels})
    assert there(item) == right
    assert list(item.gold) == list(EMOTIONS.ids)


def test_eight_columns_in_any_usual_spelling(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    head = "text,Joy,Trust,Fear,Surprise,Sadness,Disgust,Anger,Anticipation\n"
    path.write_text(head + "one,1,0,0,0,0,0,0,1\ntwo,0.0,True,false,0,1.0,0,0,0\nthree,,,,,,,,\n", encoding="utf-8")
    first, second, third = load(str(path), {}).items
    assert there(first) == ["joy", "anticipation"]
    assert there(second) == ["trust", "sadness"]
    assert third.gold == {}
    assert [item.id for item in (first, second, third)] == ["row-1", "row-2", "row-3"]


def test_an_empty_cell_is_no_gold_and_a_table_says_none(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text('text,labels\none,none\ntwo,\nthree,""\nfour,[]\nfive,fear\n', encoding="utf-8")
    loaded = load(str(path), {})
    golds = [there(item) if item.gold else None for item in loaded]
    assert golds == [[], None, None, [], ["fear"]]
    assert loaded.notes == (
        "2 of 5 scenarios have no gold. Where no emotion is there, write none or []: an empty cell says nothing.",
    )
    (blank,) = read(tmp_path, {"id": "a", "text": "t", "labels": ""})  # JSON lines as a table
    assert blank.gold == {}


def test_a_prior_fitted_to_scenarios_under_test_is_refused(tmp_path: Path) -> None:
    sample = files("affectlab.benchmarks.emoscene") / "sample.jsonl"
    rows = [json.loads(line) for line in sample.read_text(encoding="utf-8").splitlines()]

    def written(name: str, chosen: list[dict[str, Any]]) -> str:
        path = tmp_path / name
        path.write_text("\n".join(json.dumps(row) for row in chosen), encoding="utf-8")
        return str(path)

    learned = written("learned.jsonl", rows[:30])
    # Other texts under the same ids are other scenarios; the same text under another id, in capitals, is not.
    apart = written("apart.jsonl", [{**row, "id": rows[at]["id"]} for at, row in enumerate(rows[30:])])
    assert len(load(apart, {}, {"prior": learned})) == 30
    shared = written("shared.jsonl", [*rows[30:], {**rows[2], "id": "again", "text": rows[2]["text"].upper()}])
    with pytest.raises(UserError, match=rf"1 of the scenarios .*'again' is its '{rows[2]['id']}'"):
        load(shared, {}, {"prior": learned})


def test_slices_and_clusters(tmp_path: Path) -> None:
    many, none = read(
        tmp_path,
        {"id": 7, "text": "t", "labels": ["joy", "fear", "anger", "trust", "disgust"], "domain": "work", "group": "g"},
        {"id": 8, "text": "t", "labels": []},
    )
    assert (many.id, many.cluster, many.slices) == ("7", "g", {"domain": "work", "emotions": "4 or more"})
    assert (none.cluster, none.slices) == ("8", {"emotions": "0"})


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"labels": ["joi"]}, "did you mean 'joy'"),
        ({"labels": [0, 1]}, "eight times 0 or 1"),
        ({"labels": [1, 0, None, 0, 0, 0, 0, 0]}, "0 or 1 for all eight"),
        ({"labels": [None] * 8}, "0 or 1 for all eight"),
        ({"labels": "none, joy"}, "none, or eight times"),
        ({"labels": [0, 1, 2, 0, 0, 0, 0, 0]}, "0 or 1"),
        ({"joy": 2}, "0 or 1"),
        ({"joy": 1, "fear": 0}, "all eight"),
        ({"labels": ["joy"], **dict.fromkeys(EMOTIONS.ids, 0)}, "agree"),
        ({"text": " "}, "not empty"),
    ],
)
def test_bad_rows_are_named(tmp_path: Path, row: dict[str, Any], said: str) -> None:
    with pytest.raises(UserError, match=said):
        read(tmp_path, {"id": "a", "text": "t", **row})


def test_both_kinds_of_gold_may_stand_together_when_they_agree(tmp_path: Path) -> None:
    columns = {slot: int(slot == "joy") for slot in EMOTIONS.ids}
    (item,) = read(tmp_path, {"id": "a", "scenario": "t", "labels": ["joy"], **columns})
    assert there(item) == ["joy"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"explain": "maybe"}, "yes or no"),
        ({"confidence": "2"}, "yes or no"),
        ({"prior": "nowhere.json"}, "no such file"),
    ],
)
def test_settings_are_checked_before_anything_runs(options: dict[str, str], said: str) -> None:
    with pytest.raises(UserError, match=said):
        load("nothing.jsonl", {}, options)
