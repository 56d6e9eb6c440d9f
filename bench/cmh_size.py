"""How often Cochran-Mantel-Haenszel by repeat finds an effect of an emotion that has none.

Items keep their own logit in every repeat, and an emotion moves each item by its own amount, zero on average. Each of
60 items is answered once a repeat in both states. Printed: share of simulated studies with p < .05, by our own code.

    python bench/cmh_size.py [--studies 400] [--items 60]
"""

from __future__ import annotations

import argparse
from time import perf_counter

import numpy as np

from affectlab.benchmarks.decisions.pairing import paired_cells
from affectlab.stats.bootstrap import Interval
from affectlab.stats.stratified import stratified

TRUTHS = (
    ("nothing happens (items sd 1.5)", 1.5, 0.0, 5),
    ("nothing happens, near-deterministic items (sd 3)", 3.0, 0.0, 5),
    ("items react by sd 1, zero on average, 5 repeats", 1.5, 1.0, 5),
    ("items react by sd 2, zero on average, 5 repeats", 1.5, 2.0, 5),
    ("the same, 10 repeats", 1.5, 2.0, 10),
    ("the same, 20 repeats", 1.5, 2.0, 20),
)


def study(rng: np.random.Generator, items: int, level: float, reaction: float, repeats: int) -> list[float | None]:
    """p by repeat, by item and at item level of one simulated study."""
    neutral = rng.normal(0, level, items)
    logits = np.stack([neutral + rng.normal(0, reaction, items) if reaction else neutral, neutral])
    answers = rng.random((repeats, 2, items)) < 1 / (1 + np.exp(-logits))
    focal = np.stack([answers, ~answers], axis=-1).astype(float)
    by_repeat = focal.sum(axis=2)
    by_item = focal.sum(axis=0).transpose(1, 0, 2)
    means = answers.mean(axis=0)
    names = [f"i{number}" for number in range(items)]
    how = Interval(replicates=199, seed=int(rng.integers(1 << 30)))
    level_p = paired_cells(["role"] * items, names, means[0], means[1], how).p
    return [stratified(by_repeat).p, stratified(by_item).p, level_p]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", type=int, default=400)
    parser.add_argument("--items", type=int, default=60)
    given = parser.parse_args()
    print("| truth | CMH by repeat | CMH by item | item level |\n|---|---|---|---|")
    began = perf_counter()
    for place, (title, level, reaction, repeats) in enumerate(TRUTHS):
        rng = np.random.default_rng(place)
        hits = np.zeros(3)
        for _ in range(given.studies):
            hits += [p is not None and p < 0.05 for p in study(rng, given.items, level, reaction, repeats)]
        print(f"| {title} | " + " | ".join(f"{share:.3f}" for share in hits / given.studies) + " |", flush=True)
    print(f"\n{given.studies} studies of {given.items} items each; {perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
