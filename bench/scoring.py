"""Reading and scoring a million stored predictions, as ``affectlab score`` would.

Run by hand: ``python bench/scoring.py [--scenes 500000] [--replicates 1000] [--keep FILE]``. It writes a
``predictions.jsonl`` of two answers a scene, then reads and scores it in a process of its own, so that the peak memory
is that of scoring alone. Goal: under 20 s and under 1 GB on 2 cores.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

POSITIVE = ("joy", "pride", "relief", "gratitude", "excitement")
NEGATIVE = ("anger", "fear", "sadness", "disgust", "embarrassment")
TYPES = ("family", "public", "school", "service", "sport", "work")


def rows(scenes: int, seed: int = 0) -> Iterator[str]:
    """Predictions of a made-up model that is right six times in ten and unreadable once in twenty-five."""
    draw = random.Random(seed)
    for scene in range(scenes):
        mode = "physical" if scene % 2 else "non-physical"
        first = draw.random() < 0.5
        for slot, positive in (("A", first), ("B", not first)):
            options = POSITIVE if positive else NEGATIVE
            gold = draw.choice(options)
            ok = draw.random() > 0.04
            value = (gold if draw.random() < 0.6 else draw.choice(options)) if ok else None
            yield json.dumps(
                {
                    "item": f"scene-{scene:07d}",
                    "cluster": f"scene-{scene:07d}",
                    "slot": slot,
                    "outcome": "ok" if ok else draw.choice(["unparseable", "refusal", "truncated"]),
                    "value": value,
                    "gold": gold,
                    "variant": "",
                    "condition": "neutral",
                    "repeat": 0,
                    "position": options.index(value) if value else None,
                    "slices": {
                        "mode": mode,
                        "scenario_type": TYPES[scene % 6],
                        "gold_position": "ABCDE"[options.index(gold)],
                    },
                    "flags": ["self_corrected"] if draw.random() < 0.01 else [],
                }
            )


def score(path: Path, replicates: int) -> None:
    """Read and score, printing where the time went and the peak memory of this process."""
    marks = [(time.perf_counter(), time.process_time())]

    def mark() -> None:
        marks.append((time.perf_counter(), time.process_time()))

    from affectlab.benchmarks import open_benchmark
    from affectlab.benchmarks.base import Scoring
    from affectlab.metrics.prediction_file import read_predictions
    from affectlab.stats.bootstrap import Interval

    benchmark = open_benchmark("chiaro")
    mark()
    table = read_predictions(path)
    mark()
    scores = benchmark.score(Scoring(table, "neutral", "joint", Interval(replicates=replicates)))
    mark()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 if sys.platform == "linux" else 1024**2)
    print(f"{len(table):,} predictions, {replicates} replicates, {len(scores.tables)} tables")
    spans = (("import", 0, 1), ("read", 1, 2), ("score", 2, 3), ("whole", 0, 3))
    for name, start, end in spans:
        wall, cpu = (marks[end][clock] - marks[start][clock] for clock in (0, 1))
        print(f"  {name:7}{wall:7.2f} s wall {cpu:7.2f} s CPU")
    print(f"  peak   {peak:7.0f} MB")
    print("  goal: under 20 s and under 1024 MB")
    for figure in scores.headline:
        print(
            f"  {figure.name:22} {figure.value} [{figure.low}, {figure.high}] n={figure.n} clusters={figure.clusters}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scenes", type=int, default=500_000)
    parser.add_argument("--replicates", type=int, default=1000)
    parser.add_argument("--keep", type=Path, help="write the predictions here, or score them if the file is there")
    parser.add_argument("--only-score", type=Path, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.only_score:
        score(chosen.only_score, chosen.replicates)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = chosen.keep or Path(folder) / "predictions.jsonl"
        if not path.exists():
            with path.open("w", encoding="utf-8") as lines:
                lines.writelines(row + "\n" for row in rows(chosen.scenes))
        command = [sys.executable, __file__, "--only-score", str(path), "--replicates", str(chosen.replicates)]
        print("command:", *sys.argv)
        subprocess.run(command, check=True)


if __name__ == "__main__":
    main()
