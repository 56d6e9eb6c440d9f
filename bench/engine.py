"""The local engine beside what people use instead, one row of the speed table after the other.

    python bench/engine.py [--rows choice,steer] [--peers repeng] [--scale 0.1] [--threads 1] [--json FILE]

Every side is a process of its own, in its own environment (``make bench-peers`` builds those of the other tools under
``.bench-venvs``), on the same SmolLM2 in float32 with the same threads, given the same prompts. Timed is the work
alone, after loading and one short call, in CPU seconds (user and system): the machine may be shared. Ours runs before
and after the others, and the mean counts. Where a tool has a batch size, several are tried on a part of the prompts
and the best is taken. Each row is scaled down by default so that no side takes much over five minutes, and slow tools
get fewer prompts than we do, for which their cost does not depend on how many there are; ratios are of seconds a
prompt. ``--scale 1`` is the whole table, the same for everybody, and takes hours.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from engine_jobs import Texts, older_copy, write_vectors
from engine_math import bound
from engine_rows import CONDITIONS, ROWS, Peer

from affectlab.models.loading import load_embedded
from affectlab.models.settings import ModelSettings

HERE = Path(__file__).parent


@dataclass
class Bench:
    """What all rows share."""

    threads: int
    batch_tokens: int
    venvs: Path
    folder: Path
    loaded: Any = field(init=False)
    model: Path = field(init=False)
    older: Path = field(init=False)
    layers: list[int] = field(init=False)
    texts: Texts = field(init=False)
    results: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.loaded = load_embedded("smollm2", ModelSettings(threads=self.threads))
        self.model = Path(self.loaded.model.name_or_path)
        self.older = older_copy(self.model, self.folder / "older")
        self.texts = Texts.of(self.loaded.tokenizer)
        layers = self.loaded.model.config.num_hidden_layers
        self.steer(range(layers // 3, 2 * layers // 3))

    def steer(self, layers: Sequence[int]) -> None:
        """Choose the layers that all sides steer."""
        self.layers = list(layers)
        write_vectors(
            self.folder / "vectors.npy", CONDITIONS, len(self.layers), self.loaded.model.config.hidden_size, seed=0
        )

    def job(self, made: dict[str, Any]) -> dict[str, Any]:
        """A row's job with all that is the same for every tool."""
        conditions = made.get("conditions", 0)
        np.save(self.folder / "some.npy", np.load(self.folder / "vectors.npy")[:conditions])
        vectors = str(self.folder / "some.npy") if conditions else None
        standard = {"model": str(self.model), "threads": self.threads, "new_tokens": 0, "conditions": 0}
        return standard | made | {"vectors": vectors, "layers": self.layers}

    def run(self, python: str, script: str, job: dict[str, Any]) -> dict[str, Any]:
        """One side in a process of its own."""
        given, got = self.folder / "job.json", self.folder / "result.json"
        given.write_text(json.dumps(job), encoding="utf-8")
        got.unlink(missing_ok=True)
        environment = os.environ | {
            "OMP_NUM_THREADS": str(self.threads),
            "MKL_NUM_THREADS": str(self.threads),
            "TOKENIZERS_PARALLELISM": "false",
            "HF_HUB_OFFLINE": "1",
            "HF_DATASETS_OFFLINE": "1",
        }
        if python != sys.executable:
            environment.pop("PYTHONPATH", None)
        done = subprocess.run(
            [python, str(HERE / "peers" / script), str(given), str(got)],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode or not got.exists():
            lines = (done.stderr or done.stdout).strip().splitlines()
            return {"error": lines[-1] if lines else f"exit code {done.returncode}"}
        found: dict[str, Any] = json.loads(got.read_text(encoding="utf-8"))
        return found

    def ours(self, job: dict[str, Any], asked: str) -> dict[str, Any]:
        settings = {"asked": asked, "batch_tokens": self.batch_tokens}
        found = self.run(sys.executable, "run_affectlab.py", job | {"settings": [settings], "probe": 0})
        if "error" in found:
            raise SystemExit(f"Our side failed: {found['error']}")
        return found["runs"][0] | {"versions": found["versions"]}

    def peer(self, peer: Peer, job: dict[str, Any], part: float) -> dict[str, Any]:
        """A peer on the first of the prompts."""
        python = str(self.venvs / peer.venv / "bin" / "python") if peer.venv else sys.executable
        if not Path(python).exists():
            return {"error": f"no environment {self.venvs / peer.venv}: run make bench-peers"}
        job = job | {"settings": peer.settings, "probe": peer.probe}
        job["prompts"] = job["prompts"][: max(1, round(part * len(job["prompts"])))]
        if peer.older:
            job["model"] = str(self.older)
        return self.run(python, peer.script, job) | {"prompts": len(job["prompts"])}


def told(settings: dict[str, Any]) -> str:
    return ", ".join(f"{key} {value}" for key, value in settings.items())


def seconds(found: dict[str, Any]) -> str:
    return f"{found['cpu']:.1f} s CPU, {found['wall']:.1f} s wall"


def verdict(met: bool) -> str:
    return "met" if met else "MISSED"


def agreement(ours: list[Any], theirs: list[Any]) -> str:
    """How far two sides' values are the same; theirs may be of the first few prompts.

    lm-eval scores the line break that ends a prompt with the option, so log-probabilities are also compared within a
    prompt.
    """
    pairs = list(_pairs(ours, theirs))
    if not isinstance(pairs[0][1], float):
        same = sum(one == other for one, other in pairs)
        return f"{same} of {len(pairs)} {'texts' if isinstance(pairs[0][1], str) else 'tokens'} alike"
    within = max(abs(one - other) for one, other in _pairs(_relative(ours), _relative(theirs)))
    return f"largest difference {max(abs(one - other) for one, other in pairs):.0e}, between options {within:.0e}"


def _relative(values: Any) -> Any:
    if isinstance(values[0], list):
        return [_relative(one) for one in values]
    return [value - values[0] for value in values]


def _pairs(ours: Any, theirs: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(theirs, list):
        for one, other in zip(ours, theirs, strict=False):
            yield from _pairs(one, other)
    else:
        yield ours, theirs


def compare(bench: Bench, name: str, scale: float | None, peers: list[str], *, once: bool) -> None:
    """Run one row and print it."""
    row = ROWS[name]
    job = bench.job(row.make(bench.texts, scale or row.scale))
    count = len(job["prompts"])
    print(f"\n{name}: {row.title}")
    print(f"  scale {scale or row.scale:g}: {count} prompts, {job['conditions'] + 1} conditions; load {load()}")
    first = bench.ours(job, row.asked)
    print(f"  ours: {seconds(first)}; {told(first['settings'])}; {told(first['versions'])}", flush=True)
    rate = None if job["new_tokens"] else bench.run(sys.executable, "run_gemm.py", job)["values"]
    others = [
        (peer, bench.peer(peer, job, 1.0 if scale else peer.part))
        for peer in row.peers
        if not peers or peer.name in peers
    ]
    again = first if once else bench.ours(job, row.asked)
    print(f"  ours again: {seconds(again)}; load {load()}", flush=True)
    cpu, wall = ((first[key] + again[key]) / 2 for key in ("cpu", "wall"))
    kept = [
        line
        for peer, found in others
        for line in beside(peer, found, first["values"], {"cpu": cpu / count, "wall": wall / count})
    ]
    if rate is not None:
        needed = bound(bench.loaded.model.config, job, job["conditions"] + 1)
        shares = {key: needed / value / cpu for key, value in rate.items()}
        print(
            f"  arithmetic: {needed:.3g} multiply-adds; at the rate of the fastest product ({rate['largest']:.3g} a "
            f"CPU second) {shares['largest']:.2f} of the bound, of a block's products ({rate['block']:.3g}) "
            f"{shares['block']:.2f}; goal 0.75: {verdict(shares['largest'] >= 0.75)}"
        )
    peak, before = (max(one[key] for one in (first, again)) for key in ("peak_gb", "before_gb"))
    weights = sum(weight.numel() * weight.element_size() for weight in bench.loaded.model.parameters()) / 1e9
    print(
        f"  memory: peak {peak:.2f} GB: {peak - before:.2f} over the process with the model loaded, "
        f"{peak - weights:.2f} over the weights; goal 1.5: {verdict(peak - weights <= 1.5)}",
        flush=True,
    )
    ours = [one | {"values": None} for one in (first, again)]
    bench.results.append({"row": name, "prompts": count, "ours": ours, "rate": rate, "peers": kept})


def beside(peer: Peer, found: dict[str, Any], values: list[Any], ours: dict[str, float]) -> list[dict[str, Any]]:
    """Print what a peer did, held against our seconds for each prompt."""
    if "error" in found:
        print(f"  {peer.name} failed: {found['error']}")
        return [{"peer": peer.name, "error": found["error"]}]
    for one in found["tried"]:
        print(f"    {peer.name} tried with {told(one['settings'])}: {seconds(one)}")
    kept = []
    goals = peer.goals if len(peer.goals) == len(found["runs"]) else list(peer.goals) * len(found["runs"])
    for one, goal in zip(found["runs"], goals, strict=True):
        ratio, by_wall = (one[key] / found["prompts"] / ours[key] for key in ("cpu", "wall"))
        print(
            f"  {peer.name}, {told(one['settings'])}: {seconds(one)} for {found['prompts']} prompts; "
            f"{told(found['versions'])}; {agreement(values, one['values'])}\n"
            f"    ratio {ratio:.2f} of CPU, {by_wall:.2f} of wall; goal {goal:g}: {verdict(ratio >= goal)}",
            flush=True,
        )
        kept.append(
            one | {"peer": peer.name, "prompts": found["prompts"], "ratio": ratio, "goal": goal, "values": None}
        )
    return kept


def load() -> str:
    return f"{os.getloadavg()[0]:.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", default=",".join(ROWS), help="some of " + ",".join(ROWS))
    parser.add_argument("--peers", help="some of the other tools, by their names in the table; all by default")
    parser.add_argument("--once", action="store_true", help="ours runs before the others only")
    parser.add_argument("--scale", type=float, help="part of each row's size; 1 is the whole table")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--batch-tokens", type=int, default=8192)
    parser.add_argument("--venvs", type=Path, default=HERE.parent / ".bench-venvs")
    parser.add_argument("--json", type=Path, help="write all figures there")
    how = parser.parse_args()
    names = how.rows.split(",")
    if unknown := [name for name in names if name not in ROWS]:
        parser.error(f"no row {', '.join(unknown)}; there are {', '.join(ROWS)}")
    print("command:", *sys.argv)
    print(f"Python {platform.python_version()}, {platform.machine()}, {os.cpu_count()} cores, {how.threads} threads")
    with tempfile.TemporaryDirectory(prefix="bench-engine-") as folder:
        bench = Bench(how.threads, how.batch_tokens, how.venvs.absolute(), Path(folder))
        for name in names:
            compare(bench, name, how.scale, how.peers.split(",") if how.peers else [], once=how.once)
            if how.json:
                how.json.write_text(json.dumps(bench.results, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
