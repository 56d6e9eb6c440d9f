from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from affectlab.errors import UserError
from affectlab.labels import (
    Label,
    LabelSpace,
    available,
    available_mappings,
    catalogue,
    fold,
    load,
    load_mapping,
    read_mapping,
    read_space,
)

SIZES = {
    "basic6_neutral": 7,
    "care_appraisal22": 22,
    "care_level_negative7": 7,
    "care_level_positive7": 7,
    "care_negative10": 10,
    "care_positive10": 10,
    "care_scale5": 5,
    "chiaro10": 10,
    "cue_emotion25": 25,
    "cue_intent8": 8,
    "cue_plutchik9": 9,
    "cue_polarity3": 3,
    "cue_stance9": 9,
    "goemotions28": 28,
    "plutchik8": 8,
}


@pytest.fixture
def plugins(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, EntryPoint]]:
    found: dict[str, EntryPoint] = {}
    monkeypatch.setattr(catalogue, "_plugins", lambda: found)
    load.cache_clear()
    yield found
    load.cache_clear()


def test_every_space_is_there_with_its_size() -> None:
    assert {name: len(load(name)) for name in available()} == SIZES


@pytest.mark.parametrize("name", SIZES)
def test_file_name_is_the_name_and_every_form_means_one_label(name: str) -> None:
    space = load(name)
    assert space.name == name
    owners: dict[str, set[str]] = {}
    for label in space:
        for form in label.forms:
            owners.setdefault(fold(form), set()).add(label.id)
    assert all(len(ids) == 1 for ids in owners.values())
    assert all(space.resolve(form) == label.id for label in space for form in label.forms)


@pytest.mark.parametrize(
    "name", [n for n in SIZES if n.startswith("cue_")] + ["chiaro10", "plutchik8", "basic6_neutral"]
)
def test_chinese_names(name: str) -> None:
    assert all("zh" in label.names for label in load(name))


def test_loading_twice_gives_the_same_object() -> None:
    assert load("chiaro10") is load("chiaro10")


def test_chiaro_has_five_and_five_with_triggers() -> None:
    space = load("chiaro10")
    assert space.by_group("positive") == ("joy", "pride", "relief", "gratitude", "excitement")
    assert space.by_group("negative") == ("anger", "sadness", "fear", "disgust", "embarrassment")
    assert all(label.definition for label in space)


def test_goemotions_order_and_sentiment_groups() -> None:
    space = load("goemotions28")
    # Index 27 is neutral, 17 joy and 14 fear in the released files.
    assert (space.index("neutral"), space.index("joy"), space.index("fear")) == (27, 17, 14)
    assert {g: len(space.by_group(g)) for g in space.groups} == {
        "positive": 12,
        "negative": 11,
        "ambiguous": 4,
        "neutral": 1,
    }


# The matrix as facts/cue.md and Figure 2 of CUE-Bench give it: explicit, implicit, stance.
MATRIX = [
    ("positive", "positive", "Positive"),
    ("positive", "neutral", "Formulaic Positive"),
    ("positive", "negative", "Sarcastic Negative"),
    ("neutral", "positive", "Understated Positive"),
    ("neutral", "neutral", "Neutral"),
    ("neutral", "negative", "Veiled Negative"),
    ("negative", "positive", "Affiliative Positive"),
    ("negative", "neutral", "Reportive Negative"),
    ("negative", "negative", "Negative"),
]


@pytest.mark.parametrize(("explicit", "implicit", "stance"), MATRIX)
def test_stance_matrix(explicit: str, implicit: str, stance: str) -> None:
    stances = load("cue_stance9")
    assert stances.compose(explicit, implicit) == stances.require(stance)
    assert stances[stances.require(stance)].parts == (explicit, implicit)


def test_stance_components_are_polarities() -> None:
    stances = load("cue_stance9")
    assert stances.components == ("cue_polarity3", "cue_polarity3")
    assert all(part in load("cue_polarity3") for label in stances for part in label.parts)


