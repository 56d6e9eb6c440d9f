"""p-values corrected for being many.

Reference: Benjamini and Hochberg (1995), Journal of the Royal Statistical Society B 57, 289-300; Benjamini
and Yekutieli (2001), Annals of Statistics 29, 1165-1188; Holm (1979), Scandinavian Journal of Statistics 6,
65-70.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

Correction: TypeAlias = Literal["bh", "by", "holm"]


@dataclass(frozen=True, slots=True)
class Adjusted:
    """A family of p-values after correction.

    Attributes:
        values: Adjusted p-values in the order given; ``None`` where no test could be made.
        tested: Size of the family: p-values that are there.
        untested: How many were ``None``; they do not enlarge the family.
        correction: Which one.
    """

    values: tuple[float | None, ...]
    tested: int
    untested: int
    correction: Correction


def adjust(p_values: Sequence[float | None], correction: Correction = "bh") -> Adjusted:
    """Correct a family of p-values.

    Args:
        p_values: In [0, 1]; ``None`` or NaN for a test that could not be made.
        correction: ``bh`` keeps the false discovery rate under independence or positive dependence, ``by``
            under any dependence, ``holm`` the family-wise error rate.

    Raises:
        ValueError: When a p-value is outside [0, 1].
    """
    tested = [p for p in p_values if p is not None and p == p]
    if outside := [p for p in tested if not 0 <= p <= 1]:
        raise ValueError(f"p-values must lie in [0, 1], found {outside[0]}")
    family = np.asarray(tested, dtype=np.float64)
    adjusted = iter(_holm(family) if correction == "holm" else _false_discovery(family, correction))
    values = tuple(None if p is None or p != p else float(next(adjusted)) for p in p_values)
    return Adjusted(values, len(tested), len(p_values) - len(tested), correction)


def _false_discovery(p: NDArray[np.float64], method: str) -> NDArray[np.float64]:
    from scipy.stats import false_discovery_control

    return np.asarray(false_discovery_control(p, method=method)) if len(p) else p


def _holm(p: NDArray[np.float64]) -> NDArray[np.float64]:
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted
