from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affectlab.errors import UserError
from affectlab.labels import Label, LabelSpace, fold, load


def space(*labels: Label, groups: tuple[str, ...] = (), components: tuple[str, ...] = ()) -> LabelSpace:
    return LabelSpace("test", "Test", "1", "made up", labels, groups, components)


def label(label_id: str, *aliases: str, group: str = "", parts: tuple[str, ...] = ()) -> Label:
    return Label(label_id, {"en": label_id.title()}, aliases, group=group, parts=parts)


@pytest.mark.parametrize(
    ("written", "folded"),
    [
        ("Formulaic Positive", "formulaic positive"),
        ("formulaic_positive", "formulaic positive"),
        ("  Formulaic–positive ", "formulaic positive"),
        ("ＪＯＹ", "joy"),
        ("STRASSE", "strasse"),
        ("Straße", "strasse"),
        ("_ -", ""),
    ],
)
def test_fold(written: str, folded: str) -> None:
    assert fold(written) == folded


@given(st.text())
def test_folding_twice_changes_nothing_more_for_lookup(text: str) -> None:
    made = space(Label("x", {"en": "x " + text}))
    assert made.resolve("x " + text) == "x"
    assert made.resolve(("x " + text).replace(" ", "_")) == "x"


def test_order_index_and_membership() -> None:
    made = space(label("b"), label("a"))
    assert made.ids == ("b", "a")
    assert [made.index(i) for i in made.ids] == [0, 1]
    assert "a" in made
    assert "A" not in made
    assert len(made) == 2
    assert [each.id for each in made] == ["b", "a"]
    assert made["a"].id == "a"


def test_resolve_takes_ids_names_and_aliases_in_any_language() -> None:
    made = space(Label("joy", {"en": "Joy", "zh": "喜悦"}, ("happy",)))
    assert {made.resolve(form) for form in ("joy", "JOY", "喜悦", " Happy ", "ｊｏｙ")} == {"joy"}
    assert made.resolve("joyous") is None
    assert made["joy"].forms == ("Joy", "喜悦", "happy", "joy")
    assert made.forms() == {"joy": ("Joy", "喜悦", "happy", "joy")}


def test_require_names_near_and_allowed_labels() -> None:
    with pytest.raises(UserError, match=r"'angr' is not a label of 'chiaro10'; did you mean 'anger'\? Allowed: joy"):
        load("chiaro10").require("angr")


def test_index_of_unknown_id() -> None:
    with pytest.raises(UserError, match="not a label"):
        space(label("a")).index("A!")


def test_names_fall_back_to_english() -> None:
    made = space(Label("joy", {"en": "Joy", "zh": "喜悦"}), label("awe"))
    assert made.name_of("joy", "zh") == "喜悦"
    assert made.name_of("awe", "zh") == "Awe"


def test_groups() -> None:
    made = space(label("a", group="up"), label("b", group="down"), label("c", group="up"), groups=("up", "down"))
    assert made.by_group("up") == ("a", "c")
    assert made.group_of("b") == "down"
    with pytest.raises(UserError, match="no group 'left'; it has: up, down"):
        made.by_group("left")
    with pytest.raises(UserError, match="it has no groups"):
        space(label("a")).by_group("up")


def test_levels() -> None:
    scale = load("care_scale5")
    assert scale.at_level(4) == "somewhat_agree"
    with pytest.raises(UserError, match="levels are 1 to 5"):
        scale.at_level(0)
    with pytest.raises(UserError, match="not a numeric scale"):
        load("chiaro10").at_level(1)


def test_member_words_are_not_names() -> None:
    groups = load("care_positive10")
    assert groups.resolve("hopeful") is None
    assert groups.resolve_member("Hopeful") == "hopeful_optimistic_encouraged"
    assert groups.resolve("Hopeful, optimistic, encouraged") == "hopeful_optimistic_encouraged"
    assert groups.resolve_member("bored") is None


def test_a_word_of_two_groups_is_no_answer() -> None:
    one = Label("x", {"en": "glad, calm"}, members=("glad", "calm"))
    two = Label("y", {"en": "calm, quiet"}, members=("calm", "quiet"))
    assert space(one, two).resolve_member("calm") is None
    assert space(one, two).resolve_member("quiet") == "y"


def test_compose_refuses_what_is_no_pair() -> None:
    stances = load("cue_stance9")
    with pytest.raises(UserError, match="no label is made up of 'positive'; it takes cue_polarity3, cue_polarity3"):
        stances.compose("positive")
    with pytest.raises(UserError, match="not composed"):
        load("chiaro10").compose("joy")


@pytest.mark.parametrize(
    ("labels", "groups", "message"),
    [
        ((), (), "has no labels"),
        ((label("a"), label("a")), (), "more than once"),
        ((label("a", "same"), label("b", "SAME")), (), "names both 'a' and 'b'"),
        ((label("a", "B"), label("b")), (), "names both"),
        ((label("a", group="x"),), ("y",), "unknown group 'x'; declared groups: y"),
        ((label("a", group="x"),), (), "declares no groups"),
        ((label("a"),), ("y",), "unknown group ''"),
        ((Label("a", {"zh": "甲"}),), (), "no English name"),
        ((label("a", " - "),), (), "empty name or alias"),
        ((label("a", parts=("x",)),), (), "1 parts for 0 component spaces"),
    ],
)
def test_wrong_spaces_are_refused(labels: tuple[Label, ...], groups: tuple[str, ...], message: str) -> None:
    with pytest.raises(UserError, match=message):
        space(*labels, groups=groups)


def test_two_labels_of_the_same_parts_are_refused() -> None:
    with pytest.raises(UserError, match="make up both 'a' and 'b'"):
        space(label("a", parts=("x",)), label("b", parts=("x",)), components=("other",))


def test_prints_well() -> None:
    assert repr(load("plutchik8")) == "LabelSpace('plutchik8', 8 labels: joy, trust, fear, surprise, sadness, …)"
    html = LabelSpace("t", "<T>", "1", "s", (Label("a", {"en": "A & B"}),))._repr_html_()
    assert "&lt;T&gt;" in html
    assert "A &amp; B" in html


def test_spaces_travel_between_processes_and_serve_as_keys() -> None:
    one = load("cue_stance9")
    other = pickle.loads(pickle.dumps(one))
    assert other == one
    assert {one: 1}[other] == 1
    assert len({*one, *other}) == 9
    assert other.compose("neutral", "negative") == "veiled_negative"
