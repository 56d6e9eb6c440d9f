"""Kinds of slots: each is read from a form, checked, told, exported and taken back; a new kind is to be added here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, get_args

import pytest

from affectlab.annotate.incoming import stored_value
from affectlab.annotate.records import declared, plain
from affectlab.annotate.slots import Kind, Option, Slot, by_id, named
from affectlab.annotate.units import Unit
from affectlab.annotate.values import NONE, checked, from_form, options_of, read_reply, tell

TEXT = "A long day ends well."
OPTIONS = [{"id": "glad", "names": {"en": "Glad", "zh": "高兴"}}, {"id": "sad", "names": {"en": "Sad"}}]


@dataclass(frozen=True)
class Example:
    """A slot of one kind, an answer to it in all its forms, and a form that is no answer."""

    slot: dict[str, Any]
    form: dict[str, list[str]]
    value: Any
    told: str
    exported: Any
    wrong: dict[str, list[str]]
    problem: str


EXAMPLES: dict[str, Example] = {
    "choice": Example({"options": OPTIONS}, {"s.x": ["sad"]}, "sad", "Sad", "sad", {"s.x": ["mad"]}, "not_an_option"),
    "yes_no": Example({}, {"s.x": ["yes"]}, "yes", "Yes", "yes", {"s.x": ["perhaps"]}, "not_an_option"),
    "scale": Example({"low": 1, "high": 5}, {"s.x": ["4"]}, 4, "4", 4.0, {"s.x": ["6"]}, "not_an_option"),
    "number": Example({"low": 0, "high": 1}, {"s.x": ["0.5"]}, 0.5, "0.5", 0.5, {"s.x": ["1.5"]}, "out_of_range"),
    "text": Example({"shortest": 3}, {"s.x": [" well \r\n"]}, "well", "well", "well", {"s.x": ["no"]}, "too_short"),
    "label_set": Example(
        {"options": OPTIONS},
        {"s.x": ["sad", "glad"]},
        ["glad", "sad"],  # in declared order
        "Glad, Sad",
        ("glad", "sad"),
        {"s.x": ["mad"]},
        "not_an_option",
    ),
    "label_set, with intensities": Example(
        {"options": OPTIONS, "intensities": [{"en": "a little"}, {"en": "much"}]},
        {"s.x": ["glad"], "i.x.glad": ["2"]},
        {"glad": 2},
        "Glad 2",
        {"glad": 2.0},
        {"s.x": ["glad"]},
        "no_intensity",
    ),
    "label_set, none": Example({"options": OPTIONS}, {"s.x": [NONE]}, [], "–", (), {"s.x": ["-all-"]}, "not_an_option"),
    "span": Example(
        {"field": "text"},
        {"s.x": ["2-6"]},
        [{"start": 2, "end": 6, "text": "long"}],
        "long",
        '[{"start": 2, "end": 6, "text": "long"}]',
        {"s.x": ["2-60"]},
        "not_a_span",
    ),
}


def slot_of(name: str) -> Slot:
    kind = name.partition(",")[0]
    return Slot.model_validate({"id": "x", "kind": kind, "title": "?", **EXAMPLES[name].slot})


def unit_of(slot: Slot) -> Unit:
    return Unit("i0", {"text": TEXT}, {"x": slot.options} if slot.options else {}, {})


def test_every_kind_that_people_answer_has_an_example() -> None:
    assert {name.partition(",")[0] for name in EXAMPLES} == set(get_args(Kind)) - {"derived"}


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_answer_is_read_checked_and_told(name: str) -> None:
    slot, example = slot_of(name), EXAMPLES[name]
    unit = unit_of(slot)
    reply, problems = checked([slot], unit, read_reply([slot], unit, example.form))
    assert (dict(reply.values), problems) == ({"x": example.value}, {})
    assert tell(slot, example.value, named(options_of(slot, unit), "en")) == example.told


@pytest.mark.parametrize("name", EXAMPLES)
def test_what_is_no_answer_is_refused(name: str) -> None:
    slot, example = slot_of(name), EXAMPLES[name]
    unit = unit_of(slot)
    assert from_form(slot, unit, example.wrong) is not None
    assert checked([slot], unit, read_reply([slot], unit, example.wrong))[1] == {"x": example.problem}


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_exported_answer_is_the_same_when_it_comes_back(name: str) -> None:
    slot, example = slot_of(name), EXAMPLES[name]
    exported = plain(slot, example.value)
    assert exported == example.exported
    assert type(exported) is type(example.exported)
    back = stored_value(slot, unit_of(slot), exported)
    assert back == example.value
    assert type(back) is type(example.value)


def test_levels_of_measurement_and_declared_values() -> None:
    levels = {name: slot_of(name).level for name in EXAMPLES}
    assert (levels["choice"], levels["yes_no"]) == ("nominal", "nominal")
    assert (levels["scale"], levels["number"], levels["label_set"]) == ("ordinal", "interval", "masi")
    assert declared(slot_of("scale")) == [1.0, 2.0, 3.0, 4.0, 5.0]
    assert declared(slot_of("yes_no")) == ["yes", "no"]


def test_names_of_options_fall_back_to_english() -> None:
    assert named((Option.model_validate(one) for one in OPTIONS), "zh") == {"glad": "高兴", "sad": "Sad"}


def test_slots_by_id() -> None:
    slot = slot_of("text")
    assert by_id([slot]) == {"x": slot}
