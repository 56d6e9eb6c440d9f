"""What RQ4's figures are read against: the noise ceiling, answers that read nothing, and observers in halves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, islice
from math import comb
from zlib import crc32

import numpy as np

from affectlab.benchmarks.base import Scoring
from affectlab.benchmarks.care import spaces
from affectlab.benchmarks.care.references import SPREAD
from affectlab.benchmarks.care.spread import (
    ALL,
    DISTANCES,
    POINTS,
    Compared,
    as_numbers,
    compared,
    figures,
    measures_of,
    of_draws,
    undefined_agreement,
)
from affectlab.benchmarks.care.tally import Floats, Tally
from affectlab.items import Item
from affectlab.metrics.predictions import PredictionTable
from affectlab.metrics.scores import Cell, Table
from affectlab.stats.bootstrap import Interval, estimates
from affectlab.stats.estimate import Estimate
from affectlab.stats.measures import Measures
from affectlab.stats.paired import paired_differences

SAMPLES = 100
"""Samples of draws, and splits into halves, that a story's expectation is taken over."""


def drawn_from(shares: Callable[[Compared], Floats]) -> Callable[[Compared], Floats]:
    """Samples [R, D, 5] of as many draws as the model has in each dimension, from shares [D, 5] of a story."""

    def sample(story: Compared) -> Floats:
        # Seeded by the story's own name: its samples do not depend on which other stories there are.
        rng = np.random.default_rng(crc32(story.name.encode()))
        draws = story.draws.sum(axis=-1)
        counts = rng.multinomial(draws.astype(np.int64), shares(story), size=(SAMPLES, len(draws)))
        return np.asarray(counts / draws[:, None])

    return sample


def _middle(story: Compared) -> Floats:
    at = np.array([float(point == spaces.MIDPOINT) for point in POINTS])
    return np.broadcast_to(at, (1, *story.people.shape))


CEILING = drawn_from(lambda story: story.people)
"""Draws with replacement from the story's own observers."""
NOTHING_READ = {
    "uniform draws": drawn_from(lambda story: np.full(story.people.shape, 1 / len(POINTS))),
    "always the middle": _middle,
}
"""Answers that read nothing."""


def reference(table: PredictionTable, samples: Callable[[Compared], Floats]) -> Measures:
    """What samples that are no model's score on the stories and dimensions that the model answered."""
    stories = compared(table, Tally(table).cluster.tolist())
    return measures_of(
        table, ((story.cluster, figures(story.slots, story.people, samples(story))) for story in stories)
    )


def both_defined(table: PredictionTable, samples: Callable[[Compared], Floats]) -> tuple[Measures, Measures]:
    """The model and :func:`reference`, each figure on the stories in which both have it.

    Where draws do not vary a correlation of variances is undefined: samples of such stories stand against nothing.
    """
    stories = compared(table, Tally(table).cluster.tolist())
    pairs = [(of_draws(story), figures(story.slots, story.people, samples(story))) for story in stories]
    model, other = (
        measures_of(
            table,
            (
                (story.cluster, {name: value for name, value in pair[side].items() if name in pair[1 - side]})
                for story, pair in zip(stories, pairs, strict=True)
            ),
        )
        for side in (0, 1)
    )
    return model, other


def halves(table: PredictionTable, items: Sequence[Item]) -> Measures:
    """Observers against observers: a story's split into two halves, the larger as people, the other as draws.

    All splits, or :data:`SAMPLES` of them at random; a story weighs the same however many there are.
    """
    by_id = {item.id: item for item in items}
    stories = compared(table, Tally(table).cluster.tolist())
    named = ((story, by_id.get(story.name.rpartition("/")[0])) for story in stories)
    found = ((story.cluster, _halved(item, story.slots)) for story, item in named if item is not None)
    return measures_of(table, ((cluster, values) for cluster, values in found if values))


