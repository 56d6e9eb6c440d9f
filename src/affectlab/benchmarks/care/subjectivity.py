"""RQ4: do a model's answers spread as observers' do?

Source: CAREBench (arXiv 2605.17176), RQ4: repeated sampling at temperature 0.7 (``subjective``), with an observer's
persona, with an observer's core reasoning, with both. The published code holds none of it; what is drawn how often is
our choice: as many draws as the story has observers, so that both samples are equally large.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from affectlab.benchmarks.base import Answered, Asking
from affectlab.benchmarks.care import prompts, questions, spaces
from affectlab.benchmarks.care.nodes import situation
from affectlab.benchmarks.care.questions import Situation
from affectlab.errors import UserError
from affectlab.items import Item
from affectlab.metrics.predictions import Prediction
from affectlab.models.base import Ability, Request, Response

TEMPERATURE = 0.7
"""The paper's, used unless the run sets one; 0 is refused, as greedy draws would all be the same."""

DRAW = "draw="


@dataclass(frozen=True)
class Subjective:
    """The 22 ratings, drawn once for each observer.

    Attributes:
        name: What the user types.
        summary: For lists.
        persona: Whether a draw is told who the observer is.
        reasoning: Whether a draw is given the observer's reasoning.
    """

    name: str
    summary: str
    persona: bool = False
    reasoning: bool = False
    needs: frozenset[Ability] = frozenset({Ability.GENERATE})

    def requests(self, item: Item, asking: Asking, answered: Answered) -> Sequence[Request]:
        """22 requests for each observer; none for a story without observers."""
        return [
            self._drawn(questions.ask(item, slot, self._told(item, place), asking), asking, place)
            for place in range(len(item.inputs.get("observers", ())))
            for slot in spaces.DIMENSIONS
        ]

    def _drawn(self, request: Request, asking: Asking, place: int) -> Request:
        return replace(request, sampling=replace(request.sampling, seed=asking.seed * 1000 + place))

    def _told(self, item: Item, place: int) -> Situation:
        observer = item.inputs["observers"][place]
        before = ""
        if self.persona:
            before = prompts.PERSON.fill(facts=prompts.listed(_held(item, observer, "persona")))
        text = _held(item, observer, "woven") if self.reasoning else situation(item, "s")
        return Situation(text, f"{DRAW}{place}", before)

    def read(self, item: Item, asking: Asking, answered: Answered) -> Sequence[Prediction]:
        """One prediction a draw and dimension; its gold is the observers' distribution, level -> share."""
        return questions.read_all(item, answered, lambda _, slot: distribution(item, slot))

    def ideal_reply(self, item: Item, request: Request, answer: Mapping[str, Any], asking: Asking) -> Response:
        """The rating of the observer whose draw it is."""
        place = int(request.variant.removeprefix(DRAW))
        return questions.reply(request, item.inputs["observers"][place]["answers"][request.step])


def _held(item: Item, observer: Mapping[str, Any], name: str) -> Any:
    if not observer[name]:
        what = {"persona": "persona", "woven": "reasoning"}[name]
        raise UserError(
            f"Record {item.id!r}: observer {observer['id']!r} has no {what}, which this protocol gives. "
            "Ask with --protocol subjective."
        )
    return observer[name]


def ratings(item: Item, dimension: str) -> list[int]:
    """Observers' ratings of a dimension, as far as there are any."""
    answers = (observer["answers"].get(dimension) for observer in item.inputs.get("observers", ()))
    return [rating for rating in answers if rating is not None]


def distribution(item: Item, dimension: str) -> dict[str, float] | None:
    """Share of observers at each level that one of them chose; ``None`` without ratings."""
    rated = ratings(item, dimension)
    return {str(level): rated.count(level) / len(rated) for level in sorted(set(rated))} or None


SAMPLED = (
    Subjective("subjective", "RQ4: one draw for each observer at temperature 0.7"),
    Subjective("subjective-persona", "RQ4: each draw told an observer's persona", persona=True),
    Subjective("subjective-reasoning", "RQ4: each draw given an observer's reasoning", reasoning=True),
    Subjective("subjective-both", "RQ4: persona and reasoning", persona=True, reasoning=True),
)
"""Protocols of RQ4."""