def test_care_spaces() -> None:
    appraisals = load("care_appraisal22")
    assert {g: len(appraisals.by_group(g)) for g in appraisals.groups} == {
        "relevance": 6,
        "certainty": 4,
        "congruence": 4,
        "control": 4,
        "accountability": 4,
    }
    assert appraisals.resolve("relevance.bodily motives") == "relevance.bodily_motives"
    assert [label.level for label in load("care_scale5")] == [1, 2, 3, 4, 5]
    for polarity in ("positive", "negative"):
        level = load(f"care_level_{polarity}7")
        assert [label.level for label in level] == list(range(7))
        assert level.name_of("quite_a_bit") == f"Quite a bit {polarity}"
        groups = load(f"care_{polarity}10")
        assert all(", ".join(label.members) == label.names["en"] for label in groups)
        assert all(len(ids) == 1 for ids in groups.member_lookup.values())


def test_unknown_names_give_near_ones() -> None:
    with pytest.raises(UserError, match=r"no label space 'chairo10'; did you mean chiaro10"):
        load("chairo10")
    with pytest.raises(UserError, match=r"no mapping 'x'; There are: goemotions28"):
        load_mapping("x")


def test_mappings_cover_their_source() -> None:
    assert available_mappings() == ("goemotions28_to_basic6_neutral", "goemotions28_to_chiaro10")
    for name in available_mappings():
        mapping = load_mapping(name)
        assert sorted((*mapping.pairs, *mapping.dropped)) == sorted(load("goemotions28").ids)
        assert set(mapping.reasons) == set(load("goemotions28").ids)


# Table 7 of Chiaro: the eighteen categories it does not retain.
DISCARDED = {
    "admiration": "gratitude",
    "amusement": "joy",
    "annoyance": "anger",
    "approval": "gratitude",
    "caring": "gratitude",
    "desire": "excitement",
    "disappointment": "sadness",
    "disapproval": "disgust",
    "grief": "sadness",
    "love": "gratitude",
    "nervousness": "fear",
    "optimism": "excitement",
    "remorse": "embarrassment",
    "surprise": None,
    "curiosity": None,
    "realization": None,
    "confusion": None,
    "neutral": None,
}


def test_chiaro_discard_mapping_is_table_7() -> None:
    mapping = load_mapping("goemotions28_to_chiaro10")
    assert {source: mapping.apply(source) for source in DISCARDED} == DISCARDED
    assert all(mapping.apply(retained) == retained for retained in load("chiaro10").ids)
    assert mapping.reasons["remorse"] == "appraisal overlap"
    assert mapping.reasons["amusement"] == "cluster deduplication"
    assert mapping.reasons["grief"] == "intensity sibling"
    assert mapping.reasons["neutral"] == "not an emotion"


GOOD = 'name = "t"\ntitle = "T"\nversion = "1"\nsource = "s"\n[[label]]\nid = "a"\nen = "A"\n'


def write(folder: Path, text: str | bytes) -> Path:
    path = folder / "space.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_a_file_of_ones_own(tmp_path: Path) -> None:
    path = write(tmp_path, GOOD + 'zh = "甲"\naliases = ["alpha"]\n')
    assert load(str(path)).resolve("甲") == "a"
    assert read_space(path).resolve("Alpha") == "a"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name = ", "not valid TOML"),
        (b'name = "\xff"', "not UTF-8 at byte 8"),
        ('name = "t"\n', "lacks label, source, title, version"),
        (GOOD + 'colour = "red"\n', "label 'a' has unknown colour"),
        ("extra = 1\n" + GOOD, "the file has unknown extra"),
        (GOOD + "[[label]]\nid = 'a'\nen = 'B'\n", "more than once"),
        (GOOD + "[[label]]\nid = 'b'\nen = 'A'\n", "names both 'a' and 'b'"),
        (GOOD + "group = 'x'\n", "declares no groups"),
        ("groups = ['y']\n" + GOOD + "group = 'x'\n", "unknown group 'x'"),
        (GOOD + "aliases = 'x'\n", "aliases must be a list of strings"),
        (GOOD + "level = true\n", "level must be a whole number"),
        (GOOD + "[[label]]\nen = 'B'\n", "lacks id"),
        (GOOD.replace('"A"', '""'), "en must be a non-empty string"),
        (GOOD.split("[[")[0] + "label = 3\n", "write each label as"),
    ],
)
def test_wrong_files_are_refused_by_name(tmp_path: Path, text: str | bytes, message: str) -> None:
    with pytest.raises(UserError, match=message) as caught:
        read_space(write(tmp_path, text))
    assert str(caught.value).count("space.toml") == 1


