"""Payoff parameters: filled up with defaults, and checked against what makes the game the game it is."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Mapping
from math import isfinite
from types import MappingProxyType
from typing import TypeAlias

from affectlab.errors import UserError, did_you_mean
from affectlab.games.amounts import amount
from affectlab.games.template import Game

Values: TypeAlias = Mapping[str, float]


def fill(game: Game, given: Values, *, repeated: bool = False) -> Values:
    """The game's parameters with those that are given in the place of defaults.

    Args:
        game: Whose.
        given: By name.
        repeated: Whether the game is played more than once, which some orders must bear.

    Raises:
        UserError: When a name is unknown or the values break the game's rules, naming the rule.
    """
    for name in given:
        if name not in game.defaults:
            near = did_you_mean(difflib.get_close_matches(name, game.defaults, n=1))
            raise UserError(f"{game.title} has no parameter {name!r}{near}; it has {', '.join(game.defaults)}.")
    values = {**game.defaults, **given}
    if problems := broken_rules(game, values, repeated=repeated):
        shown = ", ".join(f"{name}={amount(value)}" for name, value in values.items())
        raise UserError(f"{game.title} with {shown}: {'; '.join(problems)}.")
    return MappingProxyType(values)


def broken_rules(game: Game, values: Values, *, repeated: bool = False) -> list[str]:
    """Every rule of the game that the values break, in words; empty when they make the game.

    Args:
        game: Whose rules.
        values: Every parameter of the game.
        repeated: Whether the rules of repeated play hold too.

    Raises:
        KeyError: When a parameter is missing.
    """
    named = {name: values[name] for name in game.defaults}
    if strange := [name for name, value in named.items() if not isfinite(value)]:
        return [f"{', '.join(strange)} must be finite"]
    return list(_ORDERS[game.id](named, repeated))


def asymmetry(row: tuple[tuple[float, ...], ...], column: tuple[tuple[float, ...], ...]) -> str | None:
    """Why two payoff matrices are not those of one symmetric game; ``None`` when they are.

    Args:
        row: Payoffs of the row player, ``row[i][j]`` when the row player does i and the column player j.
        column: Payoffs of the column player, with the same indices.
    """
    size = len(row)
    if any(len(line) != size for line in (*row, *column)) or len(column) != size:
        return "both matrices must be square and equally large"
    for i in range(size):
        for j in range(size):
            if column[i][j] != row[j][i]:
                return (
                    f"the column player gets {column[i][j]:g} at ({i}, {j}), and the row player {row[j][i]:g} at "
                    f"({j}, {i}): in a symmetric game the column player's payoffs are the row player's transposed"
                )
    return None


def _prisoners_dilemma(given: Values, repeated: bool) -> Iterator[str]:
    t, r, p, s = (given[name] for name in "TRPS")
    if not t > r > p > s:
        other = " (this is the order of a stag hunt)" if r > t >= p > s else ""
        yield f"T > R > P > S is broken{other}"
    if repeated and not 2 * r > t + s:
        yield "2R > T + S is broken: taking turns at defecting pays more than cooperating"


def _stag_hunt(given: Values, repeated: bool) -> Iterator[str]:
    t, r, p, s = (given[name] for name in "TRPS")
    if not r > t >= p > s:
        other = " (this is the order of a prisoner's dilemma)" if t > r > p > s else ""
        yield f"R > T >= P > S is broken{other}"


def _escalation(given: Values, repeated: bool) -> Iterator[str]:
    if not 0 < given["step"] < given["prize"]:
        yield "0 < step < prize is broken: no raise would ever pay"
    if given["budget"] < given["step"]:
        yield "budget >= step is broken: nobody can bid"


def _trust(given: Values, repeated: bool) -> Iterator[str]:
    yield from _positive(given, "endowment")
    if given["multiplier"] <= 1:
        yield "multiplier > 1 is broken: sending makes nothing more"


def _ultimatum(given: Values, repeated: bool) -> Iterator[str]:
    yield from _positive(given, "pie")


def _sealed_bid(given: Values, repeated: bool) -> Iterator[str]:
    yield from _positive(given, "prize", "budget")


def _beauty_contest(given: Values, repeated: bool) -> Iterator[str]:
    if not 0 < given["p"] < 1:
        yield "0 < p < 1 is broken: guesses would not be drawn down"
    if not 0 <= given["low"] < given["high"]:
        yield "0 <= low < high is broken"
    yield from _positive(given, "prize")


def _positive(given: Values, *names: str) -> Iterator[str]:
    for name in names:
        if given[name] <= 0:
            yield f"{name} > 0 is broken"


_ORDERS: Mapping[str, Callable[[Values, bool], Iterator[str]]] = {
    "prisoners_dilemma": _prisoners_dilemma,
    "stag_hunt": _stag_hunt,
    "escalation": _escalation,
    "trust": _trust,
    "ultimatum": _ultimatum,
    "sealed_bid": _sealed_bid,
    "beauty_contest": _beauty_contest,
}
