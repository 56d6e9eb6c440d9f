"""The score sheet of a Chiaro run.

The headline is the paper's: macro-F1 over the ten emotions, pooled over both agents (§4). Every figure has an interval
that resamples whole scenes, and stands beside the figure that leaves unreadable replies out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from affectlab.benchmarks import sheets
from affectlab.benchmarks.base import Scoring
from affectlab.benchmarks.chiaro.measures import CODES, NEGATIVE, POSITIVE, confusion, counted, offers_all_ten
from affectlab.benchmarks.chiaro.protocols import EMOTIONS
from affectlab.metrics import classification as cl
from affectlab.metrics.predictions import PredictionTable
from affectlab.metrics.scores import Cell, Matrix, Scores, Table
from affectlab.stats.bootstrap import Interval, estimates
from affectlab.stats.estimate import Estimate

VERSION = "1"
POLICY_NOTE = (
    "Counted wrong: a reply that cannot be read is a miss of its gold emotion and a false alarm of none. "
    "Left out: such replies are dropped, as the paper did for Emollama-chat-7B."
)


def score(scoring: Scoring) -> Scores:
    """Scores of the predictions of one condition.

    Returns:
        Headline figures, tables by emotion, polarity, agent, mode, scenario type and position, and confusion matrices.
    """
    table, protocol, interval = scoring.table, scoring.protocol, scoring.interval
    has_gold = table.gold.recode(CODES, -1) >= 0
    names = _headline_names(table, protocol)
    measured = counted(table, protocol)
    found, matrix = estimates(measured, how=interval), confusion(measured)
    right = table.value.recode(CODES, -1) == table.gold.recode(CODES, -2)
    return Scores(
        headline=tuple(found[name] for name in names),
        tables=(
            _by_policy(found),
            _per_emotion(table, matrix, found),
            _by_polarity(found),
            *(_slices(table, protocol, interval) if has_gold.any() else ()),
            *((_baselines(matrix, protocol),) if has_gold.any() else ()),
            sheets.positions(table, right, len(CODES) if offers_all_ten(protocol) else len(POSITIVE)),
            sheets.outcomes(table),
            *sheets.flags(table),
        ),
        matrices=_confusions(matrix, protocol),
        notes=tuple(_notes(len(table), int(has_gold.sum()), matrix, found)),
        signature=(
            f"chiaro:{VERSION}|protocol:{protocol}|orders:{len(set(table.variant.codes.tolist()))}"
            "|macroF1|labels:10|zero_division:0|invalid:wrong|average:pooled slots"
            f"|cluster:scene|{cl.MACRO_RESAMPLED}|{interval}"
        ),
    )


def _headline_names(table: PredictionTable, protocol: str) -> list[str]:
    names = ["macro_f1", "macro_f1_positive", "macro_f1_negative", "accuracy", "joint_accuracy", "parse_rate"]
    if offers_all_ten(protocol):
        names += ["polarity_accuracy", "swap_rate"]
    if len(set(table.variant.codes.tolist())) > 1:
        names.append("order_consistency")
    return names


def _by_policy(found: Mapping[str, Estimate]) -> Table:
    figures = ("macro_f1", "macro_f1_positive", "macro_f1_negative", "accuracy", "joint_accuracy")
    return Table(
        "headline_by_policy",
        "Headline figures under both policies for unreadable replies",
        ("figure", "counted wrong", "left out"),
        tuple((name, found[name], found[f"{name}:answered"]) for name in figures),
        POLICY_NOTE,
    )


def _per_emotion(table: PredictionTable, matrix: cl.Floats, found: Mapping[str, Estimate]) -> Table:
    support = cl.support(matrix)
    answers = table.value.recode(CODES, -1)
    predicted = np.bincount(answers[answers >= 0], minlength=len(CODES))  # those to scenes without gold too
    rows = tuple(
        (
            label,
            EMOTIONS.group_of(label),
            found[f"precision:{label}"],
            found[f"recall:{label}"],
            found[f"f1:{label}"],
            int(support[code]),
            int(predicted[code]),
            replace(found[f"share_gap:{label}"], unit="difference"),
        )
        for label, code in CODES.items()
    )
    over = [row[0] for row in rows if _sign(found[f"share_gap:{row[0]}"]) > 0]
    under = [row[0] for row in rows if _sign(found[f"share_gap:{row[0]}"]) < 0]
    return Table(
        "per_emotion",
        "By emotion",
        (
            "emotion",
            "polarity",
            "precision",
            "recall",
            "F1",
            "support",
            "predicted",
            "predicted − gold share",
        ),
        rows,
        "Last column: share of the emotion among the answers of its polarity minus its share in gold. "
        f"Over-predicted (interval above 0): {_share_of_labels(over)}. "
        f"Under-predicted (below 0): {_share_of_labels(under)}.",
    )


def _share_of_labels(labels: list[str]) -> str:
    return f"{len(labels)} of {len(CODES)}" + (f" ({', '.join(labels)})" if labels else "")


def _sign(gap: Estimate) -> int:
    if gap.low is None or gap.high is None:
        return 0
    return int(gap.low > 0) - int(gap.high < 0)


def _by_polarity(found: Mapping[str, Estimate]) -> Table:
    return Table(
        "by_polarity",
        "By polarity",
        ("polarity", "macro-F1", "macro-F1, unreadable left out"),
        tuple(
            (group, found[f"macro_f1_{group}"], found[f"macro_f1_{group}:answered"])
            for group in ("positive", "negative")
        ),
        "Macro-F1 over the five emotions of the polarity.",
    )


def _slices(table: PredictionTable, protocol: str, interval: Interval) -> list[Table]:
    made = []
    for table_id, title, heading, column in (
        ("by_mode", "By causal mode of the event", "mode", table.slice_values("mode")),
        ("by_scenario_type", "By scenario type", "scenario type", table.slice_values("scenario_type")),
        ("by_slot", "By agent", "agent", table.slot),
    ):
        present = [value for value in column.values if value is not None]
        if not present:
            continue
        figures = ["macro_f1", "accuracy", "parse_rate"]
        if heading != "agent":
            figures.insert(2, "joint_accuracy")
        rows: list[tuple[Cell, ...]] = []
        for value in present:
            part = table.where(column.equals(value))
            if len(part):
                found = estimates(counted(part, protocol), figures, interval)
                rows.append((value, found["parse_rate"].clusters, *(found[figure] for figure in figures)))
        made.append(
            Table(
                table_id,
                title,
                (heading, "scenes", *figures),
                tuple(rows),
                "Unreadable replies counted wrong.",
            )
        )
    return made


def _baselines(matrix: cl.Floats, protocol: str) -> Table:
    """Two models that read nothing, on this very gold, in closed form."""
    support = cl.support(matrix)
    groups = [np.concatenate([POSITIVE, NEGATIVE])] if offers_all_ten(protocol) else [POSITIVE, NEGATIVE]
    chance, majority = np.zeros(len(CODES)), np.zeros(len(CODES))
    hits = {"chance": 0.0, "majority": 0.0}
    for group in groups:
        asked = support[group].sum()
        if not asked:
            continue
        # A label answered with probability 1/k: expected hits, answers and misses put into 2 TP / (answers + gold).
        chance[group] = 2 * support[group] / len(group) / (asked / len(group) + support[group])
        best = group[int(np.argmax(support[group]))]
        majority[best] = 2 * support[best] / (asked + support[best])
        hits["chance"] += asked / len(group)
        hits["majority"] += support[best]
    total = support.sum()
    rows: tuple[tuple[Cell, ...], ...] = ()
    if total:
        rows = (
            ("chance", float(chance.mean()), hits["chance"] / total),
            ("majority", float(majority.mean()), hits["majority"] / total),
        )
    return Table(
        "baselines",
        "Models that read nothing",
        ("baseline", "macro_f1", "accuracy"),
        rows,
        "On the gold of this run. Chance: each option offered is equally likely (F1 of expected counts). "
        "Majority: always the most frequent gold emotion among those offered.",
    )


def _confusions(matrix: cl.Floats, protocol: str) -> tuple[Matrix, ...]:
    if not matrix.sum():
        return ()
    names = EMOTIONS.ids
    groups = (
        [("confusion", "Confusion over all ten emotions", np.arange(len(names)))]
        if offers_all_ten(protocol)
        else [
            ("confusion_positive", "Confusion among positive emotions", POSITIVE),
            ("confusion_negative", "Confusion among negative emotions", NEGATIVE),
        ]
    )
    return tuple(
        Matrix(
            matrix_id,
            title,
            "gold",
            "predicted",
            tuple(names[code] for code in group),
            (*(names[code] for code in group), "no answer"),
            tuple(tuple(float(matrix[row, column]) for column in (*group, len(names))) for row in group),
            "Counts.",
        )
        for matrix_id, title, group in groups
    )


def _notes(asked: int, with_gold: int, matrix: cl.Floats, found: Mapping[str, Estimate]) -> list[str]:
    notes = sheets.without_gold(asked - with_gold, asked)
    support = cl.support(matrix)
    thin = [label for label, code in CODES.items() if 0 < support[code] < sheets.THIN]
    absent = [label for label, code in CODES.items() if support[code] == 0]
    if thin:
        notes.append(f"Fewer than {sheets.THIN} gold answers for {', '.join(thin)}: read their rows with care.")
    if absent and with_gold:
        notes.append(
            f"No gold answer is {', '.join(absent)}. They are declared labels, so each counts F1 = 0 in macro-F1."
        )
    unanswered = [label for label, code in CODES.items() if support[code] and not matrix[code, :-1].sum()]
    if unanswered:
        notes.append(
            f"No answer to a gold {', '.join(unanswered)} could be read: in the left-out figures they count F1 = 0."
        )
    return notes + sheets.poorly_read(found["parse_rate"], "likelihood")
