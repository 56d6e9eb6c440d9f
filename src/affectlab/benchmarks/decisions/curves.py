"""Figures against strength, with a test of whether they rise or fall with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from affectlab.benchmarks.decisions.measures import Drifts, Figure, Selection, drift_measures
from affectlab.benchmarks.decisions.states import Kind
from affectlab.metrics.classification import mean_defined
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
        trend: Page's test with items (groups of them) as blocks; ``None`` for one strength.
        left_out: Questions under a vector that lack an answer at some strength: the test takes none of their answers.
        asked: Questions by vectors.
        of: The emotions averaged, where some of the run were not asked at every strength and are not in the line.
    """

    kind: Kind
    emotion: str
    how: str
    figure: Figure
    strengths: tuple[float, ...]
    points: tuple[Estimate, ...]
    trend: Trend | None
    left_out: int
    asked: int
    of: str = ""

    @property
    def title(self) -> str:
        """What a legend calls it."""
        name = self.emotion or self.of or ("all emotions" if self.kind == "emotion" else self.kind)
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
            *_trend(drifts, line, figure),
            line.of,
        )
        for place, (line, figure) in enumerate(lines)
    )


@dataclass(frozen=True)
class _Line:
    """Conditions by strength, ascending; the same vectors in the same order at each."""

    kind: Kind
    emotion: str
    how: str
    at: Mapping[float, tuple[int, ...]]
    of: str = ""


def _lines(drifts: Drifts) -> Iterator[_Line]:
    for how in dict.fromkeys(state.how for state in drifts.states if state.kind == "emotion"):
        columns = drifts.which(kind="emotion", how=how)
        yield from _together(drifts, columns, how)
        emotions = dict.fromkeys(drifts.states[column].emotion for column in columns)
        for emotion in emotions if len(emotions) > 1 else ():
            alone = drifts.which(kind="emotion", how=how, emotion=emotion)
            yield _Line("emotion", emotion, how, _by_strength(drifts, alone))
        yield from _together(drifts, drifts.which(kind="random", how=how), how)


def _together(drifts: Drifts, columns: Sequence[int], how: str) -> Iterator[_Line]:
    """One line over several vectors: those that were asked at every strength, so that each point averages the same."""
    strengths = _by_strength(drifts, columns)
    vectors = [{(drifts.states[c].emotion, drifts.states[c].seed): c for c in at} for at in strengths.values()]
    whole = [vector for vector in (vectors[0] if vectors else {}) if all(vector in at for at in vectors)]
    if not whole:
        return
    kind, complete = drifts.states[columns[0]].kind, len(whole) == len(set().union(*vectors))
    # Any of the random vectors stand for all of them; of emotions it must be said which.
    of = "" if complete or kind == "random" else " + ".join(emotion for emotion, _ in whole)
    if complete or kind == "random" or len(whole) > 1:
        at = {strength: tuple(here[one] for one in whole) for strength, here in zip(strengths, vectors, strict=True)}
        yield _Line(kind, "", how, at, of)


def _by_strength(drifts: Drifts, columns: Sequence[int]) -> dict[float, tuple[int, ...]]:
    strengths = sorted({strength for c in columns if (strength := drifts.states[c].strength) is not None})
    return {one: tuple(c for c in columns if drifts.states[c].strength == one) for one in strengths}


def _trend(drifts: Drifts, line: _Line, figure: Figure) -> tuple[Trend | None, int, int]:
    """Page's test on items, each averaged over the questions and vectors that it has at every strength.

    Items of one group are one block: they are no independent ones.
    """
    values = np.stack([drifts.contributions(columns, figure) for columns in line.at.values()])
    lacking = np.isnan(np.stack([drifts.moves[:, columns] for columns in line.at.values()])).any(axis=0)
    if len(line.at) < 2:
        return None, int(lacking.sum()), lacking.size
    items = [mean_defined(drifts.by_item(np.where(lacking, np.nan, one))) for one in values]
    by_strength = np.stack(items, axis=1)
    _, block = np.unique(np.array(drifts.clusters, dtype=object), return_inverse=True)
    blocks = np.stack([mean_defined(by_strength[block == one].T) for one in range(int(block.max()) + 1)])
    return page_trend(blocks), int(lacking.sum()), lacking.size
