"""How vector files are written, and what other tools read of them."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from affectlab.errors import UserError, WorldError
from affectlab.steering import files
from affectlab.steering.subject import Subject
from affectlab.steering.vectors import EmotionVectors


def test_writers_of_one_file_do_not_get_into_each_other_s_way(
    vectors: EmotionVectors, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second writer begins and ends while the first one writes: the file is whole after either, and no part stays."""
    path = tmp_path / "toy.safetensors"
    write = Path.write_bytes

    def slow(self: Path, data: bytes) -> int:
        monkeypatch.undo()
        half = write(self, data[: len(data) // 2])
        files.save(vectors, path)
        assert files.load(path).emotions == vectors.emotions
        assert self.stat().st_size == half
        return write(self, data)

    monkeypatch.setattr(Path, "write_bytes", slow)
    files.save(vectors.suggesting((1,)), path)
    assert files.load(path).provenance.suggested_layers == (1,)
    assert [entry.name for entry in tmp_path.iterdir()] == ["toy.safetensors"]


def test_a_vector_file_may_be_a_link_and_takes_the_place_of_nothing_but_a_file(
    vectors: EmotionVectors, tmp_path: Path
) -> None:
    file, link, pipe = (tmp_path / name for name in ("v.safetensors", "link", "pipe"))
    files.save(vectors, file)
    link.symlink_to(file)
    os.mkfifo(pipe)
    files.save(vectors.suggesting((1,)), link)
    assert link.is_symlink()
    assert files.load(file).provenance.suggested_layers == (1,)
    for write in (lambda: files.save(vectors, pipe), lambda: files.export_gguf(vectors, "joy", pipe)):
        with pytest.raises(UserError, match="pipe is no regular file"):
            write()
    assert pipe.is_fifo()


def test_gguf_as_llama_cpp_and_repeng_read_it(vectors: EmotionVectors, tmp_path: Path) -> None:
    """What their loaders look at: architecture, model hint, float32 tensors ``direction.N`` of one dimension, N > 0."""
    import gguf

    path = tmp_path / "anger.gguf"
    assert files.export_gguf(vectors, "anger", path) == 5
    reader = gguf.GGUFReader(path)
    read = {name: reader.get_field(name) for name in ("general.architecture", "controlvector.model_hint")}
    texts = {name: str(bytes(field.parts[-1]), "utf-8") for name, field in read.items() if field is not None}
    assert texts == {"general.architecture": "controlvector", "controlvector.model_hint": "toy"}
    count = reader.get_field("controlvector.layer_count")
    assert count is not None
    assert int(count.parts[-1][0]) == 5
    assert [tensor.name for tensor in reader.tensors] == [f"direction.{layer}" for layer in range(1, 6)]
    for tensor, layer in zip(reader.tensors, range(1, 6), strict=True):
        assert tensor.tensor_type == gguf.GGMLQuantizationType.F32
        assert tensor.data.shape == (8,)
        np.testing.assert_array_equal(tensor.data, vectors.direction("anger", layer))
    files.export_gguf(vectors, "anger", path, scaled=True)
    with pytest.raises(UserError, match=r"anger\.gguf is a GGUF file, for llama\.cpp and repeng; name the file of"):
        files.load(path)
    first = gguf.GGUFReader(path).tensors[0].data
    np.testing.assert_allclose(first, vectors.direction("anger", 1) * vectors.norms[0, 1], rtol=1e-6)


def test_gguf_of_what_cannot_be_written(vectors: EmotionVectors, subject: Subject, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no vector of 'calm'"):
        files.export_gguf(vectors, "calm", tmp_path / "calm.gguf")
    only = EmotionVectors.from_tensors({0: np.ones(8)}, subject.identity)
    with pytest.raises(UserError, match="block 0 only"):
        files.export_gguf(only, "custom", tmp_path / "custom.gguf")
    with pytest.raises(WorldError, match="cannot be written"):
        files.export_gguf(vectors, "joy", tmp_path / "nowhere" / "joy.gguf")
    assert list(tmp_path.iterdir()) == []
