from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.plans import scripted_file, tiny_plan

from affectlab.errors import UserError
from affectlab.models import Ability, ModelSettings, Request, Response, open_model
from affectlab.models.scripted import ScriptedModel
from affectlab.runs import execute, score_run


def _script(folder: Path, *rows: dict[str, Any] | str | bytes) -> ScriptedModel:
    path = folder / "script.jsonl"
    lines = [
        row if isinstance(row, bytes) else (row if isinstance(row, str) else json.dumps(row)).encode() for row in rows
    ]
    path.write_bytes(b"\n".join(lines))
    return ScriptedModel(path)


def _reply(model: ScriptedModel, request: Request) -> Response:
    ((asked, answer),) = model.respond([request])
    assert asked is request
    assert isinstance(answer, Response)
    return answer


def test_the_most_specific_line_answers(tmp_path: Path) -> None:
    model = _script(
        tmp_path,
        {"item": "*", "reply": "default"},
        {"item": "*", "step": "A", "condition": "joy", "repeat": 1, "reply": "any item, joyful"},
        {"item": "s1", "reply": "s1"},
        {"item": "s1", "repeat": 0, "reply": "s1 first"},
        {"item": "s1", "step": "A", "reply": "s1 A"},
        {"item": "s1", "step": "A", "variant": "order=1", "reply": "s1 A order=1"},
    )
    asked = {
        Request("s2", "B", ()): "default",
        Request("s2", "A", (), condition="joy", repeat=1): "any item, joyful",
        # naming the item outranks naming everything else
        Request("s1", "A", (), condition="joy", repeat=1): "s1 A",
        Request("s1", "B", ()): "s1 first",
        Request("s1", "B", (), repeat=3): "s1",
        # step outranks repeat
        Request("s1", "A", ()): "s1 A",
        Request("s1", "A", (), variant="order=1"): "s1 A order=1",
    }
    answers = dict(model.respond(list(asked)))
    assert {request: answer.text for request, answer in answers.items() if isinstance(answer, Response)} == asked


def test_a_script_is_not_steered_and_says_so(tmp_path: Path) -> None:
    plan = tiny_plan("ab", conditions=("neutral", "anger@1.0"))
    path = scripted_file(tmp_path / "replies.jsonl", plan)
    with pytest.raises(UserError, match=r"joy\.safetensors steers no script: scripted:\S+ answers what its lines say"):
        execute(plan, open_model(f"scripted:{path}", ModelSettings(vectors=Path("joy.safetensors"))), tmp_path / "run")
    execute(plan, open_model(f"scripted:{path}"), tmp_path / "run")
    overview = score_run(tmp_path / "run").overview
    assert overview is not None
    assert overview.note.endswith("The replies are scripted: no model was steered.")
    told = replace(plan, conditions=("neutral", "prompt:anger"))  # what is said in words is asked of a script too
    execute(told, open_model(f"scripted:{path}"), tmp_path / "told")
    assert "scripted" not in (score_run(tmp_path / "told").overview or overview).note


def test_replies_keep_finish_and_null(tmp_path: Path) -> None:
    model = _script(tmp_path, {"item": "a", "reply": "cut", "finish": "length"}, {"item": "b", "reply": None})
    assert _reply(model, Request("a", "x", ())) == Response("cut", finish="length")
    assert _reply(model, Request("b", "x", ())) == Response(None)
    assert model.abilities == {Ability.GENERATE, Ability.STEER}


def test_scores_come_in_the_order_of_the_options(tmp_path: Path) -> None:
    model = _script(
        tmp_path,
        {"item": "a", "logprobs": [-1, -2.5]},
        {"item": "*", "logprobs": {"fear": -3.0, "quiet joy": -4.0}},
    )
    assert model.abilities == {Ability.SCORE, Ability.STEER}
    first = _reply(model, Request("a", "x", (), options=(" fear", " quiet joy")))
    assert first == Response(None, "scored", logprobs=(-1, -2.5), option_tokens=(1, 2))
    second = _reply(model, Request("b", "x", (), options=(" quiet joy", " fear")))
    assert second.logprobs == (-4.0, -3.0)
    with pytest.raises(UserError, match="2 logprobs for item 'a', step 'x', which has 1 options"):
        list(model.respond([Request("a", "x", (), options=(" fear",))]))
    with pytest.raises(UserError, match="no logprob for ' anger' to item 'b'"):
        list(model.respond([Request("b", "x", (), options=(" fear", " anger"))]))


