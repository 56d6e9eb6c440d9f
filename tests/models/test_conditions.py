"""A local model put into conditions, on tiny random models."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
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
from affectlab.models.conditions import Conditions
from affectlab.models.loading import Loaded
from affectlab.models.local import LocalModel
from affectlab.steering import load_stimuli

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


def _prepare(model: LocalModel, kept: Path, *conditions: str, recorded: Any = MappingProxyType({})) -> dict[str, Any]:
    """What the manifest records; goes through JSON, as a run's manifest does."""
    found: dict[str, Any] = json.loads(json.dumps(model.prepare(conditions, kept / "vectors.safetensors", recorded)))
    return found


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


def test_steering_generated_tokens_only_moves_no_option_and_is_refused(file: Path) -> None:
    """Options of one token would come out as under neutral, longer ones not: their lengths, not the emotion."""
    states = ("neutral", "joy@3.0:positions=generated")
    assert _ask(_model(file), states)
    with pytest.raises(UserError, match=r"'joy@3\.0:positions=generated'.*item 's0' \(step 'A'\) scores options"):
        _ask(_model(file), states, options=OPTIONS)


def test_generated_texts_do_not_depend_on_what_else_is_asked(file: Path) -> None:
    sampling = Sampling(0.9, 1.0, 8, seed=5)
    together = _ask(_model(file), CONDITIONS, sampling=sampling)
    for condition in CONDITIONS:
        for key, answer in _ask(_model(file), (condition,), sampling=sampling).items():
            assert answer.text == together[key].text
    assert len({together["s0", condition].text for condition in CONDITIONS}) > 1


def test_what_a_manifest_records(file: Path, tmp_path: Path) -> None:
    model = _model(file)
    assert isinstance(model, Steerable)
    assert Ability.STEER in model.abilities
    said = _prepare(model, tmp_path, "joy@3.0", "joy@500.0")
    assert said["vectors"]["file"] == "joy.safetensors"
    assert len(said["vectors"]["sha256"]) == 64
    assert said["vectors"]["method"] == "given"
    weak, strong = said["conditions"]["joy@3.0"], said["conditions"]["joy@500.0"]
    assert "add 3 × its direction" in weak["does"][0]
    assert 0 < weak["kl"] < strong["kl"]
    assert 0 < weak["kl_error"] < weak["kl"]
    for state in (weak, strong):
        assert state["damaged"] == (
            state["kl"] > said["limits"]["kl"] or state["nll_rise"] > said["limits"]["nll_rise"]
        )


def test_own_vectors_are_extracted_once_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr("affectlab.models.conditions._BETWEEN_LINES", 0.0)
    first = _prepare(_model(), tmp_path, "anger@1.0")
    (kept,) = (tmp_path / "affectlab" / "vectors").glob("*.safetensors")
    said = capsys.readouterr().err
    assert said.startswith("First steering of tiny")
    assert "texts: 176 of 180" in said  # 16 at a time
    assert first["vectors"]["file"] == kept.name
    assert first["vectors"]["dtype"] == "float32"
    assert steering.load(kept).emotions == steering.EMOTIONS
    assert _prepare(_model(), tmp_path, "anger@1.0") == first
    assert capsys.readouterr().err == ""
    _prepare(_model(sha256="1" * 64), tmp_path, "anger@1.0")
    assert len(list((tmp_path / "affectlab" / "vectors").glob("*.safetensors"))) == 2


def test_a_cut_file_in_the_cache_is_made_anew_and_a_whole_one_needs_no_writing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    first = _prepare(_model(), tmp_path, "anger@1.0")
    (kept,) = (tmp_path / "affectlab" / "vectors").glob("*.safetensors")
    kept.write_bytes(kept.read_bytes()[:3000])
    left = kept.with_name(f".{kept.name}.{'0' * 32}.part")  # by a writer that was killed
    left.write_bytes(b"half")
    capsys.readouterr()
    assert _prepare(_model(), tmp_path, "anger@1.0") == first
    assert "damaged and made anew" in capsys.readouterr().err
    assert not left.exists()
    monkeypatch.setattr("affectlab.models.conditions.locked", None)  # nothing is locked where nothing is made
    assert _prepare(_model(), tmp_path, "anger@1.0") == first


def test_a_run_keeps_what_its_conditions_rest_on_and_no_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    plain = _prepare(_model(), tmp_path, "anger@1.0")["vectors"]["sha256"]
    kept = steering.load(tmp_path / "vectors.safetensors")
    assert kept.activations is None
    assert kept.quality is not None
    assert kept.sha256 == plain
    permuted = _prepare(_model(), tmp_path, "anger@1.0", "permuted:joy@1.0")["vectors"]["sha256"]
    assert steering.load(tmp_path / "vectors.safetensors").activations is not None
    assert permuted != plain


