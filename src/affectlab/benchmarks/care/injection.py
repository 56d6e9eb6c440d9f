"""RQ2: what more of the chain changes, ΔP(a) and ΔP(e), each presentation minus the story alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from affectlab.benchmarks.alike import Answers, differences
from affectlab.benchmarks.base import Scoring
from affectlab.benchmarks.care import spaces
from affectlab.benchmarks.care.measures import coverage_of, node_measures
from affectlab.benchmarks.care.nodes import asked_under
from affectlab.benchmarks.care.protocols import node
from affectlab.metrics.predictions import PredictionTable
from affectlab.metrics.scores import Cell, Table
from affectlab.stats.estimate import Estimate
from affectlab.stats.multiple import adjust
from affectlab.stats.paired import PairedResult

RATINGS = ("appraisal_rmse", "appraisal_rmse_expected")
FEELINGS = ("positive_level_rmse", "negative_level_rmse", "positive_example_f1", "negative_example_f1")
COMPARED = (*RATINGS, *FEELINGS)
NONE_READ = "no answer with gold was read under both"


def presented(table: PredictionTable, variant: str) -> PredictionTable:
    """Ratings and feelings of one presentation, as if it were the only one."""
    part = table.where(table.variant.equals(variant))
    wanted = np.isin(part.slot.codes, [code for code, slot in enumerate(part.slot.values) if slot not in spaces.CORE])
    part = part.where(wanted)
    return replace(part, variant=replace(part.variant, values=tuple("" for _ in part.variant.values)))


def against_story(scoring: Scoring, shown: Mapping[str, str]) -> Table:
    """Each presentation minus the first, the story alone, on stories that were asked under both.

    Args:
        scoring: The run.
        shown: What its protocol gives in each presentation.
    """
    rows = [row for variant in list(shown)[1:] for row in _differences(scoring, variant, shown[variant])]
    adjusted = adjust([one.p for _, one, _ in rows])
    alone = f"{shown['']} alone"
    return Table(
        "injection",
        "What more of the chain changes, against the story alone",
        (
            "given",
            "figure",
            "given it",
            alone,
            "difference",
            "p",
            "p adjusted",
            "detectable",
            "n",
            "coverage, given it",
            f"coverage, {alone}",
        ),
        tuple(
            (
                variant,
                one.name,
                *(_counted(one.name, value) for value in (one.a, one.b)),
                _difference(one),
                one.p,
                corrected,
                _counted(one.name, one.detectable),
                one.difference.n,
                *coverages,
            )
            for (variant, one, coverages), corrected in zip(rows, adjusted.values, strict=True)
        ),
        "Paired over stories; intervals resample stories, p by swapping within stories. RMSE is over the n answers "
        "that could be read under both, so that what becomes unreadable is no improvement; a label set that cannot be "
        f"read counts 0. Adjusted: Benjamini–Hochberg over the {adjusted.tested} rows with a p. Detectable: smallest "
        "true difference found with power .8 at level .05. For RMSE, a share of its scale's range, below 0 is better, "
        "for F1 above 0.",
        {
            "given it": "share",
            alone: "share",
            "p": "p",
            "p adjusted": "p",
            "detectable": "share",
            "coverage, given it": "share",
            f"coverage, {alone}": "share",
        },
    )


def _is_error(figure: str) -> bool:
    return "rmse" in figure


def _counted(figure: str, value: float | None) -> Cell:
    return Estimate(figure, value, unit="number") if _is_error(figure) and value is not None else value


def _difference(one: PairedResult) -> Estimate:
    found = one.difference
    reason = found.reason if found.n else found.reason and NONE_READ
    return replace(found, unit="number" if _is_error(one.name) else "difference", reason=reason)


Row = tuple[str, PairedResult, tuple[float | None, ...]]


def _differences(scoring: Scoring, variant: str, given: str) -> list[Row]:
    """The rows of one presentation: its name, the comparison, the coverage given it and alone."""
    ratings = RATINGS[: 1 + node(scoring.protocol).by_likelihood] if spaces.DIMENSIONS[0] in asked_under(given) else ()
    names = (*ratings, *FEELINGS)
    parts = [presented(scoring.table, name) for name in (variant, "")]
    stories = [{name for name in part.cluster.values if part.cluster.equals(name).any()} for part in parts]
    common = stories[0] & stories[1]
    if not common:
        return []
    given_it, alone = (Answers(_of_clusters(part, common), lambda table: node_measures(table, "s")) for part in parts)
    found = differences(given_it, alone, names, scoring.interval)
    read = [side.measures() for side in (given_it, alone)]
    rows = ((variant, found[name], (*(one.value(coverage_of(name)) for one in read),)) for name in names)
    return [row for row in rows if row[2] != (None, None)]


def _of_clusters(table: PredictionTable, names: set[str]) -> PredictionTable:
    codes = [code for code, name in enumerate(table.cluster.values) if name in names]
    return table.where(np.isin(table.cluster.codes, codes))
