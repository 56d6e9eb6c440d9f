"""The score sheet of an EmoScene run.

The headline is the paper's macro-F1 over all eight emotions, by its published recipe.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from affectlab.benchmarks import sheets
from affectlab.benchmarks.base import Scoring
from affectlab.benchmarks.emoscene import certainty
from affectlab.benchmarks.emoscene.answers import NO, NOT_ASKED, SLOTS, UNREAD, YES, Answers, answers_of, details
from affectlab.benchmarks.emoscene.ising import Floats, Priors, sigmoid
from affectlab.benchmarks.emoscene.joint import Joint, joint_inference
from affectlab.benchmarks.emoscene.measures import HEADLINE, counted
from affectlab.benchmarks.emoscene.prior_file import digest, read_prior
from affectlab.benchmarks.emoscene.settings import extras
from affectlab.metrics.classification import MACRO_RESAMPLED
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
    beside = _beside(scoring)
    return Scores(
        headline=tuple(found[name] for name in HEADLINE),
        tables=(
            _by_policy(found),
            *joint.tables,
            _per_emotion(answers, found),
            *(_slices(table, interval) if any_gold else ()),
            *((_baselines(answers),) if answers.whole.any() else ()),
            *certainty.tables(_certainties(answers, odds, stated, scoring), interval),
            *_beside_table(beside),
            *((_pairs(found),) if answers.whole.any() else ()),
            sheets.outcomes(table),
            *sheets.flags(table),
        ),
        matrices=_cooccurrence(answers),
        notes=(*_notes(answers, found), *_beside_notes(beside), *joint.notes),
        signature=(
            f"emoscene:{VERSION}|protocol:{scoring.protocol}|macroF1|labels:8|zero_division:0|invalid:no"
            f"|threshold:0.5|joint:{source}|cluster:scenario|{MACRO_RESAMPLED}|{interval}"
        ),
    )


def _joint(scoring: Scoring, answers: Answers, odds: Floats) -> tuple[Joint, str]:
    if not scoring.predictions:
        said = "No joint inference and no calibration: only answers were kept, without what they rest on."
        return Joint(notes=(said,)), "none"
    path = scoring.options.get("prior", "")
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


def _certainties(answers: Answers, odds: Floats, stated: Floats, scoring: Scoring) -> list[certainty.Probabilities]:
    known = answers.gold >= 0
    made = []
    unit, slot = np.nonzero(known & ~np.isnan(odds))
    p = sigmoid(odds[unit, slot])
    there = answers.gold[unit, slot] == 1
    right = answers.said[unit, slot] == answers.gold[unit, slot]
    made.append(certainty.Probabilities("p(Yes)", p, there, answers.cluster[unit], (np.maximum(p, 1 - p), right)))
    if extras(scoring.options).confidence:
        asked = known & (answers.said != UNREAD) & (answers.said != NOT_ASKED)
        if scoring.protocol == "list":  # one confidence for all eight: right when all are
            asked = asked & (np.arange(len(SLOTS)) == 0) & asked.all(axis=1, keepdims=True)
        unit, slot = np.nonzero(asked & ~np.isnan(stated))
        alike = answers.said == answers.gold
        right = alike.all(axis=1)[unit] if scoring.protocol == "list" else alike[unit, slot]
        missing = int((asked & _replied(answers, scoring) & np.isnan(stated)).sum())
        made.append(
            certainty.Probabilities(
                "stated confidence", stated[unit, slot], right, answers.cluster[unit], None, missing
            )
        )
    return made


def _replied(answers: Answers, scoring: Scoring) -> NDArray[np.bool_]:
    """For which answers there is a reply to the question after confidence, whether or not it could be read [U, 8]."""
    given = [replace(row, detail={"given": float("confidence" in row.detail)}) for row in scoring.predictions]
    return np.asarray(details(answers, given, "given", scoring.condition) == 1, dtype=np.bool_)


class Beside(NamedTuple):
    """What was asked for beside the answer: in how many replies, and in how many of them it could be read."""

    what: str
    replies: int
    read: int


def _beside(scoring: Scoring) -> list[Beside]:
    wanted = extras(scoring.options)
    fields = [name for name, on in (("confidence", wanted.confidence), ("explanation", wanted.explain)) if on]
    found = []
    for field in fields if scoring.predictions else ():
        # One reply of list holds all eight answers.
        said = {
            (row.item, row.variant, row.repeat, "" if scoring.protocol == "list" else row.slot): row.detail[field]
            for row in scoring.predictions
            if row.condition == scoring.condition and field in row.detail
        }
        found.append(Beside(field, len(said), sum(value is not None for value in said.values())))
    return found


def _beside_table(beside: list[Beside]) -> list[Table]:
    if not beside:
        return []
    rows = tuple((*one, one.read / one.replies if one.replies else None) for one in beside)
    note = "Replies that were asked for it, and those in which it could be read. What could not be is in no figure."
    return [Table("beside", "Asked for beside the answer", ("what", "replies", "read", "share read"), rows, note)]


def _beside_notes(beside: list[Beside]) -> list[str]:
    return [
        f"{one.what.capitalize()} was asked for in {one.replies} replies and could be read in {one.read}."
        for one in beside
        if one.read < sheets.WELL_READ * one.replies
    ]


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
    without = int((answers.gold < 0).all(axis=1).sum())
    notes = sheets.without_gold(without, len(answers.gold), "scenarios")
    if without == len(answers.gold):
        return notes
    support = (answers.gold == 1).sum(axis=0)
    absent = [slot for slot, n in zip(SLOTS, support, strict=True) if not n]
    thin = [slot for slot, n in zip(SLOTS, support, strict=True) if 0 < n < sheets.THIN]
    if absent:
        notes.append(f"No scenario has {', '.join(absent)}. Macro-F1 is always over eight, so each counts F1 = 0.")
    if thin:
        notes.append(f"Fewer than {sheets.THIN} scenarios with {', '.join(thin)}: read their rows with care.")
    part = int((~answers.whole & (answers.gold >= 0).any(axis=1)).sum())
    if part:
        notes.append(f"{part} scenarios have not all eight answers yet: they are in no figure of whole scenarios.")
    return [*notes, *_empty(answers), *sheets.poorly_read(found["parse_rate"], "yes_no")]


def _empty(answers: Answers) -> list[str]:
    """How much of example-F1 and exact match is the agreement of empty sets."""
    chosen = answers.only(answers.whole)
    nothing_there = ~(chosen.gold == 1).any(axis=1)
    none_named = (chosen.said == NO).all(axis=1)
    both = int((nothing_there & none_named).sum())
    if not both:
        return []
    said = (
        f"{int(nothing_there.sum())} of {len(chosen.gold)} scenarios hold no emotion, {int(none_named.sum())} are "
        f"answered with none, {both} both: these {both} count as 1 in example-F1 and exact match."
    )
    return [said]