def test_a_run_goes_on_with_what_it_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    """The cache is gone; nothing is extracted or measured again, and what is done is the same, doses too."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    wanted = ("anger@1.0", "joy@0.05:kl:layers=all")
    begun = _model()
    recorded = _prepare(begun, tmp_path, *wanted)
    before = _ask(begun, wanted, options=OPTIONS)
    shutil.rmtree(tmp_path / "cache")
    capsys.readouterr()
    again = _model()
    monkeypatch.setattr("affectlab.models.conditions.coherence", None)
    monkeypatch.setattr("affectlab.steering.apply.find_dose", None)
    assert _prepare(again, tmp_path, *wanted, recorded=recorded) == recorded
    assert not (tmp_path / "cache").exists()
    assert capsys.readouterr().err == ""
    after = _ask(again, wanted, options=OPTIONS)
    assert {key: one.logprobs for key, one in after.items()} == {key: one.logprobs for key, one in before.items()}


def test_a_named_file_that_is_gone_is_not_missed_and_another_one_is_noticed(
    file: Path, tmp_path: Path, capsys: Any
) -> None:
    recorded = _prepare(_model(file), tmp_path, "joy@1.0")
    suggesting = steering.load(file).suggesting((1,))
    steering.save(suggesting, file)  # as validate --write does: no condition rests on it
    assert _prepare(_model(file), tmp_path, "joy@1.0", recorded=recorded) == recorded
    (tmp_path / "vectors.safetensors").unlink()
    assert _prepare(_model(file), tmp_path, "joy@1.0", recorded=recorded) == recorded
    assert (tmp_path / "vectors.safetensors").is_file()
    model = suggesting.model
    steering.save(steering.EmotionVectors.from_tensors({0: np.ones(32), 1: np.ones(32)}, model, "joy"), file)
    other = _prepare(_model(file), tmp_path, "joy@1.0", recorded=recorded)
    assert other["vectors"]["sha256"] != recorded["vectors"]["sha256"]
    capsys.readouterr()
    file.unlink()
    assert _prepare(_model(file), tmp_path, "joy@1.0", recorded=recorded) == recorded
    assert "joy.safetensors is gone: going on with the vectors that the run kept" in capsys.readouterr().err


def test_what_a_run_kept_and_is_damaged_is_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    """As where it is gone: what it was made from must give the same."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    kept = tmp_path / "vectors.safetensors"
    recorded = _prepare(_model(), tmp_path, "anger@1.0")
    cut = kept.read_bytes()[:100]
    kept.write_bytes(cut)
    capsys.readouterr()
    assert _prepare(_model(), tmp_path, "anger@1.0", recorded=recorded) == recorded
    assert "cannot be used: they are made anew, and must be the same" in capsys.readouterr().err
    assert steering.load(kept).sha256 == recorded["vectors"]["sha256"]
    kept.write_bytes(cut)
    with pytest.raises(UserError, match=r"There is no file \S+none"):
        _prepare(_model(tmp_path / "none.safetensors"), tmp_path, "anger@1.0", recorded=recorded)


@pytest.mark.parametrize("changed", ["dtype", "stimuli", "model", "tokenizer", "method", "rule"])
def test_a_models_own_vectors_are_kept_by_all_that_they_come_from(
    changed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another number type, other texts or weights, another way: other vectors, under another name in the cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    asked: list[Path] = []

    def looked_up(self: Conditions, path: Path) -> Any:
        asked.append(path)
        return "found"

    monkeypatch.setattr(Conditions, "_cached", looked_up)
    subject, stimuli = _model().subject, load_stimuli()
    Conditions(subject, None)._own()
    if changed == "dtype":
        subject = replace(subject, dtype="bfloat16")
    elif changed in ("model", "tokenizer"):
        other: dict[str, Any] = {changed: "f" * 64}
        subject = replace(subject, identity=replace(subject.identity, **other))
    elif changed == "stimuli":
        edited = replace(stimuli, texts=("An edited one.", *stimuli.texts[1:]))
        monkeypatch.setattr("affectlab.models.conditions.load_stimuli", lambda: edited)
    else:
        monkeypatch.setattr(f"affectlab.models.conditions._{changed.upper()}", "another")
    Conditions(subject, None)._own()
    assert len(set(asked)) == 2


def test_where_a_condition_means_the_suggested_layers_they_must_be_the_same(file: Path, tmp_path: Path) -> None:
    steering.save(steering.load(file).suggesting((1,)), file)
    recorded = _prepare(_model(file), tmp_path, "joy@1.0:layers=best")
    steering.save(steering.load(file).suggesting((0, 1)), file)
    other = _prepare(_model(file), tmp_path, "joy@1.0:layers=best", recorded=recorded)
    assert other["vectors"]["sha256"] != recorded["vectors"]["sha256"]


def test_what_cannot_be_applied_says_so(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UserError, match="no vector of 'anger'"):
        _prepare(_model(file), tmp_path, "anger@1.0")
    with pytest.raises(UserError, match=r"belong to another tiny than this one \(model: 0"):
        _prepare(_model(file, sha256="1" * 64), tmp_path, "joy@1.0")
    with pytest.raises(UserError, match="There is no file"):
        _prepare(_model(tmp_path / "none.safetensors"), tmp_path, "joy@1.0")
    (tmp_path / "taken").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "taken"))
    with pytest.raises(WorldError, match="Cannot keep emotion vectors"):
        _prepare(_model(), tmp_path, "anger@1.0")
