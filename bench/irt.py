"""The two-parameter model on 200 respondents × 100 items, 4 chains: time, convergence, recovery.

    python bench/irt.py [--respondents 200] [--items 100] [--draws 1000]

Target: the time that numpyro took when libraries were compared (16 to 20 CPU seconds), R-hat below 1.01.
"""

from __future__ import annotations

import argparse
from time import perf_counter, process_time

import numpy as np

from affectlab.stats.irt import Responses, Sampler, fit


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--respondents", type=int, default=200)
    parser.add_argument("--items", type=int, default=100)
    parser.add_argument("--draws", type=int, default=1000)
    given = parser.parse_args()
    rng = np.random.default_rng(0)
    theta = rng.standard_normal(given.respondents)
    a, b = np.exp(0.35 * rng.standard_normal(given.items)), rng.standard_normal(given.items)
    right = rng.random((given.respondents, given.items)) < 1 / (1 + np.exp(-a * (theta[:, None] - b)))
    counts = np.stack([~right, right], axis=-1).astype(float)
    names = tuple(f"m{n}" for n in range(given.respondents)), tuple(f"i{n}" for n in range(given.items))
    responses = Responses.of_counts(counts, *names, np.full(given.items, 2))
    wall, cpu = perf_counter(), process_time()
    found = fit(responses, Sampler(4, given.draws, given.draws))
    wall, cpu = perf_counter() - wall, process_time() - cpu
    gate = found.gate
    assert gate is not None
    print(
        f"{given.respondents} × {given.items}, 4 × ({given.draws} + {given.draws}): {wall:.1f} s wall, {cpu:.1f} s CPU"
    )
    print(f"R-hat {gate.r_hat:.4f}, ESS bulk {gate.bulk:.0f}, tail {gate.tail:.0f}, divergences {gate.divergences}")
    for name, truth, mean in (("θ", theta, found.theta), ("a", a, found.a), ("b", b, found.b[:, 0])):
        print(f"r({name}) {np.corrcoef(truth, mean)[0, 1]:.3f}, RMSE {np.sqrt(np.mean((truth - mean) ** 2)):.3f}")


if __name__ == "__main__":
    main()
