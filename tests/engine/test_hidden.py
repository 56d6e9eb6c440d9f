"""Which tokens of a text are read, and how that is written down."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors import safe_open
from tests.engine import architectures

from affectlab.engine import Engine, EngineSettings
from affectlab.engine.hidden import RULES, pooled
from affectlab.errors import UserError, WorldError

NAN = float("nan")


def read(rows: list[list[list[float]]], position: Any, mask: list[list[int]] | None = None) -> tuple[Any, Any]:
    """Outputs ``[text][number]`` and token counts ``[text]`` of one layer."""
    real = None if mask is None else torch.tensor(mask, dtype=torch.bool)
    found = pooled({0: torch.tensor(rows)}, real, [0], position)
    return np.asarray(found.outputs)[:, 0].tolist(), found.tokens[:, 0].tolist()


def test_the_first_token_and_other_sinks_are_left_out_of_the_mean() -> None:
    rows = [
        # The first is left out whatever its length. The others are 5, 2 and 1 long: median 2, none above 20.
        [[900.0, 0.0], [3.0, 4.0], [0.0, 2.0], [0.0, 1.0]],
        # The first is as short as any. The others are 1, 2 and 30 long: median 2, and 30 is above 20.
        [[1.0, 0.0], [0.0, 1.0], [0.0, 2.0], [0.0, 30.0]],
        # 20 is not above 20.
        [[1.0, 0.0], [0.0, 1.0], [0.0, 2.0], [0.0, 20.0]],
    ]
    outputs, tokens = read(rows, "mean")
    assert outputs[0] == pytest.approx([1, 7 / 3])
    assert outputs[1] == pytest.approx([0, 1.5])
    assert outputs[2] == pytest.approx([0, 23 / 3])
    assert tokens == [3, 2, 3]
    assert read(rows, "last") == ([[0, 1], [0, 30], [0, 20]], [1, 1, 1])


def test_padding_is_neither_the_first_token_nor_part_of_the_median() -> None:
    # Of the second text only the last two are tokens; the first of those is left out. The third has one token, which is
    # all there is to read. Padding may hold anything.
    rows = [
        [[1.0, 0.0], [0.0, 1.0], [0.0, 2.0], [0.0, 3.0]],
        [[NAN, NAN], [1e9, 0.0], [9.0, 9.0], [4.0, 0.0]],
        [[NAN, NAN], [NAN, 0.0], [7.0, 7.0], [500.0, 0.0]],
    ]
    mask = [[1, 1, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1]]
    assert read(rows, "mean", mask) == ([[0, 2], [4, 0], [500, 0]], [3, 1, 1])


def test_a_sink_that_overflows_does_not_spoil_the_others() -> None:
    assert read([[[float("inf"), 0.0], [2.0, 0.0], [4.0, 0.0]]], "mean") == ([[3, 0]], [2])


def sinking() -> Any:
    """A llama for which token 99 is a sink from layer 1 on: its output there is longer than the others by far."""
    model = architectures.build("llama")

    def sink(_module: Any, args: Any, out: Any) -> Any:
        seen = model.seen_ids == 99
        return torch.where(seen[..., None], out * 1000, out)

    def see(_module: Any, args: Any, kwargs: Any) -> None:
        model.seen_ids = kwargs["input_ids"]

    model.register_forward_pre_hook(see, with_kwargs=True)
    model.model.layers[1].register_forward_hook(sink)
    return model


def test_each_layer_is_judged_by_itself_and_the_file_says_of_how_many_tokens_it_is_the_mean(tmp_path: Path) -> None:
    """[35, F1]"""
    engine = Engine(sinking(), settings=EngineSettings(batch_tokens=8))
    texts = [[60, 61, 99, 62, 63], [70, 71, 72], [80]]
    path = engine.hidden_to_file(tmp_path / "h.safetensors", texts, [0, 1], "mean")
    with safe_open(path, "np") as file:
        found, tokens, metadata = file.get_tensor("hidden"), file.get_tensor("tokens"), file.metadata()
    # Without the first token; at layer 1 also without 99.
    assert tokens.tolist() == [[4, 3], [2, 2], [1, 1]]
    assert metadata["tokens"] == RULES["mean"]
    assert metadata["tokens"] == "all but the first and those 10 times as long as the median of the others"
    states = {end: engine.hidden([texts[0][:end]], [1])[0, 0] for end in (2, 4, 5)}
    assert np.allclose(found[0, 1], sum(states.values()) / 3, atol=1e-4)
    assert np.allclose(found[1:], engine.hidden(texts[1:], [0, 1], "mean"), atol=1e-5)
    # A layer's answer does not depend on which others are asked for.
    assert np.allclose(engine.hidden(texts, [1], "mean")[:, 0], found[:, 1], atol=1e-5)


def test_a_file_that_fails_leaves_the_one_before_and_a_link_stays_one(tmp_path: Path) -> None:
    engine = Engine(architectures.build("llama"))
    file, link, pipe = tmp_path / "h.safetensors", tmp_path / "link", tmp_path / "pipe"
    link.symlink_to(file)
    os.mkfifo(pipe)
    engine.hidden_to_file(link, [[60, 61]], [0])
    before = file.read_bytes()
    with pytest.raises(UserError, match="row 0: the text has token 9999"):
        engine.hidden_to_file(link, [[9999]], [0])
    with pytest.raises(UserError, match="pipe is no regular file"):
        engine.hidden_to_file(pipe, [[60, 61]], [0])
    with pytest.raises(WorldError, match="cannot be written"):
        engine.hidden_to_file(tmp_path / "nowhere" / "h", [[60, 61]], [0])
    assert file.read_bytes() == before
    assert link.is_symlink()
    assert sorted(tmp_path.iterdir()) == [file, link, pipe]


def test_an_unknown_position_is_refused_with_those_there_are() -> None:
    engine = Engine(architectures.build("llama"))
    with pytest.raises(UserError, match="position is 'first': it must be one of last, mean"):
        engine.hidden([[1]], None, "first")  # type: ignore[arg-type]
