"""What is left of a run by likelihood when each condition's preference for letters is taken off.

A vector may push the letter A up whatever the decision is. Its moves are then large, and are none of decisions. The
mean log-probability of each place, over all decisions with as many options, is what a condition thinks of the letter
alone, since options turn from decision to decision; it is taken off before the likeliest option is chosen.

Reference: Zhao et al. (2021), Calibrate Before Use, ICML, who take it from an input without content; here it is the
mean over the decisions themselves.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from affectlab.benchmarks.decisions.effects import effects
from affectlab.benchmarks.decisions.measures import choices_of, drifts_of
from affectlab.benchmarks.decisions.record import ys
from affectlab.benchmarks.decisions.tables import run_estimates
from affectlab.items import Item
from affectlab.metrics.predictions import Prediction, PredictionTable
from affectlab.metrics.scores import Cell, Table
from affectlab.stats.bootstrap import Interval
from affectlab.stats.estimate import Estimate

FEWEST = 4
"""Decisions with as many options that a preference needs: of fewer, the mean is the decisions' own content."""


def without_letters(predictions: Iterable[Prediction], items: Iterable[Item]) -> list[Prediction]:
    """The same decisions, chosen after the preference for places was taken off.

    Predictions without log-probabilities of every option are left out, and so are those of a condition with fewer than
    :data:`FEWEST` decisions of as many options.
    """
    amounts = {item.id: (_texts(item), ys(item)) for item in items}
    groups: dict[tuple[str, int], list[tuple[Prediction, list[str], np.ndarray]]] = defaultdict(list)
    for one in predictions:
        scored = one.detail.get("logprobs")
        if scored and one.item in amounts and set(scored) == set(amounts[one.item][0]):
            values = np.array(list(scored.values()))
            groups[one.condition, len(values)].append((one, list(scored), values - values.mean()))
    return [
        chosen
        for group in groups.values()
        if len({one.item for one, _, _ in group}) >= FEWEST
        for chosen in _chosen(group, amounts)
    ]


def _texts(item: Item) -> tuple[str, ...]:
    return tuple(str(option["text"]) for option in item.inputs["options"])


def _chosen(
    group: Sequence[tuple[Prediction, list[str], np.ndarray]],
    amounts: dict[str, tuple[tuple[str, ...], tuple[float, ...]]],
) -> Iterator[Prediction]:
    preference = np.mean([values for _, _, values in group], axis=0)
    for one, shown, values in group:
        place = int(np.argmax(values - preference))
        texts, y = amounts[one.item]
        yield replace(one, value=y[texts.index(shown[place])], position=place, outcome="ok")


def letters_table(
    predictions: Sequence[Prediction], items: Sequence[Item], answered: Sequence[Estimate], interval: Interval
) -> Table | None:
    """The run's figures as answered and with letters taken off; ``None`` where nothing was scored by likelihood.

    Args:
        predictions: Of all conditions.
        items: The decisions.
        answered: The run's figures as answered.
        interval: How intervals are made.
    """
    chosen = without_letters(predictions, items)
    if not chosen or not answered:
        return None
    drifts = drifts_of(choices_of(PredictionTable.from_rows(chosen)))
    off = {one.name: one for one in run_estimates(drifts, effects(drifts, interval), interval)}
    rows: list[tuple[Cell, ...]] = [(one.name, one, off.get(one.name)) for one in answered]
    left_out = len(predictions) - len(chosen)
    return Table(
        "letters",
        "With the preference for letters taken off",
        ("figure", "as answered", "letters taken off"),
        tuple(rows),
        "Each condition's mean log-probability of each place, over all decisions with as many options, is taken off "
        "before the likeliest option is chosen. What is there as answered and gone here was a move of letters."
        + (f" {left_out} of {len(predictions)} answers are left out on the right." if left_out else ""),
    )
