"""What a model's number type can hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from affectlab.engine.stack import Stack
from affectlab.errors import UserError

_RISKY = 8
"""A largest number less than this many times the longest output of a short text leaves little for longer ones."""


@dataclass(frozen=True, slots=True)
class Precision:
    """What came out.

    Attributes:
        room: For each layer, the longest change that its number type can hold beside the longest output seen.
        notes: What to beware of.
    """

    room: tuple[float, ...]
    notes: tuple[str, ...]


def check_precision(stack: Stack, dtype: Any) -> Precision:
    """Compare a number type with the model and with what its layers put out on a short text.

    Raises:
        UserError: Gemma in float16, whose outputs pass 65,504; any model whose outputs do so on a short text.
    """
    import torch

    if dtype == torch.float32:
        largest = float(torch.finfo(dtype).max)
        return Precision((largest,) * len(stack), ())
    notes = ["Half precision: results depend on the batch. Report figures from float32."]
    largest = float(torch.finfo(dtype).max)
    name = str(stack.config.model_type)
    if dtype == torch.float16 and "gemma" in name:
        raise UserError(
            f"{name} in float16: the outputs of Gemma's layers pass the largest number of float16, {largest:,.0f}. "
            "Load it in bfloat16 or float32."
        )
    longest = [float(np.max(stack.learned.norms[layer])) for layer in range(len(stack))]
    for layer, length in enumerate(longest):
        if not np.isfinite(length):
            raise UserError(
                f"{name} in {_name(dtype)}: layer {layer} puts out numbers that are not finite on a short text. Load "
                "it in bfloat16 or float32."
            )
    if max(longest) * _RISKY > largest:
        layer = int(np.argmax(longest))
        notes.append(
            f"{_name(dtype)} holds numbers up to {largest:,.0f}, and layer {layer} puts out a vector of length "
            f"{longest[layer]:,.0f} on a short text: longer ones, or edits, may overflow. Use bfloat16 or float32."
        )
    return Precision(tuple(largest - length for length in longest), tuple(notes))


def _name(dtype: Any) -> str:
    return str(dtype).removeprefix("torch.")
