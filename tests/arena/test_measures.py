"""What came of matches, worked by hand."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.arena.meeting import meet, totals

from affectlab.arena import Match, MatchFigures, Setup, match_figures, pairing_figures, player_figures
from affectlab.arena.match import How
from affectlab.games import GAMES


def test_where_nothing_can_be_won_there_is_no_share_of_it(tmp_path: Path) -> None:
    match = meet(tmp_path, "tit_for_tat", "always_defect", rounds=2, parameters={"T": 1, "R": 0, "P": -1, "S": -2})
    assert totals(match) == (-2 - 1, 1 - 1)
    assert match_figures(match).surplus is None


def test_escalation_of_two_who_never_stop_ruins_both(tmp_path: Path) -> None:
    match = meet(tmp_path, "always_defect", "always_defect", game="escalation", rounds=1)
    # 2 4 6 … 16: the first owes 14 and gets nothing, the second 10 - 16.
    assert list(match.rounds[0].payoffs) == [-14, -6]
    figures = match_figures(match)
    assert figures.surplus == pytest.approx(-20 / 8)
    assert list(figures.exploitability) == [None, None]
    assert figures.off_equilibrium is None


def test_trust_that_is_returned_in_half(tmp_path: Path) -> None:
    match = meet(tmp_path, "always_cooperate", "always_cooperate", game="trust", rounds=1)
    assert list(match.rounds[0].payoffs) == [15, 15]  # 10 sent, 30 arrive, 15 returned
    figures = match_figures(match)
    assert (figures.surplus, figures.inequality) == (1, 0)
    # The trustee could have kept 15 more; what the trustor could have had is not seen.
    assert list(figures.exploitability) == [None, 15]
    # Sent 10 of 10 where 0 is the equilibrium, returned 15 of 30: (1 + 0.5) / 2.
    assert figures.off_equilibrium == pytest.approx(0.75)


def test_three_bid_at_once(tmp_path: Path) -> None:
    match = meet(tmp_path, "always_defect", "always_cooperate", "always_cooperate", game="sealed_bid", rounds=1)
    assert list(match.rounds[0].payoffs) == [0, 0, 0]  # a bid of 10 for a prize of 10
    figures = match_figures(match)
    # A bid of 1 would have won as well: 9 more. The others could have won nothing against 10.
    assert list(figures.exploitability) == [9, 0, 0]


def test_figures_of_play_against_a_defector(tmp_path: Path) -> None:
    match = meet(tmp_path, "tit_for_tat", "always_defect")
    figures = match_figures(match)
    assert list(figures.payoffs) == [0.9, 1.4]
    assert figures.surplus == pytest.approx(2.3 / 6)
    assert figures.inequality == pytest.approx(0.5)
    # Defecting in all ten rounds would have earned 1.0 a round; the defector did best.
    assert figures.exploitability == pytest.approx((0.1, 0))
    assert figures.off_equilibrium == pytest.approx(1 / 20)
    tat, defector = player_figures([match])
    assert (tat.payoff.value, tat.cooperation.value, defector.cooperation.value) == (0.9, 0.1, 0)
    assert tat.focal == {"prisoners_dilemma": 0.1}


def test_at_the_equilibrium_nobody_gains(tmp_path: Path) -> None:
    figures = match_figures(meet(tmp_path, "always_defect", "always_defect"))
    assert list(figures.exploitability) == [0, 0]
    assert figures.off_equilibrium == 0


def test_in_the_stag_hunt_there_is_no_single_equilibrium_to_be_off_from(tmp_path: Path) -> None:
    assert match_figures(meet(tmp_path, "grim", "grim", game="stag_hunt")).off_equilibrium is None


def decided(match: Match, *rounds: Sequence[tuple[float, How]]) -> Match:
    """A match in which each round's moves are made in the order of turns."""
    for moves in rounds:
        left = list(moves)
        while left:
            waiting = match.waiting()[0]
            match.decide(waiting, *left.pop(0))
    return match


def test_drawn_moves_are_paid_and_are_nobodys_behaviour() -> None:
    match = Match("m1", ("one", "other"), Setup(GAMES["prisoners_dilemma"], rounds=2))
    decided(match, [(0.0, "read"), (1.0, "drawn")], [(0.0, "read"), (0.0, "drawn")])
    figures = match_figures(match)
    assert list(figures.payoffs) == [(5 + 1) / 2, (0 + 1) / 2]
    # Only the moves of one, both the equilibrium move; with the drawn 1 it would be 1/4.
    assert figures.off_equilibrium == 0
    one, other = player_figures([match])
    assert (one.cooperation.value, one.focal, one.drawn) == (0, {"prisoners_dilemma": 0}, 0)
    assert (other.cooperation.value, other.focal, other.drawn) == (None, {}, 2)


