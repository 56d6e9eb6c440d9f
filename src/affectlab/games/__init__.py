"""Games: what they are, what they pay, where they rest (equilibria), and where emotions move people in them.

Everything here is a pure function of plain data and knows no model. ``template`` says what a game is declared as,
``catalogue`` declares the seven, ``directions`` holds people's direction for each role and emotion, ``parameters`` the
orders payoffs must keep, ``play`` how a round goes and what it pays, ``equilibria`` where it rests.
"""

from __future__ import annotations

from affectlab.games.catalogue import GAMES, ROLES, find_game
from affectlab.games.directions import DIRECTIONS, EMOTIONS, Direction, Evidence
from affectlab.games.equilibria import Equilibrium, equilibria, resting_moves
from affectlab.games.parameters import asymmetry, broken_rules, fill
from affectlab.games.play import Played, Rules, Turn, round_of, winners
from affectlab.games.template import DecisionKind, Game, GameRole, Move, Parameter

__all__ = [
    "DIRECTIONS",
    "EMOTIONS",
    "GAMES",
    "ROLES",
    "DecisionKind",
    "Direction",
    "Equilibrium",
    "Evidence",
    "Game",
    "GameRole",
    "Move",
    "Parameter",
    "Played",
    "Rules",
    "Turn",
    "asymmetry",
    "broken_rules",
    "equilibria",
    "fill",
    "find_game",
    "resting_moves",
    "round_of",
    "winners",
]
