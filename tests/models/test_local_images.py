"""Vision-language models opened from a folder, with processors as a user's folder holds them."""

from __future__ import annotations

import importlib.util
import weakref
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch", reason="local models need torch")
pytest.importorskip("transformers", reason="local models need transformers")
pytest.importorskip("PIL", reason="image processors need pillow")

import torch
from tests.support import tiny_models, tiny_vision

from affectlab.engine import Edit, Intervention
from affectlab.errors import UserError
from affectlab.models import Failure, Message, ModelSettings, Request, Response, Sampling, loading, open_model
from affectlab.models.local import LocalModel
from affectlab.models.prompts import Prompter

OPTIONS = (" joy", " fear", "sadness and fear")
STATES = {
    "anger@1.0": Intervention((Edit(1, np.full(32, 0.6, dtype=np.float32)),)),
    "fear@1.0": Intervention((Edit(0, np.linspace(-1, 1, 32, dtype=np.float32)),)),
}

_video = pytest.mark.skipif(
    importlib.util.find_spec("torchvision") is None,
    reason="transformers opens Qwen2-VL processors with torchvision only",
)


@pytest.fixture(scope="module", params=["llava", "gemma3", pytest.param("qwen2_vl", marks=_video)])
def family(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def folder(family: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_vision.save(tmp_path_factory.mktemp("tiny") / family, family)


@pytest.fixture(scope="module")
def seeing(folder: Path) -> LocalModel:
    model = open_model(str(folder), ModelSettings(threads=1))
    assert isinstance(model, LocalModel)

    def interventions(conditions: Sequence[str]) -> list[Intervention]:
        return [STATES.get(name, Intervention()) for name in conditions]

    model._interventions = interventions  # type: ignore[method-assign]
    return model


@pytest.fixture
def paths(tmp_path: Path) -> tuple[str, str]:
    return tiny_vision.picture(tmp_path / "one.png"), tiny_vision.picture(tmp_path / "two.png", seed=1)


def _request(*shown: str, item: str = "s1", **fields: Any) -> Request:
    said = (Message("system", "You label."), Message("user", "How does Ada feel?", shown))
    return Request(item, "A", said, sampling=Sampling(max_tokens=6), **fields)


def _answers(model: LocalModel, requests: Sequence[Request]) -> list[Response]:
    """In the order of the requests."""
    found = {request.key: answer for request, answer in model.respond(requests)}
    assert len(found) == len(requests)
    answers = [found[request.key] for request in requests]
    assert all(isinstance(answer, Response) for answer in answers)
    return answers  # type: ignore[return-value]


def _scores(model: LocalModel, *requests: Request) -> list[Any]:
    return [np.array(answer.logprobs) for answer in _answers(model, requests)]


def _plain(folder: Path, family: str, *shown: str) -> tuple[Any, Any, dict[str, Any]]:
    """The reference: transformers' own way from a conversation to a model's inputs, with pictures in it."""
    from PIL import Image
    from transformers import AutoModelForImageTextToText, AutoProcessor

    processor = AutoProcessor.from_pretrained(folder)
    said = [
        {"role": "system", "content": [{"type": "text", "text": "You label."}]},
        {
            "role": "user",
            "content": [
                *({"type": "image", "image": Image.open(path)} for path in shown),
                {"type": "text", "text": "How does Ada feel?"},
            ],
        },
    ]
    made = processor.apply_chat_template(
        said, tokenize=True, add_generation_prompt=True, return_dict=True, return_tensors="pt"
    )
    if family == "llava":
        made.pop("token_type_ids", None)
    return AutoModelForImageTextToText.from_pretrained(folder).eval(), processor, dict(made)


@pytest.mark.parametrize("count", [1, 2])
def test_scores_and_texts_are_those_of_transformers(
    seeing: LocalModel, folder: Path, family: str, paths: tuple[str, str], count: int
) -> None:
    model, processor, inputs = _plain(folder, family, *paths[:count])
    start = inputs["input_ids"].shape[1]
    scored, written = _answers(seeing, [_request(*paths[:count], options=OPTIONS), _request(*paths[:count], item="s2")])
    wanted = []
    for option in OPTIONS:
        ids = torch.tensor([processor.tokenizer(option, add_special_tokens=False)["input_ids"]])
        more = {"input_ids": torch.cat([inputs["input_ids"], ids], 1)}
        for name, value in inputs.items():
            if name.endswith(("token_type_ids", "attention_mask")):
                filler = torch.full_like(ids, int(name == "attention_mask"))
                more[name] = torch.cat([value, filler], 1)
        with torch.no_grad():
            logprobs = model(**(inputs | more)).logits[0].log_softmax(-1)
        wanted.append(sum(float(logprobs[start + n - 1, token]) for n, token in enumerate(ids[0])))
    assert scored.logprobs == pytest.approx(wanted, abs=2e-4)
    told = model.generate(**inputs, max_new_tokens=6, do_sample=False)[0, start:]
    assert written.text == processor.tokenizer.decode(told, skip_special_tokens=True)
    for answer in (scored, written):
        assert answer.usage is not None
        assert answer.usage.prompt_tokens == start
        assert answer.prompt is not None
        assert answer.prompt.count(tiny_vision.IMAGE[family]) == count
    one = _request(*paths[:count], options=OPTIONS, prefill="Ada feels")
    (prefilled,) = _answers(seeing, [one])
    assert prefilled.prompt == f"{scored.prompt}Ada feels"
    assert prefilled.logprobs != scored.logprobs


def test_an_image_stands_as_tokens_where_it_is_shown(folder: Path, family: str, paths: tuple[str, str]) -> None:
    loaded = loading.load_pretrained(str(folder), ModelSettings())
    prompter = Prompter(loaded.tokenizer, loaded.processor)
    talk = (Message("user", "A", paths[:1]), Message("assistant", "B"), Message("user", "C", paths[1:]))
    request = Request("s1", "A", talk)
    text = prompter.render(request)
    mark = tiny_vision.IMAGE[family]
    assert text == f"<s>user\n{mark}A</s>\n<s>assistant\nB</s>\n<s>user\n{mark}C</s>\n<s>assistant\n"
    ids, inputs = prompter.illustrated(request, text)
    places = [place for place, one in enumerate(ids) if one == loaded.model.config.image_token_id]
    assert len(places) == 2 * tiny_vision.TOKENS[family]
    assert sum(later - earlier > 1 for earlier, later in pairwise(places)) == 1
    assert len(inputs["pixel_values"]) == (2 * 24 if family == "qwen2_vl" else 2)


def test_another_image_gives_other_scores_and_none_gives_no_inputs(
    seeing: LocalModel, folder: Path, family: str, paths: tuple[str, str]
) -> None:
    bare = _request(options=OPTIONS)
    one, other, both, swapped, none = _scores(
        seeing,
        _request(paths[0], options=OPTIONS),
        _request(paths[1], options=OPTIONS, item="s2"),
        _request(*paths, options=OPTIONS, item="s3"),
        _request(*paths[::-1], options=OPTIONS, item="s4"),
        replace(bare, item="s5"),
    )
    for a, b in ((one, other), (one, both), (both, swapped), (one, none)):
        assert np.abs(a - b).max() > 1e-3
    # Text alone is what the tokenizer makes of the same turns, and goes in by itself.
    model, processor, _ = _plain(folder, family)
    ids = processor.tokenizer("<s>system\nYou label.</s>\n<s>user\nHow does Ada feel?</s>\n<s>assistant\n",
                              add_special_tokens=False)["input_ids"]  # fmt: skip
    option = processor.tokenizer(OPTIONS[0], add_special_tokens=False)["input_ids"]
    with torch.no_grad():
        logprobs = model(input_ids=torch.tensor([ids + option])).logits[0].log_softmax(-1)
    wanted = sum(float(logprobs[len(ids) + n - 1, token]) for n, token in enumerate(option))
    assert none[0] == pytest.approx(wanted, abs=2e-4)


def test_conditions_together_are_those_one_by_one_and_an_image_is_processed_once(
    seeing: LocalModel, paths: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []
    illustrated = Prompter.illustrated

    def counted(self: Prompter, request: Request, text: str) -> Any:
        made.append(text)
        return illustrated(self, request, text)

    monkeypatch.setattr(Prompter, "illustrated", counted)
    asked = [
        _request(path, item=path[-7:], condition=state, options=OPTIONS)
        for path in paths
        for state in ("neutral", *STATES)
    ]
    asked += [replace(one, options=(), step="B") for one in asked[:3]]
    together = _answers(seeing, asked)
    assert len(made) == 2
    assert len({answer.logprobs for answer in together[:6]}) == 6
    for place in (1, 5, 7):
        ((_, alone),) = seeing.respond([asked[place]])
        assert isinstance(alone, Response)
        answer = together[place]
        assert (answer.text, answer.usage, answer.prompt) == (alone.text, alone.usage, alone.prompt)
        if alone.logprobs:
            assert answer.logprobs == pytest.approx(alone.logprobs, abs=1e-4)


def test_pixels_of_one_prompt_are_held_at_a_time(
    seeing: LocalModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alive: list[weakref.ref[Any]] = []
    illustrated, most = Prompter.illustrated, 0

    def watched(self: Prompter, request: Request, text: str) -> Any:
        nonlocal most
        most = max(most, sum(one() is not None for one in alive))
        ids, inputs = illustrated(self, request, text)
        alive.append(weakref.ref(inputs["pixel_values"]))
        return ids, inputs

    monkeypatch.setattr(Prompter, "illustrated", watched)
    shown = [tiny_vision.picture(tmp_path / f"{seed}.png", seed) for seed in range(3)]
    _answers(seeing, [_request(path, item=path, options=OPTIONS) for path in shown])
    assert len(alive) == 3
    assert most <= 1


def test_what_opened_it_is_recorded(seeing: LocalModel) -> None:
    assert seeing.card.libraries.keys() >= {"pillow", "image processor"}
    assert "ImageProcessor" in seeing.card.libraries["image processor"]


def test_images_that_cannot_be_shown_are_named_before_anything_is_asked(
    seeing: LocalModel, family: str, tmp_path: Path, paths: tuple[str, str]
) -> None:
    answers = seeing.respond([_request(), _request("/nowhere/a.png", item="s2")])
    with pytest.raises(UserError, match=r"There is no image /nowhere/a\.png\. Item 's2', step 'A'"):
        next(answers)
    marked = replace(_request(paths[0]), messages=(Message("user", tiny_vision.IMAGE[family], paths[:1]),))
    with pytest.raises(
        UserError, match=r"item 's1', step 'A'.* holds a control token|refuses the images .*(number|token)"
    ):
        list(seeing.respond([_request(), marked]))
    cut = tmp_path / "cut.png"
    cut.write_bytes(Path(paths[0]).read_bytes()[:100])
    with pytest.raises(UserError, match=r"The image \S*cut\.png is damaged"):
        list(seeing.respond([_request(str(cut))]))


def test_an_image_that_leaves_no_room_is_a_failure_of_every_request_that_brings_it(tmp_path: Path) -> None:
    model = open_model(str(tiny_vision.save(tmp_path / "narrow", context=40)))
    path = tiny_vision.picture(tmp_path / "a.png")
    short = Request("s3", "A", (Message("user", "A"),), sampling=Sampling(max_tokens=2))
    asked = [_request(path), _request(path, item="s2", options=OPTIONS), short]
    answers = {request.item: answer for request, answer in model.respond(asked)}
    for item in ("s1", "s2"):
        failure = answers[item]
        assert isinstance(failure, Failure)
        assert failure.error.endswith("the model takes 40.")
    assert isinstance(answers["s3"], Response)


def test_a_model_of_text_alone_refuses_images(tmp_path: Path, paths: tuple[str, str]) -> None:
    model = open_model(str(tiny_models.save(tmp_path / "tiny")))
    answers = model.respond([_request(), _request(paths[0], item="s2")])
    with pytest.raises(UserError, match=r"tiny takes no images, and item 's2', step 'A', .* text alone"):
        next(answers)


@pytest.mark.parametrize(
    ("gone", "reason"),
    [
        (("processor_config.json",), "Its image processor cannot be opened: .*image processor"),
        (("chat_template.jinja",), "It comes without a chat template"),
    ],
)
def test_a_vision_model_whose_processor_is_not_whole_reads_text_and_says_why_it_refuses_images(
    gone: tuple[str, ...], reason: str, tmp_path: Path, paths: tuple[str, str]
) -> None:
    folder = tiny_vision.save(tmp_path / "blind")
    for name in gone:
        (folder / name).unlink()
    model = open_model(str(folder))
    assert isinstance(model, LocalModel)
    (answer,) = _answers(model, [_request(options=OPTIONS)])
    assert answer.prompt is not None
    assert "How does Ada feel?" in answer.prompt
    with pytest.raises(UserError, match=rf"blind takes no images, and item 's1', step 'A', brings one\. ({reason})"):
        list(model.respond([_request(paths[0])]))


def test_a_beginning_that_a_template_leaves_out_is_the_tokenizers(paths: tuple[str, str]) -> None:
    made = tiny_vision.processor("llava", bos=True)
    prompter = Prompter(made.tokenizer, made)
    for template, count in ((tiny_vision.template("llava"), 2), ("{{ '<image>A' }}", 1), ("{{ '<s><image>A' }}", 1)):
        made.chat_template = template
        request = _request(paths[0])
        text = prompter.render(replace(request, messages=request.messages[1:]))
        ids, inputs = prompter.illustrated(request, text)
        assert (ids[0], ids.count(1)) == (1, count)
        assert prompter.tokens(text.replace("<image>", ""))[0] == 1
        assert inputs.keys() == {"pixel_values"}
    made.chat_template = (
        "{% for turn in messages %}{% if turn['role'] == 'user' %}{% for part in turn['content'] %}"
        "{{ part['text'] if part['type'] == 'text' else '<image>' }}{% endfor %}{% endif %}{% endfor %}"
    )
    told = replace(
        _request(paths[1]), messages=(Message("system", "You label.", paths[:1]), _request(paths[1]).messages[1])
    )
    text = prompter.render(told)
    assert text == "<image><image>You label.\n\nHow does Ada feel?"
