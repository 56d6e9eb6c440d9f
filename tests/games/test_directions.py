"""People's direction for every role and emotion, against the paper's printed table."""

from __future__ import annotations

import pytest

from affectlab.games import DIRECTIONS, EMOTIONS, ROLES
from affectlab.games.directions import STUDIES, direction_of
from affectlab.labels import load

# The paper's table (arXiv 2604.06562, appendix), typed in from the page: happy, anger, disgust, fear, sad, surprise.
PRINTED = {
    "prisoners_dilemma": (1, -1, -1, 0, 0, 0),
    "stag_hunt": (1, 0, 0, -1, 0, 0),
    "escalation": (0, 1, 0, -1, 0, 0),
    "trust_trustor": (1, -1, -1, -1, 0, 0),
    "ultimatum_responder": (-1, 1, 1, 1, 1, 0),
    "sealed_bid": (1, 1, -1, -1, 1, 1),
    "beauty_contest": (0, -1, 0, 0, 0, 0),
}
# The rows that are not printed, from the authors' published code.
PUBLISHED = {"trust_trustee": (1, -1, -1, -1, 0, 0), "ultimatum_proposer": (1, -1, -1, 1, -1, 0)}


def test_signs_are_the_papers() -> None:
    ours = {role: tuple(found.direction for found in row.values()) for role, row in DIRECTIONS.items()}
    assert ours == PRINTED | PUBLISHED


def test_every_role_has_every_emotion_of_the_label_space() -> None:
    assert set(DIRECTIONS) == set(ROLES)
    assert set(EMOTIONS) == set(load("basic6_neutral").ids) - {"neutral"}
    assert all(tuple(row) == EMOTIONS for row in DIRECTIONS.values())


def test_a_cell_is_weak_exactly_where_it_has_no_sign_and_direct_exactly_where_a_study_is_named() -> None:
    for role, row in DIRECTIONS.items():
        for emotion, found in row.items():
            assert (found.evidence == "weak") == (found.direction == 0)
            assert (found.evidence == "direct") == ((role, emotion) in STUDIES)


def test_the_direction_of_an_emotion_that_is_none_of_the_six_is_no_zero() -> None:
    with pytest.raises(KeyError):
        direction_of("stag_hunt", "neutral")


def test_y_rises_with_the_focal_behaviour() -> None:
    assert ROLES["trust_trustor"].y(4, 0, 10) == 4
    # A guess of 33 on 0 to 100 lies 67 below the top; depth rises as the guess falls.
    assert ROLES["beauty_contest"].y(33, 0, 100) == 67
    assert ROLES["beauty_contest"].y(100, 20, 100) == 20  # the lowest y is the lowest value of the range
