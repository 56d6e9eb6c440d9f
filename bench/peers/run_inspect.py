"""Inspect AI: greedy text after a user's turn, by its ``hf`` provider; connections are its batch size."""

from __future__ import annotations

import asyncio
from typing import Any

import common
from inspect_ai.model import ChatMessageUser, GenerateConfig, get_model


def main() -> None:
    job = common.read_job()
    model = get_model("hf/local", model_path=job["model"], device="cpu", do_sample=False, dtype="float32")

    async def ask(settings: dict[str, Any], prompts: list[dict[str, Any]]) -> list[str]:
        config = GenerateConfig(max_tokens=job["new_tokens"], max_connections=settings["batch"])
        asked = ([ChatMessageUser(content=prompt["content"])] for prompt in prompts)
        answers = await asyncio.gather(*(model.generate(messages, config=config) for messages in asked))
        return [answer.completion for answer in answers]

    with asyncio.Runner() as runner:
        found = common.compared(job, lambda settings, prompts: runner.run(ask(settings, prompts)))
    common.write_result(found, "inspect-ai")


if __name__ == "__main__":
    main()
