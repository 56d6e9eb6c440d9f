"""What is asked, in which order, and how replies are read."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from affectlab.benchmarks.base import Asking
from affectlab.benchmarks.care import BENCHMARK, spaces
from affectlab.benchmarks.care.counterfactual import WRITER
from affectlab.benchmarks.care.nodes import INJECTED, ONE_CORE, asked_under
from affectlab.benchmarks.care.questions import mean_level, read
from affectlab.benchmarks.care.subjectivity import SAMPLED
from affectlab.benchmarks.yes_no import TOKENS
from affectlab.errors import UserError
from affectlab.items import Item
from affectlab.models.base import Request, Response
from affectlab.runs import Plan, make_plan

WOVEN = "It rained. I did not mind."
OBSERVER: dict[str, Any] = {
    "id": "o1",
    "woven": "It rained. It spoiled the day.",
    "persona": ["age: 40"],
    "answers": {"control.general": 5, "control.select": 2, "positive_level": 0, "positive_labels": []},
    "listed": [],
}
ITEM = Item(
    "1",
    0,
    {
        "woven": WOVEN,
        "core_control": "Rain is rain.",
        "story": "It rained.",
        "ratings": {"control.general": 1, "relevance.urgency": 3},
        "observers": [OBSERVER, {**OBSERVER, "id": "o2", "answers": {"control.general": 2}}],
    },
    {"control.general": 1, "control.select": 2, "positive_level": 4, "core_control": "Rain is rain."},
)


def asked(protocol: str, answered: dict[tuple[str, str], Response] | None = None) -> list[Request]:
    return list(BENCHMARK.protocols[protocol].requests(ITEM, Asking(), answered or {}))


def text(request: Request) -> str:
    [message] = request.messages
    return message.content


def test_the_story_alone_is_asked_26_things_with_one_beginning() -> None:
    requests = asked("s")
    assert [request.step for request in requests] == [*spaces.RATED, *spaces.SETS]
    start = "My situation:\nIt rained.\n\n"
    assert len({text(request).partition(start)[0] for request in requests}) == 1
    assert all(start in text(request) and WOVEN not in text(request) for request in requests)


def test_likelihood_scores_the_words_of_the_scale() -> None:
    requests = asked("s-likelihood")
    assert [request.step for request in requests[:24]] == list(spaces.RATED)
    assert requests[0].options[2] == " Neither agree nor disagree"
    assert len(requests[23].options) == 7


def test_label_sets_by_likelihood_are_a_yes_or_no_for_each_label() -> None:
    requests = asked("s-likelihood")[24:]
    named = [f"{slot}:{label}" for slot, space in spaces.SETS.items() for label in space.ids]
    assert [request.step for request in requests] == named
    assert {request.options for request in requests} == {TOKENS}
    assert "of this kind in this situation: Glad, happy, joyful?" in text(requests[2])
    # glad likelier than not, calm a tie and so not, the rest not: e^-1 against e^-2
    odds = dict.fromkeys(spaces.SETS["positive_labels"].ids, (-9.0, -1.0)) | {GLAD: (-1.0, -2.0), CALM: (-3.0, -3.0)}
    answers = {
        ("", f"positive_labels:{label}"): Response(None, logprobs=tuple([yes] * 4 + [no] * 4))
        for label, (yes, no) in odds.items()
    }
    protocol = BENCHMARK.protocols["s-likelihood"]
    [found] = protocol.read(ITEM, Asking(), answers)
    assert (found.slot, found.outcome, found.value, found.flags) == ("positive_labels", "ok", (GLAD,), ("tie",))
    assert found.detail["log_odds"][GLAD] == pytest.approx(1.0)
    answers["", f"positive_labels:{HOPE}"] = Response(None, logprobs=(float("nan"),) * 8)
    [found] = protocol.read(ITEM, Asking(), answers)
    assert (found.outcome, found.value) == (
        "unparseable",
        None,
    )  # what is not known of one label is not known of the set
    del answers["", f"positive_labels:{HOPE}"]
    assert protocol.read(ITEM, Asking(), answers) == []  # still being asked


def test_what_is_given_stands_before_the_question() -> None:
    assert WOVEN in text(asked("s+r")[0])
    ratings = asked("s+a")
    assert [request.step for request in ratings] == [*spaces.LEVELS, *spaces.SETS]
    assert "- I strongly disagree that it is under my control.\n" in text(ratings[0])
    assert "- I neither agree nor disagree that I have to act at once.\n" in text(ratings[0])
    both = text(asked("s+r+a")[0])
    assert both.index(WOVEN) < both.index("I strongly disagree")


def test_what_a_record_lacks_cannot_be_given() -> None:
    bare = Item("9", 0, {"story": "It rained."}, {})
    for protocol, what in (
        ("s+r", "reasoning"),
        ("s+a", "appraisal_ratings"),
        ("one-core", "answer to the core question on relevance"),
    ):
        with pytest.raises(UserError, match=rf"Record '9' has no .*{what}"):
            BENCHMARK.protocols[protocol].requests(bare, Asking(), {})


def test_own_reasoning_is_asked_first_and_given_then() -> None:
    first = asked("s+own")
    assert [request.step for request in first] == list(spaces.CORE)
    answers = {("", slot): Response(f"Because of {slot}.") for slot in spaces.CORE}
    answers["", "core_control"] = Response("<think>what to say</think>")
    then = asked("s+own", answers)
    assert [request.step for request in then[5:]] == [*spaces.RATED, *spaces.SETS]
    told = text(then[5])
    assert "It rained.\nBecause of core_relevance. Because of core_certainty." in told
    assert "null" not in told.lower()
    answers["", "control.general"] = Response("Strongly disagree")
    found = {one.slot: one for one in BENCHMARK.protocols["s+own"].read(ITEM, Asking(), answers)}
    assert found["control.general"].value == 1
    assert found["control.general"].flags == ("own_reasoning_incomplete",)
    assert found["core_control"].value is None


def test_only_ratings_that_are_given_are_not_asked() -> None:
    assert [len(asked_under(given)) for given in (*INJECTED, *ONE_CORE)] == [26, 26, 4, 4, 26, *[26] * 5]


def test_injection_asks_under_every_condition() -> None:
    requests = asked("injection")
    by_variant: dict[str, int] = {}
    for request in requests:
        by_variant[request.variant] = by_variant.get(request.variant, 0) + 1
    assert by_variant == {"": 26, "s+r": 26, "s+a": 4, "s+r+a": 4, "s+own": 5}


def test_counterfactual_keeps_the_story_and_swaps_the_reasoning() -> None:
    requests = asked("counterfactual")
    feelings = [*spaces.LEVELS, *spaces.SETS]
    steps = [(request.variant, request.step) for request in requests]
    expected = [(variant, slot) for variant in (WRITER, "observer=o1") for slot in ("control.general", *feelings)]
    assert steps == expected  # o2 is on the writer's side; control.select is on one side for both
    assert WOVEN in text(requests[0])
    assert OBSERVER["woven"] in text(requests[5])
    answers = {(r.variant, r.step): Response("Somewhat agree") for r in requests if r.step == "control.general"}
    found = BENCHMARK.protocols["counterfactual"].read(ITEM, Asking(), answers)
    assert [(one.gold, one.value) for one in found] == [(1, 4), (5, 4)]


def test_an_observer_without_reasoning_has_none_to_give() -> None:
    bare = {**ITEM.inputs, "observers": [{**OBSERVER, "woven": ""}]}
    assert BENCHMARK.protocols["counterfactual"].requests(replace(ITEM, inputs=bare), Asking(), {}) == []


def test_draws_differ_in_seed_and_take_the_runs_temperature() -> None:
    requests = asked("subjective")
    assert len(requests) == 2 * 22
    warmer = BENCHMARK.protocols["subjective"].requests(ITEM, Asking(temperature=1.2), {})
    assert {request.sampling.temperature for request in warmer} == {1.2}
    assert len({request.sampling.seed for request in requests}) == 2
    both = asked("subjective-both")
    assert "- age: 40" in text(both[0])
    assert OBSERVER["woven"] in text(both[0])
    [first, *_] = BENCHMARK.protocols["subjective"].read(
        ITEM, Asking(), {("draw=0", "control.general"): Response("Strongly agree")}
    )
    assert first.gold == {"2": 0.5, "5": 0.5}


def test_the_temperature_of_draws_is_in_the_plan_and_so_in_the_manifest() -> None:
    def temperature(protocol: str, asking: Asking) -> float | None:
        plan = Plan(BENCHMARK, BENCHMARK.protocols[protocol], (ITEM,), "x", "0", asking, repeats=2)
        drawn = {request.sampling.temperature for request in plan.protocol.requests(ITEM, plan.asking, {})}
        assert drawn == {plan.asking.temperature}
        return plan.asking.temperature

    assert temperature("subjective", Asking()) == 0.7  # and so repeats are not refused
    assert temperature("subjective-both", Asking(temperature=0.3)) == 0.3
    with pytest.raises(UserError, match="at temperature 0"):
        temperature("s", Asking())
    assert Plan(BENCHMARK, BENCHMARK.protocols["s"], (ITEM,), "x", "0").asking.temperature == 0.0


@pytest.mark.parametrize("protocol", [protocol.name for protocol in SAMPLED])
def test_greedy_draws_are_refused_by_name(protocol: str) -> None:
    with pytest.raises(UserError, match=f"--temperature 0: {protocol} draws several replies .* out for 0.7"):
        make_plan("care", protocol=protocol, asking=Asking(temperature=0.0), limit=1)


def answer(slot: str, reply: str | None, finish: str = "stop") -> tuple[str, Any]:
    [found] = read(ITEM, ("", slot), Response(reply, finish=finish), None)  # type: ignore[arg-type]
    return found.outcome, found.value


@pytest.mark.parametrize(
    ("reply", "outcome", "value"),
    [
        ("```\nSomewhat agree\n```", "ok", 4),
        ("I think:\nSomewhat agree", "ok", 4),
        ("<think>Strongly agree maybe</think>\nSomewhat agree", "ok", 4),
        ("My Answer: Somewhat agree.", "ok", 4),
        ("Do not strongly agree", "unparseable", None),
        ("5", "unparseable", None),
        ("Agree", "unparseable", None),
        ("Neutral", "unparseable", None),
    ],
)
def test_published_traps_of_ratings(reply: str, outcome: str, value: int | None) -> None:
    assert answer("control.general", reply) == (outcome, value)


def test_published_traps_of_levels() -> None:
    assert answer("positive_level", "I felt very slightly positive") == ("ok", 1)


GLAD, CALM, HOPE = "glad_happy_joyful", "calm_peaceful_relaxed", "hopeful_optimistic_encouraged"


@pytest.mark.parametrize(
    ("reply", "outcome", "value"),
    [
        ("Glad, happy, joyful\nCalm, peaceful, relaxed", "ok", (GLAD, CALM)),
        ("- Glad, happy, joyful\n- Calm, peaceful, relaxed", "ok", (GLAD, CALM)),
        ("Glad, happy, joyful；Calm, peaceful, relaxed", "ok", (GLAD, CALM)),
        ("Glad, happy, joyful; Calm, peaceful, relaxed", "ok", (GLAD, CALM)),
        ("Glad, happy, joyful, Calm, peaceful, relaxed", "ok", (GLAD, CALM)),
        ("hopeful", "ok", (HOPE,)),
        ("None", "ok", ()),
        ("None; Glad, happy, joyful", "ambiguous", None),
        ("serene; Glad, happy, joyful", "unparseable", None),
        ("", "empty", None),
    ],
)
def test_published_traps_of_label_sets(reply: str, outcome: str, value: Any) -> None:
    assert answer("positive_labels", reply) == (outcome, value)


def test_mean_of_the_scale_by_hand() -> None:
    # e^0 : e^-1000 is 1 : 0;  two equally likely levels meet half way; probabilities .2 .8 of 1 and 5: 4.2
    assert mean_level([1, 2, 3, 4, 5], [0.0, -1000.0, -1000.0, -1000.0, -1000.0]) == 1.0
    assert mean_level([0, 6], [-3.0, -3.0]) == 3.0
    assert mean_level([1, 5], [-3.2188758248682006, -1.8325814637483102]) == pytest.approx(4.2)
    assert mean_level([1, 5], [-5000.0, -5000.0]) == 3.0  # far below what an exponential can hold


def test_scored_options_give_choice_and_mean_and_a_tie_has_a_mean_only() -> None:
    logprobs = (-1.0, -9.0, -9.0, -9.0, -1.0)
    response = Response(None, finish="scored", logprobs=logprobs, option_tokens=(1,) * 5)
    choice, mean = read(ITEM, ("", "control.general"), response, 3)
    assert (choice.outcome, choice.value, choice.flags) == ("ambiguous", None, ("tie",))
    assert (mean.slot, mean.outcome) == ("mean:control.general", "ok")
    assert mean.value == pytest.approx(3.0)
