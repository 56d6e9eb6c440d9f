from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest
from tests.support.openai_server import OpenAIServer, Plan, Reply, completion, echo, error, serving
from tests.support.plans import tiny_plan

from affectlab.errors import UserError, WorldError
from affectlab.models import Answer, Failure, Message, ModelSettings, Request, Response, Sampling, Usage
from affectlab.models.remote import RemoteModel
from affectlab.models.replies import retry_after
from affectlab.runs import RunFolder, execute, score_run

KEY = "sk-test-3141592653589793"
OK = Reply(completion("A"))


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


def _request(text: str, **fields: Any) -> Request:
    return Request(text, "joint", (Message("user", text),), **fields)


def _model(url: str, **settings: Any) -> RemoteModel:
    return RemoteModel(
        "fake-1", ModelSettings(base_url=url, **{"timeout_s": 5.0, "retries": 3} | settings), backoff_s=0.01
    )


def _ask(url: str, requests: list[Request], **settings: Any) -> dict[str, Answer]:
    """Answers by item, each request answered exactly once."""
    model = _model(url, **settings)
    try:
        answers = list(model.respond(requests))
    finally:
        model.close()
    assert Counter(request for request, _ in answers) == Counter(requests)
    return {request.item: answer for request, answer in answers}


def _one(plan: Plan, request: Request | None = None, **settings: Any) -> tuple[Answer, OpenAIServer]:
    """The answer to one request, asked beside one that the endpoint answers."""
    request = request or _request("it")
    with serving(lambda text, attempt: plan(text, attempt) if text != "beside" else echo(text, attempt)) as server:
        return _ask(server.url, [_request("beside"), request], concurrency=1, **settings)[request.item], server


def _text(answer: Answer) -> str | None:
    assert isinstance(answer, Response), answer
    return answer.text


def test_a_reply_is_kept_whole() -> None:
    body = completion("B", reasoning_content="Ben is glad.")
    body["usage"]["cost"] = 0.00025
    answer, server = _one(lambda *_: Reply(body))
    assert isinstance(answer, Response)
    assert answer.seconds is not None
    assert answer == Response(
        "B",
        reasoning="Ben is glad.",
        usage=Usage(7, 3, 0.00025),
        served_by="fake-1",
        seconds=answer.seconds,
    )
    assert server.bodies[1] == {
        "model": "fake-1",
        "messages": [{"role": "user", "content": "it"}],
        "max_tokens": 256,
        "temperature": 0.0,
    }


def test_what_is_asked_is_sent() -> None:
    request = Request(
        "s1",
        "A",
        (Message("system", "Label."), Message("user", "Who?")),
        prefill="Answer:",
        sampling=Sampling(temperature=0.7, top_p=0.9, max_tokens=5, seed=3, stop=("\n",)),
    )
    with serving(lambda *_: Reply(completion("Answer: B\nBecause"))) as server:
        answers = _ask(server.url, [request])
    (body,) = server.bodies
    assert body["messages"] == [
        {"role": "system", "content": "Label."},
        {"role": "user", "content": "Who?"},
        {"role": "assistant", "content": "Answer:"},
    ]
    assert (body["temperature"], body["top_p"], body["max_tokens"], body["stop"]) == (0.7, 0.9, 5, ["\n"])
    assert 0 <= body["seed"] < 2**31
    # neither a repeated prefill nor what follows a stop string is part of the text
    assert _text(answers["s1"]) == " B"


@pytest.mark.parametrize(
    ("message", "reason", "text", "finish"),
    [
        ({"content": "A"}, "length", "A", "length"),
        ({"content": None}, "content_filter", None, "filter"),
        ({"content": None, "refusal": "I cannot help."}, "stop", "I cannot help.", "filter"),
        ({"content": ""}, None, "", "stop"),
        ({"content": [{"type": "text", "text": "A"}, {"type": "text", "text": "B"}]}, "stop", "AB", "stop"),
    ],
)
def test_finish_and_refusal_are_mapped(
    message: dict[str, Any], reason: str | None, text: str | None, finish: str
) -> None:
    body = completion(None)
    body["choices"][0] = {"message": message, "finish_reason": reason}
    answer, _ = _one(lambda *_: Reply(body))
    assert isinstance(answer, Response)
    assert (answer.text, answer.finish) == (text, finish)


