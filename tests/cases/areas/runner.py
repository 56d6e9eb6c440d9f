"""Cases of running, resuming and naming."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from affectlab.models import open_model
from affectlab.models.base import ModelCard
from affectlab.runs import RunFolder, execute, score_run
from affectlab.runs import manifest as manifests
from tests.support.plans import scripted_file, tiny_plan


def check(case: Mapping[str, Any]) -> str | None:
    """``None`` when the case comes out right, else what was wrong."""
    given = case["input"]
    with tempfile.TemporaryDirectory() as folder:
        if given.get("resume_after_crash"):
            return _resume(Path(folder), list(given["all"]), list(given["done"]))
        if "model" in given and "result_tag" in given:
            return _model_name(Path(folder), given["model"] + given["result_tag"])
    return "unknown shape"


def _resume(folder: Path, ids: list[str], done: list[str]) -> str | None:
    plan = tiny_plan(ids)
    model = open_model(f"scripted:{scripted_file(folder / 'replies.jsonl', plan)}")
    run = RunFolder.at(folder / "run")
    execute(plan, model, run)
    lines = run.responses_path.read_bytes().splitlines(keepends=True)
    kept = [line for line in lines if json.loads(line)["item"] in done]
    torn = next(line for line in lines if json.loads(line)["item"] not in done)[:-20]
    run.responses_path.write_bytes(b"".join(kept) + torn)
    session = execute(plan, model, run)
    scored = score_run(run.path)
    asked = session.asked
    if asked != len(ids) - len(done) or session.torn != 1:
        return f"asked {asked} with {session.torn} torn line, right is {len(ids) - len(done)} and 1"
    covered = sorted(set(scored.table.item.values))
    return None if covered == sorted(ids) else f"scores cover {covered}, right is {sorted(ids)}"


def _model_name(folder: Path, spec: str) -> str | None:
    plan = tiny_plan(["1"])
    run = RunFolder.at(folder / "run")
    with run.locked():
        run.write_manifest(manifests.make(plan, ModelCard(spec=spec, name=spec), {}))
    found = run.manifest()["model"]["spec"]
    return None if found == spec else f"came back as {found!r}"
