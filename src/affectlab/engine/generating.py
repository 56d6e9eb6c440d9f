"""Continuing a batch of prompts token by token."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from affectlab.engine.drawing import Draw
from affectlab.engine.passes import Batch, Lanes
from affectlab.engine.rows import Generated, GenerateRow, Generation
from affectlab.engine.scoring import check_finite, name
from affectlab.engine.stack import Pass, Stack


@dataclass(slots=True)
class Text:
    """A text being written.

    Attributes:
        row: Number of its row.
        lane: Its condition's place among those that run together.
        generation: How it is written.
        draw: Chooses its tokens.
        ids: Its tokens so far.
        finish: Why it ended.
    """

    row: int
    lane: int
    generation: Generation
    draw: Draw
    ids: list[int] = field(default_factory=list)
    finish: Literal["stop", "length"] | None = None

    def take(self, token: int, end_ids: frozenset[int]) -> None:
        """Add a token, unless it ends the text."""
        if token in end_ids or token in self.generation.stop_ids:
            self.finish = "stop"
            return
        self.ids.append(token)
        if self.generation.stop is not None and self.generation.stop(self.ids):
            self.finish = "stop"
        elif len(self.ids) >= self.generation.max_tokens:
            self.finish = "length"


@dataclass(slots=True)
class Continuation:
    """Continues the prompts of a batch under each of its conditions.

    Attributes:
        stack: The model.
        lanes: The conditions.
        rows: All rows; a leaf's text number is its row's place in ``numbers``.
        numbers: Rows that the forest was made of.
        end_ids: Tokens that end any text.
        inputs: See :class:`affectlab.engine.stack.Pass`.
    """

    stack: Stack
    lanes: Lanes
    rows: Sequence[GenerateRow]
    numbers: Sequence[int]
    end_ids: frozenset[int]
    inputs: Mapping[str, Any] | None = None

    def run(self, batch: Batch) -> Iterator[tuple[int, int, Generated]]:
        """Texts of a batch's leaves as (row, place of the condition, text), each as it ends.

        Raises:
            WorldError: When logits are not finite.
        """
        import torch

        places = [place for place, node in enumerate(batch.nodes) if node.text is not None]
        if not places:
            return
        stack = self.stack
        nodes = torch.tensor(places, device=stack.device)
        past = batch.past.select(nodes)
        numbers = [self.numbers[text] for text in (batch.nodes[place].text for place in places) if text is not None]
        texts = [self.text(number, lane) for number in numbers for lane in range(len(self.lanes))]
        cache = past.grown(stack.config, max(text.generation.max_tokens for text in texts))
        lengths = torch.tensor(
            [batch.nodes[place].end for place in places for _ in range(len(self.lanes))], device=stack.device
        )
        mask = past.mask().repeat_interleave(len(self.lanes), 0)
        yield from self.write(texts, cache, mask, lengths, batch.logits.flatten(0, 1))

    def write(
        self, texts: list[Text], cache: Any, mask: Any, lengths: Any, logits: Any
    ) -> Iterator[tuple[int, int, Generated]]:
        """Continue texts, one for each row of a batch.

        Args:
            texts: What is to be written.
            cache: What came before.
            mask: ``[text, column]``: whether a column of the cache holds a token.
            lengths: ``[text]``: tokens so far.
            logits: ``[text, vocabulary]``: of the first new token.

        Yields:
            Row, place of the condition and text, each as it ends.

        Raises:
            WorldError: When logits are not finite.
        """
        import torch

        while True:
            going = [place for place, text in enumerate(texts) if text.finish is None]
            read = logits if len(going) == len(texts) else logits[going]
            check_finite(read, [[name(self.rows, texts[place].row)] for place in going], self.stack.dtype)
            likeliest = logits.argmax(-1).tolist()
            feed = [0] * len(texts)
            for place in going:
                text = texts[place]
                feed[place] = text.draw(logits[place], likeliest[place])
                text.take(feed[place], self.end_ids)
                if text.finish is not None:
                    yield text.row, text.lane, Generated(tuple(text.ids), text.finish)
            going = [place for place in going if texts[place].finish is None]
            if not going:
                return
            ids = torch.tensor(feed, device=self.stack.device)[:, None]
            # Ended texts ride along until they are half of the batch: leaving it copies the whole cache.
            if 2 * len(going) <= len(texts):
                kept = torch.tensor(going, device=self.stack.device)
                texts, ids, mask, lengths = [texts[place] for place in going], ids[kept], mask[kept], lengths[kept]
                cache.reorder_cache(kept)
            mask = torch.cat([mask, mask.new_ones(len(texts), 1)], dim=1)
            logits = self._next(texts, ids, mask, lengths, cache)
            lengths = lengths + 1

    def text(self, row: int, lane: int) -> Text:
        """A text that is to be written for a row under a condition."""
        generation = self.rows[row].generation
        return Text(row, lane, generation, Draw(generation))

    def _next(self, texts: Sequence[Text], ids: Any, mask: Any, lengths: Any, cache: Any) -> Any:
        """Logits ``[text, vocabulary]`` after one more token each."""
        import torch

        which = torch.tensor([text.lane for text in texts], device=ids.device)
        real, prompt = torch.ones_like(ids, dtype=torch.bool), torch.zeros_like(ids, dtype=torch.bool)
        every = torch.arange(len(texts), device=ids.device)
        step = Pass(
            ids,
            mask,
            lengths[:, None],
            cache,
            change=self.lanes.edits.on(which, real, prompt),
            changed=self.lanes.edits.layers,
            read=(every, torch.zeros_like(every)),
            inputs=self.inputs,
        )
        return self.stack.run(step).logits.float()
