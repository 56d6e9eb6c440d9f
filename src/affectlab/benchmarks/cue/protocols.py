"""How a CUE-Bench record is put to a model, and how its replies are read.

``direct``, ``few_shot``, ``cot``, ``matrix`` and the three ``oracle-`` protocols are the paper's (section 5,
Appendix G); ``likelihood`` is ours. All but ``matrix`` ask one question a task.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from affectlab.benchmarks.base import Answered, Asking, AskingProtocol
from affectlab.benchmarks.choices import arrange, chosen, letter_of, most_likely, variants
from affectlab.benchmarks.cue import prompts, settings
from affectlab.benchmarks.cue.demonstrations import demonstrations
from affectlab.benchmarks.cue.prompts import ANY_KEY, CHAIN, KEYS, OTHER_KEYS, SPACES
from affectlab.errors import UserError
from affectlab.items import Item
from affectlab.metrics.predictions import Prediction
from affectlab.models.base import Ability, Message, Request, Response
from affectlab.reading import Outcome, Reading, read_json
from affectlab.reading.flags import OTHER_KEY

TASKS = ("stance", "intent", "emotion")
STATED = "stated_stance"
"""Slot of ``matrix`` that holds the stance as the model wrote it; ``stance`` is φ of its two signals."""

SLOTS = (*CHAIN, STATED)
GENERATE = frozenset({Ability.GENERATE})
_FORMS = {slot: space.forms() for slot, space in SPACES.items()}


def order_of(item: Item, slot: str, asking: Asking, variant: str) -> Mapping[str, str]:
    """The labels of a slot in the order shown, by letter (letters are not shown; they name places).

    Under ``rotate`` the list is turned by the item's index whatever the gold. Under ``all`` a variant turns every list
    of a prompt by its number.
    """
    labels = SPACES[slot].ids
    if asking.order == "all":
        variant = f"order={int(variant.removeprefix('order=')) % len(labels)}"
    return arrange(labels, asking.order, variant, item.index, None)


def shown_context(item: Item, asking: Asking) -> str | None:
    """The last turns of the context, as many as the setting says; ``None`` when it says none."""
    turns = [turn for turn in str(item.inputs["context"]).split("\n") if turn.strip()]
    last = settings.window(asking.options)
    if last == 0:
        return None
    return "\n".join(turns if last is None else turns[len(turns) - min(last, len(turns)) :])


@lru_cache(maxsize=4096)
def _question(slot: str, labels: tuple[str, ...], language: settings.Language, reasoned: bool, alone: bool) -> str:
    return prompts.question(slot, labels, language, reasoned=reasoned, alone=alone)


def _turns(
    item: Item,
    task: str,
    asking: Asking,
    variant: str,
    *,
    reasoned: bool = False,
    known: Mapping[str, str] | None = None,
) -> list[Message]:
    """The system turn of one task, and the user turn."""
    language = settings.language(asking.options)
    labels = tuple(order_of(item, task, asking, variant).values())
    context = shown_context(item, asking)
    user = prompts.target(context, item.inputs["text"], language, known)
    system = _question(task, labels, language, reasoned, context is None)
    return [Message("system", system), Message("user", user)]


def _placed(reading: Reading, shown: Mapping[str, str]) -> Reading:
    """A reading of a label as one of the place where it was shown."""
    return replace(reading, value=letter_of(shown, reading.value)) if reading.ok else reading


def _read_slots(response: Response, slots: Sequence[str]) -> dict[str, Reading]:
    found = read_json(response.text, {KEYS[slot]: _FORMS[slot] for slot in slots}, finish=response.finish)
    readings = {slot: found[KEYS[slot]] for slot in slots}
    return {
        slot: _under_another_key(response, slot, reading, alone=len(slots) == 1) for slot, reading in readings.items()
    }


def _under_another_key(response: Response, slot: str, reading: Reading, *, alone: bool) -> Reading:
    """What a reply that lacks the key says under another name of it; the reading as it is when that is nothing."""
    if reading.outcome is not Outcome.UNPARSEABLE or reading.flags:
        return reading
    others = (*OTHER_KEYS[slot], *(ANY_KEY if alone else ()))
    # Several fields at once: of one alone the reader would take what the reply says in prose, whatever it is of.
    found = read_json(response.text, dict.fromkeys((KEYS[slot], *others), _FORMS[slot]), finish=response.finish)
    named = next((found[key] for key in others if found[key].ok), None)
    return reading if named is None else replace(named, flags=(*named.flags, OTHER_KEY))


@dataclass(frozen=True)
class Single:
    """One question a task, answered by a JSON object with one field.

    Attributes:
        tasks: What is asked about.
        reasoned: Whether reasoning comes first.
        shots: Whether solved records are shown first.
        given: Slots whose gold is given away.
        max_tokens: Most new tokens.
    """

    name: str
    summary: str
    tasks: tuple[str, ...] = TASKS
    reasoned: bool = False
    shots: bool = False
    given: tuple[str, ...] = ()
    max_tokens: int = 64
    needs: frozenset[Ability] = GENERATE

    def requests(self, item: Item, asking: Asking, answered: Answered) -> Sequence[Request]:
        """One request per task and label order."""
        known = self._known(item)
        return [
            Request(
                item=item.id,
                step=task,
                messages=self._messages(item, task, asking, variant, known),
                sampling=asking.sampling(self.max_tokens),
                variant=variant,
            )
            for task in self.tasks
            for variant in variants(asking.order, len(SPACES[task]))
        ]

    def _known(self, item: Item) -> dict[str, str]:
        missing = [slot for slot in self.given if slot not in item.gold]
        if missing:
            raise UserError(
                f"Record {item.id!r} has no gold {' and '.join(missing)}, which protocol {self.name} gives to the "
                "model. Add it, or use a protocol that is given nothing, such as direct."
            )
        return {slot: str(item.gold[slot]) for slot in self.given}

    def _messages(
        self, item: Item, task: str, asking: Asking, variant: str, known: Mapping[str, str]
    ) -> tuple[Message, ...]:
        system, user = _turns(item, task, asking, variant, reasoned=self.reasoned, known=known)
        return (system, *(self._shots(item, task, asking) if self.shots else ()), user)

    def _shots(self, item: Item, task: str, asking: Asking) -> list[Message]:
        language = settings.language(asking.options)
        turns = []
        for shot in demonstrations(task, item, asking.seed, asking.options.get("demos", "")):
            user = prompts.target(shown_context(shot, asking), shot.inputs["text"], language)
            answer = prompts.answer({task: str(shot.gold[task])}, language)
            turns += [Message("user", user), Message("assistant", answer)]
        return turns

    def read(self, item: Item, asking: Asking, answered: Answered) -> Sequence[Prediction]:
        """One prediction per answered request."""
        predictions = []
        for (variant, task), response in answered.items():
            shown = order_of(item, task, asking, variant)
            reading = _read_slots(response, [task])[task]
            predictions.append(chosen(item, task, variant, shown, _placed(reading, shown)))
        return predictions

    def ideal_reply(self, item: Item, request: Request, answer: Mapping[str, Any], asking: Asking) -> Response:
        """The JSON object."""
        language = settings.language(asking.options)
        return Response(text=prompts.answer({request.step: answer[request.step]}, language))


@dataclass(frozen=True)
class Likelihood:
    """One question a task; nothing is generated, every label is scored as the value of the answer's field."""

    name: str
    summary: str
    tasks: tuple[str, ...] = TASKS
    needs: frozenset[Ability] = frozenset({Ability.SCORE})

    def requests(self, item: Item, asking: Asking, answered: Answered) -> Sequence[Request]:
        """One request per task and label order."""
        language = settings.language(asking.options)
        return [
            Request(
                item=item.id,
                step=task,
                messages=tuple(_turns(item, task, asking, variant)),
                prefill=f'{{"{KEYS[task]}":',
                # The closing quotation mark ends the label: one that begins another is not favoured.
                options=tuple(
                    f' "{prompts.name(task, label, language)}"'
                    for label in order_of(item, task, asking, variant).values()
                ),
                variant=variant,
            )
            for task in self.tasks
            for variant in variants(asking.order, len(SPACES[task]))
        ]

    def read(self, item: Item, asking: Asking, answered: Answered) -> Sequence[Prediction]:
        """One prediction per answered request, with every label's score."""
        predictions = []
        for (variant, task), response in answered.items():
            shown = order_of(item, task, asking, variant)
            reading, detail = most_likely(response, shown)
            predictions.append(chosen(item, task, variant, shown, reading, detail))
        return predictions

    def ideal_reply(self, item: Item, request: Request, answer: Mapping[str, Any], asking: Asking) -> Response:
        """Log-probabilities with all mass on the answer."""
        shown = order_of(item, request.step, asking, request.variant)
        logprobs = tuple(0.0 if label == answer[request.step] else -30.0 for label in shown.values())
        return Response(text=None, finish="scored", logprobs=logprobs, option_tokens=(1,) * len(shown))


