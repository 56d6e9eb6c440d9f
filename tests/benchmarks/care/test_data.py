"""Both published layouts, the bundled sample's, and everything that can be wrong in them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from affectlab.benchmarks.care import spaces
from affectlab.benchmarks.care.counterfactual import selected
from affectlab.benchmarks.care.data import load
from affectlab.benchmarks.care.record import labels_in, level_in
from affectlab.errors import UserError
from affectlab.items import source_digest


def chain(rating: str = "Somewhat agree", **more: Any) -> dict[str, Any]:
    return {
        "cognitive_questions": {
            "final_scenario": "The story, and why.",
            "summary_answers": {"previousStory": "x", "control": "Nothing could be done."},
        },
        "appraisal_ratings": {"relevance.bodily motives": rating, "control.general": "2"},
        "emotion_labels": {
            "positive_level": "0 - Not at all positive",
            "negative_level": "5 – Very negative",
            "positive_emotion_labels": [],
            "negative_emotion_labels": ["Sad, downhearted, unhappy", "Angry, frustrated, annoyed"],
        },
        **more,
    }


def record(**more: Any) -> dict[str, Any]:
    return {"story_collection": {"final_scenario": "It rained."}, **chain(), **more}


def put(root: Path, name: str, content: Any) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content), encoding="utf-8")


@pytest.fixture
def release(tmp_path: Path) -> Path:
    """A folder as the published code has it: two stories, observers of one, a counterfactual folder."""
    put(tmp_path, "first_person/7.json", record())
    put(tmp_path, "first_person/12.json", record())
    third = [chain("Strongly disagree", participant_id=11), chain("Strongly agree", participant_id=12)]
    put(tmp_path, "third_person/7.json", third)
    put(tmp_path, "counterfactual/relevance.bodily motives/7.json", third[:1])
    return tmp_path


def test_the_release_folder(release: Path) -> None:
    loaded = load(str(release), {}, {})
    assert [item.id for item in loaded] == ["12", "7"]
    item = loaded[1]
    assert item.gold == {
        "relevance.bodily_motives": 4,
        "control.general": 2,
        "positive_level": 0,
        "negative_level": 5,
        "positive_labels": (),
        "negative_labels": ("angry_frustrated_annoyed", "sad_downhearted_unhappy"),
        "core_control": "Nothing could be done.",
    }
    assert item.inputs["woven"] == "The story, and why."
    assert [one["id"] for one in item.inputs["observers"]] == ["11", "12"]
    assert selected(item) == {"11": ("relevance.bodily_motives",)}
    assert any("2 of 2 stories lack some of the 22 ratings" in note for note in loaded.notes)
    assert source_digest(str(release))


def test_one_list_gives_the_same_items(release: Path, tmp_path: Path) -> None:
    folder = load(str(release), {}, {})
    observers = json.loads((release / "third_person/7.json").read_text(encoding="utf-8"))
    put(tmp_path, "whole.json", [record(id=12), record(id="7", observers=observers)])
    whole = load(str(tmp_path / "whole.json"), {}, {})
    assert [item.gold for item in whole] == [item.gold for item in folder]
    assert [item.id for item in whole] == [item.id for item in folder]
    first, second = (items[1].inputs["observers"] for items in (folder, whole))
    assert [{**one, "listed": []} for one in first] == second


def test_a_list_inside_a_folder_and_a_folder_of_files_alone(tmp_path: Path) -> None:
    put(tmp_path / "a", "first_person.json", [record(participant_id="p1")])
    put(tmp_path / "a", "third_person/p1.json", [chain()])
    put(tmp_path / "b", "p1.json", record(participant_id="other"))
    both = [load(str(tmp_path / name), {}, {}) for name in "ab"]
    assert [items[0].id for items in both] == ["p1", "p1"]  # a file's name goes before what stands in it
    assert len(both[0][0].inputs["observers"]) == 1


def test_another_first_person_folder_by_name(release: Path) -> None:
    put(release, "first_person_500/7.json", record())
    assert [item.id for item in load(str(release), {}, {"first_person": "first_person_500"})] == ["7"]
    with pytest.raises(UserError, match="holds no nowhere/"):
        load(str(release), {}, {"first_person": "nowhere"})


def test_counterfactual_folders_alone_give_observers(release: Path) -> None:
    (release / "third_person/7.json").unlink()
    put(release, "counterfactual/control.general/7.json", [chain("Strongly disagree", participant_id=11)])
    loaded = load(str(release), {}, {})
    [observer] = loaded[1].inputs["observers"]
    assert observer["listed"] == ["control.general", "relevance.bodily_motives"]
    # control is rated 2 by both: it does not lie on the other side, whatever folder it stands in
    assert selected(loaded[1]) == {"11": ("relevance.bodily_motives",)}
    assert any("1 of 2 records in counterfactual folders" in note for note in loaded.notes)


def test_files_that_nothing_reads_are_named_and_suffixes_may_be_capitals(release: Path) -> None:
    (release / "first_person/7.json").rename(release / "first_person/7.JSON")
    put(release, "third_person.json", [chain(participant_id="12")])
    put(release, "info.json", {})
    loaded = load(str(release), {}, {})
    assert [item.id for item in loaded] == ["12", "7"]
    assert loaded.notes[0].startswith("2 JSON files of the folder are none that is read: info.json, third_person.json.")
    assert not any("no first-person record" in note for note in loaded.notes)


def test_misspelt_keys_are_named_and_what_is_missing_is_counted(tmp_path: Path) -> None:
    wrong = record(id="1", observers=[{**chain(), "emotion_labels": {"positive_Level": 1}, "age": 30}])
    wrong["emotion_labels"] = {"positiv_level": 3}
    wrong["cognitive_questions"] = {"finalScenario": "x", "summary_answers": {"Relevance": "x"}}
    wrong["stories"] = "top"
    put(tmp_path, "x.json", [wrong])
    loaded = load(str(tmp_path / "x.json"), {}, {})
    # previousStory stands in the release too and is not used.
    assert set(loaded.ignored) == {
        "stories",
        "emotion_labels.positiv_level",
        "cognitive_questions.finalScenario",
        "cognitive_questions.summary_answers.Relevance",
        "observers.emotion_labels.positive_Level",
        "observers.age",
        "observers.cognitive_questions.summary_answers.previousStory",
    }
    assert loaded.notes == tuple(
        f"1 of 1 stories lack some of the {what}; what there is, is scored."
        for what in ("22 ratings", "two levels and two label sets", "five core answers")
    )


def test_misspelt_keys_of_any_record_are_named(tmp_path: Path) -> None:
    second = record(id="2", observers=[{**chain(), "persona": {"age": 30}, "demographics": {"age": 31}}])
    put(tmp_path, "x.json", [{"id": "1", "story": "It rained."}, second])
    loaded = load(str(tmp_path / "x.json"), {}, {})
    assert loaded[1].inputs["observers"][0]["persona"] == ["age: 30"]
    assert loaded.ignored == (
        "cognitive_questions.summary_answers.previousStory",
        "observers.cognitive_questions.summary_answers.previousStory",
        "observers.demographics",  # a second name of the persona
    )


def test_who_the_writer_is_goes_into_no_item_and_is_named(tmp_path: Path) -> None:
    put(tmp_path, "x.json", [{"id": "1", "story": "It rained.", "demographics": {"age": 30}, "persona": "a nurse"}])
    loaded = load(str(tmp_path / "x.json"), {}, {})
    assert (loaded[0].inputs, loaded.ignored) == ({"story": "It rained."}, ("demographics", "persona"))


def test_two_stories_of_one_record_are_refused_unless_one_is_mapped(tmp_path: Path) -> None:
    """The one that was mapped is asked about, whatever the file has under our names."""
    file = tmp_path / "x.json"
    row = {"id": "1", "story": "It rained.", "story_collection": {"final_scenario": "It snowed."}}
    put(tmp_path, "x.json", [row])
    with pytest.raises(
        UserError, match=r"found 'It rained\.'; expected one story, not one in each of story_collection"
    ):
        load(str(file), {}, {})
    [item] = load(str(file), {"story": "story"}, {})
    assert item.inputs["story"] == "It rained."
    put(tmp_path, "x.json", [row | {"story": "It snowed."}])
    assert load(str(file), {}, {})[0].inputs["story"] == "It snowed."
    put(tmp_path, "x.json", [{"id": "1", "mine": "It hailed.", "story_collection": row["story_collection"]}])
    loaded = load(str(file), {"story": "mine"}, {})
    assert (loaded[0].inputs["story"], loaded.ignored) == ("It hailed.", ("story_collection",))


def test_one_statement_for_two_dimensions_is_refused(tmp_path: Path) -> None:
    statements = {name: f"Statement {place}" for place, name in enumerate(spaces.DIMENSIONS)}
    first, last = spaces.DIMENSIONS[0], spaces.DIMENSIONS[-1]
    put(tmp_path, "statements.json", {**statements, last: f" {statements[first].upper()}. "})
    put(tmp_path, "x.json", [record(id="1")])
    with pytest.raises(UserError, match=f"gives {first} and {last} the same statement"):
        load(str(tmp_path / "x.json"), {}, {"statements": str(tmp_path / "statements.json")})


@pytest.mark.parametrize(
    ("written", "read"),
    [("", None), (" ", None), (";", None), ([" "], None), ([], ()), ("None", ()), (["none"], ())],
)
def test_blank_label_sets_are_no_gold_and_no_empty_sets(tmp_path: Path, written: Any, read: Any) -> None:
    feelings = {**chain()["emotion_labels"], "positive_emotion_labels": written}
    put(tmp_path, "x.json", [record(id="1", emotion_labels=feelings)])
    (item,) = load(str(tmp_path / "x.json"), {}, {})
    assert item.gold.get("positive_labels") == read


def test_observers_of_no_story_are_counted(release: Path) -> None:
    put(release, "third_person/99.json", [chain()])
    assert "1 stories have observers' files but no first-person record" in load(str(release), {}, {}).notes[0]


def test_observers_without_a_name_are_told_apart_by_their_place(release: Path) -> None:
    put(release, "third_person/7.json", [chain("Strongly agree"), chain("Strongly disagree", participant_id=None)])
    observers = load(str(release), {}, {})[1].inputs["observers"]
    # the third stands in the counterfactual folder alone
    ratings = [(one["id"], one["answers"]["relevance.bodily_motives"]) for one in observers]
    assert ratings == [("1", 5), ("2", 1), ("11", 1)]


def test_two_observers_of_one_name_are_refused_and_not_dropped(release: Path, tmp_path: Path) -> None:
    twice = [chain("Strongly disagree", participant_id=11), chain("Somewhat disagree", participant_id=11)]
    put(release, "third_person/7.json", twice)
    put(tmp_path / "list", "x.json", [record(id=7, observers=twice)])
    for source in (release, tmp_path / "list/x.json"):
        with pytest.raises(UserError, match="not two under '11'"):
            load(str(source), {}, {})


def test_a_counterfactual_record_must_say_whose_it_is(release: Path) -> None:
    put(release, "counterfactual/relevance.bodily motives/7.json", [chain("Strongly disagree")])
    with pytest.raises(UserError, match=r"relevance.bodily motives/7.json, field participant_id: found nothing"):
        load(str(release), {}, {})
    twice = [chain(participant_id=11), chain(participant_id=11)]
    put(release, "counterfactual/relevance.bodily motives/7.json", twice)
    with pytest.raises(UserError, match="found '11'; expected each observer once"):
        load(str(release), {}, {})


def test_a_counterfactual_record_that_says_otherwise_is_counted(release: Path) -> None:
    put(release, "counterfactual/control.general/7.json", [chain("Strongly agree", participant_id=11)])
    loaded = load(str(release), {}, {})
    assert loaded[1].inputs["observers"][0]["answers"]["relevance.bodily_motives"] == 1
    assert any("1 records in counterfactual folders say otherwise" in note for note in loaded.notes)


def test_observers_stand_in_a_list_under_either_name(tmp_path: Path) -> None:
    for name in ("observers", "third_person"):
        put(tmp_path, "x.json", [record(id=1, **{name: [chain(participant_id="a")]})])
        assert [one["id"] for one in load(str(tmp_path / "x.json"), {}, {})[0].inputs["observers"]] == ["a"]


def test_observers_in_two_places_are_refused(release: Path) -> None:
    put(release, "first_person/7.json", record(observers=[chain(participant_id="a")]))
    with pytest.raises(UserError, match="not both"):
        load(str(release), {}, {})


def test_every_problem_is_named_with_its_file(release: Path) -> None:
    put(release, "first_person/12.json", record(appraisal_ratings={"control.general": "Agree"}))
    put(release, "counterfactual/relevance.moods/7.json", [chain()])
    with pytest.raises(UserError) as caught:
        load(str(release), {}, {})
    said = str(caught.value)
    assert "first_person/12.json, field appraisal_ratings.control.general: found 'Agree'; expected one of 1 - " in said
    assert "counterfactual/relevance.moods/7.json: found the folder 'relevance.moods'" in said


def test_a_statement_that_is_no_dimension_asks_for_the_statements(tmp_path: Path) -> None:
    put(tmp_path, "x.json", [record(id=1, appraisal_ratings={"My own words about it.": "Somewhat agree"})])
    with pytest.raises(UserError, match="--set statements=FILE"):
        load(str(tmp_path / "x.json"), {}, {})
    statements = {label.names["en"]: f"Statement of {label.id}." for label in spaces.APPRAISALS}
    put(tmp_path, "statements.json", {**statements, "control.general": "My own words about it"})
    [item] = load(str(tmp_path / "x.json"), {}, {"statements": str(tmp_path / "statements.json")})
    assert item.gold["control.general"] == 4
    assert item.inputs["statements"]["control.general"] == "My own words about it"


@pytest.mark.parametrize(
    ("content", "said"),
    [([], "JSON object"), ({"mood": "x"}, "mood"), ({"control.general": "x"}, "no statement for")],
)
def test_bad_statements_are_refused(tmp_path: Path, content: Any, said: str) -> None:
    put(tmp_path, "x.json", [record(id=1)])
    put(tmp_path, "statements.json", content)
    with pytest.raises(UserError, match=said):
        load(str(tmp_path / "x.json"), {}, {"statements": str(tmp_path / "statements.json")})


def test_an_encoder_that_cannot_be_had_is_refused_before_anything_is_asked(tmp_path: Path) -> None:
    put(tmp_path, "x.json", [record(id=1)])
    with pytest.raises(UserError, match="say which layer"):
        load(str(tmp_path / "x.json"), {}, {"bertscore": "some/model"})


@pytest.mark.parametrize(
    ("written", "level"),
    [
        ("4 - Somewhat agree", 4),
        ("4 – Somewhat agree", 4),
        ("somewhat agree", 4),
        (4, 4),
        ("4", 4),
        (2.0, 2),  # as tables with gaps have it
        ("2.0", 2),
        ("2.00 - Somewhat disagree", 2),
        ("", None),
    ],
)
def test_levels_are_read_in_any_spelling(written: Any, level: int | None) -> None:
    assert level_in(spaces.AGREEMENT, written) == level


@pytest.mark.parametrize(
    "written", ["4 - Somewhat disagree", "Agree", 6, 0, True, 3.5, "3.5", "2.05", 0.0, "six", "3 agree"]
)
def test_levels_that_are_none_are_refused(written: Any) -> None:
    with pytest.raises(ValueError, match="one of 1 - Strongly disagree"):
        level_in(spaces.AGREEMENT, written)


def test_label_sets_are_split_at_semicolons_only() -> None:
    positive = spaces.SETS["positive_labels"]
    both = ["grateful_appreciative_thankful", "glad_happy_joyful"]
    assert labels_in(positive, "Glad, happy, joyful; Grateful, appreciative, thankful") == both
    assert labels_in(positive, ["Glad, happy, joyful"] * 2) == ["glad_happy_joyful"]
    assert labels_in(positive, "None") == labels_in(positive, []) == []
    assert labels_in(positive, None) is None
    for wrong in ("Glad", ["None", "Glad, happy, joyful"], 5):
        with pytest.raises(ValueError, match=r"groups of|a list"):
            labels_in(positive, wrong)
