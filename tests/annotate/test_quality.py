"""One annotator's figures and flags; expected values worked by hand."""

from __future__ import annotations

from typing import Any

import pytest

from affectlab.annotate.design_file import read_design
from affectlab.annotate.quality import Limits, Work, reading_seconds, sheet
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
    varied = {slot: 1 + place % 5 for place, slot in enumerate(scales)}
    assert flags([work(0, values=varied)], care) == []


def test_attention_items_are_counted_apart() -> None:
    expected = {"mood": "sad", "strength": 2}
    checks = [
        work(30, kind="attention", expected=expected, values={"mood": "sad", "strength": 2}),
        work(31, kind="attention", expected=expected, values={"mood": "glad", "strength": 2}),
    ]
    found = sheet(DESIGN, [*(work(n) for n in range(12)), *checks], {})
    assert found.attention == (3, 4)
    assert found.answered == 12
    assert found.flags == ()  # three of four is enough
    wrong = [
        work(40 + n, kind="attention", expected=expected, values={"mood": "glad", "strength": 1}) for n in range(2)
    ]
    assert flags([*(work(n) for n in range(12)), *wrong]) == ["attention"]


def test_agreement_with_oneself_and_with_others() -> None:
    again = work(50, kind="repeat", of="i0", values={"mood": "glad", "strength": 5})
    others: dict[str, list[dict[str, Any]]] = {
        "i0": [{"mood": "glad", "strength": 1}, {"mood": "sad", "strength": 1}],
        "i1": [{"mood": "sad"}],
    }
    found = sheet(DESIGN, [work(0), work(1), again], others)
    assert found.repeats == (1, 2)  # the mood again, the strength not
    assert found.with_others == (2, 3)  # moods only: glad/glad, glad/sad, sad/sad


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
