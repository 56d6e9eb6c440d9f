"""Multiply-adds a CPU second of the model's own matrix products: of the fastest alone, and of a whole block."""

from __future__ import annotations

import common
import torch
from transformers import AutoConfig

TOKENS, REPEATS = 2048, 12


def main() -> None:
    job = common.read_job()
    config = AutoConfig.from_pretrained(job["model"])
    width, inner = config.hidden_size, config.intermediate_size
    queries, keys = (heads * config.head_dim for heads in (config.num_attention_heads, config.num_key_value_heads))
    shapes = [(width, queries), (width, keys), (width, keys), (queries, width)]
    shapes += [(width, inner), (width, inner), (inner, width)]
    rates, spent, madds = [], 0.0, 0
    with torch.inference_mode():
        for taken, given in shapes:
            inputs, weight = torch.randn(TOKENS, taken), torch.randn(given, taken)
            torch.nn.functional.linear(inputs, weight)
            took = common.measured(
                lambda inputs=inputs, weight=weight: [
                    torch.nn.functional.linear(inputs, weight) for _ in range(REPEATS)
                ].clear()
            )["cpu"]
            count = REPEATS * TOKENS * taken * given
            rates.append(count / took)
            spent, madds = spent + took, madds + count
    values = {"largest": max(rates), "block": madds / spent}
    common.write_result({"wall": spent, "cpu": spent, "values": values})


if __name__ == "__main__":
    main()
