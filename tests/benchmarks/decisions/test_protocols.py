"""How decisions are put and read; expected texts and counts by hand."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from importlib.resources import as_file
from pathlib import Path
from typing import Any

from affectlab.benchmarks.base import Asking
from affectlab.benchmarks.decisions import BENCHMARK
from affectlab.benchmarks.decisions.protocols import PROTOCOLS, options
from affectlab.items import Item
from affectlab.models.base import Response

ITEM = Item(
    id="t1",
    index=0,
    inputs={
        "scenario": "You hold ten coins.",
        "options": [{"text": f"Send {value}", "value": value} for value in (0, 5, 10)],
        "history": ["You sent 5.", "4 came back."],
    },
    gold={},
    slices={"role": "trust_trustor", "game": "trust", "source": "sample", "language": "en", "turns": "multi"},
)
FIXED = Asking(order="fixed")


def read(name: str, response: Response, item: Item = ITEM, asking: Asking = FIXED) -> Any:
    (prediction,) = PROTOCOLS[name].read(item, asking, {("", "choice"): response})
    return prediction


def test_the_story_is_told_with_rounds_question_and_options() -> None:
    (request,) = PROTOCOLS["choice"].requests(ITEM, FIXED, {})
    assert request.messages[1].content == (
        "You hold ten coins.\n\n"
        "What has happened so far:\n1. You sent 5.\n2. 4 came back.\n\n"
        "What do you do?\nA. Send 0\nB. Send 5\nC. Send 10"
    )
    assert not request.options


def test_options_turn_with_the_item_and_under_all_every_order_is_shown() -> None:
    first = [options(replace(ITEM, index=index), Asking(), "")["A"] for index in range(3)]
    assert sorted(first) == ["0", "1", "2"]
    asked = PROTOCOLS["choice"].requests(ITEM, Asking(order="all"), {})
    assert [request.variant for request in asked] == ["order=0", "order=1", "order=2"]
    assert [options(ITEM, Asking(order="all"), request.variant)["A"] for request in asked] == ["0", "1", "2"]


def test_in_the_sample_every_position_holds_the_smallest_value_about_equally_often() -> None:
    with as_file(BENCHMARK.sample) as path:
        items = BENCHMARK.load(str(path), {}, {}).items
    counts: dict[str, Counter[int]] = {}
    for item in items:
        shown = list(options(item, Asking(), "").values())
        counts.setdefault(item.slices["role"], Counter())[shown.index("0")] += 1
    for role in ("prisoners_dilemma", "stag_hunt", "escalation", "ultimatum_responder"):
        assert abs(counts[role][0] - counts[role][1]) <= 2
    assert set(counts["ultimatum_proposer"].values()) == set(counts["sealed_bid"].values()) == {2}


def test_a_reply_is_a_prediction_of_y_with_its_feasible_range() -> None:
    found = read("choice", Response("ANSWER: C"))
    assert (found.value, found.gold, found.outcome, found.position) == (10, None, "ok", 2)
    assert (found.slices["y_min"], found.slices["y_max"]) == ("0", "10")
    assert found.detail == {"option": "Send 10", "value": 10}


def test_a_range_of_seven_digits_is_kept_whole() -> None:
    wide = [{**ITEM.inputs["options"][0], "value": 0}, {**ITEM.inputs["options"][1], "value": 1234567}]
    found = read("choice", Response("ANSWER: B"), replace(ITEM, inputs={**ITEM.inputs, "options": wide}))
    assert (found.slices["y_max"], found.value) == ("1234567", 1234567)


def test_a_guess_low_in_the_range_is_a_large_y() -> None:
    guess = replace(ITEM, slices={**ITEM.slices, "role": "beauty_contest"})
    assert read("choice", Response("ANSWER: A"), guess).value == 10


def test_an_unreadable_reply_has_no_value_but_its_range() -> None:
    found = read("choice", Response("I would rather talk to them first."))
    assert (found.value, found.outcome, found.position) == (None, "unparseable", None)
    assert found.slices["y_max"] == "10"


def test_reasoning_is_kept_apart_and_counted() -> None:
    text = "They may keep it all, which makes me angry and afraid. Still, it may pay.\nANSWER: B"
    found = read("cot", Response(text))
    assert found.value == 5
    assert found.detail["reasoning"] == "They may keep it all, which makes me angry and afraid. Still, it may pay."
    assert found.detail["reasoning_words"] == 15
    assert found.detail["affective"] == {"anger": 1, "fear": 1}


def test_thinking_is_no_answer_and_is_counted_wherever_it_comes_from() -> None:
    found = read("thinking", Response("<think>A seems sad. B then?</think>\nANSWER: C"))
    assert (found.value, found.detail["reasoning_words"], found.detail["affective"]) == (10, 5, {"sadness": 1})
    apart = read("thinking", Response("ANSWER: C", reasoning="I am glad."))
    assert (apart.detail["reasoning"], apart.detail["affective"]) == ("I am glad.", {"joy": 1})
    cut = read("thinking", Response("<think>So B", finish="length"))
    assert (cut.value, cut.outcome) == (None, "truncated")
    assert cut.detail["reasoning"] == "So B"


def test_without_reasoning_nothing_is_said_of_it() -> None:
    assert "reasoning_words" not in read("choice", Response("ANSWER: A")).detail


def test_likelihood_scores_letters_and_keeps_them_by_option() -> None:
    (request,) = PROTOCOLS["likelihood"].requests(ITEM, FIXED, {})
    assert (request.prefill, request.options) == ("ANSWER:", (" A", " B", " C"))
    scored = Response(None, "scored", logprobs=(-3.0, -1.0, -2.0), option_tokens=(1, 1, 1))
    found = read("likelihood", scored)
    assert found.value == 5
    assert found.detail["logprobs"] == {"Send 0": -3.0, "Send 5": -1.0, "Send 10": -2.0}
    tied = read("likelihood", replace(scored, logprobs=(-1.0, -1.0, -2.0)))
    assert (tied.value, tied.outcome) == (None, "ambiguous")


def test_a_chinese_decision_is_asked_in_chinese() -> None:
    item = replace(ITEM, slices={**ITEM.slices, "language": "zh"})
    (request,) = PROTOCOLS["likelihood"].requests(item, FIXED, {})
    assert (request.prefill, request.options[0]) == ("答案：", "A")
    found = read("cot", Response("我有点担心。\n答案：B"), item)
    assert (found.value, found.detail["affective"], found.detail["reasoning_words"]) == (5, {"fear": 1}, 5)


def test_an_image_goes_with_the_story(tmp_path: Path) -> None:
    item = replace(ITEM, inputs={**ITEM.inputs, "image": str(tmp_path / "map.png")})
    (request,) = PROTOCOLS["choice"].requests(item, FIXED, {})
    assert request.messages[1].images == (str(tmp_path / "map.png"),)


def test_a_lexicon_can_be_named(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_text('anger = ["Grrr"]\n', encoding="utf-8")
    found = read("cot", Response("Grrr, grrr!\nANSWER: A"), asking=Asking("fixed", options={"lexicon": str(path)}))
    assert found.detail["affective"] == {"anger": 2}
