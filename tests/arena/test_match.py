"""Matches of fixed strategies: textbook payoffs, worked by hand."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from affectlab.arena import (
    Arena,
    Match,
    Setup,
    everyone_with_everyone,
    match_figures,
    play_arena,
    player_figures,
    read_player,
)
from affectlab.errors import UserError
from affectlab.games import GAMES


def meet(
    folder: Path,
    *names: str,
    game: str = "prisoners_dilemma",
    rounds: int = 10,
    parameters: Mapping[str, float] | None = None,
    alternate: bool = False,
) -> Match:
    """One match of fixed strategies."""
    players = tuple(dict.fromkeys(read_player(f"strategy:{name}") for name in names))
    pairing = tuple(players.index(read_player(f"strategy:{name}")) for name in names)
    arena = Arena(Setup(GAMES[game], parameters or {}, rounds, alternate), players, (pairing,))
    (match,) = play_arena(arena, {}, folder / "out").matches
    return match


def totals(match: Match) -> tuple[float, ...]:
    return tuple(sum(one.payoffs[player] for one in match.rounds) for player in range(len(match.players)))


def test_tit_for_tat_loses_one_round_to_always_defect(tmp_path: Path) -> None:
    match = meet(tmp_path, "tit_for_tat", "always_defect")
    # Round 1: S and T; then nine times P: 0 + 9 and 5 + 9.
    assert list(match.rounds[0].payoffs) == [0, 5]
    assert all(one.payoffs == (1, 1) for one in match.rounds[1:])
    assert totals(match) == (9, 14)


def test_tit_for_tat_and_grim_cooperate_throughout(tmp_path: Path) -> None:
    assert totals(meet(tmp_path, "tit_for_tat", "grim")) == (30, 30)


def test_grim_never_forgives_and_tit_for_tat_does(tmp_path: Path) -> None:
    # Against random, grim defects from the first defection on; tit for tat repeats the other's last move.
    grim = meet(tmp_path / "grim", "grim", "random", rounds=20)
    moves = [[move.value for move in one.moves] for one in grim.rounds]
    first = next(number for number, (_, other) in enumerate(moves) if other == 0)
    assert [mine for mine, _ in moves] == [1.0] * (first + 1) + [0.0] * (19 - first)
    tat = meet(tmp_path / "tat", "tit_for_tat", "random", rounds=20)
    moves = [[move.value for move in one.moves] for one in tat.rounds]
    assert [mine for mine, _ in moves] == [1.0, *(other for _, other in moves[:-1])]
    assert {other for _, other in moves} == {0.0, 1.0}


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


def test_players_change_seats(tmp_path: Path) -> None:
    match = meet(tmp_path, "always_defect", "always_cooperate", game="trust", rounds=2, alternate=True)
    # Round 1: the defector sends 0. Round 2: the cooperator sends 10, 30 arrive and stay.
    assert [one.payoffs for one in match.rounds] == [(10, 0), (30, 0)]
    assert [[(move.player, move.role) for move in one.moves] for one in match.rounds] == [
        [(0, "trust_trustor")],
        [(1, "trust_trustor"), (0, "trust_trustee")],
    ]


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


def test_repeated_play_needs_payoffs_that_bear_it(tmp_path: Path) -> None:
    values = {"T": 10, "R": 4, "P": 1, "S": 0}
    with pytest.raises(UserError, match=r"2R > T \+ S"):
        meet(tmp_path, "grim", "grim", parameters=values)
    meet(tmp_path, "grim", "grim", parameters=values, rounds=1)


def test_a_tournament_pairs_everyone_with_everyone_and_itself() -> None:
    assert everyone_with_everyone(3) == ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ("strategy:tit_for_tta", "did you mean tit_for_tat"),
        (" as anger@1.0", "names no model"),
        ("smollm2 as anger", "has no strength"),
    ],
)
def test_players_that_are_none(spec: str, told: str) -> None:
    with pytest.raises(UserError, match=told):
        read_player(spec)


def test_players_are_spelled_in_one_way() -> None:
    player = read_player("smollm2 as happiness@1")
    assert (player.name, player.model, player.condition) == ("smollm2 as joy@1.0", "smollm2", "joy@1.0")
    assert read_player("smollm2 as neutral").name == "smollm2"


def test_a_strategy_that_needs_cooperation_cannot_guess() -> None:
    one, other = read_player("strategy:grim"), read_player("strategy:random")
    with pytest.raises(UserError, match="strategy:random can"):
        Arena(Setup(GAMES["beauty_contest"]), (one, other), ((0, 1),))
