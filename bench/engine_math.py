"""The least arithmetic that a scoring job takes, to hold measured time against."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def bound(config: Any, job: dict[str, Any], conditions: int) -> float:
    """Multiply-adds of the matrix products that scoring needs when nothing is computed twice.

    Every distinct beginning of a text goes through the layers once: those up to and including the first edited layer
    once for all conditions, those above once for each. Attention looks at the tokens before; the head is needed where a
    probability is read. Norms, activations, rotary embeddings and copies are not counted; nor is it that the last layer
    needs only keys and values of tokens that are not read (3 % on 30 layers).

    Args:
        config: Configuration of a Llama-like model.
        job: With ``prompts`` and ``layers``.
        conditions: How many, neutral included.
    """
    depths, reads = _distinct(job["prompts"])
    width, heads = config.hidden_size, config.num_attention_heads
    keys = config.num_key_value_heads * config.head_dim
    queries = heads * config.head_dim
    weights = 2 * width * queries + 2 * width * keys + 3 * width * config.intermediate_size
    layer = weights * len(depths) + 2 * queries * sum(depths)
    once = min(job["layers"]) + 1 if conditions > 1 else 0
    runs = once + (config.num_hidden_layers - once) * conditions
    return float(layer * runs + conditions * reads * width * config.vocab_size)


def _distinct(prompts: Sequence[dict[str, Any]]) -> tuple[list[int], int]:
    """Length of every distinct beginning that is computed, and the number of places that are read."""
    computed: set[tuple[int, ...]] = set()
    read: set[tuple[int, ...]] = set()
    for prompt in prompts:
        ids = tuple(prompt["ids"])
        for option in prompt["option_ids"]:
            text = (*ids, *option[:-1])
            read.update(text[:end] for end in range(len(ids), len(text) + 1))
            computed.update(text[:end] for end in range(1, len(text) + 1))
    return [len(text) for text in computed], len(read)
