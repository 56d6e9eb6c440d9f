"""Joint inference in the score sheet: every way of deciding, and what entanglement adds to the independent control."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from affectlab.benchmarks.emoscene import crossfit
from affectlab.benchmarks.emoscene.answers import UNREAD, YES, Answers
from affectlab.benchmarks.emoscene.ising import FEWEST, STATES, Floats, Priors, posterior, sigmoid
from affectlab.benchmarks.emoscene.measures import HEADLINE, counted
from affectlab.metrics.scores import Cell, Table
from affectlab.stats.bootstrap import Interval, estimates, percentile_interval
from affectlab.stats.estimate import Estimate, Unit
from affectlab.stats.multiple import adjust
from affectlab.stats.paired import PairedResult, paired_differences

REFITS, REFITS_AT_MOST = 200, 500
"""Bootstrap samples in which all is fitted again, and most scenarios for which that is done."""

WAYS = {
    "as_answered": ("as answered", "½"),
    "raw_tuned": ("as answered", "tuned"),
    "independent": ("independent", "½"),
    "independent_tuned": ("independent", "tuned"),
    "joint": ("joint", "½"),
    "joint_tuned": ("joint", "tuned"),
    "joint_map": ("joint", "most probable"),
}
"""What answers are made from, and how they are decided: a threshold, or the most probable combination."""
FIGURES = tuple(name for name in HEADLINE if name != "parse_rate")


class Contrast(NamedTuple):
    """What is compared, and by which figure."""

    joint: str
    control: str
    figure: str


OF_ENTANGLEMENT = (
    Contrast("joint_tuned", "independent_tuned", "macro_f1"),
    Contrast("joint", "independent", "macro_f1"),
    Contrast("joint_map", "independent", "exact_match"),
    Contrast("joint", "independent", "hamming_loss"),
)
"""Against the control with the same calibration and marginals: only co-occurrence makes the difference."""
OF_ALL = (
    Contrast("joint_tuned", "as_answered", "macro_f1"),
    Contrast("joint", "as_answered", "macro_f1"),
)
"""Against the answers as they came, as the paper counts its gain: calibration and thresholds make it as well."""
CONTRASTS = (*OF_ENTANGLEMENT, *OF_ALL)

_OF_ENTANGLEMENT = (
    "A minus B on the same scenarios (for Hamming loss, below 0 is better); A and B have the same calibration and "
    "marginals. "
)
_OF_ALL = (
    "A minus the answers as they came. How much of it is due to entanglement, the table before says; thresholds alone "
    'can gain much, as "always yes" among the answers that read nothing shows. '
)


@dataclass(frozen=True)
class Joint:
    """What joint inference came to.

    Attributes:
        tables: The ways of deciding, and the differences; empty when nothing could be fitted.
        notes: What must be said beside them, or why there are none.
    """

    tables: tuple[Table, ...] = ()
    notes: tuple[str, ...] = ()


def joint_inference(answers: Answers, odds: Floats, priors: Priors | None, interval: Interval) -> Joint:
    """Ways of deciding and their differences.

    Args:
        answers: Scenarios as answered.
        odds: Log-odds of each emotion [U, 8]; all NaN where the protocol gives none: then the answers themselves
            are the evidence, one unit of log-odds for yes and against for no, which calibration scales.
        priors: One learned elsewhere, or ``None`` to learn it from the other folds.
        interval: How intervals are made.
    """
    whole = answers.whole
    chosen, odds = answers.only(whole), odds[whole]
    by_answer = bool(np.isnan(odds).all())
    if priors is not None:
        if by_answer:
            return Joint(notes=("No joint inference: a prior from elsewhere needs log-odds, so ask with yes_no.",))
        return _with_prior(chosen, odds, priors, interval) if len(chosen.gold) else Joint()
    clusters = len(chosen.clusters)
    if clusters < FEWEST:
        said = (
            f"No joint inference: {clusters} independent scenarios with gold for all eight emotions; "
            f"fitting on folds needs {FEWEST}."
        )
        return Joint(notes=(said,))
    if by_answer:
        odds = np.where(chosen.said == UNREAD, np.nan, np.where(chosen.said == YES, 1.0, -1.0))
    evidence = crossfit.Evidence(
        odds, chosen.gold == 1, crossfit.folds_of(chosen.clusters)[chosen.cluster], chosen.cluster
    )
    decisions = crossfit.cross_fit(evidence)
    decided = {name: chosen.deciding(decisions.yes[name]) for name in WAYS if name in decisions.yes}
    ways = {"as_answered": chosen, **decided}
    refits = _refits(evidence, decisions, chosen.said == YES, interval)
    strengths = ", ".join(f"{strength:g}" for strength in decisions.strengths)
    said = (
        "Joint inference is supervised post-processing: calibration, prior, thresholds and the prior's strength "
        f"(by fold {strengths}) were fitted on the gold of the other four of {crossfit.FOLDS} folds, "
        "never on a scenario's own."
    )
    notes = [said]
    if by_answer:
        notes.append("This protocol gives no log-odds: joint inference rests on the eight answers.")
    missing = int(np.isnan(odds).sum())
    if missing:
        notes.append(
            f"{missing} of {odds.size} emotions have no evidence; the independent and joint rows put the prior there."
        )
    notes += _no_better_than_yes(ways)
    return Joint((_ways(ways, interval), *_contrasts(ways, refits, interval)), tuple(notes))


def _no_better_than_yes(ways: Mapping[str, Answers]) -> list[str]:
    """That tuned answers are worth no more than a yes to everything, which tuning for F1 makes of any answers."""
    given = ways["as_answered"]
    always = counted(given.deciding(np.ones(given.said.shape, dtype=bool))).value("macro_f1")
    tuned = counted(ways["joint_tuned"]).value("macro_f1")
    if tuned is None or always is None or tuned > always:
        return []
    said = (
        f"A yes to every question has a macro-F1 of {100 * always:.1f}; joint inference with tuned thresholds has "
        f"{100 * tuned:.1f}. What it gains over the answers as they came is no understanding: thresholds tuned for F1 "
        "say yes nearly always where the evidence tells nothing."
    )
    return [said]


def _with_prior(answers: Answers, odds: Floats, priors: Priors, interval: Interval) -> Joint:
    """With a prior from elsewhere nothing is fitted, so no gold is used at all."""
    marginal = np.where(np.isnan(odds), np.log(priors.marginals[0]) - np.log1p(-priors.marginals[0]), odds)
    p, joint = posterior(marginal, priors.log_weights[0], priors.marginals[0])
    yes = {
        "independent": sigmoid(marginal) > 0.5,
        "joint": joint > 0.5,
        "joint_map": STATES[p.argmax(axis=1)] > 0.5,
    }
    ways = {"as_answered": answers, **{name: answers.deciding(decided) for name, decided in yes.items()}}
    note = (
        "Joint inference takes its prior from a file and fits nothing: log-odds are taken as they are, "
        "thresholds are ½. Where the model says yes far more or less often than the prior has it, differences are of "
        "its calibration as well."
    )
    return Joint((_ways(ways, interval), *_contrasts(ways, {}, interval)), (note,))


def _ways(ways: Mapping[str, Answers], interval: Interval) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for name, decided in ways.items():
        found = estimates(counted(decided), FIGURES, interval)
        rows.append((*WAYS[name], *(found[figure] for figure in FIGURES)))
    return Table(
        "decisions",
        "From evidence to answers",
        ("answers", "decided by", *FIGURES),
        tuple(rows),
        "Same scenarios and evidence in each row. Decided by a threshold of ½, one tuned for F1 on the other "
        "folds, or the most probable of the 256 combinations. Independent: each emotion by itself, with the same "
        "calibration and marginals as the joint prior; what the joint rows add to it is due to co-occurrence alone. "
        "Intervals hold the fits fixed.",
    )


def _refits(
    evidence: crossfit.Evidence, decisions: crossfit.Decisions, answered: crossfit.Yes, interval: Interval
) -> Mapping[Contrast, Floats]:
    """Differences in bootstrap samples in which all is fitted again; none for many scenarios: it takes minutes."""
    if len(evidence.gold) > REFITS_AT_MOST:
        return {}
    number = min(REFITS, interval.replicates)
    found: dict[Contrast, list[float]] = {contrast: [] for contrast in CONTRASTS}
    for weights, again in crossfit.refitted(evidence, decisions.strengths, number, interval.seed):
        yes = {"as_answered": answered, **again.yes}
        figures = {name: crossfit.figures(decided, evidence.gold, weights) for name, decided in yes.items()}
        for contrast, values in found.items():
            values.append(figures[contrast.joint][contrast.figure] - figures[contrast.control][contrast.figure])
    return {contrast: np.array(values) for contrast, values in found.items()}


def _contrasts(ways: Mapping[str, Answers], refits: Mapping[Contrast, Floats], interval: Interval) -> list[Table]:
    """Against the independent control, and against the answers as they came: two questions, two tables."""
    measured = {name: counted(answers) for name, answers in ways.items()}
    again = (
        f" Last column: calibration, prior and thresholds fitted again in each of up to {REFITS} bootstrap samples "
        f"(left out above {REFITS_AT_MOST} scenarios)."
    )
    columns = ("A", "B", "figure", "of A", "of B", "difference", "p", "p adjusted", "difference, fitted again")
    shown = len(columns) if refits else len(columns) - 1
    tables = []
    for name, title, contrasts, caption in (
        ("entanglement", "What entanglement adds", OF_ENTANGLEMENT, _OF_ENTANGLEMENT),
        ("processing", "What calibration, thresholds and entanglement add together", OF_ALL, _OF_ALL),
    ):
        asked = [contrast for contrast in contrasts if {contrast.joint, contrast.control} <= ways.keys()]
        results = [
            paired_differences(measured[joint], measured[control], (figure,), interval)[figure]
            for joint, control, figure in asked
        ]
        adjusted = adjust([paired.p for paired in results]).values
        rows = (
            _row(contrast, paired, p, refits.get(contrast), interval)[:shown]
            for contrast, paired, p in zip(asked, results, adjusted, strict=True)
        )
        how = (
            "Paired cluster bootstrap, and p of the paired permutation test, both with the fits as they are; adjusted: "
            f"Benjamini–Hochberg over the {len(asked)} rows."
        )
        units: Mapping[str, Unit] = {"of A": "share", "of B": "share", "p": "p", "p adjusted": "p"}
        tables.append(
            Table(name, title, columns[:shown], tuple(rows), caption + how + (again if refits else ""), units)
        )
    return tables


def _row(
    contrast: Contrast, paired: PairedResult, adjusted: float | None, refits: Floats | None, interval: Interval
) -> tuple[Cell, ...]:
    joint, control, figure = contrast
    fixed = paired.difference
    again: Estimate | None = None
    if refits is not None and fixed.value is not None:
        how = replace(interval, replicates=len(refits))
        size = max(abs(paired.a or 0), abs(paired.b or 0))
        again = percentile_interval(figure, fixed.value, refits, fixed.n, fixed.clusters, how, size)
        again = replace(
            again, unit="difference", method=f"{again.method}, fitted again in each" if again.method else ""
        )
    names = (", ".join(WAYS[joint]), ", ".join(WAYS[control]))
    return (*names, figure, paired.a, paired.b, fixed, paired.p, adjusted, again)
