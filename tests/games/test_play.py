"""One round of each game: whose turn it is and what it pays, worked by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affectlab.errors import UserError
from affectlab.games import GAMES
from affectlab.games.play import Played, Rules, round_of, winners


def play(played: Rules, *values: float) -> tuple[Played, ...]:
    """The round in which whoever's turn it is takes the next value."""
    moves: tuple[Played, ...] = ()
    for value in values:
        turn = played.turns(moves)[0]
        assert value in turn.legal
        moves = (*moves, Played(turn.seat, value))
    assert played.turns(moves) == ()
    return moves


def pays(game: str, *values: float, seats: int = 2, **given_values: float) -> tuple[float, ...]:
    played = round_of(GAMES[game], given_values, seats)
    return played.payoffs(play(played, *values))


def test_prisoners_dilemma_pays_t_r_p_s() -> None:
    assert pays("prisoners_dilemma", 1, 1) == (3, 3)
    assert pays("prisoners_dilemma", 0, 1) == (5, 0)
    assert pays("prisoners_dilemma", 1, 0) == (0, 5)
    assert pays("prisoners_dilemma", 0, 0) == (1, 1)


def test_stag_hunt_pays_the_hare_for_sure() -> None:
    assert pays("stag_hunt", 1, 1) == (4, 4)
    assert pays("stag_hunt", 0, 1) == (3, 0)
    assert pays("stag_hunt", 0, 0) == (2, 2)


def test_the_order_in_which_simultaneous_moves_arrive_does_not_matter() -> None:
    played = round_of(GAMES["prisoners_dilemma"])
    assert played.payoffs((Played(1, 0), Played(0, 1))) == (0, 5)
    assert [turn.seat for turn in played.turns(())] == [0, 1]
    assert [turn.seat for turn in played.turns((Played(0, 1),))] == [1]


def test_escalation_is_paid_by_both() -> None:
    assert pays("escalation", 0) == (0, 0)
    assert pays("escalation", 1, 0) == (8, 0)  # bid 2 for a prize of 10; the other never bid
    assert pays("escalation", 1, 1, 0) == (-2, 6)  # 2, then 4: 10 - 4
    assert pays("escalation", 1, 1, 1, 1, 0) == (-6, 2)  # 2, 4, 6, 8: the first owes 6, the second 10 - 8
    # To the limit of 16: 2 4 6 8 10 12 14 16, then nobody can raise.
    assert pays("escalation", *[1] * 8) == (-14, -6)


def test_in_escalation_a_player_knows_both_bids() -> None:
    played = round_of(GAMES["escalation"])
    (turn,) = played.turns((Played(0, 1), Played(1, 1)))
    assert (turn.seat, turn.knows) == (0, {"own bid": 2, "other's bid": 4, "next bid": 6})


def test_trust_multiplies_what_is_sent() -> None:
    assert pays("trust", 4, 5) == (10 - 4 + 5, 12 - 5)
    assert pays("trust", 0) == (10, 0)  # nothing arrived: there is nothing to decide
    assert round_of(GAMES["trust"]).turns((Played(0, 4),))[0].legal[-1] == 12


def test_ultimatum_rejected_leaves_nothing() -> None:
    assert pays("ultimatum", 3, 0) == (7, 3)
    assert pays("ultimatum", 3, 1) == (0, 0)


def test_everyone_pays_the_own_bid_and_ties_share_the_prize() -> None:
    assert pays("sealed_bid", 4, 6, 1, seats=3) == (-4, 10 - 6, -1)
    assert pays("sealed_bid", 6, 6) == (5 - 6, 5 - 6)
    assert pays("sealed_bid", 0, 0) == (5, 5)


def test_the_guess_nearest_to_two_thirds_of_the_mean_wins_and_ties_share() -> None:
    # Mean 28.667, target 19.111: 20 is nearest.
    assert pays("beauty_contest", 33, 33, 20, seats=3) == (0, 0, 10)
    # Mean 20, target 13.333: 10 and 10 are 3.333 away, 40 is not.
    assert pays("beauty_contest", 10, 10, 40, seats=3) == (5, 5, 0)
    target, seats = winners([33, 33, 20], 2 / 3)
    assert (round(target, 4), seats) == (19.1111, (2,))


