"""What came of matches: payoffs, cooperation, surplus, inequality, and how far play was from best replies.

Pure functions of finished matches. Moves drawn in the place of unreadable replies are part of payoffs, as they were
played, and of no figure of behaviour.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

import numpy as np

from affectlab.arena.match import Made, Match, Round
from affectlab.games import ROLES, Played, resting_moves
from affectlab.metrics.classification import ratio_or
from affectlab.stats.bootstrap import Interval, estimates
from affectlab.stats.estimate import Estimate
from affectlab.stats.measures import Measures, Over, Totals


@dataclass(frozen=True, slots=True)
class PlayerFigures:
    """One player over all its matches.

    Attributes:
        name: Who.
        matches: In how many it played.
        payoff: Mean payoff a round; the interval resamples matches.
        cooperation: Mean cooperation of its read moves, in [0, 1]; undefined in games where that means nothing.
        focal: Role -> mean share of the focal behaviour in its read moves, in [0, 1].
        moves: All its moves.
        drawn: Those drawn in the place of an unreadable reply.
        repeated: Those read only from the second reply.
    """

    name: str
    matches: int
    payoff: Estimate
    cooperation: Estimate
    focal: Mapping[str, float]
    moves: int
    drawn: int
    repeated: int


@dataclass(frozen=True, slots=True)
class MatchFigures:
    """One match.

    Attributes:
        name: Which.
        players: Who.
        rounds: Finished ones.
        payoffs: Mean payoff a round of each player.
        surplus: Sum of payoffs as a share of the largest sum there is; ``None`` where no sum is above 0.
        inequality: Mean difference of two players' payoffs a round, in points, over all pairs of players.
        exploitability: For each player, how much more a best reply would have earned a round against what the others
            did: the best single move held in all rounds where all move at once, the best move at that point for who
            moves last; ``None`` for who moves before others, as their answer to another move is not seen. 0 in
            equilibrium.
        off_equilibrium: Mean distance of read moves from the equilibrium move (:func:`resting_moves`) as a share of
            their range; ``None`` in games without a single one.
    """

    name: str
    players: tuple[str, ...]
    rounds: int
    payoffs: tuple[float, ...]
    surplus: float | None
    inequality: float
    exploitability: tuple[float | None, ...]
    off_equilibrium: float | None


def player_figures(matches: Sequence[Match], interval: Interval | None = None) -> tuple[PlayerFigures, ...]:
    """Figures of every player that has finished a round, in the order in which they appear."""
    names = list(dict.fromkeys(name for match in matches if match.rounds for name in match.players))
    found = estimates(_measures(matches, names), how=interval or Interval()) if names else {}
    return tuple(_player(name, matches, found) for name in names)


def match_figures(match: Match) -> MatchFigures:
    """Figures of one match.

    Raises:
        ValueError: When no round of it is finished.
    """
    if not match.rounds:
        raise ValueError(f"match {match.name} has no finished round")
    payoffs = tuple(fmean(one.payoffs[player] for one in match.rounds) for player in range(len(match.players)))
    return MatchFigures(
        match.name,
        match.players,
        len(match.rounds),
        payoffs,
        sum(payoffs) / match.most if match.most > 0 else None,
        _inequality(payoffs),
        tuple(exploitability(match, player) for player in range(len(match.players))),
        off_equilibrium(match),
    )


@dataclass(frozen=True, slots=True)
class PairingFigures:
    """All matches of the same players on the same seats: means of their figures, every match weighing the same.

    Attributes:
        players: Who.
        matches: How many have a finished round.
        payoffs: Mean payoff a round of each player.
        surplus: As in :class:`MatchFigures`; mean over the matches that have one.
        inequality: As there.
        exploitability: As there; ``None`` for a player for whom some match gives none.
        off_equilibrium: As there; mean over the matches that have one.
    """

    players: tuple[str, ...]
    matches: int
    payoffs: tuple[float, ...]
    surplus: float | None
    inequality: float
    exploitability: tuple[float | None, ...]
    off_equilibrium: float | None


def pairing_figures(figures: Sequence[MatchFigures]) -> tuple[PairingFigures, ...]:
    """Figures of matches put together by who played, in the order in which pairings appear."""
    by_players: dict[tuple[str, ...], list[MatchFigures]] = {}
    for one in figures:
        by_players.setdefault(one.players, []).append(one)
    return tuple(_pairing(players, together) for players, together in by_players.items())


def _pairing(players: tuple[str, ...], figures: Sequence[MatchFigures]) -> PairingFigures:
    gains = list(zip(*(one.exploitability for one in figures), strict=True))
    return PairingFigures(
        players,
        len(figures),
        tuple(fmean(paid) for paid in zip(*(one.payoffs for one in figures), strict=True)),
        _mean_of_known([one.surplus for one in figures]),
        fmean(one.inequality for one in figures),
        tuple(None if None in gain else _mean_of_known(gain) for gain in gains),
        _mean_of_known([one.off_equilibrium for one in figures]),
    )


def _mean_of_known(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def exploitability(match: Match, player: int) -> float | None:
    """How much more a best reply would have earned a round; see :class:`MatchFigures`."""
    if match.setup.game.simultaneous:
        return _held(match, player)
    gains = [_last(match, one, player) for one in match.rounds]
    return None if any(gain is None for gain in gains) else fmean(gain for gain in gains if gain is not None)


def off_equilibrium(match: Match) -> float | None:
    """Mean distance of read moves from the equilibrium move; see :class:`MatchFigures`."""
    if match.setup.game.id == "escalation":  # solved backwards, it has another move at every bid
        return None
    rests = resting_moves(match.setup.game, match.setup.parameters, len(match.players))
    away = [
        abs(move.value - rests[move.role]) / (move.high - move.low)
        for move in _read(match.rounds)
        if move.role in rests
    ]
    return fmean(away) if away else None


def _held(match: Match, player: int) -> float:
    """Against all rounds, the best single move minus what was earned."""
    played = match.setup.rules(len(match.players))
    own = next(move for move in match.rounds[0].moves if move.player == player)
    legal = played.turns(())[own.seat].legal

    def earned(value: float) -> float:
        return fmean(
            played.payoffs([Played(m.seat, value if m.player == player else m.value) for m in one.moves])[
                next(m.seat for m in one.moves if m.player == player)
            ]
            for one in match.rounds
        )

    return max(map(earned, legal)) - fmean(one.payoffs[player] for one in match.rounds)


def _last(match: Match, one: Round, player: int) -> float | None:
    """In one round, the best last move minus what was earned; ``None`` when others moved after it."""
    own = [move for move in one.moves if move.player == player]
    if not own:
        return 0.0
    if match.setup.game.id == "escalation" or own[-1].role != match.setup.game.roles[-1].id:
        return None
    played = match.setup.rules(len(match.players))
    before = [Played(move.seat, move.value) for move in one.moves[:-1]]
    (turn,) = played.turns(before)
    best = max(played.payoffs([*before, Played(turn.seat, value)])[turn.seat] for value in turn.legal)
    return best - one.payoffs[player]


def _inequality(payoffs: Sequence[float]) -> float:
    pairs = [abs(a - b) for index, a in enumerate(payoffs) for b in payoffs[index + 1 :]]
    return fmean(pairs)


def _read(rounds: Iterable[Round]) -> list[Made]:
    return [move for one in rounds for move in one.moves if move.how != "drawn"]


def _player(name: str, matches: Sequence[Match], found: Mapping[str, Estimate]) -> PlayerFigures:
    mine = [
        move for match in matches for one in match.rounds for move in one.moves if match.players[move.player] == name
    ]
    focal: dict[str, list[float]] = {}
    for move in mine:
        if move.how != "drawn":
            share = (ROLES[move.role].y(move.value, move.low, move.high) - move.low) / (move.high - move.low)
            focal.setdefault(move.role, []).append(share)
    return PlayerFigures(
        name,
        sum(name in match.players for match in matches if match.rounds),
        replace(found[f"payoff:{name}"], unit="number"),
        found[f"cooperation:{name}"],
        {role: fmean(shares) for role, shares in focal.items()},
        len(mine),
        sum(move.how == "drawn" for move in mine),
        sum(move.how == "read" and move.outcome != "ok" for move in mine),
    )


def _measures(matches: Sequence[Match], names: Sequence[str]) -> Measures:
    """Payoffs and cooperation by player as weighted events, by match."""
    rows: list[tuple[int, int, float]] = []
    for cluster, match in enumerate(matches):
        for one in match.rounds:
            for player, paid in enumerate(one.payoffs):
                place = 4 * names.index(match.players[player])
                rows += [(cluster, place, paid), (cluster, place + 1, 1.0)]
            for move in one.moves:
                if move.how != "drawn" and move.cooperation is not None:
                    place = 4 * names.index(match.players[move.player]) + 2
                    rows += [(cluster, place, move.cooperation), (cluster, place + 1, 1.0)]
    clusters, events, weights = (np.array(column) for column in zip(*rows, strict=True))
    statistics = {}
    for index, name in enumerate(names):
        for figure, place in (("payoff", 4 * index), ("cooperation", 4 * index + 2)):
            statistics[f"{figure}:{name}"] = Over(np.array([place, place + 1]), _ratio, counted=np.array([place + 1]))
    return Measures(
        cluster=clusters.astype(np.int32),
        event=events.astype(np.int32),
        clusters=tuple(match.name for match in matches),
        n_events=4 * len(names),
        statistics=statistics,
        correct={},
        headline=f"payoff:{names[0]}",
        weight=weights.astype(np.float64),
    )


def _ratio(totals: Totals) -> Totals:
    return ratio_or(totals[:, 0], totals[:, 1], np.nan)
