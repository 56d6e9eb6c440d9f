"""Items: the one schema all data is brought into, readers of data files, and checks of what was read.

Names are loaded when first used: an item needs nothing but the standard library.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from affectlab.items.item import Gold, Item

if TYPE_CHECKING:
    from affectlab.items.duplicates import Pair, leakage, near_duplicates
    from affectlab.items.load import Loaded, load_items
    from affectlab.items.parse import Row
    from affectlab.items.problems import DataError, Problem
    from affectlab.items.read import read_rows, read_texts, source_digest

_WHERE = {
    "DataError": "problems",
    "Pair": "duplicates",
    "Problem": "problems",
    "Row": "parse",
    "leakage": "duplicates",
    "Loaded": "load",
    "load_items": "load",
    "near_duplicates": "duplicates",
    "read_rows": "read",
    "read_texts": "read",
    "source_digest": "read",
}

__all__ = [
    "DataError",
    "Gold",
    "Item",
    "Loaded",
    "Pair",
    "Problem",
    "Row",
    "leakage",
    "load_items",
    "near_duplicates",
    "read_rows",
    "read_texts",
    "source_digest",
]


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module 'affectlab.items' has no attribute {name!r}")
    return getattr(import_module(f"affectlab.items.{_WHERE[name]}"), name)
