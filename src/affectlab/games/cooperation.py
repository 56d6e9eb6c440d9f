"""How cooperative a move is, in the games where that means something.

0 is the move that takes most for oneself or costs the other most, 1 the one that gives the other a full half or does
together what can be done together. In between it rises evenly.
"""

from __future__ import annotations

from affectlab.games.play import Turn

COOPERATIVE = frozenset({"prisoners_dilemma", "stag_hunt", "escalation", "trust", "ultimatum", "sealed_bid"})
"""Games in which moves are more or less cooperative. Guesses of a beauty contest are neither."""

_FALLING = frozenset({"escalation", "ultimatum_responder", "sealed_bid"})
"""Roles whose smallest value is the cooperative one: to stop raising, to accept, to bid nothing."""

_HALVES = frozenset({"trust_trustee", "ultimatum_proposer"})
"""Roles in which half of what there is to share is already fully cooperative."""


def cooperation(turn: Turn, value: float) -> float | None:
    """How cooperative a move is, in [0, 1]; ``None`` in games where that means nothing."""
    if turn.role.game not in COOPERATIVE:
        return None
    low, high = turn.legal[0], turn.legal[-1]
    share = (value - low) / (high - low)
    if turn.role.id in _FALLING:
        return 1 - share
    return min(2 * share, 1.0) if turn.role.id in _HALVES else share


def most_cooperative(turn: Turn) -> float:
    """The smallest value that is fully cooperative, or the nearest there is to one."""
    return max(turn.legal, key=lambda value: (_level(turn, value), -value))


def least_cooperative(turn: Turn) -> float:
    """The value that is least cooperative."""
    return min(turn.legal, key=lambda value: _level(turn, value))


def _level(turn: Turn, value: float) -> float:
    found = cooperation(turn, value)
    if found is None:
        raise ValueError(f"{turn.role.game}: its moves are not more or less cooperative")
    return found
