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
            values: list[Any] = [None] * len(prompts)
            with steerer.apply(model) if steerer else nullcontext():
                for places in common.by_length(prompts, settings["batch"]):
                    some = [prompts[place] for place in places]
                    logits = model(**common.padded(some), use_cache=False, **last).logits[:, -1]
                    for place, value in zip(places, common.first_tokens(logits, some), strict=True):
                        values[place] = value
            found.append(values)
        return found

    with torch.inference_mode():
        common.write_result(common.compared(job, run), "steering-vectors")


if __name__ == "__main__":
    main()
