"""Demonstrations of ``few_shot``: which solved records are shown before the one asked about.

Appendix G.2 asks that they cover aligned affect, affect behind a neutral surface, and contrastive affect. They come
from a training side that is never asked about: 27 records written for this, or a file of the user's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import as_file, files
from pathlib import Path
from random import Random
from typing import Literal, NamedTuple, TypeAlias

from affectlab.benchmarks.cue.prompts import SPACES
from affectlab.benchmarks.cue.record import load
from affectlab.errors import UserError
from affectlab.items import Item
from affectlab.items.duplicates import alike, fold_text

Kind: TypeAlias = Literal["aligned", "neutral_surface", "contrastive"]

KINDS: tuple[Kind, ...] = ("aligned", "neutral_surface", "contrastive")
EMOTION_SHOTS = 5
"""As in the public code; the other tasks show one for each label (nine and eight)."""


def kind(stance: str) -> Kind:
    """How the words of a stance stand to what is meant.

    Aligned: both lean alike. Neutral surface: the words do not lean, the meaning does. Contrastive: the words lean, and
    the meaning leans otherwise or not at all.
    """
    explicit, implicit = SPACES["stance"][stance].parts
    if explicit == implicit:
        return "aligned"
    return "neutral_surface" if explicit == "neutral" else "contrastive"


def pool(source: str = "") -> tuple[Item, ...]:
    """Solved records to draw from: of a file, or the bundled ones when ``source`` is empty.

    Raises:
        UserError: When the file is bad, or its records do not cover the three kinds of affect.
    """
    return _pool(source, _stamp(source))


def _stamp(source: str) -> tuple[int, int]:
    """What tells a file that was read from one that was written since; nothing for other sources."""
    path = Path(source)
    if not source or not path.is_file():
        return 0, 0
    found = path.stat()
    return found.st_mtime_ns, found.st_size


@lru_cache(maxsize=4)
def _pool(source: str, _written: tuple[int, int]) -> tuple[Item, ...]:
    if source:
        items = load(source, {}).items
    else:
        with as_file(files(__package__) / "demonstrations.jsonl") as path:
            items = load(str(path), {}).items
    solved = tuple(item for item in items if {"stance", "intent", "emotion"} <= item.gold.keys())
    missing = [name for name in KINDS if name not in {kind(str(item.gold["stance"])) for item in solved}]
    if missing:
        raise UserError(
            f"{source}: no record with all three labels shows {', '.join(missing)} affect, so it cannot give "
            "demonstrations. Take a training split with all stances."
        )
    return solved


def demonstrations(task: str, asked: Item, seed: int, source: str = "") -> tuple[Item, ...]:
    """What is shown before an item; the same for every item of a run but those that would show themselves.

    Args:
        task: ``stance`` or ``intent``: one for each label; ``emotion``: five different emotions.
        asked: The item asked about. It is never shown, nor is one nearly the same or any record of its source.
        seed: Seed of the draw and of the order.
        source: File to draw from; the bundled records when empty.
    """
    written = _stamp(source)
    drawn = _drawn(task, seed, source, written)
    own = _Own.of(asked)
    return _drawn(task, seed, source, written, own) if any(map(own.is_of, drawn)) else drawn


class _Own(NamedTuple):
    """What of a pool an item's answer could be read off: itself or nearly so, and what was cut from the same source."""

    id: str
    source: str
    text: str

    @classmethod
    def of(cls, item: Item) -> _Own:
        words = fold_text(f"{item.inputs['context']}\n{item.inputs['text']}")
        # Marks alone make no other text: in few words they would weigh more than a near duplicate may differ.
        return cls(item.id, item.cluster, "".join(mark for mark in words if mark.isalnum()) or words)

    def is_of(self, item: Item) -> bool:
        other = _Own.of(item)
        return self.id == other.id or self.source == other.source or alike(self.text, other.text)


@lru_cache(maxsize=1024)
def _drawn(
    task: str, seed: int, source: str, written: tuple[int, int], without: _Own | None = None
) -> tuple[Item, ...]:
    left = [item for item in _pool(source, written) if without is None or not without.is_of(item)]
    random = Random(seed)  # noqa: S311 - a draw of examples, no secret
    random.shuffle(left)
    chosen = _by_kind(left) if task == "emotion" else _by_label(task, left)
    random.shuffle(chosen)
    return tuple(chosen)


def _by_label(task: str, left: Sequence[Item]) -> list[Item]:
    """One for each label that the pool has, of the kind of affect that is shown least so far."""
    chosen: list[Item] = []
    shown: Counter[Kind] = Counter()
    for label in SPACES[task].ids:
        fitting = [item for item in left if item.gold[task] == label]
        if fitting:
            best = min(fitting, key=lambda item: shown[kind(str(item.gold["stance"]))])
            chosen.append(best)
            shown[kind(str(best.gold["stance"]))] += 1
    return chosen


def _by_kind(left: Sequence[Item]) -> list[Item]:
    """Five with different emotions, the three kinds of affect in turn."""
    chosen: list[Item] = []
    for turn in range(EMOTION_SHOTS):
        wanted = KINDS[turn % len(KINDS)]
        used = {item.gold["emotion"] for item in chosen}
        fitting = (item for item in left if kind(str(item.gold["stance"])) == wanted)
        found = next((item for item in fitting if item.gold["emotion"] not in used), None)
        if found is not None:
            chosen.append(found)
    return chosen
