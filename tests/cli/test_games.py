"""``affectlab games``, as a shell sees it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from affectlab.games import GAMES, ROLES

Cli = Callable[..., Any]


def test_all_roles_are_listed(cli: Cli) -> None:
    assert {row["role"] for row in cli("games", "list", "--json").json} == set(ROLES)
    assert "trust_trustee" in cli("games", "list").out


@pytest.mark.parametrize("game", GAMES)
def test_every_game_can_be_shown(cli: Cli, game: str) -> None:
    shown = cli("games", "show", game)
    assert shown.code == 0
    assert "Equilibria" in shown.out
    document = cli("games", "show", game, "--json").json
    assert document["parameters"] == dict(GAMES[game].defaults)
    assert document["equilibria"]


def test_own_payoffs_are_checked_and_solved(cli: Cli) -> None:
    document = cli("games", "show", "stag_hunt", "--set", "R=10", "--json").json
    # Indifferent when 10 q = 3 q + 2 (1 - q): q = 2/9.
    assert document["equilibria"][-1]["strategies"][0] == "stag with probability 0.222"
    assert cli("games", "show", "stag_hunt", "--set", "T=9").code == 2
    refused = cli("games", "show", "stag_hunt", "--set", "T=lots")
    assert (refused.code, refused.err) == (2, "Error: --set T=lots: 'lots' is not a number.\n")
    assert "'staghunt'; did you mean stag_hunt? There are" in cli("games", "show", "staghunt").err


def test_a_beauty_contest_shows_what_thinking_ahead_guesses(cli: Cli) -> None:
    shown = " ".join(cli("games", "show", "beauty_contest", "--players", "4").out.split())
    assert "everyone guesses 0" in shown
    assert "everyone guesses 1" in shown
    assert "0, 1, 2, 3 steps ahead from the middle (Nagel 1995): 50, 33.33, 22.22, 14.81." in shown


@pytest.mark.parametrize(
    ("game", "given", "told"),
    [
        ("escalation", "budget=1e6", "more than 1000 raises"),
        ("ultimatum", "pie=0.5", "must be whole"),
        ("trust", "endowment=1e9", "more than 1000 apart"),
    ],
)
def test_what_cannot_be_played_ends_in_words(cli: Cli, game: str, given: str, told: str) -> None:
    refused = cli("games", "show", game, "--set", given)
    assert refused.code == 2
    assert told in refused.err
