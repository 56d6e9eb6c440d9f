"""[37] Models spread over devices, as far as a machine without a second device can tell.

Numbers: accelerate keeps half of the layers, and the embedding, on disk, and brings each to the processor when it runs.
Places: tensors that hold no numbers but know their device, where torch refuses to compute with two of different ones.
Layers alternate between two devices besides the processor, so that every tensor of the engine must be where it is used.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from tests.engine import architectures
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_map

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
)
from affectlab.engine.generating import Continuation
from affectlab.engine.passes import Walk, lanes
from affectlab.engine.prefixes import forest
from affectlab.engine.stack import Learned, Pass, Stack
from affectlab.engine.texts import padded, positions_of, probe_texts

PROMPTS = [list(range(60, 90)), [*range(60, 80), 100, 101], [120, 121, 122]]
VECTOR = np.linspace(-1, 1, architectures.WIDTH).astype(np.float32)
SOME = [
    NEUTRAL,
    Intervention((Edit(1, VECTOR),)),
    Intervention((Edit(1, VECTOR, "clamp", 2.0), Edit(2, VECTOR, "project_out")), "all", Gate(0, VECTOR, 0.0)),
    Intervention((Edit(2, VECTOR, amount=-2.0), Edit(3, VECTOR, "add_keep_norm")), "generated"),
]


def on_disk(model: Any, layer_paths: tuple[str, ...], folder: Path) -> Any:
    """The model with every other layer and the embedding on disk."""
    accelerate = pytest.importorskip("accelerate", reason="device maps need accelerate")
    places = {path: ("cpu", "disk")[number % 2] for number, path in enumerate(layer_paths)}
    layers = layer_paths[0].rpartition(".")[0]

    def place(module: Any, before: str) -> None:
        for name, child in module.named_children():
            path = before + name
            if layers.startswith(path + "."):
                place(child, path + ".")
            elif path != layers:
                places[path] = "disk" if child is model.get_input_embeddings() else "cpu"

    place(model, "")
    return accelerate.dispatch_model(model, places, main_device="cpu", offload_dir=folder, force_hooks=True)


@pytest.mark.parametrize(
    "name",
    ["llama", "zamba2", *(pytest.param(one, marks=pytest.mark.slow) for one in ("gpt2", "gemma3_text", "qwen2_vl"))],
)
def test_layers_on_disk_give_what_the_whole_model_gives(name: str, tmp_path: Path) -> None:
    whole = Engine(architectures.build(name))
    spread = Engine(on_disk(architectures.build(name), whole.layer_paths, tmp_path))
    layers = [spread._stack.model.get_submodule(path) for path in spread.layer_paths]
    assert all({str(one.device) for one in layers[number].parameters()} == {"meta"} for number in (1, 3))
    assert (spread.report.notes, spread.report.sharing, spread.report.fork) == (whole.report.notes, True, True)
    assert str(spread._stack.device_of(1)) == "cpu"
    rows = [ScoreRow(prompt, [[100], [101, 102]]) for prompt in PROMPTS]
    wanted = {(row, number): found for row, number, found in whole.score(rows, SOME)}
    found = {(row, number): found for row, number, found in spread.score(rows, SOME)}
    assert max(float(np.abs(found[key] - wanted[key]).max()) for key in wanted) < 1e-5
    asked = [GenerateRow(prompt, Generation(3)) for prompt in PROMPTS]
    assert list(spread.generate(asked, SOME)) == list(whole.generate(asked, SOME))
    assert np.allclose(spread.hidden(PROMPTS), whole.hidden(PROMPTS), atol=1e-5)
    hooked = [module for module in spread._stack.model.modules() if module._forward_hooks]
    assert hooked == []
    assert all("forward" not in vars(layer) or hasattr(layer, "_hf_hook") for layer in layers)


class _Placed(TorchFunctionMode):
    """Makes tensors be on the device they were asked for; torch itself takes every number of processor for the same."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        made = func(*args, **(kwargs or {}))
        asked = (kwargs or {}).get("device")
        if func is torch.Tensor.to and len(args) > 1 and isinstance(args[1], str | torch.device):
            asked = args[1]
        if asked is not None and torch.is_tensor(made) and made.device != torch.device(asked):
            made = torch.zeros(made.shape, dtype=made.dtype, device=asked)
        return made


