"""Every table that is kept by game or role knows all of them: what a new game must be entered in."""

from __future__ import annotations

from collections.abc import Collection

import pytest

from affectlab.arena import prompts
from affectlab.benchmarks.decisions import authors, validate
from affectlab.errors import UserError
from affectlab.games import DIRECTIONS, GAMES, ROLES, cooperation, find_game, parameters, play
from affectlab.games.equilibria import _SOLVERS

BINARY = {role.id for role in ROLES.values() if role.kind == "binary"}


@pytest.mark.parametrize(
    ("table", "wanted"),
    [
        (parameters._ORDERS, GAMES),
        (play._ROUNDS, GAMES),
        (_SOLVERS, GAMES),
        (prompts._RULES_TOLD, GAMES),
        (DIRECTIONS, ROLES),
        (prompts.NAMES, BINARY),
        (prompts._AMOUNTS, set(ROLES) - BINARY),
        (prompts._DID, set(ROLES) - BINARY),
        (authors._LEVELS, ROLES),
    ],
)
def test_a_table_has_every_game_or_role(table: Collection[str], wanted: Collection[str]) -> None:
    assert set(table) == set(wanted)


def test_tables_of_some_games_or_roles_name_no_others() -> None:
    assert set(cooperation.COOPERATIVE) < set(GAMES)
    assert set(play._BOUNDS) < set(GAMES)
    assert set(ROLES) > cooperation._FALLING | cooperation._HALVES
    assert set(validate._EXTRAS) < set(ROLES)


def test_every_role_is_a_move_of_its_game() -> None:
    for game in GAMES.values():
        assert {role.id for role in game.roles} == {move.role for move in game.moves}
        assert all(role.game == game.id for role in game.roles)


def test_bounds_are_parameters_of_their_game() -> None:
    for game, bounds in play._BOUNDS.items():
        assert set(bounds.values()) <= set(GAMES[game].defaults)


def test_a_game_of_another_name_is_asked_for() -> None:
    with pytest.raises(UserError, match=r"'trsut'; did you mean trust\? There are: prisoners_dilemma, "):
        find_game("trsut")
    with pytest.raises(UserError, match=r"'zzz'\. There are"):
        find_game("zzz")
