"""Saying how two sets of names differ, for people who must mend it."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

_NAMED = 5


def name_differences(a: AbstractSet[str], b: AbstractSet[str], what: str) -> str:
    """One line on what only one of two sets holds: ``2 items are in the first run only (x, y); ...``."""
    parts = []
    for where, names in (("first", a - b), ("second", b - a)):
        if names:
            shown = ", ".join(sorted(names)[:_NAMED]) + (", ..." if len(names) > _NAMED else "")
            number = f"1 {what} is" if len(names) == 1 else f"{len(names)} {what}s are"
            parts.append(f"{number} in the {where} run only ({shown})")
    return "; ".join(parts)
