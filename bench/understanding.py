"""CAREBench's and EmoScene's likelihood questions beside lm-evaluation-harness, as a run really asks them.

    python bench/understanding.py [--rows care,emoscene] [--items 2] [--threads 1] [--json FILE]

Both sides get the requests of the bundled sample's first items (``s-likelihood`` without its label sets: 22 ratings
and 2 levels a story; ``yes_no``: eight emotions a scenario), rendered by the model's own chat template, on the same
SmolLM2 in float32. How it is timed is said in ``bench/engine.py``: processes of their own, CPU seconds, ours before and
after, the best of some batch sizes. lm-eval's cost does not depend on how many questions there are, so it gets some of
the first item's.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine_rows import Peer

from affectlab.models.base import Request
from affectlab.runs.plan import make_plan
from engine import HERE, Bench, beside, load, seconds, told


@dataclass(frozen=True)
class Row:
    """A benchmark's questions.

    Attributes:
        benchmark: Its name.
        protocol: How it is asked.
        wanted: Which requests count.
        goal: How many times faster we mean to be.
        peer: lm-eval's share: questions of the first item it is asked, and on how many of them its ways are tried.
    """

    benchmark: str
    protocol: str
    wanted: Callable[[Request], bool]
    goal: float
    peer: tuple[int, int]


ROWS = {
    "care": Row("care", "s-likelihood", lambda request: ":" not in request.step, 15, (6, 1)),
    "emoscene": Row("emoscene", "yes_no", lambda request: True, 3, (8, 4)),
}


def prompts_of(row: Row, items: int, bench: Bench) -> list[dict[str, Any]]:
    """The requests of the sample's first items, as both sides take them."""
    plan = make_plan(row.benchmark, protocol=row.protocol, limit=items)
    asked = [request for cell, item in plan.cells() for request in plan.requests(cell, item, {}) if row.wanted(request)]
    return [
        {
            "item": request.item,
            "step": request.step,
            "messages": [(turn.role, turn.content) for turn in request.messages],
            "prefill": request.prefill,
            "options": list(request.options),
            "text": bench.texts.prompter.render(request),
        }
        for request in asked
    ]


def compare(bench: Bench, name: str, items: int) -> None:
    row = ROWS[name]
    job = bench.job({"prompts": prompts_of(row, items, bench)})
    count, (part, probe) = len(job["prompts"]), row.peer
    print(f"\n{name}: {row.benchmark} by {row.protocol}, {items} items of the sample, {count} questions; load {load()}")
    ours = job | {"settings": [{"batch_tokens": bench.batch_tokens}], "probe": 0}
    runs: list[dict[str, Any]] = []
    peer = Peer("lm-eval hf", "lm-eval", "run_lm_eval.py", [row.goal], [{"batch": n} for n in (1, 4, 16)], probe=probe)

    def own() -> None:
        found = bench.run(sys.executable, "run_requests.py", ours)
        if "error" in found:
            raise SystemExit(f"Our side failed: {found['error']}")
        runs.append(found["runs"][0])
        print(f"  ours: {seconds(runs[-1])}; {told(found['versions'])}", flush=True)

    own()
    found = bench.peer(peer, job, part / count)
    own()
    each = {key: sum(run[key] for run in runs) / len(runs) / count for key in ("cpu", "wall")}
    kept = beside(peer, found, runs[0]["values"], each)
    bench.results.append({"row": name, "questions": count, "ours": each, "peers": kept})


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", default=",".join(ROWS), help="some of " + ",".join(ROWS))
    parser.add_argument("--items", type=int, default=2)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--batch-tokens", type=int, default=8192)
    parser.add_argument("--venvs", type=Path, default=HERE.parent / ".bench-venvs")
    parser.add_argument("--json", type=Path, help="write all figures there")
    how = parser.parse_args(arguments)
    names = how.rows.split(",")
    if unknown := [name for name in names if name not in ROWS]:
        parser.error(f"no row {', '.join(unknown)}; there are {', '.join(ROWS)}")
    print("command:", *sys.argv)
    print(f"Python {platform.python_version()}, {platform.machine()}, {how.threads} threads")
    with tempfile.TemporaryDirectory(prefix="bench-understanding-") as folder:
        bench = Bench(how.threads, how.batch_tokens, how.venvs.absolute(), Path(folder))
        for name in names:
            compare(bench, name, how.items)
            if how.json:
                how.json.write_text(json.dumps(bench.results, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
