"""Two runs on the same items, compared pair by pair."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from affectlab.benchmarks.alike import Answers, differences
from affectlab.errors import UserError
from affectlab.metrics.predictions import PredictionTable
from affectlab.runs.manifest import DECISIVE, field
from affectlab.runs.score import ScoredRun, read_run
from affectlab.stats.bootstrap import Interval
from affectlab.stats.differences import name_differences
from affectlab.stats.mcnemar import McNemar, compare_correct
from affectlab.stats.measures import Measures
from affectlab.stats.multiple import adjust
from affectlab.stats.paired import PairedResult
from affectlab.stats.power import mcnemar_detectable_difference


@dataclass(frozen=True)
class Side:
    """One of the two compared."""

    run: ScoredRun
    condition: str
    table: PredictionTable

    def __repr__(self) -> str:
        return f"<{self.name} in {self.run.folder.path}>"

    @property
    def name(self) -> str:
        """What tables call it."""
        model = self.run.manifest["model"]["name"]
        return model if self.condition == "neutral" else f"{model}, {self.condition}"

    def measure(self, table: PredictionTable) -> Measures:
        """Events and statistics of some of its predictions."""
        return self.run.benchmark.measures(table, self.run.plan.protocol.name)


@dataclass(frozen=True)
class Comparison:
    """Run A against run B on the same items.

    Attributes:
        a: The first.
        b: The second; differences are A minus B.
        results: One per figure: difference, interval, permutation p, smallest detectable difference.
        adjusted: p by figure after Benjamini–Hochberg over ``results``; ``None`` where undefined.
        mcnemar: Exact test on whole items right; ``None`` without gold, and without p where items were presented
            more than once.
        mcnemar_detectable: Difference in share right that McNemar's test would detect with these items.
        differs: Decisive manifest fields in which the runs differ: name -> (A's value, B's value).
        interval: How intervals were made.
        left_out: Slots that only one run has (a protocol may ask for more than another); nothing rests on them.
    """

    a: Side
    b: Side
    results: tuple[PairedResult, ...]
    adjusted: Mapping[str, float | None]
    mcnemar: McNemar | None
    mcnemar_detectable: float | None
    differs: Mapping[str, tuple[Any, Any]]
    interval: Interval
    left_out: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<A {self.a} against B {self.b}: {'; '.join(str(one.difference) for one in self.results)}>"


def compare_runs(
    a: str | Path,
    b: str | Path,
    conditions: tuple[str | None, str | None] = (None, None),
    interval: Interval | None = None,
) -> Comparison:
    """Compare two runs, or two conditions of one.

    Args:
        a: Folder of the first run.
        b: Folder of the second; may be the same folder.
        conditions: Condition of each side; ``None`` for the only one of the run.
        interval: Level, replicates and seed.

    Raises:
        UserError: When the runs are of different benchmarks, or do not cover the same items, slots and gold.
    """
    interval = interval or Interval()
    run_a = read_run(a, interval)
    run_b = run_a if Path(a).resolve() == Path(b).resolve() else read_run(b, interval)
    if run_a.benchmark.name != run_b.benchmark.name:
        raise UserError(
            f"{a} is a run of {run_a.benchmark.name}, {b} of {run_b.benchmark.name}: they have no figure in common."
        )
    sides, left_out = _on_shared_slots(_side(run_a, conditions[0]), _side(run_b, conditions[1]))
    _refuse_unpaired(*sides)
    first, second = (Answers(side.table, side.measure) for side in sides)
    measured = [first.measures(), second.measures()]
    # A figure of a condition against neutral (a drift) is no statistic of the condition alone.
    names = tuple(name for name in _common_figures(*sides) if name in measured[0].statistics)
    results = differences(first, second, names, interval)
    corrected = adjust([results[name].p for name in names])
    test = compare_correct(measured[0], measured[1]) if measured[0].correct else None
    return Comparison(
        a=sides[0],
        b=sides[1],
        results=tuple(results[name] for name in names),
        adjusted=dict(zip(names, corrected.values, strict=True)),
        mcnemar=test,
        mcnemar_detectable=_detectable(test),
        differs=_differences(run_a.manifest, run_b.manifest),
        interval=interval,
        left_out=left_out,
    )


def _on_shared_slots(a: Side, b: Side) -> tuple[tuple[Side, Side], tuple[str, ...]]:
    """Both sides with the slots that both have, and the other slots."""
    asked = [[slot for slot in side.table.slot.values if side.table.slot.equals(slot).any()] for side in (a, b)]
    shared = {*asked[0]} & {*asked[1]}
    if not shared:
        raise UserError(
            f"{a.run.folder.path} asked for {', '.join(asked[0])}, {b.run.folder.path} for {', '.join(asked[1])}: "
            "they have nothing in common to compare."
        )
    kept = (
        replace(side, table=side.table.where(side.table.slot.recode(dict.fromkeys(shared, 1), 0).astype(bool)))
        for side in (a, b)
    )
    left_out = tuple(slot for slot in dict.fromkeys((*asked[0], *asked[1])) if slot not in shared)
    return (next(kept), next(kept)), left_out


def _side(run: ScoredRun, condition: str | None) -> Side:
    present = list(run.scores)
    if condition is None:
        if len(present) != 1:
            raise UserError(f"{run.folder.path} holds several conditions; say which: {', '.join(present)}.")
        condition = present[0]
    if condition not in present:
        raise UserError(f"{run.folder.path} has no condition {condition!r}; it has {', '.join(present)}.")
    return Side(run, condition, run.table.where(run.table.condition.equals(condition)))


def _common_figures(a: Side, b: Side) -> tuple[str, ...]:
    in_b = {figure.name for figure in b.run.scores[b.condition].headline}
    return tuple(figure.name for figure in a.run.scores[a.condition].headline if figure.name in in_b)


def _refuse_unpaired(a: Side, b: Side) -> None:
    gold_a, gold_b = _gold(a.table), _gold(b.table)
    if gold_a.keys() != gold_b.keys():
        raise UserError(
            f"{a.run.folder.path} and {b.run.folder.path} cannot be paired: "
            f"{name_differences(gold_a.keys(), gold_b.keys(), 'answer')}. "
            "Compare runs of the same items, with the same option orders, both complete."
        )
    changed = [key for key, gold in gold_a.items() if gold_b[key] != gold]
    if changed:
        raise UserError(
            f"The two runs have different gold for {len(changed)} answers (first: {changed[0]}): "
            "their data are not the same."
        )


def _gold(table: PredictionTable) -> dict[str, Any]:
    columns = (table.item, table.slot, table.variant, table.repeat)
    rows: Iterable[tuple[Any, ...]] = zip(*(column.codes.tolist() for column in columns), strict=True)
    names = ["/".join(str(column.values[code]) for column, code in zip(columns, row, strict=True)) for row in rows]
    return {name: table.gold.values[code] for name, code in zip(names, table.gold.codes.tolist(), strict=True)}


def _detectable(test: McNemar | None) -> float | None:
    if test is None or test.p is None or not test.n or test.no_discordant:
        return None
    return mcnemar_detectable_difference(test.n, (test.b + test.c) / test.n)


def _differences(a: Mapping[str, Any], b: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    pairs = {name: (field(a, name), field(b, name)) for name in (*DECISIVE, "package_version")}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}
