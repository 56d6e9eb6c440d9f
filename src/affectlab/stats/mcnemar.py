"""McNemar's test: is one run right more often than the other on the same units?

Reference: McNemar (1947), Psychometrika 12, 153-157; the mid-p version: Fagerland, Lydersen and Laake (2013),
BMC Medical Research Methodology 13, 91.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import erfc, sqrt

from affectlab.errors import UserError
from affectlab.stats.differences import name_differences
from affectlab.stats.measures import Measures


@dataclass(frozen=True, slots=True)
class McNemar:
    """Discordant units of two runs and the exact test on them.

    Attributes:
        b: Units that only the first run got right.
        c: Units that only the second run got right.
        n: All units.
        p: Exact two-sided p-value; ``None`` when the test does not apply.
        mid_p: Its mid-p version, which is less conservative.
        no_discordant: Whether the runs never differ; both p-values are then 1 by convention.
        reason: Why there is no p-value.
    """

    b: int
    c: int
    n: int
    p: float | None
    mid_p: float | None
    no_discordant: bool = False
    reason: str = ""

    @property
    def difference(self) -> float | None:
        """Share right of the first run minus that of the second, (b - c) / n; ``None`` without units."""
        return (self.b - self.c) / self.n if self.n else None


def mcnemar(b: int, c: int, n: int | None = None) -> McNemar:
    """Exact two-sided McNemar test from the discordant counts.

    The smaller count is binomial with b + c trials of chance 1/2 when neither run is better.

    Args:
        b: Units that only the first run got right.
        c: Units that only the second run got right.
        n: All units; ``b + c`` when not given.

    Raises:
        ValueError: When a count is negative or there are fewer units than discordant ones.
    """
    units = b + c if n is None else n
    if min(b, c) < 0 or units < b + c:
        raise ValueError(f"no such discordant counts: b={b}, c={c}, n={units}")
    if b + c == 0:
        return McNemar(b, c, units, 1.0, 1.0, no_discordant=True)
    from scipy.stats import binom

    tail = 2 * float(binom.cdf(min(b, c), b + c, 0.5))
    middle = float(binom.pmf(min(b, c), b + c, 0.5))
    # With b = c both tails hold the middle term: the exact p-value is clipped, and the mid-p comes out as 1.
    return McNemar(b, c, units, min(1.0, tail), tail - middle)


def mcnemar_chi_square(b: int, c: int, *, corrected: bool = False) -> tuple[float, float]:
    """McNemar's asymptotic statistic (1 degree of freedom) and its p-value, for comparison with published
    ones.

    Args:
        b: Units that only the first run got right.
        c: Units that only the second run got right.
        corrected: Apply Edwards' continuity correction, which never takes the statistic below 0.

    Returns:
        The statistic and its p-value; (0, 1) when ``b`` equals ``c``, both 0 included.

    Raises:
        ValueError: When a count is negative.
    """
    if min(b, c) < 0:
        raise ValueError(f"no such discordant counts: b={b}, c={c}")
    if b == c:
        return 0.0, 1.0
    statistic = (abs(b - c) - int(corrected)) ** 2 / (b + c)
    return statistic, erfc(sqrt(statistic / 2))


def compare_correct(a: Measures, b: Measures) -> McNemar:
    """McNemar's test on which units each of two runs got right as a whole.

    Several units of one cluster (repeats, option orders) are not independent, and counting each would
    manufacture significance: then there are counts and no p-value.

    Raises:
        UserError: When the runs do not cover the same units; the text names the differences.
    """
    if a.correct.keys() != b.correct.keys():
        raise UserError(
            f"The runs cannot be paired: {name_differences(set(a.correct), set(b.correct), 'unit')}. "
            "Compare runs of the same items, or run the missing ones first."
        )
    only_a = sum(right and not b.correct[unit] for unit, right in a.correct.items())
    only_b = sum(right and not a.correct[unit] for unit, right in b.correct.items())
    units = len(a.correct)
    if not (a.units_independent and b.units_independent):
        reason = f"the {units} units are not independent (several lie in one cluster); see the permutation test"
        return McNemar(only_a, only_b, units, None, None, reason=reason)
    return mcnemar(only_a, only_b, units)
