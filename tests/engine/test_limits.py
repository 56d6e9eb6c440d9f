"""What a model cannot take, and what is no model that can be used, is refused by name."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from tests.engine import architectures

from affectlab.engine import NEUTRAL, Engine, GenerateRow, Generation, ScoreRow, TextRow
from affectlab.engine.limits import Limits
from affectlab.errors import UserError, WorldError


@pytest.fixture(scope="module", params=["llama", "gpt2"])
def short(request: pytest.FixtureRequest) -> Engine:
    """A model of eight positions: GPT-2 has learned ones and nothing beyond, llama turns on without a word."""
    model = architectures.build(request.param)
    model.config.max_position_embeddings = 8
    return Engine(model)


def test_texts_end_with_the_context(short: Engine) -> None:
    """Of n tokens to come n - 1 are fed: six and three are eight."""
    six = list(range(60, 66))
    assert short.context == 8
    assert len(list(short.score([ScoreRow(six, [[70], [70, 71, 72]])]))) == 1
    assert len(list(short.generate([GenerateRow(six, Generation(3))]))) == 1
    assert short.hidden([list(range(60, 68))]).shape[0] == 1
    for call, said in (
        (lambda: short.score([ScoreRow(six, [[70], [70, 71, 72, 73]], "item 5")]),
         "item 5 has 6 tokens, and the longest option 4; the model takes 8"),
        (lambda: short.generate([GenerateRow(six, Generation(4))]),
         "row 0 has 6 tokens, and up to 4 are to follow; the model takes 8"),
        (lambda: short.hidden([[60], list(range(60, 69))]), "row 1 has 9 tokens; the model takes 8"),
        (lambda: short.states([TextRow(list(range(60, 69)), name="text 4")]), "text 4 has 9 tokens"),
        (lambda: short.every_token([list(range(60, 69))]), "row 0 has 9 tokens"),
    ):  # fmt: skip
        with pytest.raises(UserError, match=said):
            list(call())


@pytest.mark.parametrize(("name", "context"), [("gpt2", 512), ("qwen2_vl", 512), ("bloom", None)])
def test_the_context_is_what_the_text_config_states(name: str, context: int | None) -> None:
    assert Limits.of(architectures.build(name).config.get_text_config()).context == context


def test_a_state_has_no_limit() -> None:
    from transformers import Mamba2Config

    assert Limits.of(Mamba2Config()).context is None


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda engine: engine.score([ScoreRow("hello", [[1]])]), "row 0: the prompt is no list of token ids"),  # type: ignore[arg-type]
        (lambda engine: engine.score([ScoreRow([1], ["yes"])]), "row 0: the option is no list of token ids"),  # type: ignore[list-item]
        (lambda engine: engine.score(["hello"]), "Expected a list of ScoreRows"),
        (lambda engine: engine.score(ScoreRow([1], [[1]])), "Expected a list of ScoreRows"),
        (lambda engine: engine.generate([[1, 2]]), "Expected a list of GenerateRows"),
        (lambda engine: engine.hidden(["hello"]), "row 0: the text is no list of token ids"),
        (lambda engine: engine.score([ScoreRow([1], [[1]])], NEUTRAL), r"list of Interventions, such as \[NEUTRAL\]"),
        (lambda engine: engine.score([ScoreRow([1], [[1]])], ["anger@1.0"]), "list of Interventions"),
        (lambda engine: engine.hidden([[1]], ["a"]), "Layer a: the model has no such layer"),
        (lambda engine: engine.hidden([[1]], [True]), "Layer True: the model has no such layer"),
    ],
)
def test_what_is_no_row_is_said(call: Any, said: str) -> None:
    engine = Engine(architectures.build("llama"))
    with pytest.raises(UserError, match=said):
        list(call(engine))


@pytest.mark.parametrize("part", ["model.embed_tokens", "lm_head", "model.layers.1.mlp.down_proj"])
def test_damaged_weights_are_told_at_load(part: str) -> None:
    model = architectures.build("llama")
    with torch.no_grad():
        model.get_submodule(part).weight.fill_(float("nan"))
    with pytest.raises(WorldError, match="answers a short text with numbers that are not finite: its weights are dam"):
        Engine(model)


def test_engines_and_rows_print_in_one_line() -> None:
    assert repr(Engine(architectures.build("llama"))) == "Engine(LlamaForCausalLM: 4 layers × 32, float32)"
    row = GenerateRow(tuple(range(500)), Generation(3), "item 5")
    assert repr(row).startswith("GenerateRow('item 5': 500 tokens; Generation(max_tokens=3, ")
