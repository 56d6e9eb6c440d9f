"""The score sheet of an EmoScene run.

The headline is the paper's macro-F1 over all eight emotions, by its published recipe.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from affectlab.benchmarks import sheets
from affectlab.benchmarks.base import Scoring
from affectlab.benchmarks.emoscene import certainty
from affectlab.benchmarks.emoscene.answers import NOT_ASKED, SLOTS, UNREAD, YES, Answers, answers_of, details
from affectlab.benchmarks.emoscene.ising import Floats, Priors, sigmoid
from affectlab.benchmarks.emoscene.joint import Joint, joint_inference
from affectlab.benchmarks.emoscene.measures import HEADLINE, counted
from affectlab.benchmarks.emoscene.prior_file import digest, read_prior
from affectlab.metrics.predictions import PredictionTable
from affectlab.metrics.scores import Cell, Matrix, Scores, Table
from affectlab.stats.bootstrap import Interval, estimates
from affectlab.stats.estimate import Estimate

VERSION = "1"


def score(scoring: Scoring) -> Scores:
    """Scores of the predictions of one condition.

    Returns:
        Headline figures; tables by emotion, slice and way of deciding; calibration; co-occurrence.
    """
    table, interval = scoring.table, scoring.interval
    answers = answers_of(table)
    found = estimates(counted(answers), how=interval)
    any_gold = bool((answers.gold >= 0).any())
    odds = details(answers, scoring.predictions, "log_odds", scoring.condition)
    stated = details(answers, scoring.predictions, "confidence", scoring.condition)
    joint, source = _joint(scoring, answers, odds) if any_gold else (Joint(), "none")
    return Scores(
        headline=tuple(found[name] for name in HEADLINE),
        tables=(
            _by_policy(found),
            *joint.tables,
            _per_emotion(answers, found),
            *(_slices(table, interval) if any_gold else ()),
            *((_baselines(answers),) if answers.whole.any() else ()),
            *certainty.tables(_certainties(answers, odds, stated, scoring), interval),
            *((_pairs(found),) if answers.whole.any() else ()),
            sheets.outcomes(table),
            *sheets.flags(table),
        ),
        matrices=_cooccurrence(answers),
        notes=(*_notes(answers, found), *joint.notes),
        signature=(
            f"emoscene:{VERSION}|protocol:{scoring.protocol}|macroF1|labels:8|zero_division:0|invalid:no"
            f"|threshold:0.5|joint:{source}|cluster:scenario|{interval}"
        ),
    )


def _joint(scoring: Scoring, answers: Answers, odds: Floats) -> tuple[Joint, str]:
    if not scoring.predictions:
        said = "No joint inference and no calibration: only answers were kept, without what they rest on."
        return Joint(notes=(said,)), "none"
    path = scoring.options.get("prior", "")
    if path and not Path(path).is_file():
        said = f"No joint inference: the prior of this run, {path}, is not there any more."
        return Joint(notes=(said,)), "none"
    priors: Priors | None = read_prior(path) if path else None
    source = f"prior {digest(path)}" if path else "crossfit 5"
    return joint_inference(answers, odds, priors, scoring.interval), source


def _by_policy(found: Mapping[str, Estimate]) -> Table:
    figures = [name for name in HEADLINE if name != "parse_rate"]
    return Table(
        "headline_by_policy",
        "Headline figures under both policies for unreadable replies",
        ("figure", "counted wrong", "left out"),
        tuple((name, found[name], found[f"{name}:answered"]) for name in figures),
        "Counted wrong: a reply that cannot be read misses a gold emotion, raises no false alarm, and is "
        "wrong for exact match, example-F1 and Hamming loss. Left out: it is dropped, and so is its scenario "
        "for exact match and example-F1.",
    )


def _per_emotion(answers: Answers, found: Mapping[str, Estimate]) -> Table:
    rows = tuple(
        (
            slot,
            found[f"precision:{slot}"],
            found[f"recall:{slot}"],
            found[f"f1:{slot}"],
            int((answers.gold[:, code] == 1).sum()),
            int((answers.said[:, code] == YES).sum()),
        )
        for code, slot in enumerate(SLOTS)
    )
    return Table(
        "per_emotion",
        "By emotion",
        ("emotion", "precision", "recall", "F1", "support", "predicted"),
        rows,
        "Precision of an emotion never answered, and recall of one without gold, are undefined here and 0 in "
        "the macro figures.",
    )


def _slices(table: PredictionTable, interval: Interval) -> list[Table]:
    made = []
    for table_id, title, heading, name in (
        ("by_emotions", "By number of gold emotions", "gold emotions", "emotions"),
        ("by_domain", "By part of life", "domain", "domain"),
    ):
        column = table.slice_values(name)
        figures = ("micro_f1", "example_f1", "exact_match", "hamming_loss", "parse_rate")
        rows: list[tuple[Cell, ...]] = []
        for value in sorted(value for value in column.values if value is not None):
            part = table.where(column.equals(value))
            if len(part):
                found = estimates(counted(answers_of(part)), figures, interval)
                rows.append((value, found["parse_rate"].clusters, *(found[figure] for figure in figures)))
        if rows:
            note = "Micro-F1 and not macro-F1: few scenarios seldom hold all eight emotions."
            made.append(Table(table_id, title, (heading, "scenarios", *figures), tuple(rows), note))
    return made


def _baselines(answers: Answers) -> Table:
    """Answers that read nothing, on this very gold."""
    chosen = answers.only(answers.whole)
    figures = ("macro_f1", "micro_f1", "example_f1", "exact_match", "hamming_loss")
    share = (chosen.gold == 1).mean(axis=0)
    rows: list[tuple[Cell, ...]] = []
    for name, yes in (("always yes", share >= 0), ("always no", share < 0), ("the more frequent answer", share > 0.5)):
        measured = counted(chosen.deciding(np.tile(yes, (len(chosen.gold), 1))))
        rows.append((name, *(measured.value(figure) for figure in figures)))
    return Table(
        "baselines", "Answers that read nothing", ("baseline", *figures), tuple(rows), "On the gold of this run."
    )


def _certainties(answers: Answers, odds: Floats, stated: Floats, scoring: Scoring) -> list[certainty.Stated]:
    known = answers.gold >= 0
    made = []
    unit, slot = np.nonzero(known & ~np.isnan(odds))
    p = sigmoid(odds[unit, slot])
    there = answers.gold[unit, slot] == 1
    right = answers.said[unit, slot] == answers.gold[unit, slot]
    made.append(certainty.Stated("p(Yes)", p, there, answers.cluster[unit], (np.maximum(p, 1 - p), right)))
    if scoring.options.get("confidence", "no").strip().lower() == "yes":
        asked = known & (answers.said != UNREAD) & (answers.said != NOT_ASKED)
        if scoring.protocol == "list":  # one confidence for all eight: right when all are
            asked = asked & (np.arange(len(SLOTS)) == 0) & asked.all(axis=1, keepdims=True)
        unit, slot = np.nonzero(asked & ~np.isnan(stated))
        alike = answers.said == answers.gold
        right = alike.all(axis=1)[unit] if scoring.protocol == "list" else alike[unit, slot]
        missing = int((asked & np.isnan(stated)).sum())
        made.append(
            certainty.Stated("stated confidence", stated[unit, slot], right, answers.cluster[unit], None, missing)
        )
    return made


def _pairs(found: Mapping[str, Estimate]) -> Table:
    return Table(
        "cooccurrence",
        "Co-occurrence",
        ("figure", "value"),
        (("cooccurrence_gap", found["cooccurrence_gap"]),),
        "Mean, over the 28 pairs of emotions, of how far the share of scenarios answered with both lies from "
        "the share that has both; 0 when each pair is answered as often as it is there.",
        {"value": "share"},
    )


def _cooccurrence(answers: Answers) -> tuple[Matrix, ...]:
    chosen = answers.only(answers.whole)
    if not len(chosen.gold):
        return ()
    made = []
    for name, sets in (("gold", chosen.gold == 1), ("predicted", chosen.said == YES)):
        counts = sets.T.astype(np.float64) @ sets
        made.append(
            Matrix(
                f"cooccurrence_{name}",
                f"Co-occurrence, {name}",
                "emotion",
                "emotion",
                SLOTS,
                SLOTS,
                tuple(tuple(row) for row in counts.tolist()),
                f"Scenarios with both; on the diagonal, with the one. Of {len(chosen.gold)} scenarios.",
            )
        )
    return tuple(made)


def _notes(answers: Answers, found: Mapping[str, Estimate]) -> list[str]:
    notes = []
    without = int((answers.gold < 0).all(axis=1).sum())
    if without == len(answers.gold):
        notes.append(f"None of the {without} scenarios has gold: nothing can be scored.")
        return notes
    if without:
        notes.append(f"{without} of {len(answers.gold)} scenarios have no gold and count only for the parse rate.")
    support = (answers.gold == 1).sum(axis=0)
    absent = [slot for slot, n in zip(SLOTS, support, strict=True) if not n]
    thin = [slot for slot, n in zip(SLOTS, support, strict=True) if 0 < n < 10]
    if absent:
        notes.append(f"No scenario has {', '.join(absent)}. Macro-F1 is always over eight, so each counts F1 = 0.")
    if thin:
        notes.append(f"Fewer than 10 scenarios with {', '.join(thin)}: read their rows with care.")
    part = int((~answers.whole & (answers.gold >= 0).any(axis=1)).sum())
    if part:
        notes.append(f"{part} scenarios have not all eight answers yet: they are in no figure of whole scenarios.")
    parse = found["parse_rate"].value
    if parse is not None and parse < 0.9:
        notes.append(
            f"{100 * parse:.1f} % of answers could be read: figures say as much about format as about emotion. "
            "A local model can be asked with --protocol yes_no, which needs no readable reply."
        )
    return notes
