"""Where a game rests: equilibria of two-player games by nashpy, closed forms for the others.

Sequential games are brought into strategic form over plans (how often to raise, which offers to accept) for their Nash
equilibria, and solved backwards for the subgame-perfect ones.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from affectlab.games.amounts import amount
from affectlab.games.parameters import Values, fill
from affectlab.games.play import Played, Rules, round_of, symmetric_matrix
from affectlab.games.template import Game

Floats: TypeAlias = NDArray[np.float64]
Matrix: TypeAlias = Sequence[Sequence[float]]


@dataclass(frozen=True, slots=True)
class Equilibrium:
    """A profile from which nobody gains by turning away alone.

    Attributes:
        strategies: What each player does, in words.
        payoffs: Expected payoff of each.
        kind: ``pure``, ``mixed`` or ``subgame-perfect``.
        moves: Value that each role's player chooses there, by role id, where it is a single one.
    """

    strategies: tuple[str, ...]
    payoffs: tuple[float, ...]
    kind: str
    moves: Mapping[str, float]


def equilibria(game: Game, given: Values | None = None, seats: int = 2) -> tuple[Equilibrium, ...]:
    """Equilibria of one round, the one that :func:`resting_moves` takes first where it takes any.

    All equilibria of the 2 × 2 games. Of a sequential game the subgame-perfect outcome, and Nash equilibria in pure
    plans (of the ultimatum game those in which an offer is accepted). Of the beauty contest those in which everyone
    names the same whole number. Of the all-pay auction the symmetric one: with a budget of at least the prize that of
    bids of any size, not only whole ones; with a budget in between the prize over the number of bidders and the prize,
    none.

    Args:
        game: Which.
        given: Parameters in the place of defaults.
        seats: How many play.

    Raises:
        UserError: When the parameters break the game's rules or cannot be played, or the game is not played by so many.
    """
    round_of(game, given, seats)
    return _solved(game.id, tuple(sorted(fill(game, given or {}).items())), seats)


def resting_moves(game: Game, given: Values | None = None, seats: int = 2) -> Mapping[str, float]:
    """The move of each role in the one equilibrium that play can be measured from; empty where there is no such one.

    That is the subgame-perfect one where moves are in turn, the lowest number in the beauty contest (the only
    equilibrium where any number may be named), else the only one in pure strategies.

    Raises:
        UserError: As :func:`equilibria`.
    """
    found = equilibria(game, given, seats)
    if not found:
        return {}
    alone = sum(one.kind == "pure" for one in found) == 1 and found[0].kind == "pure"
    chosen = found[0].kind == "subgame-perfect" or game.id == "beauty_contest"
    return found[0].moves if alone or chosen else {}


@lru_cache(maxsize=64)
def _solved(game: str, values: tuple[tuple[str, float], ...], seats: int) -> tuple[Equilibrium, ...]:
    return tuple(_SOLVERS[game](dict(values), seats))


def bimatrix(row: Matrix, column: Matrix) -> list[tuple[tuple[float, ...], tuple[float, ...]]]:
    """All Nash equilibria of a non-degenerate bimatrix game, by support enumeration (nashpy).

    Args:
        row: Payoffs of the row player [m][n].
        column: Payoffs of the column player [m][n].

    Returns:
        Mixed strategies of both players, one pair for each equilibrium.
    """
    import nashpy

    with warnings.catch_warnings():
        # An even number of equilibria marks a degenerate game; those found are equilibria all the same.
        warnings.simplefilter("ignore", RuntimeWarning)
        found = nashpy.Game(row, column).support_enumeration()
        return [(tuple(map(float, mine)), tuple(map(float, other))) for mine, other in found]


def pure(row: ArrayLike, column: ArrayLike) -> Iterator[tuple[int, int]]:
    """Pure Nash equilibria of a bimatrix game of any size, also of degenerate ones: both play a best reply.

    Args:
        row: Payoffs of the row player [m, n].
        column: Payoffs of the column player [m, n].
    """
    mine, other = np.asarray(row), np.asarray(column)
    best = (mine == mine.max(axis=0)) & (other == other.max(axis=1, keepdims=True))
    yield from ((int(i), int(j)) for i, j in np.argwhere(best))


def all_pay_bid(prize: float, seats: int) -> float:
    """Mean bid in the symmetric equilibrium of the all-pay auction: the prize over the number of bidders."""
    return prize / seats


def level_k(k: int, p: float, low: float, high: float) -> float:
    """The guess of somebody who thinks k steps ahead, from the middle of the range (Nagel 1995).

    >>> [round(level_k(k, 2 / 3, 0, 100), 1) for k in range(4)]
    [50.0, 33.3, 22.2, 14.8]
    """
    return max((low + high) / 2 * float(p**k), low)


def _two_by_two(values: Values, role: str, names: tuple[str, str]) -> Iterator[Equilibrium]:
    row = symmetric_matrix(values)
    column = tuple(zip(*row, strict=True))
    for mine, other in bimatrix(row, column):
        plain = max(mine) == max(other) == 1
        strategies = tuple(
            names[played.index(1)] if plain else f"{names[1]} with probability {played[1]:.3g}"
            for played in (mine, other)
        )
        payoffs = tuple(
            sum(mine[i] * other[j] * matrix[i][j] for i in (0, 1) for j in (0, 1)) for matrix in (row, column)
        )
        same = plain and mine == other
        yield Equilibrium(strategies, payoffs, "pure" if plain else "mixed", {role: mine[1]} if same else {})


def _prisoners_dilemma(values: Values, seats: int) -> Iterator[Equilibrium]:
    return _two_by_two(values, "prisoners_dilemma", ("defect", "cooperate"))


def _stag_hunt(values: Values, seats: int) -> Iterator[Equilibrium]:
    return _two_by_two(values, "stag_hunt", ("hare", "stag"))


def _escalation(values: Values, seats: int) -> Iterator[Equilibrium]:
    from affectlab.games.catalogue import ESCALATION

    pays = _by_raises(round_of(ESCALATION, values))
    most = len(pays) - 1
    reached = most
    for raises in reversed(range(most)):  # backwards; who is indifferent stops
        seat = raises % 2
        if pays[raises, seat] >= pays[reached, seat]:
            reached = raises
    yield Equilibrium(
        (_raising((reached + 1) // 2), _raising(reached // 2)),
        _paid(pays[reached]),
        "subgame-perfect",
        {"escalation": float(reached > 0)},
    )
    # In plans, i and j raises at most: the first stops after 2 i raises, or the second after 2 j + 1.
    first, second = np.ogrid[: (most + 1) // 2 + 1, : most // 2 + 1]
    raises_made = np.minimum(np.where(first <= second, 2 * first, 2 * second + 1), most)
    for i, j in pure(pays[raises_made, 0], pays[raises_made, 1]):
        yield Equilibrium((_raising(i), _raising(j)), _paid(pays[raises_made[i, j]]), "pure", {})


def _by_raises(played: Rules) -> Floats:
    """What an escalation pays both [most raises + 1, 2] when it ends after 0, 1, 2 … raises."""
    raised: list[Played] = []
    found = []
    while turns := played.turns(raised):
        seat = turns[0].seat
        found.append(played.payoffs([*raised, Played(seat, 0.0)]))
        raised.append(Played(seat, 1.0))
    # Steps of 0.1 do not add up exactly: what is equal up to rounding is equal.
    return np.round([*found, played.payoffs(raised)], 9)


def _paid(row: Floats) -> tuple[float, ...]:
    return tuple(map(float, row))


def _raising(times: int) -> str:
    return "never bids" if not times else f"raises up to {times} time{'s' if times > 1 else ''}"


def _trust(values: Values, seats: int) -> Iterator[Equilibrium]:
    # Whatever is sent, keeping it all is best; so nothing is sent.
    yield Equilibrium(
        ("sends 0", "returns 0 of whatever arrives"),
        (values["endowment"], 0.0),
        "subgame-perfect",
        {"trust_trustor": 0.0, "trust_trustee": 0.0},
    )


def _ultimatum(values: Values, seats: int) -> Iterator[Equilibrium]:
    from affectlab.games.catalogue import ULTIMATUM

    played = round_of(ULTIMATUM, values)
    (turn,) = played.turns(())
    yield Equilibrium(
        ("offers 0", "accepts every offer"),
        (values["pie"], 0.0),
        "subgame-perfect",
        {"ultimatum_proposer": 0.0, "ultimatum_responder": 0.0},
    )
    offers = turn.legal
    accepted = np.array([played.payoffs((Played(0, offer), Played(1, 0.0))) for offer in offers])
    rejected = np.array([played.payoffs((Played(0, offer), Played(1, 1.0))) for offer in offers])
    # The responder's plans: the smallest offer that is accepted. [offer, least, seat]
    passes = np.greater_equal.outer(np.array(offers), np.array(offers))[:, :, None]
    pays = np.where(passes, accepted[:, None], rejected[:, None])
    for i, j in pure(pays[:, :, 0], pays[:, :, 1]):
        if i == j > 0:
            strategies = (f"offers {amount(offers[i])}", f"accepts {amount(offers[j])} or more")
            yield Equilibrium(strategies, _paid(pays[i, j]), "pure", {"ultimatum_proposer": offers[i]})


def _sealed_bid(values: Values, seats: int) -> Iterator[Equilibrium]:
    prize, budget = values["prize"], values["budget"]
    if budget >= prize:
        root = "" if seats == 2 else f"^(1/{seats - 1})"
        mean = all_pay_bid(prize, seats)
        words = (
            f"bids at random, whole or not, {amount(mean, 3)} on average: "
            f"P(bid <= b) = (b/{amount(prize)}){root} from 0 to {amount(prize)}"
        )
        yield Equilibrium((words,) * seats, (0.0,) * seats, "mixed", {})
    elif budget <= prize / seats:
        # Nobody can outbid, and a share of the prize is worth the bid (Che and Gale 1998).
        yield Equilibrium(
            (f"bids {amount(budget)}",) * seats, (prize / seats - budget,) * seats, "pure", {"sealed_bid": budget}
        )


def _beauty_contest(values: Values, seats: int) -> Iterator[Equilibrium]:
    from affectlab.games.catalogue import BEAUTY_CONTEST

    played = round_of(BEAUTY_CONTEST, values, seats)
    share = values["prize"] / seats
    guess = values["low"]
    # Above the lowest number, one less is the best other guess: where all name g, a guess h < g is nearest when
    # h (1 - 2p/n) > g (2p (n - 1)/n - 1), so the largest h is; a higher guess never is. Once one less wins, it does
    # for every higher g too.
    while guess == values["low"] or _less_wins_nothing(played, guess, share):
        yield Equilibrium((f"guesses {amount(guess)}",) * seats, (share,) * seats, "pure", {"beauty_contest": guess})
        guess += 1


def _less_wins_nothing(played: Rules, guess: float, share: float) -> bool:
    (first, *_) = played.turns(())
    alone = played.payoffs([Played(0, guess - 1), *(Played(seat, guess) for seat in range(1, played.seats))])[0]
    return guess <= first.legal[-1] and alone <= share


_SOLVERS: Mapping[str, Callable[[Values, int], Iterator[Equilibrium]]] = {
    "prisoners_dilemma": _prisoners_dilemma,
    "stag_hunt": _stag_hunt,
    "escalation": _escalation,
    "trust": _trust,
    "ultimatum": _ultimatum,
    "sealed_bid": _sealed_bid,
    "beauty_contest": _beauty_contest,
}
