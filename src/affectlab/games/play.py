"""One round of each game: whose turn it is, what may be done, what it pays. Pure functions of the moves so far.

Values of moves are the role's own (1 for cooperating, 4 coins sent, a guess of 33). Numeric moves are whole numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import floor
from typing import NamedTuple, Protocol

from affectlab.errors import UserError
from affectlab.games.amounts import amount
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


MOST_VALUES = 1001
"""Most values a move can have, and most raises of an escalation: each must be listed, scored or solved."""

LARGEST = 1e9
"""Largest size of a parameter: sums of payoffs beyond it would lose the points they are made of."""


def round_of(game: Game, given: Values | None = None, seats: int = 2, *, repeated: bool = False) -> Rules:
    """How a round of a game goes.

    Args:
        game: Which.
        given: Parameters in the place of defaults.
        seats: How many play.
        repeated: Whether more than one round is played.

    Raises:
        UserError: When the parameters break the game's rules or cannot be played in whole numbers, or the game is not
            played by so many.
    """
    fewest, most = game.players
    if not fewest <= seats <= most:
        wanted = str(fewest) if fewest == most else f"{fewest} to {most}"
        raise UserError(f"{game.title} is played by {wanted}, not by {seats}.")
    values = fill(game, given or {}, repeated=repeated)
    for problem in _unplayable(game, values):
        raise UserError(f"{game.title} cannot be played so: {problem}.")
    return _ROUNDS[game.id](values, seats)


def _unplayable(game: Game, values: Values) -> Iterator[str]:
    """Why the game is not played with these values, although they make it: moves are whole, and can be listed."""
    for name, value in values.items():
        if abs(value) > LARGEST:
            yield f"{name}={value:g} is beyond {amount(LARGEST)}"
    bounds = _BOUNDS.get(game.id, {})
    for name in bounds.values():
        if values[name] != floor(values[name]):
            yield f"{name}={amount(values[name])} bounds moves, which are whole numbers, so it must be whole"
    if bounds:
        low = values[bounds["low"]] if "low" in bounds else 0.0
        high = values[bounds["high"]] * (values["multiplier"] if game.id == "trust" else 1)
        if high - low >= MOST_VALUES:
            yield f"moves from {amount(low)} to {amount(high)} are more than {MOST_VALUES - 1} apart"
    if game.id == "escalation" and values["budget"] / values["step"] >= MOST_VALUES:
        budget, step = amount(values["budget"]), amount(values["step"])
        yield f"a budget of {budget} by steps of {step} is more than {MOST_VALUES - 1} raises"


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
    values: Values
    role: GameRole
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
class _SealedBid:
    values: Values
    seats: int

    def turns(self, moves: Sequence[Played]) -> tuple[Turn, ...]:
        return _waiting(ROLES["sealed_bid"], self.seats, moves, _whole(0, self.values["budget"]))

    def payoffs(self, moves: Sequence[Played]) -> tuple[float, ...]:
        bids = _in_order(moves)
        prizes = _shared(self.values["prize"], tuple(seat for seat, bid in enumerate(bids) if bid == max(bids)), bids)
        return tuple(prize - bid for prize, bid in zip(prizes, bids, strict=True))

    @property
    def most(self) -> float:
        return self.values["prize"]


@dataclass(frozen=True, slots=True)
class _BeautyContest:
    values: Values
    seats: int

    def turns(self, moves: Sequence[Played]) -> tuple[Turn, ...]:
        legal = _whole(self.values["low"], self.values["high"])
        return _waiting(ROLES["beauty_contest"], self.seats, moves, legal)

    def payoffs(self, moves: Sequence[Played]) -> tuple[float, ...]:
        guesses = _in_order(moves)
        return _shared(self.values["prize"], winners(guesses, self.values["p"])[1], guesses)

    @property
    def most(self) -> float:
        return self.values["prize"]


def _shared(prize: float, won: tuple[int, ...], moves: Sequence[float]) -> tuple[float, ...]:
    return tuple(prize / len(won) if seat in won else 0.0 for seat in range(len(moves)))


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
        if raised > self.values["budget"] * (1 + 1e-12):  # 3 steps of 0.1 are affordable out of 0.3
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

    def _bids(self, moves: Sequence[Played]) -> tuple[float, float]:
        # Only the last move can be a withdrawal; before it the two raise in turn.
        raises = len(moves) - bool(moves and not moves[-1].value)
        last, other = raises * self.values["step"], max(raises - 1, 0) * self.values["step"]
        return (last, other) if raises % 2 else (other, last)

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


_ROUNDS: Mapping[str, Callable[[Values, int], Rules]] = {
    "prisoners_dilemma": lambda values, seats: _Matrix(values, ROLES["prisoners_dilemma"]),
    "stag_hunt": lambda values, seats: _Matrix(values, ROLES["stag_hunt"]),
    "escalation": _Escalation,
    "trust": _Trust,
    "ultimatum": _Ultimatum,
    "sealed_bid": _SealedBid,
    "beauty_contest": _BeautyContest,
}

_BOUNDS: Mapping[str, Mapping[str, str]] = {
    "trust": {"high": "endowment"},
    "ultimatum": {"high": "pie"},
    "sealed_bid": {"high": "budget"},
    "beauty_contest": {"low": "low", "high": "high"},
}
"""Parameters that bound the moves of a game; moves begin at 0 where no lower one is named."""
