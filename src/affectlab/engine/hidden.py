"""Outputs of a model's layers on texts."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from affectlab.engine.stack import Pass, Stack
from affectlab.engine.texts import padded, positions_of
from affectlab.errors import UserError, WorldError

Position: TypeAlias = Literal["last", "mean"]


def check_request(stack: Stack, layers: Sequence[int] | None, position: str) -> list[int]:
    """The layers to read, all of them by default.

    Raises:
        UserError: A layer that is not there, or an unknown position.
    """
    if position not in ("last", "mean"):
        raise UserError(f"position is {position!r}: it must be 'last' or 'mean'.")
    chosen = list(range(len(stack))) if layers is None else list(layers)
    if not chosen:
        raise UserError("No layers to read.")
    for layer in chosen:
        if not 0 <= layer < len(stack):
            raise UserError(
                f"Layer {layer}: the model has no such layer; its {len(stack)} layers are 0 to {len(stack) - 1}."
            )
    return chosen


def outputs(
    stack: Stack, texts: Sequence[Sequence[int]], layers: Sequence[int], position: Position
) -> NDArray[np.float32]:
    """Layer outputs of a batch, ``[text, layer, width]``.

    Raises:
        WorldError: When they are not finite.
    """
    import torch

    ids, mask = padded(texts, stack.device, left=True)
    step = Pass(ids, mask, positions_of(mask), stop=max(layers) + 1, captured=frozenset(layers))
    found = stack.run(step).outputs
    read = torch.stack([_pooled(found[layer], mask, position).cpu() for layer in layers], dim=1)
    return read.numpy()


def _pooled(out: Any, mask: Any, position: Position) -> Any:
    if position == "last":
        return out[:, -1].float()
    weights = mask.to(out.device)[..., None].float()
    return (out.float() * weights).sum(1) / weights.sum(1)


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
    """A safetensors file of one float32 tensor, ``hidden``, that is written row by row; whole or not there at all."""

    def __init__(self, path: Path, shape: tuple[int, int, int], metadata: dict[str, str]) -> None:
        self._path = path
        self._part = path.with_name(path.name + ".part")
        size = 4 * int(np.prod(shape))
        entry = {"dtype": "F32", "shape": list(shape), "data_offsets": [0, size]}
        header = json.dumps({"__metadata__": metadata, "hidden": entry}).encode("utf-8")
        header += b" " * (-len(header) % 8)
        try:
            with self._part.open("wb") as file:
                file.write(len(header).to_bytes(8, "little") + header)
                file.truncate(8 + len(header) + size)
            self._rows = np.memmap(self._part, np.dtype("<f4"), "r+", 8 + len(header), shape)
        except OSError as error:
            raise WorldError(f"{self._part} cannot be written: {error}") from error

    def write(self, numbers: Sequence[int], rows: NDArray[np.float32]) -> None:
        """Put rows in their places."""
        self._rows[list(numbers)] = rows

    def finish(self) -> None:
        """Make the file appear under its name."""
        self._rows.flush()
        del self._rows
        os.replace(self._part, self._path)  # noqa: PTH105

    def discard(self) -> None:
        """Leave nothing behind."""
        self._part.unlink(missing_ok=True)
