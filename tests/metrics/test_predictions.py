from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from affectlab.errors import UserError
from affectlab.metrics import prediction_file
from affectlab.metrics.prediction_file import read_predictions
from affectlab.metrics.predictions import COLUMNS, Prediction, PredictionTable


def prediction(item: str = "s1", slot: str = "A", value: Any = "joy", **changes: Any) -> Prediction:
    fields: dict[str, Any] = {"cluster": item, "outcome": "ok", "gold": "joy", **changes}
    return Prediction(item=item, slot=slot, value=value, **fields)


def cells(table: PredictionTable, name: str) -> list[Any]:
    column = getattr(table, name)
    return [column.values[code] for code in column.codes]


def plain(row: Prediction) -> dict[str, Any]:
    fields: dict[str, Any] = json.loads(json.dumps(asdict(row)))
    return fields


ROWS = [
    prediction(slices={"mode": "physical", "type": "home"}, position=2),
    prediction(slot="B", value=None, outcome="refusal", flags=("hedged",), repeat=1, condition="fear"),
    prediction(
        "s2", value=("anger", "fear"), gold={"joy": 0.75, "fear": 0.25}, slices={"type": "home", "mode": "physical"}
    ),
    prediction("s2", slot="C", value=4, gold=3.5),
]


@pytest.mark.parametrize("rows", [ROWS, [plain(row) for row in ROWS], [ROWS[0], plain(ROWS[1]), *ROWS[2:]]])
def test_columns_hold_what_the_rows_hold(rows: Sequence[Any]) -> None:
    table = PredictionTable.from_rows(rows)
    assert len(table) == 4
    assert cells(table, "item") == ["s1", "s1", "s2", "s2"]
    assert cells(table, "value") == ["joy", None, ("anger", "fear"), 4]
    assert cells(table, "gold") == ["joy", "joy", (("fear", 0.25), ("joy", 0.75)), 3.5]
    assert cells(table, "position") == [2, None, None, None]
    assert cells(table, "flags") == [(), ("hedged",), (), ()]
    assert cells(table, "condition") == ["neutral", "fear", "neutral", "neutral"]
    # The same slices in another order are the same value.
    assert table.slices.values == ((("mode", "physical"), ("type", "home")), ())


def test_fields_that_a_file_leaves_out_get_their_defaults() -> None:
    row = {"item": "s1", "cluster": "c", "slot": "A", "outcome": "ok", "value": "joy"}
    table = PredictionTable.from_rows([row])
    defaulted = ("variant", "condition", "repeat", "gold", "position", "slices", "flags")
    assert [cells(table, name)[0] for name in defaulted] == ["", "neutral", 0, None, None, (), ()]


def test_fields_without_default_are_asked_for() -> None:
    with pytest.raises(UserError, match="needs cluster and outcome; this one has item, slot, value"):
        PredictionTable.from_rows([{"item": "s1", "slot": "A", "value": "joy"}])


def test_slices_of_any_mapping_type() -> None:
    table = PredictionTable.from_rows([prediction(slices=MappingProxyType({"mode": "x"}))])
    assert table.slices.values == ((("mode", "x"),),)


def test_empty_table() -> None:
    table = PredictionTable.from_rows([])
    assert len(table) == 0
    assert table.value.recode({"joy": 0}, -1).tolist() == []
    assert table.slice_values("mode").codes.tolist() == []
    assert len(table.where(np.array([], dtype=bool))) == 0


def test_recode_equals_take_and_slices() -> None:
    table = PredictionTable.from_rows(ROWS)
    assert table.value.recode({"joy": 7}, -1).tolist() == [7, -1, -1, -1]
    assert table.outcome.equals("refusal").tolist() == [False, True, False, False]
    assert table.outcome.equals("never").tolist() == [False] * 4
    part = table.where(table.item.equals("s2"))
    assert cells(part, "slot") == ["A", "C"]
    assert cells(table.where(np.array([3, 0])), "slot") == ["C", "A"]
    modes = table.slice_values("mode")
    assert [modes.values[code] for code in modes.codes] == ["physical", None, "physical", None]


drawn_rows = st.builds(
    prediction,
    item=st.sampled_from(["a", "b", "ü 中"]),
    slot=st.sampled_from(["A", "B"]),
    value=st.one_of(st.none(), st.text(max_size=3), st.tuples(st.text(max_size=2))),
    slices=st.dictionaries(st.sampled_from(["m", "n"]), st.text(max_size=2)),
    flags=st.lists(st.sampled_from(["x", "y"]), max_size=2).map(tuple),
)


