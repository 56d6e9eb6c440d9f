"""Choosing the next token of each row, independently of the rows around it."""

from __future__ import annotations

from typing import Any

from affectlab.engine.rows import Generation


class Draw:
    """Chooses a row's next tokens: the likeliest, or one drawn with the row's own generator."""

    def __init__(self, generation: Generation) -> None:
        import torch

        self._generation = generation
        self._generator = torch.Generator().manual_seed(generation.seed or 0)

    def __call__(self, logits: Any, likeliest: int) -> int:
        """The next token, from its logits ``[vocabulary]`` and the number of the largest."""
        if self._generation.temperature == 0:
            return likeliest
        return self._drawn(logits)

    def _drawn(self, logits: Any) -> int:
        """Draw by inverting the cumulative distribution in the order of the vocabulary.

        One uniform number a token, and an order that rounding cannot change: the draw does not depend on the batch.
        """
        import torch

        probabilities = torch.softmax(logits.double() / self._generation.temperature, dim=-1).cpu()
        if self._generation.top_p < 1:
            ordered, tokens = probabilities.sort(descending=True)
            outside = ordered.cumsum(-1) - ordered >= self._generation.top_p
            probabilities[tokens[outside]] = 0
        cumulative = probabilities.cumsum(-1)
        point = torch.rand(1, generator=self._generator, dtype=torch.float64) * cumulative[-1]
        return int(torch.searchsorted(cumulative, point, right=True).clamp(max=int(probabilities.nonzero()[-1])))
