"""repeng: one control vector after the other on batches of prompts, the logits of the options after each.

``ControlModel`` is called as its documentation does. A batch needs ``position_ids`` for every row: without them
transformers hands one row of them to the layers, and repeng fails to spread its mask over the batch.
"""

from __future__ import annotations

from typing import Any

import common
import numpy as np
import torch
from repeng import ControlModel, ControlVector
from transformers import AutoModelForCausalLM


def main() -> None:
    job = common.read_job()
    loaded = AutoModelForCausalLM.from_pretrained(job["model"], torch_dtype=torch.float32).eval()
    model = ControlModel(loaded, job["layers"])
    controls: list[Any] = [None]
    for vectors in np.load(job["vectors"]):
        controls.append(ControlVector("llama", dict(zip(job["layers"], vectors, strict=True))))

    def run(settings: dict[str, Any], prompts: list[dict[str, Any]]) -> list[list[Any]]:
        found: list[list[Any]] = []
        last = {"logits_to_keep": 1} if settings["last"] else {}
        for control in controls:
            if control is None:
                model.reset()
            else:
                model.set_control(control)
            values: list[Any] = [None] * len(prompts)
            for places in common.by_length(prompts, settings["batch"]):
                some = [prompts[place] for place in places]
                logits = model(**common.padded(some), use_cache=False, **last).logits[:, -1]
                for place, value in zip(places, common.first_tokens(logits, some), strict=True):
                    values[place] = value
            found.append(values)
        return found

    with torch.inference_mode():
        common.write_result(common.compared(job, run), "repeng")


if __name__ == "__main__":
    main()
