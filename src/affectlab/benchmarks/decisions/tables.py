"""Tables of a decisions run: drift by role and emotion, emotions against controls, strengths, what is missing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from affectlab.benchmarks.decisions.curves import Curve
from affectlab.benchmarks.decisions.effects import Effect
from affectlab.benchmarks.decisions.measures import FIGURES, NAMES, Drifts, Figure, Selection, drift_measures
from affectlab.benchmarks.decisions.states import CONTROLS, TITLES, WITHOUT_EMOTION
from affectlab.metrics.scores import Cell, Table
from affectlab.stats.bootstrap import Interval, estimates
from affectlab.stats.estimate import Estimate
from affectlab.stats.multiple import adjust


def drift_estimates(drifts: Drifts, interval: Interval, columns: tuple[int, ...]) -> dict[str, Estimate]:
    """NDM, NAD and NAD over roles with a direction, averaged over some conditions."""
    selections: dict[str, Selection] = {name: Selection(name, columns) for name in figures_of(drifts, columns)}
    found = estimates(drift_measures(drifts, selections), how=interval)
    return {name: number(one) for name, one in found.items()}


def run_estimates(drifts: Drifts, compared: Sequence[Effect], interval: Interval) -> tuple[Estimate, ...]:
    """What the paper reports of a run, as its means over all emotions, strengths and roles.

    NDM and NAD of the emotion vectors and ``ndm:emotion_minus_random`` on what both answered come first, as nothing of
    the first two is emotion's without the third; then NAD over roles with a direction, and ``ndm:random`` and
    ``nad:random`` of the random vectors.
    """
    emotions = tuple(dict.fromkeys(state.emotion for state in drifts.states if state.kind == "emotion"))
    columns, random = tuple(drifts.which(kind="emotion")), tuple(drifts.which(kind="random"))
    selections = {str(name): Selection(name, columns) for name in FIGURES if columns}
    selections |= {
        f"{name}:random": Selection(name, random, (), emotions) for name in FIGURES[:2] if random and columns
    }
    found = estimates(drift_measures(drifts, selections), how=interval) if selections else {}
    apart = [one for one in compared if (one.control, one.emotion, one.figure) == ("random", "", "ndm")]
    differences = [replace(one.result.difference, name="ndm:emotion_minus_random") for one in apart]
    moved = list(found.values())
    return tuple(map(number, (*moved[:2], *differences, *moved[2:])))


def figures_of(drifts: Drifts, columns: tuple[int, ...]) -> tuple[Figure, ...]:
    """What can be said of some conditions: NDM alone where none is of an emotion."""
    return FIGURES if any(drifts.states[column].emotion for column in columns) else FIGURES[:1]


def number(estimate: Estimate) -> Estimate:
    """An estimate shown as a plain number, as the paper prints NDM and NAD."""
    return replace(estimate, unit="number")


def drift_table(drifts: Drifts, interval: Interval, columns: tuple[int, ...]) -> Table:
    """The paper's main table, one column a figure: roles, then their mean. Controls beside the emotions."""
    emotions = tuple(dict.fromkeys(drifts.states[column].emotion for column in columns))
    selections: dict[str, Selection] = {}
    headings: list[str] = []
    groups: list[tuple[str, tuple[int, ...], tuple[str, ...]]] = [("", columns, ())]
    groups += [
        (TITLES[kind], tuple(drifts.which(kind=kind)), emotions if kind in WITHOUT_EMOTION else ())
        for kind in (CONTROLS if len(columns) > 1 else ())
        if drifts.which(kind=kind)
    ]
    for title, chosen, aligned in groups:
        for name in figures_of(drifts, columns)[: 2 if title else 3]:
            headings.append(f"{NAMES[name]} {title}".strip())
            for role in (*drifts.role_names, ""):
                selections[f"{role}|{headings[-1]}"] = Selection(name, chosen, (role,) if role else (), aligned)
    found = estimates(drift_measures(drifts, selections), how=interval)
    rows: list[tuple[Cell, ...]] = [
        (role.replace("_", " ") if role else "mean over roles", *(number(found[f"{role}|{one}"]) for one in headings))
        for role in (*drifts.role_names, "")
    ]
    return Table(
        "drift",
        "How far answers move from neutral",
        ("role", *headings),
        tuple(rows),
        "NDM: mean size of the move as a share of the feasible range. NAD: mean move in people's direction, roles and "
        "emotions without one (d = 0) counting 0; NAD (d ≠ 0) leaves them out. Means over items, then conditions, then "
        "roles. Intervals resample items. Random vectors are aligned with each emotion in turn, other controls with "
        "theirs.",
    )


