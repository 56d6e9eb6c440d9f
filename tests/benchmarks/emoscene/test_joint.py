"""What joint inference says of evidence that is missing, of few scenarios, and of its differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.benchmarks.emoscene.worlds import evidence

from affectlab.benchmarks.emoscene.answers import UNREAD, Answers
from affectlab.benchmarks.emoscene.crossfit import figures
from affectlab.benchmarks.emoscene.ising import prior_of
from affectlab.benchmarks.emoscene.joint import joint_inference
from affectlab.metrics.scores import Table
from affectlab.stats.bootstrap import Interval

QUICK = Interval(replicates=40)


def _answers(gold: np.ndarray, said: np.ndarray, groups: int | None = None) -> Answers:
    n = len(gold)
    groups = groups or n
    names = tuple(f"s{number}" for number in range(n))
    clusters = tuple(f"g{number:03}" for number in range(groups))
    return Answers(gold.astype(np.int64), said.astype(np.int64), np.arange(n) % groups, clusters, names, _keys(names))


def _keys(names: tuple[str, ...]) -> tuple[tuple[str, str, int], ...]:
    return tuple((name, "", 0) for name in names)


def _row(table: Table, *start: str) -> dict[str, Any]:
    return next(dict(zip(table.columns, row, strict=True)) for row in table.rows if row[: len(start)] == start)


def test_few_scenarios_are_counted_by_what_is_independent() -> None:
    world = evidence(30, 1, entangled=True)
    found = joint_inference(_answers(world.gold, world.odds > 0, groups=10), world.odds, None, QUICK)
    assert found.tables == ()
    assert found.notes[0].startswith("No joint inference: 10 independent scenarios")


def test_an_answer_that_cannot_be_read_is_no_evidence_and_no_no() -> None:
    world = evidence(40, 1, entangled=True)
    said = (world.odds > 0).astype(np.int64)
    said[:3, 2] = UNREAD
    none = np.full(world.odds.shape, np.nan)
    found = joint_inference(_answers(world.gold, said), none, None, QUICK)
    assert any(note.startswith("3 of 320 emotions have no evidence") for note in found.notes)


def test_where_a_model_says_nothing_a_given_prior_decides() -> None:
    # Without couplings an emotion's share is its marginal: .88 for the first (h = 2), .12 for the others (h = -2).
    # Every scenario has the first alone; the model gives evidence of nothing in half of them.
    priors = prior_of(np.r_[2.0, np.full(7, -2.0)], np.zeros((8, 8)))
    gold = np.zeros((24, 8))
    gold[:, 0] = 1
    odds = np.where(gold > 0, 3.0, -3.0)
    odds[:12] = np.nan
    found = joint_inference(_answers(gold, np.zeros((24, 8))), np.where(np.isnan(odds), np.nan, odds), priors, QUICK)
    independent = _row(found.tables[0], "independent", "½")
    assert independent["exact_match"].value == 1.0  # ½ in place of .88 would say no twelve times


def test_p_values_are_adjusted_over_all_rows_by_benjamini_and_hochberg() -> None:
    world = evidence(60, 3, entangled=True)
    found = joint_inference(_answers(world.gold, world.odds > 0), world.odds, None, QUICK)
    table = found.tables[1]
    p = np.array([row[table.columns.index("p")] for row in table.rows], dtype=float)
    # The k-th smallest of m times m / k, and no more than any larger one's.
    order = np.argsort(p)
    by_hand = np.minimum.accumulate((p[order] * len(p) / np.arange(1, len(p) + 1))[::-1])[::-1]
    adjusted = np.array([row[table.columns.index("p adjusted")] for row in table.rows], dtype=float)
    assert adjusted[order] == pytest.approx(np.minimum(by_hand, 1))
    assert adjusted != pytest.approx(p)


def test_figures_of_a_resample_are_those_of_rows_written_out() -> None:
    world = evidence(30, 2, entangled=True)
    yes = world.odds > 0
    weights = np.random.default_rng(0).integers(0, 4, 30)
    written = np.repeat(np.arange(30), weights)
    ones = np.ones(len(written))
    assert figures(yes, world.gold, weights.astype(float)) == pytest.approx(
        figures(yes[written], world.gold[written], ones)
    )
    assert figures(yes, world.gold, weights.astype(float)) != pytest.approx(figures(yes, world.gold, np.ones(30)))
