"""lm-evaluation-harness: the log-likelihood of every option after the rendered prompt, by its ``hf`` model."""

from __future__ import annotations

from typing import Any

import common
from lm_eval.api.instance import Instance
from lm_eval.models.huggingface import HFLM


def main() -> None:
    job = common.read_job()
    model = HFLM(pretrained=job["model"], device="cpu", dtype="float32", batch_size=1)

    def run(settings: dict[str, Any], prompts: list[dict[str, Any]]) -> list[Any]:
        model.batch_size_per_gpu = settings["batch"]
        requests = [
            Instance(request_type="loglikelihood", doc={}, arguments=(prompt["text"], option), idx=place)
            for prompt in prompts
            for place, option in enumerate(prompt["options"])
        ]
        answers = iter(model.loglikelihood(requests, disable_tqdm=True))
        return [[next(answers)[0] for _ in prompt["options"]] for prompt in prompts]

    common.write_result(common.compared(job, run), "lm-eval")


if __name__ == "__main__":
    main()
