"""The benchmarks there are: ours, and those that installed packages add.

A package adds one by an entry point in the group ``affectlab.benchmarks`` whose value is a
:class:`~affectlab.benchmarks.base.Benchmark`.
"""

from __future__ import annotations

import difflib
from importlib import import_module
from importlib.metadata import entry_points
from typing import TYPE_CHECKING

from affectlab.errors import UserError

if TYPE_CHECKING:
    from affectlab.benchmarks.base import Benchmark

GROUP = "affectlab.benchmarks"
BUILT_IN = {
    "chiaro": "affectlab.benchmarks.chiaro",
    "cue": "affectlab.benchmarks.cue",
    "emoscene": "affectlab.benchmarks.emoscene",
    "care": "affectlab.benchmarks.care",
    "decisions": "affectlab.benchmarks.decisions",
}


def benchmark_names() -> tuple[str, ...]:
    """Names of all benchmarks, ours first."""
    added = sorted({point.name for point in entry_points(group=GROUP)} - BUILT_IN.keys())
    return (*BUILT_IN, *added)


def open_benchmark(name: str) -> Benchmark:
    """A benchmark by name.

    Raises:
        UserError: When there is none of that name, or an installed package's entry point is not a benchmark.
    """
    if name in BUILT_IN:
        built_in: Benchmark = import_module(BUILT_IN[name]).BENCHMARK
        return built_in
    for point in entry_points(group=GROUP):
        if point.name == name:
            return _checked(point.load(), point.value)
    near = difflib.get_close_matches(name, benchmark_names(), n=1)
    meant = f" Did you mean {near[0]!r}?" if near else ""
    raise UserError(f"No benchmark {name!r}.{meant} There are: {', '.join(benchmark_names())}.")


def _checked(loaded: object, where: str) -> Benchmark:
    from affectlab.benchmarks.base import Benchmark

    if not isinstance(loaded, Benchmark):
        raise UserError(f"Entry point {where} is not an affectlab Benchmark; tell the package's authors.")
    return loaded
