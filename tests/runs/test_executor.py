from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.support.plans import scripted_file, tiny_plan

from affectlab.benchmarks.base import Answered, Asking
from affectlab.errors import UserError, WorldError
from affectlab.items import Item
from affectlab.metrics.predictions import Prediction
from affectlab.models import open_model
from affectlab.models.base import Ability, Answer, Failure, ModelCard, Request, Response, Usage
from affectlab.runs import Progress, RunFolder, execute, score_run


class Played:
    """A model that answers from a function, for what a script cannot do."""

    def __init__(self, answer: object, abilities: frozenset[Ability] = frozenset({Ability.GENERATE})) -> None:
        self.answer = answer
        self.abilities = abilities
        self.card = ModelCard("played", "played")
        self.asked: list[Request] = []

    def respond(self, requests: Sequence[Request]) -> Iterator[tuple[Request, Answer]]:
        for request in requests:
            self.asked.append(request)
            yield request, self.answer(request)  # type: ignore[operator]

    def close(self) -> None:
        pass


def good(request: Request) -> Response:
    return Response("AGENT A: A\nAGENT B: B", usage=Usage(10, 5, 0.01))


def test_every_request_is_answered_once_and_on_disk(tmp_path: Path) -> None:
    model = Played(good)
    seen: list[Progress] = []
    session = execute(tiny_plan("abc"), model, RunFolder.at(tmp_path / "run"), seen.append, "affectlab run …")
    assert (session.asked, session.answered, session.failed, session.complete) == (3, 3, 0, True)
    assert [step.done for step in seen] == [0, 1, 2, 3]
    rows = [json.loads(line) for line in (tmp_path / "run/responses.jsonl").read_text().splitlines()]
    assert [row["item"] for row in rows] == ["a", "b", "c"]
    assert rows[0]["request"]["messages"][1]["content"].startswith("Scene: Scene a")
    assert rows[0]["response"]["text"] == "AGENT A: A\nAGENT B: B"
    manifest = RunFolder.at(tmp_path / "run").manifest()
    assert manifest["sessions"][0]["usage"] == {
        "prompt_tokens": 30, "completion_tokens": 15, "cost": pytest.approx(0.03), "calls_with_usage": 3
    }  # fmt: skip
    assert manifest["sessions"][0]["command"] == "affectlab run …"


def test_a_response_is_written_before_the_next_is_taken(tmp_path: Path) -> None:
    run = RunFolder.at(tmp_path / "run")

    def answer(request: Request) -> Response:
        written = run.responses_path.read_bytes().count(b"\n")
        assert written == len(model.asked) - 1
        return good(request)

    model = Played(answer)
    execute(tiny_plan("abcd"), model, run)
    assert len(model.asked) == 4


def test_failures_are_counted_kept_apart_and_asked_again(tmp_path: Path) -> None:
    run = RunFolder.at(tmp_path / "run")
    failing = Played(lambda request: Failure("HTTP 500", 3) if request.item == "b" else good(request))
    session = execute(tiny_plan("abc"), failing, run)
    assert (session.answered, session.failed, session.errors) == (2, 1, (("HTTP 500", 1),))
    assert not session.complete
    assert [row["item"] for row in run.failures()] == ["b"]
    notes = score_run(run.path).scores["neutral"].notes
    assert notes[0].startswith("Incomplete run: 2 of 3")
    working = Played(good)
    assert execute(tiny_plan("abc"), working, run).asked == 1
    assert [request.item for request in working.asked] == ["b"]
    assert not any(note.startswith("Incomplete") for note in score_run(run.path).scores["neutral"].notes)


def test_ctrl_c_keeps_what_came_back(tmp_path: Path) -> None:
    def answer(request: Request) -> Response:
        if request.item == "c":
            raise KeyboardInterrupt
        return good(request)

    run = RunFolder.at(tmp_path / "run")
    session = execute(tiny_plan("abcd"), Played(answer), run)
    assert session.interrupted
    assert session.answered == 2
    assert run.manifest()["sessions"][0]["interrupted"] is True
    assert execute(tiny_plan("abcd"), Played(good), run).asked == 2


