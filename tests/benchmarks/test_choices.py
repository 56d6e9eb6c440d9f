from __future__ import annotations

from collections import Counter

import pytest

from affectlab.benchmarks.choices import arrange, lines, most_likely, variants
from affectlab.models.base import Response
from affectlab.reading import Outcome

FIVE = ("joy", "pride", "relief", "gratitude", "excitement")


def test_rotation_puts_the_gold_where_asked_and_keeps_neighbours() -> None:
    # gold relief (index 2) at place 0: the list turned by 2.
    assert list(arrange(FIVE, "rotate", "", 0, "relief").values()) == [
        "relief",
        "gratitude",
        "excitement",
        "joy",
        "pride",
    ]
    # at place 4: turned by 2 - 4 = -2, that is 3.
    assert list(arrange(FIVE, "rotate", "", 4, "relief").values()) == [
        "gratitude",
        "excitement",
        "joy",
        "pride",
        "relief",
    ]


def test_rotation_without_gold_turns_the_list_by_its_place() -> None:
    assert next(iter(arrange(FIVE, "rotate", "", 7, None).values())) == "relief"  # 7 mod 5 = 2


def test_fixed_is_as_declared() -> None:
    assert arrange(FIVE, "fixed", "", 3, "joy") == dict(zip("ABCDE", FIVE, strict=True))


def test_all_gives_every_option_every_place_once() -> None:
    shown = [arrange(FIVE, "all", variant, 0, "joy") for variant in variants("all", 5)]
    places = Counter((letter, label) for one in shown for letter, label in one.items())
    assert set(places.values()) == {1}
    assert len(places) == 25


def test_lines() -> None:
    assert lines({"A": "joy", "B": "pride"}) == "A. joy\nB. pride"


def test_most_likely_takes_the_raw_sum_and_keeps_both_scores() -> None:
    response = Response(None, finish="scored", logprobs=(-4.0, -3.0), option_tokens=(4, 1))
    reading, detail = most_likely(response, {"A": "joy", "B": "pride"})
    assert reading.value == "B"
    assert detail["logprobs"] == {"joy": -4.0, "pride": -3.0}
    assert detail["logprobs_per_token"] == {"joy": -1.0, "pride": -3.0}


def test_most_likely_does_not_guess() -> None:
    tie, _ = most_likely(Response(None, finish="scored", logprobs=(-1.0, -1.0)), {"A": "joy", "B": "pride"})
    assert (tie.outcome, tie.flags) == (Outcome.AMBIGUOUS, ("tie",))
    for response in (Response("B"), Response(None, finish="scored", logprobs=(-1.0,))):
        assert most_likely(response, {"A": "joy", "B": "pride"})[0].outcome is Outcome.EMPTY


@pytest.mark.parametrize("n", [5, 10])
def test_variants(n: int) -> None:
    assert len(set(variants("all", n))) == n
    assert variants("rotate", n) == variants("fixed", n) == ("",)
