"""One round of each game: whose turn it is, what may be done, what it pays. Pure functions of the moves so far.

Values of moves are the role's own (1 for cooperating, 4 coins sent, a guess of 33). Numeric moves are whole numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import floor
from typing import NamedTuple, Protocol

from affectlab.errors import UserError
from affectlab.games.catalogue import ROLES
from affectlab.games.parameters import Values, fill
from affectlab.games.template import Game, GameRole


class Played(NamedTuple):
    """A move that was made: by which seat, and its value."""

    seat: int
    value: float


@dataclass(frozen=True, slots=True)
class Turn:
    """Somebody's turn.

    Attributes:
        seat: Whose, from 0.
        role: What is decided.
        legal: Values that may be chosen, ascending.
        knows: What the player sees of this round, by name, beside the parameters.
    """

    seat: int
    role: GameRole
    legal: tuple[float, ...]
    knows: Mapping[str, float] = field(default_factory=dict)


class Rules(Protocol):
    """How one round goes, for a number of seats."""

    @property
    def seats(self) -> int:
        """How many play."""
        ...

    def turns(self, moves: Sequence[Played]) -> tuple[Turn, ...]:
        """Whose turns it is after these moves, all of them at once; empty when the round is over."""
        ...

    def payoffs(self, moves: Sequence[Played]) -> tuple[float, ...]:
        """What a finished round pays each seat."""
        ...

    @property
    def most(self) -> float:
        """Largest sum of payoffs a round can have."""
        ...


def rules(game: Game, given: Values | None = None, seats: int = 2, *, repeated: bool = False) -> Rules:
    """How a round of a game goes.

    Args:
        game: Which.
        given: Parameters in the place of defaults.
        seats: How many play.
        repeated: Whether more than one round is played.

    Raises:
        UserError: When the parameters break the game's rules, or it is not played by so many.
    """
    fewest, most = game.players
    if not fewest <= seats <= most:
        wanted = str(fewest) if fewest == most else f"{fewest} to {most}"
        raise UserError(f"{game.title} is played by {wanted}, not by {seats}.")
    values = fill(game, given or {}, repeated=repeated)
    if game.id in ("prisoners_dilemma", "stag_hunt"):
        return _Matrix(game.roles[0], values)
    if game.id in ("sealed_bid", "beauty_contest"):
        return _AllAtOnce(game.roles[0], values, seats)
    in_turn: Mapping[str, Callable[[Values], Rules]] = {
        "escalation": _Escalation,
        "trust": _Trust,
        "ultimatum": _Ultimatum,
    }
    return in_turn[game.id](values)


def symmetric_matrix(values: Values) -> tuple[tuple[float, ...], ...]:
    """Payoffs of the row player of a 2 × 2 game: ``[i][j]`` with 0 for defect or hare, 1 for cooperate or stag."""
    return ((values["P"], values["T"]), (values["S"], values["R"]))


def winners(guesses: Sequence[float], p: float) -> tuple[float, tuple[int, ...]]:
    """The target of a beauty contest and who is nearest to it; those who tie all win and share the prize.

    >>> target, seats = winners([33, 33, 20], 2 / 3)
    >>> round(target, 2), seats
    (19.11, (2,))
    """
    target = p * sum(guesses) / len(guesses)
    away = [abs(guess - target) for guess in guesses]
    least = min(away)
    return target, tuple(seat for seat, distance in enumerate(away) if abs(distance - least) < 1e-9)


def _whole(low: float, high: float) -> tuple[float, ...]:
    return tuple(float(value) for value in range(-floor(-low), floor(high) + 1))


def _waiting(role: GameRole, seats: int, moves: Sequence[Played], legal: tuple[float, ...]) -> tuple[Turn, ...]:
    moved = {move.seat for move in moves}
    return tuple(Turn(seat, role, legal) for seat in range(seats) if seat not in moved)


def _in_order(moves: Sequence[Played]) -> list[float]:
    return [move.value for move in sorted(moves)]


@dataclass(frozen=True, slots=True)
class _Matrix:
    role: GameRole
    values: Values
    seats: int = 2

    def turns(self, moves: Sequence[Played]) -> tuple[Turn, ...]:
        return _waiting(self.role, 2, moves, (0.0, 1.0))

    def payoffs(self, moves: Sequence[Played]) -> tuple[float, ...]:
        matrix = symmetric_matrix(self.values)
        mine, other = (int(value) for value in _in_order(moves))
        return matrix[mine][other], matrix[other][mine]

    @property
    def most(self) -> float:
        return max(2 * self.values["R"], self.values["T"] + self.values["S"], 2 * self.values["P"])


@dataclass(frozen=True, slots=True)
class _AllAtOnce:
    role: GameRole
    values: Values
    seats: int

    def turns(self, moves: Sequence[Played]) -> tuple[Turn, ...]:
        low, high = (
            (0.0, self.values["budget"]) if "budget" in self.values else (self.values["low"], self.values["high"])
        )
        return _waiting(self.role, self.seats, moves, _whole(low, high))

    def payoffs(self, moves: Sequence[Played]) -> tuple[float, ...]:
        chosen = _in_order(moves)
        if "p" in self.values:
            _, won = winners(chosen, self.values["p"])
            paid = [0.0] * len(chosen)
        else:
            won = tuple(seat for seat, bid in enumerate(chosen) if bid == max(chosen))
            paid = chosen
        share = self.values["prize"] / len(won)
        return tuple((share if seat in won else 0.0) - paid[seat] for seat in range(len(chosen)))

    @property
    def most(self) -> float:
        return self.values["prize"]


@dataclass(frozen=True, slots=True)
class _Escalation:
    """Seat 0 begins. A raise overbids the other's standing bid by a step; who withdraws pays the own standing bid.

    Who cannot afford the next raise has no turn any more: the standing bids are settled.
    """

    values: Values
    seats: int = 2

    def turns(self, moves: Sequence[Played]) -> tuple[Turn, ...]:
        if moves and not moves[-1].value:
            return ()
        bids = self._bids(moves)
        seat = len(moves) % 2
        raised = bids[1 - seat] + self.values["step"]
        if raised > self.values["budget"]:
            return ()
        knows = {"own bid": bids[seat], "other's bid": bids[1 - seat], "next bid": raised}
        return (Turn(seat, ROLES["escalation"], (0.0, 1.0), knows),)

    def payoffs(self, moves: Sequence[Played]) -> tuple[float, ...]:
        bids = self._bids(moves)
        if bids[0] == bids[1]:  # nobody has bid
            return 0.0, 0.0
        winner = 0 if bids[0] > bids[1] else 1
        first, second = (self.values["prize"] * (seat == winner) - bids[seat] for seat in (0, 1))
        return first, second

    def _bids(self, moves: Sequence[Played]) -> list[float]:
        bids = [0.0, 0.0]
        for move in moves:
            if move.value:
                bids[move.seat] = bids[1 - move.seat] + self.values["step"]
        return bids

    @property
    def most(self) -> float:
        return self.values["prize"] - self.values["step"]


@dataclass(frozen=True, slots=True)
class _Trust:
    values: Values
    seats: int = 2

    def turns(self, moves: Sequence[Played]) -> tuple[Turn, ...]:
        if not moves:
            return (Turn(0, ROLES["trust_trustor"], _whole(0, self.values["endowment"])),)
        sent = moves[0].value
        if len(moves) > 1 or not sent:
            return ()
        arrived = sent * self.values["multiplier"]
        return (Turn(1, ROLES["trust_trustee"], _whole(0, arrived), {"sent": sent, "arrived": arrived}),)

    def payoffs(self, moves: Sequence[Played]) -> tuple[float, ...]:
        sent = moves[0].value
        returned = moves[1].value if len(moves) > 1 else 0.0
        return self.values["endowment"] - sent + returned, sent * self.values["multiplier"] - returned

    @property
    def most(self) -> float:
        return floor(self.values["endowment"]) * (self.values["multiplier"] - 1) + self.values["endowment"]


@dataclass(frozen=True, slots=True)
class _Ultimatum:
    values: Values
    seats: int = 2

    def turns(self, moves: Sequence[Played]) -> tuple[Turn, ...]:
        if not moves:
            return (Turn(0, ROLES["ultimatum_proposer"], _whole(0, self.values["pie"])),)
        if len(moves) > 1:
            return ()
        return (Turn(1, ROLES["ultimatum_responder"], (0.0, 1.0), {"offer": moves[0].value}),)

    def payoffs(self, moves: Sequence[Played]) -> tuple[float, ...]:
        offer, rejected = moves[0].value, moves[1].value
        return (0.0, 0.0) if rejected else (self.values["pie"] - offer, offer)

    @property
    def most(self) -> float:
        return self.values["pie"]
