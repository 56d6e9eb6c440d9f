"""Fixed strategies, as in Axelrod's tournaments: opponents whose every move can be foretold."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random
from types import MappingProxyType
from typing import TypeAlias

from affectlab.games import Turn
from affectlab.games.cooperation import COOPERATIVE, least_cooperative, most_cooperative

Strategy: TypeAlias = Callable[[Turn, Sequence[bool], Random], float]
"""From a turn, whether the others cooperated in each earlier round, and a source of chance, to a value."""


def _always_cooperate(turn: Turn, others: Sequence[bool], chance: Random) -> float:
    return most_cooperative(turn)


def _always_defect(turn: Turn, others: Sequence[bool], chance: Random) -> float:
    return least_cooperative(turn)


def _tit_for_tat(turn: Turn, others: Sequence[bool], chance: Random) -> float:
    return least_cooperative(turn) if others and not others[-1] else most_cooperative(turn)


def _grim(turn: Turn, others: Sequence[bool], chance: Random) -> float:
    return most_cooperative(turn) if all(others) else least_cooperative(turn)


def _random(turn: Turn, others: Sequence[bool], chance: Random) -> float:
    return chance.choice(turn.legal)


STRATEGIES: Mapping[str, Strategy] = MappingProxyType(
    {
        "always_cooperate": _always_cooperate,
        "always_defect": _always_defect,
        "tit_for_tat": _tit_for_tat,
        "grim": _grim,
        "random": _random,
    }
)
"""By name. All but ``random`` need a game in which moves are more or less cooperative (:data:`COOPERATIVE`)."""


def plays(strategy: str, game: str) -> bool:
    """Whether a strategy can play a game."""
    return strategy == "random" or game in COOPERATIVE
