"""The score sheet of a CUE-Bench run.

Headline and breakdowns are those of the paper (section 5.1, Appendix F.4): accuracy, macro-F1 and weighted-F1 of each
task over the declared labels, their plain mean, confusion matrices, class-wise F1. Intervals resample whole sources.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from affectlab.benchmarks import sheets
from affectlab.benchmarks.base import Scoring
from affectlab.benchmarks.cue.measures import CODES, SIZE, SPACE_OF, confusions, counted, tasks_of
from affectlab.benchmarks.cue.prompts import CHAIN
from affectlab.benchmarks.cue.protocols import STATED, TASKS
from affectlab.metrics import classification as cl
from affectlab.metrics.predictions import PredictionTable
from affectlab.metrics.scores import Cell, Matrix, Scores, Table
from affectlab.stats.bootstrap import Interval, estimates
from affectlab.stats.estimate import Estimate

VERSION = "2"
FIGURES = ("accuracy", "macro_f1", "weighted_f1")
NAMED = 8
"""Most labels that a note names; of more it gives the number, and the table has each."""

SLICES = (("scenario_type", "By scenario type", "scenario type"), ("quality_tier", "By quality tier", "quality tier"))
CONFUSED = (*TASKS, "explicit", "implicit", STATED)
TITLES = {"stance": "affective stance", "intent": "pragmatic intent", "emotion": "fine-grained emotion"}


def score(scoring: Scoring) -> Scores:
    """Scores of the predictions of one condition.

    Returns:
        Headline figures; tables by task, label, scenario type and quality tier, the chain of ``matrix``, positions,
        outcomes; a confusion matrix for each slot.
    """
    table, interval = scoring.table, scoring.interval
    asked = tasks_of(table)
    measured = counted(table)
    found, matrices = estimates(measured, how=interval), confusions(measured)
    scored = bool((~table.gold.equals(None)).any())
    chained = bool(table.slot.equals(STATED).any())
    return Scores(
        headline=tuple(found[name] for name in headline_names(table)),
        tables=(
            _by_task(asked, found),
            *(_chain_tables(found) if chained else ()),
            *(_per_label(matrices[task], task, found) for task in asked),
            *(_slices(table, interval) if scored else ()),
            *((_baselines(matrices, asked),) if scored else ()),
            *_per_token(scoring, asked),
            *(_positions(table, task) for task in asked),
            sheets.outcomes(table),
            *sheets.flags(table),
        ),
        matrices=tuple(_confusion(matrices[slot], slot) for slot in CONFUSED if matrices[slot].any()),
        notes=tuple(_notes(table, matrices, found)),
        signature=(
            f"cue:{VERSION}|protocol:{scoring.protocol}|tasks:{'+'.join(asked)}"
            f"|orders:{len(set(table.variant.codes.tolist()))}|macroF1|labels:declared|zero_division:0|invalid:wrong"
            f"|cluster:source|{cl.MACRO_RESAMPLED}|{interval}"
        ),
    )


def headline_names(table: PredictionTable) -> list[str]:
    """The figures a paper would quote, the main one first."""
    asked = tasks_of(table)
    names = [f"{figure}:{task}" for task in asked for figure in FIGURES]
    if len(asked) == 1:
        names.sort(key=lambda name: not name.startswith("macro_f1"))
    else:
        names = ["average", *names, "joint_accuracy"]
    names.append("parse_rate")
    if table.slot.equals(STATED).any():
        names += ["accuracy:explicit", "accuracy:implicit", "contradiction_rate"]
    if len(set(table.variant.codes.tolist())) > 1:
        names.append("order_consistency")
    return names


def _by_task(asked: Sequence[str], found: Mapping[str, Estimate]) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (
            task,
            *(found[f"{figure}:{task}"] for figure in FIGURES),
            *(found[f"{figure}:{task}:answered"] for figure in FIGURES),
            found[f"parse_rate:{task}"],
        )
        for task in asked
    ]
    return Table(
        "tasks",
        "Tasks, under both policies for unreadable replies",
        ("task", *FIGURES, *(f"{figure}, left out" for figure in FIGURES), "parse_rate"),
        tuple(rows),
        "A reply that cannot be read, or names no declared label, is wrong: a miss of its gold and a false alarm of "
        'none. In the columns "left out" such replies are dropped.',
    )


def _chain_tables(found: Mapping[str, Estimate]) -> tuple[Table, ...]:
    signals: tuple[tuple[Cell, ...], ...] = tuple(
        (slot, *(found[f"{figure}:{slot}"] for figure in FIGURES))
        for slot in ("explicit", "implicit", "stance", STATED)
    )
    levels: tuple[tuple[Cell, ...], ...] = tuple(
        (
            slot,
            found[f"accuracy:{STATED if slot == 'stance' else slot}"],
            found[f"first_error:{slot}"],
            found[f"right_after_right:{slot}"],
        )
        for slot in CHAIN
    )
    return (
        Table(
            "signals",
            "Signals and the stance they make up",
            ("slot", *FIGURES),
            signals,
            "stance is φ of the two signals of the same reply; stated_stance is what the reply says. Where they "
            "differ the model contradicts its own signals (contradiction rate, among replies where both can be read).",
        ),
        Table(
            "chain",
            "Where along the chain it first goes wrong",
            ("level", "accuracy", "first error here", "accuracy where all before is right"),
            (*levels, ("none", None, found["whole_chain"], None)),
            "One reply is one chain; shares of first errors add up to 1, with the last row for chains right as a "
            "whole. The stance is judged as stated, since φ of two right signals cannot be wrong.",
        ),
    )


def _per_label(matrix: cl.Floats, task: str, found: Mapping[str, Estimate]) -> Table:
    support, answers = cl.support(matrix), cl.predicted(matrix)
    return Table(
        f"per_{task}",
        f"By {TITLES[task]}",
        (task, "precision", "recall", "F1", "support", "predicted"),
        tuple(
            (
                label,
                found[f"precision:{task}:{label}"],
                found[f"recall:{task}:{label}"],
                found[f"f1:{task}:{label}"],
                int(support[code]),
                int(answers[code]),
            )
            for label, code in CODES[task].items()
        ),
        "F1 is undefined for a label with neither gold nor answers; macro-F1 counts it 0. "
        f"Support under {sheets.THIN} is thin.",
    )


def _slices(table: PredictionTable, interval: Interval) -> list[Table]:
    asked = tasks_of(table)
    lead = ["average"] if len(asked) == len(TASKS) else []
    shown = {figure: [*lead, *(f"{figure}:{task}" for task in asked)] for figure in ("accuracy", "macro_f1")}
    wanted = list(dict.fromkeys(name for names in shown.values() for name in names))
    made = []
    for slice_name, title, heading in SLICES:
        column = table.slice_values(slice_name)
        parts = {value: table.where(column.equals(value)) for value in column.values if value is not None}
        found = {value: estimates(counted(part), wanted, interval) for value, part in parts.items() if len(part)}
        for figure, words in (("accuracy", "accuracy"), ("macro_f1", "macro-F1")) if found else ():
            names = shown[figure]
            made.append(
                Table(
                    f"by_{slice_name}_{figure}",
                    f"{title}: {words}",
                    (heading, "records", *names),
                    tuple(
                        (value, len(parts[value].groups("item")[1]), *(known[name] for name in names))
                        for value, known in found.items()
                    ),
                    "Unreadable replies counted wrong. Macro-F1 is over all declared labels, with gold or not.",
                )
            )
    return made


def _baselines(matrices: Mapping[str, cl.Floats], asked: Sequence[str]) -> Table:
    """Two models that read nothing, on this very gold, in closed form."""
    figures: dict[str, dict[str, float]] = {"chance": {}, "majority": {}}
    for task in asked:
        support = cl.support(matrices[task])
        total, size = support.sum(), SIZE[task]
        if not total:
            continue
        # Each label answered with probability 1/size: expected counts put into 2 TP / (answers + gold).
        chance = 2 * support / size / (total / size + support)
        majority = np.zeros(size)
        best = int(np.argmax(support))
        majority[best] = 2 * support[best] / (total + support[best])
        for name, f1, right in (("chance", chance, total / size), ("majority", majority, support[best])):
            figures[name][f"accuracy:{task}"] = float(right / total)
            figures[name][f"macro_f1:{task}"] = float(f1.mean())
            figures[name][f"weighted_f1:{task}"] = float((f1 * support).sum() / total)
    columns = [f"{figure}:{task}" for task in asked for figure in FIGURES]
    for known in figures.values():
        if len(known) == len(FIGURES) * len(TASKS):
            known["average"] = float(np.mean(list(known.values())))
    columns = ["average", *columns] if len(asked) == len(TASKS) else columns
    return Table(
        "baselines",
        "Models that read nothing",
        ("baseline", *columns),
        tuple((name, *(known.get(column) for column in columns)) for name, known in figures.items()),
        "On the gold of this run. Chance: each label is equally likely (F1 of expected counts). Majority: always the "
        "most frequent gold label.",
    )


def _per_token(scoring: Scoring, asked: Sequence[str]) -> list[Table]:
    """What ``likelihood`` would score by log-probability per token; no table when nothing was scored so."""
    rows: list[tuple[Cell, ...]] = []
    for task in asked:
        found = [
            (max(scores, key=scores.__getitem__), row.value, row.gold)
            for row in scoring.predictions
            if row.condition == scoring.condition
            and row.slot == task
            and row.gold is not None
            and (scores := row.detail.get("logprobs_per_token"))
        ]
        if found:
            by_sum = sum(value == gold for _, value, gold in found) / len(found)
            per_token = sum(best == gold for best, _, gold in found) / len(found)
            differ = sum(best != value for best, value, _ in found) / len(found)
            rows.append((task, len(found), by_sum, per_token, differ))
    if not rows:
        return []
    return [
        Table(
            "per_token",
            "Labels chosen by summed log-probability and per token",
            ("task", "answers", "accuracy by sum", "accuracy per token", "share that differs"),
            tuple(rows),
            "The sum, which all figures rest on, favours labels of few tokens, the mean per token those of many.",
        )
    ]


def _positions(table: PredictionTable, task: str) -> Table:
    part = table.where(table.slot.equals(task))
    right = part.value.recode(CODES[task], -1) == part.gold.recode(CODES[task], -2)
    made = sheets.positions(part, right, SIZE[task])
    return replace(
        made,
        id=f"position_{task}",
        title=f"By place of the label in the prompt: {TITLES[task]}",
        note=f"A is the first place in the list; labels are named, not lettered. {made.note}",
    )


def _confusion(matrix: cl.Floats, slot: str) -> Matrix:
    names = SPACE_OF[slot].ids
    return Matrix(
        f"confusion_{slot}",
        f"Confusion: {TITLES.get(slot, slot.replace('_', ' '))}",
        "gold",
        "predicted",
        names,
        (*names, "no answer"),
        tuple(tuple(map(float, row)) for row in matrix),
        "Counts.",
    )


def _notes(table: PredictionTable, matrices: Mapping[str, cl.Floats], found: Mapping[str, Estimate]) -> list[str]:
    notes = sheets.without_gold(int(table.gold.equals(None).sum()), len(table))
    for task in TASKS:
        support = cl.support(matrices[task])
        if not support.any():
            continue
        thin = [label for label, code in CODES[task].items() if 0 < support[code] < sheets.THIN]
        absent = [label for label, code in CODES[task].items() if support[code] == 0]
        title = TITLES[task].capitalize()
        if thin:
            notes.append(
                f"{title}: support is under {sheets.THIN} for {_which(thin, task)}; read these rows with care."
            )
        if absent:
            notes.append(f"{title}: no gold for {_which(absent, task)}. Each counts F1 = 0 in macro-F1.")
    return notes + sheets.poorly_read(found["parse_rate"], "likelihood")


def _which(labels: Sequence[str], task: str) -> str:
    return ", ".join(labels) if len(labels) <= NAMED else f"{len(labels)} of the {SIZE[task]} labels"
