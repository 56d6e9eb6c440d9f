"""Predictions as rows (one answer each) and as a compact table (a million of them).

A row stands alone: it holds its gold, its cluster and its slices, so that scores can be computed, or the file
loaded into pandas, without the data it came from.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

COLUMNS = ("item", "cluster", "slot", "variant", "condition", "repeat", "outcome", "value", "gold", "position", "slices", "flags")


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
        position: Where the chosen option stood among those offered, from 0; ``None`` when nothing was chosen from a list.
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

    def __len__(self) -> int:
        return len(self.item.codes)

    def where(self, rows: NDArray[Any]) -> PredictionTable:
        """The table restricted to some rows (a mask or indices)."""
        return PredictionTable(**{name: getattr(self, name).take(rows) for name in COLUMNS})

    def slice_values(self, name: str) -> Column:
        """One slice as a column; ``None`` where a row has no such slice."""
        distinct: dict[str | None, int] = {}
        codes = [distinct.setdefault(dict(pairs).get(name), len(distinct)) for pairs in self.slices.values]
        table = np.array(codes or [0], dtype=np.int32)
        return Column(table[self.slices.codes], tuple(distinct))

    @classmethod
    def from_rows(cls, rows: Iterable[Prediction | Mapping[str, Any]]) -> PredictionTable:
        """Build the table from predictions, or from the plain mappings of a ``predictions.jsonl``."""
        codes = {name: array("i") for name in COLUMNS}
        distinct: dict[str, dict[Any, int]] = {name: {} for name in COLUMNS}
        plan = [(name, codes[name].append, distinct[name]) for name in COLUMNS]
        for row in rows:
            get = row.get if isinstance(row, Mapping) else _getter(row)
            for name, append, seen in plan:
                value = get(name, _DEFAULTS.get(name))
                if value.__class__ in _CONTAINERS:
                    value = _hashable(value)
                code = seen.get(value)
                if code is None:
                    code = seen[value] = len(seen)
                append(code)
        return cls(
            **{
                name: Column(np.frombuffer(codes[name], dtype=np.int32) if codes[name] else np.empty(0, np.int32), tuple(distinct[name]))
                for name in COLUMNS
            }
        )


_CONTAINERS = frozenset({dict, list, tuple})
_DEFAULTS: dict[str, Any] = {"variant": "", "condition": "neutral", "repeat": 0, "slices": (), "flags": ()}


def _hashable(value: Any) -> Any:
    return tuple(sorted(value.items())) if isinstance(value, dict) else tuple(value)


def _getter(row: Prediction) -> Any:
    return lambda name, default=None: getattr(row, name, default)
