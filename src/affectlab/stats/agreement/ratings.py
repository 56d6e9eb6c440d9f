"""Answers of several annotators to one question about many units, as codes."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from affectlab.errors import UserError, first_of

Value: TypeAlias = Hashable
"""A label (text, true or false), a number, or a set of labels (frozenset)."""

_SHOWN = 5


@dataclass(frozen=True, eq=False)
class Ratings:
    """Who said what about which unit. Make one with :func:`ratings`.

    Attributes:
        unit: Code of the unit of each answer [N], in [0, U).
        rater: Code of who gave it [N], in [0, R).
        code: Code of what was said [N], an index into ``values``.
        units: Names of the units, in order of first mention.
        raters: Names of the annotators, sorted.
        values: All values: in declared order, or those that occur, sorted.
        ordered: Whether the order of ``values`` means something: it was declared, or they are numbers.
        missing: Rows without a value (``None``, NaN), which are in none of the above.
    """

    unit: NDArray[np.int64]
    rater: NDArray[np.int64]
    code: NDArray[np.int64]
    units: tuple[str, ...]
    raters: tuple[str, ...]
    values: tuple[Value, ...]
    ordered: bool
    missing: int = 0

    def __len__(self) -> int:
        return len(self.code)

    def __repr__(self) -> str:
        return (
            f"<{len(self)} ratings of {len(self.units)} units by {len(self.raters)} annotators, "
            f"{len(self.values)} values>"
        )

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """Answers of each unit [U]."""
        return np.bincount(self.unit, minlength=len(self.units))

    @cached_property
    def paired(self) -> NDArray[np.bool_]:
        """Which answers have another one to the same unit beside them [N]."""
        return self.sizes[self.unit] > 1

    @property
    def paired_units(self) -> int:
        """Units with two answers or more."""
        return int((self.sizes > 1).sum())

    @cached_property
    def numbers(self) -> NDArray[np.float64] | None:
        """The values as numbers [C]; ``None`` when they are none."""
        if all(_is_number(value) for value in self.values):
            return np.array(self.values, dtype=np.float64)
        return None

    def take(self, rows: NDArray[Any]) -> Ratings:
        """Some of the answers (a mask); units, annotators and values keep their codes."""
        return replace(self, unit=self.unit[rows], rater=self.rater[rows], code=self.code[rows])

    def counts(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Unit, value and how often it was said, of each value of each unit [E], sorted by unit."""
        cell, count = np.unique(self.unit * max(len(self.values), 1) + self.code, return_counts=True)
        unit, code = np.divmod(cell, max(len(self.values), 1))
        return unit, code, count


def ratings(rows: Iterable[tuple[str, str, Any]], values: Sequence[Any] | None = None) -> Ratings:
    """Code answers.

    Args:
        rows: (unit, annotator, value) of each answer. ``None`` and NaN are missing answers. A list, tuple or set is a
            set of labels.
        values: All values there are, in order; those that occur when ``None``. What a scale offers belongs here even
            where nobody chose it.

    Raises:
        UserError: When an annotator answers twice about a unit, a value is not among ``values``, or numbers, labels and
            sets are mixed.
    """
    kept: list[tuple[str, str, Value]] = []
    missing = 0
    for unit, rater, value in rows:
        if value is None or (isinstance(value, float) and math.isnan(value)):
            missing += 1
        else:
            kept.append((unit, rater, plain(value)))
    _check_doubled(kept)
    known = tuple(map(plain, values)) if values is not None else _sorted({value for _, _, value in kept})
    if len(set(known)) < len(known):
        raise UserError(f"The declared values name {Counter(known).most_common(1)[0][0]!r} twice; name each once.")
    place = {value: code for code, value in enumerate(known)}
    if outside := Counter(value for _, _, value in kept if value not in place):
        shown = ", ".join(f"{_text(value)} ({count} ×)" for value, count in outside.most_common(_SHOWN))
        raise UserError(f"{sum(outside.values())} answers are none of the declared values: {shown}.")
    unit_codes = {unit: code for code, unit in enumerate(dict.fromkeys(unit for unit, _, _ in kept))}
    rater_codes = {rater: code for code, rater in enumerate(sorted({rater for _, rater, _ in kept}))}
    return Ratings(
        unit=np.array([unit_codes[unit] for unit, _, _ in kept], dtype=np.int64),
        rater=np.array([rater_codes[rater] for _, rater, _ in kept], dtype=np.int64),
        code=np.array([place[value] for _, _, value in kept], dtype=np.int64),
        units=tuple(unit_codes),
        raters=tuple(rater_codes),
        values=known,
        ordered=values is not None or all(map(_is_number, known)),
        missing=missing,
    )


def ratings_of_matrix(matrix: Sequence[Sequence[Any]], values: Sequence[Any] | None = None) -> Ratings:
    """Ratings from one row for each annotator and one column for each unit; ``None`` and NaN are missing."""
    rows = (
        (str(unit), f"{rater:04}", value) for rater, answers in enumerate(matrix) for unit, value in enumerate(answers)
    )
    return ratings(rows, values)


def plain(value: Any) -> Value:
    """A value in the form ratings keep: sets as frozensets, numbers as floats."""
    if isinstance(value, list | tuple | set | frozenset):
        return frozenset(value)
    if isinstance(value, Mapping):
        raise UserError("Intensities of several labels are no single value; see split_intensities.")
    return float(value) if _is_number(value) else value


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def _kind(value: Value) -> str:
    if _is_number(value):
        return "numbers"
    return "sets" if isinstance(value, frozenset) else "true or false" if isinstance(value, bool) else "labels"


def _sorted(values: set[Value]) -> tuple[Value, ...]:
    kinds = sorted({_kind(value) for value in values})
    if len(kinds) > 1:
        raise UserError(f"The answers mix {' and '.join(kinds)}; one slot takes one kind.")
    if kinds == ["sets"]:
        return tuple(sorted(values, key=lambda value: sorted(map(str, value))))  # type: ignore[call-overload]
    return tuple(sorted(values))  # type: ignore[type-var]


def _text(value: Value) -> str:
    return "{" + ", ".join(sorted(map(str, value))) + "}" if isinstance(value, frozenset) else repr(value)


def _check_doubled(rows: Sequence[tuple[str, str, Value]]) -> None:
    doubled = [pair for pair, count in Counter((unit, rater) for unit, rater, _ in rows).items() if count > 1]
    if doubled:
        shown = first_of([f"{rater} on {unit}" for unit, rater in doubled], _SHOWN)
        raise UserError(f"An annotator may answer a unit once; answered more often: {shown}.")