def _halved(item: Item, slots: Sequence[str]) -> dict[str, float]:
    """A story's figures of halves, each a mean over the splits in which it is defined."""
    answers = [one["answers"] for one in item.inputs.get("observers", ())]
    rated = np.array([[[one.get(slot) == point for point in POINTS] for slot in slots] for one in answers], dtype=float)
    if len(answers) < 2:
        return {}
    sums: dict[str, list[float]] = {}
    for chosen in _splits(len(answers), item.id):
        small, large = rated[chosen].sum(axis=0), rated[~chosen].sum(axis=0)
        there = (small.sum(axis=-1) > 0) & (large.sum(axis=-1) > 0)
        if there.any():
            one, other = (half[there] / half[there].sum(axis=-1, keepdims=True) for half in (large, small))
            kept = [slot for slot, held in zip(slots, there.tolist(), strict=True) if held]
            for name, value in figures(kept, one, other[None]).items():
                sums.setdefault(name, []).append(value)
    return {name: float(np.mean(values)) for name, values in sums.items()}


def _splits(size: int, name: str) -> Iterator[np.ndarray[tuple[int], np.dtype[np.bool_]]]:
    """Who is in the smaller half."""
    small = size // 2
    rng = np.random.default_rng(crc32(name.encode()))
    few = comb(size, small) <= SAMPLES
    some = combinations(range(size), small) if few else iter(lambda: rng.permutation(size)[:small].tolist(), None)
    for chosen in islice(some, SAMPLES):
        yield np.isin(np.arange(size), chosen)


def tables(scoring: Scoring, found: dict[str, Estimate]) -> tuple[Table, ...]:
    """The figures beside the ceiling and what reads nothing, and the distances by dimension."""
    table, how = scoring.table, scoring.interval
    by_dimension = Table(
        "spread_by_dimension",
        "By dimension",
        ("dimension", *DISTANCES),
        tuple((slot, *(found[f"{name}:{slot}"] for name in DISTANCES)) for slot in spaces.DIMENSIONS),
    )
    return (_spread(scoring, found, table, how), by_dimension)


def _spread(scoring: Scoring, found: dict[str, Estimate], table: PredictionTable, how: Interval) -> Table:
    rows: list[tuple[Cell, ...]] = [("model", *(found[name] for name in ALL))]
    if len(table):
        apart = paired_differences(*both_defined(table, CEILING), ALL, how)
        rows.append(_row("noise ceiling", estimates(reference(table, CEILING), ALL, how)))
        rows.append(_row("model minus ceiling", {name: one.difference for name, one in apart.items()}))
        for who, samples in NOTHING_READ.items():
            rows.append(_row(who, estimates(reference(table, samples), ALL, how)))
        rows.append(_row("observers in halves", estimates(halves(table, scoring.items), ALL, how)))
    published = SPREAD[scoring.protocol]
    rows.append(("paper, Qwen 3.5-9B", *(published.get(name) for name in ALL)))
    left = "; ".join(f"{number} stories: {why}" for why, number in undefined_agreement(table).items())
    return Table(
        "spread",
        "Spread of the model's draws against observers' ratings",
        ("whose answers", *ALL),
        tuple(rows),
        "Distances are in scale points, standard deviations divide by n. The noise ceiling is what as many draws as "
        "the model's reach when each is the rating of one of the story's observers, taken at random "
        f"(mean over {SAMPLES} samples): a model that draws from the observers' distribution is 0 from it but for "
        "chance; the difference is over the stories in which both have the figure. Uniform draws and the middle read "
        "nothing. Halves are smaller than the model's sample, so they are farther apart by chance and bound nothing. "
        "precision_at_k breaks ties at the cut at random and gives the "
        "expected value. The paper's figures are of other stories and prompts."
        + (f" Left out of variance_rho: {left}." if left else ""),
        dict.fromkeys(ALL, "number"),
    )


def _row(who: str, found: dict[str, Estimate]) -> tuple[Cell, ...]:
    numbers = as_numbers(found)
    return (who, *(numbers[name] for name in ALL))
