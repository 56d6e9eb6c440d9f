"""Designs: the five that come along, and what is refused when a file is read."""

from __future__ import annotations

from pathlib import Path

import pytest

from affectlab.annotate.design_file import design_names, parse_design, read_design
from affectlab.annotate.keys import COMMANDS, shortcuts
from affectlab.annotate.sources import read_units
from affectlab.annotate.stages import scores, stages_before
from affectlab.annotate.words import LANGUAGES, interface
from affectlab.errors import UserError
from tests.annotate.support import STUDY, study

SAMPLES = Path(__file__).resolve().parents[2] / "src" / "affectlab" / "benchmarks"


def test_five_designs_come_along() -> None:
    assert design_names() == ("care", "chiaro", "cue", "decisions", "emoscene")


@pytest.mark.parametrize("name", ["care", "chiaro", "cue", "decisions", "emoscene"])
def test_designs_take_their_benchmarks_samples_without_their_gold(name: str) -> None:
    design = read_design(name)
    units = read_units(design, str(SAMPLES / name / "sample.jsonl"))
    assert len(units) >= 12
    shown = {shown.field for shown in design.shown}
    assert all(set(unit.fields) <= shown for unit in units)
    assert all(design.slot[slot].kind != "derived" for unit in units for slot in unit.options)


def test_chiaros_agents_get_five_options_each_of_opposite_polarity() -> None:
    design = read_design("chiaro")
    for unit in read_units(design, str(SAMPLES / "chiaro" / "sample.jsonl")):
        groups = [{option.group for option in unit.options[slot]} for slot in ("A", "B")]
        assert sorted(map(sorted, groups)) == [["negative"], ["positive"]]
        assert [len(unit.options[slot]) for slot in ("A", "B")] == [5, 5]


def test_cares_slots_are_those_of_the_benchmark() -> None:
    from affectlab.benchmarks.care import spaces

    design = read_design("care")
    assert {slot.id for slot in design.slots} == {*spaces.DIMENSIONS, *spaces.LEVELS, *spaces.SETS, *spaces.CORE}
    assert stages_before(design) == ["consent", "instructions", "q.demographics", "q.bigfive10", "story"]


@pytest.mark.parametrize("name", ["care", "chiaro", "cue", "decisions", "emoscene"])
def test_every_question_is_in_both_languages(name: str) -> None:
    design = read_design(name)
    slots = [*design.slots, *(slot for one in design.questionnaires for slot in one.slots)]
    for slot in slots:
        for words in (slot.title, *(option.names for option in slot.options), *slot.intensities):
            assert set(words) >= set(LANGUAGES), (slot.id, words)


def test_every_word_of_the_pages_is_in_both_languages() -> None:
    assert {name for name, words in interface().items() if set(words) != set(LANGUAGES)} == set()


def test_big_five_turns_answers_round() -> None:
    asked = next(one for one in read_design("care").questionnaires if one.id == "bigfive10")
    assert len(asked.slots) == 10
    values = {slot.id: 3 for slot in asked.slots} | {"seeks_people": 5, "talks_little": 1}
    # (5 + (1 + 5 - 1)) / 2 = 5; the others (3 + 3) / 2 = 3.
    assert scores(asked, values) == {
        "extraversion": 5.0,
        "agreeableness": 3.0,
        "conscientiousness": 3.0,
        "neuroticism": 3.0,
        "openness": 3.0,
    }
    assert scores(asked, {**values, "imagines": None})["openness"] is None


def slot(extra: str) -> str:
    return STUDY + "\n[[slots]]\n" + extra


ATTENTION = """
[[attention]]
id = "check"
fields = {{ text = "Choose." }}
expected = {{ {expected} }}
"""


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (slot('id = "mood"\nkind = "text"\ntitle = "Again"'), "two slots have the id mood"),
        (slot('id = "x"\nkind = "choice"\ntitle = "X"\noptions = [{ id = "a", names = "A" }]'), "at least two options"),
        (slot('id = "x"\nkind = "span"\nfield = "nothing"\ntitle = "X"'), "marks spans in nothing"),
        (slot('id = "x"\nkind = "text"\ntitle = "X"\nwhen = { slot = "later", equals = ["a"] }'), "rests on later"),
        (slot('id = "x"\nkind = "text"\ntitle = "X"\nupstream = "later"'), "upstream later"),
        (slot('id = "x"\nkind = "text"\ntitle = ""'), "text that is not empty"),
        (slot('id = "x y"\nkind = "text"\ntitle = "X"'), "pattern"),
        (slot('id = "x"\nkind = "text"\ntitle = "X"\ncolour = "red"'), "Extra inputs"),
        (slot('id = "x"\nkind = "number"\ntitle = "X"\nlow = 3\nhigh = 3'), "low below high"),
        (STUDY + ATTENTION.format(expected='mood = "happy"'), "not among the options"),
        (STUDY + ATTENTION.format(expected='nothing = "glad"'), "is no slot"),
        (STUDY + '[[pages]]\nslots = ["mood", "mood"]', "on two pages"),
        ("name = ", "not valid TOML"),
    ],
)
def test_designs_that_do_not_hold_together_are_refused(text: str, told: str) -> None:
    with pytest.raises(UserError, match=told):
        parse_design(text, "bad.toml", Path())


def test_unknown_designs_are_refused_with_the_nearest_name() -> None:
    with pytest.raises(UserError, match="did you mean chiaro"):
        read_design("chairo")


class TestKeys:
    def options(self, keys: dict[str, str]) -> str:
        rows = ", ".join(f'{{ id = "{name}", names = "{name}", key = "{key}" }}' for name, key in keys.items())
        return slot(f'id = "x"\nkind = "choice"\ntitle = "X"\noptions = [{rows}]')

    def test_twenty_five_options_have_a_key_each_and_none_of_the_pages(self) -> None:
        emotion = read_design("cue").slot["emotion"]
        keys = shortcuts(emotion, emotion.options)
        assert len(emotion.options) == len(set(keys.values())) == 25
        assert not set(keys.values()) & set(COMMANDS)

    def test_declared_keys_are_kept(self) -> None:
        found = parse_design(self.options({"a": "z", "b": "1", "c": ""}), "x.toml", Path()).slot["x"]
        assert shortcuts(found, found.options) == {"a": "z", "b": "1", "c": "2"}

    @pytest.mark.parametrize(
        "keys", [{"a": "z", "b": "z"}, {"a": "z", "b": "Z"}, {"a": "s", "b": "1"}, {"a": "?", "b": "1"}]
    )
    def test_keys_that_clash_are_refused(self, keys: dict[str, str]) -> None:
        with pytest.raises(UserError, match=r"reserved|both have the key"):
            parse_design(self.options(keys), "x.toml", Path())

    def test_the_key_of_none_of_these_is_free_where_there_is_no_such_option(self) -> None:
        keys = self.options({"a": "-", "b": "1"})
        found = parse_design(keys, "x.toml", Path()).slot["x"]
        assert shortcuts(found, found.options) == {"a": "-", "b": "1"}
        with pytest.raises(UserError, match="reserved"):
            parse_design(keys.replace('kind = "choice"', 'kind = "label_set"'), "x.toml", Path())


def test_a_design_survives_being_stored() -> None:
    for name in design_names():
        design = read_design(name)
        assert type(design).model_validate(design.model_dump(mode="json")) == design
    assert study() == study()
