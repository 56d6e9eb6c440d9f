"""One annotator's figures and flags; expected values worked by hand."""

from __future__ import annotations

from typing import Any

import pytest

from affectlab.annotate.design_file import read_design
from affectlab.annotate.quality import Limits, Work, reading_seconds, sheet, sheet_rows
from tests.annotate.support import study

DESIGN = study()


def work(number: int, **changes: Any) -> Work:
    fields: dict[str, Any] = {
        "item": f"i{number}",
        "kind": "work",
        "text": "Ten words that anybody can read within a few seconds.",
        "values": {"mood": ("glad", "sad", "calm", "sad", "glad")[number % 5], "strength": 1 + number % 5},
        "skipped": "",
        "at": 1000.0 * number,
        "active_ms": 20_000,
    }
    return Work(**fields | changes)


def flags(works: list[Work], design: Any = DESIGN) -> list[str]:
    return [flag.name for flag in sheet(design, works, {}).flags]


def test_ordinary_work_has_no_flag() -> None:
    found = sheet(DESIGN, [work(n) for n in range(20)], {})
    assert found.flags == ()
    assert (found.answered, found.skipped, found.median_seconds) == (20, 0, 20.0)


def test_reading_takes_time_by_script() -> None:
    limits = Limits(cjk_a_minute=300, words_a_minute=200)
    # 5 characters at 300 a minute: 1 s. 10 words at 200 a minute: 3 s.
    assert reading_seconds("我今天很好", limits) == pytest.approx(1.0)
    assert reading_seconds("one two three four five six seven eight nine ten", limits) == pytest.approx(3.0)
    assert reading_seconds("我今天很好 one two", limits) == pytest.approx(1.6)


def test_answers_faster_than_reading_are_flagged_with_the_evidence() -> None:
    found = sheet(DESIGN, [work(n, active_ms=300 if n < 3 else 20_000) for n in range(20)], {})
    (flag,) = found.flags
    assert flag.name == "too_fast"
    assert "3 of 20" in flag.evidence
    assert flags([work(n, active_ms=300) for n in range(5)]) == []  # too few to say


def test_a_burst_of_answers_is_flagged() -> None:
    assert flags([work(n, at=2.0 * n) for n in range(5)]) == ["burst"]
    assert flags([work(n, at=5.0 * n) for n in range(5)]) == []


def test_the_same_option_for_long_and_options_that_go_round_are_flagged() -> None:
    assert "pattern" in flags([work(n, values={"mood": "sad"}) for n in range(10)])
    assert "pattern" in flags([work(n, values={"mood": ("glad", "sad", "calm")[n % 3]}) for n in range(12)])


def test_twenty_two_equal_ratings_are_straight_lining() -> None:
    care = read_design("care")
    scales = [slot.id for slot in care.slots if slot.kind == "scale"]
    assert "straight_lining" in flags([work(0, values=dict.fromkeys(scales, 3))], care)
    at_the_limit = {slot: 3 if place < 12 else 1 + place % 2 for place, slot in enumerate(scales)}
    assert "straight_lining" in flags([work(0, values=at_the_limit)], care)
    assert flags([work(0, values=at_the_limit | {scales[0]: 1})], care) == []
    varied = {slot: 1 + place % 5 for place, slot in enumerate(scales)}
    assert flags([work(0, values=varied)], care) == []


def test_attention_items_are_counted_apart() -> None:
    expected = {"mood": "sad", "strength": 2}
    checks = [
        work(30, kind="attention", expected=expected, values={"mood": "sad", "strength": 2}),
        work(31, kind="attention", expected=expected, values={"mood": "glad", "strength": 2}),
    ]
    found = sheet(DESIGN, [*(work(n) for n in range(12)), *checks], {})
    assert found.attention == (3, 4, 2)
    assert found.answered == 12
    assert found.flags == ()  # three of four is enough
    wrong = [
        work(40 + n, kind="attention", expected=expected, values={"mood": "glad", "strength": 1}) for n in range(2)
    ]
    assert flags([*(work(n) for n in range(12)), *wrong]) == ["attention"]


