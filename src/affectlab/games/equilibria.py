"""Where a game rests: equilibria of two-player games by nashpy, closed forms for the others.

Sequential games are brought into strategic form over plans (how often to raise, which offers to accept) for their Nash
equilibria, and solved backwards for the subgame-perfect ones.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from affectlab.games.parameters import Values, fill
from affectlab.games.play import Played, Rules, rules, symmetric_matrix
from affectlab.games.template import Game

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
    """Equilibria of one round, the subgame-perfect one first where moves are in turn.

    All equilibria of the 2 × 2 games. Of a sequential game the subgame-perfect outcome, and Nash equilibria in pure
    plans (of the ultimatum game those in which an offer is accepted). The symmetric one of the all-pay auction, but
    none for a budget between the prize over the number of bidders and the prize. The only one of the beauty contest.

    Args:
        game: Which.
        given: Parameters in the place of defaults.
        seats: How many play.

    Raises:
        UserError: When the parameters break the game's rules, or it is not played by so many.
    """
    rules(game, given, seats)
    return tuple(_SOLVERS[game.id](fill(game, given or {}), seats))


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


def pure(row: Matrix, column: Matrix) -> Iterator[tuple[int, int]]:
    """Pure Nash equilibria of a bimatrix game of any size (nashpy's best-response test), also of degenerate ones."""
    import nashpy
    import numpy as np

    game = nashpy.Game(row, column)
    rows, columns = np.eye(len(row)), np.eye(len(row[0]))
    for i, j in itertools.product(range(len(row)), range(len(row[0]))):
        if all(game.is_best_response(rows[i], columns[j])):
            yield i, j


def all_pay_bid(prize: float, seats: int) -> float:
    """Mean bid in the symmetric equilibrium of the all-pay auction: the prize over the number of bidders."""
    return prize / seats


def all_pay_cdf(bid: float, prize: float, seats: int) -> float:
    """Share of bids up to ``bid`` in the symmetric equilibrium: (bid/prize)^(1/(n-1)) between 0 and the prize.

    Source: Baye, Kovenock and de Vries 1996, The all-pay auction with complete information.
    """
    return float(min(max(bid / prize, 0.0), 1.0) ** (1 / (seats - 1)))


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


def _backwards(played: Rules, moves: tuple[Played, ...] = ()) -> tuple[tuple[Played, ...], tuple[float, ...]]:
    """The subgame-perfect path from here on; who is indifferent takes the smallest value."""
    turns = played.turns(moves)
    if not turns:
        return moves, played.payoffs(moves)
    (turn,) = turns
    paths = (_backwards(played, (*moves, Played(turn.seat, value))) for value in turn.legal)
    return max(paths, key=lambda path: path[1][turn.seat])  # the first of equals


def _escalation(values: Values, seats: int) -> Iterator[Equilibrium]:
    from affectlab.games.catalogue import ESCALATION

    played = rules(ESCALATION, values)
    path, payoffs = _backwards(played)
    raises = [sum(1 for move in path if move.seat == seat and move.value) for seat in (0, 1)]
    first = path[0].value if path else 0.0
    yield Equilibrium(tuple(_raising(times) for times in raises), payoffs, "subgame-perfect", {"escalation": first})
    most = int(values["budget"] // values["step"])
    plans = (range((most + 1) // 2 + 1), range(most // 2 + 1))
    outcomes = {pair: played.payoffs(_carried_out(played, pair)) for pair in itertools.product(*plans)}
    matrices = [[[outcomes[i, j][seat] for j in plans[1]] for i in plans[0]] for seat in (0, 1)]
    for i, j in pure(*matrices):
        yield Equilibrium((_raising(i), _raising(j)), outcomes[i, j], "pure", {})


def _raising(times: int) -> str:
    return "never bids" if not times else f"raises up to {times} time{'s' if times > 1 else ''}"


def _carried_out(played: Rules, raises: tuple[int, int]) -> tuple[Played, ...]:
    moves: tuple[Played, ...] = ()
    left = list(raises)
    while turns := played.turns(moves):
        seat = turns[0].seat
        moves = (*moves, Played(seat, float(left[seat] > 0)))
        left[seat] -= 1
    return moves


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

    played = rules(ULTIMATUM, values)
    (turn,) = played.turns(())
    yield Equilibrium(
        ("offers 0", "accepts every offer"),
        (values["pie"], 0.0),
        "subgame-perfect",
        {"ultimatum_proposer": 0.0, "ultimatum_responder": 0.0},
    )
    offers = turn.legal
    # The responder's plans: the smallest offer that is accepted.
    outcomes = [
        [played.payoffs((Played(0, offer), Played(1, float(offer < least)))) for least in offers] for offer in offers
    ]
    matrices = [[[pair[seat] for pair in line] for line in outcomes] for seat in (0, 1)]
    for i, j in pure(*matrices):
        if i == j > 0:
            strategies = (f"offers {offers[i]:g}", f"accepts {offers[j]:g} or more")
            yield Equilibrium(strategies, outcomes[i][j], "pure", {"ultimatum_proposer": offers[i]})


def _sealed_bid(values: Values, seats: int) -> Iterator[Equilibrium]:
    prize, budget = values["prize"], values["budget"]
    if budget >= prize:
        root = "" if seats == 2 else f"^(1/{seats - 1})"
        mean = all_pay_bid(prize, seats)
        words = f"bids at random, {mean:.3g} on average: P(bid <= b) = (b/{prize:g}){root} from 0 to {prize:g}"
        yield Equilibrium((words,) * seats, (0.0,) * seats, "mixed", {})
    elif budget <= prize / seats:
        # Nobody can outbid, and a share of the prize is worth the bid (Che and Gale 1998).
        yield Equilibrium(
            (f"bids {budget:g}",) * seats, (prize / seats - budget,) * seats, "pure", {"sealed_bid": budget}
        )


def _beauty_contest(values: Values, seats: int) -> Iterator[Equilibrium]:
    low = values["low"]
    share = values["prize"] / seats
    yield Equilibrium((f"guesses {low:g}",) * seats, (share,) * seats, "pure", {"beauty_contest": low})


_SOLVERS: Mapping[str, Callable[[Values, int], Iterator[Equilibrium]]] = {
    "prisoners_dilemma": _prisoners_dilemma,
    "stag_hunt": _stag_hunt,
    "escalation": _escalation,
    "trust": _trust,
    "ultimatum": _ultimatum,
    "sealed_bid": _sealed_bid,
    "beauty_contest": _beauty_contest,
}
