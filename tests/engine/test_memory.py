from __future__ import annotations

import os
from typing import Any

import pytest
import torch
from tests.engine import architectures

from affectlab.engine.memory import Past, Segment, _roomy_class
from affectlab.engine.stack import Pass, Stack


def drawn(*shape: int) -> Any:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(sum(shape)))


def test_a_cache_to_generate_with_grows_in_place_and_leaves_rows() -> None:
    keys, values = drawn(3, 2, 5, 4), drawn(3, 2, 5, 6)
    layer = _roomy_class()(keys, values, 2)
    place = layer.keys.data_ptr()
    new = drawn(3, 2, 1, 4), drawn(3, 2, 1, 6)
    found = layer.update(*new)
    assert torch.equal(found[0], torch.cat([keys, new[0]], 2))
    assert torch.equal(found[1], torch.cat([values, new[1]], 2))
    assert found[0].data_ptr() == place
    assert layer.get_seq_length() == 6
    assert layer.get_mask_sizes(1) == (7, 0)
    layer.reorder_cache(torch.tensor([2, 0]))
    last = drawn(2, 2, 1, 4), drawn(2, 2, 1, 6)
    found = layer.update(*last)
    assert torch.equal(found[0], torch.cat([torch.cat([keys, new[0]], 2)[[2, 0]], last[0]], 2))
    assert torch.equal(found[1], torch.cat([torch.cat([values, new[1]], 2)[[2, 0]], last[1]], 2))


def test_a_sliding_window_keeps_the_cache_of_transformers() -> None:
    stack = Stack(architectures.build("gemma3_text"))
    ids = torch.tensor([[60, 61, 62]])
    past = Past()
    step = Pass(ids, torch.ones_like(ids).bool(), torch.arange(3)[None])
    step.cache = past.cache(stack.config, 0, len(stack), per_lane=True, keep=True)
    stack.run(step)
    segment = Segment(step.mask, [layer.own for layer in step.cache.layers], 0, 1)
    grown = past.then(segment).grown(stack.config, 4)
    kinds = {type(layer).__name__ for layer in grown.layers if layer.is_sliding}
    assert kinds == {"DynamicSlidingWindowLayer"}
    assert {type(layer).__name__ for layer in grown.layers if not layer.is_sliding} <= {"RoomyLayer"}
    assert [layer.get_seq_length() for layer in grown.layers] == [3] * len(stack)


@pytest.mark.parametrize("before", [None, "0"])
def test_heads_share_keys_and_values_only_while_a_pass_runs(
    before: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Copies for every head are what transformers makes unless told otherwise; the numbers are the same to the bit."""
    name = "TRANSFORMERS_SDPA_FORCE_GQA"
    monkeypatch.delenv(name, raising=False)
    if before is not None:
        monkeypatch.setenv(name, before)
    model = architectures.build("llama")
    stack = Stack(model)
    seen = []
    handle = stack.layers[1].register_forward_hook(lambda *_: seen.append(os.environ.get(name)))
    ids = torch.tensor([[60, 61, 62, 63], [64, 65, 66, 67]])
    mask = torch.tensor([[False, True, True, True], [True] * 4])
    read = torch.tensor([0, 1]), torch.tensor([3, 3])
    found = stack.run(Pass(ids, mask, (mask.long().cumsum(-1) - 1).clamp(min=0), read=read)).logits
    assert seen == ["1"]
    assert os.environ.get(name) == before
    handle.remove()
    with torch.no_grad():
        plain = model(input_ids=ids, attention_mask=mask, position_ids=(mask.long().cumsum(-1) - 1).clamp(min=0))
    assert (found - plain.logits[:, -1]).abs().max() < 1e-5


def test_the_package_works_with_numpy_2() -> None:
    """[5] Some tools do not import on it."""
    import numpy as np

    assert int(np.__version__.split(".")[0]) >= 2
    from affectlab import engine, steering

    assert "Engine" in engine.__all__
    assert steering.__all__
