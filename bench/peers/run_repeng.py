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
            found.append([])
            for start in range(0, len(prompts), settings["batch"]):
                some = prompts[start : start + settings["batch"]]
                ids = torch.tensor([prompt["ids"] for prompt in some])
                places = torch.arange(ids.shape[1]).expand(len(some), -1)
                logits = model(input_ids=ids, position_ids=places, use_cache=False, **last).logits[:, -1]
                options = torch.tensor([[option[0] for option in prompt["option_ids"]] for prompt in some])
                found[-1] += logits.log_softmax(-1).gather(1, options).tolist()
        return found

    with torch.inference_mode():
        common.write_result(common.compared(job, run), "repeng")


if __name__ == "__main__":
    main()
