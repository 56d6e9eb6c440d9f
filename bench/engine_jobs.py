"""What both sides of ``bench/engine.py`` are given: synthetic prompts of stated lengths, and made-up vectors.

Every text is made of common words that are one token each behind a space, so that lengths are exact and every tool's
tokenizer gives the same ids. A prompt is one user turn, rendered by the model's own chat template.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from affectlab.models.base import Message, Request
from affectlab.models.prompts import Prompter

LETTERS = ("A", "B", "C", "D", "E")
AGREEMENT = (
    "Strongly disagree",
    "Somewhat disagree",
    "Neither agree nor disagree",
    "Somewhat agree",
    "Strongly agree",
)
AMOUNTS = ("Not at all", "Very slightly", "Slightly", "Moderately", "Quite a bit", "Very", "Extremely")
LEVELS = tuple(tuple(f"{amount} {sign}" for amount in AMOUNTS) for sign in ("positive", "negative"))
QUESTIONS = (AGREEMENT,) * 22 + LEVELS
"""CARE's questions on a story: 22 statements to agree with, two levels of emotion."""

RELATIVE = 17.0
"""Length of a made-up vector: a tenth of the usual length of SmolLM2's hidden states."""


@dataclass(frozen=True)
class Texts:
    """Makes prompts of stated lengths for one model."""

    prompter: Prompter
    words: Sequence[str]
    head: int
    tail: int

    @classmethod
    def of(cls, tokenizer: Any) -> Texts:
        prompter = Prompter(tokenizer)
        one, other = (prompter.tokens(prompter.render(_asked(text))) for text in "AB")
        head = next(place for place, pair in enumerate(zip(one, other, strict=True)) if pair[0] != pair[1])
        words = sorted(
            piece[1:]
            for piece in tokenizer.get_vocab()
            if piece.startswith("Ġ") and piece[1:].isascii() and piece[1:].islower() and 4 <= len(piece) <= 9
        )
        return cls(prompter, words, head, len(one) - head - 1)

    def some(self, draw: random.Random, count: int) -> list[str]:
        return draw.choices(self.words, k=count)

    def prompt(self, words: Sequence[str], options: Sequence[str], length: int) -> dict[str, Any]:
        """A prompt of ``length`` tokens: the template's, a letter, the words."""
        content = " ".join(["A", *words])
        text = self.prompter.render(_asked(content))
        ids = self.prompter.tokens(text)
        if len(ids) != length:
            raise SystemExit(f"A prompt has {len(ids)} tokens where {length} were meant.")
        option_ids = [self.prompter.option_tokens(option) for option in options]
        return {"content": content, "text": text, "ids": ids, "options": options, "option_ids": option_ids}

    def prompts(self, count: int, shared: int, length: int, options: Sequence[str], seed: int) -> list[dict[str, Any]]:
        """Prompts of ``length`` tokens whose first ``shared``, the template's included, are the same."""
        draw = random.Random(seed)
        before = self.some(draw, shared - self.head - 1)
        own = length - shared - self.tail
        return [self.prompt([*before, *self.some(draw, own)], options, length) for _ in range(count)]

    def stories(self, count: int, story: int, length: int, seed: int) -> list[dict[str, Any]]:
        """All of CARE's questions on each of some stories; the story, template included, comes first."""
        draw = random.Random(seed)
        asked = [self.some(draw, length - story - self.tail) for _ in QUESTIONS]
        found = []
        for _ in range(count):
            told = self.some(draw, story - self.head - 1)
            found += [
                self.prompt([*told, *question], options, length)
                for question, options in zip(asked, QUESTIONS, strict=True)
            ]
        return found


def _asked(content: str) -> Request:
    return Request("item", "step", (Message("user", content),))


def write_vectors(path: Path, conditions: int, layers: int, width: int, seed: int) -> None:
    """Vectors ``[condition, layer, width]`` in random directions."""
    made = np.random.default_rng(seed).standard_normal((conditions, layers, width))
    np.save(path, (RELATIVE * made / np.linalg.norm(made, axis=-1, keepdims=True)).astype(np.float32))


def older_copy(model: Path, folder: Path) -> Path:
    """The model with a config that transformers 4 reads right: it knows ``rope_theta``, not ``rope_parameters``."""
    folder.mkdir(exist_ok=True)
    for file in model.iterdir():
        if file.name != "config.json":
            (folder / file.name).symlink_to(file)
    config = json.loads((model / "config.json").read_text(encoding="utf-8"))
    config["rope_theta"] = config.pop("rope_parameters")["rope_theta"]
    config["torch_dtype"] = config.pop("dtype")
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    return folder
