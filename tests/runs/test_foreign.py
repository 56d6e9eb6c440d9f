"""Predictions files: our own are taken for every protocol, and what does not fit is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.report.test_every_protocol import PAIRS, Knowing

from affectlab.errors import UserError
from affectlab.runs import execute, make_plan, score_predictions, score_run
from affectlab.stats.bootstrap import Interval

FEW = Interval(replicates=2)


@pytest.mark.parametrize(("name", "protocol"), PAIRS)
def test_our_own_predictions_fit_their_benchmark(name: str, protocol: str, tmp_path: Path) -> None:
    plan = make_plan(name, protocol=protocol, limit=1)
    execute(plan, Knowing(plan), tmp_path / "run")
    scored = score_run(tmp_path / "run", FEW)
    alone = score_predictions(tmp_path / "run" / "predictions.jsonl", name, protocol, FEW)
    assert {condition: sheet.headline for condition, sheet in alone.items()} == {
        condition: sheet.headline for condition, sheet in scored.scores.items()
    }


@pytest.mark.parametrize(
    ("protocol", "slot", "gold"),
    [
        ("s", "relevance.general", 99),
        ("s", "relevance.general", 4.5),
        ("s", "relevance.general", True),
        ("s", "relevance.general", "4"),
        ("s", "positive_labels", ["bliss"]),
        ("subjective", "relevance.general", {"99": 1.0}),
    ],
)
def test_a_gold_outside_the_space_is_refused(protocol: str, slot: str, gold: Any, tmp_path: Path) -> None:
    plan = make_plan("care", protocol=protocol, limit=1)
    execute(plan, Knowing(plan), tmp_path / "run")
    score_run(tmp_path / "run", FEW)
    path = tmp_path / "run" / "predictions.jsonl"
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    chosen = next(row for row in rows if row["slot"] == slot)
    chosen["gold"] = gold
    path.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    with pytest.raises(UserError, match=f"does not hold predictions of care: gold .* slot '{slot}'"):
        score_predictions(path, "care", protocol, FEW)
