"""A loop that a careful user writes on transformers: batches by hand, hooks for vectors, the last logits only.

Rows of several conditions may share a batch: each row has its own vector. ``batch`` prompts of one condition a time is
the simple case of it.
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

    def one(which: torch.Tensor, ids: torch.Tensor, options: torch.Tensor) -> list[Any]:
        hooks = []
        for place, layer in enumerate(job["layers"]):
            delta = vectors[which, place][:, None]
            hooks.append(model.model.layers[layer].register_forward_hook(lambda _m, _a, out, d=delta: out + d))
        try:
            if new := job["new_tokens"]:
                out = model.generate(
                    ids,
                    attention_mask=torch.ones_like(ids),
                    max_new_tokens=new,
                    min_new_tokens=new,
                    do_sample=False,
                    pad_token_id=0,
                )
                return out[:, ids.shape[1] :].tolist()
            logits = model(input_ids=ids, logits_to_keep=1, use_cache=False).logits[:, -1]
            return logits.log_softmax(-1).gather(1, options).tolist()
        finally:
            for hook in hooks:
                hook.remove()

    def run(settings: dict[str, Any], prompts: list[dict[str, Any]]) -> list[list[Any]]:
        ids = torch.tensor([prompt["ids"] for prompt in prompts])
        options = torch.tensor([[option[0] for option in prompt["option_ids"]] for prompt in prompts])
        found: list[list[Any]] = [[None] * len(prompts) for _ in vectors]
        every = list(product(range(len(vectors)), range(len(prompts))))
        for start in range(0, len(every), settings["batch"]):
            rows = every[start : start + settings["batch"]]
            which, places = (torch.tensor(column) for column in zip(*rows, strict=True))
            for (condition, place), value in zip(rows, one(which, ids[places], options[places]), strict=True):
                found[condition][place] = value
        return found

    with torch.inference_mode():
        common.write_result(common.compared(job, run))


if __name__ == "__main__":
    main()
