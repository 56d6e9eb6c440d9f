"""The plain way: one unpadded text at a time, no cache, a hook of a few lines. Shares no code with the engine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch

from affectlab.engine import Intervention


@contextmanager
def edited(model: Any, paths: Sequence[str], intervention: Intervention, prompt: int) -> Iterator[None]:
    """A model under an intervention; the first ``prompt`` tokens of what it is fed are the prompt."""

    opened: list[Any] = []

    def look(_module: Any, _args: Any, out: Any) -> None:
        gate = intervention.gate
        assert gate is not None
        u = torch.from_numpy(gate.vector) / float(np.linalg.norm(gate.vector))
        projection = (out[0] if isinstance(out, tuple) else out)[0] @ u
        opened[:] = [projection >= gate.threshold if gate.side == "above" else projection < gate.threshold]

    def hook(edits: list[Any]) -> Any:
        def run(_module: Any, _args: Any, out: Any) -> Any:
            before = out[0] if isinstance(out, tuple) else out
            hidden = before.clone()
            where = {"all": slice(None), "prompt": slice(prompt), "generated": slice(prompt, None)}
            at = where[intervention.positions]
            for edit in edits:
                h, v = hidden[:, at], torch.from_numpy(edit.vector)
                u = v / v.norm()
                if edit.kind == "add":
                    new = h + edit.amount * v
                elif edit.kind == "add_keep_norm":
                    new = torch.nn.functional.normalize(h + edit.amount * v, dim=-1) * h.norm(dim=-1, keepdim=True)
                elif edit.kind == "project_out":
                    new = h - torch.outer((h @ u)[0], u)[None]
                else:
                    new = h - torch.outer((h @ u)[0] - edit.amount, u)[None]
                hidden[:, at] = new
            if opened:
                hidden = torch.where(opened[0][None, :, None], hidden, before)
            return (hidden, *out[1:]) if isinstance(out, tuple) else hidden

        return run

    handles = []
    if intervention.gate is not None:
        handles.append(model.get_submodule(paths[intervention.gate.layer]).register_forward_hook(look))
    for layer in {edit.layer for edit in intervention.edits}:
        edits = [edit for edit in intervention.edits if edit.layer == layer]
        handles.append(model.get_submodule(paths[layer]).register_forward_hook(hook(edits)))
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def logits(model: Any, ids: Sequence[int], inputs: Mapping[str, Any] | None = None) -> Any:
    """``[token, vocabulary]``; with what images became, where types of tokens go on with 0."""
    given = dict(inputs or {})
    for key, value in given.items():
        if "token_type" in key:
            given[key] = torch.tensor([value[0].tolist() + [0] * (len(ids) - value.shape[1])])
    with torch.no_grad():
        return model(input_ids=torch.tensor([ids]), use_cache=False, **given).logits[0]


def scores(
    model: Any,
    paths: Sequence[str],
    prompt: Sequence[int],
    options: Sequence[Sequence[int]],
    one: Intervention,
    inputs: Mapping[str, Any] | None = None,
) -> list[float]:
    """Summed log-probabilities of options."""
    found = []
    for option in options:
        with edited(model, paths, one, len(prompt)):
            logprobs = logits(model, [*prompt, *option], inputs).log_softmax(-1)
        found.append(sum(float(logprobs[len(prompt) - 1 + n, token]) for n, token in enumerate(option)))
    return found


def greedy(
    model: Any,
    paths: Sequence[str],
    prompt: Sequence[int],
    length: int,
    one: Intervention,
    inputs: Mapping[str, Any] | None = None,
) -> list[int]:
    """New tokens, the whole text fed again for each."""
    ids = list(prompt)
    for _ in range(length):
        with edited(model, paths, one, len(prompt)):
            ids.append(int(logits(model, ids, inputs)[-1].argmax()))
    return ids[len(prompt) :]


def hidden(model: Any, paths: Sequence[str], ids: Sequence[int], inputs: Mapping[str, Any] | None = None) -> Any:
    """Layer outputs ``[layer, token, width]``."""
    found: dict[int, Any] = {}
    handles = []
    for layer, path in enumerate(paths):

        def keep(_module: Any, _args: Any, out: Any, layer: int = layer) -> None:
            found[layer] = (out[0] if isinstance(out, tuple) else out)[0]

        handles.append(model.get_submodule(path).register_forward_hook(keep))
    logits(model, ids, inputs)
    for handle in handles:
        handle.remove()
    return torch.stack([found[layer] for layer in range(len(paths))])


def without_sinks(states: Any) -> Any:
    """Means ``[layer, width]`` of ``[layer, token, width]`` over the tokens that are no sinks, one layer at a time."""
    means = []
    for layer in states[:, 1:]:
        lengths = sorted(float(one.norm()) for one in layer)
        most = 10 * lengths[(len(lengths) - 1) // 2]
        means.append(torch.stack([one for one in layer if float(one.norm()) <= most]).mean(0))
    return torch.stack(means)
