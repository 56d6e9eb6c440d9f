"""Which requests go through a model together: what differs by condition alone is one row under several conditions."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Together(Generic[T]):
    """Rows that are all asked under the same conditions.

    Attributes:
        conditions: Their names.
        rows: For each row, condition -> what is asked, in ``conditions``' order; more than one where requests are
            alike.
    """

    conditions: tuple[str, ...]
    rows: tuple[Mapping[str, list[T]], ...]

    def first(self, row: int) -> T:
        """One of what is asked in a row; all give the model the same."""
        return self.rows[row][self.conditions[0]][0]

    def of(self, row: int, condition: int) -> list[T]:
        """What is asked in a row under a condition, by their numbers."""
        return self.rows[row][self.conditions[condition]]


def together(asked: Iterable[tuple[Hashable, str, T]]) -> list[Together[T]]:
    """Sort requests into as few groups as share their conditions.

    Args:
        asked: For each request what the model is given (equal: the same computation), its condition, and itself.
    """
    rows: dict[Hashable, dict[str, list[T]]] = {}
    order: dict[str, int] = {}
    for key, condition, one in asked:
        order.setdefault(condition, len(order))
        rows.setdefault(key, {}).setdefault(condition, []).append(one)
    groups: dict[tuple[str, ...], list[Mapping[str, list[T]]]] = {}
    for row in rows.values():
        groups.setdefault(tuple(sorted(row, key=order.__getitem__)), []).append(row)
    return [Together(conditions, tuple(members)) for conditions, members in groups.items()]
