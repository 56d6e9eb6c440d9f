"""An emotion against its controls: do answers move further than under a vector that means nothing, or than by telling?

The paper's own table has random vectors moving answers as far as emotion vectors, so a drift alone shows no effect of
emotion. Every figure here is a difference on the same items at the same doses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from affectlab.benchmarks.decisions.measures import Drifts, Figure, Floats
from affectlab.benchmarks.decisions.states import CONTROLS, Kind
from affectlab.metrics.classification import mean_defined, ratio_or
from affectlab.stats.bootstrap import Interval
from affectlab.stats.measures import Measures, Over, Totals
from affectlab.stats.multiple import adjust
from affectlab.stats.paired import PairedResult, paired_difference


@dataclass(frozen=True)
class Effect:
    """One figure of an emotion (or of all of them) minus that of a control.

    Attributes:
        control: What it is compared with.
        emotion: Whose; empty for all.
        figure: NDM or NAD.
        result: Both values, difference with interval, and the p-value of swapping the two within items.
        q: The p-value after Benjamini-Hochberg over the effects shown together.
        left_out: Items without both.
    """

    control: Kind
    emotion: str
    figure: Figure
    result: PairedResult
    q: float | None
    left_out: int


def effects(drifts: Drifts, interval: Interval, figures: Sequence[Figure] = ("ndm", "nad")) -> tuple[Effect, ...]:
    """All emotions together, then each, against every control of the run."""
    emotions = tuple(dict.fromkeys(state.emotion for state in drifts.states if state.kind == "emotion"))
    found: list[tuple[Kind, str, Figure, PairedResult, int]] = []
    for control in CONTROLS:
        for emotion in ("", *emotions) if len(emotions) > 1 else ("",):
            pairs = matched(drifts, control, (emotion,) if emotion else emotions)
            for figure in figures if pairs else ():
                result, left_out = _against(drifts, pairs, figure, emotions, interval)
                found.append((control, emotion, figure, result, left_out))
    adjusted = adjust([result.p for _, _, _, result, _ in found]).values
    return tuple(
        Effect(control, emotion, figure, result, q, left_out)
        for (control, emotion, figure, result, left_out), q in zip(found, adjusted, strict=True)
    )


Pair = tuple[tuple[int, ...], tuple[int, ...]]
"""Columns of emotions and columns of controls that are compared with them."""


def matched(drifts: Drifts, control: Kind, emotions: Sequence[str]) -> list[Pair]:
    """Columns to compare.

    Random vectors are matched by dose, vectors of shuffled labels by dose and emotion, prompts by emotion.
    """
    pairs: list[Pair] = []
    if control == "prompt":
        keys = [({"emotion": one}, {"emotion": one}) for one in emotions]
        return _present(drifts, control, keys, emotions)
    doses = dict.fromkeys(state.dose for state in drifts.states if state.kind == "emotion")
    for dose in doses:
        by_emotion = emotions if control == "permuted" else (None,)
        keys = [({"dose": dose} | _only(one), {"dose": dose} | _only(one)) for one in by_emotion]
        pairs += _present(drifts, control, keys, emotions)
    return pairs


def _only(emotion: str | None) -> dict[str, str]:
    return {} if emotion is None else {"emotion": emotion}


def _present(
    drifts: Drifts, control: Kind, keys: Sequence[tuple[dict[str, str], dict[str, str]]], emotions: Sequence[str]
) -> list[Pair]:
    pairs = []
    for of_emotion, of_control in keys:
        first = [c for c in drifts.which(kind="emotion", **of_emotion) if drifts.states[c].emotion in emotions]
        second = drifts.which(kind=control, **of_control)
        if first and second:
            pairs.append((tuple(first), tuple(second)))
    return pairs


def _against(
    drifts: Drifts, pairs: Sequence[Pair], figure: Figure, emotions: Sequence[str], interval: Interval
) -> tuple[PairedResult, int]:
    """Item values averaged over the pairs, then the two compared on the items that have both."""
    first = _mean([_values(drifts, columns, figure, ()) for columns, _ in pairs])
    second = _mean(
        [
            _values(drifts, columns, figure, tuple(drifts.states[c].emotion for c in of_emotion) or emotions)
            for of_emotion, columns in pairs
        ]
    )
    both = ~np.isnan(first) & ~np.isnan(second)
    measured = [_by_role(drifts, np.where(both, values, np.nan)) for values in (first, second)]
    return paired_difference(measured[0], measured[1], "mean", interval), int((~both).sum())


def _values(drifts: Drifts, columns: Sequence[int], figure: Figure, emotions: Sequence[str]) -> Floats:
    """A figure's contribution by item [I]: mean size of moves, or mean move along the directions of emotions.

    Args:
        drifts: Moves.
        columns: Conditions averaged.
        figure: Which figure.
        emotions: Directions a control's moves are aligned with, averaged; each condition's own when empty.
    """
    if figure == "ndm":
        return _mean([drifts.size[:, column] for column in columns])
    aligned = []
    for column in columns:
        own = drifts.states[column].emotion
        signs = np.mean([drifts.directions(one) for one in ((own,) if own else emotions)], axis=0)
        aligned.append(drifts.move[:, column] * signs)
    return _mean(aligned)


def _mean(columns: Sequence[Floats]) -> Floats:
    return mean_defined(np.stack(columns, axis=1))


def _by_role(drifts: Drifts, values: Floats) -> Measures:
    """One value an item, averaged over items within roles and then over roles."""
    return item_measures(drifts.roles, drifts.clusters, values)


def item_measures(roles: Sequence[str], clusters: Sequence[str], values: Floats) -> Measures:
    """One value an item as ``mean``: over items within roles, then over roles. NaN: no value.

    All clusters are declared, those without a value too, so that two conditions can be paired.
    """
    names = sorted(set(roles))
    code = np.array([names.index(role) for role in roles], dtype=np.int32)
    known, cluster = np.unique(np.array(clusters, dtype=object), return_inverse=True)
    present = np.flatnonzero(~np.isnan(values))
    n = len(names)
    events = np.arange(2 * n, dtype=np.intp)
    return Measures(
        cluster=np.tile(cluster[present], 2).astype(np.int32),
        event=np.concatenate([code[present], code[present] + n]).astype(np.int32),
        clusters=tuple(map(str, known)),
        n_events=2 * n,
        statistics={"mean": Over(events, partial(_macro, n), counted=events[n:])},
        correct={},
        headline="mean",
        weight=np.concatenate([values[present], np.ones(len(present))]),
    )


def _macro(n_roles: int, totals: Totals) -> Floats:
    return mean_defined(ratio_or(totals[:, :n_roles], totals[:, n_roles:], np.nan))
