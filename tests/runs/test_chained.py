"""A protocol whose second question depends on the first answer: what CAREBench and reflection prompts need."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from tests.support.plans import tiny_plan

from affectlab.benchmarks.base import Answered, Asking
from affectlab.items import Item
from affectlab.metrics.predictions import Prediction
from affectlab.models.base import Ability, Answer, Message, ModelCard, Request, Response
from affectlab.runs import RunFolder, execute, score_run
from affectlab.runs import score as scoring


@dataclass(frozen=True)
class ReasonThenAnswer:
    name: str = "chained"
    summary: str = "reason first, answer in a second call that quotes the reasoning"
    needs: frozenset[Ability] = frozenset({Ability.GENERATE})

    def requests(self, item: Item, asking: Asking, answered: Answered) -> Sequence[Request]:
        first = Request(item.id, "reason", (Message("user", f"Why? {item.id}"),))
        if ("", "reason") not in answered:
            return [first]
        return [first, Request(item.id, "answer", (Message("user", f"So? {answered['', 'reason'].text}"),))]

    def read(self, item: Item, asking: Asking, answered: Answered) -> Sequence[Prediction]:
        if ("", "answer") not in answered:
            return []
        value = answered["", "answer"].text
        return [Prediction(item.id, item.cluster, "A", "ok", value, item.gold["A"])]

    def ideal_reply(self, item: Item, request: Request, answer: Mapping[str, Any], asking: Asking) -> Response:
        return Response("because" if request.step == "reason" else str(answer["A"]))


class Model:
    card = ModelCard("chain", "chain")
    abilities = frozenset({Ability.GENERATE})

    def __init__(self, stop_after: int | None = None) -> None:
        self.asked: list[Request] = []
        self.stop_after = stop_after

    def respond(self, requests: Sequence[Request]) -> Iterator[tuple[Request, Answer]]:
        for request in requests:
            if self.stop_after is not None and len(self.asked) >= self.stop_after:
                raise KeyboardInterrupt
            self.asked.append(request)
            yield request, Response(f"reason of {request.item}" if request.step == "reason" else "joy")

    def close(self) -> None:
        pass


def test_follow_ups_are_asked_once_their_answer_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = replace(tiny_plan("abc"), protocol=ReasonThenAnswer())
    model = Model()
    session = execute(plan, model, RunFolder.at(tmp_path / "run"))
    assert session.answered == 6
    assert [request.step for request in model.asked] == ["reason"] * 3 + ["answer"] * 3
    assert model.asked[3].messages[0].content == "So? reason of a"
    changed = replace(plan.benchmark, protocols={"chained": plan.protocol})
    monkeypatch.setattr(scoring, "open_benchmark", lambda name: changed)
    scored = score_run(tmp_path / "run")
    assert (scored.answered, scored.planned) == (6, 6)
    assert len(scored.table) == 3


@pytest.mark.parametrize("stop_after", [1, 3, 4, 5])
def test_an_interrupted_chain_goes_on_where_it_was(tmp_path: Path, stop_after: int) -> None:
    plan = replace(tiny_plan("abc"), protocol=ReasonThenAnswer())
    run = RunFolder.at(tmp_path / "run")
    assert execute(plan, Model(stop_after), run).interrupted
    again = Model()
    execute(plan, again, run)
    assert len(again.asked) == 6 - stop_after
    assert run.answers().total == 6
