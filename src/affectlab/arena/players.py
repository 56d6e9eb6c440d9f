"""Who plays: models, each in its own condition, and fixed strategies."""

from __future__ import annotations

import difflib
from dataclasses import dataclass

from affectlab.arena.strategies import STRATEGIES
from affectlab.errors import UserError, did_you_mean
from affectlab.steering.conditions import NEUTRAL, parse

STRATEGY = "strategy:"
_AS = " as "


@dataclass(frozen=True, slots=True)
class Player:
    """One who plays.

    Attributes:
        name: As the user wrote it, in canonical spelling.
        model: Spec of the model; empty for a strategy.
        condition: The state the model is put in, in canonical spelling.
        strategy: Name of the fixed strategy; empty for a model.
    """

    name: str
    model: str = ""
    condition: str = NEUTRAL
    strategy: str = ""

    @property
    def steered(self) -> bool:
        """Whether vectors are applied to the model."""
        return bool(parse(self.condition).terms)


def read_player(text: str) -> Player:
    """A player from its spec: ``smollm2``, ``"smollm2 as anger@1.0"``, ``strategy:tit_for_tat``.

    Raises:
        UserError: When it names no strategy, or the condition cannot be read.
    """
    if text.strip().startswith(STRATEGY):
        name = text.strip().removeprefix(STRATEGY)
        if name not in STRATEGIES:
            near = did_you_mean(difflib.get_close_matches(name, STRATEGIES, n=1))
            raise UserError(f"No strategy {name!r}{near}; there are {', '.join(STRATEGIES)}.")
        return Player(f"{STRATEGY}{name}", strategy=name)
    model, said, condition = text.rpartition(_AS)
    model, condition = (model.strip(), str(parse(condition))) if said else (text.strip(), NEUTRAL)
    if not model:
        raise UserError(f"Player {text!r} names no model. Write MODEL, 'MODEL as CONDITION' or {STRATEGY}NAME.")
    return Player(f"{model}{_AS}{condition}" if condition != NEUTRAL else model, model, condition)
