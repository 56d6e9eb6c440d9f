from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal

import pytest
from pydantic import AliasChoices, BaseModel, Field, field_validator, model_validator

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


def test_of_an_object_whose_inside_was_mapped_the_rest_is_named(tmp_path: Path) -> None:
    rows = [{"id": "a", "told": {"words": "x", "when": {"year": 1, "day": 2}}}, {"id": "b", "told": {"words": "y"}}]
    source = put(tmp_path, rows)
    assert load_items(source, {"text": "told.words"}, Record, to_item).ignored == ("told.when",)
    fields = {"text": "told.words", "count": "told.when.day"}
    assert load_items(source, fields, Record, to_item).ignored == ("told.when.year",)
    source = put(tmp_path, [{"id": "a", "told": {"words": "x"}}])
    assert load_items(source, {"text": "told.words"}, Record, to_item).ignored == ()


class Aliased(BaseModel):
    id: str = Field(validation_alias=AliasChoices("id", "key", "person"))
    text: str = Field(validation_alias=AliasChoices("text", "words"))
    person: str | None = None


@pytest.mark.parametrize(
    ("row", "fields", "read", "ignored"),
    [
        ({"id": "a", "text": "x", "words": "y"}, {}, ("a", "x", None), ("words",)),
        ({"id": "a", "text": "x", "words": "x"}, {}, ("a", "x", None), ()),  # nothing is lost
        ({"id": "a", "text": "", "words": "y"}, {}, ("a", "y", None), ()),
        ({"id": "a", "text": "x", "mine": "y"}, {"words": "mine"}, ("a", "y", None), ("text",)),
        ({"id": "a", "words": "x", "mine": "y"}, {"text": "mine"}, ("a", "y", None), ("words",)),
        ({"id": "a", "text": {"of": "x", "at": "z"}}, {"words": "text.of"}, ("a", "x", None), ("text.at",)),
        ({"id": "a", "number": "7", "text": "x"}, {"key": "number"}, ("7", "x", None), ("id",)),
        ({"id": "a", "person": "p", "text": "x"}, {}, ("a", "x", "p"), ()),  # a field of its own as well
        ({"id": "a", "who": "p", "text": "x"}, {"person": "who"}, ("a", "x", "p"), ()),
    ],
)
def test_of_several_names_of_a_field_the_mapped_one_counts_and_the_others_are_named(
    tmp_path: Path, row: object, fields: dict[str, str], read: tuple[str | None, ...], ignored: tuple[str, ...]
) -> None:
    def item(record: Aliased, index: int) -> Item:
        return Item(record.id, index, {"text": record.text, "person": record.person}, {})

    loaded = load_items(put(tmp_path, [row]), fields, Aliased, item)
    assert (loaded[0].id, loaded[0].inputs["text"], loaded[0].inputs["person"]) == read
    assert loaded.ignored == ignored


def test_one_field_mapped_twice_is_refused(tmp_path: Path) -> None:
    source = put(tmp_path, [{"id": "a", "one": "x", "two": "y"}])
    with pytest.raises(UserError, match="--map text=one and --map words=two both say what text is"):
        load_items(source, {"text": "one", "words": "two"}, Aliased, lambda record, at: Item(record.id, at, {}, {}))


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
        (2, "id", "'a'", "a unique id; line 1 has it already"),
        (3, "id", "nothing", "a value"),
        (3, "label", "'joi'", "one of 'joy' or 'fear'; did you mean 'joy'?"),
        (4, "id", "3", "text"),
        (4, "text", "''", "text that is not empty"),
        (4, "nested.score", "'much'", "a number"),
        (4, "count", "1.5", "a whole number"),
        (5, "text", "'LOUD'", "text that is not all capitals"),
        (6, "", "a row that makes no item", "a text that makes one"),
        (7, "nested", "1", "an object"),
    ]


class Unnamed(BaseModel):
    id: str | None = Field(default=None, validation_alias=AliasChoices("key", "id"))
    text: str