def test_where_every_move_was_drawn_nothing_is_off_equilibrium() -> None:
    match = Match("m1", ("one", "other"), Setup(GAMES["prisoners_dilemma"]))
    assert match_figures(decided(match, [(0.0, "drawn"), (1.0, "drawn")])).off_equilibrium is None


def test_guesses_are_measured_from_the_lowest_number_though_others_rest_too() -> None:
    # Five players: all at 0 and all at 1 are equilibria. 20, 10, 0, 0, 20 of 100: mean distance from 0 is 0.1.
    match = Match("m1", tuple("abcde"), Setup(GAMES["beauty_contest"]))
    decided(match, [(20.0, "read"), (10.0, "read"), (0.0, "read"), (0.0, "read"), (20.0, "read")])
    assert match_figures(match).off_equilibrium == pytest.approx(0.1)


def test_the_interval_of_a_payoff_resamples_matches() -> None:
    matches = [Match(f"m{number}", ("one", "other"), Setup(GAMES["prisoners_dilemma"])) for number in range(4)]
    for match in matches[:2]:
        decided(match, [(1.0, "read"), (1.0, "read")])
    for match in matches[2:]:
        decided(match, [(0.0, "read"), (0.0, "read")])
    one, _ = player_figures(matches)
    assert one.payoff.value == 2  # (3 + 3 + 1 + 1) / 4
    assert (one.payoff.low, one.payoff.high) == (1, 3)  # all four like the first, or like the last, in 1 of 16 each
    assert player_figures(matches[:1])[0].payoff.low is None


def test_matches_of_the_same_players_are_put_together() -> None:
    def played(name: str, players: tuple[str, str], *rounds: tuple[float, float]) -> MatchFigures:
        match = Match(name, players, Setup(GAMES["prisoners_dilemma"], rounds=len(rounds)))
        moves: list[list[tuple[float, How]]] = [[(one, "read"), (other, "read")] for one, other in rounds]
        return match_figures(decided(match, *moves))

    figures = [
        played("m1", ("a", "b"), (1, 1)),
        played("m2", ("b", "a"), (1, 0)),
        played("m3", ("a", "b"), (0, 1), (0, 1)),
    ]
    together, turned = pairing_figures(figures)
    assert (together.players, together.matches) == (("a", "b"), 2)
    # Both matches weigh the same, whatever their rounds: (3 + 5) / 2 and (3 + 0) / 2.
    assert list(together.payoffs) == [4, 1.5]
    assert together.surplus == pytest.approx((6 / 6 + 5 / 6) / 2)
    assert together.inequality == pytest.approx((0 + 5) / 2)
    # Defecting would have paid a 5 in the first (2 more) and b 5, and b 1 in the second (1 more).
    assert list(together.exploitability) == [1, 1.5]
    assert together.off_equilibrium == pytest.approx((1 + 1 / 2) / 2)
    assert (turned.players, turned.matches, list(turned.payoffs)) == (("b", "a"), 1, [0, 5])


def test_what_some_match_of_a_pairing_does_not_give() -> None:
    def played(name: str, sent: float) -> MatchFigures:
        match = Match(name, ("a", "b"), Setup(GAMES["trust"]))
        moves: list[tuple[float, How]] = [(sent, "drawn"), (0.0, "read")] if sent else [(0.0, "read")]
        return match_figures(decided(match, moves))

    (found,) = pairing_figures([played("m1", 0.0), played("m2", 10.0)])
    # The trustor moves first: what another move would have brought is not seen. The trustee has lost nothing.
    assert list(found.exploitability) == [None, 0]
    assert found.off_equilibrium == 0


def test_a_gain_that_one_match_does_not_show_is_none_of_the_pairing() -> None:
    def played(name: str, *moves: float) -> MatchFigures:
        match = Match(name, ("a", "b"), Setup(GAMES["escalation"]))
        return match_figures(decided(match, [(move, "read") for move in moves]))

    figures = [played("m1", 0.0), played("m2", 1.0, 0.0)]
    # In the first the other never moves and loses nothing; in the second it stops, and what raising had brought is
    # not seen.
    assert [one.exploitability for one in figures] == [(None, 0), (None, None)]
    assert pairing_figures(figures)[0].exploitability == (None, None)
