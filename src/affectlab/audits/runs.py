"""Runs of the decisions benchmark, read for an audit."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from affectlab.errors import UserError
from affectlab.runs import ScoredRun, open_run, read_run
from affectlab.stats.bootstrap import Interval

BENCHMARK = "decisions"


def read_decisions(folders: Sequence[Path], seed: int = 0) -> list[ScoredRun]:
    """Read runs, all of the decisions benchmark.

    An audit makes figures of its own: each run's scores are read with one replicate, which makes reading quick.

    Raises:
        UserError: When a folder is named twice, or is no such run, or has no answers.
    """
    if twice := [path for place, path in enumerate(folders) if path.resolve() in _resolved(folders[:place])]:
        raise UserError(f"A run folder is named twice: {twice[0]}.")
    for path in folders:
        if open_run(path)[2].benchmark.name != BENCHMARK:
            raise UserError(f"{path} is no run of the decisions benchmark.")
    return [read_run(path, Interval(replicates=1, seed=seed)) for path in folders]


def _resolved(folders: Sequence[Path]) -> set[Path]:
    return {path.resolve() for path in folders}


def model_of(manifest: Mapping[str, Any]) -> str:
    """What tells models apart: name and identity (digest of its file, revision, type, server), as text."""
    return identified(manifest["model"]["name"], manifest["model"]["identity"])


def identified(name: str, identity: Mapping[str, Any]) -> str:
    """The same of a model that is open."""
    return json.dumps([name, dict(identity)], ensure_ascii=False, sort_keys=True)
