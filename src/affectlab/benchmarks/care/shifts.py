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
from affectlab.metrics.numeric import Score, pearson, spearman
from affectlab.metrics.predictions import PredictionTable
from affectlab.metrics.scores import Cell, Table
from affectlab.stats.bootstrap import Interval, bootstrap_statistic, percentile_interval
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
    for (figure, dimension), pairs in shifts(table, tally.cluster.tolist()).items():
        for name in (figure, f"{figure}:{dimension}"):
            add_pairs(tally, name, *pairs.arrays())
    answered = ~table.value.equals(None)
    tally.add("read", np.flatnonzero(answered))
    tally.add("not read", np.flatnonzero(~answered))
    statistics: dict[str, Statistic] = {}
    for figure in FIGURES:
        statistics[f"{figure}_r"] = correlation(tally, figure)
        for dimension in spaces.DIMENSIONS:
            statistics[f"{figure}_r:{dimension}"] = correlation(tally, f"{figure}:{dimension}")
    statistics["coverage"] = Share(tally.events(["read"]), tally.events(["read", "not read"]))
    return tally.measures(statistics, "appraisal_r")


def shift_names(*, by_likelihood: bool) -> tuple[str, ...]:
    """Figures of RQ3's headline."""
    asked = FIGURES if by_likelihood else ("appraisal", *FIGURES[2:])
    return (*(f"{figure}_r" for figure in asked), "coverage")


@dataclass(frozen=True)
class Shown:
    """The pairs of a run, and what is estimated from them."""

    found: Mapping[tuple[str, str], Pairs]
    pearson: Mapping[str, Estimate]
    interval: Interval

    def pooled(self, figure: str, dimension: str | None = None) -> Pairs:
        """Pairs of a figure, over all dimensions unless one is named."""
        merged = Pairs()
        for (name, place), pairs in self.found.items():
            if name == figure and dimension in (None, place):
                for triple in zip(*pairs.arrays(), strict=True):
                    merged.add(int(triple[0]), float(triple[1]), float(triple[2]))
        return merged


def explained(estimate: Estimate, score: Score) -> Estimate:
    """An undefined correlation with the reason for it."""
    said = score.reason.replace("right values", "human shifts").replace("answers", "model shifts")
    return replace(estimate, unit="number", reason=said if estimate.value is None and said else estimate.reason)


def ranked(name: str, pairs: Pairs, how: Interval) -> Estimate:
    """Spearman's correlation of shifts with an interval that resamples stories."""
    cluster, human, model = pairs.arrays()
    score = spearman(human.tolist(), model.tolist())
    if score.value is None:
        return explained(Estimate(name, None, n=score.answered, clusters=len(set(pairs.cluster))), score)

    def of(rows: np.ndarray[Any, np.dtype[np.intp]]) -> float:
        return _rank_correlation(human[rows], model[rows])

    replicates = bootstrap_statistic(cluster, of, how.replicates, how.seed)
    made = percentile_interval(name, score.value, replicates, len(human), len(set(pairs.cluster)), how)
    return replace(made, unit="number")


def _rank_correlation(first: Floats, second: Floats) -> float:
    """As :func:`affectlab.metrics.numeric.spearman`, on arrays and without the reasons; NaN when undefined."""
    from scipy.stats import rankdata

    if len(first) < 3 or np.ptp(first) == 0 or np.ptp(second) == 0:
        return np.nan
    ranks = (rankdata(side) - (len(first) + 1) / 2 for side in (first, second))
    one, other = ranks
    return float(np.dot(one, other) / np.sqrt(np.dot(one, one) * np.dot(other, other)))


def tables(scoring: Scoring, found: Mapping[str, Estimate]) -> tuple[Table, ...]:
    """By dimension: how many, how far people and the model moved, and both correlations; then the feelings."""
    table = scoring.table
    _, cluster = np.unique(table.cluster.codes, return_inverse=True)
    shown = Shown(shifts(table, cluster.tolist()), found, scoring.interval)
    rows: list[tuple[Cell, ...]] = []
    for dimension in (None, *spaces.DIMENSIONS):
        pairs = shown.pooled("appraisal", dimension)
        suffix = f":{dimension}" if dimension else ""
        score = pearson(pairs.human, pairs.model)
        rows.append(
            (
                dimension or "all",
                len(pairs.human),
                len(set(pairs.cluster)),
                float(np.mean(pairs.human)) if pairs.human else None,
                float(np.mean(pairs.model)) if pairs.model else None,
                explained(found[f"appraisal_r{suffix}"], score),
                ranked(f"appraisal_rho{suffix}", pairs, scoring.interval),
            )
        )
    feelings: list[tuple[Cell, ...]] = []
    kinds = (*spaces.LEVELS, *spaces.SETS)
    for dimension in (None, *spaces.DIMENSIONS):
        suffix = f":{dimension}" if dimension else ""
        cells: list[Cell] = [dimension or "all"]
        for kind in kinds:
            pairs = shown.pooled(kind, dimension)
            cells.append(explained(found[f"{kind}_r{suffix}"], pearson(pairs.human, pairs.model)))
        feelings.append(tuple(cells))
    ranks = tuple((kind, ranked(f"{kind}_rho", shown.pooled(kind), scoring.interval)) for kind in kinds)
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
            "shifts_of_feelings",
            "Shift of levels and label rates, Pearson's correlation by dimension whose observers are meant",
            ("dimension", *kinds),
            tuple(feelings),
            "For label sets a pair is one label of one story: share of observers who chose it minus whether the "
            "writer did.",
        ),
        Table("shift_ranks", "The same by ranks, all dimensions", ("figure", "Spearman"), ranks),
    )
