"""Vector files with something wrong in them: refused with the file's name, never applied as they are."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from affectlab.errors import UserError
from affectlab.steering import files
from affectlab.steering.controls import shuffled
from affectlab.steering.subject import Subject
from affectlab.steering.vectors import EmotionVectors

Change = Callable[[dict[str, Any], dict[str, Any]], None]


def _drop(*keys: str) -> Change:
    def change(meta: dict[str, Any], tensors: dict[str, Any]) -> None:
        for key in keys:
            (meta if key in meta else tensors).pop(key)

    return change


def _times(name: str, factor: float) -> Change:
    def change(_meta: dict[str, Any], tensors: dict[str, Any]) -> None:
        tensors[name] = (tensors[name] * factor).astype(np.float32)

    return change


def _cut(name: str) -> Change:
    def change(_meta: dict[str, Any], tensors: dict[str, Any]) -> None:
        tensors[name] = np.ascontiguousarray(tensors[name][..., :1])

    return change


def _meta(**fields: Any) -> Change:
    return lambda meta, _tensors: meta.update(fields)


def _inside(part: str, **fields: Any) -> Change:
    return lambda meta, _tensors: meta[part].update(fields)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (_times("unit", 5.0), "not of length 1"),
        (_times("unit", 0.0), "not of length 1"),
        (_times("unit", float("nan")), "not finite"),
        (_times("norms", -1.0), "below 0"),
        (_times("norms", float("nan")), "not finite"),
        (_times("token_norms", -1.0), "not above 0"),
        (_cut("norms"), "shape"),
        (_cut("token_norms"), "shape"),
        (_drop("unit"), "damaged"),
        (_drop("provenance"), "damaged"),
        (_drop("format"), "format None"),
        (_drop("model"), "damaged"),
        (_meta(emotions=["anger"] * 3), "one name"),
        (_meta(provenance={"method": "pca", "future": 1}), "newer affectlab"),
        (_meta(format="1"), "format '1'"),
        (_meta(emotions=[5, "fear", "joy"]), r"damaged.*Expected `str`, got `int` - at `\$\.emotions\[0\]`"),
        (_meta(emotions="abc"), "damaged"),
        (_meta(layers=[0.5, 1.5, 2.5, 3.5, 4.5, 5.5]), "damaged"),
        (_meta(later=1), "newer affectlab"),
        (_inside("provenance", method=None), "damaged"),
        (_inside("provenance", left_out=3), "damaged"),
        (_inside("model", layer_paths=[]), "6 layers and 0 paths"),
        (_inside("activations", labels=["joy"] * 18), "other emotions"),
        (_inside("activations", labels=["joy"] * 3), "3 labels"),
        (_inside("activations", left_out={"x": "y"}), "damaged"),
        (_inside("quality", warnings=3), "damaged"),
        (_cut("activations"), "another width"),
        (_times("activations", float("nan")), "hidden states are not finite"),
        (_cut("quality.accuracy"), "quality is of other layers"),
        (_cut("quality.stability"), "quality is of other layers"),
        (_times("quality.accuracy", float("nan")), "quality is not finite"),
    ],
)
def test_what_is_wrong_is_said(vectors: EmotionVectors, tmp_path: Path, change: Change, said: str) -> None:
    path = tmp_path / "v.safetensors"
    files.save(vectors, path)
    from safetensors import safe_open

    with safe_open(str(path), framework="numpy") as file:
        meta = json.loads(file.metadata()["affectlab"])
    tensors = load_file(str(path))
    change(meta, tensors)
    save_file(tensors, str(path), metadata={"affectlab": json.dumps(meta)})
    with pytest.raises(UserError, match=said) as raised:
        files.load(path)
    assert "v.safetensors" in str(raised.value)


@pytest.mark.parametrize("text", ["[]", "{}", "3"])
def test_metadata_of_another_kind(tmp_path: Path, text: str) -> None:
    save_file({"unit": np.ones(2, np.float32)}, str(tmp_path / "v"), metadata={"affectlab": text})
    with pytest.raises(UserError, match="format None"):
        files.load(tmp_path / "v")


def test_layers_ascend_and_suggestions_are_among_them(vectors: EmotionVectors) -> None:
    if len(vectors.layers) > 1:
        with pytest.raises(UserError, match="ascend"):
            replace(vectors, layers=tuple(reversed(vectors.layers)))
    with pytest.raises(UserError, match="no direction for"):
        vectors.suggesting([99])


def test_hand_made_vectors_go_by_the_name_a_condition_has(subject: Subject) -> None:
    model = subject.identity
    made = EmotionVectors.from_tensors({0: np.ones(model.width)}, model, "Happiness")
    assert made.emotions == ("joy",)
    with pytest.raises(UserError, match="token norms"):
        EmotionVectors.from_tensors({0: np.ones(model.width)}, model, "joy", np.ones(99, np.float32))
    for wrong in (3, ["a"] * model.n_layers):
        with pytest.raises(UserError, match="oken norms"):
            EmotionVectors.from_tensors({0: np.ones(model.width)}, model, "joy", wrong)  # type: ignore[arg-type]


def test_a_method_that_is_none_makes_no_control(vectors: EmotionVectors) -> None:
    for method in ("given", "xyz"):
        other = replace(vectors, provenance=replace(vectors.provenance, method=method))
        with pytest.raises(UserError, match=f"not found by '{method}': expected one of pca, mean_difference"):
            shuffled(other, 0)
