"""RQ3: the story stays, the reasoning changes from the writer's to an observer's. Does the answer move as people's do?

Source: CAREBench (arXiv 2605.17176), RQ3: for each dimension, samples whose first- and third-person ratings lie on
opposite sides of the scale's midpoint; the model's shift is correlated with the human one. Which samples those are is
decided here from the ratings, as the published code does not hold the rule.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from affectlab.benchmarks.base import Answered, Asking
from affectlab.benchmarks.care import questions, spaces
from affectlab.benchmarks.care.nodes import situation
from affectlab.benchmarks.care.questions import Situation
from affectlab.items import Item
from affectlab.metrics.predictions import Prediction
from affectlab.models.base import Ability, Request, Response

WRITER = "writer"
"""Presentation with the writer's own reasoning; the others are named ``observer=ID``."""

OBSERVER = "observer="


def opposite(first: Any, third: Any, midpoint: float = spaces.MIDPOINT) -> bool:
    """Whether two ratings lie on opposite sides of the midpoint; the midpoint itself is on no side."""
    if first is None or third is None:
        return False
    return bool((first - midpoint) * (third - midpoint) < 0)


def selected(item: Item) -> dict[str, tuple[str, ...]]:
    """Observers with a counterfactual rating and reasoning to give, and the dimensions in which they have one."""
    found: dict[str, tuple[str, ...]] = {}
    for observer in item.inputs.get("observers", ()):
        dimensions = tuple(
            dimension
            for dimension in spaces.DIMENSIONS
            if opposite(item.gold.get(dimension), observer["answers"].get(dimension))
        )
        if dimensions and observer["woven"]:
            found[observer["id"]] = dimensions
    return found


@dataclass(frozen=True)
class Counterfactual:
    """Selected ratings and all feelings, once with the writer's reasoning and once with each observer's."""

    name: str
    summary: str
    by_likelihood: bool = False

    @property
    def needs(self) -> frozenset[Ability]:
        """Scoring, or generation."""
        return frozenset({Ability.SCORE if self.by_likelihood else Ability.GENERATE})

    def requests(self, item: Item, asking: Asking, answered: Answered) -> Sequence[Request]:
        """None for a story on which no observer lies on the other side of any midpoint."""
        chosen = selected(item)
        if not chosen:
            return []
        any_of = {dimension for dimensions in chosen.values() for dimension in dimensions}
        told = [(Situation(situation(item, "s+r"), WRITER), [d for d in spaces.DIMENSIONS if d in any_of])]
        told += [
            (Situation(observer["woven"], OBSERVER + observer["id"]), list(chosen[observer["id"]]))
            for observer in item.inputs["observers"]
            if observer["id"] in chosen
        ]
        feelings = questions.slots_of("e")
        return [
            request
            for one, dimensions in told
            for request in questions.asked(
                item, (*dimensions, *feelings), one, asking, by_likelihood=self.by_likelihood
            )
        ]

    def read(self, item: Item, asking: Asking, answered: Answered) -> Sequence[Prediction]:
        """One prediction a slot and presentation; its gold is what the person whose reasoning was given answered."""
        return questions.read_all(item, answered, lambda variant, slot: answer_of(item, variant, slot))

    def ideal_reply(self, item: Item, request: Request, answer: Mapping[str, Any], asking: Asking) -> Response:
        """What the person whose reasoning is given answered; ``answer`` where it is the writer's."""
        slot = questions.slot_of(request.step)
        told = answer[slot] if request.variant == WRITER else answer_of(item, request.variant, slot)
        return questions.reply(request, told)


def answer_of(item: Item, variant: str, slot: str) -> Any:
    """A person's own answer: the writer's, or that of the observer a presentation names; ``None`` without one."""
    if variant == WRITER:
        return item.gold.get(slot)
    wanted = variant.removeprefix(OBSERVER)
    observer = next(one for one in item.inputs["observers"] if one["id"] == wanted)
    answer = observer["answers"].get(slot)
    return tuple(answer) if isinstance(answer, list) else answer


SHIFTED = (
    Counterfactual("counterfactual", "RQ3: r of the writer against r of observers on the other side, s fixed"),
    Counterfactual("counterfactual-likelihood", "RQ3 by likelihood", by_likelihood=True),
)
"""Protocols of RQ3."""
