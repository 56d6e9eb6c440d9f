"""RQ3's figures: how a model's answers shift from the writer's reasoning to observers', against how people's do."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from affectlab.benchmarks.base import Scoring
from affectlab.benchmarks.care import spaces
from affectlab.benchmarks.care.counterfactual import WRITER, opposite
from affectlab.benchmarks.care.tally import Floats, Tally, add_pairs, correlation
from affectlab.metrics.numeric import rank_correlation, why_undefined
from affectlab.metrics.predictions import PredictionTable
from affectlab.metrics.scores import Cell, Table
from affectlab.stats.bootstrap import Interval, bootstrap_statistic, estimates, percentile_interval
from affectlab.stats.estimate import Estimate
from affectlab.stats.measures import Measures, Share, Statistic

FIGURES = ("appraisal", "appraisal_expected", *spaces.LEVELS, *spaces.SETS)
"""What shifts: ratings, their means by likelihood, levels, and the rates of labels."""


@dataclass(frozen=True)
class Pairs:
    """Human and model shifts, one of each a place."""

    cluster: list[int] = field(default_factory=list)
    human: list[float] = field(default_factory=list)
    model: list[float] = field(default_factory=list)

    def add(self, cluster: int, human: float, model: float) -> None:
        """Add a pair."""
        self.cluster.append(cluster)
        self.human.append(human)
        self.model.append(model)

    def arrays(self) -> tuple[np.ndarray[Any, np.dtype[np.int64]], Floats, Floats]:
        """Clusters, human and model shifts."""
        return np.array(self.cluster, dtype=np.int64), np.array(self.human), np.array(self.model)


Answers = Mapping[str, Mapping[str, tuple[Any, Any]]]
"""Presentation -> slot -> (gold, answer)."""


def shifts(table: PredictionTable, cluster: Sequence[int]) -> dict[tuple[str, str], Pairs]:
    """Pairs of shifts by figure and dimension.

    A shift is the mean over the observers on the other side minus the writer. An observer whose answer could not be
    read is left out of both means, so that the two speak of the same people.

    Args:
        table: Predictions of one condition.
        cluster: Cluster of each row.
    """
    groups: dict[tuple[int, int], dict[str, dict[str, tuple[Any, Any]]]] = defaultdict(lambda: defaultdict(dict))
    of: dict[tuple[int, int], int] = {}
    columns = (table.item, table.repeat, table.variant, table.slot, table.gold, table.value)
    for place, (item, repeat, variant, slot, gold, value) in enumerate(
        zip(*(column.codes.tolist() for column in columns), strict=True)
    ):
        answer = table.gold.values[gold], table.value.values[value]
        groups[item, repeat][table.variant.values[variant]][table.slot.values[slot]] = answer
        of[item, repeat] = cluster[place]
    found: dict[tuple[str, str], Pairs] = defaultdict(Pairs)
    for key, answers in groups.items():
        for dimension in spaces.DIMENSIONS:
            for figure, human, model in _of_dimension(answers, dimension):
                found[figure, dimension].add(of[key], human, model)
    return found


def _of_dimension(answers: Answers, dimension: str) -> Iterator[tuple[str, float, float]]:
    first = answers.get(WRITER, {}).get(dimension, (None, None))[0]
    others = [
        name
        for name, slots in answers.items()
        if name != WRITER and opposite(first, slots.get(dimension, (None, None))[0])
    ]
    if not others:
        return
    numeric = (("appraisal", dimension), ("appraisal_expected", spaces.expected(dimension)))
    for figure, slot in (*numeric, *((slot, slot) for slot in spaces.LEVELS)):
        if (told := _told(answers, others, slot)) is not None:
            writer, people = told
            yield figure, _mean(gold for gold, _ in people) - writer[0], _mean(said for _, said in people) - writer[1]
    for slot, space in spaces.SETS.items():
        if (told := _told(answers, others, slot)) is not None:
            writer, people = told
            for label in space.ids:
                human = _mean(label in gold for gold, _ in people) - (label in writer[0])
                yield slot, human, _mean(label in said for _, said in people) - (label in writer[1])


def _told(answers: Answers, others: Sequence[str], slot: str) -> tuple[tuple[Any, Any], list[tuple[Any, Any]]] | None:
    """The writer's pair and the observers' pairs that are whole; ``None`` without the writer's, or without any
    other."""
    writer = answers[WRITER].get(slot, (None, None))
    people = [pair for pair in (answers[name].get(slot, (None, None)) for name in others) if None not in pair]
    return (writer, people) if None not in writer and people else None


def _mean(values: Iterator[Any]) -> float:
    listed = [float(value) for value in values]
    return sum(listed) / len(listed)


def shift_measures(table: PredictionTable) -> Measures:
    """Pearson's correlation of shifts as a statistic of totals: pooled (``appraisal_r``) and by dimension."""
    tally = Tally(table)
    # All are named first, so that two runs can be paired whatever is defined in either.
    statistics: dict[str, Statistic] = {}
    for figure in FIGURES:
        statistics[named(figure)] = correlation(tally, figure)
        for dimension in spaces.DIMENSIONS:
            statistics[named(figure, dimension)] = correlation(tally, f"{figure}:{dimension}")
    leaving_out = frozenset(statistics)
    statistics["coverage"] = Share(tally.events(["read"]), tally.events(["read", "not read"]))
    for (figure, dimension), pairs in shifts(table, tally.cluster.tolist()).items():
        for name in (figure, f"{figure}:{dimension}"):
            add_pairs(tally, name, *pairs.arrays())
    answered = ~table.value.equals(None)
    tally.add("read", np.flatnonzero(answered))
    tally.add("not read", np.flatnonzero(~answered))
    return tally.measures(statistics, "appraisal_r", leaving_out)