def test_a_world_error_leaves_a_folder_that_can_go_on(tmp_path: Path) -> None:
    def answer(request: Request) -> Response:
        if request.item == "b":
            raise WorldError("gone")
        return good(request)

    run = RunFolder.at(tmp_path / "run")
    with pytest.raises(WorldError):
        execute(tiny_plan("ab"), Played(answer), run)
    assert run.manifest()["sessions"][0]["answered"] == 1
    assert execute(tiny_plan("ab"), Played(good), run).asked == 1


def test_conditions_and_repeats_are_asked_and_scored_apart(tmp_path: Path) -> None:
    plan = tiny_plan("ab", conditions=("neutral", "anger@1"), repeats=2, asking=Asking(temperature=0.7))
    model = Played(good, frozenset({Ability.GENERATE, Ability.STEER}))
    execute(plan, model, RunFolder.at(tmp_path / "run"))
    assert len({request.key for request in model.asked}) == 8
    assert {request.sampling.seed for request in model.asked} == {0}
    scored = score_run(tmp_path / "run")
    assert list(scored.scores) == ["neutral", "anger@1"]
    assert scored.scores["neutral"].figure("accuracy").n == 8
    rows = [json.loads(line) for line in scored.folder.predictions_path.read_text(encoding="utf-8").splitlines()]
    # Two items of two slots in each of the four cells.
    assert Counter((row["condition"], row["repeat"]) for row in rows) == {
        (condition, repeat): 4 for condition in ("neutral", "anger@1") for repeat in (0, 1)
    }


def test_a_condition_the_model_cannot_be_put_in_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"cannot be put into condition 'anger@1'"):
        execute(tiny_plan("a", conditions=("neutral", "anger@1")), Played(good), RunFolder.at(tmp_path / "run"))
    assert not (tmp_path / "run").exists()


def test_repeats_need_a_temperature() -> None:
    with pytest.raises(UserError, match="temperature"):
        tiny_plan("a", repeats=2)


def test_a_model_that_cannot_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    scorer = Played(good, frozenset({Ability.SCORE}))
    with pytest.raises(UserError, match=r"needs a model that can generate.*would work: likelihood"):
        execute(tiny_plan("a"), scorer, RunFolder.at(tmp_path / "run"))
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"asking": Asking(order="all")}, "asking.order"),
        ({"asking": Asking(seed=1)}, "asking.seed"),
        ({"asking": Asking(max_tokens=7)}, "asking.max_tokens"),
        ({"data_sha256": "1" * 64}, "data.sha256"),
        ({"conditions": ("neutral", "anger@1")}, "conditions"),
    ],
)
def test_another_run_is_refused_and_the_field_named(tmp_path: Path, change: dict[str, object], field: str) -> None:
    run = RunFolder.at(tmp_path / "run")
    execute(tiny_plan("ab"), Played(good), run, command="affectlab run chiaro --first")
    before = run.responses_path.read_bytes()
    model = Played(good, frozenset({Ability.GENERATE, Ability.STEER}))
    with pytest.raises(UserError, match=f"{field}: the folder has") as refused:
        execute(replace(tiny_plan("ab"), **change), model, run)  # type: ignore[arg-type]
    assert "affectlab run chiaro --first" in str(refused.value)
    assert run.responses_path.read_bytes() == before


def test_changed_prompts_or_items_are_another_run(tmp_path: Path) -> None:
    run = RunFolder.at(tmp_path / "run")
    execute(tiny_plan("ab"), Played(good), run)
    with pytest.raises(UserError, match=r"data\.items: the folder has 2"):
        execute(tiny_plan("abc"), Played(good), run)
    plan = tiny_plan("ab")
    reworded = replace(plan.items[0], inputs={**plan.items[0].inputs, "sentence": "Another."})
    with pytest.raises(UserError, match="prompt_sha256"):
        execute(replace(plan, items=(reworded, plan.items[1])), Played(good), run)
    regolded = replace(plan.items[0], slices={"mode": "non_physical"})
    with pytest.raises(UserError, match="items_sha256"):
        execute(replace(plan, items=(regolded, plan.items[1])), Played(good), run)
    with pytest.raises(UserError, match=r"data\.fields"):
        execute(replace(plan, fields={"sentence": "text"}), Played(good), run)


