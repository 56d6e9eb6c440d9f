"""A match, move by move: whose decision is waited for, and what its rounds came to. Knows no model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Literal, NamedTuple, TypeAlias

from affectlab.games import Game, Played, Rules, Turn, round_of
from affectlab.games.cooperation import cooperation

How: TypeAlias = Literal["read", "drawn", "strategy"]
"""Read from a model's reply; drawn in the place of an unreadable one; made by a fixed strategy."""


@dataclass(frozen=True, slots=True)
class Setup:
    """What is played.

    Attributes:
        game: Which game.
        parameters: Its payoff parameters, in the place of defaults.
        rounds: How many rounds each match has, at least 1.
        alternate: Whether players change seats after every round.
        seed: Of whatever is drawn.
    """

    game: Game
    parameters: Mapping[str, float] = field(default_factory=dict)
    rounds: int = 1
    alternate: bool = False
    seed: int = 0

    def rules(self, seats: int) -> Rules:
        """How a round goes.

        Raises:
            UserError: When the parameters break the game's rules, or so many do not play it.
        """
        return round_of(self.game, self.parameters, seats, repeated=self.rounds > 1)


class Made(NamedTuple):
    """A move with all that is recorded of it."""

    player: int
    seat: int
    role: str
    value: float
    low: float
    high: float
    how: How
    outcome: str
    cooperation: float | None


class Waiting(NamedTuple):
    """A decision that is waited for.

    Attributes:
        round: From 0.
        player: Who is to decide, an index into the match's players.
        turn: What is to be decided.
        nth: How many moves this player has made in the round already.
    """

    round: int
    player: int
    turn: Turn
    nth: int


@dataclass(frozen=True, slots=True)
class Round:
    """A finished round.

    Attributes:
        number: From 0.
        moves: In the order of turns; of seats, where all move at once.
        payoffs: What each player (not seat) got.
    """

    number: int
    moves: tuple[Made, ...]
    payoffs: tuple[float, ...]


class Match:
    """A match under way."""

    def __init__(self, name: str, players: Sequence[str], setup: Setup) -> None:
        """Begin.

        Args:
            name: Unique among the matches of one arena.
            players: Names, one a seat; one name may sit on several.
            setup: What is played.
        """
        self.name = name
        self.players = tuple(players)
        self.setup = setup
        self.rounds: list[Round] = []
        self._rules = setup.rules(len(players))
        self._moves: list[Made] = []

    @property
    def most(self) -> float:
        """Largest sum of payoffs that a round can have."""
        return self._rules.most

    def waiting(self) -> tuple[Waiting, ...]:
        """All decisions that are waited for now; none when the match is over."""
        number = len(self.rounds)
        if number == self.setup.rounds:
            return ()
        found = (Waiting(number, self._player(turn.seat), turn, self._made(turn.seat)) for turn in self._turns())
        return tuple(found)

    def decide(self, waiting: Waiting, value: float, how: How, outcome: str = "") -> Round | None:
        """Make a move that is waited for.

        Returns:
            The round, when this finished it.

        Raises:
            ValueError: When the value may not be chosen.
        """
        turn = waiting.turn
        if value not in turn.legal:
            raise ValueError(f"{value:g} may not be chosen")
        level = cooperation(turn, value)
        self._moves.append(
            Made(
                waiting.player,
                turn.seat,
                turn.role.id,
                value,
                turn.legal[0],
                turn.legal[-1],
                how,
                outcome,
                level,
            )
        )
        if self._turns():
            return None
        paid = self._rules.payoffs(self._played())
        order = [self._seat(player) for player in range(len(self.players))]
        # Moves made at the same time have no order: they are kept by seat, whoever's reply came first.
        moves = sorted(self._moves, key=lambda move: move.seat) if self.setup.game.simultaneous else self._moves
        finished = Round(len(self.rounds), tuple(moves), tuple(paid[seat] for seat in order))
        self.rounds.append(finished)
        self._moves = []
        return finished

    def chance(self, waiting: Waiting) -> Random:
        """The source of chance of one decision: the same in every session."""
        return Random(f"{self.setup.seed}/{self.name}/{waiting.round}/{waiting.player}/{waiting.nth}")  # noqa: S311

    def others_cooperated(self, player: int) -> list[bool]:
        """For each finished round, whether all moves of the others were at least half cooperative."""
        return [
            all((move.cooperation or 0.0) >= 0.5 for move in one.moves if move.player != player) for one in self.rounds
        ]

    def _turns(self) -> tuple[Turn, ...]:
        return self._rules.turns(self._played())

    def _played(self) -> list[Played]:
        return [Played(move.seat, move.value) for move in self._moves]

    def _made(self, seat: int) -> int:
        return sum(move.seat == seat for move in self._moves)

    def _shift(self) -> int:
        return len(self.rounds) if self.setup.alternate else 0

    def _player(self, seat: int) -> int:
        return (seat + self._shift()) % len(self.players)

    def _seat(self, player: int) -> int:
        return (player - self._shift()) % len(self.players)
