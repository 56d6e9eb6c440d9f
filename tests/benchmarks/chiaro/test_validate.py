from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affectlab.benchmarks.chiaro.record import Scene
from affectlab.benchmarks.chiaro.validate import (
    CHECKS,
    MAX_CHARACTERS,
    Span,
    find_span,
    find_spans,
    single_cause_problem,
    valence_problem,
    validate,
)

SOUND = {
    "id": "s1",
    "setting": "Two friends wait at a pier.",
    "sentence": (
        "The last ferry departs with Ravi on board, a step ahead of the flood, and leaves Mei on the flooding pier."
    ),
    "agent_a_role": "Ravi, the passenger",
    "agent_b_role": "Mei, the woman on the pier",
    "agent_a_emotion": "relief",
    "agent_b_emotion": "fear",
    "mode": "physical",
    "scenario_type": "zero_sum",
    "cause_span": "The last ferry departs",
    "evidence_a": "a step ahead of the flood",
    "evidence_b": "leaves Mei on the flooding pier",
}


def scene(**changes: Any) -> Scene:
    return Scene.model_validate({**SOUND, **changes})


def with_sentence(text: str) -> Scene:
    """The sound scene with more text after its sentence, so that spans and roles stay in place."""
    return scene(sentence=f"{SOUND['sentence']} {text}")


def codes(checked: Scene, **switches: bool) -> list[str]:
    return [violation.code for violation in validate(checked, **switches)]


def test_a_sound_scene_breaks_no_rule() -> None:
    assert validate(scene()) == ()


BROKEN: list[tuple[str, str, Scene]] = [
    ("valence", "agent_a_emotion", scene(agent_a_emotion=None)),
    ("valence", "agent_a_emotion", scene(agent_b_emotion=None)),
    ("banned_term", "sentence", with_sentence("The guilt stays.")),
    ("banned_term", "setting", scene(setting="A joyful crowd waits.")),
    ("banned_term", "agent_b_role", scene(agent_b_role="Mei, the angry one")),
    ("leakage", "sentence", with_sentence("The mast trembles.")),
    ("leakage", "agent_a_role", scene(agent_a_role="Ravi, who sighs")),
    ("length", "sentence", with_sentence("x" * (MAX_CHARACTERS - len(SOUND["sentence"])))),
    ("people", "sentence", with_sentence("Then Carla jumps.")),
    ("people", "sentence", with_sentence("The captain steers.")),
    ("span", "cause_span", scene(cause_span=None)),
    ("span", "cause_span", scene(cause_span="the last ferry departs")),
    ("span", "evidence_a", scene(evidence_a="a step  ahead of the flood")),
    ("span", "evidence_b", scene(evidence_b="")),
    ("evidence_overlap", "evidence_b", scene(evidence_b="ahead of the flood, and leaves")),
    ("evidence_overlap", "evidence_b", scene(evidence_b="a step ahead of the flood")),
    ("role_collision", "agent_b_role", scene(agent_b_role="Ravi, called Mei")),
    ("role_absent", "agent_b_role", scene(agent_b_role="Mei the roommate")),
    ("single_cause", "sentence", with_sentence("It is late because it rains and because it snows.")),
    (
        "single_cause",
        "cause_effect_relation",
        scene(cause_effect_relation="Ravi is out, while the trouble of Mei comes from the rain."),
    ),
    ("agent_letter", "sentence", with_sentence("The turn is that of Agent B.")),
    ("agent_letter", "agent_a_role", scene(agent_a_role="Ravi, agent A")),
    ("dialogue", "sentence", with_sentence('A horn and then "all aboard".')),
    ("screen_text", "sentence", with_sentence("A screen reads boarding closed.")),
    ("metadata", "setting", scene(setting="")),
    ("metadata", "mode", scene(mode=None)),
    ("metadata", "scenario_type", scene(scenario_type=None)),
]


@pytest.mark.parametrize(("code", "field", "broken"), BROKEN)
def test_each_rule_is_broken_alone(code: str, field: str, broken: Scene) -> None:
    found = validate(broken)
    assert [(violation.code, violation.field) for violation in found] == [(code, field)]
    assert found[0].message


def test_every_check_is_broken_by_some_scene_above() -> None:
    assert {code for code, _, _ in BROKEN} == set(CHECKS)


def test_violations_come_in_the_order_of_the_checks() -> None:
    found = codes(scene(setting="", agent_a_emotion=None, evidence_a=None))
    assert found == ["valence", "span", "metadata"]


