"""Runs that were never made: predictions of an agent whose answers are a function."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from affectlab.games import ROLES
from affectlab.metrics.predictions import Prediction, PredictionTable

EMOTIONS = ("anger", "joy", "fear", "sadness", "disgust", "surprise")

Row = tuple[str, str, tuple[float, float], float | None]
"""Role, item, range, y."""

Answer = Callable[[str, int, str, int], float | None]
"""From role, number of the item, condition and repeat to y; ``None`` for an answer that cannot be read."""


def prediction(
    role: str, item: str, condition: str, y: float | None, span: tuple[float, float] = (0, 1), repeat: int = 0
) -> Prediction:
    return Prediction(
        item=item,
        cluster=item,
        slot="choice",
        outcome="unparseable" if y is None else "ok",
        value=y,
        gold=None,
        condition=condition,
        repeat=repeat,
        slices={
            "role": role,
            "game": ROLES[role].game if role in ROLES else role,
            "y_min": str(span[0]),
            "y_max": str(span[1]),
        },
    )


def world(
    answer: Answer,
    conditions: Iterable[str],
    roles: Iterable[str] = tuple(ROLES),
    items: int = 12,
    repeats: int = 1,
) -> PredictionTable:
    return PredictionTable.from_rows(_rows(answer, ("neutral", *conditions), tuple(roles), items, repeats))


def _rows(
    answer: Answer, conditions: tuple[str, ...], roles: tuple[str, ...], items: int, repeats: int
) -> Iterator[Prediction]:
    for condition in conditions:
        for repeat in range(repeats):
            for role in roles:
                span = (0.0, 1.0) if ROLES[role].kind == "binary" else (0.0, 10.0)
                for number in range(items):
                    y = answer(role, number, condition, repeat)
                    yield prediction(role, f"{role}-{number:02d}", condition, y, span, repeat)


def table(rows: Mapping[str, Sequence[Row]]) -> PredictionTable:
    """Predictions by condition."""
    return PredictionTable.from_rows(
        prediction(role, item, condition, y, span)
        for condition, answers in rows.items()
        for role, item, span, y in answers
    )


STAG: dict[str, Any] = {
    "id": "s1",
    "role": "stag_hunt",
    "scenario": "You and a neighbour can each bring a ladder.",
    "options": [{"text": "Stay in", "value": 0}, {"text": "Bring it", "value": 1}],
}
"""A decision as a file holds it."""


def written(path: Path, *rows: Mapping[str, Any]) -> str:
    """A file of records, one a line."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)