def shift_names(*, by_likelihood: bool) -> tuple[str, ...]:
    """Figures of RQ3's headline."""
    asked = FIGURES if by_likelihood else ("appraisal", *FIGURES[2:])
    return (*(named(figure) for figure in asked), "coverage")


def pooled(found: Mapping[tuple[str, str], Pairs], figure: str, dimension: str | None = None) -> Pairs:
    """Pairs of a figure, over all dimensions unless one is named."""
    merged = Pairs()
    for (name, place), pairs in found.items():
        if name == figure and dimension in (None, place):
            for triple in zip(*pairs.arrays(), strict=True):
                merged.add(int(triple[0]), float(triple[1]), float(triple[2]))
    return merged


def shift_estimates(table: PredictionTable, how: Interval) -> dict[str, Estimate]:
    """All figures of a run, with intervals; an undefined correlation with the reason for it."""
    found = estimates(shift_measures(table), how=how)
    pairs = _pairs(table)
    for figure in FIGURES:
        for dimension in (None, *spaces.DIMENSIONS):
            name = named(figure, dimension)
            reason = found[name].reason
            if found[name].value is None:
                _, human, model = pooled(pairs, figure, dimension).arrays()
                reason = why_undefined(human, model, SIDES) or reason
            found[name] = replace(found[name], unit="number", reason=reason)
    return found


SIDES = ("human shifts", "model shifts")


def named(figure: str, dimension: str | None = None) -> str:
    """Name of a figure's correlation, pooled unless a dimension is named."""
    return f"{figure}_r" + (f":{dimension}" if dimension else "")


def _pairs(table: PredictionTable) -> dict[tuple[str, str], Pairs]:
    _, cluster = np.unique(table.cluster.codes, return_inverse=True)
    return shifts(table, cluster.tolist())


def ranked(name: str, pairs: Pairs, how: Interval) -> Estimate:
    """Spearman's correlation of shifts with an interval that resamples stories."""
    cluster, human, model = pairs.arrays()
    clusters = len(set(pairs.cluster))
    if reason := why_undefined(human, model, SIDES):
        return Estimate(name, None, n=len(human), clusters=clusters, reason=reason, unit="number")

    def of(rows: np.ndarray[Any, np.dtype[np.intp]]) -> float:
        return float(rank_correlation(human[rows], model[rows]))

    replicates = bootstrap_statistic(cluster, of, how.replicates, how.seed)
    value = float(rank_correlation(human, model))
    return replace(percentile_interval(name, value, replicates, len(human), clusters, how), unit="number")


def tables(scoring: Scoring, found: Mapping[str, Estimate]) -> tuple[Table, ...]:
    """By dimension: how many, how far people and the model moved, and both correlations; then the feelings."""
    by_dimension = _pairs(scoring.table)
    rows: list[tuple[Cell, ...]] = []
    for dimension in (None, *spaces.DIMENSIONS):
        pairs = pooled(by_dimension, "appraisal", dimension)
        rows.append(
            (
                dimension or "all",
                len(pairs.human),
                len(set(pairs.cluster)),
                float(np.mean(pairs.human)) if pairs.human else None,
                float(np.mean(pairs.model)) if pairs.model else None,
                found[named("appraisal", dimension)],
                ranked(named("appraisal", dimension).replace("_r", "_rho", 1), pairs, scoring.interval),
            )
        )
    kinds = (*spaces.LEVELS, *spaces.SETS)
    feelings: tuple[tuple[Cell, ...], ...] = tuple(
        (dimension or "all", *(found[named(kind, dimension)] for kind in kinds))
        for dimension in (None, *spaces.DIMENSIONS)
    )
    ranks = tuple((kind, ranked(f"{kind}_rho", pooled(by_dimension, kind), scoring.interval)) for kind in kinds)
    return (
        Table(
            "shifts",
            "Shift of ratings from the writer's reasoning to observers'",
            ("dimension", "pairs", "stories", "human shift", "model shift", "Pearson", "Spearman"),
            tuple(rows),
            "A pair is one story in one dimension in which observers rate on the other side of the midpoint than the "
            "writer: mean of those observers minus writer, in scale points. Correlations are of human with model "
            "shifts.",
            {"human shift": "number", "model shift": "number"},
        ),
        Table(
            "feelings",
            "Shift of levels and label rates, Pearson's correlation by dimension whose observers are meant",
            ("dimension", *kinds),
            feelings,
            "For label sets a pair is one label of one story: share of observers who chose it minus whether the "
            "writer did; most labels are chosen by neither, and such pairs are 0 on both sides. In the row of all "
            "dimensions a story counts once for every dimension in which its observers differ, so that stories that "
            "are much disputed weigh more.",
        ),
        Table("shift_ranks", "The same by ranks, all dimensions", ("figure", "Spearman"), ranks),
    )
