from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal

import pytest
from pydantic import BaseModel, Field, field_validator

from affectlab.errors import UserError
from affectlab.items import DataError, Item, Problem, Row, load_items


class Nested(BaseModel):
    score: float


class Record(BaseModel):
    id: str
    text: str = Field(min_length=1)
    label: Literal["joy", "fear"] | None = None
    nested: Nested | None = None
    count: int = 0

    @field_validator("text")
    @classmethod
    def no_shouting(cls, value: str) -> str:
        if value.isupper():
            raise ValueError("text that is not all capitals")
        return value


def to_item(record: Record, index: int) -> Item:
    if record.text == "no item":
        raise UserError("a text that makes one")
    gold = {} if record.label is None else {"label": record.label}
    return Item(record.id, index, {"text": record.text}, gold)


def put(folder: Path, rows: Sequence[object], name: str = "x.jsonl") -> str:
    path = folder / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def problems(source: str) -> list[tuple[int, str, str, str]]:
    with pytest.raises(DataError) as caught:
        load_items(source, {}, Record, to_item)
    assert source in str(caught.value)
    return [(p.line, p.field, p.found, p.expected) for p in caught.value.problems]


def test_items_in_file_order_with_their_position(tmp_path: Path) -> None:
    source = put(tmp_path, [{"id": "b", "text": "x", "label": "joy"}, {"id": "a", "text": "y"}])
    assert load_items(source, {}, Record, to_item).items == (
        Item("b", 0, {"text": "x"}, {"label": "joy"}),
        Item("a", 1, {"text": "y"}, {}),
    )


def test_fields_and_csv(tmp_path: Path) -> None:
    file = tmp_path / "x.csv"
    file.write_text("key,sentence,label\n1,hi,\n2,ho,joy\n", encoding="utf-8")
    items = load_items(str(file), {"id": "key", "text": "sentence"}, Record, to_item)
    assert [(item.id, dict(item.gold)) for item in items] == [("1", {}), ("2", {"label": "joy"})]


def test_columns_that_nothing_reads_are_named(tmp_path: Path) -> None:
    source = put(tmp_path, [{"id": "a", "text": "x", "Year": 1}, {"id": "b", "text": "y", "author": "Ann"}])
    assert load_items(source, {}, Record, to_item).ignored == ("author", "Year")


def test_all_problems_of_all_rows_in_plain_words(tmp_path: Path) -> None:
    source = put(
        tmp_path,
        [
            {"id": "a", "text": "x"},
            {"id": "a", "text": "x"},
            {"text": "x", "label": "joi"},
            {"id": 3, "text": "", "nested": {"score": "much"}, "count": 1.5},
            {"id": "b", "text": "LOUD"},
            {"id": "c", "text": "no item"},
            {"id": "d", "text": "y" * 100, "nested": 1},
        ],
    )
    assert problems(source) == [
        (2, "id", "'a'", "a unique id; the row on line 1 has it already"),
        (3, "id", "nothing", "a value"),
        (3, "label", "'joi'", "one of 'joy' or 'fear'"),
        (4, "id", "3", "text"),
        (4, "text", "''", "text that is not empty"),
        (4, "nested.score", "'much'", "a number"),
        (4, "count", "1.5", "a whole number"),
        (5, "text", "'LOUD'", "text that is not all capitals"),
        (6, "", "a row that makes no item", "a text that makes one"),
        (7, "nested", "1", "an object"),
    ]


def test_long_values_are_cut(tmp_path: Path) -> None:
    [(_, _, found, _)] = problems(put(tmp_path, [{"id": "a", "text": "x", "label": "y" * 1000}]))
    assert found == "'" + "y" * 59 + "…"


def test_rows_on_one_line_are_told_apart(tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    file.write_text('[{"id":"a","text":"x"},{"id":"a","text":"x"},{"id":"b","text":1}]', encoding="utf-8")
    assert problems(str(file)) == [
        (1, "id", "'a'", "a unique id; the row on line 1 has it already"),
        (1, "[2].text", "1", "text"),
    ]


def test_a_field_that_no_row_has_is_one_error(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"no row has text\. The columns are: id, sentence\. .* --map text=COLUMN"):
        load_items(put(tmp_path, [{"id": "a", "sentence": "x"}] * 3), {}, Record, to_item)


def test_rules_across_rows_see_the_valid_rows(tmp_path: Path) -> None:
    seen: list[tuple[int, str]] = []

    def check(rows: Sequence[tuple[Row, Record]]) -> Iterable[Problem]:
        seen.extend((row.line, record.id) for row, record in rows)
        yield Problem(rows[-1][0].line, "text", "the last", "another")

    source = put(tmp_path, [{"id": "a", "text": "x"}, {"id": "b"}, {"id": "c", "text": "y"}])
    with pytest.raises(DataError) as caught:
        load_items(source, {}, Record, to_item, check)
    assert seen == [(1, "a"), (3, "c")]
    assert [p.line for p in caught.value.problems] == [2, 3]


class Open(BaseModel, extra="allow"):
    id: str


def everything(record: Open, index: int) -> Item:
    return Item(record.id, index, record.model_dump(), {})


def test_personal_columns_stay_out_unless_asked_for(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [{"id": "a", "author": "Ann", "email": "a@b.c", "rater_id": 7}]
    source = put(tmp_path, rows)
    assert load_items(source, {}, Open, everything)[0].inputs == {"id": "a", "rater_id": 7}
    asked = load_items(source, {"author": "author"}, Open, everything)[0].inputs
    assert asked == {"id": "a", "author": "Ann", "rater_id": 7}


def test_the_message_counts_one_problem_as_one() -> None:
    assert "1 problem;" in str(DataError("f", [Problem(1, "", "x", "y")]))
    assert str(Problem(3, "a.b", "1", "2")) == "line 3, field a.b: found 1; expected 2"
