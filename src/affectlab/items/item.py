"""The one schema every benchmark's data is brought into."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

Gold: TypeAlias = "str | float | tuple[str, ...] | Mapping[str, float]"
"""Right answer of a slot: a label id, a number or Likert level, a set of label ids (a tuple in declared order, as
readers give it), or a distribution over annotators (label id -> share)."""


@dataclass(frozen=True, slots=True)
class Item:
    """One unit of a benchmark.

    Attributes:
        id: Unique within the benchmark's data.
        index: Position in the data file, from 0. Decides option rotation, so that ``--limit`` and resumed
            runs show an item exactly as the full run does.
        inputs: What a protocol may put into a prompt, by name.
        gold: Right answer by slot. A slot without gold is absent: it can be predicted, not scored.
        slices: Metadata to break results down by (``{"mode": "physical"}``).
        cluster: The unit that was sampled (scene, story, source text). Intervals resample clusters.
    """

    id: str
    index: int
    inputs: Mapping[str, Any]
    gold: Mapping[str, Gold]
    slices: Mapping[str, str] = field(default_factory=dict)
    cluster: str = ""

    def __post_init__(self) -> None:
        if not self.cluster:
            object.__setattr__(self, "cluster", self.id)
