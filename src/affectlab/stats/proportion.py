"""Analytic intervals of proportions of independent trials.

Reference: Wilson (1927), Journal of the American Statistical Association 22, 209-212; Brown, Cai and DasGupta
(2001), Statistical Science 16, 101-133, on why the textbook (Wald) interval is never used here.
"""

from __future__ import annotations

from math import sqrt
from statistics import NormalDist

from affectlab.stats.estimate import Estimate


def wilson(successes: float, trials: float, level: float = 0.95) -> tuple[float, float]:
    """Wilson's score interval.

    Args:
        successes: In [0, ``trials``]; need not be whole.
        trials: Above 0.
        level: Confidence level in (0, 1).

    Returns:
        Lower and upper end in [0, 1]; exactly 0 without a success and exactly 1 without a failure.

    Raises:
        ValueError: When the counts or the level are out of range.
    """
    if not (trials > 0 and 0 <= successes <= trials):
        raise ValueError(f"{successes} successes of {trials} trials is no proportion")
    if not 0 < level < 1:
        raise ValueError(f"level must lie between 0 and 1, not {level}")
    z = NormalDist().inv_cdf((1 + level) / 2)
    share = successes / trials
    centre = (share + z * z / (2 * trials)) / (1 + z * z / trials)
    half = z / (1 + z * z / trials) * sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    return (0.0 if successes == 0 else centre - half, 1.0 if successes == trials else centre + half)


def proportion(successes: int, n: int, level: float = 0.95, name: str = "proportion") -> Estimate:
    """A share of independent trials with Wilson's interval; undefined when there are none."""
    if n == 0:
        return Estimate(name, None, reason="nothing to count")
    low, high = wilson(successes, n, level)
    return Estimate(name, successes / n, low, high, n, n, f"Wilson, {100 * level:g} %")
