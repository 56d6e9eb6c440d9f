from __future__ import annotations

from dataclasses import replace

import pytest
from tests.benchmarks.decisions.worlds import prediction

from affectlab.benchmarks.base import Scoring
from affectlab.benchmarks.decisions.places import place_table, places, stuck
from affectlab.benchmarks.decisions.scores import score
from affectlab.metrics.predictions import Prediction, PredictionTable
from affectlab.stats.bootstrap import Interval


def _stood(role: str, condition: str, at: list[int | None]) -> list[Prediction]:
    return [
        replace(prediction(role, f"{role}-{n}", condition, None if place is None else float(n % 2)), position=place)
        for n, place in enumerate(at)
    ]


def test_shares_of_places_by_role_and_over_roles() -> None:
    rows = _stood("stag_hunt", "neutral", [0, 0, 1, None]) + _stood("escalation", "neutral", [0, 1, 1, 1])
    (found,) = places(PredictionTable.from_rows(rows))
    # Seven places are known, three of them the first. Stag hunt: 2 of 3 at one place, escalation: 3 of 4.
    assert (found.condition, found.n) == ("neutral", 7)
    assert found.first == pytest.approx(3 / 7)
    assert found.commonest == pytest.approx((2 / 3 + 3 / 4) / 2)
    assert place_table([found]).rows == (("neutral", 7, found.first, found.commonest),)
    assert stuck([found]) == ""


def test_a_condition_that_names_one_letter_whatever_is_asked_is_told() -> None:
    rows = _stood("stag_hunt", "neutral", [0, 1, 0, 1]) + _stood("stag_hunt", "anger@1.0", [1, 1, 1, 1])
    whole = PredictionTable.from_rows(rows)
    assert [one.commonest for one in places(whole)] == [0.5, 1.0]
    neutral = score(Scoring(whole, "neutral", "choice", Interval(replicates=20)))
    note = next(note for note in neutral.notes if "one place" in note)
    assert note.startswith(
        "Under 1 of 2 conditions at least 90% of the answers stand at one place of their role (anger@1.0)"
    )
    assert neutral.table("places").rows[1] == ("anger@1.0", 4, 0.0, 1.0)
    assert "places" in neutral.of_run
    assert note in neutral.of_run


def test_answers_without_a_place_make_no_table() -> None:
    whole = PredictionTable.from_rows(_stood("stag_hunt", "neutral", [None]) + _stood("stag_hunt", "joy@1.0", [None]))
    assert list(places(whole)) == []
    ids = [one.id for one in score(Scoring(whole, "neutral", "choice", Interval(replicates=20))).tables]
    assert "places" not in ids
