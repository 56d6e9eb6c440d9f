"""Equilibria against textbooks, and against the definition: nobody gains by turning away alone."""

from __future__ import annotations

from collections.abc import Mapping
from time import process_time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from affectlab.games import GAMES
from affectlab.games.equilibria import all_pay_bid, bimatrix, equilibria, level_k, pure, resting_moves
from affectlab.games.play import Played, round_of


def test_defecting_is_the_only_equilibrium_of_the_prisoners_dilemma() -> None:
    (only,) = equilibria(GAMES["prisoners_dilemma"])
    assert (only.strategies, only.payoffs, only.kind) == (("defect", "defect"), (1, 1), "pure")
    assert only.moves == {"prisoners_dilemma": 0}


def test_the_stag_hunt_has_three() -> None:
    hare, stag, mixed = equilibria(GAMES["stag_hunt"])
    assert (hare.payoffs, stag.payoffs) == ((2, 2), (4, 4))
    # Indifferent when 4q = 3q + 2(1 - q): q = 2/3, and then stag pays 8/3.
    assert mixed.strategies[0] == "stag with probability 0.667"
    assert mixed.payoffs == pytest.approx((8 / 3, 8 / 3))
    assert not mixed.moves


def test_matching_pennies_mixes_evenly() -> None:
    ((mine, other),) = bimatrix([[1, -1], [-1, 1]], [[-1, 1], [1, -1]])
    assert mine == other == (0.5, 0.5)
    assert list(pure([[1, -1], [-1, 1]], [[-1, 1], [1, -1]])) == []


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(-5, 5), min_size=18, max_size=18))
def test_pure_equilibria_are_those_of_the_definition(numbers: list[int]) -> None:
    row, column = np.array(numbers[:9]).reshape(3, 3), np.array(numbers[9:]).reshape(3, 3)
    expected = [
        (i, j)
        for i in range(3)
        for j in range(3)
        if row[i, j] == row[:, j].max() and column[i, j] == column[i, :].max()
    ]
    assert list(pure(row.tolist(), column.tolist())) == expected


def test_escalation_solved_backwards() -> None:
    # Budget 16, step 2: bids 2 4 … 16. Who bids last (16) wins, which is the second player; seen from the end, the
    # second raises each time and the first never begins.
    first = equilibria(GAMES["escalation"])[0]
    assert (first.kind, first.payoffs, first.moves) == ("subgame-perfect", (0, 0), {"escalation": 0})
    # Budget 14: the first bids last. The first bids 2, the second stays out: 10 - 2 and 0.
    other = equilibria(GAMES["escalation"], {"budget": 14})[0]
    assert (other.strategies, other.payoffs) == (("raises up to 1 time", "never bids"), (8, 0))


def test_escalation_in_plans_keeps_only_best_replies() -> None:
    found = [one.strategies for one in equilibria(GAMES["escalation"]) if one.kind == "pure"]
    # The first stays out when the second would raise at least twice (2 - 6 … never pays); else it goes on.
    assert ("never bids", "raises up to 2 times") in found
    assert ("raises up to 3 times", "never bids") in found
    assert ("never bids", "raises up to 1 time") not in found  # the first would raise twice: 10 - 6 > 0


