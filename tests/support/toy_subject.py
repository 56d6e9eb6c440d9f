"""A toy model for steering tests: every number it gives can be worked out by hand, and it takes no time.

The stream has ``width`` numbers. Every token has an embedding; each layer passes its input on unchanged, plus whatever
an intervention adds; the head is a fixed matrix. Only the last token's state is read, so the log-probabilities after a
text are ``log softmax(head @ (embedding of its last token + everything added))``. Interventions only add.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, cast

import numpy as np
import numpy.typing as npt

from affectlab.engine import NEUTRAL, Engine, Intervention, ScoreRow, TextRow
from affectlab.steering.subject import ModelIdentity, Subject

Array = npt.NDArray[Any]


@dataclass
class ToyEngine:
    """The engine of a toy model.

    Attributes:
        embeddings: ``[token, width]``.
        head: ``[token, width]``.
        n_layers: Layers, all the identity.
        sink: Factor of the state of a text's first token.
        context: Most tokens of a text.
    """

    embeddings: Array
    head: Array
    n_layers: int = 6
    sink: float = 1.0
    context: int | None = None
    asked: list[tuple[int, int]] = field(default_factory=list)

    @property
    def width(self) -> int:
        return int(self.embeddings.shape[1])

    @property
    def layer_paths(self) -> tuple[str, ...]:
        return tuple(f"layers.{number}" for number in range(self.n_layers))

    def logprobs(self, ids: Sequence[int], intervention: Intervention, generated: bool = False) -> Array:
        assert intervention.gate is None
        state = self.embeddings[ids[-1]].astype(np.float64)
        where = {"all": True, "prompt": not generated, "generated": generated}[intervention.positions]
        for edit in intervention.edits if where else ():
            assert edit.kind == "add"
            state = state + edit.amount * edit.vector
        logits = self.head @ state
        shifted: Array = logits - logits.max()
        found: Array = shifted - np.log(np.exp(shifted).sum())
        return found

    def score(
        self, rows: Sequence[ScoreRow], interventions: Sequence[Intervention] = (NEUTRAL,)
    ) -> Iterator[tuple[int, int, Array]]:
        self.asked.append((len(rows), len(interventions)))
        for which in reversed(range(len(interventions))):
            for number, row in enumerate(rows):
                found = []
                for option in row.options:
                    total = 0.0
                    for place, token in enumerate(option):
                        before = (*row.prompt, *option[:place])
                        total += float(self.logprobs(before, interventions[which], place > 0)[token])
                    found.append(total)
                yield number, which, np.array(found)

    def every_token(
        self, rows: Sequence[Sequence[int]], interventions: Sequence[Intervention] = (NEUTRAL,)
    ) -> Iterator[tuple[int, int, Array]]:
        for which in reversed(range(len(interventions))):
            for number, ids in enumerate(rows):
                each = [self.logprobs(ids[: end + 1], interventions[which]) for end in range(len(ids))]
                yield number, which, np.array(each, np.float32)

    def hidden(
        self,
        rows: Sequence[Sequence[int] | TextRow],
        layers: Sequence[int] | None = None,
        position: Literal["last", "mean"] = "last",
    ) -> npt.NDArray[np.float32]:
        states = []
        for row in rows:
            ids = row.ids if isinstance(row, TextRow) else row
            assert self.context is None or len(ids) <= self.context
            each = self.embeddings[list(ids)].astype(np.float64)
            each[0] = each[0] * self.sink
            states.append(each[-1] if position == "last" else each[min(1, len(each) - 1) :].mean(axis=0))
        count = self.n_layers if layers is None else len(layers)
        return np.repeat(np.array(states, dtype=np.float32)[:, None], count, axis=1)

    def states(self, rows: Sequence[Sequence[int]]) -> list[npt.NDArray[np.float32]]:
        return [np.concatenate([self.hidden([ids[:end]]) for end in range(1, len(ids) + 1)]) for ids in rows]


def toy_subject(
    words: Sequence[str],
    embeddings: Array,
    head: Array,
    *,
    n_layers: int = 6,
    sink: float = 1.0,
    context: int | None = None,
) -> Subject:
    """A toy model whose tokens are words; unknown words are token 0, punctuation is part of a word.

    Args:
        words: Word of each token; the first stands for all others.
        embeddings: ``[token, width]``.
        head: ``[token, width]``.
        n_layers: Layers.
        sink: Factor of the state of a text's first token.
        context: Most tokens of a text.
    """
    number = {word: place for place, word in enumerate(words)}

    def ids(text: str) -> tuple[int, ...]:
        return tuple(number.get(word.strip(".,:;?!"), 0) for word in text.split())

    engine = ToyEngine(np.asarray(embeddings), np.asarray(head), n_layers, sink, context)
    identity = ModelIdentity("toy", "toy", "weights", "words", n_layers, engine.width, engine.layer_paths)

    def asked(question: str, prefill: str) -> tuple[int, ...]:
        return ids(f"{question} {prefill}")

    return Subject(cast(Engine, engine), identity, "float32", ids, asked, ids)
