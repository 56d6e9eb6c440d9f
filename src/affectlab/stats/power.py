"""How small a difference a comparison can detect, and how many items it takes.

Reference: Connor (1987), Biometrics 43, 207-211 (McNemar); Miller (2024), arXiv 2411.00640 (language model
    evaluation).
"""

from __future__ import annotations

from math import sqrt
from statistics import NormalDist


def _quantiles(power: float, alpha: float) -> tuple[float, float]:
    if not (0 < alpha < 1 and alpha / 2 < power < 1):
        raise ValueError(f"alpha ({alpha}) and power ({power}) must be probabilities, power above alpha / 2")
    return NormalDist().inv_cdf(1 - alpha / 2), NormalDist().inv_cdf(power)


def smallest_detectable_difference(se: float, power: float = 0.8, alpha: float = 0.05) -> float:
    """The true difference that a two-sided test detects with the given power.

    Args:
        se: Standard error of the difference (clustered and paired, where the data are).
        power: Chance of detecting it.
        alpha: Level of the two-sided test.

    Returns:
        (z(1 - alpha/2) + z(power)) times the standard error.

    Raises:
        ValueError: When power or alpha is out of range.
    """
    z_alpha, z_power = _quantiles(power, alpha)
    return (z_alpha + z_power) * se


def mcnemar_sample_size(b_share: float, c_share: float, power: float = 0.8, alpha: float = 0.05) -> float:
    """Units needed for McNemar's test to detect given shares of discordant units; round up.

    Args:
        b_share: True share of units that only the first run gets right.
        c_share: True share of units that only the second run gets right.
        power: Chance of detecting the difference.
        alpha: Level of the two-sided test.

    Raises:
        ValueError: When the shares are equal or no shares.
    """
    z_alpha, z_power = _quantiles(power, alpha)
    discordant, difference = b_share + c_share, b_share - c_share
    if difference == 0 or min(b_share, c_share) < 0 or discordant > 1:
        raise ValueError(f"no detectable difference between discordant shares {b_share} and {c_share}")
    return (z_alpha * sqrt(discordant) + z_power * sqrt(discordant - difference**2)) ** 2 / difference**2


def mcnemar_detectable_difference(n: int, discordant: float, power: float = 0.8, alpha: float = 0.05) -> float | None:
    """The difference in share right that McNemar's test detects with ``n`` units: the sample size turned
    around.

    Args:
        n: Units.
        discordant: Share of units on which the runs differ, in [0, 1].
        power: Chance of detecting the difference.
        alpha: Level of the two-sided test.

    Returns:
        The difference; ``None`` when even one-sided disagreement on all discordant units would be too little.
    """
    z_alpha, z_power = _quantiles(power, alpha)
    # Root of (n + zp^2) d^2 - 2 za sqrt(n psi) d + psi (za^2 - zp^2) = 0, from the sample size formula
    # squared.
    leading, middle = n + z_power**2, z_alpha * sqrt(n * discordant)
    difference = (middle + sqrt(middle**2 - leading * discordant * (z_alpha**2 - z_power**2))) / leading
    return difference if 0 < difference <= discordant else None
