"""Predictions as rows (one answer each) and as a compact table (a million of them).

A row stands alone: it holds its gold, its cluster and its slices, so that scores can be computed, or the file
loaded into pandas, without the data it came from.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from operator import attrgetter, itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from affectlab.errors import UserError

COLUMNS = (
    "item",
    "cluster",
    "slot",
    "variant",
    "condition",
    "repeat",
    "outcome",
    "value",
    "gold",
    "position",
    "slices",
    "flags",
)


@dataclass(frozen=True, slots=True)
class Prediction:
    """One answer to one slot of one item.

    Attributes:
        item: Id of the item.
        cluster: Unit that was sampled.
        slot: What was labelled (``"A"``).
        outcome: Value of ``reading.Outcome``.
        value: The answer in the slot's terms (label id, level, tuple of label ids); ``None`` unless ``outcome`` is ok.
        gold: The right answer, or ``None``: then the row cannot be scored.
        variant: Presentation (``"order=2"``); empty if only one.
        condition: State the model was in.
        repeat: Repetition, from 0.
        position: Where the chosen option stood among those offered, from 0; ``None`` when none was.
        slices: Metadata to break results down by.
        flags: What reading noticed.
        detail: Anything else worth keeping (option log-probabilities). Not part of the table.
    """

    item: str
    cluster: str
    slot: str
    outcome: str
    value: Any
    gold: Any
    variant: str = ""
    condition: str = "neutral"
    repeat: int = 0
    position: int | None = None
    slices: Mapping[str, str] = field(default_factory=dict)
    flags: tuple[str, ...] = ()
    detail: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Column:
    """A column whose distinct values are stored once: ``values[codes[i]]`` is row i."""

    codes: NDArray[np.int32]
    values: tuple[Any, ...]

    def recode(self, lookup: Mapping[Any, int], default: int) -> NDArray[np.int64]:
        """Codes under another numbering of the values; ``default`` for values that are not in it."""
        table = np.array([lookup.get(value, default) for value in self.values] or [default], dtype=np.int64)
        return table[self.codes]

    def equals(self, value: Any) -> NDArray[np.bool_]:
        """Which rows hold ``value``."""
        return self.recode({value: 1}, 0).astype(bool)

    def take(self, rows: NDArray[Any]) -> Column:
        """The column restricted to some rows (a mask or indices)."""
        return Column(self.codes[rows], self.values)


@dataclass(frozen=True)
class PredictionTable:
    """Predictions by column. ``slices`` and ``flags`` hold whole rows' worth (a mapping and a tuple) as one value."""

    item: Column
    cluster: Column
    slot: Column
    variant: Column
    condition: Column
    repeat: Column
    outcome: Column
    value: Column
    gold: Column
    position: Column
    slices: Column
    flags: Column

    def __repr__(self) -> str:
        slots = ", ".join(map(str, self.slot.values))
        return f"<predictions: {len(self)} of {len(self.item.values)} items, slots {slots}>"

    def __len__(self) -> int:
        return len(self.item.codes)

    def where(self, rows: NDArray[Any]) -> PredictionTable:
        """The table restricted to some rows (a mask or indices)."""
        return PredictionTable(**{name: getattr(self, name).take(rows) for name in COLUMNS})

    def groups(self, *columns: str) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Rows grouped by equal values of some columns.

        Returns:
            The group of each row [N], numbered from 0, and the first row of each group [G].
        """
        key = np.zeros(len(self), dtype=np.int64)
        for column in (getattr(self, name) for name in columns):
            key = key * max(len(column.values), 1) + column.codes
        _, first, group = np.unique(key, return_index=True, return_inverse=True)
        return group, first

    def names(self, rows: NDArray[Any], *columns: str) -> list[str]:
        """What tells some rows apart, for people: the values of ``columns`` that are not the same everywhere."""
        chosen = [getattr(self, name) for name in columns]
        telling = [column for column in chosen if len(column.values) > 1] or chosen[:1]
        coded = zip(*(column.codes[rows].tolist() for column in telling), strict=True)
        return ["/".join(str(c.values[code]) for c, code in zip(telling, row, strict=True)) for row in coded]

    def slice_values(self, name: str) -> Column:
        """One slice as a column; ``None`` where a row has no such slice."""
        distinct: dict[str | None, int] = {}
        codes = [distinct.setdefault(dict(pairs).get(name), len(distinct)) for pairs in self.slices.values]
        table = np.array(codes or [0], dtype=np.int32)
        return Column(table[self.slices.codes], tuple(distinct))

    @classmethod
    def from_rows(cls, rows: Iterable[Prediction | Mapping[str, Any]]) -> PredictionTable:
        """Build the table from predictions, or from the plain mappings of a ``predictions.jsonl``.

        Rows are taken in batches and each batch is turned into columns, so that a million of them take seconds and
        only their distinct values stay in memory. Values that compare equal (1 and 1.0) are one value; mappings become
        sorted tuples of pairs, lists become tuples.

        Raises:
            UserError: When a mapping lacks a field that has no default, naming it.
        """
        waiting = iter(rows)
        batches = iter(lambda: list(islice(waiting, _BATCH)), [])
        return cls.from_columns(zip(*_cells(batch), strict=True) for batch in batches)

    @classmethod
    def from_columns(
        cls, batches: Iterable[Iterable[Sequence[Any]]], decoders: Mapping[str, Callable[[bytes], Any]] | None = None
    ) -> PredictionTable:
        """Build the table from batches that are columns already, in the order of ``COLUMNS``.

        Args:
            batches: Each holds one sequence per column, all equally long.
            decoders: For columns whose values are still bytes: what turns one into its value. Only distinct ones are.
        """
        numbers = [_Numbering() for _ in COLUMNS]
        codes = [array("i") for _ in COLUMNS]
        for batch in batches:
            for coded, number, column in zip(codes, numbers, batch, strict=True):
                plain = _CHEAP.issuperset(map(type, column))
                coded.extend(map(number.__getitem__, column if plain else map(_hashable, column)))
        decoded = decoders or {}
        return cls(
            **{
                name: _column(coded, tuple(number), decoded.get(name))
                for name, coded, number in zip(COLUMNS, codes, numbers, strict=True)
            }
        )


_BATCH = 1000
_PLAIN = frozenset({str, int, float, bool, type(None)})
_CHEAP = _PLAIN | {bytes}
_DEFAULTS: dict[str, Any] = {
    "variant": "",
    "condition": "neutral",
    "repeat": 0,
    "value": None,
    "gold": None,
    "position": None,
    "slices": (),
    "flags": (),
}
_attributes = attrgetter(*COLUMNS)
_fields: Callable[[Any], tuple[Any, ...]] = itemgetter(*COLUMNS)


class _Numbering(dict[Any, int]):
    """Numbers values in the order in which they are first asked for."""

    def __missing__(self, value: Any) -> int:
        code = self[value] = len(self)
        return code


def _column(coded: array[int], values: tuple[Any, ...], decode: Callable[[bytes], Any] | None) -> Column:
    codes = np.array(coded, dtype=np.int32)
    if decode is None:
        return Column(codes, values)
    number = _Numbering()  # two spellings of one value become one
    table = np.array([number[_hashable(decode(value))] for value in values] or [0], dtype=np.int32)
    return Column(table[codes], tuple(number))


def _cells(batch: Sequence[Prediction | Mapping[str, Any]]) -> list[tuple[Any, ...]]:
    try:
        # The usual case: complete rows of a file, without a Python call for each.
        return list(map(_fields, batch))
    except (KeyError, TypeError):
        return [_attributes(row) if isinstance(row, Prediction) else _fields(_completed(row)) for row in batch]


def _completed(row: Mapping[str, Any]) -> Mapping[str, Any]:
    full = {**_DEFAULTS, **row}
    if missing := [name for name in COLUMNS if name not in full]:
        found = ", ".join(sorted(row)) or "nothing"
        raise UserError(f"A prediction needs {' and '.join(missing)}; this one has {found}.")
    return full


def _hashable(value: Any) -> Any:
    kind = type(value)
    if kind in _PLAIN:
        return value
    if kind is list or kind is tuple:
        return tuple(map(_hashable, value))
    return (
        tuple(sorted((name, _hashable(part)) for name, part in value.items()))
        if kind is dict or isinstance(value, Mapping)
        else value
    )
