"""The score sheet of a CAREBench run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from affectlab.benchmarks import sheets
from affectlab.benchmarks.base import Scoring
from affectlab.benchmarks.care import ceiling, people, shifts, spaces, spread, texts
from affectlab.benchmarks.care.counterfactual import Counterfactual
from affectlab.benchmarks.care.injection import COMPARED, against_story, presented
from affectlab.benchmarks.care.measures import (
    SIDES,
    coverage_of,
    headline_names,
    measures,
    named,
    node_measures,
    presentations,
)
from affectlab.benchmarks.care.nodes import OWN
from affectlab.benchmarks.care.protocols import PROTOCOLS
from affectlab.benchmarks.care.subjectivity import Subjective
from affectlab.items import Item
from affectlab.metrics.predictions import PredictionTable
from affectlab.metrics.scores import Cell, Scores, Table
from affectlab.stats.bootstrap import estimates
from affectlab.stats.estimate import Estimate

VERSION = "3"
HUMAN = (
    "appraisal_rmse",
    "appraisal_accuracy",
    *(
        f"{side}_{kind}"
        for side in SIDES
        for kind in ("level_rmse", "example_f1", "micro_f1", "macro_f1", "exact_match", "both_empty")
    ),
    "rouge_l",
)

BASELINE = (
    "appraisal_rmse",
    "appraisal_accuracy",
    *(f"{side}_{kind}" for side in SIDES for kind in ("level_rmse", "example_f1")),
)

NO_LOO = frozenset({"appraisal_accuracy", "rouge_l"})
"""Not defined against several others: hardly any rating equals a mean, and texts have none."""


def score(scoring: Scoring) -> Scores:
    """Scores of one condition's predictions; which ones goes by the protocol."""
    table, protocol = scoring.table, scoring.protocol
    asked = PROTOCOLS[protocol]
    if isinstance(asked, Counterfactual):
        found = shifts.shift_estimates(table, scoring.interval)
        names = shifts.shift_names(by_likelihood=asked.by_likelihood)
        made = shifts.tables(scoring, found)
    elif isinstance(asked, Subjective):
        found = spread.spread_estimates(table, scoring.interval)
        names, made = spread.HEADLINE, ceiling.tables(scoring, found)
    else:
        found = _marked(estimates(measures(table, protocol), how=scoring.interval))
        names = headline_names(protocol)
        made = tuple(_node_tables(scoring, found))
    return Scores(
        headline=tuple(found[name] for name in names),
        tables=(*made, sheets.outcomes(table), *sheets.flags(table)) if len(table) else made,
        notes=tuple(_notes(scoring)),
        signature=(
            f"care:{VERSION}|protocol:{protocol}|RMSE:pooled, share of the scale's range|missing:left out of RMSE, "
            "wrong "
            f"in F1 and accuracy|example F1 of two empty sets:1|macroF1:10 labels|cluster:story|{scoring.interval}"
        ),
    )


def _marked(found: Mapping[str, Estimate]) -> dict[str, Estimate]:
    """Estimates with their unit: errors are numbers of their own, the rest are shares."""
    return {name: replace(one, unit="number") if "rmse" in name else one for name, one in found.items()}


def _node_tables(scoring: Scoring, found: Mapping[str, Estimate]) -> Iterator[Table]:
    shown = presentations(scoring.protocol)
    if len(shown) > 1:
        yield against_story(scoring, shown)
    for variant in shown:
        yield from _figures(found, variant)
    yield from _baselines(scoring.table, next(iter(shown)))
    asked = {scoring.table.item.values[code] for code in set(scoring.table.item.codes.tolist())}
    items = people.observers([item for item in scoring.items if item.id in asked])
    if items:
        yield _humans(scoring, items)
    if found[named("rouge_l", _core_variant(shown))].n:
        yield texts.texts(scoring, found, _core_variant(shown))


