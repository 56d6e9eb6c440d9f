"""What players are told, and how their replies are read."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from affectlab.arena import Match, Setup, prompts
from affectlab.games import GAMES
from affectlab.reading import Outcome


def begun(game: str, parameters: Mapping[str, float] | None = None, rounds: int = 1) -> Match:
    return Match("m1", ("one", "other"), Setup(GAMES[game], parameters or {}, rounds))


@pytest.mark.parametrize("game", GAMES)
def test_rules_and_question_of_every_game_name_its_numbers_and_nothing_of_game_theory(game: str) -> None:
    match = begun(game)
    (waiting, *_) = match.waiting()
    told = f"{prompts.system(match, waiting)}\n{prompts.user(match, waiting)}"
    assert not any(word in told.lower() for word in ("cooperat", "defect", "dilemma", "trustor", "equilib", "auction"))
    for name, value in GAMES[game].defaults.items():
        shown = "0.666667" if name == "p" else f"{value:.0f}"
        assert shown in prompts.system(match, waiting), name


def test_large_stakes_are_told_in_plain_digits() -> None:
    match = begun("sealed_bid", {"prize": 1234567, "budget": 1000})
    assert "for a prize of 1234567 points" in prompts.system(match, match.waiting()[0])
    match = begun("prisoners_dilemma", {"T": 5_000_000, "R": 3_000_001}, rounds=2)
    for waiting in match.waiting():
        match.decide(waiting, 1.0, "strategy")
    (waiting, _) = match.waiting()
    assert "You got 3000001, the other 3000001." in prompts.user(match, waiting)


def test_p_is_not_told_as_one() -> None:
    match = begun("beauty_contest", {"p": 0.9999})
    assert "0.9999 times the average" in prompts.system(match, match.waiting()[0])


@pytest.mark.parametrize("reply", ["ANSWER: half of 10", "ANSWER: 2 or 3, not 9", "ANSWER: 10 - 3", "ANSWER: minus 5"])
def test_a_number_nobody_chose_is_no_move(reply: str) -> None:
    match = begun("ultimatum")
    reading, value = prompts.read(match, match.waiting()[0], reply, "stop")
    assert (reading.outcome, value) == (Outcome.AMBIGUOUS, None)
    assert prompts.read(match, match.waiting()[0], "ANSWER: 3", "stop")[1] == 3


def test_letters_change_places_between_players_and_rounds() -> None:
    match = begun("prisoners_dilemma", rounds=2)
    one, other = match.waiting()
    assert prompts.options(match, one) == {"A": 0, "B": 1}
    assert prompts.options(match, other) == {"A": 1, "B": 0}
    for waiting in (one, other):
        match.decide(waiting, 1.0, "read")
    assert prompts.options(match, match.waiting()[0]) == {"A": 1, "B": 0}