PASSING: dict[str, Callable[[], Reply]] = {
    "429": lambda: Reply(error("slow down"), status=429, headers={"Retry-After": "0.05"}),
    "500": lambda: Reply(error("oops"), status=500),
    "502 with HTML": lambda: Reply(b"<html>bad gateway</html>", status=502, kind="text/html"),
    "hang": lambda: Reply(completion("late"), delay=5.0),
    "trickle": lambda: Reply(completion("late"), trickle=0.05),
    "cut": lambda: Reply(completion("cut"), cut=True),
    "no JSON": lambda: Reply(b'{"choices": [', kind="application/json"),
    "other JSON": lambda: Reply([1]),
    "no choices": lambda: Reply(completion("x") | {"choices": []}),
    "null choice": lambda: Reply(completion("x") | {"choices": [None]}),
    "number": lambda: Reply(completion(None, content=3)),
    "error in 200": lambda: Reply(error("upstream", code=503)),
    "HTML in 200": lambda: Reply(b"<!doctype html>", kind="text/html"),
}


@pytest.mark.parametrize("fault", PASSING)
def test_what_may_pass_is_tried_again(fault: str) -> None:
    answer, server = _one(lambda _, attempt: PASSING[fault]() if attempt < 3 else OK, timeout_s=1.0)
    assert _text(answer) == "A"
    assert server.calls["it"] == 3


@pytest.mark.parametrize("fault", PASSING)
def test_what_does_not_pass_is_a_failure_with_its_attempts(fault: str) -> None:
    answer, server = _one(lambda *_: PASSING[fault](), timeout_s=0.2, retries=1)
    assert isinstance(answer, Failure)
    assert answer.attempts == 2
    assert server.calls["it"] == 2


def test_no_response_is_lost_or_doubled_among_faults_and_calls_stay_within_the_limit() -> None:
    faults = list(PASSING.values())

    def plan(text: str, attempt: int) -> Reply:
        number = int(text)
        if attempt == 1 and number % 3 == 1:
            return faults[number % len(faults)]()
        return Reply(completion(f"re: {text}"), delay=0.005 * (number % 4))

    with serving(plan) as server:  # long enough that on a busy machine nothing but a fault takes as long
        answers = _ask(server.url, [_request(str(n)) for n in range(200)], concurrency=12, timeout_s=2.0)
    assert {item: _text(answer) for item, answer in answers.items()} == {str(n): f"re: {n}" for n in range(200)}
    # 67 of 0..199 are 1 modulo 3: each was called twice, every other once
    assert sum(server.calls.values()) == 200 + 67
    # a call that was given up on may still be asleep in the server beside the one that took its place
    hanging = 2
    assert 6 <= server.most_in_flight <= 12 + hanging * 12


def test_the_concurrency_limit_holds_exactly_without_hangs() -> None:
    with serving(lambda text, _: Reply(completion(text), delay=0.02)) as server:
        _ask(server.url, [_request(str(n)) for n in range(60)], concurrency=9)
    assert server.most_in_flight == 9


def test_retry_after_holds_back_everyone() -> None:
    def plan(text: str, attempt: int) -> Reply:
        if text == "0" and attempt == 1:
            return Reply(error("slow down"), status=429, headers={"Retry-After": "0.5"})
        return Reply(completion(text), delay=0.05)

    with serving(plan) as server:
        _ask(server.url, [_request(str(n)) for n in range(20)], concurrency=2)
    first, second = server.times["0"]
    assert second - first >= 0.5
    between = [at for text, times in server.times.items() for at in times if first + 0.1 < at < first + 0.45]
    assert between == []


def test_a_retry_after_of_hours_is_not_waited_for() -> None:
    answer, server = _one(lambda *_: Reply(error("tomorrow"), status=429, headers={"Retry-After": "7200"}))
    assert isinstance(answer, Failure)
    assert "429" in answer.error
    assert server.calls["it"] == 1


