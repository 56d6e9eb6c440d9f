"""Flat tables and columns of other names as CAREBench's records; the page's own examples load."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from affectlab.benchmarks.care import spaces
from affectlab.benchmarks.care.data import load
from affectlab.errors import UserError

DOCS = Path(__file__).parents[3] / "docs" / "care.md"
STORY = "It rained on my day off."


def test_a_table_of_stories_and_ratings(tmp_path: Path) -> None:
    file = tmp_path / "x.csv"
    file.write_text(
        "pid,story,q1,appraisal_ratings.relevance.bodily motives,pos,persona.age,why,note\n"
        f"a,{STORY},4,2 - Somewhat disagree,Somewhat,41,Nobody made it rain,x\n"
        f"b,{STORY},,1,,,,\n",
        encoding="utf-8",
    )
    fields = {
        "id": "pid",
        "appraisal_ratings.relevance.goals": "q1",
        "emotion_labels.positive_emotion_labels": "pos",
        "cognitive_questions.summary_answers.accountability": "why",
    }
    with pytest.raises(UserError, match=r"emotion_labels\.positive_emotion_labels"):
        load(str(file), fields, {})  # "Somewhat" is no group
    text = file.read_text(encoding="utf-8").replace(",Somewhat,41", ',"Hopeful, optimistic, encouraged; Proud",41')
    file.write_text(text.replace("; Proud", "; Proud, confident, determined"), encoding="utf-8")
    loaded = load(str(file), fields, {})
    first, second = loaded
    assert first.gold == {
        "relevance.goals": 4,
        "relevance.bodily_motives": 2,
        "positive_labels": ("hopeful_optimistic_encouraged", "proud_confident_determined"),
        "core_accountability": "Nobody made it rain",
    }
    assert first.inputs["story"] == STORY
    assert second.gold == {"relevance.bodily_motives": 1}  # empty cells are no answers
    assert loaded.ignored == ("persona.age", "note")  # who the writer is, is told to no model


def test_objects_of_other_names(tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    row = {"pid": 1, "told": {"text": STORY}, "reasons": {"control": "None."}, "ratings": {"control.general": 1}}
    file.write_text(json.dumps([row]), encoding="utf-8")
    fields = {
        "id": "pid",
        "story": "told.text",
        "cognitive_questions.summary_answers": "reasons",
        "appraisal_ratings": "ratings",
    }
    [item] = load(str(file), fields, {})
    assert (item.inputs["story"], item.gold) == (STORY, {"core_control": "None.", "control.general": 1})


def test_a_dotted_column_joins_the_object_that_is_there(tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    row = {"id": "1", "story": STORY, "appraisal_ratings": {"control.general": 1}, "q": 5}
    file.write_text(json.dumps([row]), encoding="utf-8")
    [item] = load(str(file), {"appraisal_ratings.control.select": "q"}, {})
    assert item.gold == {"control.general": 1, "control.select": 5}


def test_a_column_does_not_take_the_place_of_another(tmp_path: Path) -> None:
    """What was mapped does, of a value; text around it is never thrown away."""
    file = tmp_path / "x.json"
    row: dict[str, object] = {"id": "1", "story": STORY, "appraisal_ratings": {"control.general": 1}}

    def loaded(fields: dict[str, str], **more: object) -> object:
        file.write_text(json.dumps([{**row, **more}]), encoding="utf-8")
        return load(str(file), fields, {})[0].gold

    with pytest.raises(UserError) as caught:
        loaded({}, **{"emotion_labels": "glad", "emotion_labels.positive_level": 3})
    assert "emotion_labels.positive_level: found 3; expected nothing, as emotion_labels is 'glad' already" in str(
        caught.value
    )
    assert "field emotion_labels: found 'glad'; expected an object" in str(caught.value)
    with pytest.raises(UserError, match=r"expected nothing, as story_collection is 'Told\.' already"):
        loaded({}, **{"story": "", "story_collection": "Told.", "story_collection.final_scenario": "Other."})
    with pytest.raises(
        UserError, match=r"found 2; expected nothing, as appraisal_ratings\.control\.general is 1 already"
    ):
        loaded({}, **{"appraisal_ratings.control.general": 2})
    assert loaded({}, **{"appraisal_ratings.control.general": 1}) == {"control.general": 1}
    assert loaded({"appraisal_ratings.control.general": "q"}, q=2) == {"control.general": 2}
    assert loaded({}, **{"emotion_labels": "", "emotion_labels.positive_level": 3})["positive_level"] == 3  # type: ignore[index]


def test_a_statement_may_be_mapped_where_statements_are_given(tmp_path: Path) -> None:
    said = {dimension: f"Statement {number} about it." for number, dimension in enumerate(spaces.DIMENSIONS)}
    statements, file = tmp_path / "st.json", tmp_path / "x.csv"
    statements.write_text(json.dumps(said), encoding="utf-8")
    file.write_text(f"id,story,s1\na,{STORY},3\n", encoding="utf-8")
    fields = {"appraisal_ratings.Statement 1 about it": "s1"}
    [item] = load(str(file), fields, {"statements": str(statements)})
    assert item.gold == {spaces.DIMENSIONS[1]: 3}
    with pytest.raises(UserError, match=r"there is no 'appraisal_ratings\.Statement 1 about it' in a record"):
        load(str(file), fields, {})


@pytest.mark.parametrize(
    "name",
    [
        "persona.age",
        "emotion_labels.positiv_level",
        "appraisal_ratings.joy",
        "story.x",
        "observers.0",
        "appraisal_ratings.",
    ],
)
def test_a_name_that_leads_nowhere_is_refused(tmp_path: Path, name: str) -> None:
    file = tmp_path / "x.json"
    file.write_text(json.dumps([{"id": "1", "story": STORY, "q": 5}]), encoding="utf-8")
    with pytest.raises(UserError, match=re.escape(f"--map {name}=q: there is no {name!r} in a record.")):
        load(str(file), {name: "q"}, {})


@pytest.mark.parametrize("suffix", ["json", "csv"])
def test_the_examples_of_the_page_load(tmp_path: Path, suffix: str) -> None:
    page = DOCS.read_text(encoding="utf-8")
    example = re.search(rf"```{suffix}\n(.+?)```", page, re.DOTALL)
    assert example is not None
    file = tmp_path / f"x.{suffix}"
    file.write_text(example[1], encoding="utf-8")
    loaded = load(str(file), {}, {})
    assert loaded.ignored == ()
    assert len(loaded) == {"json": 1, "csv": 2}[suffix]
    if suffix == "json":
        [item] = loaded
        assert len(item.gold) == 2 + 4 + 5
        assert item.inputs["observers"][0]["answers"].keys() == item.gold.keys()
        assert item.inputs["observers"][0]["persona"] == ["age: 52", "big five, openness: 3 of 5"]
