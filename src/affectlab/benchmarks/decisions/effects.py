"""An emotion against its controls: do answers move further than under a vector that means nothing, or than by telling?

The paper's own table has random vectors moving answers as far as emotion vectors, so a drift alone shows no effect of
emotion. Every figure here is a difference on the same questions at the same doses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from affectlab.benchmarks.decisions.measures import Drifts, Figure
from affectlab.benchmarks.decisions.pairing import common, paired_cells
from affectlab.benchmarks.decisions.states import CONTROLS, Kind
from affectlab.stats.bootstrap import Interval
from affectlab.stats.multiple import adjust
from affectlab.stats.paired import PairedResult


@dataclass(frozen=True)
class Effect:
    """One figure of an emotion (or of all of them) minus that of a control.

    Attributes:
        control: What it is compared with.
        emotion: Whose; empty for all.
        figure: NDM or NAD.
        result: Both values, difference with interval, and the p-value of swapping the two within items.
        q: The p-value after Benjamini-Hochberg over the effects shown together.
        left_out: Comparisons (a question under an emotion and under a control) that lack an answer to either.
        asked: Comparisons there are with them.
    """

    control: Kind
    emotion: str
    figure: Figure
    result: PairedResult
    q: float | None
    left_out: int
    asked: int


Pair = tuple[int, int]
"""Column of an emotion and column of a control that it is compared with."""


def effects(
    drifts: Drifts, interval: Interval, figures: Sequence[Figure] = ("ndm", "nad"), *, each: bool = True
) -> tuple[Effect, ...]:
    """All emotions together, then (``each``) one by one, against every control of the run."""
    emotions = tuple(dict.fromkeys(state.emotion for state in drifts.states if state.kind == "emotion"))
    found: list[tuple[Kind, str, Figure, PairedResult, int, int]] = []
    for control in CONTROLS:
        for emotion in ("", *emotions) if each and len(emotions) > 1 else ("",):
            pairs = matched(drifts, control, (emotion,) if emotion else emotions)
            wanted = figures if pairs else ()
            found += [(control, emotion, figure, *_against(drifts, pairs, figure, interval)) for figure in wanted]
    adjusted = adjust([result.p for _, _, _, result, _, _ in found]).values
    return tuple(
        Effect(control, emotion, figure, result, q, left_out, asked)
        for (control, emotion, figure, result, left_out, asked), q in zip(found, adjusted, strict=True)
    )


def matched(drifts: Drifts, control: Kind, emotions: Sequence[str]) -> list[Pair]:
    """Every emotion's column beside every column of a control that belongs to it.

    Random vectors belong to emotions of their dose, vectors of shuffled labels to the same emotion at their dose,
    prompts to the same emotion at any dose.
    """
    return [
        (column, other)
        for column in drifts.which(kind="emotion")
        for other in drifts.which(kind=control)
        if drifts.states[column].emotion in emotions
        and (control == "prompt" or drifts.states[column].dose == drifts.states[other].dose)
        and (control not in ("prompt", "permuted") or drifts.states[column].emotion == drifts.states[other].emotion)
    ]


def _against(
    drifts: Drifts, pairs: Sequence[Pair], figure: Figure, interval: Interval
) -> tuple[PairedResult, int, int]:
    """The two compared on the questions that have both, and how many have not. A control is aligned with the emotion
    it stands against."""
    columns, controls = zip(*pairs, strict=True)
    emotions = [drifts.states[column].emotion for column in columns]
    first, second = common(drifts.contributions(columns, figure), drifts.contributions(controls, figure, emotions))
    lacking = np.isnan(drifts.moves[:, columns]) | np.isnan(drifts.moves[:, controls])
    cells = drifts.by_item(first), drifts.by_item(second)
    # Several random vectors of one dose are one control.
    result = paired_cells(drifts.roles, drifts.clusters, *cells, interval, groups=columns)
    return result, int(lacking.sum()), lacking.size