def test_agreement_with_oneself_and_with_others() -> None:
    again = work(50, kind="repeat", of="i0", values={"mood": "glad", "strength": 5})
    others: dict[str, dict[str, dict[str, Any]]] = {
        "i0": {"b": {"mood": "glad", "strength": 1}, "c": {"mood": "sad", "strength": 1}},
        "i1": {"b": {"mood": "sad"}},
    }
    found = sheet(DESIGN, [work(0), work(1), again], others)
    assert found.repeats == (1, 2, 1)  # the mood again, the strength not; one item
    assert found.with_others == (2, 3, 2)  # moods only: glad/glad, glad/sad, sad/sad; two items


def test_what_was_left_out_is_told_of_work_alone() -> None:
    left = {"values": {"mood": "sad"}, "skipped": "unclear"}  # chosen before it was left out
    works = [
        work(0),
        work(1),
        work(2, **left),
        work(3, kind="attention", expected={"mood": "sad"}, **left),
        work(4, kind="repeat", of="i0", **left),
        work(5, kind="repeat", of="i2", values={"mood": "sad"}),  # what it repeats was left out
    ]
    found = sheet(DESIGN, works, {})
    assert (found.answered, found.skipped) == (2, 1)
    assert found.repeats == (0, 0, 0)
    assert dict(sheet_rows(found))["left out"] == "1 of 3 (33%)"


def test_slots_of_one_item_are_no_independent_trials() -> None:
    """Twenty items of five slots; two others are wholly of one mind with this person on half of them."""
    cue = read_design("cue")
    mine = {
        "explicit": "neutral",
        "implicit": "negative",
        "stance": "veiled_negative",
        "intent": "politeness",
        "emotion": "anxiety",
    }
    theirs = {
        "explicit": "positive",
        "implicit": "positive",
        "stance": "positive",
        "intent": "irony",
        "emotion": "love",
    }
    works = [work(n, values=mine) for n in range(20)]
    others = {f"i{n}": dict.fromkeys(("b", "c"), mine if n < 10 else theirs) for n in range(20)}
    found = sheet(cue, works, others).with_others
    # Four slots: the stance follows from the first two.
    assert found == (80, 160, 20)
    # Wilson of 10 in 20, by its formula.
    assert found.interval == pytest.approx((0.2993, 0.7007), abs=1e-4)
    assert "stance" not in sheet(cue, works, others).kappa


def test_kappa_with_oneself_and_with_each_other() -> None:
    # With b: glad/glad, glad/sad, sad/sad, sad/sad: p_o 3/4, p_e (2·1 + 2·3) / 16, kappa 1/2. With c: glad/glad,
    # sad/sad: 1. With d both say glad throughout: none, and left out of the mean.
    moods = ["glad", "glad", "sad", "sad"]
    works = [work(n, values={"mood": mood, "strength": 1}) for n, mood in enumerate(moods)]
    said = {"b": {0: "glad", 1: "sad", 2: "sad", 3: "sad"}, "c": {0: "glad", 2: "sad"}, "d": {1: "glad"}}
    others = {
        f"i{n}": {who: {"mood": given[n]} for who, given in said.items() if n in given} for n in range(len(moods))
    }
    again = [work(10 + n, kind="repeat", of=f"i{n}", values={"mood": moods[n]}) for n in (0, 2)]
    found = sheet(DESIGN, [*works, *again], others)
    assert found.kappa["mood"].value == pytest.approx((1 / 2 + 1) / 2)
    assert (found.kappa["mood"].n, found.kappa["mood"].clusters) == (7, 2)
    assert (found.own_kappa["mood"].value, found.own_kappa["mood"].n) == (1.0, 2)
    rows = dict(sheet_rows(found))
    assert rows["mean κ with others, mood"] == "0.75, 7 pairs of answers"
    assert "mean κ with others, strength" not in rows
    alone = sheet(DESIGN, works, {"i1": {"d": {"mood": "glad"}}}).kappa["mood"]
    assert (alone.value, alone.reason) == (None, "single_category")


