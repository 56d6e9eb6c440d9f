"""Reasoning and drift: longer thoughts, affective words, decisions with and without reasoning, and which items change.

Reference: the emotion-sensitive decisions paper (arXiv 2604.06562), section "How reasoning interacts with emotion
impacts".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from affectlab.benchmarks.decisions.measures import NAMES, Drifts, Figure, Floats, choices_of
from affectlab.benchmarks.decisions.pairing import common, paired_cells
from affectlab.benchmarks.decisions.states import State, state_of
from affectlab.benchmarks.decisions.tables import number
from affectlab.errors import UserError
from affectlab.games import ROLES
from affectlab.metrics.classification import mean_defined
from affectlab.metrics.numeric import spearman
from affectlab.metrics.predictions import Prediction, PredictionTable
from affectlab.metrics.scores import Cell, Table
from affectlab.stats.bootstrap import Interval, bootstrap_statistic, percentile_interval
from affectlab.stats.differences import name_differences
from affectlab.stats.estimate import Estimate
from affectlab.stats.multiple import adjust
from affectlab.stats.paired import PairedResult
from affectlab.stats.regression import Regression, clustered_regression


@dataclass(frozen=True, slots=True)
class Thought:
    """The reasoning before one decision, and how far the decision moved.

    Attributes:
        item: Of the decision.
        state: Condition it was taken in.
        text: What was reasoned.
        words: Its length in words.
        affective: Affective words in it, of all emotions.
        own: Affective words of the condition's own emotion; 0 where it has none.
        move: Change from the neutral answer to the same question, in [-1, 1]; ``None`` when one of the two is missing.
        repeat: Of the decision.
        variant: Presentation.
        cluster: Group of items that belong together (both roles of one story); the item itself when empty.
    """

    item: str
    state: State
    text: str
    words: int
    affective: int
    own: int
    move: float | None
    repeat: int = 0
    variant: str = ""
    cluster: str = ""


def thoughts(predictions: Iterable[Prediction]) -> tuple[Thought, ...]:
    """Every decision that was reasoned about, neutral ones included (their move is 0)."""
    rows = list(predictions)
    if not any("reasoning" in row.detail for row in rows):
        return ()
    choices = choices_of(PredictionTable.from_rows(rows))
    place = {key: number for number, key in enumerate(choices.keys)}
    neutral = choices.of("neutral") if "neutral" in choices.conditions else np.full(len(place), np.nan)
    moves = {name: choices.of(name) - neutral for name in choices.conditions}
    states = {name: state_of(name) for name in choices.conditions}
    found = []
    for row in rows:
        if "reasoning" not in row.detail:
            continue
        state = states[row.condition]
        # A question with one feasible answer has no place: nothing can move.
        number = place.get((row.item, row.repeat, row.variant))
        move = np.nan if number is None else float(moves[row.condition][number])
        counts: Mapping[str, int] = row.detail.get("affective", {})
        found.append(
            Thought(
                row.item,
                state,
                row.detail["reasoning"],
                int(row.detail["reasoning_words"]),
                sum(counts.values()),
                counts.get(state.emotion, 0),
                None if np.isnan(move) else move,
                row.repeat,
                row.variant,
                row.cluster,
            )
        )
    return tuple(found)


def length_table(found: Sequence[Thought]) -> Table:
    """Length, affective words and drift by condition."""
    rows: list[tuple[Cell, ...]] = []
    for state in dict.fromkeys(one.state for one in found):
        here = [one for one in found if one.state == state]
        moves = [abs(one.move) for one in here if one.move is not None]
        rows.append(
            (
                state.name,
                len(here),
                float(np.mean([one.words for one in here])),
                float(np.mean([one.affective for one in here])),
                float(np.mean([one.own for one in here])) if state.emotion else None,
                float(np.mean(moves)) if moves else None,
            )
        )
    return Table(
        "reasoning",
        "Reasoning by condition",
        ("condition", "thoughts", "words", "affective words", "of its own emotion", "mean move"),
        tuple(rows),
        "Means over thoughts. Affective words by the lexicon that the run was asked with.",
        {"words": "number", "affective words": "number", "of its own emotion": "number", "mean move": "number"},
    )


def correlation_table(found: Sequence[Thought], interval: Interval) -> Table:
    """Whether decisions after longer or more affective thoughts moved further."""
    usable = [one for one in found if one.move is not None and one.state.kind == "emotion"]
    rows: list[tuple[Cell, ...]] = []
    for title, values in (
        ("words", [one.words for one in usable]),
        ("affective words", [one.affective for one in usable]),
        ("affective words of its own emotion", [one.own for one in usable]),
    ):
        moves = [abs(one.move) for one in usable if one.move is not None]
        rows.append((title, _rank_correlation(values, moves, [one.cluster or one.item for one in usable], interval)))
    return Table(
        "reasoning_correlations",
        "Size of the move against the reasoning, under emotion vectors",
        ("reasoning", "Spearman"),
        tuple(rows),
        f"{len(usable)} thoughts; intervals resample items (groups of them). A correlation over items, not an effect "
        "of reasoning: hard items are thought about longer.",
    )


def _rank_correlation(x: Sequence[float], y: Sequence[float], groups: Sequence[str], interval: Interval) -> Estimate:
    value = spearman(x, y)
    codes = np.unique(np.array(groups, dtype=object), return_inverse=True)[1] if groups else np.empty(0, np.int64)
    clusters = len(set(groups))
    if value.value is None:
        return Estimate("spearman", None, n=value.answered, clusters=clusters, reason=value.reason, unit="number")
    first, second = np.array(x, dtype=np.float64), np.array(y, dtype=np.float64)

    def of(rows: np.ndarray[tuple[int], np.dtype[np.intp]]) -> float:
        found = spearman(first[rows].tolist(), second[rows].tolist()).value
        return np.nan if found is None else found

    replicates = bootstrap_statistic(codes, of, interval.replicates, interval.seed)
    made = percentile_interval("spearman", value.value, replicates, len(groups), clusters, interval)
    return number(made)


@dataclass(frozen=True)
class Contrast:
    """A figure with reasoning against the same without.

    Attributes:
        result: Of all emotions, or of one.
        left_out: Cells (an item under a condition) that lack an answer in either run.
        cells: Cells there are with them.
    """

    result: PairedResult
    left_out: int
    cells: int


def with_and_without(
    reasoned: Drifts, direct: Drifts, interval: Interval, figure: Figure = "ndm"
) -> dict[str, Contrast]:
    """A figure with reasoning minus without, on the cells that both have: all emotions (``""``), then each.

    Raises:
        UserError: When the runs do not cover the same items and emotion conditions.
    """
    _refuse_unlike(reasoned, direct)
    found = {}
    columns = reasoned.which(kind="emotion")
    for emotion in ("", *dict.fromkeys(reasoned.states[c].emotion for c in columns)):
        chosen = [c for c in columns if not emotion or reasoned.states[c].emotion == emotion]
        first, second = _cells(reasoned, direct, chosen, figure)
        result = paired_cells(reasoned.roles, reasoned.clusters, first, second, interval)
        moves = _cells(reasoned, direct, chosen, "ndm")
        left_out = np.isnan(moves[0]) | np.isnan(moves[1])
        found[emotion] = Contrast(result, int(left_out.sum()), left_out.size)
    return found


def _cells(reasoned: Drifts, direct: Drifts, columns: Sequence[int], figure: Figure) -> tuple[Floats, Floats]:
    """A figure by item and condition of both runs [I, columns], items and conditions in the order of the first.

    Where both runs put the same questions (repeat, order of options) of every item, questions are paired, and one that
    either lacks is in neither; else items are.
    """
    names = [reasoned.states[column].name for column in columns]
    at = {state.name: column for column, state in enumerate(direct.states)}
    first = reasoned.contributions(columns, figure)
    second = direct.contributions([at[name] for name in names], figure)
    row = {key: number for number, key in enumerate(direct.keys)}
    same = np.array([row.get(key, -1) for key in reasoned.keys], dtype=np.intp)
    if len(np.unique(reasoned.item[same >= 0])) == len(reasoned.items):
        pair = common(first, np.where((same >= 0)[:, None], second[same], np.nan))
        return reasoned.by_item(pair[0]), reasoned.by_item(pair[1])
    place = {item: code for code, item in enumerate(direct.items)}
    return reasoned.by_item(first), direct.by_item(second)[[place[item] for item in reasoned.items]]


def _refuse_unlike(reasoned: Drifts, direct: Drifts) -> None:
    conditions = [{state.name for state in run.states if state.kind == "emotion"} for run in (reasoned, direct)]
    for what, one, other in (
        ("item", set(reasoned.items), set(direct.items)),
        ("condition", conditions[0], conditions[1]),
    ):
        if one != other or not one:
            raise UserError(
                f"The runs with and without reasoning cannot be paired: "
                f"{name_differences(one, other, what) or f'neither has an emotion {what}'}. Run both on the same items "
                "and conditions."
            )


def difference_table(found: Mapping[Figure, Mapping[str, Contrast]]) -> Table:
    """With reasoning against without."""
    contrasts = [(figure, emotion, one) for figure, by_emotion in found.items() for emotion, one in by_emotion.items()]
    adjusted = adjust([one.result.p for _, _, one in contrasts]).values
    return Table(
        "with_and_without",
        "With reasoning against without, on the same items under the same conditions",
        ("figure", "emotion", "with", "without", "difference", "p", "q", "left out"),
        tuple(
            (
                NAMES[figure],
                emotion or "all",
                one.result.a,
                one.result.b,
                number(one.result.difference),
                one.result.p,
                q,
                one.left_out / one.cells if one.cells else None,
            )
            for (figure, emotion, one), q in zip(contrasts, adjusted, strict=True)
        ),
        f"Intervals resample items; p swaps within items; q: Benjamini–Hochberg over the {len(contrasts)} rows. Left "
        "out: items under a condition that lack an answer in either run.",
        {"with": "number", "without": "number", "p": "p", "q": "p", "left out": "share"},
    )


def moderation(
    reasoned: Drifts,
    direct: Drifts,
    difficulty: Mapping[str, float],
    discrimination: Mapping[str, float],
    figure: Figure,
) -> Regression:
    """Regress what reasoning adds to a figure (ΔNDM, ΔNAD) on item difficulty and discrimination.

    Rows are items by emotion, averaged over the strengths at which both runs have an answer. Emotion and game are
    factors; errors are clustered by item (groups of items, where the data say that they belong together).

    Args:
        reasoned: Moves with reasoning.
        direct: Moves without.
        difficulty: Item -> difficulty (of :mod:`affectlab.stats.irt`); items without one are left out.
        discrimination: Item -> discrimination.
        figure: ``ndm`` or ``nad``.

    Raises:
        UserError: When the runs are unlike, or too few items have parameters.
    """
    _refuse_unlike(reasoned, direct)
    known = [item for item in reasoned.items if item in difficulty and item in discrimination]
    rows: list[tuple[float, str, str]] = []
    for emotion in dict.fromkeys(state.emotion for state in reasoned.states if state.kind == "emotion"):
        first, second = _cells(reasoned, direct, reasoned.which(kind="emotion", emotion=emotion), figure)
        change = dict(zip(reasoned.items, mean_defined(first - second).tolist(), strict=True))
        rows += [(change[item], item, emotion) for item in known]
    kept = [row for row in rows if not np.isnan(row[0])]
    game = {
        item: ROLES[role].game if role in ROLES else role
        for item, role in zip(reasoned.items, reasoned.roles, strict=True)
    }
    cluster = dict(zip(reasoned.items, reasoned.clusters, strict=True))
    return clustered_regression(
        np.array([change for change, _, _ in kept]),
        {
            "difficulty": np.array([difficulty[item] for _, item, _ in kept]),
            "discrimination": np.array([discrimination[item] for _, item, _ in kept]),
        },
        {"emotion": [emotion for _, _, emotion in kept], "game": [game[item] for _, item, _ in kept]},
        [cluster[item] for _, item, _ in kept],
    )


def regression_table(found: Regression, figure: Figure) -> Table:
    """The slopes that matter first; emotions and games are there to be held constant."""
    return Table(
        f"moderation_{figure}",
        f"What reasoning adds to {NAMES[figure]}, by item difficulty and discrimination",
        ("term", "slope", "standard error", "low", "high", "p"),
        tuple((one.name, one.value, one.se, one.low, one.high, one.p) for one in found.coefficients),
        f"Least squares on {found.n} item × emotion rows, errors in {found.clusters} clusters of items, t with one "
        f"degree of freedom less; R² {found.r_squared:.3f}. The error of the difficulties themselves is not in it.",
        dict.fromkeys(("slope", "standard error", "low", "high"), "number"),
    )
