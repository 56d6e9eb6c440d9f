"""Seeds of single requests."""

from __future__ import annotations

import hashlib

from affectlab.models.base import Request


def request_seed(request: Request) -> int:
    """Seed in [0, 2**31) of a request's draws, from its own seed (0 when it has none) and its key.

    Repeats and items that share a seed still draw independently; the same request always draws the same. The condition
    is left out: a neutral and a steered text draw the same random numbers, so that they differ by the condition and not
    by the draw.
    """
    drawn_by = (request.sampling.seed or 0, request.item, request.variant, request.step, request.repeat)
    text = "\x1f".join(map(str, drawn_by))
    return int.from_bytes(hashlib.sha256(text.encode("utf-8")).digest()[:4]) >> 1
