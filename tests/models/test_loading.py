"""Folders that hold something else than a model: each fault is told as what it is, and nothing is opened in part."""

from __future__ import annotations

import errno
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="local models need torch")
pytest.importorskip("transformers", reason="local models need transformers")

from tests.support import tiny_models

from affectlab.errors import UserError, WorldError
from affectlab.models import ModelSettings
from affectlab.models.loading import load_pretrained


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_models.save(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture
def folder(saved: Path, tmp_path: Path) -> Path:
    """A copy to be spoilt."""
    copy = tmp_path / "tiny"
    copy.mkdir()
    for file in saved.iterdir():
        (copy / file.name).write_bytes(file.read_bytes())
    return copy


def _open(folder: Path, **how: Any) -> Any:
    return load_pretrained(str(folder), ModelSettings(threads=1, **how))


def _config(folder: Path, **changes: Any) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | changes), encoding="utf-8")


def test_a_config_of_fewer_layers_is_not_a_smaller_model(folder: Path) -> None:
    _config(folder, num_hidden_layers=1)
    with pytest.raises(UserError, match=r"its weights have 2 layers and its config says 1: it would run without"):
        _open(folder)


def test_layers_that_predict_further_ahead_are_not_missed(folder: Path) -> None:
    _config(folder, num_hidden_layers=1, num_nextn_predict_layers=1)
    assert _open(folder).model.config.num_hidden_layers == 1


def test_layers_of_another_model_under_the_same_name_are_not_counted(folder: Path) -> None:
    """Weights that nothing here uses, a tower's for one, say nothing about this model's layers."""
    from safetensors.torch import load_file, save_file

    weights = load_file(folder / "model.safetensors")
    more = {"tower.layers.7.weight": weights["model.norm.weight"].clone()}
    save_file(weights | more, folder / "model.safetensors", metadata={"format": "pt"})
    assert _open(folder)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"hidden_size": 64},
            r"weights are of different models: \S+ is \[.*\] in the weights and \[.*\] by the config",
        ),
        ({"vocab_size": 100}, r"lm_head\.weight is \[400, 32\] in the weights and \[100, 32\] by the config"),
        ({"intermediate_size": 64}, r"mlp\.down_proj\.weight is \[32, 48\] in the weights and \[32, 64\]"),
        ({"hidden_size": "x"}, r"its config\.json cannot be loaded: Validation error for field 'hidden_size': .*int"),
        ({"hidden_size": None}, r"its config\.json cannot be loaded: Validation error for field 'hidden_size'"),
        ({"num_attention_heads": 0}, r"cannot be loaded: .*zero"),
    ],
    ids=str,
)
def test_a_config_that_does_not_describe_the_weights_is_told(changes: dict[str, Any], said: str, folder: Path) -> None:
    _config(folder, **changes)
    with pytest.raises(UserError, match=said):
        _open(folder)


@pytest.mark.parametrize(
    ("file", "part"),
    [("config.json", "its config.json cannot"), ("tokenizer_config.json", "its tokenizer cannot"),
     ("generation_config.json", "its weights cannot")],
)  # fmt: skip
def test_files_of_another_shape_are_told(file: str, part: str, folder: Path) -> None:
    (folder / file).write_text("[]", encoding="utf-8")
    with pytest.raises(UserError, match=f"tiny: {part} be loaded: .* It must be a causal language model"):
        _open(folder)


def test_a_folder_in_place_of_weights_is_told(folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    (folder / "model.safetensors").mkdir()
    with pytest.raises(UserError, match=r"model\.safetensors is no file, though its name is that of safetensors"):
        _open(folder)


def _ran_out_of(error: Callable[[], BaseException]) -> Any:
    def open_nothing(*_: Any, **__: Any) -> Any:
        raise error()

    return open_nothing


@pytest.mark.parametrize(
    "error",
    [
        MemoryError,
        lambda: RuntimeError("[enforce fail at alloc_cpu.cpp:127] DefaultCPUAllocator: can't allocate memory: 9 bytes"),
        lambda: OSError(errno.ENOMEM, "Cannot allocate memory"),
    ],
    ids=["Python's", "torch's", "the system's"],
)
def test_memory_that_runs_out_is_the_worlds(
    error: Callable[[], BaseException], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from transformers import AutoModelForCausalLM

    monkeypatch.setattr(AutoModelForCausalLM, "from_pretrained", _ran_out_of(error))
    with pytest.raises(WorldError, match=r"Memory ran out while \S+tiny was loaded"):
        _open(folder)


@pytest.mark.parametrize("device", ["meta", "hpu", "privateuseone", "mkldnn", "vulkan", "nonsense", ""])
def test_devices_that_nothing_runs_on_are_told(device: str, folder: Path) -> None:
    with pytest.raises(UserError, match=rf"Device '{device}': expected auto, map, cpu, cuda, cuda:1 and so on"):
        _open(folder, device=device)


def test_a_device_that_is_not_here_is_told(folder: Path) -> None:
    with pytest.raises(UserError, match=r"Device 'cuda:99' cannot be used here: torch \S+ finds no such one"):
        _open(folder, device="cuda:99")


def test_a_changed_template_is_another_model(folder: Path) -> None:
    """The weights' digest does not cover what a prompt is made of."""
    before = _open(folder).card.identity
    (template,) = folder.glob("chat_template*")
    template.write_text(template.read_text(encoding="utf-8").replace("assistant", "Ada"), encoding="utf-8")
    after = _open(folder).card.identity
    assert before["sha256"] == after["sha256"]
    assert before["tokenizer"] != after["tokenizer"]
