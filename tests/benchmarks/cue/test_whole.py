"""CUE-Bench runs as users make them: cut short and gone on with, under conditions, compared, reported."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from affectlab.benchmarks import sheets
from affectlab.benchmarks.base import Asking, Scoring
from affectlab.benchmarks.cue.scores import score
from affectlab.metrics.predictions import Prediction, PredictionTable
from affectlab.models import open_model
from affectlab.report.from_run import report_of
from affectlab.report.references import standing
from affectlab.runs import RunFolder, compare_runs, execute, make_plan, score_run
from affectlab.runs.plan import Plan
from affectlab.stats.bootstrap import Interval
from affectlab.stats.estimate import Estimate

QUICK = Interval(replicates=10)


def scripted(path: Path, plan: Plan, wrong: str = "") -> str:
    """A model that answers gold, but the intent of one record."""
    with path.open("w", encoding="utf-8") as file:
        for item in plan.items:
            answer = {**item.gold, "intent": "irony"} if item.id == wrong else item.gold
            for request in plan.protocol.requests(item, plan.asking, {}):
                reply = plan.protocol.ideal_reply(item, request, answer, plan.asking)
                line = {"item": item.id, "step": request.step, "variant": request.variant, "reply": reply.text}
                file.write(json.dumps(line) + "\n")
    return f"scripted:{path}"


@pytest.mark.parametrize("protocol", ["direct", "matrix"])
def test_a_run_that_was_killed_goes_on_and_ends_the_same(tmp_path: Path, protocol: str) -> None:
    """Every prefix of the response file is a state that a killed process may leave."""
    plan = make_plan("cue", protocol=protocol, limit=2)
    model = open_model(scripted(tmp_path / "script.jsonl", plan, wrong=plan.items[0].id))
    whole = RunFolder.at(tmp_path / "whole")
    execute(plan, model, whole)
    score_run(whole.path, QUICK)
    content = whole.responses_path.read_bytes()
    requests = content.count(b"\n")
    for cut in (0, len(content) // 2, len(content) - 1):
        run = RunFolder.at(tmp_path / f"cut{cut}")
        execute(plan, model, run)
        run.responses_path.write_bytes(content[:cut])
        assert execute(plan, model, run).asked == requests - content[:cut].count(b"\n") > 0
        score_run(run.path, QUICK)
        assert run.scores_path.read_bytes() == whole.scores_path.read_bytes()
        assert run.predictions_path.read_bytes() == whole.predictions_path.read_bytes()


def test_conditions_are_asked_scored_compared_and_shown(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="local models need affectlab[local]")
    pytest.importorskip("transformers", reason="local models need affectlab[local]")
    from tests.support import tiny_models

    from affectlab import steering
    from affectlab.models import ModelSettings

    folder = str(tiny_models.save(tmp_path / "model", "llama", context=8192))
    draw = np.random.default_rng(1)
    made = steering.EmotionVectors.from_tensors(
        {0: draw.normal(size=32), 1: draw.normal(size=32)},
        open_model(folder).subject.identity,  # type: ignore[attr-defined]
        "anger",
        np.ones(2, np.float32),
    )
    steering.save(made, tmp_path / "anger.safetensors")
    model = open_model(folder, ModelSettings(vectors=tmp_path / "anger.safetensors"))
    conditions = ("prompt:anger", "anger@40.0")
    asking = Asking(order="fixed", options={"lang": "en", "context": "0"}, max_tokens=4)
    plan = make_plan("cue", protocol="oracle-stance-intent", limit=2, asking=asking, conditions=conditions)
    execute(plan, model, tmp_path / "run")

    run = score_run(tmp_path / "run", QUICK)
    assert list(run.scores) == list(report_of(run).scores) == ["neutral", *conditions]
    assert run.answered == run.planned == 2 * 3
    # What is done to the model moves its replies, and what is said to it is in its prompt.
    said = {
        name: [
            (response.text, response.prompt)
            for cell, answered in run.folder.answers().by_cell.items()
            if cell.condition == name
            for response in answered.values()
        ]
        for name in run.scores
    }
    assert {text for text, _ in said["anger@40.0"]} != {text for text, _ in said["neutral"]}
    assert all("anger" in str(prompt) or "angry" in str(prompt) for _, prompt in said["prompt:anger"])
    assert {prompt for _, prompt in said["prompt:anger"]}.isdisjoint(prompt for _, prompt in said["neutral"])
    found = compare_runs(tmp_path / "run", tmp_path / "run", conditions=("neutral", "anger@40.0"), interval=QUICK)
    assert {"macro_f1:intent", "accuracy:intent", "parse_rate"} <= {result.name for result in found.results}


def test_the_report_of_a_matrix_run_shows_where_chains_break(tmp_path: Path) -> None:
    plan = make_plan("cue", protocol="matrix", limit=3)
    wrong = plan.items[0].id
    execute(plan, open_model(scripted(tmp_path / "script.jsonl", plan, wrong)), tmp_path / "run")
    report = report_of(score_run(tmp_path / "run", QUICK))
    assert report.smaller_better == {"contradiction_rate"}
    neutral = report.scores["neutral"]
    assert {"chain", "signals", "by_scenario_type_accuracy"} <= {table.id for table in neutral.tables}
    assert {"confusion_stance", "confusion_explicit"} <= {matrix.id for matrix in neutral.matrices}
    place = standing(report)
    assert place is not None
    assert len(place.table.rows) == 1 + 20 + 6 + 2  # this run, Tables 3 and 4, chance and majority


def test_places_in_the_prompt() -> None:
    """A table per task, of the rows of that task alone; every place has a row, chosen or not."""
    rows = [
        Prediction(
            f"{n}", f"{n}", slot, "ok", value, gold, position=place, slices={"gold_position": there}
        )
        for n, (slot, value, gold, place, there) in enumerate(
            [
                ("stance", "positive", "positive", 0, "A"), ("stance", "neutral", "positive", 1, "A"),
                ("intent", "humor", "humor", 2, "C"),
            ]
        )
    ]  # fmt: skip
    found = score(Scoring(PredictionTable.from_rows(rows), "neutral", "direct", QUICK))
    stance = {line[0]: line[1:] for line in found.table("position_stance").rows}
    # Chosen once each; the gold stands at A in both, found in one.
    never = dict.fromkeys("CDEFGHI", (0, 0, 0, 0, None))
    assert stance == {"A": (1, 1 / 2, 1, -1 / 2, 1 / 2), "B": (1, 1 / 2, 0, 1 / 2, None), **never}
    intent = {line[0]: line[1] for line in found.table("position_intent").rows}
    assert intent == {**dict.fromkeys("ABCDEFGH", 0), "C": 1}


@pytest.mark.parametrize(("read", "told"), [(9, False), (8, True)])
def test_a_run_of_which_little_can_be_read_says_so(read: int, told: bool) -> None:
    rows = [
        Prediction(str(n), str(n), "stance", "ok", "positive", "positive")
        if n < read
        else Prediction(str(n), str(n), "stance", "empty", None, "positive")
        for n in range(10)
    ]
    found = score(Scoring(PredictionTable.from_rows(rows), "neutral", "direct", QUICK))
    (note,) = sheets.poorly_read(Estimate("parse_rate", 0.8), "likelihood")
    assert (note in found.notes) is told
