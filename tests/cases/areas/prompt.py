"""Cases of prompt templates."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from affectlab.benchmarks.base import Asking
from affectlab.benchmarks.cue.demonstrations import pool
from affectlab.benchmarks.cue.prompts import KEYS
from affectlab.benchmarks.cue.protocols import PROTOCOLS
from affectlab.benchmarks.prompt import PromptTemplate
from affectlab.errors import UserError
from affectlab.items import Item


def check(case: Mapping[str, Any]) -> str | None:
    """``None`` when the case comes out right, else what was wrong."""
    given, right = case["input"], case["right_outcome"]
    if "template" in given:
        fields = {name: value for name, value in given.items() if name != "template"}
        try:
            made = PromptTemplate(given["template"], tuple(fields)).fill(**fields)
        except UserError as error:
            return None if right.get("status") in ("error", "invalid", "reject") else f"refused: {error}"
        if right.get("value") != made:
            return f"made {made!r}, right is {right.get('value')!r}"
        return None
    if "demo_has_gold_stance" in given:
        stances = bool(given["demo_has_gold_stance"]), bool(given["test_item_has_gold_stance"])
        return _same_fields(*stances) if right.get("status") == "flag" else "unknown shape"
    return "unknown shape"


def _same_fields(demo_has_stance: bool, asked_has_stance: bool) -> str | None:
    """CUE-Bench's few-shot turns: what a record has and the prompt does not show is no field of either."""
    item = Item("asked", 0, {"text": "行吧，听你的。", "context": "甲：就这么定了"}, _gold(asked_has_stance))
    if not all(_gold(demo_has_stance).keys() <= shot.gold.keys() for shot in pool()):
        return "the demonstrations have no gold stance to leave out"
    for request in PROTOCOLS["few_shot"].requests(item, Asking(), {}):
        shown = [_headings(message.content) for message in request.messages if message.role == "user"]
        if len(shown) < 2 or any(headings != shown[-1] for headings in shown):
            return f"{request.step}: demonstrations show {shown[:-1]}, the item asked about shows {shown[-1]}"
        told = {key for turn in request.messages if turn.role == "assistant" for key in json.loads(turn.content)}
        if told != {KEYS[request.step]}:
            return f"{request.step}: demonstrations answer {sorted(told)}"
    return None


def _gold(with_stance: bool) -> dict[str, str]:
    return {"intent": "suppression", "emotion": "disappointment"} | ({"stance": "negative"} if with_stance else {})


def _headings(turn: str) -> list[str]:
    """First line of each of a turn's paragraphs: the field that it holds."""
    return [paragraph.split("\n")[0] for paragraph in turn.split("\n\n")]
