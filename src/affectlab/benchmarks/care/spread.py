"""RQ4's figures: a model's draws against the observers' ratings, story by story."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from affectlab.benchmarks.base import Scoring
from affectlab.benchmarks.care import spaces
from affectlab.benchmarks.care.references import SPREAD
from affectlab.benchmarks.care.tally import Tally, mean
from affectlab.items import Item
from affectlab.metrics.distribution import precision_at_k, shares, spread, wasserstein
from affectlab.metrics.numeric import spearman
from affectlab.metrics.predictions import Prediction, PredictionTable
from affectlab.metrics.scores import Table
from affectlab.stats.bootstrap import Interval, estimates
from affectlab.stats.estimate import Estimate
from affectlab.stats.measures import Measures, Share, Statistic

AT = (1, 3, 5)
DISTANCES = ("mu_mae", "sigma_mae", "wasserstein")
HEADLINE = (*DISTANCES, "variance_rho", "coverage")
ALL = (*DISTANCES, "variance_rho", *(f"precision_at_{k}" for k in AT))


@dataclass(frozen=True)
class Compared:
    """One dimension of one story: people's distribution of ratings and the model's."""

    people: Mapping[float, float]
    model: Mapping[float, float]


def compared(table: PredictionTable, cluster: Sequence[int]) -> list[tuple[int, dict[str, Compared]]]:
    """For each story and repeat its cluster and its dimensions in which there are people's ratings and readable
    draws."""
    drawn: dict[tuple[int, int], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    people: dict[tuple[int, int], dict[str, Mapping[float, float]]] = defaultdict(dict)
    of: dict[tuple[int, int], int] = {}
    columns = (table.item, table.repeat, table.slot, table.gold, table.value)
    for place, (item, repeat, slot, gold, value) in enumerate(
        zip(*(column.codes.tolist() for column in columns), strict=True)
    ):
        distribution, answer, key = table.gold.values[gold], table.value.values[value], (item, repeat)
        of[key] = cluster[place]
        if distribution is not None and answer is not None:
            people[key][table.slot.values[slot]] = {float(level): share for level, share in distribution}
            drawn[key][table.slot.values[slot]].append(float(answer))
    return [
        (of[key], {slot: Compared(people[key][slot], shares(values)) for slot, values in drawn[key].items()})
        for key in of
    ]


def spread_measures(table: PredictionTable) -> Measures:
    """Distances by story and dimension, agreement on variances by story."""
    tally = Tally(table)
    for cluster, dimensions in compared(table, tally.cluster.tolist()):
        for slot, both in dimensions.items():
            people, model = spread(both.people), spread(both.model)
            values = (
                abs(people.mean - model.mean),
                abs(people.deviation - model.deviation),
                wasserstein(both.people, both.model),
            )
            for name, value in zip(DISTANCES, values, strict=True):
                for figure in (name, f"{name}:{slot}"):
                    _count(tally, figure, cluster, value)
        for name, value in _agreement(dimensions):
            _count(tally, name, cluster, value)
    answered = ~table.value.equals(None)
    tally.add("read", np.flatnonzero(answered))
    tally.add("not read", np.flatnonzero(~answered))
    figures = (*ALL, *(f"{name}:{slot}" for slot in spaces.DIMENSIONS for name in DISTANCES))
    statistics: dict[str, Statistic] = {name: mean(tally, [f"{name}/sum"], [f"{name}/n"]) for name in figures}
    statistics["coverage"] = Share(tally.events(["read"]), tally.events(["read", "not read"]))
    return tally.measures(statistics, HEADLINE[0])


def _count(tally: Tally, figure: str, cluster: int, value: float) -> None:
    where = np.array([cluster])
    tally.add_to(f"{figure}/sum", where, value)
    tally.add_to(f"{figure}/n", where)


def _agreement(dimensions: Mapping[str, Compared]) -> Iterator[tuple[str, float]]:
    """What of the agreement on which dimensions vary is defined for a story."""
    # Rounded, so that variances that are equal but for the last bits of a float are ties.
    people, model = (
        [round(spread(side).deviation ** 2, 9) for side in sides]
        for sides in zip(*((both.people, both.model) for both in dimensions.values()), strict=True)
    )
    if (rho := spearman(people, model).value) is not None:
        yield "variance_rho", rho
    for k in AT:
        if (precision := precision_at_k(people, model, k)) is not None:
            yield f"precision_at_{k}", precision


def halves(items: Sequence[Item]) -> PredictionTable:
    """Observers against observers: every split of a story's into two halves, one as people, the other as draws.

    With an odd number the halves differ by one, and each is smaller than the sample a model is compared with, so the
    figures are no better than what a model could reach.
    """
    return PredictionTable.from_rows(row for item in items for row in _halves(item))


def _halves(item: Item) -> Iterator[Prediction]:
    observers: list[Mapping[str, Any]] = [one["answers"] for one in item.inputs.get("observers", ())]
    everyone = range(len(observers))
    for split, chosen in enumerate(combinations(everyone, len(observers) // 2)):
        rest = [place for place in everyone if place not in chosen]
        for slot in spaces.DIMENSIONS:
            people = [observers[place][slot] for place in rest if slot in observers[place]]
            if not chosen or not people:
                continue
            gold = {str(level): share for level, share in shares(people).items()}
            for place in chosen:
                value = observers[place].get(slot)
                outcome = "ok" if value is not None else "empty"
                yield Prediction(item.id, item.cluster, slot, outcome, value, gold, f"draw={place}", repeat=split)


def tables(scoring: Scoring, found: Mapping[str, Estimate]) -> tuple[Table, ...]:
    """The figures beside the noise ceiling, and the distances by dimension."""
    asked = {scoring.table.item.values[code] for code in set(scoring.table.item.codes.tolist())}
    table = halves([item for item in scoring.items if item.id in asked])
    published = SPREAD[scoring.protocol.removeprefix("subjective")]
    ceiling = _as_numbers(estimates(spread_measures(table), ALL, scoring.interval)) if len(table) else {}
    return (
        Table(
            "spread",
            "Spread of the model's draws against observers' ratings",
            ("figure", "model", "observers split in halves", "paper, Qwen 3.5-9B"),
            tuple((name, found[name], ceiling.get(name), published.get(name)) for name in ALL),
            "Distances are in scale points, standard deviations divide by n. The last column is the noise ceiling: "
            "mean over "
            "all splits of a story's observers into two halves. precision_at_k breaks ties at the cut at random "
            "and gives the "
            "expected value. The paper's figures are of other stories and prompts.",
            {"paper, Qwen 3.5-9B": "number"},
        ),
        Table(
            "spread_by_dimension",
            "By dimension",
            ("dimension", *DISTANCES),
            tuple((slot, *(found[f"{name}:{slot}"] for name in DISTANCES)) for slot in spaces.DIMENSIONS),
        ),
    )


def _as_numbers(found: Mapping[str, Estimate]) -> dict[str, Estimate]:
    return {name: one if name == "coverage" else replace(one, unit="number") for name, one in found.items()}


def spread_estimates(table: PredictionTable, how: Interval) -> dict[str, Estimate]:
    """All figures of a run, with intervals."""
    return _as_numbers(estimates(spread_measures(table), how=how))
