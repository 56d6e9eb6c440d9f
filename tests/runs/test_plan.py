from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from tests.support.plans import tiny_plan

from affectlab.benchmarks.base import AskingProtocol
from affectlab.errors import UserError
from affectlab.models import Message, ModelSettings, Request, open_model
from affectlab.runs import make_plan
from affectlab.runs.plan import Cell, check_abilities, request_to_dict
from affectlab.steering.conditions import emotion_prompt


def test_conditions_are_spelled_one_way_and_neutral_comes_first() -> None:
    plan = make_plan("chiaro", conditions=["anger@1", "prompt: happiness", "neutral"])
    assert plan.conditions == ("neutral", "anger@1.0", "prompt:joy")
    assert plan.steered == ("anger@1.0",)
    assert make_plan("chiaro").conditions == ("neutral",)
    with pytest.raises(UserError, match="given twice"):
        make_plan("chiaro", conditions=["anger@1", "anger@1.0"])
    with pytest.raises(UserError, match="Condition 'anger': 'anger' has no strength"):
        make_plan("chiaro", conditions=["anger"])


def test_an_emotion_asked_for_in_words_starts_the_system_turn() -> None:
    plan = tiny_plan("a", conditions=("neutral", "prompt:anger", "anger@1.0"))
    (item,) = plan.items
    plain = plan.requests(Cell("neutral", 0, "a"), item, {})[0].messages
    told = plan.requests(Cell("prompt:anger", 0, "a"), item, {})[0].messages
    prompt = emotion_prompt(("anger",))
    if plain[0].role == "system":
        assert told == (Message("system", f"{prompt}\n\n{plain[0].content}"), *plain[1:])
    else:
        assert told == (Message("system", prompt), *plain)
    assert plan.requests(Cell("anger@1.0", 0, "a"), item, {})[0].messages == plain


def test_what_conditions_say_is_part_of_the_prompts_digest() -> None:
    plan = tiny_plan("ab")
    assert replace(plan, conditions=("neutral", "anger@1.0")).prompt_sha256() == plan.prompt_sha256()
    assert replace(plan, conditions=("neutral", "prompt:anger")).prompt_sha256() != plan.prompt_sha256()


def test_items_that_cannot_be_asked_are_refused_together() -> None:
    plan = make_plan("care", protocol="one-core", limit=4)
    bare = tuple(
        replace(item, inputs={"story": "It rained."}) if place != 1 else item for place, item in enumerate(plan.items)
    )
    with pytest.raises(UserError) as refused:
        replace(plan, items=bare).prompt_sha256()
    assert str(refused.value) == (
        "Record 'care-sample-01' has no answer to the core question on relevance, which this protocol gives. "
        "Ask it with --protocol s. 3 of 4 items cannot be asked so."
    )
    with pytest.raises(UserError, match=r"--protocol s\.$"):
        replace(plan, items=bare[:2]).prompt_sha256()


def test_a_model_that_only_takes_text_can_be_told_but_not_steered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    model = open_model("openai:gpt", ModelSettings(base_url="http://localhost:1/v1"))
    check_abilities(tiny_plan("a", conditions=("neutral", "prompt:anger")), model)
    with pytest.raises(UserError, match=r"anger@1\.0.*only a local model.*prompt:EMOTION"):
        check_abilities(tiny_plan("a", conditions=("neutral", "prompt:anger", "anger@1.0")), model)
    model.close()


def test_what_steers_generated_tokens_only_is_refused_where_options_are_scored(tmp_path: Path) -> None:
    (tmp_path / "s.jsonl").write_text('{"item": "*", "reply": "x", "logprobs": [-1.0]}\n')
    model = open_model(f"scripted:{tmp_path}/s.jsonl")
    states = ("neutral", "prompt:anger", "anger@1.0:positions=prompt", "anger@1.0:positions=generated")
    check_abilities(tiny_plan("a", "joint", conditions=states), model)
    check_abilities(tiny_plan("a", "likelihood", conditions=states[:3]), model)
    with pytest.raises(
        UserError, match=r"'anger@1\.0:positions=generated'.*step 'A' of protocol 'likelihood'.*: joint"
    ):
        check_abilities(tiny_plan("a", "likelihood", conditions=states), model)


def test_scripts_may_answer_otherwise_under_a_condition(tmp_path: Path) -> None:
    (tmp_path / "s.jsonl").write_text('{"item": "*", "reply": "x"}\n')
    check_abilities(tiny_plan("a", conditions=("neutral", "anger@1.0")), open_model(f"scripted:{tmp_path}/s.jsonl"))


def test_an_image_is_part_of_what_is_stored_by_name_and_content(tmp_path: Path) -> None:
    """The digest follows the picture and not where it lies; text alone is stored as before."""
    picture = b"\x89PNG\r\n\x1a\n" + b"pixels"
    (tmp_path / "there").mkdir()
    for path, data in (("a.png", picture), ("there/a.png", picture), ("b.png", picture + b"!")):
        (tmp_path / path).write_bytes(data)

    def kept(*paths: str) -> dict[str, Any]:
        shown = tuple(str(tmp_path / path) for path in paths)
        return request_to_dict(Request("s1", "A", (Message("user", "How?", shown),)))

    assert kept()["messages"] == [{"role": "user", "content": "How?"}]
    named = {"name": "a.png", "sha256": hashlib.sha256(picture).hexdigest()}
    assert kept("a.png")["messages"] == [{"role": "user", "content": "How?", "images": [named]}]
    assert kept("a.png") == kept("there/a.png") != kept("b.png")
    assert kept("a.png", "b.png") != kept("b.png", "a.png")
    with pytest.raises(UserError, match=r"There is no image \S*c\.png"):
        kept("c.png")


def test_another_picture_is_another_run(tmp_path: Path) -> None:
    plan, picture = tiny_plan("a"), tmp_path / "a.png"
    asks = plan.protocol.requests

    class Illustrated:
        def __getattr__(self, name: str) -> Any:
            return getattr(plan.protocol, name)

        def requests(self, *given: Any) -> list[Request]:
            return [
                replace(one, messages=(*one.messages, Message("user", "Look.", (str(picture),))))
                for one in asks(*given)
            ]

    shown = replace(plan, protocol=cast(AskingProtocol, Illustrated()), conditions=("neutral", "prompt:anger"))
    digests = set()
    for pixels in (b"one", b"another"):
        picture.write_bytes(b"GIF89a" + pixels)
        digests.add(shown.prompt_sha256())
    assert len(digests) == 2
    told = shown.requests(Cell("prompt:anger", 0, "a"), shown.items[0], {})[0].messages
    assert told[-1].images == (str(picture),)
