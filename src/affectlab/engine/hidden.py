"""Outputs of a model's layers on texts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from affectlab.engine.stack import Pass, Stack
from affectlab.engine.texts import padded, positions_of
from affectlab.errors import UserError, WorldError
from affectlab.replacing import replacing

Position: TypeAlias = Literal["last", "mean"]
"""Which tokens of a text are read.

* ``last``: the last one.
* ``mean``: the mean over its tokens but attention sinks: the first token (on SmolLM2 its output is 140 times as long as
  the others'), and those whose output is more than :data:`SINK_RATIO` times as long as the median of the text's others
  at that layer. Each layer is judged by itself. A text of one token has no others: that token is read.
"""

SINK_RATIO = 10.0
"""An output this many times as long as the median of its text's belongs to an attention sink."""

RULES: dict[Position, str] = {
    "last": "the last",
    "mean": f"all but the first and those {SINK_RATIO:g} times as long as the median of the others",
}
"""The positions in words, for files."""


class Read(NamedTuple):
    """What was read: outputs, float32 ``[text, layer, width]``, and of how many tokens, ``[text, layer]``.

    Where nothing is pooled, the outputs of each text are ``[token, layer, width]``.
    """

    outputs: NDArray[np.float32] | list[NDArray[np.float32]]
    tokens: NDArray[np.int32]


def check_request(stack: Stack, layers: Sequence[int] | None, position: str) -> list[int]:
    """The layers to read, all of them by default.

    Raises:
        UserError: A layer that is not there, or an unknown position.
    """
    if position not in RULES:
        raise UserError(f"position is {position!r}: it must be one of {', '.join(RULES)}.")
    chosen = list(range(len(stack))) if layers is None else list(layers)
    if not chosen:
        raise UserError("No layers to read.")
    for layer in chosen:
        if isinstance(layer, bool) or not isinstance(layer, int | np.integer) or not 0 <= layer < len(stack):
            raise UserError(
                f"Layer {layer}: the model has no such layer; its {len(stack)} layers are 0 to {len(stack) - 1}."
            )
    return chosen


def outputs(stack: Stack, texts: Sequence[Sequence[int]], layers: Sequence[int], position: Position | None) -> Read:
    """Layer outputs of a batch."""
    ids, mask = padded(texts, stack.device, left=True)
    step = Pass(ids, mask, positions_of(mask), stop=max(layers) + 1, captured=frozenset(layers))
    return pooled(stack.run(step).outputs, mask, layers, position)


def pooled(found: Mapping[int, Any], mask: Any | None, layers: Sequence[int], position: Position | None) -> Read:
    """One vector for each text and layer.

    Args:
        found: For each layer, outputs ``[text, token, width]``; texts end together.
        mask: ``[text, token]``: whether it is a token, not padding; ``None``: all are.
        layers: Layers in the order wanted.
        position: Which tokens are read; ``None``: each by itself.
    """
    import torch

    if position is None:
        whole = torch.stack([found[layer].float().cpu() for layer in layers], dim=2)
        lengths = [whole.shape[1]] * len(whole) if mask is None else mask.sum(1).tolist()
        each = [text[-length:].numpy() for text, length in zip(whole, lengths, strict=True)]
        return Read(each, np.repeat(np.array(lengths, np.int32)[:, None], len(layers), axis=1))
    read, counts = [], []
    for layer in layers:
        out = found[layer].float()
        real = torch.ones(out.shape[:2], dtype=torch.bool) if mask is None else mask
        weights = _weights(out, real.to(out.device), position)
        counts.append(weights.sum(1).cpu())
        # Left out tokens may be so much longer than the others that 0 times them is worth avoiding: it is not always 0.
        kept = out.where(weights[..., None], 0.0)
        read.append((kept.sum(1) / weights.sum(1, keepdim=True)).cpu())
    return Read(torch.stack(read, dim=1).numpy(), torch.stack(counts, dim=1).numpy().astype(np.int32))


def _weights(out: Any, real: Any, position: Position) -> Any:
    """Which tokens are read, ``[text, token]``."""
    import torch

    if position == "last":
        return torch.arange(real.shape[1], device=real.device).expand_as(real) == real.shape[1] - 1
    others = real & (real.long().cumsum(1) > 1)
    norms = out.norm(dim=-1)
    median = norms.masked_fill(~others, float("nan")).nanmedian(dim=1, keepdim=True).values
    kept = others & (norms <= SINK_RATIO * median)
    return kept | (real & ~others.any(1, keepdim=True))


def batches(lengths: Sequence[int], budget: int) -> Iterator[list[int]]:
    """Numbers of texts, longest first, in batches of at most ``budget`` tokens with padding."""
    batch: list[int] = []
    for number in sorted(range(len(lengths)), key=lambda number: lengths[number], reverse=True):
        if batch and lengths[batch[0]] * (len(batch) + 1) > budget:
            yield batch
            batch = []
        batch.append(number)
    if batch:
        yield batch


class HiddenFile:
    """A safetensors file of what is read, open for its rows."""

    def __init__(self, path: Path, shape: tuple[int, int, int], metadata: dict[str, str]) -> None:
        """Make it, with room for outputs of some shape.

        Raises:
            OSError: When it cannot be written.
        """
        size, whole = 4 * int(np.prod(shape)), 4 * int(np.prod(shape)) + 4 * int(np.prod(shape[:2]))
        entries = {
            "hidden": {"dtype": "F32", "shape": list(shape), "data_offsets": [0, size]},
            "tokens": {"dtype": "I32", "shape": list(shape[:2]), "data_offsets": [size, whole]},
        }
        header = json.dumps({"__metadata__": metadata, **entries}).encode("utf-8")
        header += b" " * (-len(header) % 8)
        with path.open("wb") as file:
            file.write(len(header).to_bytes(8, "little") + header)
            file.truncate(8 + len(header) + whole)
        self._outputs = np.memmap(path, np.dtype("<f4"), "r+", 8 + len(header), shape)
        self._tokens = np.memmap(path, np.dtype("<i4"), "r+", 8 + len(header) + size, shape[:2])

    def write(self, numbers: Sequence[int], read: Read) -> None:
        """Put rows in their places."""
        self._outputs[list(numbers)] = read.outputs
        self._tokens[list(numbers)] = read.tokens

    def close(self) -> None:
        """Let go of it, with everything on the disk."""
        self._outputs.flush()
        self._tokens.flush()
        del self._outputs, self._tokens


@contextmanager
def hidden_file(path: Path, shape: tuple[int, int, int], metadata: dict[str, str]) -> Iterator[HiddenFile]:
    """A file that is there under its name once all went well, whole or not at all.

    Raises:
        UserError: When something other than a file is there.
        WorldError: When it cannot be written.
    """
    try:
        with replacing(path) as part:
            file = HiddenFile(part, shape, metadata)
            yield file
            file.close()
    except OSError as error:
        raise WorldError(f"{path} cannot be written: {error.strerror or error}") from error
