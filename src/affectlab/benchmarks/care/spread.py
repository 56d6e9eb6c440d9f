"""RQ4's figures: a model's draws against the observers' ratings, story by story."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from affectlab.benchmarks.care import spaces
from affectlab.benchmarks.care.tally import Floats, Tally, mean
from affectlab.metrics.distribution import precision_at_k, spread, wasserstein
from affectlab.metrics.numeric import rank_correlation
from affectlab.metrics.predictions import PredictionTable
from affectlab.stats.bootstrap import Interval, estimates
from affectlab.stats.estimate import Estimate
from affectlab.stats.measures import Measures, Share, Statistic

POINTS = tuple(range(spaces.bounds(spaces.DIMENSIONS[0])[0], spaces.bounds(spaces.DIMENSIONS[0])[1] + 1))
AT = (1, 3, 5)
FEWEST = 2
"""Readable draws below which a rating has no spread: one draw never varies."""
DISTANCES = ("mu_mae", "sigma_mae", "wasserstein")
HEADLINE = (*DISTANCES, "variance_rho", "coverage")
AGREEMENT = ("variance_rho", *(f"precision_at_{k}" for k in AT))
ALL = (*DISTANCES, *AGREEMENT)


@dataclass(frozen=True)
class Compared:
    """One story in one repeat: the dimensions in which there are people's ratings and enough readable draws.

    Attributes:
        name: Of story and repeat.
        cluster: Code of the story's cluster.
        slots: The dimensions, D.
        people: Share of people at each level [D, 5].
        draws: Number of draws at each level [D, 5], at least :data:`FEWEST` a dimension.
    """

    name: str
    cluster: int
    slots: tuple[str, ...]
    people: Floats
    draws: Floats


def compared(table: PredictionTable, cluster: Sequence[int]) -> list[Compared]:
    """The stories of a run that have something to compare; ``cluster`` is that of each row."""
    drawn: dict[tuple[int, int], dict[str, Floats]] = defaultdict(lambda: defaultdict(lambda: np.zeros(len(POINTS))))
    people: dict[tuple[int, int], dict[str, Floats]] = defaultdict(dict)
    of: dict[tuple[int, int], int] = {}
    columns = (table.item, table.repeat, table.slot, table.gold, table.value)
    for place, (item, repeat, slot, gold, value) in enumerate(
        zip(*(column.codes.tolist() for column in columns), strict=True)
    ):
        distribution, answer, key = table.gold.values[gold], table.value.values[value], (item, repeat)
        if distribution is not None and answer is not None:
            of[key] = cluster[place]
            shares = {int(level): share for level, share in distribution}
            people[key][table.slot.values[slot]] = np.array([shares.get(point, 0.0) for point in POINTS])
            drawn[key][table.slot.values[slot]][POINTS.index(answer)] += 1
    enough = {
        key: {slot: counts for slot, counts in slots.items() if counts.sum() >= FEWEST} for key, slots in drawn.items()
    }
    return [
        Compared(
            f"{table.item.values[key[0]]}/{table.repeat.values[key[1]]}",
            of[key],
            tuple(slots),
            np.array([people[key][slot] for slot in slots]),
            np.array(list(slots.values())),
        )
        for key, slots in enough.items()
        if slots
    ]


def thinned(table: PredictionTable) -> str:
    """How many draws spread rests on where some could not be read; empty where all could."""
    rated = table.where(~table.gold.equals(None))
    unit, first = rated.groups("item", "repeat", "slot")
    asked = np.bincount(unit, minlength=len(first))
    read = np.bincount(unit, weights=~rated.value.equals(None), minlength=len(first))
    kept = read >= FEWEST
    if kept.all() and (read == asked).all():
        return ""
    rests = (
        f"Spread rests on {read[kept].mean():.1f} readable draws of {asked[kept].mean():.1f} a rating. "
        if kept.any()
        else ""
    )
    return f"{rests}{int((~kept).sum())} of {len(first)} ratings have fewer than {FEWEST} and are left out."


def figures(slots: Sequence[str], people: Floats, model: Floats) -> dict[str, float]:
    """A story's figures: distances by dimension (``mu_mae:…``), and agreement on what varies where it is defined.

    Args:
        slots: The dimensions, D.
        people: Shares of people [D, 5].
        model: Shares of the model's draws [R, D, 5]; figures are the mean over R, over those where they are defined.
    """
    theirs, mine = spread(people, POINTS), spread(model, POINTS)
    distances = (
        abs(theirs.mean - mine.mean),
        abs(theirs.deviation - mine.deviation),
        wasserstein(people, model, POINTS),
    )
    found = {
        f"{name}:{slot}": float(value)
        for name, values in zip(DISTANCES, distances, strict=True)
        for slot, value in zip(slots, values.mean(axis=0), strict=True)
    }
    # Rounded, so that variances that are equal but for the last bits of a float are ties.
    first, second = (np.round(side.deviation**2, 9) for side in (theirs, mine))
    agreement = (rank_correlation(first, second), *(precision_at_k(first, second, k) for k in AT))
    for name, values in zip(AGREEMENT, agreement, strict=True):
        if (defined := values[~np.isnan(values)]).size:
            found[name] = float(defined.mean())
    return found


def of_draws(story: Compared) -> dict[str, float]:
    """Figures of the model's own draws on a story."""
    return figures(story.slots, story.people, (story.draws / story.draws.sum(axis=-1, keepdims=True))[None])


