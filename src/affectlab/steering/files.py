"""Emotion vectors on disk: one safetensors file, and control vectors in GGUF for llama.cpp and repeng."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from affectlab.errors import UserError, WorldError
from affectlab.replacing import replacing
from affectlab.steering.contrast import Activations, Floats
from affectlab.steering.quality import Quality
from affectlab.steering.subject import ModelIdentity
from affectlab.steering.vectors import EmotionVectors, Provenance

FORMAT = 1
"""Version of the file format."""

INDEX_BASE = 0
"""Layer 0 is the output of the first block, never the embeddings."""

_KEY = "affectlab"


def save(vectors: EmotionVectors, path: Path | str) -> None:
    """Write one safetensors file; whole or not at all.

    Raises:
        UserError: When something other than a file is there.
        WorldError: When it cannot be written.
    """
    from safetensors.numpy import save as serialised

    tensors = {"unit": vectors.unit, "norms": vectors.norms, "cosines": vectors.cosines}
    meta: dict[str, Any] = {
        "format": FORMAT,
        "index_base": INDEX_BASE,
        "emotions": vectors.emotions,
        "layers": vectors.layers,
        "model": vectors.model.to_dict(),
        "provenance": asdict(vectors.provenance),
    }
    if vectors.token_norms is not None:
        tensors["token_norms"] = vectors.token_norms
    if vectors.quality is not None:
        tensors["quality.accuracy"] = vectors.quality.accuracy
        if vectors.quality.stability is not None:
            tensors["quality.stability"] = vectors.quality.stability
        scalars = ("chance", "folds", "resamples", "warnings")
        meta["quality"] = {name: getattr(vectors.quality, name) for name in scalars}
    if vectors.activations is not None:
        tensors["activations"] = vectors.activations.hidden
        meta["activations"] = {
            "labels": vectors.activations.labels,
            "groups": vectors.activations.groups,
            "left_out": dict(vectors.activations.left_out),
        }
    data = serialised(
        {name: np.ascontiguousarray(tensor, dtype=np.float32) for name, tensor in tensors.items()},
        metadata={_KEY: json.dumps(meta, ensure_ascii=False, sort_keys=True)},
    )
    with _replacing(Path(path)) as part:
        part.write_bytes(data)


def load(path: Path | str, model: ModelIdentity | None = None) -> EmotionVectors:
    """Read a file that :func:`save` wrote.

    Args:
        path: The file.
        model: What it must belong to; ``None`` to look at it without a model.

    Raises:
        UserError: When it is missing, is no vector file, is of another format, counts layers otherwise, or belongs to
            another model.
    """
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(str(path), framework="numpy") as file:
            meta = json.loads((file.metadata() or {}).get(_KEY, "null"))
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - not a mapping
    except FileNotFoundError:
        raise UserError(f"There is no file {path}. Make one: affectlab vectors extract --out {path}") from None
    except (SafetensorError, OSError, ValueError) as error:
        if _is_gguf(Path(path)):
            raise UserError(
                f"{path} is a GGUF file, for llama.cpp and repeng; name the file of affectlab vectors extract that it "
                "was exported from."
            ) from error
        raise UserError(f"{path} is not a whole safetensors file: {error}") from error
    if meta is None:
        raise UserError(f"{path} is no file of emotion vectors: it has no affectlab metadata.")
    if not isinstance(meta, dict) or meta.get("format") != FORMAT:
        found_format = meta.get("format") if isinstance(meta, dict) else None
        raise UserError(f"{path} has format {found_format!r}; this affectlab reads format {FORMAT}. Update affectlab.")
    if meta.get("index_base") != INDEX_BASE:
        raise UserError(
            f"{path} counts layers from {meta.get('index_base')}; affectlab counts blocks from {INDEX_BASE}, so every "
            "vector would land in another layer. Extract again."
        )
    try:
        found = _from_parts(meta, tensors)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise UserError(
            f"{path} is a damaged file of emotion vectors, or of a newer affectlab ({error}). Extract again."
        ) from error
    except UserError as error:
        raise UserError(f"{path}: {error}") from error
    if model is not None:
        found.check(model)
    return found


def export_gguf(vectors: EmotionVectors, emotion: str, path: Path | str, *, scaled: bool = False) -> int:
    """Write one emotion's vectors as a GGUF control vector.

    The file has architecture ``controlvector``, ``controlvector.model_hint`` and one float32 tensor ``direction.N`` for
    the output of block N, counted from 0 as in llama.cpp and repeng. llama.cpp refuses ``direction.0``, so block 0 is
    left out.

    Args:
        vectors: The vectors.
        emotion: Which one.
        path: File to write.
        scaled: Whether vectors have the norm they were found with; else norm 1.

    Returns:
        Number of layers written.

    Raises:
        UserError: When there is no such emotion, no layer but block 0, or something other than a file at ``path``.
        WorldError: When the file cannot be written.
    """
    import gguf

    place = vectors.index(emotion)
    layers = [layer for layer in vectors.layers if layer > 0]
    if not layers:
        raise UserError("There are vectors for block 0 only, and llama.cpp takes none for that block.")
    with _replacing(Path(path)) as part:
        writer = gguf.GGUFWriter(part, "controlvector")
        writer.add_string("controlvector.model_hint", vectors.model.architecture)
        writer.add_uint32("controlvector.layer_count", len(layers))
        for layer in layers:
            column = vectors.place(layer)
            length = vectors.norms[place, column] if scaled else np.float32(1)
            writer.add_tensor(f"direction.{layer}", (vectors.unit[place, column] * length).astype(np.float32))
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
    return len(layers)


class _Judged(msgspec.Struct, forbid_unknown_fields=True):
    """What metadata say of the quality."""

    chance: float
    folds: int
    resamples: int
    warnings: tuple[str, ...]


class _States(msgspec.Struct, forbid_unknown_fields=True):
    """What metadata say of the hidden states."""

    labels: tuple[str, ...]
    groups: tuple[str, ...]
    left_out: dict[str, int]


class _Meta(msgspec.Struct, forbid_unknown_fields=True):
    """What metadata say, each thing of its type."""

    format: int
    index_base: int
    emotions: tuple[str, ...]
    layers: tuple[int, ...]
    model: ModelIdentity
    provenance: Provenance
    quality: _Judged | None = None
    activations: _States | None = None


def _from_parts(meta: dict[str, Any], tensors: dict[str, Floats]) -> EmotionVectors:
    told = msgspec.convert(meta, _Meta)
    if unknown := meta["provenance"].keys() - asdict(told.provenance).keys():
        raise ValueError(f"unknown fields {', '.join(sorted(unknown))}")
    judged, states = told.quality, told.activations
    return EmotionVectors(
        emotions=told.emotions,
        layers=told.layers,
        unit=tensors["unit"],
        norms=tensors["norms"],
        cosines=tensors["cosines"],
        token_norms=tensors.get("token_norms"),
        model=told.model,
        provenance=told.provenance,
        quality=None
        if judged is None
        else Quality(
            accuracy=tensors["quality.accuracy"],
            stability=tensors.get("quality.stability"),
            chance=judged.chance,
            folds=judged.folds,
            resamples=judged.resamples,
            warnings=judged.warnings,
        ),
        activations=None
        if states is None
        else Activations(tensors["activations"], states.labels, states.groups, states.left_out),
    )


def _is_gguf(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(4) == b"GGUF"
    except OSError:
        return False


@contextmanager
def _replacing(path: Path) -> Iterator[Path]:
    try:
        with replacing(path) as part:
            yield part
    except OSError as error:
        raise WorldError(f"{path} cannot be written: {error.strerror or error}") from error