def _plans(values: Mapping[str, float]) -> set[tuple[int, int]]:
    """How often each raises at most, in equilibrium, by playing out every pair of plans."""
    played = round_of(GAMES["escalation"], values)

    def pays(*raises: int) -> tuple[float, ...]:
        moves: list[Played] = []
        left = list(raises)
        while turns := played.turns(moves):
            seat = turns[0].seat
            moves.append(Played(seat, float(left[seat] > 0)))
            left[seat] -= 1
        return tuple(round(paid, 9) for paid in played.payoffs(moves))

    most = round(values["budget"] / values["step"])
    mine, other = range((most + 1) // 2 + 1), range(most // 2 + 1)
    return {
        (i, j)
        for i in mine
        for j in other
        if pays(i, j)[0] == max(pays(k, j)[0] for k in mine) and pays(i, j)[1] == max(pays(i, k)[1] for k in other)
    }


@pytest.mark.parametrize(
    "values",
    [
        {"prize": 10, "step": 2, "budget": 16},
        {"prize": 10, "step": 2, "budget": 14},
        {"prize": 5, "step": 1, "budget": 20},
        {"prize": 0.5, "step": 0.1, "budget": 0.7},
        {"prize": 10, "step": 2, "budget": 2},
    ],
)
def test_escalation_rests_in_the_plans_of_the_definition(values: dict[str, float]) -> None:
    def times(words: str) -> int:
        return 0 if words == "never bids" else int(words.split()[3])

    found = [one for one in equilibria(GAMES["escalation"], values) if one.kind == "pure"]
    pairs = [(times(one.strategies[0]), times(one.strategies[1])) for one in found]
    assert set(pairs) == _plans(values)
    assert len(pairs) == len(set(pairs))


def test_who_is_indifferent_stops() -> None:
    # Prize 10, step 5, budget 10: the second could bid 10 for 10, which pays 0 like staying out. It stays out, so the
    # first bids 5 and gets 10 - 5.
    first = equilibria(GAMES["escalation"], {"prize": 10, "step": 5, "budget": 10})[0]
    assert (first.strategies, first.payoffs) == (("raises up to 1 time", "never bids"), (5, 0))


def test_a_long_escalation_is_solved_too() -> None:
    # Budget 1000 by steps of 1: 1000 raises, an even number, so the second could bid last and the first never begins.
    first = equilibria(GAMES["escalation"], {"step": 1, "budget": 1000})[0]
    assert (first.strategies, first.payoffs) == (("never bids", "never bids"), (0, 0))


def test_a_large_pie_is_solved_in_little_time() -> None:
    began = process_time()
    found = equilibria(GAMES["ultimatum"], {"pie": 1000})
    assert process_time() - began < 5  # 0.3 s where measured; testing each of 10^6 pairs by itself takes minutes
    assert len(found) == 1 + 1000


def test_who_can_keep_all_keeps_all() -> None:
    (trust,) = equilibria(GAMES["trust"])
    assert (trust.payoffs, trust.kind) == ((10, 0), "subgame-perfect")
    ultimatum = equilibria(GAMES["ultimatum"])
    assert list(ultimatum[0].payoffs) == [10, 0]
    # Every split is an equilibrium when the responder holds out for it: offers 1 … 10.
    assert [one.payoffs for one in ultimatum[1:]] == [(10 - offer, offer) for offer in range(1, 11)]


@pytest.mark.parametrize(("seats", "told"), [(2, "(b/10)"), (3, "(b/10)^(1/2)"), (5, "(b/10)^(1/4)")])
def test_in_the_all_pay_auction_every_bid_pays_nothing(seats: int, told: str) -> None:
    (only,) = equilibria(GAMES["sealed_bid"], seats=seats)
    assert (only.kind, only.payoffs, only.moves) == ("mixed", (0,) * seats, {})
    assert f"P(bid <= b) = {told} from 0 to 10" in only.strategies[0]
    # With that F, winning with bid b against n - 1 others pays 10 F(b)^(n - 1) - b = 10 b/10 - b = 0 for every b, and
    # the mean bid, the integral of 1 - F from 0 to 10, is 10 - 10 (n - 1)/n = 10/n.
    assert all_pay_bid(10, seats) == pytest.approx(10 - 10 * (seats - 1) / seats)
    assert f"{10 / seats:.3g} on average" in only.strategies[0]


def test_a_budget_that_nobody_can_outbid_is_bid() -> None:
    (capped,) = equilibria(GAMES["sealed_bid"], {"budget": 4})
    assert (capped.moves, capped.payoffs) == ({"sealed_bid": 4}, (1, 1))  # 10 / 2 - 4
    played = round_of(GAMES["sealed_bid"], {"budget": 4})
    for other in range(5):
        assert played.payoffs((Played(0, other), Played(1, 4)))[0] <= 1
    assert equilibria(GAMES["sealed_bid"], {"budget": 7}) == ()  # no closed form is claimed there


@pytest.mark.parametrize(("seats", "expected"), [(2, [0]), (3, [0]), (4, [0, 1]), (10, [0, 1])])
def test_in_whole_numbers_all_at_one_is_an_equilibrium_too_from_four_players_on(
    seats: int, expected: list[int]
) -> None:
    # All at 1: who names 0 moves the target to 2/3 (n - 1)/n, which is nearer to 0 than to 1 while it is below 1/2:
    # 1/3 for 2 players, 4/9 for 3, just 1/2 for 4 (a tie), 8/15 for 5.
    found = equilibria(GAMES["beauty_contest"], seats=seats)
    assert [one.moves["beauty_contest"] for one in found] == expected
    assert all(one.payoffs == pytest.approx((10 / seats,) * seats) for one in found)


@pytest.mark.parametrize("p", [0.3, 2 / 3, 0.9])
@pytest.mark.parametrize("seats", [2, 3, 5, 8])
@pytest.mark.parametrize("low", [0, 3])
def test_everyone_at_one_number_rests_where_no_other_number_pays_more(p: float, seats: int, low: int) -> None:
    values = {"p": p, "low": low, "high": 15}
    played = round_of(GAMES["beauty_contest"], values, seats)

    def paid(mine: int, others: int) -> float:
        return played.payoffs([Played(0, mine), *(Played(seat, others) for seat in range(1, seats))])[0]

    guesses = range(low, 16)
    expected = [guess for guess in guesses if all(paid(other, guess) <= paid(guess, guess) for other in guesses)]
    found = equilibria(GAMES["beauty_contest"], values, seats)
    assert [one.moves["beauty_contest"] for one in found] == expected


def test_play_is_measured_from_one_equilibrium_or_none() -> None:
    assert resting_moves(GAMES["beauty_contest"], seats=10) == {"beauty_contest": 0}  # of 0 and 1 the lowest
    assert resting_moves(GAMES["prisoners_dilemma"]) == {"prisoners_dilemma": 0}
    assert resting_moves(GAMES["trust"]) == {"trust_trustor": 0, "trust_trustee": 0}
    assert resting_moves(GAMES["sealed_bid"], {"budget": 4}) == {"sealed_bid": 4}
    assert resting_moves(GAMES["stag_hunt"]) == {}  # two pure ones
    assert resting_moves(GAMES["sealed_bid"]) == {}  # a mixed one
    assert resting_moves(GAMES["sealed_bid"], {"budget": 7}) == {}  # none known


def test_each_step_of_thinking_takes_two_thirds() -> None:
    assert [round(level_k(k, 2 / 3, 0, 100), 2) for k in range(4)] == [50, 33.33, 22.22, 14.81]
    assert level_k(50, 2 / 3, 20, 100) == 20
