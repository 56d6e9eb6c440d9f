"""What two votes on the same pair of candidates, shown in both orders, come to.

Source: CUE-Bench (arXiv 2608.10810), section 3.3: the second vote is mapped back before the two are compared,
and only a candidate that wins in both orders is kept.
"""

from __future__ import annotations

from typing import NamedTuple


class Adjudication(NamedTuple):
    """Result of an order-swapped vote.

    Attributes:
        consistent: Whether both passes chose the same candidate. If not, a person decides.
        chosen: Number of that candidate in the first order, from 1; ``None`` when inconsistent or undecided.
    """

    consistent: bool
    chosen: int | None


def adjudicate(first_order: int | None, second_order: int | None, candidates: int = 2) -> Adjudication:
    """Compare a vote with the vote on the same candidates in reversed order.

    Args:
        first_order: Place chosen when the candidates stood in their order, from 1; ``None`` for no choice.
        second_order: Place chosen when they stood in reversed order, as voted (not yet mapped back).
        candidates: How many there were; place ``b`` of the reversed list is place ``candidates + 1 - b``.

    Raises:
        ValueError: When a vote names a place that was not on the list.
    """
    for vote in (first_order, second_order):
        if vote is not None and not 1 <= vote <= candidates:
            raise ValueError(f"a vote for place {vote} among {candidates} candidates: expected 1 to {candidates}")
    if first_order is None or second_order is None or first_order != candidates + 1 - second_order:
        return Adjudication(consistent=False, chosen=None)
    return Adjudication(consistent=True, chosen=first_order)
