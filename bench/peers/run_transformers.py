"""A loop that a careful user writes on transformers: batches by hand, hooks for vectors, the last logits only.

Rows of several conditions may share a batch: each row has its own vector. Rows of like length go together.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import common
import numpy as np
import torch
from transformers import AutoModelForCausalLM


def main() -> None:
    job = common.read_job()
    model = AutoModelForCausalLM.from_pretrained(job["model"], dtype=torch.float32).eval()
    given = torch.from_numpy(np.load(job["vectors"]))
    vectors = torch.cat([torch.zeros_like(given[:1]), given])

    def one(which: torch.Tensor, some: list[dict[str, Any]]) -> list[Any]:
        hooks = []
        for place, layer in enumerate(job["layers"]):
            delta = vectors[which, place][:, None]
            hooks.append(model.model.layers[layer].register_forward_hook(lambda _m, _a, out, d=delta: out + d))
        try:
            batch = common.padded(some)
            if new := job["new_tokens"]:
                ids = batch["input_ids"]
                out = model.generate(
                    ids,
                    attention_mask=torch.ones_like(ids),
                    max_new_tokens=new,
                    min_new_tokens=new,
                    do_sample=False,
                    pad_token_id=0,
                )
                return out[:, ids.shape[1] :].tolist()
            return common.first_tokens(model(**batch, logits_to_keep=1, use_cache=False).logits[:, -1], some)
        finally:
            for hook in hooks:
                hook.remove()

    def run(settings: dict[str, Any], prompts: list[dict[str, Any]]) -> list[list[Any]]:
        found: list[list[Any]] = [[None] * len(prompts) for _ in vectors]
        order = [place for places in common.by_length(prompts, len(prompts)) for place in places]
        every = sorted(product(range(len(vectors)), order), key=lambda pair: len(prompts[pair[1]]["ids"]))
        for start in range(0, len(every), settings["batch"]):
            rows = every[start : start + settings["batch"]]
            which = torch.tensor([condition for condition, _ in rows])
            for (condition, place), value in zip(rows, one(which, [prompts[place] for _, place in rows]), strict=True):
                found[condition][place] = value
        return found

    with torch.inference_mode():
        common.write_result(common.compared(job, run))


if __name__ == "__main__":
    main()
