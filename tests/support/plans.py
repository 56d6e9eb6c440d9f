"""Small plans and scripts for tests of runs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from affectlab.benchmarks import open_benchmark
from affectlab.benchmarks.base import Asking
from affectlab.items import Item
from affectlab.runs import Plan

EMOTIONS = (
    ("joy", "anger"),
    ("pride", "sadness"),
    ("relief", "fear"),
    ("gratitude", "disgust"),
    ("excitement", "embarrassment"),
)


def scene(item_id: str, index: int, gold: tuple[str, str] | None = None, mode: str = "physical") -> Item:
    """A scene item; gold cycles over five pairs unless given."""
    a, b = gold or EMOTIONS[index % len(EMOTIONS)]
    return Item(
        id=item_id,
        index=index,
        inputs={
            "sentence": f"Scene {item_id}: the tram leaves with one of them on board.",
            "setting": "A tram stop.",
            "role_A": "the woman on board",
            "role_B": "the man at the stop",
        },
        gold={"A": a, "B": b},
        slices={"mode": mode},
    )


def tiny_plan(ids: Sequence[str], protocol: str = "joint", **changes: Any) -> Plan:
    """A plan over made-up scenes."""
    benchmark = open_benchmark("chiaro")
    plan = Plan(
        benchmark=benchmark,
        protocol=benchmark.protocols[protocol],
        items=tuple(scene(item_id, index) for index, item_id in enumerate(ids)),
        source="test",
        data_sha256="0" * 64,
        asking=Asking(),
    )
    return replace(plan, **changes)


def scripted_file(path: Path, plan: Plan, answers: dict[str, tuple[str, str]] | None = None) -> Path:
    """A script in which every item gets the reply of a model that answers its gold, or ``answers`` by item."""
    with path.open("w", encoding="utf-8") as file:
        for item in plan.items:
            chosen = (
                dict(zip("AB", answers[item.id], strict=True)) if answers and item.id in answers else dict(item.gold)
            )
            for request in plan.protocol.requests(item, plan.asking, {}):
                reply = plan.protocol.ideal_reply(item, request, chosen, plan.asking)
                line: dict[str, Any] = {"item": item.id, "step": request.step, "variant": request.variant}
                line |= {"reply": reply.text} if reply.text is not None else {"logprobs": list(reply.logprobs or ())}
                file.write(json.dumps(line) + "\n")
    return path