def test_missing_file_and_directory(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"none\.toml: cannot be read"):
        load(str(tmp_path / "none.toml"))
    with pytest.raises(UserError, match="cannot be read"):
        read_space(tmp_path)


MAPPING = 'name = "m"\nsource = "care_scale5"\ntarget = "cue_polarity3"\n'
PAIRS = "".join(
    f'[[pair]]\nfrom = "{source}"\nto = "negative"\n'
    for source in ("strongly_disagree", "somewhat_disagree", "somewhat_agree", "strongly_agree")
)
DROP = '[[pair]]\nfrom = "neither_agree_nor_disagree"\n'


def test_mapping_of_ones_own(tmp_path: Path) -> None:
    mapping = read_mapping(write(tmp_path, MAPPING + PAIRS + DROP))
    assert mapping.dropped == ("neither_agree_nor_disagree",)
    assert mapping.apply("strongly_agree") == "negative"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (MAPPING + PAIRS, "'neither_agree_nor_disagree' of 'care_scale5' is not covered"),
        (MAPPING + PAIRS + DROP + DROP, "mapped more than once"),
        (MAPPING + PAIRS.replace("negative", "bad") + DROP, "'bad' is not a label of 'cue_polarity3'"),
        (MAPPING + PAIRS + DROP + '[[pair]]\nfrom = "x"\n', "'x' is not a label of 'care_scale5'"),
        (MAPPING.replace("cue_polarity3", "cue_polarity") + PAIRS + DROP, "no label space 'cue_polarity'"),
        (MAPPING + PAIRS + DROP + "why = 1\n", "has unknown why"),
    ],
)
def test_wrong_mappings_are_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        read_mapping(write(tmp_path, text))


THEIRS = LabelSpace("theirs", "Theirs", "1", "a package", (Label("a", {"en": "A"}),))
PATH = str(Path(catalogue.__file__).with_name("spaces") / "plutchik8.toml")
NUMBER = 3


def entry(name: str, attribute: str) -> EntryPoint:
    return EntryPoint(name, f"{__name__}:{attribute}", catalogue.ENTRY_POINT_GROUP)


def test_packages_bring_their_own(plugins: dict[str, EntryPoint], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(EntryPoint, "load", lambda self: globals()[self.value.split(":")[1]])
    plugins["theirs"] = entry("theirs", "THEIRS")
    assert available() == (*sorted(SIZES), "theirs")
    assert load("theirs") is THEIRS
    plugins["copy"] = entry("copy", "PATH")
    with pytest.raises(UserError, match="gives the label space 'plutchik8'; both names must be the same"):
        load("copy")
    plugins["number"] = entry("number", "NUMBER")
    with pytest.raises(UserError, match="gives a int; it must give a LabelSpace or the path"):
        load("number")


def test_a_package_that_cannot_be_loaded(plugins: dict[str, EntryPoint]) -> None:
    plugins["broken"] = EntryPoint("broken", "no_such_module_at_all:X", catalogue.ENTRY_POINT_GROUP)
    with pytest.raises(UserError, match=r"entry point 'broken'.*cannot be loaded"):
        load("broken")


def test_a_package_may_not_take_a_bundled_name(plugins: dict[str, EntryPoint]) -> None:
    plugins["chiaro10"] = entry("chiaro10", "THEIRS")
    with pytest.raises(UserError, match="a name affectlab uses itself"):
        available()
    assert len(load("chiaro10")) == 10


def test_importing_loads_nothing_heavy() -> None:
    code = (
        "import sys, affectlab.labels, affectlab.items; affectlab.labels.load('chiaro10');"
        "print(sorted({'numpy', 'pydantic', 'torch', 'importlib.metadata'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
