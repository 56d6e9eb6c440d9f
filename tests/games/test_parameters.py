"""Payoff parameters and the orders that make a game what it is."""

from __future__ import annotations

from math import inf, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affectlab.errors import UserError
from affectlab.games import GAMES
from affectlab.games.parameters import asymmetry, broken_rules, fill

PD, STAG = GAMES["prisoners_dilemma"], GAMES["stag_hunt"]


def test_defaults_make_the_game_also_when_repeated() -> None:
    for one in GAMES.values():
        assert broken_rules(one, one.defaults, repeated=True) == []


def test_a_stag_hunt_is_no_prisoners_dilemma() -> None:
    problems = broken_rules(PD, {"T": 3, "R": 5, "P": 1, "S": 0})
    assert len(problems) == 1
    assert "stag hunt" in problems[0]
    assert broken_rules(STAG, {"T": 3, "R": 5, "P": 1, "S": 0}) == []


def test_alternating_must_not_pay_when_repeated() -> None:
    values = {"T": 10, "R": 4, "P": 1, "S": 0}  # 2R = 8 < T + S = 10
    assert broken_rules(PD, values) == []
    assert "2R > T + S" in broken_rules(PD, values, repeated=True)[0]
    assert broken_rules(PD, {**values, "T": 8}, repeated=True) != []  # equal is not more


@given(st.lists(st.integers(-20, 20), min_size=4, max_size=4))
def test_the_prisoners_dilemma_takes_exactly_the_falling_orders(numbers: list[int]) -> None:
    values = dict(zip("TRPS", map(float, numbers), strict=True))
    assert (broken_rules(PD, values) == []) == (sorted(set(numbers), reverse=True) == numbers)


@pytest.mark.parametrize(
    ("game", "broken"),
    [
        ("stag_hunt", {"R": 3, "T": 3}),
        ("escalation", {"step": 10}),
        ("escalation", {"budget": 1}),
        ("trust", {"multiplier": 1}),
        ("trust", {"endowment": 0}),
        ("ultimatum", {"pie": -1}),
        ("sealed_bid", {"prize": 0}),
        ("beauty_contest", {"p": 1}),
        ("beauty_contest", {"low": 100}),
        ("beauty_contest", {"prize": nan}),
        ("ultimatum", {"pie": inf}),
    ],
)
def test_each_rule_is_held(game: str, broken: dict[str, float]) -> None:
    with pytest.raises(UserError, match=GAMES[game].title[:8]):
        fill(GAMES[game], broken)


def test_an_unknown_parameter_is_named_with_what_there_is() -> None:
    with pytest.raises(UserError, match=r"'multiplyer'; did you mean multiplier"):
        fill(GAMES["trust"], {"multiplyer": 3})


def test_a_swapped_matrix_is_caught() -> None:
    row, column = ((3, 0), (5, 1)), ((3, 5), (0, 1))
    assert asymmetry(row, column) is None
    assert "transposed" in (asymmetry(row, row) or "")
    assert asymmetry(((1, 2),), ((1, 2),)) == "both matrices must be square and equally large"
