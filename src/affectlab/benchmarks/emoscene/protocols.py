"""How an EmoScene scenario is put to a model, and how its replies are read.

``yes_no`` is the paper's: for each of the eight emotions, the log-odds of Yes against No as the next word. The others
ask models that give no log-probabilities: ``yes_no_text`` the same eight questions in words, ``list`` one question for
all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from affectlab.benchmarks.base import Answered, Asking
from affectlab.benchmarks.emoscene import prompts
from affectlab.benchmarks.emoscene.beside import confidence_of, explanation_of
from affectlab.benchmarks.emoscene.record import ABSENT, EMOTIONS, PRESENT
from affectlab.benchmarks.emoscene.settings import extras
from affectlab.benchmarks.yes_no import TOKENS, log_odds
from affectlab.items import Item
from affectlab.metrics.predictions import Prediction
from affectlab.metrics.scores import dumps
from affectlab.models.base import Ability, Message, Request, Response
from affectlab.reading import LabelSet, Reading, read_json, read_label_set, read_yes_no

SLOTS = EMOTIONS.ids
WHY = ":why"
"""What the step of a follow-up ends in, after the emotion."""

_FORMS = {PRESENT: ("yes", "true", "present"), ABSENT: ("no", "false", "absent", "not present")}
_OFFERED = LabelSet(EMOTIONS.forms())


def _question(item: Item, slot: str, reply: str) -> tuple[Message, ...]:
    name = EMOTIONS[slot].names["en"].lower()
    return (
        Message("system", prompts.SYSTEM),
        Message("user", prompts.ONE_EMOTION.fill(text=item.inputs["text"], reply=reply, emotion=name)),
    )


def _prediction(item: Item, slot: str, reading: Reading, detail: Mapping[str, Any]) -> Prediction:
    """One emotion's answer; the reading's value is a truth value."""
    return Prediction(
        item=item.id,
        cluster=item.cluster,
        slot=slot,
        outcome=reading.outcome.value,
        value=(PRESENT if reading.value else ABSENT) if reading.ok else None,
        gold=item.gold.get(slot),
        slices=item.slices,
        flags=reading.flags,
        detail=detail,
    )


@dataclass(frozen=True)
class YesNo:
    """Log-odds of Yes for each emotion; nothing is generated unless an explanation or a confidence is asked for.

    These are asked after the answer, of the answer that the log-odds gave, so that they cannot change it.
    """

    name: str = "yes_no"
    summary: str = "each emotion by the log-probability of Yes against No (the paper's)"
    needs: frozenset[Ability] = frozenset({Ability.SCORE})

    def requests(self, item: Item, asking: Asking, answered: Answered) -> Sequence[Request]:
        """Eight questions that share the scenario, then the follow-ups of those that have an answer."""
        wanted = extras(asking.options)
        asked = [self._scored(item, slot) for slot in SLOTS]
        if not wanted.any:
            return asked
        follow = prompts.follow_up(wanted)
        for slot in SLOTS:
            response = answered.get(("", slot))
            reading = None if response is None else log_odds(response)[0]
            if reading is not None and reading.ok:
                said = f"{prompts.ANSWER_PREFIX} {'Yes' if reading.value else 'No'}"
                messages = (
                    *_question(item, slot, prompts.YES_OR_NO),
                    Message("assistant", said),
                    Message("user", follow),
                )
                asked.append(Request(item.id, slot + WHY, messages, sampling=asking.sampling(160)))
        return asked

    def _scored(self, item: Item, slot: str) -> Request:
        messages = _question(item, slot, prompts.YES_OR_NO)
        return Request(item.id, slot, messages, prefill=prompts.ANSWER_PREFIX, options=TOKENS)

    def read(self, item: Item, asking: Asking, answered: Answered) -> Sequence[Prediction]:
        """One prediction for each scored emotion, with its log-odds, and what the follow-up said."""
        wanted = extras(asking.options)
        predictions = []
        for slot in SLOTS:
            response = answered.get(("", slot))
            if response is None:
                continue
            reading, detail = log_odds(response)
            told = answered.get(("", slot + WHY))
            if told is not None:
                detail = {**detail, **_told(told, wanted.confidence, wanted.explain)}
            predictions.append(_prediction(item, slot, reading, detail))
        return predictions

    def ideal_reply(self, item: Item, request: Request, answer: Mapping[str, Any], asking: Asking) -> Response:
        """Nearly all mass on the answer; to a follow-up, full confidence."""
        if request.step.endswith(WHY):
            return Response(text='{"confidence": 100, "explanation": "The scenario shows it."}')
        yes = answer[request.step] == PRESENT
        logprobs = tuple(-2.0 if (token.strip().lower() == "yes") == yes else -30.0 for token in TOKENS)
        return Response(text=None, finish="scored", logprobs=logprobs, option_tokens=(1,) * len(TOKENS))


@dataclass(frozen=True)
class YesNoText:
    """The same eight questions, answered in words."""

    name: str = "yes_no_text"
    summary: str = "each emotion by a generated Yes or No"
    needs: frozenset[Ability] = frozenset({Ability.GENERATE})

    def requests(self, item: Item, asking: Asking, answered: Answered) -> Sequence[Request]:
        """Eight questions that share the scenario."""
        wanted = extras(asking.options)
        reply = prompts.reply_format(prompts.YES_NO_FIELD, wanted) if wanted.any else prompts.YES_OR_NO
        room = asking.sampling(160 if wanted.any else 8)
        return [Request(item.id, slot, _question(item, slot, reply), sampling=room) for slot in SLOTS]

    def read(self, item: Item, asking: Asking, answered: Answered) -> Sequence[Prediction]:
        """One prediction for each answered question."""
        wanted = extras(asking.options)
        predictions = []
        for slot in SLOTS:
            response = answered.get(("", slot))
            if response is None:
                continue
            if not wanted.any:
                reading = read_yes_no(response.text, finish=response.finish)
            else:
                found = read_json(response.text, {"answer": _FORMS}, finish=response.finish)["answer"]
                reading = replace(found, value=found.value == PRESENT) if found.ok else found
            told = _told(response, wanted.confidence, wanted.explain)
            predictions.append(_prediction(item, slot, reading, told))
        return predictions

    def ideal_reply(self, item: Item, request: Request, answer: Mapping[str, Any], asking: Asking) -> Response:
        """Yes or No, within the object that was asked for."""
        word = "Yes" if answer[request.step] == PRESENT else "No"
        wanted = extras(asking.options)
        return Response(text=_object({"answer": word}) if wanted.any else word)


@dataclass(frozen=True)
class Listed:
    """One question for all eight emotions; those not named are absent."""

    name: str = "list"
    summary: str = "one question: which of the eight emotions are felt"
    needs: frozenset[Ability] = frozenset({Ability.GENERATE})

    def requests(self, item: Item, asking: Asking, answered: Answered) -> Sequence[Request]:
        """One request."""
        wanted = extras(asking.options)
        reply = prompts.reply_format(prompts.LIST_FIELD, wanted) if wanted.any else prompts.NAMES_ONLY
        offered = "\n".join(f"- {EMOTIONS[slot].names['en'].lower()}" for slot in SLOTS)
        user = prompts.ALL_EMOTIONS.fill(text=item.inputs["text"], emotions=offered, reply=reply)
        messages = (Message("system", prompts.SYSTEM), Message("user", user))
        return [Request(item.id, "list", messages, sampling=asking.sampling(200 if wanted.any else 48))]

    def read(self, item: Item, asking: Asking, answered: Answered) -> Sequence[Prediction]:
        """Eight predictions from one reply; a reply that cannot be read leaves all eight unread."""
        wanted = extras(asking.options)
        response = answered.get(("", "list"))
        if response is None:
            return []
        reading = read_label_set(response.text, _OFFERED, field="emotions", finish=response.finish)
        told = _told(response, wanted.confidence, wanted.explain)
        return [
            _prediction(item, slot, replace(reading, value=slot in reading.value) if reading.ok else reading, told)
            for slot in SLOTS
        ]

    def ideal_reply(self, item: Item, request: Request, answer: Mapping[str, Any], asking: Asking) -> Response:
        """The names, or None."""
        there = [slot for slot in SLOTS if answer[slot] == PRESENT]
        if extras(asking.options).any:
            return Response(text=_object({"emotions": there}))
        return Response(text=", ".join(there) or "None")


def _object(answer: Mapping[str, Any]) -> str:
    return dumps({**answer, "confidence": 100, "explanation": "The scenario shows it."})


def _told(response: Response, confidence: bool, explain: bool) -> dict[str, Any]:
    """What a reply says beside the answer; a confidence or explanation that cannot be read is kept as missing."""
    said: dict[str, Any] = {}
    if confidence:
        said["confidence"] = confidence_of(response)
    if explain:
        said["explanation"] = explanation_of(response)
    return said


PROTOCOLS = {protocol.name: protocol for protocol in (YesNo(), YesNoText(), Listed())}
