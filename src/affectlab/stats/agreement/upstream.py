"""Agreement on one slot where annotators agree on the slot it rests on.

Source: CUE-Bench (arXiv 2608.10810), section 3.4 and Table 2: average kappa of intent and emotion on instances with
consistent affective stance. The paper does not say whether that is the same stance of all three experts or of the two
that a kappa compares; here it is of all who answered both slots. With two annotators that is the same.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from affectlab.stats.agreement.ratings import Ratings


@dataclass(frozen=True, eq=False)
class Conditional:
    """Answers to a slot, kept where the slot upstream is agreed on.

    Attributes:
        ratings: The answers kept; give them to any coefficient.
        kept: Units on which all who answered both slots gave the same upstream answer.
        n: Units with two annotators or more who answered both slots.
        without: Answers left out because the annotator did not answer upstream.
    """

    ratings: Ratings
    kept: int
    n: int
    without: int


def given_upstream(slot: Ratings, upstream: Ratings) -> Conditional:
    """The answers to a slot on units whose upstream answers are equal.

    Args:
        slot: Answers downstream.
        upstream: Answers upstream; units and annotators are matched by name.
    """
    said = {
        (upstream.units[unit], upstream.raters[rater]): code
        for unit, rater, code in zip(
            upstream.unit.tolist(), upstream.rater.tolist(), upstream.code.tolist(), strict=True
        )
    }
    names = [
        (slot.units[unit], slot.raters[rater])
        for unit, rater in zip(slot.unit.tolist(), slot.rater.tolist(), strict=True)
    ]
    above = np.array([said.get(name, -1) for name in names], dtype=np.int64)
    both = above >= 0
    size = len(slot.units)
    low = np.full(size, np.iinfo(np.int64).max)
    high = np.full(size, -1)
    np.minimum.at(low, slot.unit[both], above[both])
    np.maximum.at(high, slot.unit[both], above[both])
    paired = np.bincount(slot.unit[both], minlength=size) > 1
    agreed = paired & (low == high)
    return Conditional(slot.take(both & agreed[slot.unit]), int(agreed.sum()), int(paired.sum()), int((~both).sum()))
