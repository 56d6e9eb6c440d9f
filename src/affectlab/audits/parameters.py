"""Item parameters from a file: what ``affectlab audit items --json`` printed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any

from affectlab.errors import UserError
from affectlab.items.source import read_text


@dataclass(frozen=True)
class ItemParameters:
    """Of every item of a pool, from the screening fit.

    Attributes:
        difficulty: Item -> difficulty, on the scale of its role.
        discrimination: Item -> discrimination.
    """

    difficulty: Mapping[str, float]
    discrimination: Mapping[str, float]

    def __repr__(self) -> str:
        return f"<parameters of {len(self.difficulty)} items>"


def read_parameters(path: Path) -> ItemParameters:
    """Difficulty and discrimination of items.

    Args:
        path: Output of ``affectlab audit items RUN … --json``.

    Raises:
        UserError: When the file is not there or holds something else.
        WorldError: When the disk fails.
    """
    try:
        table = json.loads(read_text(str(path.expanduser())))["tables"]["items"]
        at = [table["columns"].index(name) for name in ("item", "difficulty", "discrimination")]
        rows = [tuple(row[place] for place in at) for row in table["rows"]]
    except (ValueError, KeyError, TypeError, IndexError, AttributeError):
        raise UserError(
            f"{path} holds no item parameters: give what `affectlab audit items RUN … --json` prints."
        ) from None
    if wrong := [row for row in rows if not (isinstance(row[0], str) and _number(row[1]) and _number(row[2]))]:
        raise UserError(f"{path}: item {wrong[0][0]!r} has no difficulty and discrimination that are numbers.")
    if not rows:
        raise UserError(f"{path} names no item.")
    return ItemParameters({row[0]: float(row[1]) for row in rows}, {row[0]: float(row[2]) for row in rows})


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
