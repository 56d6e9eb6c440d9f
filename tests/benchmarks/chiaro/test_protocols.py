from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from tests.support.plans import scene

from affectlab.benchmarks.base import Asking
from affectlab.benchmarks.chiaro.protocols import PROTOCOLS, options, polarity
from affectlab.errors import UserError
from affectlab.models.base import Response

ITEM = scene("s1", 0, ("relief", "anger"))


def ask(protocol: str, **knobs: object) -> list[str]:
    requests = PROTOCOLS[protocol].requests(ITEM, Asking(**knobs), {})  # type: ignore[arg-type]
    return ["\n".join(message.content for message in request.messages) for request in requests]


def test_the_joint_prompt_has_scene_roles_and_both_lists() -> None:
    (text,) = ask("joint", order="fixed")
    assert text.endswith(
        "Scene: Scene s1: the tram leaves with one of them on board.\n\n"
        "Agent A: the woman on board\nWhat does Agent A feel?\n"
        "A. joy\nB. pride\nC. relief\nD. gratitude\nE. excitement\n\n"
        "Agent B: the man at the stop\nWhat does Agent B feel?\n"
        "A. anger\nB. sadness\nC. fear\nD. disgust\nE. embarrassment"
    )
    assert "AGENT A: <letter>\nAGENT B: <letter>" in text


def test_correct_letters_are_balanced_and_independent_over_25_scenes() -> None:
    pairs: Counter[tuple[str, ...]] = Counter()
    for index in range(25):
        item = scene(str(index), index)
        shown = {slot: options(item, slot, Asking(), "") for slot in "AB"}
        letters = tuple(next(k for k, v in shown[slot].items() if v == item.gold[slot]) for slot in "AB")
        pairs[letters] += 1
    assert len(pairs) == 25


def test_options_do_not_depend_on_how_many_items_are_asked() -> None:
    late = scene("s58", 57)
    assert options(late, "A", Asking(), "") == options(replace(late, id="other"), "A", Asking(), "")


def test_separate_asks_each_agent_alone() -> None:
    first, second = ask("separate")
    assert "the woman on board" in first
    assert "the man at the stop" not in first
    assert "the man at the stop" in second


def test_likelihood_scores_letters_after_the_answer_cue() -> None:
    request = PROTOCOLS["likelihood"].requests(ITEM, Asking(), {})[0]
    assert request.options == (" A", " B", " C", " D", " E")
    assert request.prefill == "ANSWER:"


def test_all_orders_asks_five_times_and_open_ten() -> None:
    assert len(ask("joint", order="all")) == 5
    assert len(ask("separate", order="all")) == 10
    assert len(ask("open", order="all")) == 10


def test_a_letter_is_read_through_the_order_that_was_shown() -> None:
    asking = Asking(order="all")
    answered = {(f"order={k}", "joint"): Response("AGENT A: B\nAGENT B: A") for k in range(5)}
    rows = PROTOCOLS["joint"].read(ITEM, asking, answered)
    assert [row.value for row in rows if row.slot == "A"] == ["pride", "relief", "gratitude", "excitement", "joy"]
    assert all(row.position == 1 for row in rows if row.slot == "A")
    # relief stands at B when the list is turned by one
    assert [row.slices["gold_position"] for row in rows if row.slot == "A"] == ["C", "B", "A", "E", "D"]


def test_one_readable_line_gives_one_answer() -> None:
    rows = PROTOCOLS["joint"].read(ITEM, Asking(order="fixed"), {("", "joint"): Response("AGENT B: A")})
    assert {row.slot: (row.outcome, row.value) for row in rows} == {"A": ("unparseable", None), "B": ("ok", "anger")}


@pytest.mark.parametrize(
    ("reply", "finish", "outcome"),
    [
        (None, "stop", "empty"),
        ("", "stop", "empty"),
        ("I'm sorry, but I can't help with that.", "stop", "refusal"),
        ("<think>Agent A must be", "length", "truncated"),
        ("What a scene!", "stop", "unparseable"),
    ],
)
def test_replies_without_an_answer(reply: str | None, finish: str, outcome: str) -> None:
    rows = PROTOCOLS["joint"].read(ITEM, Asking(), {("", "joint"): Response(reply, finish)})  # type: ignore[arg-type]
    assert [row.outcome for row in rows] == [outcome, outcome]


def test_polarity_without_gold() -> None:
    nothing = replace(ITEM, gold={})
    with pytest.raises(UserError, match="agent_a_polarity"):
        polarity(nothing, "A")
    told = replace(nothing, inputs={**ITEM.inputs, "polarity_A": "negative"})
    assert (polarity(told, "A"), polarity(told, "B")) == ("negative", "positive")
    half = replace(ITEM, gold={"B": "anger"})
    assert polarity(half, "A") == "positive"
    # open offers all ten and needs no polarity
    assert len(PROTOCOLS["open"].requests(nothing, Asking(), {})) == 1
