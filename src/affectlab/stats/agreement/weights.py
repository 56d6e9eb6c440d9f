"""How much disagreements count in weighted kappa, by formula where a table of every two values would be too large.

Reference: Cohen (1968), Psychological Bulletin 70, 213-220.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from affectlab.errors import UserError

Weights: TypeAlias = "Literal['none', 'linear', 'quadratic'] | Sequence[Sequence[float]] | NDArray[np.float64]"
"""How much each disagreement counts: all alike, by distance, by its square, or an own table (0 for agreement)."""

_NAMED = ("none", "linear", "quadratic")


@dataclass(frozen=True, eq=False)
class Distance:
    """How much a disagreement between two of C values counts.

    Attributes:
        kind: Which weights.
        place: Where each value lies [C]: the numbers, or 0, 1, 2 … for labels in order.
        table: Own weights [C, C].
    """

    kind: Literal["none", "linear", "quadratic", "own"]
    place: NDArray[np.float64]
    table: NDArray[np.float64] | None = None

    def between(self, a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.float64]:
        """Of values by their codes, pair by pair [N]."""
        if self.table is not None:
            return np.asarray(self.table[a, b])
        if self.kind == "none":
            return np.asarray(a != b, dtype=np.float64)
        gap = np.abs(self.place[a] - self.place[b])
        return np.asarray(gap if self.kind == "linear" else np.square(gap), dtype=np.float64)

    def met(
        self, codes: NDArray[np.int64], rows: NDArray[np.float64], cols: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Sum over every answer of one annotator with every answer of the other.

        Args:
            codes: Values that either used [U].
            rows: How often the one used each of them [B, U], whole numbers.
            cols: How often the other did.

        Returns:
            Sums [B]; exactly 0 where both used one and the same value throughout.
        """
        if self.table is not None:
            return np.asarray(((rows @ self.table[np.ix_(codes, codes)]) * cols).sum(axis=1))
        n_rows, n_cols = rows.sum(axis=1), cols.sum(axis=1)
        unequal = n_rows * n_cols - (rows * cols).sum(axis=1)
        if self.kind == "none" or not len(codes):
            return np.asarray(unequal)
        order = np.argsort(self.place[codes], kind="stable")
        place = self.place[codes][order]
        rows, cols = rows[:, order], cols[:, order]
        if self.kind == "linear":
            # A step between neighbouring values lies between all answers below it and all above.
            below, below_too = rows.cumsum(axis=1)[:, :-1], cols.cumsum(axis=1)[:, :-1]
            crossed = below * (n_cols[:, None] - below_too) + below_too * (n_rows[:, None] - below)
            found = crossed @ np.diff(place)
        else:
            place = place - place.mean()
            found = n_cols * (rows @ np.square(place)) + n_rows * (cols @ np.square(place))
            found = found - 2 * (rows @ place) * (cols @ place)
        return np.where(unequal > 0, found, 0.0)


def distance(weights: Weights, values: int, numbers: NDArray[np.float64] | None = None) -> Distance:
    """Weights as a distance.

    Args:
        weights: See :data:`Weights`.
        values: Number of values, C.
        numbers: The values where they are numbers; else they are taken for equally spaced.

    Raises:
        UserError: When an own table has the wrong shape, negative cells, or counts agreement as disagreement.
    """
    place = np.arange(values, dtype=np.float64) if numbers is None else numbers
    if isinstance(weights, str):
        if weights not in _NAMED:
            raise UserError(f"There are no {weights!r} weights; there are none, linear and quadratic, or an own table.")
        return Distance(weights, place)
    own = np.asarray(weights, dtype=np.float64)
    if own.shape != (values, values):
        raise UserError(f"Own weights for {values} values are a table of {values} × {values}, not {own.shape}.")
    if not np.isfinite(own).all() or (own < 0).any() or np.diag(own).any():
        raise UserError("Own weights say how much a disagreement counts: 0 or more, and 0 for agreement.")
    return Distance("own", place, own)
