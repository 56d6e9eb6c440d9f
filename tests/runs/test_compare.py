from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.support.plans import scripted_file, tiny_plan

from affectlab.benchmarks.base import Asking
from affectlab.errors import UserError
from affectlab.models import open_model
from affectlab.runs import Plan, RunFolder, compare_runs, execute
from affectlab.stats.bootstrap import Interval

IDS = [f"s{number:02}" for number in range(20)]
QUICK = Interval(replicates=400)


def run(folder: Path, name: str, plan: Plan, answers: dict[str, tuple[str, str]] | None = None) -> Path:
    script = scripted_file(folder / f"{name}.jsonl", plan, answers)
    execute(plan, open_model(f"scripted:{script}"), RunFolder.at(folder / name))
    return folder / name


def wrong(plan: Plan, ids: list[str]) -> dict[str, tuple[str, str]]:
    """The other scenes' neighbours in the taxonomy instead of gold."""
    order = {
        "A": ["joy", "pride", "relief", "gratitude", "excitement"],
        "B": ["anger", "sadness", "fear", "disgust", "embarrassment"],
    }
    return {
        item.id: tuple(order[slot][(order[slot].index(str(item.gold[slot])) + 1) % 5] for slot in "AB")  # type: ignore[misc]
        for item in plan.items
        if item.id in ids
    }


def test_a_better_run_against_a_worse_one(tmp_path: Path) -> None:
    plan = tiny_plan(IDS)
    good = run(tmp_path, "good", plan, wrong(plan, IDS[:2]))
    bad = run(tmp_path, "bad", plan, wrong(plan, IDS[:1] + IDS[10:]))
    found = compare_runs(good, bad, interval=QUICK)
    by_name = {result.name: result for result in found.results}
    # Scenes wholly right: good 18 of 20, bad 9 of 20. Only good right: s10-s19, 10 scenes; only bad right: s01.
    assert by_name["joint_accuracy"].difference.value == pytest.approx(0.9 - 0.45)
    assert found.mcnemar is not None
    assert (found.mcnemar.b, found.mcnemar.c, found.mcnemar.n) == (10, 1, 20)
    # Exact two-sided: 2 (C(11,0) + C(11,1)) / 2^11 = 24 / 2048
    assert found.mcnemar.p == pytest.approx(24 / 2048)
    assert by_name["accuracy"].difference.low is not None
    assert by_name["accuracy"].difference.low > 0
    assert by_name["accuracy"].detectable is not None
    for name, result in by_name.items():
        adjusted = found.adjusted[name]
        assert (adjusted is None) == (result.p is None)
        assert adjusted is None or result.p is None or adjusted >= result.p
    assert "model.spec" in found.differs


def test_a_run_against_itself(tmp_path: Path) -> None:
    plan = tiny_plan(IDS)
    same = run(tmp_path, "same", plan, wrong(plan, IDS[:7]))
    found = compare_runs(same, same, interval=QUICK)
    assert all(result.difference.value == 0 for result in found.results)
    assert all(result.p == 1 for result in found.results if result.p is not None)
    assert found.mcnemar is not None
    assert found.mcnemar.no_discordant
    assert found.differs == {}


def test_different_items_are_refused_and_named(tmp_path: Path) -> None:
    first = run(tmp_path, "first", tiny_plan(["a", "b"]))
    second = run(tmp_path, "second", tiny_plan(["a", "c"]))
    with pytest.raises(UserError, match=r"cannot be paired.*b/.*c/"):
        compare_runs(first, second)


def test_different_gold_is_refused(tmp_path: Path) -> None:
    plan = tiny_plan(["a", "b"])
    changed = replace(plan, items=(replace(plan.items[0], gold={"A": "pride", "B": "anger"}), plan.items[1]))
    first, second = run(tmp_path, "first", plan), run(tmp_path, "second", changed)
    with pytest.raises(UserError, match="different gold for 1 answers"):
        compare_runs(first, second)


def test_presentations_of_one_scene_get_no_mcnemar_p(tmp_path: Path) -> None:
    plan = tiny_plan(IDS[:6], asking=Asking(order="all"))
    found = compare_runs(run(tmp_path, "a", plan), run(tmp_path, "b", plan, wrong(plan, IDS[:2])), interval=QUICK)
    assert found.mcnemar is not None
    assert found.mcnemar.p is None
    assert "not independent" in found.mcnemar.reason
    assert "order_consistency" in {result.name for result in found.results}


def test_conditions_of_one_run(tmp_path: Path) -> None:
    plan = tiny_plan(IDS, conditions=("neutral", "anger@1"))
    folder = run(tmp_path, "run", plan)
    with pytest.raises(UserError, match="several conditions"):
        compare_runs(folder, folder)
    found = compare_runs(folder, folder, ("neutral", "anger@1"), QUICK)
    assert found.results[0].difference.value == 0
    with pytest.raises(UserError, match="no condition 'joy'"):
        compare_runs(folder, folder, ("joy", None))
