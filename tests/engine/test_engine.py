from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors import safe_open
from tests.engine import architectures, reference

from affectlab.engine import (
    NEUTRAL,
    Edit,
    Engine,
    EngineSettings,
    Generated,
    GenerateRow,
    Generation,
    Intervention,
    ScoreRow,
)
from affectlab.engine.drawing import Draw
from affectlab.engine.hidden import batches
from affectlab.engine.passes import lanes
from affectlab.engine.scoring import not_finite, stems
from affectlab.engine.stack import Stack, find_layers
from affectlab.errors import UserError, WorldError

PROMPTS = [list(range(60, 60 + length)) for length in (4, 9, 17, 18, 30)] + [[90, 91], [92] * 12]
OPTIONS = [[100], [101, 102], [101, 103]]


def rows() -> list[ScoreRow]:
    return [ScoreRow(prompt, OPTIONS) for prompt in PROMPTS]


def edit(layer: int, seed: int = 0, **how: Any) -> Intervention:
    drawn = np.random.default_rng(seed).standard_normal(architectures.WIDTH).astype(np.float32)
    return Intervention((Edit(layer, drawn),), **how)


@pytest.fixture(scope="module")
def model() -> Any:
    return architectures.build("llama")


@pytest.fixture(scope="module")
def engine(model: Any) -> Engine:
    return Engine(model, end_ids=[2])


def scores(engine: Engine, some: Sequence[Intervention] = (NEUTRAL,)) -> dict[tuple[int, int], Any]:
    return {(row, number): found for row, number, found in engine.score(rows(), some)}