def _core_variant(shown: Mapping[str, str]) -> str:
    """The presentation in which core questions are asked, if any is."""
    return next((variant for variant, given in shown.items() if given == OWN), next(iter(shown)))


def _figures(found: Mapping[str, Estimate], variant: str) -> Iterator[Table]:
    def of(name: str) -> Estimate:
        return found[named(name, variant)]

    where = f", {variant}" if variant else ""
    suffix = f"_{variant}" if variant else ""
    rows: list[tuple[Cell, ...]] = [
        (
            "appraisals",
            of("appraisal_rmse"),
            of("appraisal_rmse_expected"),
            of("appraisal_accuracy"),
            of("appraisal_coverage"),
        )
    ]
    rows += [
        (
            f"  {group}",
            of(f"{group}_rmse"),
            of(f"{group}_rmse_expected"),
            of(f"{group}_accuracy"),
            of(f"{group}_coverage"),
        )
        for group in spaces.GROUPS
    ]
    rows += [
        (slot, of(f"{slot}_rmse"), of(f"{slot}_rmse_expected"), of(f"{slot}_accuracy"), of(f"{slot}_coverage"))
        for slot in spaces.LEVELS
    ]
    rows = [row for row in rows if isinstance(row[4], Estimate) and row[4].n]
    if rows:
        yield Table(
            f"scales{suffix}",
            f"Ratings and levels{where}",
            ("what", "RMSE", "RMSE of the mean", "exact", "coverage"),
            tuple(rows),
            "RMSE is a share of the scale's range, pooled over all stories and dimensions, over the answers there are. "
            "RMSE of the mean: of the scale's mean under the options' probabilities (likelihood only). Exact: "
            "unread wrong.",
        )
    dimensions = [
        (slot, spaces.APPRAISALS[slot].definition, of(f"rmse:{slot}"), of(f"coverage:{slot}"))
        for slot in (() if variant else spaces.DIMENSIONS)
        if of(f"coverage:{slot}").n
    ]
    if dimensions:
        yield Table(
            "dimensions",
            "By appraisal dimension",
            ("dimension", "statement", "RMSE", "coverage"),
            tuple(dimensions),
        )
    yield from _sets(found, variant)


def _sets(found: Mapping[str, Estimate], variant: str) -> Iterator[Table]:
    def of(name: str) -> Estimate:
        return found[named(name, variant)]

    sides = [side for side in SIDES if of(f"{side}_labels_coverage").n]
    if not sides:
        return
    where = f", {variant}" if variant else ""
    suffix = f"_{variant}" if variant else ""
    kinds = ("example_f1", "micro_f1", "macro_f1", "exact_match", "both_empty", "labels_coverage")
    yield Table(
        f"label_sets{suffix}",
        f"Label sets{where}",
        ("side", "example F1", "micro-F1", "macro-F1", "exact match", "both empty", "coverage"),
        tuple((side, *(of(f"{side}_{kind}") for kind in kinds)) for side in sides),
        "Two empty sets agree (example F1 1, an exact match); both empty says how many do. A reply that cannot be read "
        "is no empty set and counts 0. "
        "Macro-F1 is over all ten labels, those that nobody has counting 0.",
    )
    if variant:
        return
    yield Table(
        "labels",
        "By label",
        ("side", "label", "F1"),
        tuple(
            (side, label.names["en"], of(f"{side}_f1:{label.id}"))
            for side in sides
            for label in spaces.SETS[f"{side}_labels"]
        ),
        "No figure: nobody has the label, people or model.",
    )