def test_ratings_agree_by_distance() -> None:
    # 1/1, 5/5, 3/4 on a scale to 5: Σd² = 1; expected {1, 3, 5} × {1, 4, 5}: 0+9+16 + 4+1+4 + 16+1+0 = 51 of 9.
    works = [work(n, values={"strength": value}) for n, value in enumerate((1, 5, 3))]
    others = {f"i{n}": {"b": {"strength": value}} for n, value in enumerate((1, 5, 4))}
    assert sheet(DESIGN, works, others).kappa["strength"].value == pytest.approx(1 - (1 / 3) / (51 / 9))


def test_times_far_from_the_persons_own_are_flagged() -> None:
    # Times of 10, 20 and 40 s in turn: two thirds are one doubling from 20 s, so z of a time is 0.6745 · log2(t / 20).
    usual = [work(n, active_ms=(10_000, 20_000, 40_000)[n % 3]) for n in range(39)]
    assert flags(usual) == []
    short = {"text": "Two words."}  # reading takes 0.3 s
    # 0.5 s is 5.3 doublings below 20 s: z -3.6. 0.7 s: 4.8 doublings, z -3.3.
    quick = work(50, active_ms=500, **short)
    (flag,) = sheet(DESIGN, [*usual[:18], quick], {}).flags
    assert flag.name == "hurried"
    assert flag.evidence.startswith("1 of 19 answers")
    assert "i50: 0.5 s, usually 20.0 s (robust z -3.6)" in flag.evidence
    assert flags([*usual[:18], work(50, active_ms=700, **short)]) == []
    assert flags([*usual, quick]) == []  # one in forty is nothing
    assert flags([*usual[:8], quick]) == []  # too few to say


def test_the_same_key_is_flagged_where_options_depend_on_the_item() -> None:
    chiaro = read_design("chiaro")
    groups: dict[str, list[str]] = {}
    for option in chiaro.slot["A"].options:
        groups.setdefault(option.group, []).append(option.id)
    first, second = groups.values()
    order = [first if n * n % 7 < 3 else second for n in range(60)]  # without a period of 2, 3 or 4
    always = [work(n, values={"A": ids[0]}, options={"A": ids}) for n, ids in enumerate(order)]
    (flag,) = sheet(chiaro, always, {}).flags
    assert (flag.name, "A: the option in the same place 60 times in a row" in flag.evidence) == ("pattern", True)
    alternating = [first if n % 2 else second for n in range(60)]
    one_key = [work(n, values={"A": ids[0]}, options={"A": ids}) for n, ids in enumerate(alternating)]
    assert all("go round" not in flag.evidence for flag in sheet(chiaro, one_key, {}).flags)
    varied = [work(n, values={"A": ids[n * n % 5]}, options={"A": ids}) for n, ids in enumerate(alternating)]
    assert flags(varied, chiaro) == []


def test_entropy_of_answers() -> None:
    half = [work(n, values={"mood": ("glad", "sad")[n % 2]}) for n in range(8)]
    assert sheet(DESIGN, half, {}).entropy["mood"] == pytest.approx(1.0)  # a fair coin: one bit
    assert sheet(DESIGN, [work(0)], {}).entropy["mood"] == 0.0


def test_typing_says_nothing_of_a_few_letters() -> None:
    few = [work(0, typing=[["insert", 10, 1]] * 10)]
    assert sheet(DESIGN, few, {}).typing == "not enough data"
    many = [work(0, typing=[*[["insert", 10, 1]] * 90, ["paste", 20, 40]])]
    assert sheet(DESIGN, many, {}).typing == "90 characters typed, 40 pasted"
    assert sheet(DESIGN, [work(0)], {}).typing == "not recorded"
