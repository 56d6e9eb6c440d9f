from __future__ import annotations

import numpy as np

from affectlab.stats.bootstrap import estimate
from affectlab.stats.estimate import Estimate
from affectlab.stats.measures import Measures, Share
from affectlab.stats.paired import paired_difference

RIGHT = Share(np.array([1]), np.array([0, 1]))


def run(events: list[int]) -> Measures:
    """One answer per cluster, right (1) or wrong (0)."""
    code = np.arange(len(events), dtype=np.int32)
    names = tuple(f"c{number}" for number in code)
    return Measures(code, np.array(events, np.int32), names, 2, {"accuracy": RIGHT}, {}, "accuracy")


def test_the_unit_comes_last_and_is_a_share_unless_said() -> None:
    assert Estimate("f1", 0.5, 0.4, 0.6, 10, 5, "m", "r", "number").unit == "number"
    assert Estimate("f1", 0.5, 0.4, 0.6, 10, 5, "m", "r").unit == "share"


def test_the_difference_of_two_runs_is_a_difference_and_their_figures_are_shares() -> None:
    a, b = run([1, 1, 1, 0, 1, 0]), run([1, 0, 0, 0, 1, 1])
    assert estimate(a, "accuracy").unit == "share"
    assert paired_difference(a, b).difference.unit == "difference"
    same = paired_difference(a, a).difference  # no interval: the replicates agree
    assert (same.low, same.unit) == (None, "difference")


def test_an_estimate_prints_as_a_line() -> None:
    line = "macro_f1 0.1286 [0.0286, 0.192], n=20, clusters=10"
    assert str(Estimate("macro_f1", 0.12857142, 0.0286, 0.192, 20, 10)) == line
    assert str(Estimate("accuracy", None, reason="nothing to score")) == "accuracy: undefined (nothing to score)"
