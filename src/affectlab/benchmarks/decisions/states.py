"""What a condition of a decisions run is, for its figures: an emotion, a control, or something else."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from affectlab.steering.conditions import NEUTRAL, parse

Kind: TypeAlias = Literal["neutral", "emotion", "random", "kl-random", "permuted", "prompt", "other"]
"""An emotion's vector; random vectors of its norm or its effect; a vector of shuffled labels; an emotion told in words;
``other``: several at once, or a strength of 0 or below, which is no dose of an emotion."""

CONTROLS: tuple[Kind, ...] = ("random", "kl-random", "permuted", "prompt")
WITHOUT_EMOTION: tuple[Kind, ...] = ("random", "kl-random")
"""Controls of no emotion of their own: they are aligned with each emotion that they are a control of."""
TITLES: dict[Kind, str] = {
    "emotion": "emotion vectors",
    "random": "random vectors",
    "kl-random": "random vectors of matched effect",
    "permuted": "vectors of shuffled labels",
    "prompt": "emotion prompts",
}


@dataclass(frozen=True, slots=True)
class State:
    """A condition taken apart.

    Attributes:
        name: The condition string.
        kind: What was done.
        emotion: Whose emotion; empty for random vectors.
        strength: Of a vector; ``None`` where there is none.
        how: The rest of how a vector was applied (``"relative"``, ``"layers=10-19"``); empty for the usual way.
        seed: Which of several control vectors; 0 for the others.
    """

    name: str
    kind: Kind
    emotion: str = ""
    strength: float | None = None
    how: str = ""
    seed: int = 0

    @property
    def dose(self) -> str:
        """Strength and way of a vector, which an emotion and its controls must share: ``"1"``, ``"0.1 relative"``."""
        return "" if self.strength is None else f"{self.strength:g} {self.how}".strip()


def state_of(condition: str) -> State:
    """Take a condition string apart.

    Raises:
        UserError: When it is no condition.
    """
    parsed = parse(condition)
    if parsed.neutral:
        return State(condition, "neutral")
    if len(parsed.terms) + len(parsed.prompts) > 1:
        return State(condition, "other")
    if parsed.prompts:
        return State(condition, "prompt", parsed.prompts[0])
    term = parsed.terms[0]
    usual = str(replace(term, source="emotion", emotion="x", seed=0))
    how = " ".join(usual.split(":")[1:])
    if term.strength <= 0:
        return State(condition, "other", strength=term.strength, how=how, seed=term.seed)
    return State(condition, term.source, term.emotion, term.strength, how, term.seed)


def induced_states(conditions: Iterable[str]) -> tuple[State, ...]:
    """All but neutral, in the order given."""
    return tuple(state for state in map(state_of, conditions) if state.name != NEUTRAL)
