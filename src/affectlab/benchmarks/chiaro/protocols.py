"""How a Chiaro scene is put to a model, and how its replies are read.

``joint`` is the paper's (§4, Appendix K). The others vary one thing each: one agent a call (``separate``), no
generation (``likelihood``), reasoning first (``joint-cot``), all ten emotions (``open``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from affectlab.benchmarks.base import Answered, Asking
from affectlab.benchmarks.chiaro import prompts
from affectlab.benchmarks.choices import arrange, chosen, letter_of, lines, most_likely, variants
from affectlab.errors import UserError
from affectlab.items import Item
from affectlab.labels import load
from affectlab.metrics.predictions import Prediction
from affectlab.models.base import Ability, Message, Request, Response
from affectlab.reading import read_agents, read_choice

SLOTS = ("A", "B")
EMOTIONS = load("chiaro10")
OPPOSITE = {"positive": "negative", "negative": "positive"}
POLARITY = {emotion: group for group in EMOTIONS.groups for emotion in EMOTIONS.by_group(group)}
OFFERED = {group: EMOTIONS.by_group(group) for group in EMOTIONS.groups}


def polarity(item: Item, slot: str) -> str:
    """Polarity of an agent's emotion: of its gold, else stated in the data, else opposite to the other agent's.

    Raises:
        UserError: When none of these is known.
    """
    for name, turn in ((slot, False), ("B" if slot == "A" else "A", True)):
        gold = item.gold.get(name)
        known = POLARITY[str(gold)] if gold is not None else item.inputs.get(f"polarity_{name}")
        if known:
            return OPPOSITE[known] if turn else known
    raise UserError(
        f"Scene {item.id!r} has neither gold nor agent_a_polarity, so its five options are unknown. "
        "Add agent_a_polarity (positive or negative) to the data, "
        "or use --protocol open, which offers all ten emotions."
    )


def options(item: Item, slot: str, asking: Asking, variant: str, *, all_ten: bool = False) -> Mapping[str, str]:
    """The options shown for one agent, letter -> emotion.

    Correct letters rotate over scenes as in the paper; agent B's turns at another pace than agent A's, so that over
    25 scenes every pair of letters is right once.
    """
    offered = EMOTIONS.ids if all_ten else OFFERED[polarity(item, slot)]
    n = len(offered)
    place = item.index % n if slot == "A" else (item.index + item.index // n) % n
    gold = item.gold.get(slot)
    return arrange(offered, asking.order, variant, place, None if gold is None else str(gold))


@dataclass(frozen=True)
class Joint:
    """Both agents in one call, two answer lines."""

    name: str
    summary: str
    system: str
    max_tokens: int
    all_ten: bool = False
    needs: frozenset[Ability] = frozenset({Ability.GENERATE})

    def requests(self, item: Item, asking: Asking, answered: Answered) -> Sequence[Request]:
        """One request per option order."""
        return [self._request(item, asking, variant) for variant in variants(asking.order, self._n())]

    def _n(self) -> int:
        return len(EMOTIONS.ids) if self.all_ten else len(OFFERED["positive"])

    def _request(self, item: Item, asking: Asking, variant: str) -> Request:
        shown = {slot: options(item, slot, asking, variant, all_ten=self.all_ten) for slot in SLOTS}
        user = prompts.JOINT_USER.fill(
            sentence=item.inputs["sentence"],
            role_a=item.inputs["role_A"],
            options_a=lines(shown["A"]),
            role_b=item.inputs["role_B"],
            options_b=lines(shown["B"]),
        )
        return Request(
            item=item.id,
            step="joint",
            messages=(Message("system", self.system), Message("user", user)),
            sampling=asking.sampling(self.max_tokens),
            variant=variant,
        )

    def read(self, item: Item, asking: Asking, answered: Answered) -> Sequence[Prediction]:
        """Two predictions per answered request."""
        predictions = []
        for (variant, _step), response in answered.items():
            shown = {slot: options(item, slot, asking, variant, all_ten=self.all_ten) for slot in SLOTS}
            names = {slot: (f"agent {slot.lower()}", str(item.inputs[f"role_{slot}"])) for slot in SLOTS}
            readings = read_agents(response.text, shown, names=names, finish=response.finish)
            predictions += [chosen(item, slot, variant, shown[slot], readings[slot]) for slot in SLOTS]
        return predictions

    def ideal_reply(self, item: Item, request: Request, answer: Mapping[str, Any], asking: Asking) -> Response:
        """The two answer lines for given emotions."""
        shown = {slot: options(item, slot, asking, request.variant, all_ten=self.all_ten) for slot in SLOTS}
        letters = {slot: letter_of(shown[slot], answer[slot]) for slot in SLOTS}
        return Response(text="\n".join(f"AGENT {slot}: {letters[slot]}" for slot in SLOTS))


@dataclass(frozen=True)
class Separate:
    """One agent a call: answered by generating, or by scoring the option letters."""

    name: str
    summary: str
    by_likelihood: bool
    max_tokens: int = 16

    @property
    def needs(self) -> frozenset[Ability]:
        """Scoring, or generation."""
        return frozenset({Ability.SCORE if self.by_likelihood else Ability.GENERATE})

    def requests(self, item: Item, asking: Asking, answered: Answered) -> Sequence[Request]:
        """One request per agent and option order."""
        orders = variants(asking.order, len(OFFERED["positive"]))
        return [self._request(item, slot, asking, variant) for variant in orders for slot in SLOTS]

    def _request(self, item: Item, slot: str, asking: Asking, variant: str) -> Request:
        shown = options(item, slot, asking, variant)
        user = prompts.SEPARATE_USER.fill(
            sentence=item.inputs["sentence"], role=item.inputs[f"role_{slot}"], options=lines(shown)
        )
        return Request(
            item=item.id,
            step=slot,
            messages=(Message("system", prompts.SEPARATE_SYSTEM), Message("user", user)),
            prefill=prompts.ANSWER_PREFIX if self.by_likelihood else "",
            options=tuple(f" {letter}" for letter in shown) if self.by_likelihood else (),
            sampling=asking.sampling(self.max_tokens),
            variant=variant,
        )

    def read(self, item: Item, asking: Asking, answered: Answered) -> Sequence[Prediction]:
        """One prediction per answered request."""
        predictions = []
        for (variant, slot), response in answered.items():
            shown = options(item, slot, asking, variant)
            detail: dict[str, Any] = {}
            if self.by_likelihood:
                reading, detail = most_likely(response, shown)
            else:
                reading = read_choice(response.text, shown, finish=response.finish)
            predictions.append(chosen(item, slot, variant, shown, reading, detail))
        return predictions

    def ideal_reply(self, item: Item, request: Request, answer: Mapping[str, Any], asking: Asking) -> Response:
        """The answer line, or log-probabilities with all mass on the answer."""
        shown = options(item, request.step, asking, request.variant)
        letter = letter_of(shown, answer[request.step])
        if not self.by_likelihood:
            return Response(text=f"ANSWER: {letter}")
        logprobs = tuple(0.0 if key == letter else -30.0 for key in shown)
        return Response(text=None, finish="scored", logprobs=logprobs, option_tokens=(1,) * len(shown))


PROTOCOLS = {
    protocol.name: protocol
    for protocol in (
        Joint(
            "joint",
            "both agents in one call, five options each, two answer lines (the paper's)",
            prompts.JOINT_SYSTEM,
            32,
        ),
        Separate("separate", "one agent a call, five options", by_likelihood=False),
        Separate("likelihood", "one agent a call, option letters scored by log-probability", by_likelihood=True),
        Joint("joint-cot", "as joint, with reasoning before the two answer lines", prompts.COT_SYSTEM, 512),
        Joint(
            "open",
            "all ten emotions for each agent: shows swapped agents",
            prompts.OPEN_SYSTEM,
            32,
            all_ten=True,
        ),
    )
}
