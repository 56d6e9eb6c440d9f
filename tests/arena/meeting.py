"""Matches of fixed strategies."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from affectlab.arena import Arena, Match, Setup, play_arena, read_player
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
