"""How far one annotator's answers are those given before, by the same person or by others. Pure.

Slots of one item hang together (one item that is read otherwise changes several), so items are the trials of every
interval. Derived slots are left out: they follow from others, and would count twice.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from affectlab.annotate.adjudicate import canonical
from affectlab.annotate.design import Design
from affectlab.annotate.slots import ONE_OF, Kind, Slot
from affectlab.stats.agreement import cohen_kappa
from affectlab.stats.estimate import Estimate
from affectlab.stats.proportion import wilson

Others: TypeAlias = Mapping[str, Mapping[str, Mapping[str, Any]]]
"""What other people answered: item -> person -> values by slot."""

Pair: TypeAlias = tuple[str, Mapping[str, Any], Mapping[str, Any]]
"""An item, and two sets of values to it."""

COMPARED: frozenset[Kind] = ONE_OF
"""Slots in which people who agree give the same answer; of ratings kappa tells, by distance."""

REPEATED: frozenset[Kind] = COMPARED | {"scale", "label_set"}
"""Slots in which somebody who remembers gives the same answer again."""


class Counted(NamedTuple):
    """So many right or equal, of so many, on so many items."""

    right: int
    asked: int
    items: int

    @property
    def share(self) -> float:
        """Share that is right; some must have been asked."""
        return self.right / self.asked

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval of the share, with items as trials."""
        return wilson(self.share * self.items, self.items)

    def __str__(self) -> str:
        if not self.asked:
            return "–"
        low, high = self.interval
        items = "1 item" if self.items == 1 else f"{self.items} items"
        return f"{self.right} of {self.asked} ({self.share:.0%}; by the {items}: 95 % interval {low:.0%} to {high:.0%})"


def counted(design: Design, pairs: Iterable[Pair], kinds: Collection[str] = COMPARED) -> Counted:
    """How many answers of two sets to the same items are the same, over slots of some kinds."""
    slots = {slot.id for slot in design.slots if slot.kind in kinds}
    same = [
        (item, canonical(one[slot]) == canonical(other[slot]))
        for item, one, other in pairs
        for slot in slots & one.keys() & other.keys()
    ]
    return Counted(sum(hit for _, hit in same), len(same), len({item for item, _ in same}))


def kappas(design: Design, partners: Iterable[Sequence[Pair]]) -> dict[str, Estimate]:
    """Mean of Cohen's kappa with each partner, by slot; of ratings quadratic-weighted.

    Args:
        design: The study.
        partners: Of each, the items both answered with the values of both.

    Returns:
        Of each slot that can be compared and was: kappa, ``n`` pairs of answers, and ``clusters`` partners with a
        kappa. Partners without one (both used one and the same value) are left out; with none at all it is undefined.
    """
    every = list(partners)
    found = {}
    for slot in design.slots:
        if slot.kind not in COMPARED | {"scale"}:
            continue
        each = [_kappa(slot, pairs) for pairs in every]
        answers = sum(one.n for one in each)
        values = [one.value for one in each if one.value is not None]
        if values:
            found[slot.id] = Estimate("kappa", fmean(values), n=answers, clusters=len(values), unit="number")
        elif answers:
            reason = next(one.reason for one in each if one.n)
            found[slot.id] = Estimate("kappa", None, n=answers, reason=reason, unit="number")
    return found


def _kappa(slot: Slot, pairs: Sequence[Pair]) -> Estimate:
    both = [(one[slot.id], other[slot.id]) for _, one, other in pairs if slot.id in one and slot.id in other]
    scale = slot.kind == "scale"
    if scale:
        levels = sorted({option.level for option in slot.options if option.level is not None})
        values = [canonical(level) for level in levels]
    else:
        values = sorted({canonical(value) for pair in both for value in pair})
    place = {value: code for code, value in enumerate(values)}
    table = np.zeros((len(values), len(values)))
    for one, other in both:
        if canonical(one) in place and canonical(other) in place:
            table[place[canonical(one)], place[canonical(other)]] += 1
    return cohen_kappa(table, "quadratic" if scale else "none")


def by_partner(items: Mapping[str, Mapping[str, Any]], others: Others) -> list[list[Pair]]:
    """A person's values by item, put beside those of each of the others."""
    found: dict[str, list[Pair]] = {}
    for item, values in items.items():
        for person, theirs in others.get(item, {}).items():
            found.setdefault(person, []).append((item, values, theirs))
    return list(found.values())
