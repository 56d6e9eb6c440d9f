"""The adjudicator: a model that is shown two candidates for a slot in both orders, and never whose they are.

A benchmark of its own, so that it is asked, stored and resumed as every run is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import numpy as np

from affectlab.annotate.assist.routing import NEITHER, Votes
from affectlab.benchmarks.base import Answered, Asking, Benchmark, Scoring
from affectlab.benchmarks.prompt import PromptTemplate
from affectlab.errors import UserError
from affectlab.items import Gold, Item, Loaded
from affectlab.labels import LabelSpace
from affectlab.metrics.predictions import Prediction, PredictionTable
from affectlab.metrics.scores import Scores
from affectlab.models.base import Ability, Message, Request, Response
from affectlab.reading import read_choice
from affectlab.stats.measures import Measures, Share

FORWARD, BACKWARD = "forward", "backward"
STEP = "verdict"

_FIELDS = ("task", "slot", "first", "second")
PROMPTS = {
    "en": PromptTemplate(
        "Two annotators worked on the task below and gave different answers for {slot}. Decide which answer is right. "
        "Judge by the task and its text alone; the order of the answers means nothing.\n\n"
        "--- The task ---\n{task}\n--- End of the task ---\n\n"
        "Answers for {slot}:\n1. {first}\n2. {second}\n0. neither of them\n\n"
        "Reply with the number alone: 1, 2 or 0.",
        _FIELDS,
    ),
    "zh": PromptTemplate(
        "两位标注者做了下面的任务，对 {slot} 给出了不同的答案。请判断哪个答案正确。"
        "只看任务和其中的文本，答案的先后没有意义。\n\n"
        "--- 任务 ---\n{task}\n--- 任务结束 ---\n\n"
        "对 {slot} 的两个答案：\n1. {first}\n2. {second}\n0. 都不对\n\n"
        "只回复一个数字：1、2 或 0。",
        _FIELDS,
    ),
}
"""By the language in which the task names its labels."""

_NEITHER = {"en": "neither", "zh": "都不对"}


def to_item(
    case: Item, slot: str, index: int, task: str, candidates: tuple[Gold, Gold], space: LabelSpace | None
) -> Item:
    """What the adjudicator is asked about one slot.

    Args:
        case: The item.
        slot: Which of its slots.
        index: Number of the question.
        task: What the annotators were asked, as text.
        candidates: The first model's label and the second's.
        space: Labels of the slot, for their names and definitions.
    """
    language = language_of(task, space)
    first, second = (describe(one, space, task, language) for one in candidates)
    return Item(
        id=question_id(case.id, slot),
        index=index,
        inputs={"task": task, "slot": slot, "a": first, "b": second, "language": language},
        gold={},
        slices=dict(case.slices),
        cluster=case.cluster,
    )


def question_id(item: str, slot: str) -> str:
    """Id of the question about a slot of an item."""
    return f"{item} | {slot}"


def language_of(task: str, space: LabelSpace | None) -> str:
    """The language in which a task names most labels of a space; English where it names none."""
    if space is None:
        return "en"
    named = {code: sum(label.names.get(code, "\0") in task for label in space) for code in PROMPTS}
    return max(named, key=lambda code: named[code])


def describe(value: Gold, space: LabelSpace | None, task: str = "", language: str = "en") -> str:
    """A candidate as the prompt shows it: its name, with its definition where the task does not name it."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {much:g}" for name, much in value.items()) or "none"
    if isinstance(value, tuple):
        return ", ".join(_name(describe(one, space, task, language)) for one in value) or "none"
    if isinstance(value, int | float):
        label = next((label for label in space or () if label.level == value), None)
        return f"{value:g}" + (f" ({label.names.get(language, label.names['en'])})" if label else "")
    if space is None or value not in space.ids:
        return value
    label = space[value]
    name = label.names.get(language, label.names["en"])
    return name + (f" ({label.definition})" if label.definition and name not in task else "")


