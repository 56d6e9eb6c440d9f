from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from affectlab.errors import UserError
from affectlab.items.duplicates import Pair, count_kinds, fold_text, leakage, near_duplicates


def test_kinds() -> None:
    texts = {"a": "Good luck, buddy", "b": "good  LUCK, buddy ", "c": "Good luck, buddy", "d": "Good luck, buddy!"}
    # 16 characters give 14 grams, one mark more gives 15 of which 14 are shared: 14/15.
    assert near_duplicates(texts) == [
        Pair("a", "b", 1.0, "normalised"),
        Pair("a", "c", 1.0, "exact"),
        Pair("a", "d", 14 / 15, "near"),
    ]


def test_threshold_is_met_when_equal() -> None:
    # "abcdef" has abc bcd cde def; "abcdefg" adds efg: 4 shared of 5.
    texts = {"a": "abcdef", "b": "abcdefg"}
    assert near_duplicates(texts, 0.8) == [Pair("a", "b", 0.8, "near")]
    assert near_duplicates(texts, 0.81) == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            "会议改到下午三点，地点不变，请大家准时参加，谢谢配合",
            "会议改到下午四点，地点不变，请大家准时参加，谢谢配合",
        ),
        ("今天的天气真不错，我们一起去公园散步吧", "今天的天气真不错，我们一起去公园散步吧！"),
        ("快递已经到了，放在门口的柜子里了", "快递已经到了，放在门口柜子里了"),
    ],
)
def test_chinese_near_copies(one: str, other: str) -> None:
    [pair] = near_duplicates({"a": one, "b": other}, 0.7)
    assert (pair.a, pair.b, pair.kind) == ("a", "b", "near")
    assert near_duplicates({"a": one, "b": "妈妈说晚上要做红烧肉给我们吃，你早点回来"}, 0.5) == []


def test_width_forms_and_case_are_no_difference() -> None:
    assert near_duplicates({"a": "ＯＫ！ 好的", "b": "ok! 好的"}) == [Pair("a", "b", 1.0, "normalised")]
    assert fold_text(" Ａ\u3000b\n") == "a b"


def test_short_and_empty_texts() -> None:
    pairs = near_duplicates({"a": "", "b": " ", "c": "ok", "d": "no", "e": "OK"})
    assert pairs == [Pair("a", "b", 1.0, "normalised"), Pair("c", "e", 1.0, "normalised")]
    assert near_duplicates({}) == []
    assert leakage({}, {"a": "x"}) == []
    assert leakage({"a": "x"}, {}) == []


def test_many_copies_give_one_pair_each() -> None:
    assert len(near_duplicates({str(i): "the same text" for i in range(50)})) == 49


def test_leakage_gives_the_closest_of_the_left() -> None:
    left = {"l1": "GOOD luck, buddy", "l2": "Good luck, buddy", "l3": "Good luck, buddy!!"}
    right = {
        "r1": "nothing of the kind",
        "r2": "Good luck, buddy",
        "r3": "good luck, Buddy",
        "r4": "Good luck, buddy!",
    }
    # r4 has 15 grams; l1 (and l2, equal after folding) share 14 of 15, l3 shares 15 of 16: l3 is closer.
    assert leakage(left, right) == [
        Pair("l2", "r2", 1.0, "exact"),
        Pair("l1", "r3", 1.0, "normalised"),
        Pair("l3", "r4", 15 / 16, "near"),
    ]


def test_case_of_two_splits() -> None:
    pairs = leakage({"0": "lol ok", "1": "nice"}, {"0": "LOL ok ", "1": "hm"})
    assert count_kinds(pairs) == {"exact": 0, "normalised": 1, "near": 0}


@pytest.mark.parametrize("threshold", [0, -1, 1.1, float("nan")])
def test_threshold_out_of_range(threshold: float) -> None:
    with pytest.raises(UserError, match="above 0 and at most 1"):
        near_duplicates({}, threshold)
    with pytest.raises(UserError, match="above 0 and at most 1"):
        leakage({}, {}, threshold)


def grams(form: str) -> set[str]:
    """The definition, written a second time: two characters from a Chinese one on, else three."""
    found = set()
    for start in range(len(form)):
        piece = form[start : start + (2 if "㐀" <= form[start] <= "鿿" else 3)]
        if len(piece) == (2 if "㐀" <= form[start] <= "鿿" else 3):
            found.add(piece)
    return found or {form}


def jaccard(one: str, other: str) -> float:
    a, b = grams(one), grams(other)
    return len(a & b) / len(a | b)


texts = st.lists(st.text("ab 好的", min_size=0, max_size=14), max_size=12).map(
    lambda forms: {str(i): form for i, form in enumerate(forms)}
)
thresholds = st.sampled_from([0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 1.0])


@settings(max_examples=300)
@given(texts, thresholds)
def test_near_pairs_are_exactly_those_of_comparing_all(found: dict[str, str], threshold: float) -> None:
    firsts: dict[str, str] = {}
    for key, text in found.items():
        firsts.setdefault(fold_text(text), key)
    expected = {
        (a, b): jaccard(x, y)
        for (x, a), (y, b) in itertools.combinations(firsts.items(), 2)
        if jaccard(x, y) >= threshold
    }
    near = [pair for pair in near_duplicates(found, threshold) if pair.kind == "near"]
    assert {(pair.a, pair.b): pair.similarity for pair in near} == expected
    assert len(near_duplicates(found, threshold)) - len(near) == len(found) - len(firsts)


@settings(max_examples=300)
@given(texts, texts, thresholds)
def test_leaks_are_exactly_those_of_comparing_all(
    left: dict[str, str], right: dict[str, str], threshold: float
) -> None:
    best = {
        key: max((jaccard(fold_text(text), fold_text(other)) for other in left.values()), default=0.0)
        for key, text in right.items()
    }
    leaks = {pair.b: pair.similarity for pair in leakage(left, right, threshold)}
    assert leaks == {key: value for key, value in best.items() if value >= threshold}


def test_threshold_is_met_when_its_product_is_not_exact() -> None:
    # 16 characters give 14 grams, 27 give 25 with those 14 among them: 14/25; and 0.56 * 25 is 14.000000000000002.
    long = "abcdefghijklmnopqrstuvwxyz0"
    [pair] = near_duplicates({"a": long[:16], "b": long}, 0.56)
    assert pair.similarity == 0.56


def test_of_equally_close_texts_leakage_gives_the_first() -> None:
    # "abcdef" has 4 grams, each of the others those and one more: 4/5.
    for left in ({"x": "abcdefg", "y": "abcdefh"}, {"y": "abcdefh", "x": "abcdefg"}):
        assert leakage(left, {"r": "abcdef"}) == [Pair(next(iter(left)), "r", 0.8, "near")]