@settings(deadline=None, max_examples=50)
@given(st.lists(drawn_rows, max_size=12))
def test_predictions_and_their_json_make_the_same_table(rows: list[Prediction]) -> None:
    ours, theirs = PredictionTable.from_rows(rows), PredictionTable.from_rows([plain(row) for row in rows])
    for name in COLUMNS:
        assert cells(ours, name) == cells(theirs, name)


def write(path: Path, lines: Sequence[str], encoding: str = "utf-8") -> Path:
    path.write_bytes("".join(lines).encode(encoding))
    return path


def lines(rows: Sequence[Prediction]) -> list[str]:
    return [json.dumps(plain(row), ensure_ascii=False) + "\n" for row in rows]


@pytest.mark.parametrize("block", [1, 200, 1 << 18])
def test_a_file_is_its_rows_whatever_the_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    monkeypatch.setattr(prediction_file, "_BYTES_AT_ONCE", block)
    path = write(tmp_path / "p.jsonl", lines(ROWS))
    read, made = read_predictions(path), PredictionTable.from_rows(ROWS)
    for name in COLUMNS:
        assert cells(read, name) == cells(made, name)


def test_cluster_is_the_item_unless_stated(tmp_path: Path) -> None:
    path = write(tmp_path / "p.jsonl", ['{"item": "s1", "slot": "A", "outcome": "ok", "value": "joy"}\n'])
    assert cells(read_predictions(path), "cluster") == ["s1"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\n\n"])
def test_mark_line_ends_and_blank_lines(tmp_path: Path, encoding: str, end: str) -> None:
    path = write(tmp_path / "p.jsonl", [line.rstrip("\n") + end for line in lines(ROWS)], encoding)
    assert len(read_predictions(path)) == 4


def test_empty_file_is_an_empty_table(tmp_path: Path) -> None:
    assert len(read_predictions(write(tmp_path / "p.jsonl", []))) == 0


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ('{"item": "s1", "slot"', "line 3: not JSON"),
        ("[1]", "line 3: no prediction .Expected `object`"),
        ('"text"', "line 3: no prediction .Expected `object`"),
        ('{"item": "s1", "value": "joy"}', "line 3: no prediction .*`slot`"),
        ('{"item": 1, "slot": "A", "outcome": "ok"}', r"line 3: no prediction .*\$.item"),
        ('{"item": "1", "slot": "A", "outcome": "ok"}, {"item": "2", "slot": "A"}', "line 3: not JSON"),
    ],
)
@pytest.mark.parametrize("block", [60, 300, 1 << 18])  # a line, two lines, all lines
def test_first_bad_line_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bad: str, message: str, block: int
) -> None:
    monkeypatch.setattr(prediction_file, "_BYTES_AT_ONCE", block)
    good = lines(ROWS)
    path = write(tmp_path / "p.jsonl", [*good[:2], bad + "\n", good[3]])
    with pytest.raises(UserError, match=message):
        read_predictions(path)


def test_two_spellings_of_a_value_are_one(tmp_path: Path) -> None:
    row = '{"item": "s1", "slot": "A", "outcome": "ok", "flags": %s, "slices": %s}\n'
    written = [row % ('["x"]', '{"m": "1", "n": "2"}'), row % ('[ "x" ]', '{"n": "2", "m":"1"}')]
    table = read_predictions(write(tmp_path / "p.jsonl", written))
    assert table.flags.values == (("x",),)
    assert table.slices.values == ((("m", "1"), ("n", "2")),)


def test_torn_object_over_two_lines_is_no_row(tmp_path: Path) -> None:
    path = write(tmp_path / "p.jsonl", ['{"item": "s1", "slot": "A"\n', '"outcome": "ok", "value": "joy"}\n'])
    with pytest.raises(UserError, match="line 1: not JSON"):
        read_predictions(path)


def test_unreadable_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="No file"):
        read_predictions(tmp_path / "none.jsonl")
    with pytest.raises(UserError, match="cannot be read"):
        read_predictions(tmp_path)
    broken = tmp_path / "latin.jsonl"
    broken.write_bytes('{"item": "é"}'.encode("latin-1"))
    with pytest.raises(UserError, match=r"line 1: not JSON .Invalid UTF-8"):
        read_predictions(broken)
