from __future__ import annotations

from math import inf, log, nan
from typing import Any

import pytest

from affectlab.benchmarks.base import Asking
from affectlab.benchmarks.emoscene import prompts
from affectlab.benchmarks.emoscene.beside import confidence_of, explanation_of
from affectlab.benchmarks.emoscene.protocols import PROTOCOLS, SLOTS
from affectlab.benchmarks.emoscene.settings import Extras
from affectlab.benchmarks.yes_no import TOKENS, log_odds
from affectlab.items import Item
from affectlab.metrics.predictions import Prediction
from affectlab.models.base import Response

ITEM = Item(
    id="s1",
    index=0,
    inputs={"text": "The {last} ferry has gone."},
    gold={slot: "present" if slot in ("fear", "anger") else "absent" for slot in SLOTS},
)
BOTH = Asking(options={"explain": "yes", "confidence": "yes"})


def scored(yes: float, no: float) -> Response:
    """All probability of yes and of no on one form each; the other forms have none."""
    values = {" Yes": yes, " No": no}
    return Response(None, "scored", logprobs=tuple(values.get(token, -inf) for token in TOKENS))


def read(protocol: str, asking: Asking = Asking(), **answers: Response) -> dict[str, Prediction]:  # noqa: B008
    steps = {("", step.replace("__", ":")): response for step, response in answers.items()}
    return {row.slot: row for row in PROTOCOLS[protocol].read(ITEM, asking, steps)}


def test_the_eight_questions_share_all_but_the_emotion() -> None:
    for protocol in ("yes_no", "yes_no_text"):
        requests = PROTOCOLS[protocol].requests(ITEM, Asking(), {})
        assert [request.step for request in requests] == list(SLOTS)
        texts = [request.messages[-1].content for request in requests]
        starts = {text.rpartition("Does the person feel ")[0] for text in texts}
        assert len(starts) == 1
        assert starts.pop().startswith("Scenario: The {last} ferry has gone.")
        assert [text.rpartition(" ")[2] for text in texts] == [f"{slot}?" for slot in SLOTS]
        assert {request.messages[0].content for request in requests} == {requests[0].messages[0].content}


def test_yes_and_no_are_scored_in_as_many_forms_each() -> None:
    assert TOKENS == (" Yes", " yes", "Yes", "yes", " No", " no", "No", "no")
    request = PROTOCOLS["yes_no"].requests(ITEM, Asking(), {})[0]
    assert (request.options, request.prefill) == (TOKENS, "Answer:")


def test_log_odds_sum_the_forms_of_each_side() -> None:
    # yes 0.2 + 0.1, no 0.1: odds 3
    values = {" Yes": log(0.2), "yes": log(0.1), "No": log(0.1)}
    response = Response(None, "scored", logprobs=tuple(values.get(token, -inf) for token in TOKENS))
    reading, detail = log_odds(response)
    assert reading.value is True
    assert detail["log_odds"] == pytest.approx(log(3))


@pytest.mark.parametrize(
    ("response", "outcome", "value", "flags"),
    [
        (scored(-1.0, -1.0), "ok", "absent", ("tie",)),
        (scored(-1.0, -2.0), "ok", "present", ()),
        (scored(-1.0, -inf), "ok", "present", ()),
        (scored(nan, -1.0), "unparseable", None, ()),
        (Response(None, "scored", logprobs=(-1.0, -2.0)), "empty", None, ()),
        (Response("Yes"), "empty", None, ()),
    ],
)
def test_an_emotion_by_log_odds(response: Response, outcome: str, value: str | None, flags: tuple[str, ...]) -> None:
    row = read("yes_no", joy=response)["joy"]
    assert (row.outcome, row.value, row.flags) == (outcome, value, flags)
    assert (row.gold, row.cluster) == ("absent", "s1")


def test_certain_answers_have_no_log_odds_to_calibrate() -> None:
    assert read("yes_no", joy=scored(-1.0, -inf))["joy"].detail == {}


def test_explanations_are_asked_after_the_answer_and_of_that_answer() -> None:
    protocol = PROTOCOLS["yes_no"]
    assert len(protocol.requests(ITEM, BOTH, {})) == 8
    answered = {("", "joy"): scored(-3.0, -1.0), ("", "fear"): scored(-1.0, -3.0), ("", "anger"): scored(nan, -3.0)}
    requests = protocol.requests(ITEM, BOTH, answered)
    follow = {request.step: request.messages for request in requests[8:]}
    assert list(follow) == ["joy:why", "fear:why"]
    assert follow["joy:why"][2].content == "Answer: No"
    assert follow["fear:why"][2].content == "Answer: Yes"
    assert follow["joy:why"][:2] == requests[0].messages
    assert '"confidence"' in follow["joy:why"][3].content
    only = protocol.requests(ITEM, Asking(options={"explain": "yes"}), answered)[-1].messages[3].content
    assert '"confidence"' not in only
    assert protocol.requests(ITEM, Asking(), answered) == requests[:8]