def _name(description: str) -> str:
    return description.partition(" (")[0]


@dataclass(frozen=True)
class BothOrders:
    """Asks for a verdict twice, with the candidates exchanged."""

    name: str = "both-orders"
    summary: str = "the two candidates in both orders, unnamed; a vote for one of them or for neither"
    needs: frozenset[Ability] = frozenset({Ability.GENERATE})
    max_tokens: int = 512

    def requests(self, item: Item, asking: Asking, answered: Answered) -> Sequence[Request]:
        """One request for each order."""
        a, b = item.inputs["a"], item.inputs["b"]
        return [
            Request(
                item=item.id,
                step=STEP,
                messages=(
                    Message(
                        "user",
                        PROMPTS[item.inputs["language"]].fill(
                            task=item.inputs["task"], slot=item.inputs["slot"], first=first, second=second
                        ),
                    ),
                ),
                sampling=asking.sampling(self.max_tokens),
                variant=order,
            )
            for order, first, second in ((FORWARD, a, b), (BACKWARD, b, a))
        ]

    def read(self, item: Item, asking: Asking, answered: Answered) -> Sequence[Prediction]:
        """One vote for each order: the place chosen, 0 for neither."""
        a, b = item.inputs["a"], item.inputs["b"]
        votes = []
        for (order, _), response in answered.items():
            shown = (a, b) if order == FORWARD else (b, a)
            options = {"1": shown[0], "2": shown[1], str(NEITHER): _NEITHER[item.inputs["language"]]}
            names = {_name(text): key for key, text in options.items() if _name(text) != text}
            reading = read_choice(response.text, options, aliases=names, finish=response.finish)
            votes.append(
                Prediction(
                    item=item.id,
                    cluster=item.cluster,
                    slot=STEP,
                    outcome=reading.outcome.value,
                    value=int(reading.value) if reading.ok else None,
                    gold=None,
                    variant=order,
                    slices=item.slices,
                    flags=reading.flags,
                )
            )
        return votes

    def ideal_reply(self, item: Item, request: Request, answer: Mapping[str, Any], asking: Asking) -> Response:
        """The number."""
        return Response(text=str(answer[STEP]))


def votes_of(predictions: Sequence[Prediction]) -> dict[str, Votes]:
    """Votes by question; a question with one order answered only is not among them."""
    found: dict[str, dict[str, int | None]] = {}
    for one in predictions:
        found.setdefault(one.item, {})[one.variant] = one.value
    return {item: Votes(both[FORWARD], both[BACKWARD]) for item, both in found.items() if len(both) == 2}


def _no_load(source: str, fields: Mapping[str, str], options: Mapping[str, str]) -> Loaded:
    raise UserError("Questions for an adjudicator come from two models' labels, not from a file.")


def _measures(table: PredictionTable, protocol: str) -> Measures:
    """The share of votes that could be read."""
    read = table.value.recode({None: 0}, 1).astype(np.int32)
    return Measures(
        table.cluster.codes,
        read,
        tuple(map(str, table.cluster.values)),
        2,
        {"readable": Share(np.array([1]), np.array([0, 1]))},
        {},
        "readable",
    )


def _score(scoring: Scoring) -> Scores:
    from affectlab.stats.bootstrap import estimate

    return Scores((estimate(_measures(scoring.table, scoring.protocol), "readable", scoring.interval),))


ADJUDICATION = Benchmark(
    name="adjudication",
    title="Adjudication of two models' labels",
    version="1",
    paper="CUE-Bench (arXiv 2608.10810), section 3.3",
    question="Which of two labels is right, whichever is shown first?",
    slots={STEP: None},
    protocols={"both-orders": BothOrders()},
    load=_no_load,
    sample=files("affectlab.annotate.assist"),
    score=_score,
    measures=_measures,
)
"""Not in the list of benchmarks: its items are made of two runs."""