def test_a_missing_reply_is_named_before_anything_is_answered(tmp_path: Path) -> None:
    model = _script(tmp_path, {"item": "a", "reply": "A"})
    answers = model.respond([Request("a", "x", ()), Request("b", "y", (), variant="order=2")])
    with pytest.raises(UserError, match="item 'b', step 'y', variant 'order=2'"):
        next(answers)
    with pytest.raises(UserError, match="no logprobs for 1 of the requests"):
        next(model.respond([Request("a", "x", (), options=("A", "B"))]))


def test_bom_and_crlf_are_read(tmp_path: Path) -> None:
    model = _script(tmp_path, b'\xef\xbb\xbf{"item": "a", "reply": "A"}\r', b'{"item": "b", "reply": "B"}\r', b"")
    assert [_reply(model, Request(item, "x", ())).text for item in "ab"] == ["A", "B"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"item": "a", "reply": "A', "line 2: not JSON .* cut off"),
        ("[]", "line 2: found a list, expected an object"),
        ('{"item": "a", "replly": "A"}', "line 2: unknown field 'replly'"),
        ('{"reply": "A"}', "line 2: item is nothing"),
        ('{"item": 3, "reply": "A"}', "line 2: item is a number"),
        ('{"item": "a"}', "line 2: neither reply nor logprobs"),
        ('{"item": "a", "reply": 1}', "line 2: reply is a number"),
        ('{"item": "a", "reply": "A", "step": null}', "line 2: step is nothing"),
        ('{"item": "a", "reply": "A", "repeat": true}', "line 2: repeat is True"),
        ('{"item": "a", "reply": "A", "finish": "eos"}', "line 2: finish is 'eos'"),
        ('{"item": "a", "logprobs": []}', "line 2: logprobs must be"),
        ('{"item": "a", "logprobs": [NaN]}', "line 2: logprobs hold nan"),
        ('{"item": "a", "logprobs": {"x": 0.5}}', "line 2: logprobs hold 0.5"),
        ('{"item": "first", "reply": "B"}', "line 2: a second reply for what line 1 answers"),
        ("[" * 100_000, "line 2: (JSON nested too deeply|not JSON)"),
    ],
)
def test_bad_lines_are_named(tmp_path: Path, line: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        _script(tmp_path, {"item": "first", "reply": "A"}, line)


def test_every_bad_line_is_listed_up_to_a_limit(tmp_path: Path) -> None:
    with pytest.raises(UserError) as caught:
        _script(tmp_path, *["{"] * 25)
    text = str(caught.value)
    assert "line 1:" in text
    assert "line 20:" in text
    assert "line 21:" not in text
    assert "and 5 more" in text


def test_bad_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="is empty"):
        _script(tmp_path, "", "  ")
    with pytest.raises(UserError, match="line 2: not UTF-8"):
        _script(tmp_path, {"item": "a", "reply": "A"}, b'{"item": "\xff"}')
    with pytest.raises(UserError, match="There is no script"):
        ScriptedModel(tmp_path / "none.jsonl")
    with pytest.raises(UserError, match="is a folder"):
        ScriptedModel(tmp_path)


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 2), st.text(max_size=5)), min_size=1, max_size=8))
def test_what_was_written_comes_back(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, int, str]]
) -> None:
    wanted = {(item, repeat): reply for item, repeat, reply in rows}
    folder = tmp_path_factory.mktemp("script")
    model = _script(folder, *({"item": item, "repeat": n, "reply": reply} for (item, n), reply in wanted.items()))
    requests = [Request(item, "x", (), repeat=n) for item, n in wanted]
    answers = list(model.respond(requests))
    assert [request for request, _ in answers] == requests
    assert [a.text for _, a in answers if isinstance(a, Response)] == list(wanted.values())
