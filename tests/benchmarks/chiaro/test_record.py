from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from affectlab.benchmarks.chiaro.record import MODES, SCENARIO_TYPES, Scene, load, to_item
from affectlab.errors import UserError
from affectlab.labels import load as load_labels

BARE = {"id": "s1", "sentence": "The gate shuts.", "agent_a_role": "the guard", "agent_b_role": "the runner"}
FULL = {
    **BARE,
    "setting": "A stadium closes.",
    "agent_a_emotion": "relief",
    "agent_b_emotion": "anger",
    "mode": "physical",
    "scenario_type": "zero_sum",
    "scene_group": "g7",
}


def scene(**changes: Any) -> Scene:
    return Scene.model_validate({**FULL, **changes})


def messages(row: dict[str, Any]) -> str:
    with pytest.raises(ValidationError) as caught:
        Scene.model_validate(row)
    return str(caught.value)


def test_a_full_scene_becomes_an_item_with_gold_slices_and_cluster() -> None:
    item = to_item(scene(), 4)
    assert (item.id, item.index, item.cluster) == ("s1", 4, "g7")
    assert item.inputs == {
        "sentence": "The gate shuts.",
        "setting": "A stadium closes.",
        "role_A": "the guard",
        "role_B": "the runner",
    }
    assert item.gold == {"A": "relief", "B": "anger"}
    assert item.slices == {"mode": "physical", "scenario_type": "zero_sum"}


def test_a_bare_scene_can_be_predicted_only() -> None:
    item = to_item(Scene.model_validate(BARE), 0)
    assert item.gold == {}
    assert item.slices == {}
    assert item.inputs["setting"] == ""
    assert item.cluster == "s1"


def test_gold_of_one_agent_is_kept_alone() -> None:
    assert to_item(Scene.model_validate({**BARE, "agent_b_emotion": "fear"}), 0).gold == {"B": "fear"}


@pytest.mark.parametrize("field", ["id", "sentence", "agent_a_role", "agent_b_role"])
@pytest.mark.parametrize("value", ["", " \t\n", None])
def test_required_fields_may_not_be_blank_or_missing(field: str, value: str | None) -> None:
    assert field in messages({**BARE, field: value})
    assert field in messages({name: text for name, text in BARE.items() if name != field})


@pytest.mark.parametrize(
    "field", ["agent_a_emotion", "agent_b_emotion", "mode", "scenario_type", "cause_span", "evidence_a", "scene_group"]
)
def test_blank_optional_fields_are_absent(field: str) -> None:
    assert getattr(scene(**{field: " "}), field) is None


@pytest.mark.parametrize(
    ("field", "spelling"),
    [
        ("agent_a_role", "agent_A_role"),
        ("agent_b_role", "agent_B_role"),
        ("agent_a_emotion", "agent_A_emotion"),
        ("agent_b_emotion", "agent_B_emotion"),
        ("evidence_a", "evidence_A"),
        ("evidence_b", "evidence_B"),
    ],
)
def test_the_spelling_of_the_paper_is_read_too(field: str, spelling: str) -> None:
    row = {**FULL, "evidence_a": "gate", "evidence_b": "shuts"}
    value = row.pop(field)
    assert getattr(Scene.model_validate({**row, spelling: value}), field) == value


def test_labels_are_read_by_any_of_their_names() -> None:
    assert scene(agent_a_emotion=" Relief ").agent_a_emotion == "relief"
    space = load_labels("chiaro10")
    assert scene(agent_a_emotion=space.name_of("joy", "zh")).agent_a_emotion == "joy"


def test_rules_over_two_fields_hold_whatever_else_is_wrong() -> None:
    row = {**FULL, "id": " ", "agent_b_role": "the guard", "agent_b_emotion": "pride", "mode": "mental"}
    text = messages(row)
    for said in ("not empty", "agent_a_role is", "not relief and pride", "physical"):
        assert said in text


def test_an_unknown_label_is_refused_with_the_allowed_ones() -> None:
    text = messages({**FULL, "agent_a_emotion": "bliss-ish"})
    for label in load_labels("chiaro10").ids:
        assert label in text