@dataclass(frozen=True)
class Matrix:
    """All five levels in one structured reply: explicit, implicit, stance, intent, emotion."""

    name: str
    summary: str
    max_tokens: int = 192
    tasks: tuple[str, ...] = TASKS
    needs: frozenset[Ability] = GENERATE

    def requests(self, item: Item, asking: Asking, answered: Answered) -> Sequence[Request]:
        """One request; under ``all`` as many as the longest list has orders, each turning every list."""
        return [
            Request(
                item=item.id,
                step="matrix",
                messages=self._messages(item, asking, variant),
                sampling=asking.sampling(self.max_tokens),
                variant=variant,
            )
            for variant in variants(asking.order, max(map(len, SPACES.values())))
        ]

    def _messages(self, item: Item, asking: Asking, variant: str) -> tuple[Message, ...]:
        language = settings.language(asking.options)
        labels = tuple((slot, tuple(order_of(item, slot, asking, variant).values())) for slot in CHAIN)
        context = shown_context(item, asking)
        user = prompts.target(context, item.inputs["text"], language)
        return Message("system", _all_steps(labels, language, context is None)), Message("user", user)

    def read(self, item: Item, asking: Asking, answered: Answered) -> Sequence[Prediction]:
        """Six predictions per reply: the five levels, the stance being made of both signals, and it as stated."""
        predictions = []
        for (variant, _step), response in answered.items():
            readings = _read_slots(response, CHAIN)
            composed = compose(readings["explicit"], readings["implicit"])
            for slot in CHAIN:
                shown = order_of(item, slot, asking, variant)
                reading = composed if slot == "stance" else readings[slot]
                predictions.append(chosen(item, slot, variant, shown, _placed(reading, shown)))
            shown = order_of(item, "stance", asking, variant)
            stated = chosen(item, "stance", variant, shown, _placed(readings["stance"], shown))
            predictions.append(replace(stated, slot=STATED))
        return predictions

    def ideal_reply(self, item: Item, request: Request, answer: Mapping[str, Any], asking: Asking) -> Response:
        """The JSON object with all five fields."""
        return Response(text=prompts.answer({slot: answer[slot] for slot in CHAIN}, settings.language(asking.options)))


