"""A whole benchmark in one file: which basic emotion does a short text express?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel

from affectlab.benchmarks import sheets
from affectlab.benchmarks.base import Answered, Asking, Benchmark, ReferenceRow, Scoring
from affectlab.benchmarks.prompt import PromptTemplate
from affectlab.items import Item, Loaded, load_items
from affectlab.labels import load as load_labels
from affectlab.metrics import classification
from affectlab.metrics.predictions import Prediction, PredictionTable
from affectlab.metrics.scores import Scores
from affectlab.models import Ability, Message, Request, Response
from affectlab.reading import read_label
from affectlab.stats.bootstrap import estimates
from affectlab.stats.measures import Measures

EMOTIONS = load_labels("basic6_neutral")
CODES = {label: code for code, label in enumerate(EMOTIONS.ids)}


# --8<-- [start:load]
class Record(BaseModel):
    """A row of a data file."""

    id: str
    text: str
    emotion: str | None = None


def to_item(record: Record, index: int) -> Item:
    """An item; without an emotion it can be predicted, not scored."""
    gold = {} if record.emotion is None else {"emotion": EMOTIONS.require(record.emotion)}
    return Item(id=record.id, index=index, inputs={"text": record.text}, gold=gold)


def load(source: str, fields: Mapping[str, str], options: Mapping[str, str]) -> Loaded:
    """Items of a file; every bad row is listed in one error."""
    return load_items(source, fields, Record, to_item)


# --8<-- [end:load]


# --8<-- [start:protocol]
PROMPT = PromptTemplate(
    "Text: {text}\nWhich one emotion does it express?\n{emotions}\nReply with that word only.",
    fields=("text", "emotions"),
)


@dataclass(frozen=True)
class OneWord:
    """Asks for the emotion in one word."""

    name: str = "word"
    summary: str = "the emotion in one word"
    needs: frozenset[Ability] = frozenset({Ability.GENERATE})

    def requests(self, item: Item, asking: Asking, answered: Answered) -> Sequence[Request]:
        """One request."""
        prompt = PROMPT.fill(text=item.inputs["text"], emotions="\n".join(f"- {name}" for name in EMOTIONS.ids))
        return [Request(item.id, "word", (Message("user", prompt),), sampling=asking.sampling(8))]

    def read(self, item: Item, asking: Asking, answered: Answered) -> Sequence[Prediction]:
        """One prediction for each response."""
        readings = [
            read_label(response.text, EMOTIONS.forms(), finish=response.finish) for response in answered.values()
        ]
        return [
            Prediction(
                item=item.id,
                cluster=item.cluster,
                slot="emotion",
                outcome=reading.outcome.value,
                value=reading.value,
                gold=item.gold.get("emotion"),
                flags=reading.flags,
            )
            for reading in readings
        ]

    def ideal_reply(self, item: Item, request: Request, answer: Mapping[str, Any], asking: Asking) -> Response:
        """The word."""
        return Response(text=str(answer["emotion"]))


# --8<-- [end:protocol]


# --8<-- [start:score]
def measures(table: PredictionTable, protocol: str) -> Measures:
    """Cells of the confusion matrix, counted by cluster."""
    gold, predicted = table.gold.recode(CODES, -1), table.value.recode(CODES, -1)
    scored = gold >= 0
    n = len(CODES)
    present, cluster = np.unique(table.cluster.codes, return_inverse=True)
    return Measures(
        cluster=cluster[scored].astype(np.int32),
        event=classification.confusion_events(gold[scored], predicted[scored], n),
        clusters=tuple(table.cluster.values[code] for code in present.tolist()),
        n_events=n * (n + 1),
        statistics={
            "macro_f1": lambda totals: classification.macro_f1(classification.from_totals(totals, n)),
            "accuracy": lambda totals: classification.accuracy(classification.from_totals(totals, n)),
        },
        correct=dict(
            zip(
                (table.item.values[code] for code in table.item.codes[scored]),
                (predicted == gold)[scored].tolist(),
                strict=True,
            )
        ),
        headline="macro_f1",
        units_independent=len(present) == len(table),
    )


def score(scoring: Scoring) -> Scores:
    """Macro-F1 and accuracy with their intervals, and what must be known beside them."""
    table = scoring.table
    found = estimates(measures(table, scoring.protocol), how=scoring.interval)
    unread = len(table) - int(np.sum(table.outcome.equals("ok")))
    without = int(np.sum(table.gold.equals(None)))
    return Scores(
        headline=tuple(found.values()),
        tables=(sheets.outcomes(table), *sheets.flags(table)),
        notes=(
            f"{unread} of {len(table)} replies could not be read and count as wrong.",
            f"{without} of {len(table)} texts have no gold and are in no figure.",
        ),
        signature=f"mood:1|macroF1|invalid:wrong|{scoring.interval}",
    )


# --8<-- [end:score]


# --8<-- [start:benchmark]
BENCHMARK = Benchmark(
    name="mood",
    title="Mood: the emotion of a short text",
    version="1",
    paper="none: an example",
    question="Which basic emotion does a short text express?",
    slots={"emotion": EMOTIONS},
    protocols={"word": OneWord()},
    load=load,
    sample=Path(__file__).with_name("mood.jsonl"),
    score=score,
    measures=measures,
    references=(ReferenceRow("chance", {"accuracy": 1 / 7}, "one of seven labels", "baseline"),),
)
# --8<-- [end:benchmark]