@contextmanager
def placed(name: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stack]:
    """A stack whose layers alternate between the devices cpu:1 and cpu:2, with norm and head on cpu:2."""
    model = architectures.build(name)
    plain = Stack(model)
    with FakeTensorMode() as mode, _Placed():

        def put(module: Any, device: str) -> None:
            for part in module.modules():
                for tensors in (part._parameters, part._buffers):
                    for key, tensor in tensors.items():
                        if tensor is not None:
                            fake = tensor if hasattr(tensor, "fake_mode") else mode.from_tensor(tensor)
                            moved = fake.detach().to(device)
                            is_weight = tensors is part._parameters
                            tensors[key] = torch.nn.Parameter(moved, requires_grad=False) if is_weight else moved

        def bring(device: str) -> Any:
            def here(value: Any) -> Any:
                return value.to(device) if torch.is_tensor(value) else value

            return lambda _module, args, kwargs: (tree_map(here, args), tree_map(here, kwargs))

        put(model, "cpu")
        tops = [*plain.layers]
        tops += [part for part in model.get_decoder().children() if "norm" in type(part).__name__.lower()]
        for number, module in enumerate([*tops[: len(plain)], *tops[len(plain) :], model.get_output_embeddings()]):
            device = f"cpu:{1 + number % 2}" if number < len(plain) else "cpu:2"
            put(module, device)
            module.register_forward_pre_hook(bring(device), with_kwargs=True)
        learned = plain.learned
        learned.devices = {layer: torch.device(f"cpu:{1 + layer % 2}") for layer in range(len(plain))}

        def known(_stack: Stack) -> Learned:
            return learned

        with monkeypatch.context() as patch:
            patch.setattr(Stack, "_probe", known)
            stack = Stack(model)
        yield stack


@pytest.mark.parametrize(
    ("name", "fork"),
    [
        ("llama", True),
        *(pytest.param(one, True, marks=pytest.mark.slow) for one in ("gemma3_text", "mamba2", "qwen2_vl")),
        pytest.param("llama", False, marks=pytest.mark.slow),
    ],
)
def test_every_tensor_is_where_it_is_used(name: str, fork: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    with placed(name, monkeypatch) as stack:
        texts = [tuple(2 * token for token in text) for text in probe_texts(architectures.VOCABULARY)]
        batches = 0
        for together in lanes(stack, SOME[:3], 9, fork=fork):
            walk = Walk(stack, together, 1000, lambda node: [len(node.tokens) - 1], keep=True)
            for batch in walk.run(forest(texts, 2 if name == "mamba2" else 3, pass_cost=0)):
                batches += 1
                where = [(layer % 2, state) for layer, state in enumerate(batch.past.segments[-1].layers)]
                pairs = [(place, one) for place, state in where if isinstance(state, tuple) for one in state]
                assert all(str(one.device) == f"cpu:{1 + place}" for place, one in pairs)
                count = len(batch.nodes) * len(together)
                one_more = torch.ones(count, 1, dtype=torch.bool)
                mask = torch.cat([batch.past.mask().repeat_interleave(len(together), 0), one_more], dim=1)
                writing = Continuation(stack, together, [], [], frozenset())
                made: Any = [SimpleNamespace(lane=lane) for _ in batch.nodes for lane in range(len(together))]
                lengths = torch.full((count,), mask.shape[1])
                logits = writing._next(made, one_more.long(), mask, lengths, batch.past.grown(stack.config, 1))
                assert logits.shape == (count, architectures.VOCABULARY)
        assert batches


def test_layers_are_read_where_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    with placed("llama", monkeypatch) as stack:
        ids, mask = padded([[60, 61, 62], [63]], stack.device, left=True)
        step = Pass(ids, mask, positions_of(mask), stop=3, captured=frozenset({0, 1, 2}))
        found = stack.run(step).outputs
        assert {layer: str(one.device) for layer, one in found.items()} == {0: "cpu:1", 1: "cpu:2", 2: "cpu:1"}


def test_a_delta_on_another_device_is_what_the_places_would_show(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test of places fails when a delta is not on its layer's device."""
    with placed("llama", monkeypatch) as stack:
        stack.learned.devices[1] = torch.device("cpu:1")
        (together,) = lanes(stack, SOME[:2], 9, fork=False)
        walk = Walk(stack, together, 1000, lambda _node: [])
        with pytest.raises(RuntimeError, match="same device"):
            list(walk.run(forest([(120, 122)], 1)))


def test_ids_go_where_an_embedding_on_disk_is_brought_to(tmp_path: Path) -> None:
    model = architectures.build("llama")
    paths = Engine(model, settings=EngineSettings(sharing=False)).layer_paths
    spread = on_disk(model, paths, tmp_path)
    assert str(spread.get_input_embeddings().weight.device) == "meta"
    assert str(Stack(spread).device) == "cpu"
