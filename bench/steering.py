"""A sweep of decisions under emotion beside what people would write instead.

    python bench/steering.py [--items 108] [--peers repeng] [--peer-items 6] [--layers 21-23] [--json FILE]

Neutral and 24 conditions (six emotions times four strengths, as made-up vectors) on the bundled decisions, asked by
option likelihood as ``affectlab decide --by likelihood`` asks them: prompts of 159 to 293 tokens. How it is timed is
said in ``bench/engine.py``: processes of their own, CPU seconds, ours before and after. The others run one condition
after the other (the loop mixes conditions in a batch), on batches of prompts of like length and one prompt at a time as
their documentation shows; their cost a prompt does not depend on how many prompts there are, so they get every n-th of
them.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import tempfile
from pathlib import Path
from typing import Any

from engine_math import bound
from engine_rows import CONDITIONS, STEERED, Peer, batches

from affectlab.runs.plan import make_plan
from engine import HERE, Bench, beside, load, seconds, told, verdict

PEERS = (
    Peer("transformers loop", "", "run_transformers.py", [2.4], batches(4, 16), probe=1),
    Peer("repeng", "repeng", "run_repeng.py", [3, 3, 5], STEERED, older=True),
    Peer("steering-vectors", "steering-vectors", "run_steering_vectors.py", [3, 3, 5], STEERED, older=True),
)


def prompts_of(items: int, bench: Bench) -> list[dict[str, Any]]:
    """The requests of the sample's first items as token ids."""
    plan = make_plan("decisions", protocol="likelihood", limit=items)
    requests = [request for cell, item in plan.cells() for request in plan.requests(cell, item, {})]
    prompter = bench.texts.prompter
    return [
        {
            "ids": prompter.tokens(prompter.render(request)),
            "options": list(request.options),
            "option_ids": [prompter.option_tokens(option) for option in request.options],
        }
        for request in requests
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=108)
    parser.add_argument("--peer-items", type=int, default=6)
    parser.add_argument("--peers", help="some of " + ", ".join(peer.name for peer in PEERS))
    parser.add_argument("--layers", help="layers steered, as 21-23; the middle third, which is the paper's, by default")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--batch-tokens", type=int, default=8192)
    parser.add_argument("--venvs", type=Path, default=HERE.parent / ".bench-venvs")
    parser.add_argument("--json", type=Path, help="write all figures there")
    how = parser.parse_args()
    print("command:", *sys.argv)
    print(f"Python {platform.python_version()}, {platform.machine()}, {how.threads} threads")
    with tempfile.TemporaryDirectory(prefix="bench-steering-") as folder:
        bench = Bench(how.threads, how.batch_tokens, how.venvs.absolute(), Path(folder))
        if how.layers:
            first_layer, last_layer = map(int, how.layers.split("-"))
            bench.steer(range(first_layer, last_layer + 1))
        job = bench.job({"prompts": prompts_of(how.items, bench), "conditions": CONDITIONS})
        count = len(job["prompts"])
        layers = f"layers {bench.layers[0]} to {bench.layers[-1]}"
        print(f"{count} decisions, neutral and {CONDITIONS} conditions, {layers}; load {load()}")
        first = bench.ours(job, "engine")
        print(f"  ours: {seconds(first)}; {told(first['settings'])}; {told(first['versions'])}", flush=True)
        # A sample over the whole range of roles, whose lengths differ.
        picked = range(0, count, max(1, count // how.peer_items))
        some = job | {"prompts": [job["prompts"][place] for place in picked]}
        chosen = [peer for peer in PEERS if not how.peers or peer.name in how.peers.split(",")]
        others = [(peer, bench.peer(peer, some, 1.0)) for peer in chosen]
        rate = bench.run(sys.executable, "run_gemm.py", job)["values"]
        again = bench.ours(job, "engine")
        print(f"  ours again: {seconds(again)}; load {load()}", flush=True)
        # Prompts differ in length: our seconds are shared out by tokens.
        part = sum(len(prompt["ids"]) for prompt in some["prompts"]) / sum(len(one["ids"]) for one in job["prompts"])
        ours = {key: (first[key] + again[key]) / 2 * part / len(picked) for key in ("cpu", "wall")}
        values = [[scored[place] for place in picked] for scored in first["values"]]
        kept = [line for peer, found in others for line in beside(peer, found, values, ours)]
        reached = bound(bench.loaded.model.config, job, CONDITIONS + 1) / rate["largest"] / first["cpu"]
        print(f"  {reached:.2f} of the arithmetic bound; goal 0.75: {verdict(reached >= 0.75)}")
        if how.json:
            sides = [one | {"values": None} for one in (first, again)]
            how.json.write_text(json.dumps({"ours": sides, "peers": kept}, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
