"""From forms to values, and what is wrong with them."""

from __future__ import annotations

import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affectlab.annotate.slots import Slot
from affectlab.annotate.units import make_unit
from affectlab.annotate.values import NONE, Reply, checked, clean_text, from_form, problem, read_reply
from tests.annotate.support import study

SETS = Slot(id="s", kind="label_set", title={"en": "S"}, labels="plutchik8")
NUMBER = Slot(id="s", kind="number", title={"en": "S"}, low=0, high=10)
TEXT = Slot(id="s", kind="text", title={"en": "S"}, shortest=2, longest=5)
UNIT = make_unit(study(), "i0", {"text": "Text."})


@pytest.mark.parametrize(
    ("slot", "form", "value", "wrong"),
    [
        (SETS, {"s.s": ["fear", "joy"]}, ["joy", "fear"], ""),
        (SETS, {"s.s": [NONE]}, [], ""),
        (SETS, {"s.s": ["fear", "hunger"]}, ["fear", "hunger"], "not_an_option"),
        (SETS, {}, None, "not_an_option"),
        (NUMBER, {"s.s": ["７"]}, 7, ""),
        (NUMBER, {"s.s": ["2.5"]}, 2.5, ""),
        (NUMBER, {"s.s": ["11"]}, 11, "out_of_range"),
        (NUMBER, {"s.s": ["nan"]}, "nan", "not_a_number"),
        (NUMBER, {"s.s": ["1e999"]}, "1e999", "not_a_number"),
        (NUMBER, {"s.s": ["-inf"]}, "-inf", "not_a_number"),
        (NUMBER, {"s.s": ["1_0"]}, "1_0", "not_a_number"),
        (NUMBER, {"s.s": ["seven"]}, "seven", "not_a_number"),
        (TEXT, {"s.s": ["  e\u0301\r\nb\x00 "]}, "é\nb", ""),
        (TEXT, {"s.s": ["x"]}, "x", "too_short"),
        (TEXT, {"s.s": ["123456"]}, "123456", "too_long"),
    ],
)
def test_forms(slot: Slot, form: dict[str, list[str]], value: Any, wrong: str) -> None:
    found = from_form(slot, UNIT, form)
    if value is not None:
        assert found == value
    assert problem(slot, slot.options, found) == wrong


@pytest.mark.parametrize("value", [True, 3.0, "3", 0, 6, None, [3]])
def test_a_scale_takes_its_whole_numbers_only(value: Any) -> None:
    slot = study().slot["strength"]
    assert problem(slot, slot.options, value) == "not_an_option"


def test_what_a_condition_hides_is_neither_asked_nor_kept() -> None:
    when = {"slot": "mood", "equals": ["sad"]}
    slots = [*study().slots[:1], Slot.model_validate({"id": "why", "kind": "text", "title": "Why?", "when": when})]
    hidden, problems = checked(slots, UNIT, Reply({"mood": "glad", "why": "left over"}))
    assert (hidden.values, problems) == ({"mood": "glad"}, {})
    _, problems = checked(slots, UNIT, Reply({"mood": "sad"}))
    assert problems == {"why": "missing"}


@given(st.text(max_size=200))
def test_texts_are_kept_in_one_form(text: str) -> None:
    clean = clean_text(text)
    assert clean == clean_text(clean) == unicodedata.normalize("NFC", clean)
    assert "\r" not in clean


@given(st.dictionaries(st.text(max_size=20), st.lists(st.text(max_size=30), max_size=3), max_size=5))
def test_no_form_can_break_the_reader(form: dict[str, list[str]]) -> None:
    design = study()
    named = {**form, **{f"s.{slot.id}": values for slot, values in zip(design.slots, form.values(), strict=False)}}
    reply, problems = checked(design.slots, UNIT, read_reply(design.slots, UNIT, named))
    assert set(reply.values) | set(problems) <= {slot.id for slot in design.slots}
