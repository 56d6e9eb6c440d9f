"""Where the chosen options stood: whether a move is one of decisions, or of letters.

Options turn from item to item, so that whoever reads them stands at no place for good. A model that names one letter
whatever it is asked moves NDM as far as one that changes its mind, and the same way under every emotion.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from affectlab.errors import first_of
from affectlab.metrics.predictions import PredictionTable
from affectlab.metrics.scores import Table

STUCK = 0.9
"""Share of answers at one place of their role from which on a condition is named in a note."""


@dataclass(frozen=True, slots=True)
class Places:
    """Where one condition's answers stood.

    Attributes:
        condition: Which.
        n: Answers whose place is known.
        first: Share of them that took the first option shown, in [0, 1].
        commonest: Share at the commonest place of their role, averaged over roles, in [0, 1]. By guessing alone it is
            somewhat above 1 / options, as one place is always commonest.
    """

    condition: str
    n: int
    first: float
    commonest: float


def places(table: PredictionTable) -> Iterator[Places]:
    """Where answers stood, by condition; conditions without a known place are left out."""
    position = np.array([-1 if value is None else int(value) for value in table.position.values])
    stood = position[table.position.codes] if len(table) else np.array([], dtype=int)
    role = table.slice_values("role").codes
    for condition in table.condition.values:
        rows = table.condition.equals(condition) & (stood >= 0)
        if rows.any():
            shares = [_commonest(stood[rows & (role == code)]) for code in np.unique(role[rows])]
            yield Places(str(condition), int(rows.sum()), float((stood[rows] == 0).mean()), float(np.mean(shares)))


def _commonest(stood: NDArray[np.intp]) -> float:
    return float(np.bincount(stood).max() / len(stood))


def place_table(found: Sequence[Places]) -> Table:
    """One row a condition."""
    return Table(
        "places",
        "Where the chosen options stood",
        ("condition", "answers", "first option", "commonest place"),
        tuple((one.condition, one.n, one.first, one.commonest) for one in found),
        "Shares of answers. Commonest place: at the place most often chosen within the role, mean over roles. Options "
        "turn from item to item: near 100 %, a condition names one letter whatever the decision, and its moves from "
        "neutral are moves of letters.",
    )


def stuck(found: Sequence[Places]) -> str:
    """A note that names the conditions whose answers hardly ever leave one place; empty where there are none."""
    named = [one.condition for one in found if one.commonest >= STUCK]
    if not named:
        return ""
    return (
        f"Under {len(named)} of {len(found)} conditions at least {STUCK:.0%} of the answers stand at one place of "
        f"their role ({first_of(named, 3)}): what moves there is the letter, not the decision. See the table of places."
    )
