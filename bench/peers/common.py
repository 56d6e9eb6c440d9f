"""What every side of the comparison does alike: read its job, time itself, write its result.

Runs in each tool's own environment, so it needs nothing but the standard library and torch.
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

PACKAGES = ("torch", "transformers", "numpy")


def read_job() -> dict[str, Any]:
    """The job named on the command line, torch set to its threads."""
    import torch

    job: dict[str, Any] = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    torch.set_num_threads(job["threads"])
    return job


def memory(field: str) -> float:
    """A figure of ``/proc/self/status`` in GB; NaN where there is none."""
    try:
        status = Path("/proc/self/status").read_text(encoding="utf-8")
    except OSError:
        return float("nan")
    found = re.search(rf"^{field}:\s+(\d+) kB", status, re.MULTILINE)
    return int(found.group(1)) * 1024 / 1e9 if found else float("nan")


def _forget_peak() -> None:
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")
    except OSError:
        return


def measured(run: Callable[[], Any]) -> dict[str, Any]:
    """Wall and CPU seconds (user and system, all threads) of a call, its memory, and what it returned."""
    before = memory("VmRSS")
    _forget_peak()
    wall, cpu = time.perf_counter(), time.process_time()
    values = run()
    return {
        "wall": time.perf_counter() - wall,
        "cpu": time.process_time() - cpu,
        "before_gb": before,
        "peak_gb": memory("VmHWM"),
        "values": values,
    }


def compared(job: dict[str, Any], run: Callable[[dict[str, Any], list[dict[str, Any]]], Any]) -> dict[str, Any]:
    """Run a job under its settings: under each, or under the one that was fastest on the first few prompts.

    Args:
        job: With ``prompts``, ``settings`` and, where the fastest is wanted, ``probe`` prompts to try them on.
        run: From settings and prompts to the values.

    Returns:
        ``runs``, as :func:`measured`, each with its ``settings``; and what was ``tried``, without values.
    """
    settings, tried = job["settings"], []
    run(settings[0], job["prompts"][:1])
    if job["probe"]:
        part = job["prompts"][: job["probe"]]
        for some in settings:
            tried.append(measured(lambda some=some: run(some, part)) | {"settings": some, "values": None})
        settings = [min(tried, key=lambda one: one["cpu"])["settings"]]
    runs = [measured(lambda some=some: run(some, job["prompts"])) | {"settings": some} for some in settings]
    return {"runs": runs, "tried": tried}


def padded(prompts: list[dict[str, Any]]) -> dict[str, Any]:
    """Prompts as one batch, padded on the left so that all end at the last place: arguments of the model's call.

    Where all are equally long there is no mask: it would only cost the model time. Places count from the first real
    token; padding has place 0.
    """
    import torch

    longest = max(len(prompt["ids"]) for prompt in prompts)
    gaps = [longest - len(prompt["ids"]) for prompt in prompts]
    rows = [[0] * gap + prompt["ids"] for gap, prompt in zip(gaps, prompts, strict=True)]
    places = torch.stack([torch.arange(longest) - gap for gap in gaps]).clamp(min=0)
    batch = {"input_ids": torch.tensor(rows), "position_ids": places}
    if any(gaps):
        batch["attention_mask"] = torch.stack([(torch.arange(longest) >= gap).long() for gap in gaps])
    return batch


def by_length(prompts: list[dict[str, Any]], size: int) -> list[list[int]]:
    """Places of prompts in batches of like length, so that little is padding."""
    order = sorted(range(len(prompts)), key=lambda place: len(prompts[place]["ids"]))
    return [order[start : start + size] for start in range(0, len(order), size)]


def first_tokens(logits: Any, prompts: list[dict[str, Any]]) -> list[list[float]]:
    """Log-probabilities of the options' first tokens, from each row's last logits."""
    logprobs = logits.log_softmax(-1)
    return [
        logprobs[row, [option[0] for option in prompt["option_ids"]]].tolist() for row, prompt in enumerate(prompts)
    ]


def write_result(result: dict[str, Any], *tools: str) -> None:
    """Write the result where the command line says, with the versions of what ran."""
    versions = {}
    for package in (*tools, *PACKAGES):
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    Path(sys.argv[2]).write_text(json.dumps(result | {"versions": versions}), encoding="utf-8")
