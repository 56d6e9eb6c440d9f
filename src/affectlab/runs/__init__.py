"""Runs: plan what to ask, carry it out so that nothing is lost, score what came back, compare two runs."""

from __future__ import annotations

from affectlab.runs.compare import Comparison, compare_runs
from affectlab.runs.executor import Progress, Session, execute
from affectlab.runs.folder import RunFolder
from affectlab.runs.foreign import score_predictions
from affectlab.runs.plan import Cell, Plan, make_plan
from affectlab.runs.score import ScoredRun, open_run, read_run, score_run

__all__ = [
    "Cell",
    "Comparison",
    "Plan",
    "Progress",
    "RunFolder",
    "ScoredRun",
    "Session",
    "compare_runs",
    "execute",
    "make_plan",
    "open_run",
    "read_run",
    "score_predictions",
    "score_run",
]