def _baselines(table: PredictionTable, variant: str) -> Iterator[Table]:
    """An answer that reads nothing, on this very gold: the middle of every scale, and no label."""
    part = presented(table, variant)
    kinds = np.array([slot in spaces.SETS for slot in part.slot.values], dtype=np.int32)
    constant = replace(part, value=replace(part.value, codes=kinds[part.slot.codes], values=(spaces.MIDPOINT, ())))
    measured = node_measures(constant, "s") if len(part) else None
    found = {name: measured.value(name) for name in BASELINE} if measured else {}
    if figures := [name for name, value in found.items() if value is not None]:
        yield Table(
            "baselines",
            "An answer that reads nothing",
            ("baseline", *figures),
            (("the middle of every scale, no label", *(found[name] for name in figures)),),
            "On the gold of this run. The middle is 3 for ratings and for levels.",
            dict.fromkeys((name for name in figures if "rmse" in name), "number"),
        )


def _humans(scoring: Scoring, items: Sequence[Item]) -> Table:
    shown = presentations(scoring.protocol)
    ids = {item.id for item in items}
    codes = [code for code, name in enumerate(scoring.table.item.values) if name in ids]
    part = scoring.table.where(np.isin(scoring.table.item.codes, codes))
    model = _marked(estimates(measures(part, scoring.protocol), how=scoring.interval))
    loo = [name for name in HUMAN if name not in NO_LOO]
    rows: list[tuple[Cell, ...]] = []
    for variant in shown:
        names = [name for name in HUMAN if not variant or name in COMPARED or name == "rouge_l"]
        names = [name for name in names if model[named(coverage_of(name), variant)].n]
        answered = _answered(part, variant)
        writer = _marked(people.row(items, names, scoring.interval, answered=answered))
        asked = [name for name in loo if name in names]
        others = _marked(people.row(items, asked, scoring.interval, loo=True, answered=answered))
        rows += [
            (
                variant or "this run",
                name,
                model[named(name, variant)],
                writer[name],
                others.get(name),
                model[named(coverage_of(name), variant)].value,
            )
            for name in names
        ]
    return Table(
        "people",
        "Beside observers, on exactly the same stories",
        ("presentation", "figure", "model", "observers", "one observer against the others", "coverage of the model"),
        tuple(rows),
        f"{len(items)} stories with observers. Observers: each against the writer, as the model. One against the "
        "others: gold is the mean rating, and the labels that half or more chose, of the other observers of the story. "
        "RMSE and ROUGE-L leave out what could not be read: observers stand on what was read of the model. Every story "
        "weighs the same; n counts observers' answers.",
        {"coverage of the model": "share"},
    )


def _answered(table: PredictionTable, variant: str) -> set[tuple[str, str]]:
    """Items and slots of a presentation that have an answer that could be read."""
    there = table.where(table.variant.equals(variant) & ~table.value.equals(None))
    items, slots = ([column.values[code] for code in column.codes.tolist()] for column in (there.item, there.slot))
    return set(zip(items, slots, strict=True))


def _notes(scoring: Scoring) -> Iterator[str]:
    table = scoring.table
    without = int(table.gold.equals(None).sum())
    if without == len(table):
        yield f"None of the {len(table)} predictions has gold: they are predictions only, and nothing can be scored."
    elif without:
        yield f"{without} of {len(table)} predictions have no gold and count only for the coverage."
    unread = len(table) - int(table.outcome.equals("ok").sum())
    if unread:
        yield f"{unread} of {len(table)} answers could not be read. Nothing was filled in for them."
    protocol = PROTOCOLS[scoring.protocol]
    if isinstance(protocol, Counterfactual):
        yield (
            "Correlations rest on pairs of shifts, not on predictions: a story in a dimension, for feelings once for "
            "every dimension in which its observers differ, for label sets also once for every label."
        )
    if isinstance(protocol, Subjective) and (said := spread.thinned(table)):
        yield said
    if scoring.items and isinstance(protocol, Counterfactual | Subjective):
        asked = len(set(table.item.codes.tolist()))
        left = len(scoring.items) - asked
        if left:
            shifted = isinstance(protocol, Counterfactual)
            why = "observer on the other side of a midpoint" if shifted else "observers"
            yield f"{left} of {len(scoring.items)} stories have no {why}, or no answer yet, and are in no figure."
