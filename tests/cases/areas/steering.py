"""Cases of steering: what an intervention leaves behind, where states are read, which way a direction points."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import numpy as np
import torch

from affectlab.engine import Edit, Engine, GenerateRow, Generation, Intervention, ScoreRow
from affectlab.steering.conditions import third
from affectlab.steering.contrast import Activations, directions
from tests.support import tiny_models

PROMPT = (5, 9, 7, 11)


def check(case: Mapping[str, Any]) -> str | None:
    """``None`` when the case comes out right, else what was wrong."""
    given, right = case["input"], case["right_outcome"]
    if "after" in given:
        return _left_as_it_was()
    if "pca_first_component" in given:
        return _sign(given["pca_first_component"], right["value"])
    if "n_layers" in given:
        found = list(third("middle", given["n_layers"]))
        return None if found == right["layers"] else f"middle third is {found}"
    if "padding" in given:
        return _last_real_token(given["batch"])
    if "dtype" in given:
        return _stream_type()
    return "unknown shape"


def _push(layer: int = 0, size: float = 5.0) -> Intervention:
    return Intervention((Edit(layer, np.arange(32, dtype=np.float32), "add", size),))


def _left_as_it_was() -> str | None:
    model = tiny_models.model("llama")
    engine = Engine(model)
    rows = [GenerateRow(PROMPT, Generation(max_tokens=6))]
    ((_, _, before),) = engine.generate(rows)
    plain = _logits(model)

    def fails() -> None:
        for _ in engine.score([ScoreRow(PROMPT, [(3,), (4,)])], [_push()]):
            raise ZeroDivisionError

    with suppress(ZeroDivisionError):
        fails()
    next(iter(engine.generate(rows, [_push()])))
    if any(module._forward_hooks or module._forward_pre_hooks for module in model.modules()):
        return "hooks are left"
    if not torch.equal(plain, _logits(model)):
        return "the model's output changed"
    ((_, _, after),) = engine.generate(rows)
    return None if after.ids == before.ids else "the second generation is steered"


def _logits(model: Any) -> Any:
    with torch.no_grad():
        return model(input_ids=torch.tensor([PROMPT]), use_cache=False).logits


def _sign(component: list[float], right: list[float]) -> str | None:
    """States of an emotion and of others that lie apart along the component, whichever way it points."""
    apart = np.array(right, np.float32)
    along = np.array(component, np.float32)
    states = [apart + spread * along for spread in (-0.3, 0.1, 0.2)] + [spread * along for spread in (-0.2, 0.0, 0.2)]
    taken = Activations(np.array(states, np.float32)[:, None], ("joy",) * 3 + ("fear",) * 3, tuple("abcdef"))
    for method in ("pca", "mean_difference"):
        found = directions(taken, method)
        direction = found.unit[found.emotions.index("joy"), 0]
        if not np.allclose(direction, right, atol=1e-5):
            return f"{method} gives {direction.tolist()}"
    return None


def _last_real_token(texts: list[str]) -> str | None:
    tokenizer = tiny_models.tokenizer()
    engine = Engine(tiny_models.model("llama"))
    rows = [tokenizer(text, add_special_tokens=False)["input_ids"] for text in texts]
    together = engine.hidden(rows)
    alone = np.concatenate([engine.hidden([row]) for row in rows])
    return None if np.allclose(together, alone, rtol=1e-5, atol=1e-5) else "states depend on the batch's padding"


def _stream_type() -> str | None:
    model = tiny_models.model("llama").to(torch.bfloat16)
    seen: set[torch.dtype] = set()
    model.model.norm.register_forward_pre_hook(lambda _module, inputs: seen.add(inputs[0].dtype))
    for _ in Engine(model).score([ScoreRow(PROMPT, [(3,)])], [_push()]):
        pass
    return None if seen == {torch.bfloat16} else f"the stream is {seen}"
