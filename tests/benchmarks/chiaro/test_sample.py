"""The bundled scenes: sound by every rule, balanced in every crossing, and no two alike."""

from __future__ import annotations

import json
from collections import Counter
from importlib.resources import files
from itertools import pairwise

import pytest

from affectlab.benchmarks.base import Asking
from affectlab.benchmarks.chiaro.lexicon import banned_terms, find_terms, leakage_terms
from affectlab.benchmarks.chiaro.people import role_prefix
from affectlab.benchmarks.chiaro.protocols import options
from affectlab.benchmarks.chiaro.record import MODES, SCENARIO_TYPES, Scene, load, to_item
from affectlab.benchmarks.chiaro.validate import find_spans, validate
from affectlab.items.duplicates import near_duplicates
from affectlab.labels import load as load_labels

SAMPLE = files("affectlab.benchmarks.chiaro") / "sample.jsonl"
ROWS = [json.loads(line) for line in SAMPLE.read_text(encoding="utf-8").splitlines()]
SCENES = [Scene.model_validate(row) for row in ROWS]
SPACE = load_labels("chiaro10")
POSITIVE, NEGATIVE = SPACE.by_group("positive"), SPACE.by_group("negative")


def emotions(scene: Scene) -> tuple[str, str]:
    assert scene.agent_a_emotion
    assert scene.agent_b_emotion
    return scene.agent_a_emotion, scene.agent_b_emotion


def pair(scene: Scene) -> tuple[str, str]:
    """The positive and the negative emotion of a scene."""
    a, b = emotions(scene)
    return (a, b) if a in POSITIVE else (b, a)


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.id)
def test_every_rule_holds(scene: Scene) -> None:
    assert validate(scene) == ()


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.id)
def test_no_word_gives_any_emotion_away(scene: Scene) -> None:
    text = " \n ".join([scene.sentence, scene.setting, scene.agent_a_role, scene.agent_b_role])
    every = [*banned_terms(), *(term for emotion in SPACE.ids for term in leakage_terms(emotion))]
    assert find_terms(text, every) == ()
    assert find_terms(text, SPACE.ids) == ()


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.id)
def test_spans_are_three_different_places_each_occurring_once(scene: Scene) -> None:
    spans = sorted(find_spans(scene).values())
    assert [span.occurrences for span in spans] == [1, 1, 1]
    assert all(left.end <= right.start for left, right in pairwise(spans))


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.id)
def test_agent_a_is_the_one_mentioned_first(scene: Scene) -> None:
    text = scene.sentence.casefold()
    assert text.find(role_prefix(scene.agent_a_role)[0]) < text.find(role_prefix(scene.agent_b_role)[0])


def test_ids_count_up() -> None:
    assert [scene.id for scene in SCENES] == [f"chiaro-sample-{number:03d}" for number in range(1, 61)]


def test_it_loads_as_sixty_items_with_gold_for_both_agents() -> None:
    items = load(str(SAMPLE), {})
    assert len(items) == 60
    assert all(set(item.gold) == {"A", "B"} for item in items)
    assert all(set(item.slices) == {"mode", "scenario_type"} for item in items)
    assert len({item.cluster for item in items}) == 60


def test_emotions_are_balanced_overall_and_in_every_crossing() -> None:
    slots = [(emotion, slot, scene) for scene in SCENES for slot, emotion in zip("AB", emotions(scene), strict=True)]
    # 120 slots: 12 for each of ten emotions, half of them agent A's, half of them in physical scenes.
    assert Counter(emotion for emotion, _, _ in slots) == dict.fromkeys(SPACE.ids, 12)
    by_slot = Counter((emotion, slot) for emotion, slot, _ in slots)
    by_mode = Counter((emotion, scene.mode) for emotion, _, scene in slots)
    by_type = Counter((emotion, scene.scenario_type) for emotion, _, scene in slots)
    assert (len(by_slot), set(by_slot.values())) == (20, {6})
    assert (len(by_mode), set(by_mode.values())) == (20, {6})
    assert (len(by_type), set(by_type.values())) == (60, {2})


def test_modes_and_types_are_balanced() -> None:
    counts = Counter((scene.scenario_type, scene.mode) for scene in SCENES)
    assert counts == {(kind, mode): 5 for kind in SCENARIO_TYPES for mode in MODES}


def test_every_pair_of_emotions_occurs_two_or_three_times() -> None:
    counts = Counter(pair(scene) for scene in SCENES)
    assert set(counts) == {(positive, negative) for positive in POSITIVE for negative in NEGATIVE}
    # 60 scenes over 25 pairs: fifteen pairs twice and ten three times.
    assert Counter(counts.values()) == {2: 15, 3: 10}


def test_the_position_of_the_positive_agent_carries_no_information() -> None:
    first = Counter((scene.mode, emotions(scene)[0] in POSITIVE) for scene in SCENES)
    assert first == {(mode, positive): 15 for mode in MODES for positive in (True, False)}
    types = Counter((scene.scenario_type, emotions(scene)[0] in POSITIVE) for scene in SCENES)
    assert set(types.values()) == {5}


def test_no_two_scenes_are_alike() -> None:
    assert near_duplicates({scene.id: scene.sentence for scene in SCENES}, threshold=0.35) == []
    assert len({scene.setting for scene in SCENES}) == 60
    roles = [role for scene in SCENES for role in (scene.agent_a_role, scene.agent_b_role)]
    assert len(set(roles)) == 120


def test_under_rotation_no_letter_favours_an_emotion() -> None:
    """Else a model that always says A would seem to know joy: each emotion is right 2 or 3 times at each letter."""
    right = Counter(
        (str(item.gold[slot]), letter)
        for item in (to_item(scene, index) for index, scene in enumerate(SCENES))
        for slot in ("A", "B")
        for letter, label in options(item, slot, Asking(), "").items()
        if label == item.gold[slot]
    )
    assert len(right) == 50
    assert set(right.values()) == {2, 3}
