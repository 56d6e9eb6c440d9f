"""The arena: models and fixed strategies play the games, each in its own condition, round after round.

``match`` knows how a match goes, ``strategies`` the fixed opponents, ``prompts`` what a model is told and how its reply
is read, ``playing`` asks and keeps every reply, ``measures`` says what came of it.
"""

from __future__ import annotations

from affectlab.arena.match import Match, Round, Setup
from affectlab.arena.measures import (
    MatchFigures,
    PairingFigures,
    PlayerFigures,
    match_figures,
    pairing_figures,
    player_figures,
)
from affectlab.arena.players import Player, read_player
from affectlab.arena.playing import Arena, Result, everyone_with_everyone, play_arena
from affectlab.arena.strategies import STRATEGIES

__all__ = [
    "STRATEGIES",
    "Arena",
    "Match",
    "MatchFigures",
    "PairingFigures",
    "Player",
    "PlayerFigures",
    "Result",
    "Round",
    "Setup",
    "everyone_with_everyone",
    "match_figures",
    "pairing_figures",
    "play_arena",
    "player_figures",
    "read_player",
]