def test_retry_after_is_read_in_all_its_forms() -> None:
    assert retry_after({"retry-after": "2"}) == 2.0
    assert retry_after({"retry-after-ms": "250", "retry-after": "2"}) == 0.25
    assert retry_after({"retry-after": "-1"}) == 0.0
    assert retry_after({}) is None
    for nonsense in ("soon", "nan", "inf"):
        assert retry_after({"retry-after": nonsense}) is None
    date = retry_after({"retry-after": format_datetime(datetime.now(UTC) + timedelta(seconds=60), usegmt=True)})
    assert date is not None
    assert 55 < date <= 60


def test_a_refused_request_fails_alone_and_is_not_tried_again() -> None:
    answer, server = _one(lambda *_: Reply(error("prompt too long"), status=400))
    assert answer == Failure("status 400 (prompt too long).", 1)
    assert server.calls["it"] == 1


def test_one_refused_request_asked_alone_is_a_failure_too() -> None:
    with serving(lambda *_: Reply(error("prompt too long"), status=400)) as server:
        assert _ask(server.url, [_request("it")]) == {"it": Failure("status 400 (prompt too long).", 1)}


@pytest.mark.parametrize(
    ("reply", "kind", "said"),
    [
        (Reply(error(f"Incorrect API key: {KEY}"), status=401), UserError, "OPENAI_API_KEY is not accepted"),
        (Reply(error("no"), status=403), UserError, "OPENAI_API_KEY may not do this"),
        (Reply(error("no such model"), status=404), UserError, r"no such model.* Is there a model 'fake-1'"),
        (Reply(b"<html>404</html>", status=404, kind="text/html"), UserError, "HTML.*is --base-url right"),
        (Reply(error("pay", code="insufficient_quota"), status=429), UserError, "no credit left"),
        (Reply(b"<html>Hello</html>", kind="text/html"), WorldError, "HTML, not JSON: is --base-url right"),
    ],
)
def test_what_no_request_can_survive_stops_at_once(
    reply: Reply, kind: type[Exception], said: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with serving(lambda *_: reply) as server, pytest.raises(kind, match=said) as caught:
        _ask(server.url, [_request(str(n)) for n in range(100)], concurrency=4)
    assert sum(server.calls.values()) <= 8
    assert KEY not in str(caught.value)
    assert KEY not in caplog.text


@pytest.mark.parametrize(
    ("reply", "kind", "said"),
    [
        (Reply(error("bad field"), status=400), UserError, r"refuses every request: status 400 \(bad field\)"),
        (Reply(completion("x") | {"choices": []}), WorldError, "fails request after request.*empty list of choices"),
        (Reply(error("down"), status=503), WorldError, "fails request after request.*status 503"),
    ],
)
def test_an_endpoint_that_fails_every_time_is_given_up(reply: Reply, kind: type[Exception], said: str) -> None:
    with serving(lambda *_: reply) as server, pytest.raises(kind, match=said):
        _ask(server.url, [_request(str(n)) for n in range(300)], concurrency=6, retries=1)
    assert sum(server.calls.values()) <= 40


def test_an_endpoint_that_is_not_there_is_named() -> None:
    with serving() as server:
        pass
    with pytest.raises(WorldError, match=rf"127.0.0.1:{server.port}/v1 fails request after request: no connection"):
        _ask(server.url, [_request("it")], retries=1)


def test_a_secret_in_the_url_is_not_shown() -> None:
    model = _model("http://127.0.0.1:9/v1?token=abc", retries=0)
    assert model.card.identity == {"base_url": "http://127.0.0.1:9/v1"}
    with pytest.raises(WorldError) as caught:
        list(model.respond([_request("it")]))
    model.close()
    assert "abc" not in str(caught.value)


def test_a_password_in_the_url_is_refused() -> None:
    with pytest.raises(UserError, match=r"127\.0\.0\.1:9/v1 holds a password") as caught:
        _model("http://me:hunter2@127.0.0.1:9/v1")
    assert "hunter2" not in str(caught.value)


def test_a_prompt_that_the_content_filter_declines_is_a_refusal_and_no_failure() -> None:
    declined = Reply(
        error("The response was filtered due to the content management policy.", code="content_filter"), status=400
    )
    with serving(lambda text, attempt: declined if "1" in text else OK) as server:
        answers = _ask(server.url, [_request(str(n)) for n in range(3)])
    answer = answers["1"]
    assert isinstance(answer, Response)
    assert (answer.text, answer.finish) == (None, "filter")
    assert sum(server.calls.values()) == 3


def test_unsupported_parameters_are_adapted_to_once() -> None:
    def plan(text: str, attempt: int) -> Reply:
        body = server.bodies[-1]
        for name, other in (("max_tokens", " Use 'max_completion_tokens' instead."), ("temperature", "")):
            if name in body:
                said = f"Unsupported parameter: '{name}' is not supported with this model.{other}"
                return Reply(error(said, param=name, code="unsupported_parameter"), status=400)
        return OK

    with serving(plan) as server:
        model = _model(server.url, concurrency=1)
        answers = list(model.respond([_request(str(n)) for n in range(3)]))
        model.close()
    assert [_text(answer) for _, answer in answers] == ["A"] * 3
    assert model.adaptations == ("max_tokens sent as max_completion_tokens", "temperature left out")
    # two refusals before the first answer, none after
    assert len(server.bodies) == 5
    assert server.bodies[-1]["max_completion_tokens"] == 256


def test_a_run_says_what_was_asked_otherwise_than_set(tmp_path: Path) -> None:
    def plan(text: str, attempt: int) -> Reply:
        if "temperature" in server.bodies[-1]:
            said = "Unsupported parameter: 'temperature' is not supported with this model."
            return Reply(error(said, param="temperature", code="unsupported_parameter"), status=400)
        return OK

    with serving(plan) as server:
        model = _model(server.url, concurrency=1)
        execute(tiny_plan("ab"), model, tmp_path)
        model.close()
    (session,) = RunFolder.at(tmp_path).manifest()["sessions"]
    assert session["adaptations"] == ["temperature left out"]
    notes = score_run(tmp_path).scores["neutral"].notes
    assert "Asked otherwise than was set, because the endpoint refuses it: temperature left out." in notes


def test_keys_and_endpoints_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", " ")
    with pytest.raises(UserError, match="Set OPENAI_API_KEY"):
        RemoteModel("gpt-5", ModelSettings())
    with serving() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        model = RemoteModel("fake-1", ModelSettings())
        ((_, answer),) = model.respond([_request("hello")])
        model.close()
    assert _text(answer) == "re: hello"
    monkeypatch.setenv("OPENAI_API_KEY", "sk-ключ")
    with pytest.raises(UserError, match="OPENAI_API_KEY holds characters") as caught:
        RemoteModel("gpt-5", ModelSettings())
    assert "ключ" not in str(caught.value)


def test_scoring_is_refused() -> None:
    model = _model("http://127.0.0.1:9/v1")
    with pytest.raises(UserError, match="cannot score options, as item 's1', step 'A'"):
        list(model.respond([Request("s1", "A", (), options=("A", "B"))]))


def test_leaving_early_hangs_up_and_the_model_can_be_asked_again() -> None:
    with serving(lambda text, _: Reply(completion(text), delay=0.0 if text == "0" else 1.0)) as server:
        model = _model(server.url, concurrency=4)
        answers = model.respond([_request(str(n)) for n in range(50)])
        next(answers)
        answers.close()  # type: ignore[attr-defined]
        deadline = time.monotonic() + 5
        while server.in_flight and time.monotonic() < deadline:
            time.sleep(0.02)
        called = sum(server.calls.values())
        assert called <= 5
        assert server.hung_up == called - 1
        server.plan = echo
        ((_, answer),) = model.respond([_request("again")])
        assert _text(answer) == "re: again"
        model.close()
        model.close()


def test_it_works_inside_a_running_event_loop() -> None:
    async def cell(url: str) -> dict[str, Answer]:
        return _ask(url, [_request("a"), _request("b")])

    with serving() as server:
        answers = asyncio.run(cell(server.url))
    assert [_text(answers[item]) for item in "ab"] == ["re: a", "re: b"]


def test_nothing_to_ask_is_nothing_answered() -> None:
    assert _ask("http://127.0.0.1:9/v1", []) == {}
