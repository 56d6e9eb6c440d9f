"""One question of CAREBench as a request, and the predictions its response makes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import exp
from typing import Any

from affectlab.benchmarks.base import Asking
from affectlab.benchmarks.care import prompts, spaces
from affectlab.benchmarks.choices import most_likely
from affectlab.items import Item
from affectlab.metrics.predictions import Prediction
from affectlab.models.base import Message, Request, Response
from affectlab.reading import LabelSet, Outcome, Reading, Scale, read_label_set, read_likert, read_text

MAX_TOKENS = {"rated": 24, "set": 96, "core": 96}
IMPOSSIBLE = -1000.0
"""Log-probability of what an ideal model never says: its probability is exactly 0 in double precision."""


@dataclass(frozen=True, slots=True)
class Situation:
    """What is told before a question, and under which name it is asked.

    Attributes:
        text: The story and what is given with it.
        variant: Name of this presentation; empty if only one.
        before: What stands before the situation's question (who answers).
    """

    text: str
    variant: str = ""
    before: str = ""


@lru_cache(maxsize=64)
def scale(slot: str) -> Scale:
    """A rated slot's scale as the reader takes it."""
    return Scale({label.level or 0: label.forms for label in spaces.scale_of(slot)})


@lru_cache(maxsize=4)
def label_set(slot: str) -> LabelSet:
    """A label set as the reader takes it."""
    labels = spaces.SETS[slot]
    return LabelSet(labels.forms(), {label.id: label.members for label in labels})


def ask(item: Item, slot: str, situation: Situation, asking: Asking, *, by_likelihood: bool = False) -> Request:
    """The request of one question; its step is the slot."""
    statements = item.inputs.get("statements", {})
    text = prompts.SITUATION.fill(situation=situation.text) + situation.before + prompts.question(slot, statements)
    kind = "core" if slot in spaces.CORE else "set" if slot in spaces.SETS else "rated"
    scored = by_likelihood and kind == "rated"
    return Request(
        item=item.id,
        step=slot,
        messages=(Message("user", text),),
        prefill=prompts.ANSWER_PREFIX if scored else "",
        options=tuple(f" {label.names['en']}" for label in spaces.scale_of(slot)) if scored else (),
        sampling=asking.sampling(MAX_TOKENS[kind]),
        variant=situation.variant,
    )


def read(
    item: Item, request: tuple[str, str], response: Response, gold: Any, flags: Iterable[str] = ()
) -> list[Prediction]:
    """Predictions from a response: the answer, and for scored options the mean of the scale beside it.

    Args:
        item: The item.
        request: Variant and slot.
        response: What came back.
        gold: The right answer, or ``None``.
        flags: What to note besides what reading notices.
    """
    variant, slot = request

    def made(slot: str, reading: Reading, value: Any, detail: Mapping[str, Any]) -> Prediction:
        return Prediction(
            item=item.id,
            cluster=item.cluster,
            slot=slot,
            outcome=reading.outcome.value,
            value=value if reading.ok else None,
            gold=gold,
            variant=variant,
            slices=item.slices,
            flags=(*reading.flags, *flags),
            detail=detail,
        )

    if response.logprobs is not None:
        return _scored(slot, response, made)
    if slot in spaces.CORE:
        reading = read_text(response.text, finish=response.finish, in_person=True)
    elif slot in spaces.SETS:
        reading = read_label_set(response.text, label_set(slot), finish=response.finish)
    else:
        reading = read_likert(response.text, scale(slot), finish=response.finish)
    return [made(slot, reading, reading.value, {})]


def _scored(slot: str, response: Response, made: Any) -> list[Prediction]:
    levels = {label.id: label.level or 0 for label in spaces.scale_of(slot)}
    shown = dict(zip(map(str, range(len(levels))), levels, strict=True))
    reading, detail = most_likely(response, shown)
    found = [made(slot, reading, levels[shown[reading.value]] if reading.ok else None, detail)]
    if detail:
        # Defined even where two options tie.
        mean = mean_level(list(levels.values()), response.logprobs or ())
        found.append(made(spaces.expected(slot), Reading(Outcome.OK, mean), mean, {}))
    else:
        found.append(made(spaces.expected(slot), reading, None, {}))
    return found


def mean_level(levels: Sequence[int], logprobs: Sequence[float]) -> float:
    """Mean of a scale under option log-probabilities normalised over the options."""
    highest = max(logprobs)
    weights = [exp(score - highest) for score in logprobs]
    return sum(level * weight for level, weight in zip(levels, weights, strict=True)) / sum(weights)


def reply(request: Request, value: Any) -> Response:
    """The response of a model that answers ``value``."""
    slot = request.step
    if request.options:
        levels = [label.level for label in spaces.scale_of(slot)]
        logprobs = tuple(0.0 if level == value else IMPOSSIBLE for level in levels)
        return Response(text=None, finish="scored", logprobs=logprobs, option_tokens=(1,) * len(levels))
    if slot in spaces.CORE:
        return Response(text=str(value))
    if slot in spaces.SETS:
        names = [spaces.SETS[slot].name_of(label) for label in value]
        return Response(text="; ".join(names) or "None")
    space = spaces.scale_of(slot)
    return Response(text=space.name_of(space.at_level(int(value))))


def slots_of(asked: str, *, by_likelihood: bool) -> tuple[str, ...]:
    """Slots of a question group: ``"a"`` for the ratings, ``"e"`` for the feelings; by likelihood without label
    sets."""
    if asked == "a":
        return spaces.DIMENSIONS
    return tuple(spaces.LEVELS) if by_likelihood else (*spaces.LEVELS, *spaces.SETS)
