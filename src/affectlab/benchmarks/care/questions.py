"""One question of CAREBench as a request, and the predictions its response makes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import exp
from typing import Any

from affectlab.benchmarks.base import Answered, Asking
from affectlab.benchmarks.care import prompts, spaces
from affectlab.benchmarks.choices import most_likely
from affectlab.benchmarks.yes_no import TOKENS, log_odds
from affectlab.items import Item
from affectlab.metrics.predictions import Prediction
from affectlab.models.base import Message, Request, Response
from affectlab.reading import LabelSet, Outcome, Reading, Scale, read_label_set, read_likert, read_text

MAX_TOKENS = {"rated": 24, "set": 96, "core": 96}
OF_SET = ":"
"""Between a label set and one of its labels, in the step of a request that scores the label."""
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


def asked(
    item: Item, slots: Iterable[str], situation: Situation, asking: Asking, *, by_likelihood: bool = False
) -> list[Request]:
    """The requests of several questions: one each, by likelihood one for each label of a label set."""
    steps: list[str] = []
    for slot in slots:
        if by_likelihood and slot in spaces.SETS:
            steps += [f"{slot}{OF_SET}{label}" for label in spaces.SETS[slot].ids]
        else:
            steps.append(slot)
    return [ask(item, step, situation, asking, by_likelihood=by_likelihood) for step in steps]


def slot_of(step: str) -> str:
    """The slot that a request's step is about."""
    return step.partition(OF_SET)[0]


def ask(item: Item, step: str, situation: Situation, asking: Asking, *, by_likelihood: bool = False) -> Request:
    """The request of one question; its step is the slot, or names one label of a set that is scored by likelihood."""
    slot, _, label = step.partition(OF_SET)
    statements = item.inputs.get("statements", {})
    question = prompts.label_question(slot, label) if label else prompts.question(slot, statements)
    text = prompts.SITUATION.fill(situation=situation.text) + situation.before + question
    kind = "core" if slot in spaces.CORE else "set" if slot in spaces.SETS else "rated"
    options: tuple[str, ...] = ()
    if by_likelihood:
        options = TOKENS if label else tuple(f" {one.names['en']}" for one in spaces.scale_of(slot))
    return Request(
        item=item.id,
        step=step,
        messages=(Message("user", text),),
        prefill=prompts.ANSWER_PREFIX if options else "",
        options=options,
        sampling=asking.sampling(MAX_TOKENS[kind]),
        variant=situation.variant,
    )


def read_all(
    item: Item,
    answered: Answered,
    gold_of: Callable[[str, str], Any],
    flags_of: Callable[[str, str], Sequence[str]] = lambda variant, slot: (),
) -> list[Prediction]:
    """Predictions from all responses to an item.

    A label set whose labels were scored one by one is a prediction as soon as all of them are there: the labels whose
    Yes is more probable than their No. One label that cannot be read leaves the set unread.

    Args:
        item: The item.
        answered: Responses by variant and step.
        gold_of: From variant and slot to the right answer.
        flags_of: From variant and slot to what to note besides what reading notices.
    """
    found: list[Prediction] = []
    sets: dict[tuple[str, str], dict[str, Response]] = defaultdict(dict)
    for (variant, step), response in answered.items():
        slot, _, label = step.partition(OF_SET)
        if label:
            sets[variant, slot][label] = response
        else:
            found += read(item, (variant, slot), response, gold_of(variant, slot), flags_of(variant, slot))
    for (variant, slot), by_label in sets.items():
        labels = spaces.SETS[slot].ids
        if all(label in by_label for label in labels):
            reading, detail = _scored_set({label: by_label[label] for label in labels})
            flags = (*reading.flags, *flags_of(variant, slot))
            found.append(_prediction(item, (variant, slot), reading, gold_of(variant, slot), flags, detail))
    return found


def _scored_set(by_label: Mapping[str, Response]) -> tuple[Reading, dict[str, Any]]:
    readings = {label: log_odds(response) for label, response in by_label.items()}
    detail = {"log_odds": {label: told.get("log_odds") for label, (_, told) in readings.items()}}
    if unread := next((reading for reading, _ in readings.values() if not reading.ok), None):
        return unread, detail
    flags = dict.fromkeys(flag for reading, _ in readings.values() for flag in reading.flags)
    chosen = tuple(label for label, (reading, _) in readings.items() if reading.value)
    return Reading(Outcome.OK, chosen, tuple(flags)), detail


def _prediction(
    item: Item, asked: tuple[str, str], reading: Reading, gold: Any, flags: Iterable[str], detail: Mapping[str, Any]
) -> Prediction:
    variant, slot = asked
    return Prediction(
        item=item.id,
        cluster=item.cluster,
        slot=slot,
        outcome=reading.outcome.value,
        value=reading.value if reading.ok else None,
        gold=gold,
        variant=variant,
        slices=item.slices,
        flags=tuple(flags),
        detail=detail,
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
    detail: dict[str, Any] = {}
    if response.logprobs is not None:
        answers = _scored(slot, response)
    elif slot in spaces.CORE:
        answers = [(slot, read_text(response.text, finish=response.finish, in_person=True), detail)]
    elif slot in spaces.SETS:
        answers = [(slot, read_label_set(response.text, label_set(slot), finish=response.finish), detail)]
    else:
        answers = [(slot, read_likert(response.text, scale(slot), finish=response.finish), detail)]
    return [
        _prediction(item, (variant, name), reading, gold, (*reading.flags, *flags), told)
        for name, reading, told in answers
    ]


def _scored(slot: str, response: Response) -> list[tuple[str, Reading, dict[str, Any]]]:
    levels = {label.id: label.level or 0 for label in spaces.scale_of(slot)}
    shown = dict(zip(map(str, range(len(levels))), levels, strict=True))
    reading, detail = most_likely(response, shown)
    choice = replace(reading, value=levels[shown[reading.value]]) if reading.ok else reading
    mean = reading
    if detail:  # defined even where two options tie
        mean = Reading(Outcome.OK, mean_level(list(levels.values()), response.logprobs or ()))
    return [(slot, choice, dict(detail)), (spaces.expected(slot), mean, {})]


def mean_level(levels: Sequence[int], logprobs: Sequence[float]) -> float:
    """Mean of a scale under option log-probabilities normalised over the options."""
    highest = max(logprobs)
    weights = [exp(score - highest) for score in logprobs]
    return sum(level * weight for level, weight in zip(levels, weights, strict=True)) / sum(weights)


def reply(request: Request, value: Any) -> Response:
    """The response of a model that answers ``value``."""
    slot, _, label = request.step.partition(OF_SET)
    if label:
        logprobs = tuple(-2.0 if (token.strip().lower() == "yes") == (label in value) else -30.0 for token in TOKENS)
        return Response(text=None, finish="scored", logprobs=logprobs, option_tokens=(1,) * len(TOKENS))
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


def slots_of(asked: str) -> tuple[str, ...]:
    """Slots of a question group: ``"a"`` for the ratings, ``"e"`` for the feelings."""
    return spaces.DIMENSIONS if asked == "a" else (*spaces.LEVELS, *spaces.SETS)
