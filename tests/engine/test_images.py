"""[3] Rows with images: vision-language models with random weights, against one plain pass at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch
from tests.engine import architectures, reference
from tests.engine.architectures import IMAGE_TOKEN

from affectlab.engine import (
    NEUTRAL,
    Edit,
    Engine,
    EngineSettings,
    Gate,
    GenerateRow,
    Generation,
    Intervention,
    ScoreRow,
    TextRow,
)
from affectlab.engine.stack import Stack
from affectlab.errors import UserError, WorldError

MODELS = ("qwen2_vl", "gemma3", "llava", "smolvlm", "qwen2_5_vl", "qwen3_vl", "internvl", "phi4_multimodal")
OPTIONS = [[100], [102, 103], [102, 104, 105]]


@dataclass
class Seen:
    """A prompt with images as a processor would give it."""

    ids: list[int]
    inputs: dict[str, Any]


def seen(name: str, images: int, seed: int = 0, before: int = 2) -> Seen:
    """Text, images one after the other, text."""
    draw = torch.Generator().manual_seed(seed)
    one = [IMAGE_TOKEN] * {"llava": 16, "phi4_multimodal": 5}.get(name, 4)
    one = [5, *one, 6] if name.startswith("qwen") else [7, *one, 8]
    ids = [*range(60, 60 + before), *(one * images), 70 + seed, 71, 72]
    types = torch.tensor([[int(token == IMAGE_TOKEN) for token in ids]])
    pixels = torch.randn(images, 3, 16, 16, generator=draw)
    if name.startswith("qwen"):
        # Patches of 4 x 4 pixels in 3 colours, each frame doubled: 96 numbers; 16 of them an image, merged 2 x 2 to 4.
        patches = torch.randn(16 * images, 96, generator=draw)
        grid = torch.tensor([[1, 4, 4]] * images)
        return Seen(ids, {"pixel_values": patches, "image_grid_thw": grid, "mm_token_type_ids": types})
    if name == "phi4_multimodal":
        # The whole picture and one part of it, 28 x 28 pixels each, are one feature each; rows end with a separator,
        # and one stands between the two: 2 + 1 + 2 tokens.
        views = torch.randn(images, 2, 3, 28, 28, generator=draw)
        sizes = torch.tensor([[28, 28]] * images)
        mask = torch.ones(images, 2, 2, 2)
        return Seen(ids, {"image_pixel_values": views, "image_sizes": sizes, "image_attention_mask": mask})
    if name == "gemma3":
        return Seen(ids, {"pixel_values": pixels, "token_type_ids": types})
    if name == "smolvlm":
        mask = torch.ones(1, images, 16, 16, dtype=torch.bool)
        return Seen(ids, {"pixel_values": pixels[None], "pixel_attention_mask": mask})
    return Seen(ids, {"pixel_values": pixels})


@dataclass
class Subject:
    name: str
    model: Any
    engine: Engine
    rows: list[Seen]


@pytest.fixture(
    scope="module",
    params=[pytest.param(name, marks=() if place < 2 else pytest.mark.slow) for place, name in enumerate(MODELS)],
)
def subject(request: pytest.FixtureRequest) -> Iterator[Subject]:
    name = request.param
    model = architectures.build(name)
    rows = [seen(name, 1), seen(name, 2, seed=1, before=5), seen(name, 1, seed=2)]
    engine = Engine(model)
    yield Subject(name, model, engine, rows)
    # Vision towers keep hooks of transformers' own.
    layers = [model.get_submodule(path) for path in (*engine.layer_paths, "lm_head")]
    assert all(not module._forward_hooks and "forward" not in vars(module) for module in layers)


def vector(seed: int) -> Any:
    drawn = np.random.default_rng(seed).standard_normal(architectures.WIDTH)
    return (1.5 * drawn / np.linalg.norm(drawn)).astype(np.float32)


SOME = [
    NEUTRAL,
    Intervention((Edit(1, vector(1)),)),
    Intervention((Edit(2, vector(2), "add_keep_norm", -2.0), Edit(3, vector(3), "clamp", 2.0)), "generated"),
    Intervention((Edit(1, vector(4), "project_out"),), "prompt"),
    Intervention((Edit(2, vector(6), "clamp", 3.0),), "all", Gate(1, vector(5), 0.0)),
]


def test_scores_are_those_of_plain_passes(subject: Subject) -> None:
    rows = [ScoreRow(row.ids, OPTIONS, inputs=row.inputs) for row in subject.rows]
    rows.insert(1, ScoreRow(list(range(60, 75)), OPTIONS))  # text alone goes the usual way
    found = {(row, number): scores for row, number, scores in subject.engine.score(rows, SOME)}
    assert len(found) == len(rows) * len(SOME)
    for (row, number), scores in found.items():
        plain = reference.scores(
            subject.model, subject.engine.layer_paths, rows[row].prompt, OPTIONS, SOME[number], rows[row].inputs
        )
        assert np.abs(scores - plain).max() < 2e-4, (row, number)
    # The picture counts: the same ids with another one score differently.
    other = seen(subject.name, 1, seed=9).inputs
    ((_, _, moved),) = subject.engine.score([ScoreRow(subject.rows[0].ids, OPTIONS, inputs=other)])
    assert np.abs(moved - found[0, 0]).max() > 0.01


def test_text_is_that_of_the_plain_loop_without_cache(subject: Subject) -> None:
    rows = [GenerateRow(row.ids, Generation(4), inputs=row.inputs) for row in subject.rows]
    rows.append(GenerateRow(list(range(60, 75)), Generation(4)))
    found = {(row, number): text for row, number, text in subject.engine.generate(rows, SOME)}
    assert len(found) == len(rows) * len(SOME)
    for (row, number), text in found.items():
        plain = reference.greedy(
            subject.model, subject.engine.layer_paths, rows[row].prompt, 4, SOME[number], rows[row].inputs
        )
        assert list(text.ids) == plain, (row, number)


def test_texts_that_end_early_leave_the_others_as_they_are(subject: Subject) -> None:
    """Ended texts leave the batch; where an image put the tokens is still known."""
    row = subject.rows[0]
    strong = [NEUTRAL, *(Intervention((Edit(3, vector(seed), amount=20.0),)) for seed in range(4))]
    asked = [GenerateRow(row.ids, Generation(6), inputs=row.inputs)]
    whole = {number: text.ids for _, number, text in subject.engine.generate(asked, strong)}
    ends = frozenset(whole[number][0] for number in range(1, 4)) - set(whole[0])
    kept = [next((place for place, token in enumerate(whole[number]) if token in ends), 6) for number in range(5)]
    assert kept[0] == 6
    assert kept.count(0) >= 2
    stopped = [GenerateRow(row.ids, Generation(6, stop_ids=ends), inputs=row.inputs)]
    for _, number, text in subject.engine.generate(stopped, strong):
        assert text.ids == whole[number][: kept[number]]


@pytest.mark.parametrize("position", ["last", "mean"])
def test_hidden_states_are_those_of_plain_passes(subject: Subject, position: Any) -> None:
    rows: list[Any] = [TextRow(row.ids, row.inputs) for row in subject.rows]
    rows.insert(1, list(range(60, 75)))
    found = subject.engine.hidden(rows, [3, 1], position)
    for row, one in enumerate(rows):
        ids, inputs = (one.ids, one.inputs) if isinstance(one, TextRow) else (one, None)
        plain = reference.hidden(subject.model, subject.engine.layer_paths, ids, inputs)[[3, 1]]
        plain = {"last": plain[:, -1], "mean": reference.without_sinks(plain)}[position]
        assert np.abs(found[row] - plain.numpy()).max() < 1e-4 * max(1, np.abs(found[row]).max())


def test_nothing_of_an_image_stays_with_the_model(subject: Subject) -> None:
    """[2] Where the last image put its tokens is forgotten, and text alone is scored as before."""
    text, row = [ScoreRow(list(range(60, 75)), OPTIONS)], subject.rows[0]
    ((_, _, before),) = subject.engine.score(text)
    places = [module.rope_deltas for module in subject.model.modules() if hasattr(module, "rope_deltas")]
    list(subject.engine.generate([GenerateRow(row.ids, Generation(3), inputs=row.inputs)], SOME[:2]))
    list(subject.engine.score([ScoreRow(row.ids, OPTIONS, inputs=row.inputs)]))
    subject.engine.hidden([TextRow(row.ids, row.inputs)])
    assert [module.rope_deltas for module in subject.model.modules() if hasattr(module, "rope_deltas")] == places
    ((_, _, after),) = subject.engine.score(text)
    assert np.array_equal(before, after)


@pytest.fixture(scope="module")
def qwen() -> Engine:
    return Engine(architectures.build("qwen2_vl"))


def changed(**how: Any) -> ScoreRow:
    row = seen("qwen2_vl", 1)
    inputs = {key: value for key, value in (row.inputs | how).items() if value is not None}
    return ScoreRow(row.ids, OPTIONS, "item 7", inputs)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (changed(pixels=torch.ones(1)), "item 7: Qwen2VLForConditionalGeneration takes no pixels"),
        (changed(attention_mask=torch.ones(1, 9)), "item 7: attention_mask is no input of images"),
        (
            changed(mm_token_type_ids=torch.ones(1, 3)),
            r"mm_token_type_ids has shape \(1, 3\); the prompt needs \(1, 11\)",
        ),
        (
            changed(pixel_values=torch.ones(8, 96), image_grid_thw=torch.tensor([[1, 2, 4]])),
            "item 7: the model refuses",
        ),
        (changed(mm_token_type_ids=None), "item 7: the model refuses its images: Multimodal data was passed"),
    ],
)
def test_inputs_that_do_not_fit_are_refused_by_name(qwen: Engine, row: ScoreRow, message: str) -> None:
    with pytest.raises(UserError, match=message):
        list(qwen.score([row]))


def test_a_model_without_eyes_takes_no_images() -> None:
    engine = Engine(architectures.build("llama"))
    with pytest.raises(UserError, match="row 0: LlamaForCausalLM takes no pixel_values"):
        engine.hidden([TextRow([60, 61], {"pixel_values": torch.ones(1, 3, 16, 16)})])


def test_when_memory_runs_out_fewer_interventions_run_at_once(qwen: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    row = seen("qwen2_vl", 1)
    asked = [ScoreRow(row.ids, OPTIONS, inputs=row.inputs)]
    wanted = {number: scores for _, number, scores in qwen.score(asked, SOME)}
    run = Stack.run
    sizes = []

    def small(self: Stack, step: Any) -> Any:
        sizes.append(len(step.ids))
        if len(step.ids) > 2:
            raise torch.OutOfMemoryError("no room")
        return run(self, step)

    monkeypatch.setattr(Stack, "run", small)
    found = list(qwen.score(asked, SOME))
    assert sorted(number for _, number, _ in found) == list(range(len(SOME)))
    assert all(np.abs(scores - wanted[number]).max() < 1e-4 for _, number, scores in found)
    assert sizes[0] == 5

    def none(self: Stack, step: Any) -> Any:
        raise torch.OutOfMemoryError("no room")

    monkeypatch.setattr(Stack, "run", none)
    with pytest.raises(WorldError, match="single row"):
        list(qwen.score(asked, SOME))
    monkeypatch.setattr(Stack, "run", run)
    little = Engine(qwen._stack.model, settings=EngineSettings(batch_tokens=1))
    sizes.clear()
    monkeypatch.setattr(Stack, "run", small)
    assert all(np.abs(scores - wanted[number]).max() < 1e-4 for _, number, scores in little.score(asked, SOME))
    assert set(sizes) == {1}


def test_what_image_processors_make_of_a_picture_goes_in_as_it_is(qwen: Engine) -> None:
    """A photograph of 20 x 24 pixels is 4 x 6 patches for this Qwen2-VL, merged to 6 tokens; 16 tokens for LLaVA."""
    image = pytest.importorskip("PIL.Image", reason="image processors need pillow")
    from transformers import CLIPImageProcessorPil, Qwen2VLImageProcessorPil

    pixels = (np.random.default_rng(0).random((20, 24, 3)) * 255).astype(np.uint8)
    made = Qwen2VLImageProcessorPil(patch_size=4, merge_size=2, temporal_patch_size=2, min_pixels=64, max_pixels=1024)
    llava = Engine(architectures.build("llava"))
    size = {"height": 16, "width": 16}
    for engine, processor, count in ((qwen, made, 6), (llava, CLIPImageProcessorPil(size=size, crop_size=size), 16)):
        ids = [60, 61, 5, *[IMAGE_TOKEN] * count, 6, 70]
        inputs = dict(processor(images=[image.fromarray(pixels)], return_tensors="pt"))
        if engine is qwen:
            assert inputs["image_grid_thw"].tolist() == [[1, 4, 6]]
            inputs["mm_token_type_ids"] = torch.tensor([[int(token == IMAGE_TOKEN) for token in ids]])
        for _, number, scores in engine.score([ScoreRow(ids, OPTIONS, inputs=inputs)], SOME[:3]):
            plain = reference.scores(engine._stack.model, engine.layer_paths, ids, OPTIONS, SOME[number], inputs)
            assert np.abs(scores - plain).max() < 2e-4
