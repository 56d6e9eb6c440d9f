"""Cases of games: payoff orders, symmetry, replies in a role's terms, winners of a beauty contest."""

from __future__ import annotations

from collections.abc import Mapping
from math import isclose
from typing import Any

from affectlab.games import GAMES, ROLES, asymmetry, broken_rules, round_of, winners
from affectlab.reading import NumberRange, Outcome, Reading, flags, read_choice, read_number

_WANTED: Mapping[str, tuple[Outcome, tuple[str, ...]]] = {
    "out_of_range": (Outcome.UNPARSEABLE, (flags.OUT_OF_SPACE,)),
    "flag": (Outcome.UNPARSEABLE, (flags.NUMBER_WORD,)),
}


def check(case: Mapping[str, Any]) -> str | None:
    """``None`` when our games and readings come to the case's right outcome, else what came out."""
    given, right = case["input"], case["right_outcome"]
    if "row_payoff" in given:
        return _symmetry(given)
    if "guesses" in given:
        return _contest(given, right)
    if "valid" in right:
        return _order(given, right)
    if "actions" in given:
        return _letter(given, right)
    if "output" in given:
        return _reply(given, right)
    return f"unknown shape: input {sorted(given)}, right outcome {sorted(right)}"


def _order(given: Mapping[str, Any], right: Mapping[str, Any]) -> str | None:
    game = GAMES[given["game"]]
    problems = broken_rules(game, given, repeated=given.get("repeated", False))
    named = right["rule"].replace(" broken", "").split(" (")[0].split(":")[0].replace(">", " > ").replace("+", " + ")
    told = any(" ".join(named.split()) in " ".join(problem.split()) for problem in problems)
    return None if bool(problems) != right["valid"] and told else f"{problems}"


def _symmetry(given: Mapping[str, Any]) -> str | None:
    row, column = (tuple(map(tuple, given[name])) for name in ("row_payoff", "col_payoff"))
    if (problem := asymmetry(row, column)) is not None:
        return problem
    return None if asymmetry(row, row) is not None else "a swapped matrix is not caught"


def _contest(given: Mapping[str, Any], right: Mapping[str, Any]) -> str | None:
    target, won = winners(given["guesses"], 2 / 3)
    best = {given["guesses"][seat] for seat in won}
    said = f"target {target:.2f}, won by {best}"
    stated = [float(word.rstrip(";.")) for word in right["rule"].replace("=", " ").split() if _number(word)]
    return None if any(isclose(target, one, abs_tol=0.005) for one in stated) and best == {20} else said


def _number(word: str) -> bool:
    return word.rstrip(";.").replace(".", "", 1).isdigit()


def _letter(given: Mapping[str, Any], right: Mapping[str, Any]) -> str | None:
    texts = [action.partition(": ")[2] for action in given["actions"]]
    shown = dict(zip("AB", reversed(texts) if given["order_swapped"] else texts, strict=True))
    reading = read_choice(given["output"], shown)
    value = shown.get(reading.value)
    return None if value == right["value"] else f"{reading.outcome.value} {value!r}"


def _reply(given: Mapping[str, Any], right: Mapping[str, Any]) -> str | None:
    role = ROLES[given["game"]]
    if role.kind == "binary":
        options = dict(zip("AB", role.options, strict=True))
        reading = read_choice(given["output"], options)
        return _judged(reading, options.get(reading.value), right)
    stakes = {name: given[name] for name in GAMES[role.game].defaults if name in given}
    legal = round_of(GAMES[role.game], stakes).turns(())[0].legal
    reading = read_number(given["output"], NumberRange(legal[0], legal[-1], integer=True))
    if right["status"] == "flag":
        accepted = read_number(given["output"], NumberRange(legal[0], legal[-1], integer=True, accept_words=True))
        if accepted.value != 10:
            return f"under the option: {accepted}"
    return _judged(reading, reading.value, right)


def _judged(reading: Reading, value: Any, right: Mapping[str, Any]) -> str | None:
    said = f"{reading.outcome.value} {value!r} {', '.join(reading.flags)}"
    if right["status"] == "ok":
        return None if reading.ok and value == right["value"] else said
    outcome, raised = _WANTED[right["status"]]
    return None if reading.outcome is outcome and set(raised) <= set(reading.flags) else said
