"""Our side: ``LocalModel`` for what other tools ask of a model, ``Engine`` for conditions on token ids."""

from __future__ import annotations

from typing import Any

import common
import numpy as np

from affectlab.engine import NEUTRAL, Edit, Engine, EngineSettings, GenerateRow, Generation, Intervention, ScoreRow
from affectlab.models.base import Message, Request, Response, Sampling
from affectlab.models.loading import load_embedded
from affectlab.models.local import LocalModel
from affectlab.models.settings import ModelSettings


def respond(job: dict[str, Any], settings: ModelSettings) -> dict[str, Any]:
    """Requests of messages, as a run asks them: log-probabilities or text ``[prompt]``."""
    model = LocalModel.from_embedded("smollm2", settings)

    def run(_: dict[str, Any], prompts: list[dict[str, Any]]) -> list[Any]:
        sampling = Sampling(max_tokens=max(1, job["new_tokens"]))
        requests = [
            Request(
                str(place),
                "step",
                (Message("user", prompt["content"]),),
                options=tuple(prompt["options"]),
                sampling=sampling,
            )
            for place, prompt in enumerate(prompts)
        ]
        found: dict[str, Any] = {}
        for request, answer in model.respond(requests):
            assert isinstance(answer, Response), answer
            found[request.item] = answer.text if answer.logprobs is None else list(answer.logprobs)
        return [found[request.item] for request in requests]

    return common.compared(job, run)


def conditions(job: dict[str, Any]) -> list[Intervention]:
    made = [NEUTRAL]
    for vectors in np.load(job["vectors"]) if job["vectors"] else ():
        made.append(Intervention(tuple(Edit(at, one) for at, one in zip(job["layers"], vectors, strict=True))))
    return made


def run_engine(job: dict[str, Any], settings: ModelSettings) -> dict[str, Any]:
    """Token ids under every condition: log-probabilities or new tokens ``[condition][prompt]``."""
    engine = Engine(load_embedded("smollm2", settings).model, settings=EngineSettings(settings.batch_tokens))
    some = conditions(job)

    def run(_: dict[str, Any], prompts: list[dict[str, Any]]) -> list[list[Any]]:
        found: list[list[Any]] = [[None] * len(prompts) for _ in some]
        if job["new_tokens"]:
            going = [GenerateRow(prompt["ids"], Generation(job["new_tokens"])) for prompt in prompts]
            for row, which, text in engine.generate(going, some):
                found[which][row] = list(text.ids)
        else:
            scored = [ScoreRow(prompt["ids"], prompt["option_ids"]) for prompt in prompts]
            for row, which, logprobs in engine.score(scored, some):
                found[which][row] = logprobs.tolist()
        return found

    return common.compared(job, run)


def main() -> None:
    job = common.read_job()
    given = job["settings"][0]
    settings = ModelSettings(threads=job["threads"], batch_tokens=given["batch_tokens"])
    result = run_engine(job, settings) if given["asked"] == "engine" else respond(job, settings)
    common.write_result(result, "affectlab")


if __name__ == "__main__":
    main()
