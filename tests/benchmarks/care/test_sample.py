"""The bundled stories: whole, unlike each other, with observers who differ."""

from __future__ import annotations

import json
from importlib.resources import as_file

from affectlab.benchmarks.care import BENCHMARK, spaces
from affectlab.benchmarks.care.counterfactual import selected
from affectlab.benchmarks.care.people import ASKED
from affectlab.items import Loaded
from affectlab.items.duplicates import near_duplicates
from affectlab.labels import load as load_labels


def sample() -> Loaded:
    with as_file(BENCHMARK.sample) as path:
        return BENCHMARK.load(str(path), {}, {})


def test_twelve_whole_chains_with_five_whole_observers_each() -> None:
    items = sample()
    assert len(items) == 12
    assert (items.notes, items.ignored) == ((), ())
    for item in items:
        assert set(item.gold) == set(ASKED)
        assert len({one["id"] for one in item.inputs["observers"]}) == 5
        for observer in item.inputs["observers"]:
            assert set(observer["answers"]) == set(ASKED)
            assert observer["persona"]


def test_stories_do_not_name_a_feeling_of_the_lists_nor_hold_digits() -> None:
    words = {word.casefold() for space in spaces.SETS.values() for label in space for word in label.members}
    for item in sample():
        said = {word.strip(".,:;?!'").casefold() for word in item.inputs["story"].split()}
        assert not said & words
        assert not any(char.isdigit() for char in item.inputs["story"])
        assert 50 <= len(item.inputs["story"].split()) <= 110


def test_every_label_and_every_level_of_agreement_occurs() -> None:
    items = sample()
    for slot, space in spaces.SETS.items():
        assert {label for item in items for label in item.gold[slot]} == set(space.ids)  # type: ignore[union-attr]
    assert {item.gold[dimension] for item in items for dimension in spaces.DIMENSIONS} == {1, 2, 3, 4, 5}


def test_observers_differ_from_the_writer_and_from_each_other() -> None:
    for item in sample():
        ratings = [tuple(one["answers"][d] for d in spaces.DIMENSIONS) for one in item.inputs["observers"]]
        assert len(set(ratings)) == 5
        assert sum(map(len, selected(item).values())) >= 10


def test_no_two_texts_are_alike() -> None:
    texts: dict[str, str] = {}
    for item in sample():
        texts[item.id] = item.inputs["story"]
        texts |= {f"{item.id} {slot}": str(item.gold[slot]) for slot in spaces.CORE}
        for one in item.inputs["observers"]:
            texts |= {f"{item.id} {one['id']} {slot}": one["answers"][slot] for slot in spaces.CORE}
    assert len(set(texts.values())) == len(texts)
    assert list(near_duplicates(texts, 0.8)) == []


def test_a_label_chosen_goes_with_a_level_above_nothing() -> None:
    for item in sample():
        for answers in (item.gold, *(one["answers"] for one in item.inputs["observers"])):
            for side in ("positive", "negative"):
                assert bool(answers[f"{side}_labels"]) <= (answers[f"{side}_level"] > 0)


def test_the_sample_is_plain_records_of_the_published_shape() -> None:
    rows = [json.loads(line) for line in BENCHMARK.sample.read_text("utf-8").splitlines()]
    assert set(rows[0]) >= {"story_collection", "cognitive_questions", "appraisal_ratings", "emotion_labels"}
    names = {label.names["en"] for label in load_labels("care_appraisal22")}
    assert set(rows[0]["appraisal_ratings"]) == names
