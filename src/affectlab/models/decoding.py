"""Batched generation and option scoring on a transformers model: tensors in and out, no prompts and no files.

Rows are padded on the left, and positions are counted from the attention mask, so that a row's result does
not depend on what it is batched with (in fp32, up to rounding). Only the logits that are read are computed.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from affectlab.errors import WorldError
from affectlab.models.base import Sampling

if TYPE_CHECKING:
    import torch


_CACHE_NAMES = ("cache", "past_key_values", "cache_params")
"""What the cache is called in a model's forward: newer transformers, older ones, state-space models of older ones."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """A row to generate from.

    Attributes:
        name: What errors call it.
        ids: Tokens, at least one.
        sampling: How to generate; ``max_tokens`` at least 1.
        seed: Seed of its draws; unused when greedy.
    """

    name: str
    ids: tuple[int, ...]
    sampling: Sampling
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Stem:
    """A row to score options on: a prompt, and the tokens that its longest option has before its last.

    Attributes:
        name: What errors call it.
        prompt: Tokens, at least one.
        tail: All but the last token of the longest option.
        options: Tokens of each option; all but the last of each are a start of ``tail``.
    """

    name: str
    prompt: tuple[int, ...]
    tail: tuple[int, ...]
    options: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Generated:
    """New tokens of a row, without the one that ended it, and why it ended."""

    ids: tuple[int, ...]
    finish: Literal["stop", "length"]


class Decoder:
    """Runs a causal language model on batches of token rows."""

    def __init__(self, model: Any, end_ids: frozenset[int], text: Callable[[Sequence[int]], str]) -> None:
        """Wrap a model.

        Args:
            model: A transformers causal language model in evaluation mode.
            end_ids: Tokens that end a text.
            text: Decodes generated ids, to look for stop strings.
        """
        self._model = model
        self._end_ids = end_ids
        self._text = text
        self._accepts = frozenset(inspect.signature(model.forward).parameters)
        self._recurrent = getattr(model, "_is_stateful", False) and "position_ids" not in self._accepts
        self._cache = next((name for name in _CACHE_NAMES if name in self._accepts), None)

    def generate(self, rows: Sequence[Prompt]) -> list[Generated]:
        """Generate for every row of a batch; row i's text depends on row i alone.

        Raises:
            WorldError: When logits are not finite.
        """
        import torch

        with torch.inference_mode():
            return self._generate(rows)

    def score(self, rows: Sequence[Stem]) -> list[list[float]]:
        """Summed natural-log probability, in fp32, of every option's tokens behind its prompt.

        Raises:
            WorldError: When logits are not finite.
        """
        import torch

        keep = max(len(row.tail) for row in rows) + 1
        with torch.inference_mode():
            ids, mask = self._padded([row.prompt + row.tail for row in rows])
            logits, _ = self._forward(ids, mask, None, keep)
            found = []
            for row, window in zip(rows, logits, strict=True):
                read = window[keep - 1 - len(row.tail) :]
                _check_finite(read.flatten()[None], [row.name])
                logprobs = torch.log_softmax(read, dim=-1)
                found.append(
                    [sum(logprobs[place, token].item() for place, token in enumerate(ids)) for ids in row.options]
                )
        return found

    def _generate(self, rows: Sequence[Prompt]) -> list[Generated]:
        import torch

        draw = _Draw(rows)
        ids, mask = self._padded([row.ids for row in rows])
        texts: list[list[int]] = [[] for _ in rows]
        finish: dict[int, Literal["stop", "length"]] = {}
        batch = list(range(len(rows)))
        feed, past = ids, None
        while True:
            logits, past = self._forward(feed, mask, past, 1)
            logits = logits[:, -1]
            going = [place for place, row in enumerate(batch) if row not in finish]
            _check_finite(logits[going], [rows[batch[place]].name for place in going])
            chosen = draw(logits, batch)
            for place in going:
                if ended := self._end(rows[batch[place]], texts[batch[place]], chosen[place]):
                    finish[batch[place]] = ended
            if len(finish) == len(rows):
                return [Generated(tuple(text), finish[row]) for row, text in enumerate(texts)]
            feed = torch.tensor(chosen, device=ids.device)[:, None]
            mask = torch.cat([mask, mask.new_ones(len(batch), 1)], dim=1)
            going = [place for place in going if batch[place] not in finish]
            # Finished rows ride along until they are half of the batch: leaving it copies the whole cache.
            if 2 * len(going) <= len(batch):
                kept = torch.tensor(going, device=ids.device)
                batch, feed, mask, ids = [batch[place] for place in going], feed[kept], mask[kept], ids[kept]
                if past is not None:
                    past.reorder_cache(kept)
            if past is None:
                feed = ids = torch.cat([ids, feed], dim=1)

    def _end(self, row: Prompt, text: list[int], token: int) -> Literal["stop", "length"] | None:
        """Add a token to a row's text, and say whether it ended it."""
        if token in self._end_ids:
            return "stop"
        text.append(token)
        if row.sampling.stop:
            found = self._text(text)
            if any(stop in found for stop in row.sampling.stop):
                return "stop"
        return "length" if len(text) >= row.sampling.max_tokens else None

    def _padded(self, rows: Sequence[Sequence[int]]) -> tuple[torch.Tensor, torch.Tensor]:
        """Ids and mask, each ``[rows, longest]``, padded on the left."""
        import torch

        width = max(len(row) for row in rows)
        ids = torch.tensor([[0] * (width - len(row)) + list(row) for row in rows], device=self._model.device)
        mask = torch.tensor([[0] * (width - len(row)) + [1] * len(row) for row in rows], device=self._model.device)
        return ids, mask

    def _forward(self, ids: torch.Tensor, mask: torch.Tensor, past: Any, keep: int) -> tuple[torch.Tensor, Any]:
        """Logits ``[rows, keep, vocabulary]`` of the last ``keep`` tokens in fp32, and the cache if there is one."""
        arguments: dict[str, Any] = {}
        if "position_ids" in self._accepts:
            arguments["position_ids"] = (mask.cumsum(-1) - 1).clamp(min=0)[:, -ids.shape[1] :]
        if "logits_to_keep" in self._accepts:
            arguments["logits_to_keep"] = keep
        if self._cache is not None:
            arguments |= {self._cache: past, "use_cache": True}
        # A purely recurrent model multiplies what it is fed by the mask: one for all tokens so far would not fit.
        seen = mask[:, -ids.shape[1] :] if self._recurrent else mask
        out = self._model(input_ids=ids, attention_mask=seen, **arguments)
        return out.logits[:, -keep:].float(), None if self._cache is None else getattr(out, self._cache)