def test_a_folder_with_other_things_in_it_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("precious")
    with pytest.raises(UserError, match=r"not a run folder.*thesis\.tex"):
        execute(tiny_plan("a"), Played(good), RunFolder.at(tmp_path))
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="is a file"):
        execute(tiny_plan("a"), Played(good), RunFolder.at(tmp_path / "file"))


def test_two_processes_on_one_folder(tmp_path: Path) -> None:
    run = RunFolder.at(tmp_path / "run")

    def answer(request: Request) -> Response:
        with pytest.raises(UserError, match="in use by another process"):
            execute(tiny_plan("ab"), Played(good), RunFolder.at(tmp_path / "run"))
        with pytest.raises(UserError, match="in use by another process"):
            score_run(run.path)
        return good(request)

    execute(tiny_plan("ab"), Played(answer), run)
    assert run.responses_path.read_bytes().count(b"\n") == 2


def test_scripted_run_scores_perfect(tmp_path: Path) -> None:
    plan = tiny_plan([str(number) for number in range(10)], protocol="likelihood")
    model = open_model(f"scripted:{scripted_file(tmp_path / 'replies.jsonl', plan)}")
    execute(plan, model, RunFolder.at(tmp_path / "run"))
    assert score_run(tmp_path / "run").headline == {"neutral": 1.0}


def test_half_a_surrogate_and_odd_usage_lose_nothing(tmp_path: Path) -> None:
    odd = Usage(float("nan"), 5, float("inf"))  # type: ignore[arg-type]
    run = RunFolder.at(tmp_path / "run")
    session = execute(
        tiny_plan("ab"), Played(lambda request: Response("AGENT A: A\nAGENT B: C \ud83d", usage=odd)), run
    )
    assert session.answered == 2
    assert score_run(run.path).scores["neutral"].figure("parse_rate").value == 1.0
    assert run.manifest()["sessions"][0]["usage"]["cost"] is None


def test_a_changed_item_and_a_stray_response_are_told(tmp_path: Path) -> None:
    run = RunFolder.at(tmp_path / "run")
    execute(tiny_plan("ab"), Played(good), run)
    run.responses_path.write_text(run.responses_path.read_text().replace('"item":"b"', '"item":"x"'))
    notes = score_run(run.path).scores["neutral"].notes
    assert notes[0].startswith("Incomplete run: 1 of 2")
    assert notes[1].startswith("1 responses belong to no request")
    run.items_path.write_text(run.items_path.read_text().replace('"pride"', '"joy"'))
    with pytest.raises(UserError, match=r"items\.jsonl was changed"):
        score_run(run.path)


def test_a_plan_with_nothing_to_ask_is_refused_before_a_folder_is_made(tmp_path: Path) -> None:
    plan = tiny_plan("ab")
    mute = replace(plan, protocol=Mute())
    with pytest.raises(UserError, match=r"Nothing to ask: .* protocol mute"):
        execute(mute, Played(good), tmp_path / "run")
    assert not (tmp_path / "run").exists()


class Mute:
    """A protocol that no item gives anything to ask."""

    name = "mute"
    summary = "asks nothing"
    needs = frozenset({Ability.GENERATE})

    def requests(self, item: Item, asking: Asking, answered: Answered) -> list[Request]:
        return []

    def read(self, item: Item, asking: Asking, answered: Answered) -> list[Prediction]:
        return []

    def ideal_reply(self, item: Item, request: Request, answer: Mapping[str, Any], asking: Asking) -> Response:
        return Response("")