def test_both_sides_of_the_target_tie() -> None:
    # Mean 30, half of it 15: 10 and 20 are both 5 away.
    assert winners([10, 20, 60], 0.5) == (15, (0, 1))


@pytest.mark.parametrize(("game", "seats"), [("trust", 3), ("sealed_bid", 1), ("beauty_contest", 21)])
def test_a_game_is_played_by_as_many_as_it_takes(game: str, seats: int) -> None:
    with pytest.raises(UserError, match=f"not by {seats}"):
        round_of(GAMES[game], {}, seats)


@pytest.mark.parametrize(
    ("game", "given_values", "told"),
    [
        ("sealed_bid", {"budget": 2.5}, "budget=2.5 bounds moves"),
        ("ultimatum", {"pie": 0.5}, "pie=0.5 bounds moves"),
        ("trust", {"endowment": 7.5}, "endowment=7.5 bounds moves"),
        ("beauty_contest", {"low": 0.5}, "low=0.5 bounds moves"),
        ("beauty_contest", {"high": 1e6}, "from 0 to 1000000 are more than 1000 apart"),
        ("trust", {"endowment": 500, "multiplier": 3}, "from 0 to 1500"),
        ("ultimatum", {"pie": 1e15}, "beyond 1000000000"),
        ("escalation", {"step": 0.001}, "more than 1000 raises"),
        ("sealed_bid", {"prize": 1e300}, "beyond 1000000000"),
        ("prisoners_dilemma", {"S": -2e9}, "S=-2e[+]09 is beyond"),
        ("ultimatum", {"pie": 1001}, "from 0 to 1001"),
        ("escalation", {"step": 1, "budget": 1001}, "1001 by steps of 1 is more than 1000 raises"),
    ],
)
def test_what_cannot_be_played_in_whole_numbers_is_refused(
    game: str, given_values: dict[str, float], told: str
) -> None:
    with pytest.raises(UserError, match=told):
        round_of(GAMES[game], given_values)


def test_up_to_a_thousand_steps_can_be_played() -> None:
    assert round_of(GAMES["ultimatum"], {"pie": 1000}).turns(())[0].legal[-1] == 1000
    assert round_of(GAMES["escalation"], {"step": 1, "budget": 1000}).turns(())
    assert round_of(GAMES["beauty_contest"], {"low": 1500, "high": 2500}).turns(())[0].legal[0] == 1500


def test_steps_that_do_not_add_up_exactly_reach_the_budget() -> None:
    # 0.1 three times is 0.30000000000000004: the third raise is within a budget of 0.3 all the same.
    played = round_of(GAMES["escalation"], {"prize": 1, "step": 0.1, "budget": 0.3})
    moves = [Played(seat, 1.0) for seat in (0, 1, 0)]
    assert played.turns(moves[:2])
    assert played.turns(moves) == ()
    assert played.payoffs(moves) == pytest.approx((1 - 0.3, -0.2))


@given(game=st.sampled_from(sorted(GAMES)), choices=st.lists(st.integers(0, 10_000), min_size=20, max_size=20))
def test_no_round_pays_more_than_the_most_there_is(game: str, choices: list[int]) -> None:
    played = round_of(GAMES[game])
    moves: tuple[Played, ...] = ()
    while turns := played.turns(moves):
        legal = turns[0].legal
        moves = (*moves, Played(turns[0].seat, legal[choices[len(moves)] % len(legal)]))
    assert sum(played.payoffs(moves)) <= played.most + 1e-9


def test_the_most_there_is_can_be_reached() -> None:
    for game, values in {
        "prisoners_dilemma": (1, 1),
        "stag_hunt": (1, 1),
        "escalation": (1, 0),
        "trust": (10, 15),
        "ultimatum": (5, 0),
        "sealed_bid": (0, 0),
        "beauty_contest": (50, 50),
    }.items():
        assert sum(pays(game, *values)) == pytest.approx(round_of(GAMES[game]).most)
