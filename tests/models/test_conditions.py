"""A local model put into conditions, on tiny random models."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch", reason="local models need torch")
pytest.importorskip("transformers", reason="local models need transformers")

from tests.support import tiny_models

from affectlab import steering
from affectlab.engine import ScoreRow
from affectlab.errors import UserError, WorldError
from affectlab.models import Ability, Message, ModelCard, ModelSettings, Request, Response, Sampling, Steerable
from affectlab.models.loading import Loaded
from affectlab.models.local import LocalModel

OPTIONS = (" joy", " fear", " anger")
CONDITIONS = ("neutral", "joy@3.0", "joy@1.0:raw:layers=1", "random@2.0:seed=1")


def _model(vectors: Path | None = None, family: str = "llama", sha256: str = "0" * 64) -> LocalModel:
    card = ModelCard("tiny", "tiny", {"sha256": sha256})
    loaded = Loaded(tiny_models.model(family), tiny_models.tokenizer(), card)
    return LocalModel(loaded, ModelSettings(vectors=vectors))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Vectors made by hand for the tiny model: joy at both layers."""
    draw = np.random.default_rng(3)
    model = _model()
    made = steering.EmotionVectors.from_tensors(
        {0: draw.normal(size=32), 1: draw.normal(size=32)}, model.subject.identity, "joy", np.ones(2, np.float32)
    )
    steering.save(made, tmp_path / "joy.safetensors")
    return tmp_path / "joy.safetensors"


def _ask(model: LocalModel, conditions: tuple[str, ...], **fields: Any) -> dict[tuple[str, str], Response]:
    requests = [
        Request(f"s{n}", "A", (Message("user", f"How does Ada feel? {n}"),), condition=condition, **fields)
        for condition in conditions
        for n in range(3)
    ]
    found: dict[tuple[str, str], Response] = {}
    for request, answer in model.respond(requests):
        assert isinstance(answer, Response)
        assert (request.item, request.condition) not in found
        found[request.item, request.condition] = answer
    assert len(found) == len(requests)
    return found


def test_conditions_together_are_conditions_one_by_one_and_the_engines_own(file: Path) -> None:
    model = _model(file)
    together = _ask(model, CONDITIONS, options=OPTIONS)
    applier = steering.Applier(steering.load(file), model.subject)
    for condition in CONDITIONS:
        alone = _ask(_model(file), (condition,), options=OPTIONS)
        for key, answer in alone.items():
            assert answer.logprobs == pytest.approx(together[key].logprobs, abs=1e-5)
        prompt = together["s0", condition].prompt
        assert prompt is not None
        ids = model._prompter.tokens(prompt)
        options = [model._prompter.option_tokens(option) for option in OPTIONS]
        states = [applier(condition).intervention]
        ((_, _, direct),) = model.subject.engine.score([ScoreRow(ids, options)], states)
        assert together["s0", condition].logprobs == pytest.approx(direct.tolist(), abs=1e-5)
    assert together["s0", "neutral"].logprobs != pytest.approx(together["s0", "joy@3.0"].logprobs, abs=1e-3)


def test_generated_texts_do_not_depend_on_what_else_is_asked(file: Path) -> None:
    sampling = Sampling(0.9, 1.0, 8, seed=5)
    together = _ask(_model(file), CONDITIONS, sampling=sampling)
    for condition in CONDITIONS:
        for key, answer in _ask(_model(file), (condition,), sampling=sampling).items():
            assert answer.text == together[key].text
    assert len({together["s0", condition].text for condition in CONDITIONS}) > 1


def test_what_a_manifest_records(file: Path) -> None:
    model = _model(file)
    assert isinstance(model, Steerable)
    assert model.abilities >= {Ability.STEER, Ability.HIDDEN}
    said = model.prepare(["joy@3.0", "joy@500.0"])
    assert said["vectors"]["file"] == "joy.safetensors"
    assert len(said["vectors"]["sha256"]) == 64
    assert said["vectors"]["method"] == "given"
    weak, strong = said["conditions"]["joy@3.0"], said["conditions"]["joy@500.0"]
    assert "add 3 × its direction" in weak["does"][0]
    assert 0 < weak["kl"] < strong["kl"]
    for state in (weak, strong):
        assert state["damaged"] == (
            state["kl"] > said["limits"]["kl"] or state["nll_rise"] > said["limits"]["nll_rise"]
        )


def test_own_vectors_are_extracted_once_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    first = _model().prepare(["anger@1.0"])
    (kept,) = (tmp_path / "affectlab" / "vectors").glob("*.safetensors")
    assert "First steering of tiny" in capsys.readouterr().err
    assert first["vectors"]["file"] == kept.name
    assert steering.load(kept).emotions == steering.EMOTIONS
    assert _model().prepare(["anger@1.0"]) == first
    assert capsys.readouterr().err == ""
    _model(sha256="1" * 64).prepare(["anger@1.0"])
    assert len(list((tmp_path / "affectlab" / "vectors").glob("*.safetensors"))) == 2


def test_a_cut_file_in_the_cache_is_made_anew_and_a_whole_one_needs_no_writing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    first = _model().prepare(["anger@1.0"])
    (kept,) = (tmp_path / "affectlab" / "vectors").glob("*.safetensors")
    kept.write_bytes(kept.read_bytes()[:3000])
    capsys.readouterr()
    assert _model().prepare(["anger@1.0"]) == first
    assert "damaged and made anew" in capsys.readouterr().err
    monkeypatch.setattr("affectlab.models.conditions.locked", None)  # nothing is locked where nothing is made
    assert _model().prepare(["anger@1.0"]) == first


def test_what_cannot_be_applied_says_so(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UserError, match="no vector of 'anger'"):
        _model(file).prepare(["anger@1.0"])
    with pytest.raises(UserError, match="belong to tiny and not to tiny"):
        _model(file, sha256="1" * 64).prepare(["joy@1.0"])
    with pytest.raises(UserError, match="There is no file"):
        _model(tmp_path / "none.safetensors").prepare(["joy@1.0"])
    (tmp_path / "taken").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "taken"))
    with pytest.raises(WorldError, match="Cannot keep emotion vectors"):
        _model().prepare(["anger@1.0"])