def measures_of(table: PredictionTable, found: Iterable[tuple[int, Mapping[str, float]]]) -> Measures:
    """Stories' figures as events: distances are a mean over stories and dimensions, agreement one over stories.

    Args:
        table: The predictions they are of, for clusters and coverage.
        found: Cluster and :func:`figures` of each story.
    """
    tally = Tally(table)
    cells = {name: [f"{name}:{slot}" for slot in spaces.DIMENSIONS] for name in DISTANCES}
    single = [*(cell for some in cells.values() for cell in some), *AGREEMENT]
    # All are named first, so that two of these can be paired whatever is defined in either.
    statistics: dict[str, Statistic] = {
        name: mean(tally, [f"{name}/sum"], [f"{name}/n"], where_both=name in AGREEMENT) for name in single
    }
    for name, some in cells.items():
        statistics[name] = mean(tally, [f"{one}/sum" for one in some], [f"{one}/n" for one in some])
    leaving_out = frozenset(statistics)
    statistics["coverage"] = Share(tally.events(["read"]), tally.events(["read", "not read"]))
    listed: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for cluster, values in found:
        for name, value in values.items():
            listed[name].append((cluster, value))
    for name, pairs in listed.items():
        clusters = np.array([cluster for cluster, _ in pairs])
        tally.add_to(f"{name}/sum", clusters, np.array([value for _, value in pairs]))
        tally.add_to(f"{name}/n", clusters)
    answered = ~table.value.equals(None)
    tally.add("read", np.flatnonzero(answered))
    tally.add("not read", np.flatnonzero(~answered))
    return tally.measures(statistics, HEADLINE[0], leaving_out)


def spread_measures(table: PredictionTable) -> Measures:
    """Figures of a run's draws."""
    stories = compared(table, Tally(table).cluster.tolist())
    return measures_of(table, ((story.cluster, of_draws(story)) for story in stories))


def undefined_agreement(table: PredictionTable) -> dict[str, int]:
    """Why stories have no correlation of variances: reason -> how many of them."""
    reasons: dict[str, int] = defaultdict(int)
    for story in compared(table, Tally(table).cluster.tolist()):
        found = of_draws(story)
        if "variance_rho" in found:
            continue
        sides = (("observers", story.people), ("model", story.draws / story.draws.sum(axis=-1, keepdims=True)))
        alike = [who for who, side in sides if np.ptp(np.round(spread(side, POINTS).deviation ** 2, 9)) == 0]
        few = f"fewer than 3 dimensions with draws ({len(story.slots)})"
        reasons[few if len(story.slots) < 3 else f"all variances of the {alike[0]} are equal"] += 1
    return dict(reasons)


def as_numbers(found: Mapping[str, Estimate]) -> dict[str, Estimate]:
    """Estimates with their unit: all but the coverage are numbers of their own."""
    return {name: one if name == "coverage" else replace(one, unit="number") for name, one in found.items()}


def spread_estimates(table: PredictionTable, how: Interval) -> dict[str, Estimate]:
    """All figures of a run, with intervals; an undefined agreement with its reason."""
    found = as_numbers(estimates(spread_measures(table), how=how))
    rho = found["variance_rho"]
    if rho.value is None and (reasons := undefined_agreement(table)):
        said = "; ".join(f"{reason}, in {number} stories" for reason, number in reasons.items())
        found["variance_rho"] = replace(rho, reason=said)
    return found