def test_results_come_while_later_ones_are_still_to_be_computed(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Engine(model, settings=EngineSettings(batch_tokens=20, sharing=False))
    passes = 0
    run = Stack.run

    def counted(self: Stack, step: Any) -> Any:
        nonlocal passes
        passes += 1
        return run(self, step)

    monkeypatch.setattr(Stack, "run", counted)
    results = engine.score(rows())
    next(results)
    first = passes
    assert len(list(results)) == len(PROMPTS) - 1
    assert passes > first + 2


@pytest.mark.parametrize("budget", [1, 7, 40, 200, 10**6])
def test_no_pass_is_larger_than_the_budget_but_for_single_rows(
    model: Any, budget: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = Engine(model, settings=EngineSettings(batch_tokens=budget))
    sizes = []
    run = Stack.run

    def seen(self: Stack, step: Any) -> Any:
        sizes.append(tuple(step.ids.shape))
        return run(self, step)

    monkeypatch.setattr(Stack, "run", seen)
    assert len(scores(engine, [NEUTRAL, edit(1), edit(2)])) == 3 * len(PROMPTS)
    assert all(count == 1 or count * length <= budget for count, length in sizes)


def test_when_memory_runs_out_passes_get_smaller_and_every_result_comes_once(
    model: Any, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    some = [NEUTRAL, edit(1), edit(2), edit(3, positions="generated")]
    asked = [GenerateRow(prompt, Generation(4)) for prompt in PROMPTS]
    wanted = scores(engine, some), list(engine.generate(asked, some)), engine.hidden(PROMPTS)
    run = Stack.run
    failures = 0

    def small(self: Stack, step: Any) -> Any:
        nonlocal failures
        if step.ids.numel() > 40:
            failures += 1
            raise torch.OutOfMemoryError("no room")
        return run(self, step)

    monkeypatch.setattr(Stack, "run", small)
    found = list(engine.score(rows(), some))
    assert len(found) == len({(row, number) for row, number, _ in found}) == len(wanted[0])
    assert all(np.abs(wanted[0][row, number] - one).max() < 1e-4 for row, number, one in found)
    texts = list(engine.generate(asked, some))
    assert sorted((row, number, text.ids) for row, number, text in texts) == sorted(
        (row, number, text.ids) for row, number, text in wanted[1]
    )
    assert np.allclose(engine.hidden(PROMPTS), wanted[2], atol=1e-4)
    assert failures >= 3


def test_one_row_that_does_not_fit_is_said_and_other_errors_are_not_swallowed(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(text: str) -> Any:
        def run(self: Stack, step: Any) -> Any:
            raise RuntimeError(text)

        return run

    monkeypatch.setattr(Stack, "run", failing("DefaultCPUAllocator: can't allocate memory: 9 bytes"))
    for results in (engine.score(rows()), engine.generate([GenerateRow(prompt) for prompt in PROMPTS])):
        with pytest.raises(WorldError, match="Memory ran out on a single row"):
            list(results)
    with pytest.raises(WorldError, match="Memory ran out on a single row"):
        engine.hidden(PROMPTS)
    monkeypatch.setattr(Stack, "run", failing("shapes do not match"))
    with pytest.raises(RuntimeError, match="shapes do not match"):
        list(engine.score(rows()))


def test_numbers_that_are_not_finite_name_the_rows() -> None:
    """[25]"""
    model = architectures.build("llama")
    engine = Engine(model)
    with torch.no_grad():
        model.model.embed_tokens.weight[92] = float("nan")
    named = [ScoreRow(prompt, OPTIONS, f"item {number}") for number, prompt in enumerate(PROMPTS)]
    # 92 is in the last prompt alone.
    with pytest.raises(WorldError, match=r"not finite for item 6\. Its weights are damaged, or an edit"):
        list(engine.score(named))
    with pytest.raises(WorldError, match=r"not finite for row 6\."):
        list(engine.generate([GenerateRow(prompt, Generation(2)) for prompt in PROMPTS]))
    with pytest.raises(WorldError, match=r"not finite for row 6\."):
        list(engine.every_token(PROMPTS))
    with pytest.raises(WorldError, match=r"layer outputs are not finite for row 6\. Its weights"):
        engine.hidden(PROMPTS)


@pytest.mark.parametrize(
    ("dtype", "advice"), [("float32", "fetch the weights anew"), ("float16", "overflow in float16.*use float32")]
)
def test_advice_on_numbers_that_are_not_finite_fits_the_number_type(dtype: str, advice: str) -> None:
    error = str(not_finite("logits", [f"row {number}" for number in range(7)], dtype))
    assert re.search(rf"for row 0, row 1, row 2, row 3, row 4 and 2 more\. .*{advice}", error)
    assert dtype != "float32" or "float32" not in error


def test_drawn_text_depends_on_its_seed_and_not_on_its_batch(model: Any, engine: Engine) -> None:
    def asked(seed: int) -> list[GenerateRow]:
        return [GenerateRow(prompt, Generation(8, 1.2, 0.95, seed)) for prompt in PROMPTS]

    def texts(engine: Engine, some: list[GenerateRow]) -> dict[tuple[int, int], Any]:
        return {(row, number): text.ids for row, number, text in engine.generate(some, [NEUTRAL, edit(2)])}

    together = texts(engine, asked(1))
    assert together == texts(Engine(model, end_ids=[2], settings=EngineSettings(batch_tokens=1)), asked(1))
    assert together != texts(engine, asked(2))


def test_drawing_follows_the_distribution_and_top_p_cuts_its_tail() -> None:
    # softmax of log([.5, .3, .15, .05]) at temperature 1 is these shares themselves; top_p .6 keeps the first two,
    # of which the first then has .5 / .8 = .625. 1500 draws: standard deviation of a share below .013, limit 4.6 times.
    logits = torch.tensor([0.5, 0.3, 0.15, 0.05]).log()

    def shares(top_p: float) -> list[float]:
        tokens = [Draw(Generation(4, 1.0, top_p, seed))(logits, 0) for seed in range(1500)]
        return [tokens.count(token) / 1500 for token in range(4)]

    assert shares(1.0) == pytest.approx([0.5, 0.3, 0.15, 0.05], abs=0.06)
    assert shares(0.6) == pytest.approx([0.625, 0.375, 0.0, 0.0], abs=0.06)
    assert shares(0.6)[2:] == [0.0, 0.0]


def test_what_ends_a_text_says_so(model: Any, engine: Engine) -> None:
    def text(engine: Engine, **how: Any) -> Generated:
        ((_, _, found),) = engine.generate([GenerateRow(PROMPTS[2], Generation(6, **how))])
        return found

    whole = text(engine)
    assert (len(whole.ids), whole.finish) == (6, "length")
    third = whole.ids[2]
    assert whole.ids.index(third) == 2
    assert text(engine, stop_ids=frozenset({third})) == Generated(whole.ids[:2], "stop")
    assert text(Engine(model, end_ids=[third])) == Generated(whole.ids[:2], "stop")
    assert text(engine, stop=lambda ids: len(ids) == 4) == Generated(whole.ids[:4], "stop")


def test_hidden_states_go_to_a_file_and_nothing_is_left_when_it_fails(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = Engine(engine._stack.model, settings=EngineSettings(batch_tokens=20))
    path = small.hidden_to_file(tmp_path / "h.safetensors", PROMPTS, [0, 3], "mean", {"stimuli": "abc"})
    with safe_open(path, "np") as file:
        assert np.allclose(file.get_tensor("hidden"), engine.hidden(PROMPTS, [0, 3], "mean"), atol=1e-5)
        assert file.get_tensor("tokens").tolist() == [[len(prompt) - 1] * 2 for prompt in PROMPTS]
        assert file.metadata() == {
            "layers": "0,3",
            "position": "mean",
            "tokens": "all but the first and those 10 times as long as the median of the others",
            "index_base": "0 is the first block",
            "stimuli": "abc",
        }

    def fail(self: Stack, step: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(Stack, "run", fail)
    with pytest.raises(KeyboardInterrupt):
        small.hidden_to_file(tmp_path / "g.safetensors", PROMPTS)
    assert [entry.name for entry in tmp_path.iterdir()] == ["h.safetensors"]
    with pytest.raises(WorldError, match="cannot be written"):
        small.hidden_to_file(tmp_path / "no" / "g.safetensors", PROMPTS)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda engine: engine.score([ScoreRow([], [[1]], "item 5")]), "item 5: the prompt has no tokens"),
        (lambda engine: engine.score([ScoreRow([1], [])]), "row 0 has no options"),
        (lambda engine: engine.score([ScoreRow([1], [[1], []])]), "row 0: the option has no tokens"),
        (lambda engine: engine.score([ScoreRow([1], [[211]])]), "the option has token 211; the model has 211"),
        (lambda engine: engine.generate([GenerateRow([-4])]), "the prompt has token -4"),
        (lambda engine: engine.every_token([[]]), "row 0: the text has no tokens"),
        (lambda engine: engine.hidden([[1]], [4]), "Layer 4: the model has no such layer; its 4 layers are 0 to 3"),
        (lambda engine: engine.hidden([[1]], []), "No layers"),
        (lambda engine: engine.hidden([[1]], None, "first"), "position is 'first'"),
        (lambda engine: [Generation(0)], "max_tokens is 0"),
        (lambda engine: [Generation(temperature=-1)], "temperature is -1"),
        (lambda engine: [Generation(top_p=0)], "top_p is 0"),
        (lambda engine: [EngineSettings(batch_tokens=0)], "batch_tokens is 0"),
    ],
)
def test_bad_input_is_refused_by_name(engine: Engine, call: Any, message: str) -> None:
    with pytest.raises(UserError, match=message):
        list(call(engine))


def test_nothing_asked_gives_nothing(engine: Engine) -> None:
    assert list(engine.score([])) == []
    assert list(engine.generate([])) == []
    assert engine.hidden([]).shape == (0, 4, architectures.WIDTH)


def test_a_way_that_is_not_exact_is_left_out_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that looks at how much came before it cannot go on from a cache, and one that counts rows cannot fork."""
    model = architectures.build("llama")
    wanted = scores(Engine(model), [NEUTRAL, edit(2)])
    forward = type(model.model).forward

    def wrong(self: Any, *args: Any, **kwargs: Any) -> Any:
        cache = kwargs.get("cache")
        if cache is not None and cache.get_seq_length():
            kwargs["position_ids"] = kwargs["position_ids"] + 3
        return forward(self, *args, **kwargs)

    monkeypatch.setattr(type(model.model), "forward", wrong)
    engine = Engine(model)
    assert not engine.report.sharing
    assert engine.report.fork
    assert any(note.startswith("sharing: not used, log-probabilities differ by") for note in engine.report.notes)
    found = scores(engine, [NEUTRAL, edit(2)])
    assert all(np.abs(found[key] - wanted[key]).max() < 1e-4 for key in wanted)
    with pytest.raises(UserError, match="cache does not give what a plain pass gives"):
        list(engine.generate([GenerateRow([5, 6, 7])]))


def test_a_model_that_cannot_be_batched_runs_one_row_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """[14] GPT-2 that is not told where its tokens are."""
    model = architectures.build("gpt2")
    plain = [reference.scores(model, [], prompt, OPTIONS, NEUTRAL) for prompt in PROMPTS]
    forward = type(model.transformer).forward

    def deaf(self: Any, *args: Any, **kwargs: Any) -> Any:
        return forward(self, *args, **kwargs | {"position_ids": None})

    monkeypatch.setattr(type(model.transformer), "forward", deaf)
    engine = Engine(model)
    assert any(note.startswith("batch: not used") for note in engine.report.notes)
    assert not engine.report.sharing
    found = scores(engine)
    assert all(np.abs(found[row, 0] - plain[row]).max() < 1e-4 for row in range(len(PROMPTS)))


def test_a_head_that_needs_all_positions_gets_them(monkeypatch: pytest.MonkeyPatch, model: Any) -> None:
    wanted = scores(Engine(model))
    run = type(model.lm_head).forward

    def picky(self: Any, hidden: Any) -> Any:
        if self is model.lm_head and hidden.shape[1] < 3:
            raise ValueError("too few positions")
        return run(self, hidden)

    monkeypatch.setattr(type(model.lm_head), "forward", picky)
    engine = Engine(model, settings=EngineSettings(sharing=False))
    assert not engine.report.head_rows
    assert any("ValueError: too few positions" in note for note in engine.report.notes)
    monkeypatch.undo()
    found = scores(engine)
    assert all(np.abs(found[key] - wanted[key]).max() < 1e-4 for key in wanted)


@pytest.mark.parametrize("name", ["llama", "gemma3_text", "mamba2"])
def test_half_precision_is_flagged(name: str) -> None:
    """[13]"""
    report = Engine(architectures.build(name, dtype="bfloat16")).report
    assert (report.dtype, report.exact) == ("bfloat16", False)
    assert any("depend on the batch" in note for note in report.notes)
    assert not any("65,504" in note for note in report.notes)


def test_layers_can_be_named_and_what_cannot_be_told_is_refused(model: Any) -> None:
    """[8, 23]"""
    assert find_layers(model)[0] == "model.layers"
    assert Engine(model, settings=EngineSettings(layers="model.layers")).layer_paths[0] == "model.layers.0"
    with pytest.raises(UserError, match=r"has no part 'model\.blocks'"):
        Engine(model, settings=EngineSettings(layers="model.blocks"))
    with pytest.raises(UserError, match=r"'model\.norm' is a LlamaRMSNorm, not a list of layers"):
        find_layers(model, "model.norm")
    twin = architectures.build("llama")
    twin.model.more = torch.nn.ModuleList([torch.nn.Identity() for _ in range(4)])
    with pytest.raises(UserError, match="cannot be told: lists of 4 modules in its text decoder: layers, more"):
        find_layers(twin)


def test_conditions_with_one_first_layer_run_together_and_deep_ones_apart_where_it_pays(engine: Engine) -> None:
    some = [edit(3), NEUTRAL, edit(0), edit(3), edit(3), edit(0)]
    found = lanes(engine._stack, some, 99, fork=True)
    # Layers 1 to 3 for six conditions are 18 runs after one shared layer; apart, 2 x 3 after one, and none for four
    # after four.
    assert [(one.numbers, one.fork) for one in found] == [((0, 3, 4, 1), 4), ((2, 5), 1)]
    assert [(one.numbers, one.fork) for one in lanes(engine._stack, some, 99, fork=False)] == [((0, 1, 2, 3, 4, 5), 0)]
    assert [len(one) for one in lanes(engine._stack, some, 3, fork=True)] == [3, 1, 2]


@given(st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=4).map(tuple), min_size=1, max_size=8))
def test_stems_serve_every_option_once_with_as_few_texts_as_can_be(options: list[tuple[int, ...]]) -> None:
    found = stems(options)
    assert sorted(member for _, members in found for member in members) == list(range(len(options)))
    for tail, members in found:
        assert all(options[member][:-1] == tail[: len(options[member]) - 1] for member in members)
    tails = [tail for tail, _ in found]
    assert not any(a is not b and a == b[: len(a)] for a in tails for b in tails)


def test_options_of_one_token_share_one_text() -> None:
    assert stems([(1,), (2,), (3, 4), (3, 5), (6, 4)]) == [((3,), [2, 3, 0, 1]), ((6,), [4])]


@given(st.lists(st.integers(1, 50), max_size=30), st.integers(1, 120))
def test_batches_hold_every_row_once_and_stay_within_the_budget(lengths: list[int], budget: int) -> None:
    found = list(batches(lengths, budget))
    assert sorted(number for batch in found for number in batch) == list(range(len(lengths)))
    for batch in found:
        assert len(batch) == 1 or max(lengths[number] for number in batch) * len(batch) <= budget
