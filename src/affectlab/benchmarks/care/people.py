"""What observers reach on exactly the stories a model was asked about.

Two human rows. *Observers*: each observer's chain against the writer's, as a model's would be. *One against the
others*: each observer against the mean rating, and the labels of half or more, of the story's other observers. A story
weighs the same however many observers it has; the published code pools all pairs, so that stories with more observers
weigh more.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from typing import Any

import numpy as np

from affectlab.benchmarks.care import spaces
from affectlab.benchmarks.care.measures import node_measures
from affectlab.items import Item
from affectlab.metrics.predictions import Prediction, PredictionTable
from affectlab.stats.bootstrap import Interval, estimates
from affectlab.stats.estimate import Estimate

ASKED = (*spaces.RATED, *spaces.SETS, *spaces.CORE)


def observers(items: Sequence[Item]) -> list[Item]:
    """Items that have observers."""
    return [item for item in items if item.inputs.get("observers")]


def against_writer(item: Item) -> Iterator[Prediction]:
    """Each observer's answers, with the writer's as gold."""
    for place, observer in enumerate(item.inputs["observers"]):
        for slot in ASKED:
            yield _row(item, slot, _plain(observer["answers"].get(slot)), item.gold.get(slot), place)


def against_others(item: Item) -> Iterator[Prediction]:
    """Each observer's ratings and feelings, with those of the story's other observers as gold."""
    people = [observer["answers"] for observer in item.inputs["observers"]]
    for place, mine in enumerate(people):
        others = [answers for other, answers in enumerate(people) if other != place]
        for slot in (*spaces.RATED, *spaces.SETS):
            given = [answers[slot] for answers in others if slot in answers]
            gold = None if not given else _usual(given, slot) if slot in spaces.SETS else float(np.mean(given))
            yield _row(item, slot, _plain(mine.get(slot)), gold, place)


def _usual(given: Sequence[Sequence[str]], slot: str) -> tuple[str, ...]:
    """Labels that half or more of the others chose; few labels have more than half of four people, most sets none."""
    return tuple(label for label in spaces.SETS[slot].ids if 2 * sum(label in one for one in given) >= len(given))


def _plain(answer: Any) -> Any:
    return tuple(answer) if isinstance(answer, list) else answer


def _row(item: Item, slot: str, answer: Any, gold: Any, place: int) -> Prediction:
    outcome = "ok" if answer is not None else "empty"
    return Prediction(item.id, item.cluster, slot, outcome, answer, gold, repeat=place)


def row(
    items: Sequence[Item],
    names: Sequence[str],
    how: Interval,
    *,
    loo: bool = False,
    answered: Container[tuple[str, str]] | None = None,
) -> dict[str, Estimate]:
    """Figures of observers on some stories.

    Args:
        items: Stories with observers.
        names: Which figures of :func:`~affectlab.benchmarks.care.measures.node_measures`.
        how: How intervals are made.
        loo: Against the other observers instead of the writer.
        answered: Items and slots that the model beside them answered. Figures that leave unread answers out are over
            these alone, as the model's are; in the others an unread answer is wrong, and observers stand on all.
    """
    made = against_others if loo else against_writer
    rows = [prediction for item in items for prediction in made(item)]
    read = [one for one in rows if answered is None or (one.item, one.slot) in answered]
    found: dict[str, Estimate] = {}
    for some, leaving in ((read, True), (rows, False)):
        size = {item.id: len(item.inputs["observers"]) for item in items}
        weight = np.array([1 / size[prediction.item] for prediction in some])
        made_of = node_measures(PredictionTable.from_rows(some), "s", weight)
        found |= estimates(made_of, [name for name in names if (name in made_of.leaving_out) == leaving], how)
    return {name: found[name] for name in names}