class _Draw:
    """Chooses each row's next token: the likeliest, or one drawn with the row's own generator."""

    def __init__(self, rows: Sequence[Prompt]) -> None:
        import torch

        self._rows = rows
        self._generators = {
            place: torch.Generator().manual_seed(row.seed)
            for place, row in enumerate(rows)
            if row.sampling.temperature > 0
        }

    def __call__(self, logits: torch.Tensor, batch: Sequence[int]) -> list[int]:
        """Next tokens; line i of ``logits`` belongs to row ``batch[i]``."""
        chosen: list[int] = logits.argmax(-1).tolist()
        for place, row in enumerate(batch):
            if row in self._generators:
                chosen[place] = self._sampled(logits[place], self._rows[row].sampling, self._generators[row])
        return chosen

    def _sampled(self, logits: torch.Tensor, sampling: Sampling, generator: torch.Generator) -> int:
        """Draw by inverting the cumulative distribution in the order of the vocabulary.

        One uniform number a token, and an order that rounding cannot change: the draw does not depend on the
            batch.
        """
        import torch

        probabilities = torch.softmax(logits.double() / sampling.temperature, dim=-1).cpu()
        if sampling.top_p < 1:
            ordered, tokens = probabilities.sort(descending=True)
            outside = ordered.cumsum(-1) - ordered >= sampling.top_p
            probabilities[tokens[outside]] = 0
        cumulative = probabilities.cumsum(-1)
        point = torch.rand(1, generator=generator, dtype=torch.float64) * cumulative[-1]
        return int(torch.searchsorted(cumulative, point, right=True).clamp(max=int(probabilities.nonzero()[-1])))


def _check_finite(logits: torch.Tensor, names: Sequence[str]) -> None:
    finite = logits.isfinite().all(-1)
    if not finite.all():
        bad = [name for name, fine in zip(names, finite.tolist(), strict=True) if not fine]
        more = f" and {len(bad) - 5} more" if len(bad) > 5 else ""
        raise WorldError(
            f"The model's logits are not finite for {', '.join(bad[:5])}{more}. Its weights are damaged or overflow "
            "in this number type: use float32."
        )
