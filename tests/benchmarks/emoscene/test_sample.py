"""The bundled scenarios: right in length, no two with the same emotions, none that names what it shows."""

from __future__ import annotations

import json
import re
from collections import Counter
from importlib.resources import files

import numpy as np
import pytest

from affectlab.benchmarks.emoscene.record import EMOTIONS, load
from affectlab.items.duplicates import near_duplicates

SAMPLE = files("affectlab.benchmarks.emoscene") / "sample.jsonl"
ROWS = [json.loads(line) for line in SAMPLE.read_text(encoding="utf-8").splitlines()]
SETS = np.array([[slot in row["labels"] for slot in EMOTIONS.ids] for row in ROWS])
TELLING = re.compile(
    r"\b(joy|trust|fear|afraid|surpris|sad(?!dle)|disgust|anger|angr|anticipat|happ(?:y|i(?!n))|furious|scared|terrif|grief|"
    r"delight|rage\b|excit|hope|expect|amaz|astonish|shock|worr|anxious)",
    re.IGNORECASE,
)


def test_sixty_scenarios_of_sixty_to_a_hundred_and_fifty_words() -> None:
    assert [row["id"] for row in ROWS] == [f"emoscene-sample-{number:03d}" for number in range(1, 61)]
    assert len(load(str(SAMPLE), {})) == 60
    assert all(60 <= len(row["text"].split()) <= 150 for row in ROWS)


def test_no_two_have_the_same_emotions() -> None:
    assert len({tuple(row["labels"]) for row in ROWS}) == 60


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_no_word_names_an_emotion(row: dict[str, str]) -> None:
    assert TELLING.findall(row["text"]) == []


def test_each_emotion_is_there_and_absent_often_enough_to_score() -> None:
    assert (SETS.sum(axis=0) >= 10).all()
    assert (SETS.sum(axis=0) <= 30).all()
    assert set(Counter(SETS.sum(axis=1).tolist())) == {0, 1, 2, 3, 4}


def test_emotions_that_go_together_do_so_more_often_than_those_that_do_not() -> None:
    def lift(one: str, other: str) -> float:
        a, b = (SETS[:, EMOTIONS.ids.index(name)] for name in (one, other))
        return float((a & b).mean() / (a.mean() * b.mean()))

    assert (
        min(lift("joy", "trust"), lift("joy", "anticipation"), lift("sadness", "anger"), lift("anger", "disgust")) > 1
    )
    assert max(lift("joy", "anger"), lift("joy", "disgust"), lift("trust", "anger"), lift("trust", "surprise")) < 1


def test_no_two_texts_are_alike() -> None:
    assert near_duplicates({row["id"]: row["text"] for row in ROWS}, threshold=0.35) == []
