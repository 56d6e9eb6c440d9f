"""Lettered options: in which order they are shown, and how that order is balanced over items."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from string import ascii_uppercase
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from affectlab.benchmarks.base import Order
from affectlab.items import Item
from affectlab.metrics.predictions import Prediction, PredictionTable
from affectlab.models.base import Response
from affectlab.reading import Outcome, Reading


def variants(order: Order, n_options: int) -> tuple[str, ...]:
    """Names of the presentations one item gets: every cyclic order under ``all``, else one without a name."""
    return tuple(f"order={shift}" for shift in range(n_options)) if order == "all" else ("",)


@lru_cache(maxsize=4096)
def arrange(options: tuple[str, ...], order: Order, variant: str, place: int, gold: str | None) -> Mapping[str, str]:
    """Options by letter, in the order shown.

    Only cyclic orders are used, so neighbours stay neighbours. Under ``rotate`` the gold option stands at ``place``
    (modulo the number of options); without gold the list is turned by ``place`` instead. Under ``all`` the list is
    turned by the variant's number, under ``fixed`` it is shown as declared.

    Args:
        options: Label ids in declared order.
        order: The run's setting.
        variant: One of :func:`variants`.
        place: Where the gold option goes under ``rotate``; a function of the item's index, never of its text.
        gold: The right label id, or ``None`` when unknown.

    Returns:
        Letter -> label id, from ``"A"``. Remembered, as a run asks for the same few arrangements over and over.
    """
    n = len(options)
    if order == "fixed":
        first = 0
    elif order == "all":
        first = int(variant.removeprefix("order="))
    elif gold is None:
        first = place % n
    else:
        first = (options.index(gold) - place) % n
    turned = [*options[first:], *options[:first]]
    return MappingProxyType(dict(zip(ascii_uppercase, turned, strict=False)))


def lines(options: Mapping[str, str]) -> str:
    """Options as the prompt shows them, one a line."""
    return "\n".join(f"{letter}. {label}" for letter, label in options.items())


def letter_of(shown: Mapping[str, str], label: str) -> str:
    """The letter under which a label was shown."""
    return next(letter for letter, option in shown.items() if option == label)


def chosen(
    item: Item,
    slot: str,
    variant: str,
    shown: Mapping[str, str],
    reading: Reading,
    detail: Mapping[str, Any] | None = None,
) -> Prediction:
    """The prediction of a slot whose answer is one of the options shown; the reading's value is a letter."""
    gold = item.gold.get(slot)
    place = next((letter for letter, label in shown.items() if label == gold), None)
    return Prediction(
        item=item.id,
        cluster=item.cluster,
        slot=slot,
        outcome=reading.outcome.value,
        value=shown[reading.value] if reading.ok else None,
        gold=gold,
        variant=variant,
        position=list(shown).index(reading.value) if reading.ok else None,
        slices={**item.slices, **({"gold_position": place} if place else {})},
        flags=reading.flags,
        detail=detail or {},
    )


def same_in_all_orders(table: PredictionTable) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Whether what was asked in several orders got the same answer, and a readable one, in all of them.

    Returns:
        A row of each slot of an item (and repeat), and whether it was so [G each]; none where there is one order.
    """
    group, first = table.groups("item", "slot", "repeat")
    if len(set(table.variant.codes.tolist())) < 2:
        return first[:0], np.zeros(0, dtype=bool)
    value = np.where(table.outcome.equals("ok"), table.value.codes, -1)
    lowest = np.full(len(first), np.iinfo(np.int32).max)
    highest = np.full(len(first), -1)
    np.minimum.at(lowest, group, value)
    np.maximum.at(highest, group, value)
    return first, (lowest == highest) & (lowest >= 0)


def most_likely(response: Response, shown: Mapping[str, str]) -> tuple[Reading, dict[str, Any]]:
    """The option with the highest summed log-probability, and every option's score by label.

    Scores are kept raw and per token; the choice is by the raw sum. Two equally likely options are ambiguous, never a
    guess.

    Args:
        response: Of a request whose options were scored in the order shown.
        shown: Options by letter.

    Returns:
        The reading (its value a letter) and what to keep beside it.
    """
    scores = response.logprobs
    if scores is None or len(scores) != len(shown):
        return Reading(Outcome.EMPTY, evidence="no log-probabilities"), {}
    tokens = response.option_tokens or (1,) * len(scores)
    detail = {
        "logprobs": dict(zip(shown.values(), scores, strict=True)),
        "logprobs_per_token": {
            label: score / max(count, 1) for label, score, count in zip(shown.values(), scores, tokens, strict=True)
        },
    }
    best = max(scores)
    winners = [letter for letter, score in zip(shown, scores, strict=True) if score == best]
    if len(winners) > 1:
        return Reading(Outcome.AMBIGUOUS, flags=("tie",), evidence=", ".join(winners)), detail
    return Reading(Outcome.OK, winners[0]), detail
