"""Rhythm of typing: what kind of key, after how long, and how the length changed; never what was typed.

The kind of record is Potato's (key class, timing, length delta, paste as a length). Kept only from people who agreed.
"""

from __future__ import annotations

import json
from typing import Any

CLASSES = ("insert", "delete", "paste", "other")
MOST_EVENTS = 2000


def read_typing(text: str) -> list[list[Any]] | None:
    """A page's record, ``[[class, milliseconds, length change], …]``; ``None`` when it is none."""
    try:
        rows = json.loads(text)
    except ValueError:
        return None
    if not isinstance(rows, list) or len(rows) > MOST_EVENTS or not all(map(_event, rows)):
        return None
    return rows


def _event(row: Any) -> bool:
    return (
        isinstance(row, list)
        and len(row) == 3
        and row[0] in CLASSES
        and all(type(one) is int and abs(one) < 10**8 for one in row[1:])
    )