@pytest.mark.parametrize(
    ("rows", "found", "expected"),
    [
        (
            [{"text": "x"}, {"key": "row-1", "text": "y"}],
            "'row-1'",
            "a unique id; line 1 has no id and was given this one",
        ),
        ([{"key": "row-2", "text": "x"}, {"text": "y"}], "nothing", "an id: without one it is 'row-2', as line 1 is"),
        ([{"key": "a", "text": "x"}, {"key": "a", "text": "y"}], "'a'", "a unique id; line 1 has it already"),
    ],
)
def test_an_id_that_a_row_was_given_is_told_from_one_it_has(
    tmp_path: Path, rows: list[object], found: str, expected: str
) -> None:
    def item(record: Unnamed, index: int) -> Item:
        return Item(record.id or f"row-{index + 1}", index, {"text": record.text}, {})

    with pytest.raises(DataError) as caught:
        load_items(put(tmp_path, rows), {}, Unnamed, item)
    assert [(p.line, p.field, p.found, p.expected) for p in caught.value.problems] == [(2, "id", found, expected)]


def test_long_values_are_cut(tmp_path: Path) -> None:
    [(_, _, found, _)] = problems(put(tmp_path, [{"id": "a", "text": "x", "label": "y" * 1000}]))
    assert found == "'" + "y" * 59 + "…"


@pytest.mark.parametrize(
    ("between", "places"),
    [("", ["row 2", "row 3", "row 4"]), ("\n", ["row 2", "row 3", "row 4"]), ("\n\n", ["row 2 (line 3)"])],
)
def test_rows_of_a_document_go_by_number_and_line_where_it_is_another(
    tmp_path: Path, between: str, places: list[str]
) -> None:
    rows = ['{"id":"a","text":"x"}', '{"id":"a","text":"x"}', '{"id":"b","text":1}', "7"]
    file = tmp_path / "x.json"
    file.write_text(f"[{f',{between}'.join(rows)}]", encoding="utf-8")
    with pytest.raises(DataError) as caught:
        load_items(str(file), {}, Record, to_item)
    lines = str(caught.value).splitlines()[1:]
    assert len(lines) == 3
    for place, line in zip(places, lines, strict=False):
        assert line.startswith(f"  {place}")
    assert "a unique id; row 1 has it already" in lines[0]


def test_what_is_wrong_first_hides_nothing_after_it(tmp_path: Path) -> None:
    rows: list[object] = [
        {"id": "a", "text": "LOUD"},
        {"id": "a", "text": "no item"},
        {"id": "a", "text": "x"},
        {"id": 4, "text": "LOUD"},  # refused as an id: what is no id cannot be one twice
        {"id": 4, "text": "LOUD"},
        3,
    ]
    assert [(line, field) for line, field, _, _ in problems(put(tmp_path, rows))] == [
        (1, "text"),
        (2, ""),
        (2, "id"),
        (3, "id"),
        (4, "id"),
        (4, "text"),
        (5, "id"),
        (5, "text"),
        (6, ""),
    ]


class Span(BaseModel):
    id: str
    start: int
    end: int

    @model_validator(mode="after")
    def ordered(self) -> Span:
        if self.end < self.start:
            raise ValueError(f"an end after the start, not {self.start} to {self.end}")
        return self


def test_a_rule_of_the_whole_record_shows_its_values_and_not_the_record(tmp_path: Path) -> None:
    source = put(tmp_path, [{"id": "a", "start": 5, "end": 3}])
    with pytest.raises(DataError) as caught:
        load_items(source, {}, Span, lambda record, index: Item(record.id, index, {}, {}))
    assert str(caught.value.problems[0]) == (
        "line 1: found fields that do not go together; expected an end after the start, not 5 to 3"
    )


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


def test_items_at_the_prompt_are_a_line(tmp_path: Path) -> None:
    items = load_items(put(tmp_path, [{"id": name, "text": "x" * 500} for name in "abcd"]), {}, Record, to_item)
    assert repr(items) == "<4 items: 'a', 'b', 'c', …>"


def test_the_message_counts_one_problem_as_one() -> None:
    assert "1 problem;" in str(DataError("f", [Problem(1, "", "x", "y")]))
    assert str(Problem(3, "a.b", "1", "2")) == "line 3, field a.b: found 1; expected 2"
    assert str(Problem(3, "", "1", "2", number=2)) == "row 2 (line 3): found 1; expected 2"
