"""Figures against strength, with a test of whether they rise or fall with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from affectlab.benchmarks.decisions.measures import Drifts, Figure, Selection, drift_measures
from affectlab.benchmarks.decisions.states import Kind
from affectlab.stats.bootstrap import Interval, estimates
from affectlab.stats.estimate import Estimate
from affectlab.stats.trend import Trend, page_trend


@dataclass(frozen=True)
class Curve:
    """One figure of one line over its strengths.

    Attributes:
        kind: Emotion or control.
        emotion: Whose; empty for all, and for random vectors.
        how: Way the vectors were applied; empty for the usual one.
        figure: NDM or NAD.
        strengths: Ascending.
        points: The figure at each, with item-clustered intervals.
        trend: Page's test with items as blocks; ``None`` for one strength.
    """

    kind: Kind
    emotion: str
    how: str
    figure: Figure
    strengths: tuple[float, ...]
    points: tuple[Estimate, ...]
    trend: Trend | None

    @property
    def title(self) -> str:
        """What a legend calls it."""
        name = self.emotion or ("all emotions" if self.kind == "emotion" else self.kind)
        return f"{name}, {self.how}" if self.how else name


def curves(drifts: Drifts, interval: Interval, figures: Sequence[Figure] = ("ndm", "nad")) -> tuple[Curve, ...]:
    """Curves of all emotions together, of each, and of random vectors (NDM only), where there are strengths."""
    lines = [(line, figure) for line in _lines(drifts) for figure in (figures if line.kind == "emotion" else ("ndm",))]
    chosen = {
        f"{place}/{strength}": Selection(figure, columns)
        for place, (line, figure) in enumerate(lines)
        for strength, columns in line.at.items()
    }
    if not chosen:
        return ()
    found = estimates(drift_measures(drifts, chosen), how=interval)
    return tuple(
        Curve(
            line.kind,
            line.emotion,
            line.how,
            figure,
            tuple(line.at),
            tuple(found[f"{place}/{strength}"] for strength in line.at),
            _trend(drifts, line, figure),
        )
        for place, (line, figure) in enumerate(lines)
    )


@dataclass(frozen=True)
class _Line:
    """Conditions by strength, ascending."""

    kind: Kind
    emotion: str
    how: str
    at: Mapping[float, tuple[int, ...]]


def _lines(drifts: Drifts) -> Iterator[_Line]:
    for how in dict.fromkeys(state.how for state in drifts.states if state.kind == "emotion"):
        emotions = dict.fromkeys(s.emotion for s in drifts.states if s.kind == "emotion" and s.how == how)
        yield _Line("emotion", "", how, _by_strength(drifts, drifts.which(kind="emotion", how=how)))
        for emotion in emotions if len(emotions) > 1 else ():
            columns = drifts.which(kind="emotion", how=how, emotion=emotion)
            yield _Line("emotion", emotion, how, _by_strength(drifts, columns))
        if columns := drifts.which(kind="random", how=how):
            yield _Line("random", "", how, _by_strength(drifts, columns))


def _by_strength(drifts: Drifts, columns: Sequence[int]) -> dict[float, tuple[int, ...]]:
    strengths = sorted({strength for c in columns if (strength := drifts.states[c].strength) is not None})
    return {one: tuple(c for c in columns if drifts.states[c].strength == one) for one in strengths}


def _trend(drifts: Drifts, line: _Line, figure: Figure) -> Trend | None:
    if len(line.at) < 2:
        return None
    return page_trend(np.stack([drifts.item_values(columns, figure) for columns in line.at.values()], axis=1))
