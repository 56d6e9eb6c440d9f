"""steering-vectors: one vector after the other on batches of prompts, the logits of the options after each."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import common
import numpy as np
import torch
from steering_vectors import SteeringVector
from transformers import AutoModelForCausalLM


def main() -> None:
    job = common.read_job()
    model = AutoModelForCausalLM.from_pretrained(job["model"], torch_dtype=torch.float32).eval()
    steerers: list[Any] = [None]
    for vectors in torch.from_numpy(np.load(job["vectors"])):
        steerers.append(SteeringVector(dict(zip(job["layers"], vectors, strict=True)), "decoder_block"))

    def run(settings: dict[str, Any], prompts: list[dict[str, Any]]) -> list[list[Any]]:
        found: list[list[Any]] = []
        last = {"logits_to_keep": 1} if settings["last"] else {}
        for steerer in steerers:
            found.append([])
            with steerer.apply(model) if steerer else nullcontext():
                for start in range(0, len(prompts), settings["batch"]):
                    some = prompts[start : start + settings["batch"]]
                    ids = torch.tensor([prompt["ids"] for prompt in some])
                    logits = model(input_ids=ids, use_cache=False, **last).logits[:, -1]
                    options = torch.tensor([[option[0] for option in prompt["option_ids"]] for prompt in some])
                    found[-1] += logits.log_softmax(-1).gather(1, options).tolist()
        return found

    with torch.inference_mode():
        common.write_result(common.compared(job, run), "steering-vectors")


if __name__ == "__main__":
    main()
