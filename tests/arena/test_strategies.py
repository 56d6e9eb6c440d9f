"""Fixed strategies: textbook payoffs, worked by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.arena.meeting import meet, totals

from affectlab.arena import Arena, Setup, read_player
from affectlab.errors import UserError
from affectlab.games import GAMES


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


def test_a_strategy_that_needs_cooperation_cannot_guess() -> None:
    one, other = read_player("strategy:grim"), read_player("strategy:random")
    with pytest.raises(UserError, match="strategy:random can"):
        Arena(Setup(GAMES["beauty_contest"]), (one, other), ((0, 1),))
