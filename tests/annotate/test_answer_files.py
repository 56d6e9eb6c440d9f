"""Answers in files: what goes out comes back, and a bad file is refused whole."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from affectlab.annotate.answer_files import read_answers, write_answers
from affectlab.annotate.answers import Answer, Status, answers_to_csv, answers_to_jsonl, normal
from affectlab.errors import UserError
from affectlab.items import DataError

words = (
    st.text(st.characters(blacklist_categories=("Cs", "Cc")), min_size=1, max_size=12)
    .map(lambda text: normal(text).strip())
    .filter(bool)
)
numbers = st.floats(-1e6, 1e6).map(lambda value: float(value) + 0.0)
values = st.one_of(
    words,
    numbers,
    st.lists(words, max_size=3, unique=True).map(tuple),
    st.dictionaries(words, numbers, max_size=3),
)


@st.composite
def answers(draw: st.DrawFn) -> list[Answer]:
    keys = draw(st.lists(st.tuples(words, words, words), max_size=6, unique=True))
    made = []
    for item, who, slot in keys:
        status: Status = draw(st.sampled_from(["submitted", "submitted", "skipped", "draft", "invalid"]))
        value = draw(values) if status == "submitted" else None
        made.append(
            Answer(
                item,
                who,
                value,
                slot,
                draw(st.sampled_from(["human", "model"])),
                status,
                reason=draw(st.one_of(st.just(""), words)),
            )
        )
    return made


@settings(deadline=None, max_examples=40)
@given(made=answers(), bom=st.booleans())
def test_long_form_comes_back_as_it_went(
    made: list[Answer], bom: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    if not made:
        return
    folder = tmp_path_factory.mktemp("answers")
    for name in ("long.csv", "long.jsonl"):
        write_answers(made, folder / name, bom=bom)
        read = read_answers(str(folder / name))
        assert list(read.answers) == made
        assert read.ignored == ()


def test_two_spellings_of_one_label_are_one(tmp_path: Path) -> None:
    file = tmp_path / "long.csv"
    file.write_text("item,annotator,value\n1,a,touche\u0301\n1,b,touch\u00e9\n", encoding="utf-8")
    first, second = read_answers(str(file)).answers
    assert first.value == second.value == "touch\u00e9"


def _write(path: Path, text: str) -> str:
    path.write_text(text, encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(
    ("name", "text", "options", "found"),
    [
        ("a.csv", "item,annotator,value\n1,a,joy\n2,a,\n", {}, ["joy", None]),
        ("a.tsv", "item\tannotator\tvalue\n1\ta\t3\n", {"numbers": True}, [3.0]),
        ("a.csv", "item,annotator,value\n1,a,3\n", {}, ["3"]),
        ("a.csv", "item,annotator,value\n1,a,joy; fear\n2,a,none\n", {"sets": True}, [("joy", "fear"), ()]),
        ("a.jsonl", '{"item": 1, "annotator": "a", "value": ["joy"]}\n', {}, [("joy",)]),
        ("a.jsonl", '{"item": 1, "annotator": "a", "value": 2}\n', {}, [2.0]),
        ("a.jsonl", '{"item": 1, "annotator": "a", "value": true}\n', {}, ["yes"]),
        ("a.jsonl", '{"item": 1, "annotator": "a", "value": {"joy": 2}}\n', {}, [{"joy": 2.0}]),
    ],
)
def test_values(name: str, text: str, options: dict[str, Any], found: list[Any], tmp_path: Path) -> None:
    read = read_answers(_write(tmp_path / name, text), **options)
    assert [one.value for one in read.answers] == found
    assert [one.status for one in read.answers] == ["submitted" if value is not None else "skipped" for value in found]


def test_every_bad_row_is_listed_with_its_line(tmp_path: Path) -> None:
    rows = [
        "item,annotator,value,status,kind,type",
        "1,a,joy,,,",
        ",a,joy,,,",
        "2,,joy,,,",
        "3,a,joy,finished,,",
        "4,a,joy,,robot,",
        "5,a,many,,,number",
        "6,a,[1],,,set",
        "1,a,fear,,,",
        "7,a,,submitted,,",
        "8,a,joy,,,mood",
    ]
    with pytest.raises(DataError) as error:
        read_answers(_write(tmp_path / "a.csv", "\n".join(rows) + "\n"))
    assert [(problem.line, problem.field) for problem in error.value.problems] == [
        (3, "item"),
        (4, "annotator"),
        (5, "status"),
        (6, "kind"),
        (7, "value"),
        (8, "value"),
        (9, "annotator"),
        (10, "value"),
        (11, "type"),
    ]
    assert "line 2 has it already" in str(error.value)


def test_columns_may_go_by_other_names(tmp_path: Path) -> None:
    file = _write(tmp_path / "a.csv", "text_id,coder,label,mood\n1,a,joy,x\n")
    with pytest.raises(UserError, match="--map item=COLUMN"):
        read_answers(file)
    read = read_answers(file, {"item": "text_id", "annotator": "coder", "value": "label"})
    assert read.answers == (Answer("1", "a", "joy"),)
    assert read.ignored == ("mood",)


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.json", "a.tsv", "a.txt"])
@pytest.mark.parametrize("text", ["'=x", "=x", "'x", "''=x"])
def test_an_apostrophe_of_the_text_stays(name: str, text: str, tmp_path: Path) -> None:
    """Only tables mark what a spreadsheet would run, so only there a mark is taken off."""
    path = tmp_path / name
    made = [Answer("'@i", "'+ann", text, "s", reason="'-so")]
    if name in ("a.csv", "a.jsonl"):
        write_answers(made, path)
    elif name == "a.tsv":
        path.write_text(answers_to_csv(made).replace(",", "\t"), encoding="utf-8")
    else:
        path.write_text(f"[{answers_to_jsonl(made).strip()}]", encoding="utf-8")
    assert read_answers(str(path)).answers == tuple(made)
