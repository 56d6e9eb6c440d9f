from __future__ import annotations

from collections.abc import Mapping

import pytest
from tests.benchmarks.decisions.worlds import Row, table, world

from affectlab.benchmarks.decisions.measures import Drifts, choices_of, drifts_of
from affectlab.benchmarks.decisions.tables import drift_table, missing_table
from affectlab.games import ROLES
from affectlab.metrics.scores import Table
from affectlab.stats.bootstrap import Interval
from affectlab.stats.estimate import Estimate

FEW = Interval(replicates=30)


def moving(moves: Mapping[str, float]) -> Drifts:
    """Ten trustors who send 5 of 10, and that share of the range more under each condition."""
    return drifts_of(choices_of(world(lambda *at: 5 + 10 * moves.get(at[2], 0.0), moves, ["trust_trustor"], items=10)))


def last(shown: Table) -> dict[str, float | None]:
    """The means over roles by heading."""
    return {
        heading: cell.value
        for heading, cell in zip(shown.columns, shown.rows[-1], strict=True)
        if isinstance(cell, Estimate)
    }


def test_controls_with_an_emotion_are_aligned_with_it_and_random_vectors_with_each() -> None:
    # Trustors: up with joy, down with anger and fear.
    assert [ROLES["trust_trustor"].direction(one) for one in ("joy", "anger", "fear")] == [1, -1, -1]
    drifts = moving(
        {
            "joy@1.0": 0.4,
            "anger@1.0": -0.1,
            "fear@1.0": 0.1,
            "random@1.0:seed=0": 0.3,
            "kl-random@1.0:seed=0": -0.3,
            "permuted:joy@1.0:seed=0": 0.1,
            "permuted:fear@1.0:seed=0": 0.3,
            "prompt:joy": 0.2,
            "prompt:anger": -0.2,
        }
    )
    found = last(drift_table(drifts, FEW, tuple(drifts.which(kind="emotion"))))
    assert found == pytest.approx(
        {
            "NDM": 0.6 / 3,
            "NAD": (0.4 + 0.1 - 0.1) / 3,
            "NAD (d ≠ 0)": (0.4 + 0.1 - 0.1) / 3,
            "NDM random vectors": 0.3,
            "NAD random vectors": (0.3 - 0.3 - 0.3) / 3,
            "NDM random vectors of matched effect": 0.3,
            "NAD random vectors of matched effect": (-0.3 + 0.3 + 0.3) / 3,
            "NDM vectors of shuffled labels": 0.2,
            "NAD vectors of shuffled labels": (0.1 - 0.3) / 2,
            "NDM emotion prompts": 0.2,
            "NAD emotion prompts": 0.2,
        }
    )


def test_missing_pairs_are_a_share_of_the_questions_that_can_move() -> None:
    span, none = (0.0, 1.0), (1.0, 1.0)
    rows: dict[str, list[Row]] = {
        condition: [*(("stag_hunt", f"i{n}", span, y) for n, y in enumerate(ys)), ("stag_hunt", "fixed", none, 1.0)]
        for condition, ys in (
            ("neutral", (0.0, 0.0, 1.0, 1.0)),
            ("joy@1.0", (None, None, None, 1.0)),
            ("fear@1.0", (1.0, 1.0, 1.0, 1.0)),
        )
    }
    assert missing_table(drifts_of(choices_of(table(rows)))).rows == (("joy@1.0", 3, 0.75), ("fear@1.0", 0, 0.0))
