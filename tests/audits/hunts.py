"""Runs on stag hunts by models whose replies are written down."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from affectlab.benchmarks.base import Asking
from affectlab.models import ModelSettings, open_model
from affectlab.models.base import Model
from affectlab.runs import execute, make_plan

OPTIONS = ("Hunt the hare alone", "Join the others at the stag")


def line(item: str, reply: str, **selectors: Any) -> dict[str, Any]:
    """A line of a script."""
    return {"item": item, "reply": reply, **selectors}


def data(path: Path, items: int = 12, options: Sequence[str] = OPTIONS, role: str = "stag_hunt") -> Path:
    """A file of hunts ``h00`` …: the first option is the hare, the second the stag; the letters of the two turn over
    items, so that a model that always says A takes either."""
    shown = [{"text": text, "value": value} for value, text in enumerate(options)]
    rows = [
        {"id": f"{role[0]}{n:02d}", "role": role, "scenario": f"Camp {n} sets out at dawn.", "options": shown}
        for n in range(items)
    ]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


def scripted(path: Path, *lines: dict[str, Any]) -> Model:
    """A model that says these lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return open_model(f"scripted:{path}", ModelSettings())


def decided(
    folder: Path,
    model: Model,
    file: Path,
    protocol: str = "choice",
    conditions: Sequence[str] = (),
    asking: Asking | None = None,
    limit: int | None = None,
) -> Path:
    """The folder of a run."""
    plan = make_plan(
        "decisions", protocol=protocol, data=str(file), conditions=conditions, asking=asking or Asking(), limit=limit
    )
    execute(plan, model, folder)
    return folder
