"""How a decision is put to a model, and how its choice is read.

``choice`` is the paper's main way (greedy, no reasoning), ``cot`` its reasoned one. ``likelihood`` scores the option
letters in the place of generating one. ``thinking`` asks as ``choice`` does and leaves room for a model that thinks
before it speaks. Under all of them reasoning is kept apart from the answer.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from affectlab.benchmarks.base import Answered, Asking
from affectlab.benchmarks.choices import arrange, letter_of, lines, most_likely, variants
from affectlab.benchmarks.decisions import lexicon, prompts
from affectlab.benchmarks.decisions.record import SLOT, values_of, ys
from affectlab.items import Item
from affectlab.metrics.predictions import Prediction
from affectlab.models.base import Ability, Message, Request, Response
from affectlab.reading import Reading, prepare, read_choice

STEP = "choice"
_ANSWER = re.compile(r"^[^\w\n]*(?:final\s+)?(?:answer|答案)[^\w\n]*:", re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True)
class Decide:
    """One question with lettered options."""

    name: str
    summary: str
    way: Literal["direct", "reasoned", "scored"]
    max_tokens: int = 48

    @property
    def needs(self) -> frozenset[Ability]:
        """Scoring, or generation."""
        return frozenset({Ability.SCORE if self.way == "scored" else Ability.GENERATE})

    def requests(self, item: Item, asking: Asking, answered: Answered) -> Sequence[Request]:
        """One request per option order."""
        return [self._request(item, asking, variant) for variant in variants(asking.order, len(values_of(item)))]

    def _request(self, item: Item, asking: Asking, variant: str) -> Request:
        shown = options(item, asking, variant)
        frame = prompts.frame(item)
        system = f"{frame.task}\n{frame.reasoned if self.way == 'reasoned' else frame.direct}"
        image = item.inputs.get("image")
        scored = self.way == "scored"
        return Request(
            item=item.id,
            step=STEP,
            messages=(
                Message("system", system),
                Message("user", prompts.story(item, lines(_texts(item, shown))), (image,) if image else ()),
            ),
            prefill=frame.answer if scored else "",
            options=tuple(f"{frame.gap}{letter}" for letter in shown) if scored else (),
            sampling=asking.sampling(self.max_tokens),
            variant=variant,
        )

    def read(self, item: Item, asking: Asking, answered: Answered) -> Sequence[Prediction]:
        """One prediction per answered request."""
        words = lexicon.load(asking.options.get("lexicon", ""))
        return [self._read(item, asking, variant, response, words) for (variant, _), response in answered.items()]

    def _read(self, item: Item, asking: Asking, variant: str, response: Response, words: lexicon.Lexicon) -> Prediction:
        shown = options(item, asking, variant)
        detail: dict[str, Any]
        if self.way == "scored":
            reading, detail = most_likely(response, shown)
            detail = {**detail, "logprobs": _by_text(item, detail.get("logprobs", {}))} if detail else {}
            detail.pop("logprobs_per_token", None)
        else:
            reading = read_choice(response.text, _texts(item, shown), finish=response.finish)
            detail = _reasoned(response, words, before_answer=self.way == "reasoned")
        return _prediction(item, variant, shown, reading, detail)

    def ideal_reply(self, item: Item, request: Request, answer: Mapping[str, Any], asking: Asking) -> Response:
        """The reply of a model that chooses the option with a given ``y``; the first one shown when none is given."""
        shown = options(item, asking, request.variant)
        amounts = dict(zip(map(str, range(len(ys(item)))), ys(item), strict=True))
        wanted = answer.get(SLOT)
        letter = next(letter for letter, key in shown.items() if wanted is None or amounts[key] == wanted)
        if self.way == "scored":
            logprobs = tuple(0.0 if key == letter else -30.0 for key in shown)
            return Response(text=None, finish="scored", logprobs=logprobs, option_tokens=(1,) * len(shown))
        return Response(text=f"ANSWER: {letter_of(shown, shown[letter])}")


def options(item: Item, asking: Asking, variant: str) -> Mapping[str, str]:
    """The options shown: letter -> number of the option, from 0 by ascending value."""
    count = len(values_of(item))
    # The sum turns the options of every role in turn, also where roles alternate and their number shares a factor with
    # that of the options.
    place = item.index + item.index // count + item.index // count**2
    return arrange(tuple(map(str, range(count))), asking.order, variant, place, None)


def _texts(item: Item, shown: Mapping[str, str]) -> dict[str, str]:
    return {letter: str(item.inputs["options"][int(number)]["text"]) for letter, number in shown.items()}


def _by_text(item: Item, scores: Mapping[str, float]) -> dict[str, float]:
    return {str(item.inputs["options"][int(number)]["text"]): score for number, score in scores.items()}


def _prediction(
    item: Item, variant: str, shown: Mapping[str, str], reading: Reading, detail: Mapping[str, Any]
) -> Prediction:
    amounts = ys(item)
    number = int(shown[reading.value]) if reading.ok else None
    chosen = {} if number is None else dict(item.inputs["options"][number])
    return Prediction(
        item=item.id,
        cluster=item.cluster,
        slot=SLOT,
        outcome=reading.outcome.value,
        value=None if number is None else amounts[number],
        gold=None,
        variant=variant,
        position=list(shown).index(reading.value) if reading.ok else None,
        slices={**item.slices, "y_min": f"{min(amounts):.15g}", "y_max": f"{max(amounts):.15g}"},
        flags=reading.flags,
        detail={**({"option": chosen["text"], "value": chosen["value"]} if chosen else {}), **detail},
    )


def _reasoned(response: Response, words: lexicon.Lexicon, *, before_answer: bool) -> dict[str, Any]:
    """What was reasoned, how long it is, and how many affective words it has; empty where nothing was."""
    prepared = prepare(response.text, response.finish)
    thought = [response.reasoning or "", prepared.reasoning]
    if before_answer:
        marks = list(_ANSWER.finditer(prepared.text))
        thought.append(prepared.text[: marks[-1].start()] if marks else prepared.text)
    reasoning = "\n".join(part.strip() for part in thought if part.strip())
    if not reasoning:
        return {}
    return {
        "reasoning": reasoning,
        "reasoning_words": lexicon.count_words(reasoning),
        "affective": words.count(reasoning),
    }


PROTOCOLS = {
    protocol.name: protocol
    for protocol in (
        Decide("choice", "lettered options, one answer line (the paper's)", "direct"),
        Decide("likelihood", "lettered options, their letters scored by log-probability", "scored"),
        Decide("cot", "as choice, with reasoning before the answer line (the paper's CoT)", "reasoned", 512),
        Decide("thinking", "as choice, with room for a model that thinks before it answers", "direct", 2048),
    )
}