def test_a_follow_up_goes_into_the_detail() -> None:
    told = Response('{"confidence": 85, "explanation": "She is alone."}')
    row = read("yes_no", BOTH, fear=scored(-1.0, -3.0), fear__why=told)["fear"]
    assert row.detail["confidence"] == 0.85
    assert row.detail["explanation"] == "She is alone."
    assert row.detail["log_odds"] == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("text", "outcome", "value"),
    [
        ("Yes", "ok", "present"),
        ("No.", "ok", "absent"),
        ("A. Yes", "ok", "present"),
        ("Not really, no joy here; yes, some fear", "ambiguous", None),
        ("I cannot help with that.", "refusal", None),
        (None, "empty", None),
    ],
)
def test_yes_or_no_in_words(text: str | None, outcome: str, value: str | None) -> None:
    row = read("yes_no_text", joy=Response(text))["joy"]
    assert (row.outcome, row.value) == (outcome, value)


@pytest.mark.parametrize(
    ("text", "value", "confidence", "explanation"),
    [
        ('{"answer": "Yes", "confidence": 70, "explanation": "No boat is left."}', "present", 0.7, "No boat is left."),
        ("answer: no\nconfidence: 95%\nexplanation: Nothing is said of it.", "absent", 0.95, "Nothing is said of it."),
        ('{"answer": true, "confidence": 0.7}', "present", None, None),
        ('{"answer": "No", "confidence": "very"}', "absent", None, None),
        ('{"answer": "No", "confidence": 120}', "absent", None, None),
    ],
)
def test_answer_confidence_and_explanation_in_one_reply(
    text: str, value: str, confidence: float | None, explanation: str | None
) -> None:
    row = read("yes_no_text", BOTH, joy=Response(text))["joy"]
    assert row.value == value
    assert row.detail == {"confidence": confidence, "explanation": explanation}


@pytest.mark.parametrize(
    ("text", "present"),
    [
        ("fear, anger", {"fear", "anger"}),
        ("- Fear\n- Anticipation", {"fear", "anticipation"}),
        ("None", set()),
        ('{"emotions": ["joy"], "confidence": 60, "explanation": "No fear at all."}', {"joy"}),
        ('{"emotions": [], "confidence": 60}', set()),
    ],
)
def test_lists_give_all_eight_answers(text: str, present: set[str]) -> None:
    rows = read("list", Asking(), list=Response(text))
    assert list(rows) == list(SLOTS)
    assert {slot for slot, row in rows.items() if row.value == "present"} == present
    assert {row.outcome for row in rows.values()} == {"ok"}


@pytest.mark.parametrize("text", ["fear, bliss", "None, but fear", "What a day!", ", ".join(SLOTS)])
def test_an_unreadable_list_leaves_all_eight_unread(text: str) -> None:
    rows = read("list", Asking(), list=Response(text))
    assert len(rows) == 8
    assert {row.value for row in rows.values()} == {None}
    assert "ok" not in {row.outcome for row in rows.values()}


def test_what_was_not_answered_is_no_prediction() -> None:
    assert [read(protocol) for protocol in PROTOCOLS] == [{}, {}, {}]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_gold_as_replies_is_read_back_with_every_setting(protocol: str) -> None:
    asked = PROTOCOLS[protocol]
    answered: dict[tuple[str, str], Response] = {}
    for _ in range(2):
        for request in asked.requests(ITEM, BOTH, answered):
            answered["", request.step] = asked.ideal_reply(ITEM, request, ITEM.gold, BOTH)
    rows = asked.read(ITEM, BOTH, answered)
    assert {row.slot: row.value for row in rows} == ITEM.gold
    assert all(row.detail["confidence"] == 1.0 and row.detail["explanation"] for row in rows)


def test_confidence_and_explanation_of_strange_replies() -> None:
    strange: list[Any] = [
        None,
        "",
        "{",
        '{"confidence": null}',
        '{"confidence": [1]}',
        '{"confidence": true}',
        "<think>",
        prompts.follow_up(Extras(explain=True, confidence=True)),  # the form itself, not filled in
        '{"confidence": "8/10"}',
        '{"confidence": "from 0 to 100"}',
        '{"confidence": 0.8}',
        '{"confidence": 1}',  # sure (a share), or one percent
        '{"confidence": 1.0}',
    ]
    for text in strange:
        assert confidence_of(Response(text)) is None, text
        assert explanation_of(Response(text)) is None, text
    read = {"0": 0.0, "85": 0.85, "85.5": 0.855, '"90 %"': 0.9, '"1%"': 0.01, "100.0": 1.0}
    for written, share in read.items():
        assert confidence_of(Response(f'{{"confidence": {written}}}')) == share, written
