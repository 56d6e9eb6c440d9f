"""How far an induced emotion moves answers: normalised drift magnitude (NDM) and normalised aligned drift (NAD).

Reference: the emotion-sensitive decisions paper, arXiv 2604.06562.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Drift:
    """Mean drift over the items that can show one.

    Attributes:
        ndm: Mean absolute change as a share of each item's feasible range, in [0, 1]; ``None`` without such items.
        nad: Mean change in people's direction as a share of the range, in [-1, 1]; items without a direction count 0.
            ``None`` when no directions were given or no item counts.
        used: Items that count.
        no_range: Items left out because nothing but one answer is feasible.
        missing: Items left out because an answer is missing: that is no drift.
    """

    ndm: float | None
    nad: float | None
    used: int
    no_range: int
    missing: int


def drift(
    neutral: Sequence[float | None],
    emotion: Sequence[float | None],
    feasible: Sequence[float],
    direction: Sequence[int] | None = None,
) -> Drift:
    """Drift between answers to the same items in two conditions.

    Args:
        neutral: Answers without an induced emotion; ``None`` where missing.
        emotion: Answers with it, in the same order.
        feasible: Highest minus lowest feasible answer of each item, at least 0.
        direction: Where people move: 1 up, -1 down, 0 nowhere.

    Raises:
        ValueError: When lengths differ, a range is negative or a direction is none of -1, 0, 1.
    """
    directions = [0] * len(neutral) if direction is None else list(direction)
    if len({len(neutral), len(emotion), len(feasible), len(directions)}) != 1:
        raise ValueError("answers, ranges and directions must be equally many")
    if any(not span >= 0 for span in feasible) or any(sign not in (-1, 0, 1) for sign in directions):
        raise ValueError("ranges must not be negative, and directions must be -1, 0 or 1")
    moves: list[tuple[float, int]] = []
    no_range = missing = 0
    for before, after, span, sign in zip(neutral, emotion, feasible, directions, strict=True):
        if before is None or after is None:
            missing += 1
        elif span == 0:
            no_range += 1
        else:
            moves.append(((after - before) / span, sign))
    used = len(moves)
    ndm = sum(abs(move) for move, _ in moves) / used if used else None
    nad = sum(sign * move for move, sign in moves) / used if used and direction is not None else None
    return Drift(ndm, nad, used, no_range, missing)
