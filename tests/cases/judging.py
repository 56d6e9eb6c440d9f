"""Comparing what came out with what is right, figure by figure."""

from __future__ import annotations

from collections.abc import Mapping
from math import isclose
from typing import Any

_EXPLAIN = frozenset({"rule", "note", "flag", "why", "reason", "comment", "explanation", "rationale"})


def differences(ours: Mapping[str, Any], right: Mapping[str, Any]) -> str | None:
    """``None`` when every figure of ``right`` is ours; a figure we do not compute is a difference."""
    wrong = []
    for name, expected in right.items():
        if name in _EXPLAIN:
            continue
        if name not in ours:
            wrong.append(f"unknown figure {name}")
        elif not same(ours[name], expected):
            wrong.append(f"{name} = {ours[name]!r}")
    return "; ".join(wrong) or None


def same(ours: Any, expected: Any) -> bool:
    """Equal to the printed digits; a text that starts with undefined stands for no value."""
    if isinstance(expected, str) and expected.startswith("undefined"):
        return ours is None or ours == "undefined"
    if isinstance(expected, list):
        return len(ours) == len(expected) and all(map(same, ours, expected))
    if isinstance(expected, dict):
        return bool(ours.keys() == expected.keys() and all(same(ours[key], expected[key]) for key in expected))
    if isinstance(expected, float | int) and not isinstance(expected, bool):
        return ours is not None and isclose(ours, expected, rel_tol=1e-5, abs_tol=5e-7)
    return bool(ours == expected)
