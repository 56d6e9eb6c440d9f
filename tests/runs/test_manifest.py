"""Manifests that somebody edited."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.support.plans import scripted_file, tiny_plan

import affectlab
from affectlab.errors import UserError
from affectlab.models import open_model
from affectlab.runs import RunFolder, execute, score_run


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"steering": []}, r"steering is \[\], not an object\."),
        ({"steering": None}, "steering is null, not an object"),
        ({"steering": {"conditions": []}}, r"steering\.conditions is \[\], not an object of an object each"),
        (
            {"steering": {"conditions": {"anger@1.0": 3}}},
            r"steering\.conditions is .*, not an object of an object each",
        ),
        ({"steering": {"vectors": 3}}, r"steering\.vectors is 3, not an object"),
        ({"conditions": None}, "conditions is null, not a list of text each"),
        ({"conditions": [1]}, r"conditions is \[1\], not a list of text each"),
        ({"conditions": "neutral"}, 'conditions is "neutral", not a list'),
        ({"sessions": None}, "sessions is null, not a list"),
        ({"sessions": [1]}, r"sessions is \[1\], not a list of an object each"),
        ({"model": None}, "model is null, not an object"),
        ({"data": []}, r"data is \[\], not an object"),
        ({"repeats": "x"}, 'repeats is "x", not a whole number'),
    ],
    ids=str,
)
def test_a_manifest_of_another_shape_is_broken_and_says_where(
    changes: dict[str, Any], said: str, tmp_path: Path
) -> None:
    """Whether it is scored or gone on with."""
    plan = tiny_plan("ab")
    model = open_model(f"scripted:{scripted_file(tmp_path / 'replies.jsonl', plan)}")
    run = RunFolder.at(tmp_path / "run")
    execute(plan, model, run)
    run.manifest_path.write_text(json.dumps(run.manifest() | changes), encoding="utf-8")
    for again in (lambda: score_run(run.path), lambda: execute(plan, model, run)):
        with pytest.raises(UserError, match=rf"manifest\.json of .* is broken: {said}"):
            again()


@pytest.mark.parametrize(
    ("package", "do"),
    [
        (affectlab.__version__, f"Another state of affectlab {affectlab.__version__} made it, so it must be run anew"),
        ("0.0.1", "Use the affectlab that made it (0.0.1), or run it anew in another --out."),
    ],
)
def test_a_folder_of_another_version_of_its_benchmark_says_what_can_be_done(
    package: str, do: str, tmp_path: Path
) -> None:
    """The command that began it would be refused as well, and is not named."""
    plan = tiny_plan("ab")
    model = open_model(f"scripted:{scripted_file(tmp_path / 'replies.jsonl', plan)}")
    run = RunFolder.at(tmp_path / "run")
    execute(plan, model, run, command="affectlab run chiaro")
    changes = {"package_version": package, "benchmark": {"name": plan.benchmark.name, "version": "0"}}
    run.manifest_path.write_text(json.dumps(run.manifest() | changes), encoding="utf-8")
    for again, said in (
        (lambda: score_run(run.path), "was run with chiaro version 0, here is version 1"),
        (lambda: execute(plan, model, run), 'benchmark.version: the folder has "0", this command asks "1"'),
    ):
        with pytest.raises(UserError) as caught:
            again()
        assert said in str(caught.value)
        assert do in str(caught.value)
        assert "affectlab run chiaro" not in str(caught.value)
