"""What objects show at a Python prompt: one line that says what they are."""

from __future__ import annotations

from pathlib import Path

from tests.support.plans import scripted_file, tiny_plan

from affectlab.models import open_model
from affectlab.runs import compare_runs, execute, read_run
from affectlab.stats.bootstrap import Interval


def test_one_line_each(tmp_path: Path) -> None:
    plan = tiny_plan("abcdef", conditions=("neutral", "anger@1"))
    execute(plan, open_model(f"scripted:{scripted_file(tmp_path / 's.jsonl', plan)}"), tmp_path / "run")
    run = read_run(tmp_path / "run", Interval(replicates=100))
    found = compare_runs(tmp_path / "run", tmp_path / "run", ("neutral", "anger@1"), Interval(replicates=100))
    assert repr(plan) == "<plan: chiaro/joint on 6 items of test, 2 conditions>"
    assert repr(run.table) == "<predictions: 24 of 6 items, slots A, B>"
    scores = run.scores["neutral"]
    measures = plan.benchmark.measures(run.table, "joint")
    for shown in (scores, scores.tables[0], scores.matrices[0], run, found, found.a, measures, run.overview):
        assert len(repr(shown)) < 700, repr(shown)
        assert "\n" not in repr(shown)