@lru_cache(maxsize=4096)
def _all_steps(labels: tuple[tuple[str, tuple[str, ...]], ...], language: settings.Language, alone: bool) -> str:
    return prompts.all_steps(dict(labels), language, alone=alone)


def compose(explicit: Reading, implicit: Reading) -> Reading:
    """The stance that two signals make up; when one could not be read, the reading is that one's, without a value."""
    for signal in (explicit, implicit):
        if not signal.ok:
            return signal
    flags = tuple(dict.fromkeys((*explicit.flags, *implicit.flags)))
    stance = SPACES["stance"].compose(explicit.value, implicit.value)
    return Reading(explicit.outcome, stance, flags, f"{explicit.evidence} + {implicit.evidence}")


def _protocols() -> tuple[AskingProtocol, ...]:
    return (
        Single("direct", "one question a task, the label alone (the paper's baseline)"),
        Single("few_shot", "as direct, after solved examples of all kinds of affect", shots=True),
        Single("cot", "as direct, with free reasoning before the label", reasoned=True, max_tokens=512),
        Matrix("matrix", "explicit, implicit, stance, intent and emotion in one reply (the paper's method)"),
        Likelihood("likelihood", "one question a task, every label scored by log-probability"),
        Single("oracle-stance-intent", "gold stance given, intent asked (Task I)", ("intent",), given=("stance",)),
        Single("oracle-stance-emotion", "gold stance given, emotion asked (Task II)", ("emotion",), given=("stance",)),
        Single(
            "oracle-stance-intent-emotion",
            "gold stance and intent given, emotion asked (Task III)",
            ("emotion",),
            given=("stance", "intent"),
        ),
    )


PROTOCOLS: Mapping[str, AskingProtocol] = {protocol.name: protocol for protocol in _protocols()}
