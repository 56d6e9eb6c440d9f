"""What is read after, or at, every token of a text is what its beginnings give."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from tests.engine import architectures, reference

from affectlab.engine import NEUTRAL, Edit, Engine, EngineSettings, Intervention
from affectlab.errors import WorldError

TEXTS = ((5, 9, 17, 30, 8), (5, 9), (40,), (60, 61, 62, 63, 64, 65, 66))
MOVED = Intervention((Edit(1, np.linspace(-1, 1, architectures.WIDTH, dtype=np.float32)),))
BEGINNINGS = [text[:end] for text in TEXTS for end in range(1, len(text) + 1)]


@pytest.fixture(scope="module", params=["llama", "gemma3_text", "mamba2"])
def model(request: pytest.FixtureRequest) -> Any:
    return architectures.build(request.param)


@pytest.mark.parametrize("budget", [8192, 9])
def test_after_every_token_stands_what_a_plain_pass_gives(model: Any, budget: int) -> None:
    engine = Engine(model, settings=EngineSettings(batch_tokens=budget))
    found = {(row, number): each for row, number, each in engine.every_token(TEXTS, [NEUTRAL, MOVED])}
    assert sorted(found) == [(row, number) for row in range(len(TEXTS)) for number in (0, 1)]
    for (row, number), each in found.items():
        with reference.edited(model, engine.layer_paths, (NEUTRAL, MOVED)[number], len(TEXTS[row])):
            plain = reference.logits(model, TEXTS[row]).log_softmax(-1)
        np.testing.assert_allclose(each, plain.numpy(), atol=1e-4)
        np.testing.assert_allclose(np.exp(each.astype(np.float64)).sum(-1), 1, atol=1e-5)


@pytest.mark.parametrize("budget", [8192, 9])
def test_states_are_those_at_the_ends_of_beginnings(model: Any, budget: int) -> None:
    engine = Engine(model, settings=EngineSettings(batch_tokens=budget))
    for layers in (None, [2, 0]):
        found = engine.states(TEXTS, layers)
        assert [len(text) for text in found] == [5, 2, 1, 7]
        np.testing.assert_allclose(np.concatenate(found), engine.hidden(BEGINNINGS, layers), atol=1e-4)


def test_nothing_is_read_of_no_texts_and_damage_names_the_text() -> None:
    model = architectures.build("llama")
    engine = Engine(model)
    assert list(engine.every_token([])) == []
    assert engine.states([]) == []
    with torch.no_grad():
        model.get_input_embeddings().weight[61] = float("nan")
    with pytest.raises(WorldError, match="row 3"):
        list(engine.every_token(TEXTS))
    with pytest.raises(WorldError, match="row 3"):
        engine.states(TEXTS)
