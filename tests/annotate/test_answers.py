"""Answers in long form as text: no cell is a formula, nothing is lost."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from affectlab.annotate.answers import Answer, answers_to_csv, answers_to_jsonl, harmless, unescaped


@given(st.text())
def test_no_cell_is_a_formula_and_every_one_comes_back(text: str) -> None:
    cell = harmless(text)
    assert unescaped(cell) == text
    assert not cell.startswith(("=", "+", "@", "\t", "\r"))
    assert not cell.startswith("-") or isinstance(float(cell), float)


def test_emoji_chinese_and_combining_accents() -> None:
    made = [Answer("i", "a", "悲伤"), Answer("i", "b", "😢"), Answer("i", "c", "touche\u0301")]
    text = answers_to_csv(made, bom=True)
    assert text.startswith("\ufeffitem,annotator,value,type,slot")
    assert "悲伤" in text
    assert "😢" in text


def test_json_lines_leave_empty_fields_out() -> None:
    assert answers_to_jsonl([Answer("1", "a", None, status="skipped")]) == (
        '{"item": "1", "annotator": "a", "value": null, "slot": "label", "kind": "human", "status": "skipped"}\n'
    )
