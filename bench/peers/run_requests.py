"""Our side, asked with a benchmark's own requests: conversations, beginning of the answer, and options."""

from __future__ import annotations

from typing import Any

import common

from affectlab.models.base import Message, Request, Response
from affectlab.models.local import LocalModel
from affectlab.models.settings import ModelSettings


def main() -> None:
    job = common.read_job()
    settings = ModelSettings(threads=job["threads"], batch_tokens=job["settings"][0]["batch_tokens"])
    model = LocalModel.from_embedded("smollm2", settings)

    def run(_: dict[str, Any], prompts: list[dict[str, Any]]) -> list[list[float]]:
        requests = [
            Request(
                prompt["item"],
                prompt["step"],
                tuple(Message(*turn) for turn in prompt["messages"]),
                prefill=prompt["prefill"],
                options=tuple(prompt["options"]),
            )
            for prompt in prompts
        ]
        found: dict[Any, list[float]] = {}
        for request, answer in model.respond(requests):
            assert isinstance(answer, Response), answer
            assert answer.logprobs is not None
            found[request.key] = list(answer.logprobs)
        return [found[request.key] for request in requests]

    common.write_result(common.compared(job, run), "affectlab")


if __name__ == "__main__":
    main()