@pytest.mark.parametrize(("extra", "fine"), [(0, True), (1, False)])
@pytest.mark.parametrize("letter", ["x", "\u00e9", "\U0001f6a2"])
def test_length_counts_code_points_up_to_and_including_300(extra: int, fine: bool, letter: str) -> None:
    room = MAX_CHARACTERS - len(SOUND["sentence"]) - 1
    assert (codes(with_sentence(letter * (room + extra))) == []) is fine


def test_leakage_is_that_of_the_two_emotions_of_the_scene() -> None:
    assert codes(with_sentence("A voice cheers.")) == []
    assert codes(scene(sentence=f"{SOUND['sentence']} A voice cheers.", agent_a_emotion="joy")) == ["leakage"]


def test_the_positive_agent_may_be_asked_to_come_first() -> None:
    swapped = scene(agent_a_emotion="fear", agent_b_emotion="relief")
    assert codes(swapped) == []
    assert codes(swapped, positive_first=True) == ["polarity_order"]
    assert codes(scene(), positive_first=True) == []


@pytest.mark.parametrize(
    "text", ["\u201call aboard\u201d", "\u00aball\u00bb", "\u300c\u5feb\u300d", "'all aboard!'", "\u2018go\u2019"]
)
def test_quotation_marks_of_many_kinds_are_dialogue(text: str) -> None:
    assert codes(with_sentence(f"A voice: {text}")) == ["dialogue"]


@pytest.mark.parametrize("text", ["It is ten o'clock at the sailors' inn.", "It is the boat\u2019s last trip."])
def test_apostrophes_are_no_dialogue(text: str) -> None:
    assert codes(with_sentence(text)) == []


@pytest.mark.parametrize("text", ["It meets an agent a mile away.", "The agents are out."])
def test_the_word_agent_alone_is_fine(text: str) -> None:
    assert codes(with_sentence(text)) == []


@pytest.mark.parametrize(
    ("emotions", "fine"),
    [
        (["joy", "fear"], True),
        (["fear", "joy"], True),
        (["Joy", "FEAR"], True),
        (["joy", "relief"], False),
        (["anger", "fear"], False),
        (["joy"], False),
        (["joy", "fear", "pride"], False),
        ([], False),
        (["joy", "hunger"], False),
        (["joy", None], False),
    ],
)
def test_valence(emotions: list[str | None], fine: bool) -> None:
    assert (valence_problem(emotions) is None) is fine


@pytest.mark.parametrize(
    ("text", "fine"),
    [
        ("The ferry departs because the flood comes.", True),
        ("The ferry departs while Mei waits.", True),
        ("Ravi sits because it departs, Mei stays Because it is full.", False),
        ("Ravi boards while Mei's trouble\ncomes from the rain.", False),
        ("Ravi boards, whereas it stems from the rain for Mei.", False),
        ("It comes from the rain.", True),
    ],
)
def test_single_cause(text: str, fine: bool) -> None:
    assert (single_cause_problem(text) is None) is fine


@pytest.mark.parametrize(
    ("sentence", "span", "found"),
    [
        ("A cup falls. A cup falls.", "A cup falls.", Span(0, 12, 2)),
        ("A cup falls.", "cup", Span(2, 5, 1)),
        ("aaa", "aa", Span(0, 2, 2)),
        ("A cup (blue) falls.", "(blue)", Span(6, 12, 1)),
        ("\U0001f6a2 departs", "departs", Span(2, 9, 1)),
        ("A cup falls.", "a cup", None),
        ("A cup\u2019s edge", "cup's", None),
        ("A cup falls.", "", None),
    ],
)
def test_spans_are_exact_and_the_first_is_taken(sentence: str, span: str, found: Span | None) -> None:
    assert find_span(sentence, span) == found


@given(st.text(max_size=40), st.text(min_size=1, max_size=5), st.text(max_size=40))
def test_a_span_found_is_what_stands_at_its_offsets(before: str, span: str, after: str) -> None:
    sentence = before + span + after
    found = find_span(sentence, span)
    assert found is not None
    assert sentence[found.start : found.end] == span
    assert found.start == sentence.find(span)
    assert found.occurrences >= 1


def test_offsets_of_a_scene_leave_out_what_is_not_there() -> None:
    located = find_spans(scene(evidence_a=None, evidence_b="elsewhere"))
    assert located == {"cause_span": Span(0, 22, 1)}
