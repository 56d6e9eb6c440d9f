"""What a game is declared as: players, moves, information, payoff parameters, and the roles a decision is taken in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, TypeAlias

from affectlab.games.directions import Direction, direction_of

DecisionKind: TypeAlias = Literal["binary", "ordered"]
"""Two options, one of them the focal behaviour; or more options that stand in an order."""


@dataclass(frozen=True, slots=True)
class GameRole:
    """One player's decision in a game.

    Options have *values* in the game's own terms (a guess of 33, 4 coins sent, 1 for cooperating). What is compared
    over emotions is ``y``, the amount of the focal behaviour: the value itself, or (``rising`` false) how far the value
    lies below the top of its range.

    Attributes:
        id: Stable id (``"trust_trustor"``).
        game: Id of the game it belongs to.
        title: For people.
        decides: What the player decides, in one sentence.
        focal: The focal behaviour, whose amount ``y`` is.
        kind: Whether the decision is a binary or an ordered one.
        options: Ids of the two options of a binary role by value 0 and 1; empty for an ordered one.
        unit: What values count.
        rising: Whether a larger value is more of the focal behaviour.
    """

    id: str
    game: str
    title: str
    decides: str
    focal: str
    kind: DecisionKind
    options: tuple[str, ...] = ()
    unit: str = ""
    rising: bool = True

    def y(self, value: float, low: float, high: float) -> float:
        """Amount of the focal behaviour in a value, within ``[low, high]``."""
        return value if self.rising else low + high - value

    def evidence(self, emotion: str) -> Direction:
        """Where people's focal behaviour moves under an emotion, and what that rests on."""
        return direction_of(self.id, emotion)

    def direction(self, emotion: str) -> int:
        """-1, 0 or 1: where people's focal behaviour moves under an emotion (an id of ``basic6_neutral``)."""
        return self.evidence(emotion).direction


@dataclass(frozen=True, slots=True)
class Parameter:
    """A number a game's payoffs depend on, and its value where none is given."""

    name: str
    default: float
    meaning: str


@dataclass(frozen=True, slots=True)
class Move:
    """A step of a game: who moves, and what that player knows then."""

    role: str
    knows: str


@dataclass(frozen=True, slots=True)
class Game:
    """A declared game.

    Attributes:
        id: Stable id.
        title: For people.
        about: What it isolates, in a sentence or two.
        source: The study it comes from.
        players: Fewest and most players.
        moves: In order; simultaneous when the players of one move do not see each other's.
        simultaneous: Whether all move at once.
        roles: Decisions in it; players beyond the first share the last one.
        parameters: Of its payoffs.
        rules: What the parameters must satisfy, for people.
    """

    id: str
    title: str
    about: str
    source: str
    players: tuple[int, int]
    moves: tuple[Move, ...]
    simultaneous: bool
    roles: tuple[GameRole, ...]
    parameters: tuple[Parameter, ...]
    rules: tuple[str, ...]

    @property
    def defaults(self) -> Mapping[str, float]:
        """Parameters by name, at their defaults."""
        return MappingProxyType({one.name: one.default for one in self.parameters})

    def role(self, role_id: str) -> GameRole:
        """One of its roles.

        Raises:
            KeyError: When it has no such role.
        """
        return {one.id: one for one in self.roles}[role_id]
