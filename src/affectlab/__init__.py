"""Emotion in language models: benchmarks, runs, steering and statistics on one set of parts.

Names are loaded when first used, so that ``import affectlab`` stays fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from affectlab.benchmarks import open_benchmark
    from affectlab.labels import load as load_labels
    from affectlab.models import open_model
    from affectlab.runs import Plan, compare_runs, execute, make_plan, open_run, score_run

__version__ = "0.1.0"

_WHERE = {
    "Plan": "affectlab.runs",
    "compare_runs": "affectlab.runs",
    "execute": "affectlab.runs",
    "make_plan": "affectlab.runs",
    "load_labels": ("affectlab.labels", "load"),
    "open_benchmark": "affectlab.benchmarks",
    "open_model": "affectlab.models",
    "open_run": "affectlab.runs",
    "score_run": "affectlab.runs",
}

__all__ = [
    "Plan",
    "__version__",
    "compare_runs",
    "execute",
    "load_labels",
    "make_plan",
    "open_benchmark",
    "open_model",
    "open_run",
    "score_run",
]


def __getattr__(name: str) -> Any:
    where = _WHERE.get(name)
    if where is None:
        raise AttributeError(f"module 'affectlab' has no attribute {name!r}")
    module, attribute = (where, name) if isinstance(where, str) else where
    return getattr(import_module(module), attribute)


def __dir__() -> list[str]:
    return sorted(__all__)
