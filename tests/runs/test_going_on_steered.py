"""Runs under conditions that go on: in another order, without the cache, after a kill."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.support.plans import tiny_plan

from affectlab.errors import UserError
from affectlab.models.base import Ability, Answer, Failure, ModelCard, Request, Response
from affectlab.runs import RunFolder, execute, score_run

ROOT = Path(__file__).resolve().parents[2]


class Steered:
    """A model whose vectors are a text file; it fails on what it is told to."""

    abilities = frozenset({Ability.GENERATE, Ability.STEER})

    def __init__(self, vectors: str = "v1", failing: str = "", name: str = "steered") -> None:
        self.vectors = vectors
        self.failing = failing
        self.card = ModelCard(name, name)
        self.asked: list[Request] = []
        self.prepared: list[tuple[tuple[str, ...], Mapping[str, Any]]] = []

    def prepare(self, conditions: Sequence[str], kept: Path, recorded: Mapping[str, Any]) -> Mapping[str, Any]:
        self.prepared.append((tuple(conditions), recorded))
        if not recorded:
            kept.write_text(self.vectors)
        return {**recorded, "vectors": {"sha256": self.vectors}}

    def respond(self, requests: Sequence[Request]) -> Iterator[tuple[Request, Answer]]:
        for request in requests:
            self.asked.append(request)
            yield request, Failure("no") if request.item == self.failing else Response("AGENT A: A\nAGENT B: B")

    def close(self) -> None:
        pass


STATES = ("neutral", "prompt:joy", "anger@1.0", "prompt:fear")


def test_in_which_order_conditions_are_named_makes_no_other_run(tmp_path: Path) -> None:
    """Requests, digests and responses are the same; results stand in the order asked for last."""
    run = RunFolder.at(tmp_path / "run")
    execute(tiny_plan("ab", conditions=STATES), Steered(failing="b"), run)
    turned = ("neutral", "prompt:fear", "anger@1.0", "prompt:joy")
    again = Steered()
    assert execute(tiny_plan("ab", conditions=turned), again, run).complete
    assert sorted(request.condition for request in again.asked) == sorted(STATES)
    assert {request.item for request in again.asked} == {"b"}
    assert run.manifest()["conditions"] == list(turned)
    assert list(score_run(run.path).scores) == list(turned)
    with pytest.raises(UserError, match=r"conditions: the folder has .*prompt:joy"):
        execute(tiny_plan("ab", conditions=turned[:3]), Steered(), run)


def test_a_run_that_goes_on_gets_its_record_and_one_that_begins_gets_none(tmp_path: Path) -> None:
    run = RunFolder.at(tmp_path / "run")
    first, second = Steered(failing="b"), Steered()
    execute(tiny_plan("ab", conditions=STATES), first, run)
    assert first.prepared == [(("anger@1.0",), {})]
    assert run.vectors_path.read_text() == "v1"
    execute(tiny_plan("ab", conditions=STATES), second, run)
    assert second.prepared == [(("anger@1.0",), {"vectors": {"sha256": "v1"}})]
    with pytest.raises(UserError, match=r'steering\.vectors\.sha256: the folder has "v1", this command asks "v2"'):
        execute(tiny_plan("ab", conditions=STATES), Steered("v2"), run)
    assert run.manifest()["steering"]["vectors"]["sha256"] == "v1"


def test_another_run_is_refused_before_anything_is_made_ready(tmp_path: Path) -> None:
    run = RunFolder.at(tmp_path / "run")
    execute(tiny_plan("ab", conditions=STATES), Steered(), run)
    other = Steered(name="other")
    with pytest.raises(UserError, match=r"model\.spec"):
        execute(tiny_plan("ab", conditions=STATES), other, run)
    assert other.prepared == []


def test_what_a_killed_process_left_before_its_first_answer_is_no_stranger(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    for name in (".lock", "vectors.safetensors", ".vectors.safetensors.0123abcd.part", ".manifest.json.part"):
        (folder / name).write_text("half")
    assert execute(tiny_plan("ab", conditions=STATES), Steered(), folder).complete
    assert RunFolder.at(folder).vectors_path.read_text() == "v1"


_KILLED = """
import os, signal, sys
from affectlab.cli import main
from affectlab.runs.folder import Appender
write = Appender.response
count = 0
def response(self, *told):
    global count
    write(self, *told)
    count += 1
    if count == 5:
        os.kill(os.getpid(), signal.SIGKILL)
Appender.response = response
sys.argv = ["affectlab", *sys.argv[1:]]
main.main()
"""


def test_a_steered_run_killed_goes_on_without_the_vectors_it_was_begun_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A real process on a tiny model is killed after five responses; then the cache, where its own vectors were, is
    emptied. The same command asks what is missing, and all is as in a run that nothing happened to."""
    pytest.importorskip("torch", reason="local models need torch")
    pytest.importorskip("transformers", reason="local models need transformers")
    from tests.support import tiny_models

    from affectlab.models import ModelSettings, open_model
    from affectlab.runs import make_plan

    model = tiny_models.save(tmp_path / "model", context=1024)
    conditions = ("anger@0.5:relative", "joy@0.02:kl", "permuted:fear@1.0:seed=1")
    command = ["run", "chiaro", "--protocol", "likelihood", "--model", str(model), "--limit", "2"]
    command += ["--out", str(tmp_path / "killed"), "--threads", "1", "--device", "cpu", "--batch-tokens", "600"]
    command += [word for condition in conditions for word in ("--condition", condition)]
    cache = tmp_path / "cache"
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    done = subprocess.run(
        [sys.executable, "-c", _KILLED, *command], cwd=ROOT, capture_output=True, text=True, timeout=280, check=False
    )
    assert done.returncode == -9, done.stderr
    killed = RunFolder.at(tmp_path / "killed")
    assert killed.answers().total == 5
    plan = make_plan("chiaro", protocol="likelihood", limit=2, conditions=conditions)
    settings = ModelSettings(device="cpu", threads=1, batch_tokens=600)
    execute(plan, open_model(str(model), settings), tmp_path / "whole")
    shutil.rmtree(cache)
    turned = make_plan("chiaro", protocol="likelihood", limit=2, conditions=conditions[::-1])
    session = execute(turned, open_model(str(model), settings), killed)
    assert (session.found, session.complete) == (5, True)
    assert not cache.exists()

    def scored(folder: RunFolder) -> dict[tuple[Any, ...], list[float]]:
        rows = [json.loads(line) for line in folder.responses_path.read_text("utf-8").splitlines()]
        return {
            (row["item"], row["variant"], row["step"], row["condition"]): row["response"]["logprobs"] for row in rows
        }

    whole, mended = scored(RunFolder.at(tmp_path / "whole")), scored(killed)
    assert mended.keys() == whole.keys()
    for key, logprobs in whole.items():
        assert mended[key] == pytest.approx(logprobs, abs=1e-4)
    states = {
        name: state["doses"] for name, state in killed.manifest()["steering"]["conditions"].items() if "doses" in state
    }
    assert list(states) == ["joy@0.02:kl"]
