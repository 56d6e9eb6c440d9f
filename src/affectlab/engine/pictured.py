"""Rows that bring images: each runs by itself and plainly, its interventions side by side.

What a model's processor makes of images (``pixel_values`` and the like) goes to the model as it is, once for each
intervention. The model places its tokens itself, since some count images in two dimensions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from affectlab.engine.generating import Continuation
from affectlab.engine.memory import fresh_cache
from affectlab.engine.passes import Lanes
from affectlab.engine.rows import Generated, GenerateRow, ScoreRow, TextRow
from affectlab.engine.scoring import check_finite, stems
from affectlab.engine.stack import Outcome, Pass, Stack
from affectlab.errors import UserError

_OURS = frozenset({"input_ids", "attention_mask", "position_ids", "inputs_embeds", "labels", "use_cache", "cache"})
_BY_TOKEN = "token_type_ids"  # noqa: S105
"""How inputs of one number for each token are called; they go on with 0, for text, over what follows a prompt."""


def check_inputs(stack: Stack, who: str, inputs: Mapping[str, Any], length: int) -> None:
    """Refuse inputs that the model does not take.

    Args:
        stack: The model.
        who: What errors call the row.
        inputs: What the processor made.
        length: Tokens of the row's prompt.

    Raises:
        UserError: Naming the row and the input.
    """
    for name, value in inputs.items():
        if name in _OURS:
            raise UserError(f"{who}: {name} is no input of images; the engine makes it. Leave it out.")
        if name not in stack.accepts:
            raise UserError(f"{who}: {type(stack.model).__name__} takes no {name}.")
        if name.endswith(_BY_TOKEN) and tuple(value.shape) != (1, length):
            raise UserError(f"{who}: {name} has shape {tuple(value.shape)}; the prompt needs (1, {length}).")


class Pictured:
    """Runs rows with images under the interventions of some lanes."""

    def __init__(self, stack: Stack, lanes: Lanes) -> None:
        self._stack = stack
        self._lanes = lanes

    def score(self, row: ScoreRow, who: str) -> list[NDArray[np.float64]]:
        """Summed log-probabilities ``[option]``, for each intervention.

        Raises:
            UserError: When the model refuses the images.
            WorldError: When logits are not finite.
        """
        found = np.zeros((len(self._lanes), len(row.options)))
        start = len(row.prompt) - 1
        for tail, members in stems([tuple(option) for option in row.options]):
            ids = [*row.prompt, *tail]
            reads = range(start, len(ids))
            logprobs = self._logprobs(ids, row.inputs or {}, len(row.prompt), reads, who)
            for option in members:
                for at, token in enumerate(row.options[option]):
                    found[:, option] += logprobs[:, at, token].double().cpu().numpy()
        return list(found)

    def generate(self, row: GenerateRow, who: str, end_ids: frozenset[int]) -> list[Generated]:
        """A text for each intervention.

        Raises:
            UserError: When the model refuses the images.
            WorldError: When logits are not finite.
        """
        import torch

        stack, count, length = self._stack, len(self._lanes), len(row.prompt)
        with _placing_kept(stack.model) as placing:
            cache = fresh_cache(stack.config)
            step = self._step(row.prompt, row.inputs or {}, length, range(length - 1, length), cache)
            logits = self._run(step, who).logits
            # One row for all interventions: their prompt is the same, and rows that have ended leave the batch.
            for module in placing:
                if module.rope_deltas is not None:
                    module.rope_deltas = module.rope_deltas[:1]
            writing = Continuation(stack, self._lanes, [row], [0], end_ids, inputs={})
            mask = torch.ones(count, length, dtype=torch.bool, device=stack.device)
            lengths = torch.full((count,), length, device=stack.device)
            texts = [writing.text(0, lane) for lane in range(count)]
            found = {lane: text for _, lane, text in writing.write(texts, cache, mask, lengths, logits.float())}
        return [found[lane] for lane in range(count)]

    def hidden(self, row: TextRow, layers: Sequence[int], who: str) -> dict[int, Any]:
        """Outputs of layers, each ``[intervention, token, width]``.

        Raises:
            UserError: When the model refuses the images.
        """
        step = self._step(row.ids, row.inputs or {}, len(row.ids), (), None)
        step.captured, step.stop = frozenset(layers), max(layers) + 1
        with _placing_kept(self._stack.model):
            return self._run(step, who).outputs

    def _logprobs(
        self, ids: Sequence[int], inputs: Mapping[str, Any], prompt: int, reads: Sequence[int], who: str
    ) -> Any:
        """``[intervention, read, vocabulary]``."""
        with _placing_kept(self._stack.model):
            logits = self._run(self._step(ids, inputs, prompt, reads, None), who).logits.float()
        check_finite(logits, [[who]] * len(logits), self._stack.dtype)
        return logits.log_softmax(-1).unflatten(0, (len(self._lanes), -1))

    def _step(
        self, ids: Sequence[int], inputs: Mapping[str, Any], prompt: int, reads: Sequence[int], cache: Any
    ) -> Pass:
        """A pass over one text under each intervention, in order; logits are read at some tokens."""
        import torch

        count, device = len(self._lanes), self._stack.device
        whole = torch.tensor([list(ids)] * count, device=device)
        real = torch.ones_like(whole, dtype=torch.bool)
        of_prompt = torch.arange(len(ids), device=device).expand(count, -1) < prompt
        edits = self._lanes.edits
        rows = torch.arange(count, device=device).repeat_interleave(len(reads))
        tokens = torch.tensor(list(reads), device=device, dtype=torch.long).repeat(count)
        return Pass(
            whole,
            real,
            real.long().cumsum(-1) - 1,
            cache,
            change=edits.on(torch.arange(count, device=device), real, of_prompt),
            changed=edits.layers,
            read=(rows, tokens) if len(reads) else None,
            inputs=_spread(inputs, count, len(ids), device, next(self._stack.model.parameters()).dtype),
        )

    def _run(self, step: Pass, who: str) -> Outcome:
        try:
            return self._stack.run(step)
        except (ValueError, IndexError) as error:
            reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
            raise UserError(f"{who}: the model refuses its images: {reason}") from error


def _spread(inputs: Mapping[str, Any], count: int, length: int, device: Any, dtype: Any) -> dict[str, Any]:
    """Inputs for a batch of one text several times over; numbers that are not whole in the model's type."""
    import torch

    spread = {}
    for name, value in inputs.items():
        if torch.is_tensor(value):
            moved = value.to(device, dtype) if value.is_floating_point() else value.to(device)
            if name.endswith(_BY_TOKEN):
                moved = torch.nn.functional.pad(moved, (0, length - moved.shape[1]))
            spread[name] = moved.repeat(count, *[1] * (moved.dim() - 1))
        else:
            spread[name] = value
    return spread


@contextmanager
def _placing_kept(model: Any) -> Iterator[list[Any]]:
    """The modules that remember where an image put its text's tokens; what they remember is as before afterwards."""
    modules = [module for module in model.modules() if hasattr(module, "rope_deltas")]
    before = [module.rope_deltas for module in modules]
    try:
        yield modules
    finally:
        for module, value in zip(modules, before, strict=True):
            module.rope_deltas = value
