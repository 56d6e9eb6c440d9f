"""What there is to answer in CAREBench: 22 ratings, two levels, two label sets, five core answers.

Source: CAREBench (arXiv 2605.17176) and its published code, as to names and scales.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from affectlab.labels import LabelSpace, load

APPRAISALS = load("care_appraisal22")
AGREEMENT = load("care_scale5")

DIMENSIONS: tuple[str, ...] = APPRAISALS.ids
"""The 22 dimensions, rated from 1 to 5."""

GROUPS: tuple[str, ...] = APPRAISALS.groups
"""The five groups of dimensions, each with an open core question."""

LEVELS: Mapping[str, LabelSpace] = MappingProxyType(
    {"positive_level": load("care_level_positive7"), "negative_level": load("care_level_negative7")}
)
"""Slots of the two intensities, from 0 to 6."""

SETS: Mapping[str, LabelSpace] = MappingProxyType(
    {"positive_labels": load("care_positive10"), "negative_labels": load("care_negative10")}
)
"""Slots of the two label sets, any number of ten groups each."""

CORE: tuple[str, ...] = tuple(f"core_{group}" for group in GROUPS)
"""Slots of the five open answers."""

RATED: tuple[str, ...] = (*DIMENSIONS, *LEVELS)
"""Slots that are answered by one level of a scale."""

MIDPOINT = 3
"""Neither agree nor disagree: on no side of the scale."""


_EXPECTED = "mean:"


def scale_of(slot: str) -> LabelSpace:
    """Scale of a rated slot, or of its mean under a model's probabilities (:func:`expected`)."""
    return LEVELS.get(slot.removeprefix(_EXPECTED), AGREEMENT)


def bounds(slot: str) -> tuple[int, int]:
    """Lowest and highest point of a rated slot's scale."""
    levels = [label.level or 0 for label in scale_of(slot)]
    return min(levels), max(levels)


def expected(slot: str) -> str:
    """Slot of the mean of a rated slot's scale under a model's probabilities."""
    return f"{_EXPECTED}{slot}"


SLOTS: Mapping[str, LabelSpace | None] = MappingProxyType(
    {
        **dict.fromkeys(DIMENSIONS, AGREEMENT),
        **LEVELS,
        **SETS,
        **dict.fromkeys(CORE),
        **{expected(slot): None for slot in RATED},
    }
)
"""Every slot and its label space; open answers and means have none."""
