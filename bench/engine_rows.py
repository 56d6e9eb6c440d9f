"""The rows of the speed table: what is done, how large, who else does it, and the goals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from engine_jobs import LETTERS, Texts

CONDITIONS, NEW_TOKENS = 24, 64
SHARED, LENGTH = 90, 190


@dataclass(frozen=True)
class Peer:
    """Another tool on a row.

    Attributes:
        name: What it is called in the table.
        venv: Its environment; empty: the project's own.
        script: What runs in it.
        goals: How many times faster we mean to be; one for all ways, or one for each.
        settings: Ways to run it.
        probe: Prompts on which the ways are tried, so that the fastest runs the rest; 0: all ways run, and all count.
        part: Part of the row's prompts it is given when the row is scaled down by default.
        older: Whether it runs on transformers 4.
    """

    name: str
    venv: str
    script: str
    goals: Sequence[float]
    settings: Sequence[dict[str, Any]]
    probe: int = 0
    part: float = 1.0
    older: bool = False


@dataclass(frozen=True)
class Row:
    """A row of the table.

    Attributes:
        title: What is done, at scale 1.
        scale: Part of it that is run by default.
        asked: How we are asked: ``model`` (messages) or ``engine`` (token ids and conditions).
        make: From a maker of texts and the scale to the job.
        peers: Who else does it.
    """

    title: str
    scale: float
    asked: str
    make: Callable[[Texts, float], dict[str, Any]]
    peers: Sequence[Peer]


def choice(texts: Texts, scale: float) -> dict[str, Any]:
    return {"prompts": texts.prompts(max(1, round(500 * scale)), SHARED, LENGTH, LETTERS, seed=1)}


def care(texts: Texts, scale: float) -> dict[str, Any]:
    return {"prompts": texts.stories(max(1, round(50 * scale)), 300, 360, seed=2)}


def short(texts: Texts, scale: float) -> dict[str, Any]:
    return {"prompts": texts.prompts(max(1, round(200 * scale)), SHARED, LENGTH, (), seed=3), "new_tokens": 16}


def decisions(texts: Texts, scale: float) -> dict[str, Any]:
    prompts = texts.prompts(max(2, round(50 * scale)), SHARED, LENGTH, LETTERS, seed=4)
    return {"prompts": prompts, "conditions": CONDITIONS}


def stories(texts: Texts, scale: float) -> dict[str, Any]:
    """Scaled by its conditions: fewer prompts would shrink everybody's batches."""
    conditions = max(2, round((CONDITIONS + 1) * scale)) - 1
    prompts = texts.prompts(16, SHARED, LENGTH, LETTERS, seed=5)
    return {"prompts": prompts, "new_tokens": NEW_TOKENS, "conditions": conditions}


def batches(*sizes: int) -> list[dict[str, Any]]:
    return [{"batch": size} for size in sizes]


STEERED = (
    {"batch": 8, "last": False},
    {"batch": 8, "last": True},
    {"batch": 1, "last": False},
)
"""As a careful user would, then with the last logits only, then one prompt at a time as documented."""

ROWS = {
    "choice": Row(
        "five-way choice by letter, 500 prompts of 190 tokens, 90 shared",
        0.12,
        "model",
        choice,
        [Peer("lm-eval hf", "lm-eval", "run_lm_eval.py", [2.3], batches(1, 4, 8, 16), probe=8)],
    ),
    "care": Row(
        "CARE: 24 questions of 60 tokens with worded options on each of 50 stories of 300",
        0.02,
        "model",
        care,
        [Peer("lm-eval hf", "lm-eval", "run_lm_eval.py", [15], batches(1, 4, 16), probe=1, part=0.25)],
    ),
    "short": Row(
        "200 generations of up to 16 tokens after prompts of 190 tokens, 90 shared",
        0.32,
        "model",
        short,
        [Peer("Inspect hf", "inspect-ai", "run_inspect.py", [4], batches(64, 32))],
    ),
    "steer": Row(
        "neutral and 24 conditions on 50 decision prompts of 190 tokens, 90 shared",
        0.24,
        "engine",
        decisions,
        [
            Peer("transformers loop", "", "run_transformers.py", [2.4], batches(4, 16), probe=1, part=0.17),
            Peer("repeng", "repeng", "run_repeng.py", [3, 3, 5], STEERED, part=0.17, older=True),
            Peer(
                "steering-vectors",
                "steering-vectors",
                "run_steering_vectors.py",
                [3, 3, 5],
                STEERED,
                part=0.17,
                older=True,
            ),
        ],
    ),
    "texts": Row(
        "25 conditions x 64 new tokens on 16 prompts of 190 tokens, 90 shared",
        0.08,
        "engine",
        stories,
        [Peer("transformers generate", "", "run_transformers.py", [1.5], batches(16, 32))],
    ),
}
