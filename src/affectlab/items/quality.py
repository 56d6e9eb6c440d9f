"""Checks of labels against label spaces and against each other: what no single field shows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from affectlab.errors import UserError
from affectlab.items.duplicates import fold_text
from affectlab.labels import LabelSpace

_OPPOSITE = {"positive": "negative", "negative": "positive"}


def outside(values: Iterable[str], space: LabelSpace) -> list[str]:
    """Values that name no label of the space: typing errors, or labels of another list. In order, without repeats."""
    return [value for value in dict.fromkeys(values) if space.resolve(value) is None]


def valence_clash(polarity: str, emotion: str, emotions: LabelSpace) -> bool:
    """Whether an emotion is of the valence opposite to the polarity it stands beside.

    Emotions without a fixed valence (surprise) and neutral ones clash with nothing, nor does a neutral polarity.

    Args:
        polarity: A name or id of ``cue_polarity3``'s kind: positive, neutral or negative.
        emotion: Any form of a label of ``emotions``.
        emotions: A space whose groups hold ``positive`` and ``negative``.

    Raises:
        UserError: When the polarity or the emotion is none, or the space has no such groups.
    """
    from affectlab.labels import load

    if not _OPPOSITE.keys() <= set(emotions.groups):
        raise UserError(f"label space {emotions.name!r} has no positive and negative groups to check against")
    asked = load("cue_polarity3").require(polarity)
    return emotions.group_of(emotions.require(emotion)) == _OPPOSITE.get(asked)


def conflicting_labels(rows: Iterable[tuple[str, str, frozenset[str]]]) -> list[tuple[str, ...]]:
    """Groups of rows that have one text (after folding) and more than one gold.

    Args:
        rows: Id, text and labels of each row.

    Returns:
        Ids of each group, in the order of the rows. Nothing is decided about which gold is right.
    """
    groups: dict[str, list[tuple[str, frozenset[str]]]] = {}
    for key, text, labels in rows:
        groups.setdefault(fold_text(text), []).append((key, labels))
    return [tuple(key for key, _ in group) for group in groups.values() if len({labels for _, labels in group}) > 1]


def shared_values(
    left: Iterable[Mapping[str, object]], right: Iterable[Mapping[str, object]], column: str
) -> set[object]:
    """Values of a column (an author, a source) that occur on both sides of a split."""
    values = ({row[column] for row in side if row.get(column) is not None} for side in (left, right))
    return set.intersection(*values)
