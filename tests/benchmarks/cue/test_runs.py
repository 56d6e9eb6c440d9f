"""Runs of different protocols on one data set, whole: made, read back, compared."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from affectlab.benchmarks.base import Asking
from affectlab.errors import UserError
from affectlab.models import open_model
from affectlab.runs import RunFolder, compare_runs, execute, make_plan, score_run
from affectlab.stats.bootstrap import Interval

QUICK = Interval(replicates=50)


def run(folder: Path, protocol: str, wrong_intent: int = 0, **options: str) -> Path:
    """A run on the first 18 records that answers gold, but ``irony`` for the intent of the first few."""
    plan = make_plan("cue", protocol=protocol, limit=18, asking=Asking(options=options))
    script = folder / f"{protocol}.jsonl"
    with script.open("w", encoding="utf-8") as file:
        for number, item in enumerate(plan.items):
            answer = {**item.gold, "intent": "irony"} if number < wrong_intent else item.gold
            for request in plan.protocol.requests(item, plan.asking, {}):
                reply = plan.protocol.ideal_reply(item, request, answer, plan.asking)
                line = {"item": item.id, "step": request.step, "variant": request.variant, "reply": reply.text}
                file.write(json.dumps(line) + "\n")
    execute(plan, open_model(f"scripted:{script}"), RunFolder.at(folder / protocol))
    return folder / protocol


def test_protocols_are_compared_on_the_slots_that_both_answer(tmp_path: Path) -> None:
    direct, matrix = run(tmp_path, "direct", wrong_intent=4), run(tmp_path, "matrix")
    found = compare_runs(direct, matrix, interval=QUICK)
    assert found.left_out == ("explicit", "implicit", "stated_stance")
    by_name = {result.name: result for result in found.results}
    # The first block of nine holds the sarcastic record whose intent is irony among its first four or not.
    ironic = sum(item.gold["intent"] == "irony" for item in found.a.run.plan.items[:4])
    assert by_name["accuracy:intent"].difference.value == pytest.approx(-(4 - ironic) / 18)
    assert by_name["accuracy:stance"].difference.value == 0
    assert found.mcnemar is not None
    assert (found.mcnemar.b, found.mcnemar.c) == (0, 4 - ironic)


def test_the_oracle_is_compared_with_direct_on_its_task(tmp_path: Path) -> None:
    found = compare_runs(run(tmp_path, "direct"), run(tmp_path, "oracle-stance-intent"), interval=QUICK)
    assert found.left_out == ("stance", "emotion")
    assert {result.name for result in found.results} == {
        "accuracy:intent", "macro_f1:intent", "weighted_f1:intent", "parse_rate"
    }  # fmt: skip


def test_runs_without_a_common_slot_are_refused(tmp_path: Path) -> None:
    one, other = run(tmp_path, "oracle-stance-intent"), run(tmp_path, "oracle-stance-emotion")
    with pytest.raises(UserError, match="nothing in common"):
        compare_runs(one, other, interval=QUICK)


def test_settings_are_checked_before_anything_is_asked() -> None:
    for name, value in (("context", "-1"), ("context", "many"), ("lang", "fr"), ("strict", "perhaps")):
        with pytest.raises(UserError, match=f"{name}={value}"):
            make_plan("cue", asking=Asking(options={name: value}))
    with pytest.raises(UserError, match="demoes"):
        make_plan("cue", asking=Asking(options={"demoes": "x"}))


def test_a_run_is_scored_again_from_its_folder(tmp_path: Path) -> None:
    folder = run(tmp_path, "few_shot", context="1", lang="en")
    scored = score_run(folder, QUICK)
    figures = {figure.name: figure.value for figure in scored.scores["neutral"].headline}
    assert figures["accuracy:stance"] == figures["accuracy:intent"] == figures["joint_accuracy"] == 1
    # 18 records hold few of the 25 emotions: those without gold count 0.
    held = len({item.gold["emotion"] for item in scored.plan.items})
    assert figures["macro_f1:emotion"] == pytest.approx(held / 25)
