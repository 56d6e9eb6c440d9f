"""[27] What a number type cannot hold is refused, and what is near its limit is said."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from tests.engine import architectures

from affectlab.engine import Edit, Engine, Intervention, ScoreRow
from affectlab.errors import UserError

ROWS = [ScoreRow(list(range(60, 71)), [[5]])]


def grown(factor: float, dtype: str) -> Any:
    """A llama whose first layer's output is longer by a factor than it was; the next ones normalise it."""
    model = architectures.build("llama", dtype=dtype)
    with torch.no_grad():
        model.model.embed_tokens.weight.mul_(factor)
    return model


def with_edit(engine: Engine, length: float, kind: Any = "add") -> list[Any]:
    """Scores with a change of a given length in layer 1."""
    v = np.zeros(architectures.WIDTH, np.float32)
    v[:4] = 0.5  # of length 1
    return list(engine.score(ROWS, [Intervention((Edit(1, v, kind, length),))]))


@pytest.mark.parametrize("name", ["gemma2", "gemma3_text", "gemma3"])
def test_gemma_in_float16_is_refused(name: str) -> None:
    with pytest.raises(UserError, match=r"^gemma\w+ in float16: .* 65,504\. Load it in bfloat16 or float32\.$"):
        Engine(architectures.build(name, dtype="float16"))


@pytest.mark.parametrize("name", ["gemma2", "gemma3_text"])
@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
def test_gemma_in_other_types_is_not(name: str, dtype: str) -> None:
    assert not any("65,504" in note for note in Engine(architectures.build(name, dtype=dtype)).report.notes)


def test_another_model_in_float16_is_warned_about_only_when_its_outputs_come_near_the_limit() -> None:
    calm = Engine(architectures.build("llama", dtype="float16"))
    assert not any("65,504" in note for note in calm.report.notes)
    # Its embeddings have a standard deviation of 3 x 0.02: they are about 0.06 x sqrt(32) x 50,000 = 17,000 long, where
    # an eighth of 65,504 is 8,188.
    risky = Engine(grown(50_000, "float16"))
    (note,) = [note for note in risky.report.notes if "65,504" in note]
    assert "may overflow. Use bfloat16 or float32." in note
    assert not any("hold" in note for note in Engine(grown(50_000, "bfloat16")).report.notes)


def test_a_model_whose_outputs_overflow_on_a_short_text_is_refused() -> None:
    model = architectures.build("llama", dtype="float16")
    with torch.no_grad():
        for weight in model.model.layers[2].mlp.parameters():
            weight.mul_(500)
    with pytest.raises(UserError, match="llama in float16: layer 2 puts out numbers that are not finite"):
        Engine(model)


def test_a_steered_norm_beyond_the_largest_number_is_refused() -> None:
    engine = Engine(grown(50_000, "float16"))
    longest = 65504 - engine._room[1]
    assert 8188 < longest < 60_000
    # The change alone would fit; with the output it is added to it would not.
    with pytest.raises(UserError, match=r"layer 1: a change of length .* Use a smaller amount, bfloat16 or float32"):
        with_edit(engine, 65504 - longest + 100)
    with pytest.raises(UserError, match="a change of length"):
        with_edit(engine, -65504, "clamp")
    with_edit(engine, 65504 - longest - 100)
    with_edit(engine, 65504, "project_out")
    with_edit(Engine(grown(50_000, "bfloat16")), 65504)


def test_edits_of_one_layer_count_together_and_those_of_two_layers_do_not() -> None:
    engine = Engine(architectures.build("llama", dtype="float16"))
    v = np.zeros(architectures.WIDTH, np.float32)
    v[0] = 1
    half = 0.6 * engine._room[1]
    list(engine.score(ROWS, [Intervention((Edit(1, v, amount=half), Edit(2, v, amount=-half)))]))
    with pytest.raises(UserError, match="layer 1: a change of length"):
        list(engine.score(ROWS, [Intervention((Edit(1, v, amount=half), Edit(1, v, amount=-half)))]))