def emotion_table(drifts: Drifts, interval: Interval) -> Table:
    """Figures of each emotion."""
    names = tuple(dict.fromkeys(state.emotion for state in drifts.states if state.kind == "emotion"))
    selections = {
        f"{name}|{figure}": Selection(figure, tuple(drifts.which(kind="emotion", emotion=name)))
        for name in names
        for figure in FIGURES
    }
    found = estimates(drift_measures(drifts, selections), how=interval)
    rows: list[tuple[Cell, ...]] = [(name, *(number(found[f"{name}|{one}"]) for one in FIGURES)) for name in names]
    headings = ("emotion", *NAMES.values())
    return Table("drift_by_emotion", "By emotion, over all strengths and roles", headings, tuple(rows))


def effect_table(found: Sequence[Effect]) -> Table:
    """Emotions against controls."""
    return Table(
        "against_controls",
        "Emotions against their controls, on the same items at the same strengths",
        ("control", "emotion", "figure", "emotion vectors", "control's", "difference", "p", "q", "left out"),
        tuple(
            (
                TITLES[one.control],
                one.emotion or "all",
                NAMES[one.figure],
                one.result.a,
                one.result.b,
                number(one.result.difference),
                one.result.p,
                one.q,
                one.left_out / one.asked if one.asked else None,
            )
            for one in found
        ),
        "Difference: emotion − control, with an interval that resamples items; p: emotion and control swapped within "
        f"items; q: Benjamini–Hochberg over the {len(found)} rows. An emotion that moves answers no further than a "
        "random vector of the same norm shows no effect of emotion. Left out: comparisons of one question that lack an "
        "answer to either side.",
        {"emotion vectors": "number", "control's": "number", "p": "p", "q": "p", "left out": "share"},
    )


def strength_table(found: Sequence[Curve]) -> Table:
    """Figures at each strength, a line a row."""
    strengths = sorted({strength for one in found for strength in one.strengths})
    rows: list[tuple[Cell, ...]] = []
    for one in found:
        at = dict(zip(one.strengths, one.points, strict=True))
        points = (number(at[strength]) if strength in at else None for strength in strengths)
        rows.append((one.title, NAMES[one.figure], *points))
    headings = ("line", "figure", *(f"{strength:g}" for strength in strengths))
    note = (
        "Means over roles, each over what was read at its strength: where answers are missing, a line can rise because "
        "other questions are left. The trend test takes the same ones at every strength. Intervals resample items."
    )
    return Table("strengths", "By strength", headings, tuple(rows), note)


def trend_table(found: Sequence[Curve]) -> Table:
    """Whether figures rise or fall with strength."""
    tested = [(one, one.trend) for one in found if one.trend is not None]
    adjusted = adjust([trend.p for _, trend in tested]).values
    rows = tuple(
        (
            one.title,
            NAMES[one.figure],
            trend.z,
            trend.p,
            q,
            ("yes" if trend.monotone else "no") if len(one.strengths) > 2 else "–",
            trend.moved,
            trend.blocks,
            one.left_out / one.asked if one.asked else None,
        )
        for (one, trend), q in zip(tested, adjusted, strict=True)
    )
    return Table(
        "trends",
        "Trend over strengths",
        ("line", "figure", "z", "p", "q", "monotone", "blocks that vary", "blocks", "left out"),
        rows,
        "Page's test with items (groups of them) as blocks, ties as they are; z above 0: rises with strength. "
        "Monotone: the means never turn round, which two strengths cannot. Left out: questions under a vector that "
        "lack an answer at some strength; an item is averaged over the others, the same at each strength. q: "
        f"Benjamini–Hochberg over the {len(rows)} rows.",
        {"z": "number", "p": "p", "q": "p", "left out": "share"},
    )


def missing_table(drifts: Drifts) -> Table:
    """Questions by condition that have no pair of answers."""
    asked = len(drifts.item)
    rows = tuple(
        (state.name, int(missing), missing / asked if asked else None)
        for state, missing in zip(drifts.states, drifts.missing.tolist(), strict=True)
    )
    return Table(
        "missing",
        "Questions without a pair of answers",
        ("condition", "questions", "share"),
        rows,
        "Neither a drift nor none: they are in no figure of moves. Strong vectors break the format of answers, so read "
        "this beside every drift.",
    )
