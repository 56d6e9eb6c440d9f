"""A match, move by move."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.arena.meeting import meet

from affectlab.arena import Match, Setup, everyone_with_everyone
from affectlab.errors import UserError
from affectlab.games import GAMES


def test_players_change_seats(tmp_path: Path) -> None:
    match = meet(tmp_path, "always_defect", "always_cooperate", game="trust", rounds=2, alternate=True)
    # Round 1: the defector sends 0. Round 2: the cooperator sends 10, 30 arrive and stay.
    assert [one.payoffs for one in match.rounds] == [(10, 0), (30, 0)]
    assert [[(move.player, move.role) for move in one.moves] for one in match.rounds] == [
        [(0, "trust_trustor")],
        [(1, "trust_trustor"), (0, "trust_trustee")],
    ]


def test_repeated_play_needs_payoffs_that_bear_it(tmp_path: Path) -> None:
    values = {"T": 10, "R": 4, "P": 1, "S": 0}
    with pytest.raises(UserError, match=r"2R > T \+ S"):
        meet(tmp_path, "grim", "grim", parameters=values)
    meet(tmp_path, "grim", "grim", parameters=values, rounds=1)


def test_a_tournament_pairs_everyone_with_everyone_and_itself() -> None:
    assert everyone_with_everyone(3) == ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))


@pytest.mark.parametrize(("sent", "cooperated"), [(4, False), (5, True), (6, True)])
def test_who_sends_exactly_half_has_cooperated(sent: int, cooperated: bool) -> None:
    match = Match("m1", ("one", "other"), Setup(GAMES["trust"]))
    match.decide(match.waiting()[0], sent, "read")
    match.decide(match.waiting()[0], 0.0, "read")
    assert match.others_cooperated(1) == [cooperated]
    assert match.others_cooperated(0) == [False]  # kept all of it


def test_all_others_must_have_cooperated() -> None:
    match = Match("m1", ("one", "two", "three"), Setup(GAMES["sealed_bid"]))
    for bid in (0.0, 0.0, 10.0):
        match.decide(match.waiting()[0], bid, "read")
    assert [match.others_cooperated(player) for player in range(3)] == [[False], [False], [True]]


def test_what_may_not_be_chosen_is_no_move() -> None:
    match = Match("m1", ("one", "other"), Setup(GAMES["ultimatum"]))
    with pytest.raises(ValueError, match="11 may not be chosen"):
        match.decide(match.waiting()[0], 11.0, "read")


def test_three_who_change_seats_are_paid_for_their_own_bids() -> None:
    match = Match("m1", ("one", "two", "three"), Setup(GAMES["sealed_bid"], rounds=3, alternate=True))
    bids = (1.0, 2.0, 3.0)
    for shift in range(3):
        waiting = match.waiting()
        assert [one.player for one in waiting] == [(seat + shift) % 3 for seat in range(3)]
        for one in waiting:
            match.decide(one, bids[one.player], "read")
    assert [one.payoffs for one in match.rounds] == [(-1, -2, 10 - 3)] * 3