@pytest.mark.parametrize(("a", "b"), [("joy", "pride"), ("fear", "anger"), ("joy", "joy")])
def test_two_emotions_of_one_polarity_are_refused(a: str, b: str) -> None:
    text = messages({**FULL, "agent_a_emotion": a, "agent_b_emotion": b})
    assert f"not {a} and {b}" in text


def test_either_agent_may_be_the_positive_one() -> None:
    assert scene(agent_a_emotion="fear", agent_b_emotion="pride").agent_b_emotion == "pride"


@pytest.mark.parametrize("twin", ["the guard", "The  Guard", " THE GUARD "])
def test_two_agents_with_one_role_are_refused(twin: str) -> None:
    assert "tell the agents apart" in messages({**FULL, "agent_b_role": twin})


@pytest.mark.parametrize(("polarity", "fine"), [("positive", True), ("negative", False)])
@pytest.mark.parametrize("gold", [{"agent_a_emotion": "relief"}, {"agent_b_emotion": "anger"}])
def test_a_stated_polarity_must_agree_with_the_gold(polarity: str, fine: bool, gold: dict[str, str]) -> None:
    row = {**BARE, **gold, "agent_a_polarity": polarity}
    if fine:
        assert to_item(Scene.model_validate(row), 0).inputs["polarity_A"] == polarity
    else:
        assert "agent_a_polarity" in messages(row)


@pytest.mark.parametrize(("written", "read"), [("Non-physical", "non_physical"), ("PHYSICAL", "physical")])
def test_modes_are_read_in_any_case_and_with_any_separator(written: str, read: str) -> None:
    assert scene(mode=written).mode == read


@pytest.mark.parametrize("kind", SCENARIO_TYPES)
def test_every_scenario_type_is_known(kind: str) -> None:
    assert scene(scenario_type=kind.replace("_", " ")).scenario_type == kind


def test_unknown_modes_and_types_are_refused_with_the_allowed_ones() -> None:
    assert all(mode in messages({**FULL, "mode": "mental"}) for mode in MODES)
    assert all(kind in messages({**FULL, "scenario_type": "feud"}) for kind in SCENARIO_TYPES)


def test_numbers_are_read_as_ids_but_not_as_sentences() -> None:
    assert scene(id=12).id == "12"
    assert "id" in messages({**FULL, "id": True})
    assert "sentence" in messages({**FULL, "sentence": 12})


def test_other_fields_are_not_used_and_named(tmp_path: Path) -> None:
    path = tmp_path / "scenes.jsonl"
    path.write_text(json.dumps({**FULL, "annotator": 3}), encoding="utf-8")
    assert load(str(path), {}).ignored == ("annotator",)


def test_load_reads_a_file_in_order_and_with_other_column_names(tmp_path: Path) -> None:
    rows = [{**FULL, "id": name, "text": f"The gate {name}."} for name in ("x", "y")]
    for row in rows:
        del row["sentence"]
    file = tmp_path / "scenes.jsonl"
    file.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    items = load(str(file), {"sentence": "text"})
    assert [(item.id, item.index, item.inputs["sentence"]) for item in items] == [
        ("x", 0, "The gate x."),
        ("y", 1, "The gate y."),
    ]


def test_load_names_every_bad_row(tmp_path: Path) -> None:
    rows = [
        {**FULL, "id": "fine"},
        {**FULL, "id": "twins", "agent_b_role": "the guard"},
        {**FULL, "id": "label", "agent_b_emotion": "hunger"},
        {**FULL, "id": "polarity", "agent_b_emotion": "joy"},
        {**FULL, "id": "fine"},
    ]
    file = tmp_path / "scenes.jsonl"
    file.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    with pytest.raises(UserError) as caught:
        load(str(file), {})
    text = str(caught.value)
    assert str(file) in text
    for line in (2, 3, 4, 5):
        assert f"line {line}" in text
    assert "line 1:" not in text
