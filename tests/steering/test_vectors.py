from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.support.toy_subject import toy_subject

from affectlab import steering
from affectlab.errors import UserError, WorldError
from affectlab.steering import files
from affectlab.steering.coherence import NEUTRAL_TEXTS
from affectlab.steering.conditions import parse
from affectlab.steering.stimuli import Stimuli
from affectlab.steering.subject import ModelIdentity, Subject, read_activations, token_norms, tokenizer_digest
from affectlab.steering.vectors import EmotionVectors, extract


def test_extraction_finds_what_was_planted(vectors: EmotionVectors, subject: Subject, stimuli: Stimuli) -> None:
    assert vectors.emotions == ("anger", "fear", "joy")
    assert vectors.layers == (0, 1, 2, 3, 4, 5)
    # Emotion e is planted along number e of the stream: its contrast is (1, −1/2, −1/2) in some order.
    for number, emotion in enumerate(vectors.emotions):
        truth = np.full(3, -0.5)
        truth[number] = 1
        assert vectors.direction(emotion, 3)[:3] @ truth / np.linalg.norm(truth) > 0.95
    assert vectors.quality is not None
    assert vectors.quality.accuracy.min() == 1
    assert vectors.provenance.stimuli_sha256 == stimuli.sha256
    assert (vectors.provenance.method, vectors.provenance.token_rule) == ("pca", "last")
    said = "EmotionVectors(toy: anger, fear, joy; layers 0-5 × 8; pca; held-out accuracy 1.00 at layer 0)"
    assert repr(vectors) == said
    assert "<td>joy</td>" in vectors._repr_html_()
    assert extract(subject, stimuli, keep_activations=False).activations is None


def test_a_file_holds_everything(vectors: EmotionVectors, subject: Subject, tmp_path: Path) -> None:
    path = tmp_path / "toy.safetensors"
    suggesting = vectors.suggesting((2, 3))
    files.save(suggesting, path)
    found = files.load(path, subject.identity)
    for name in ("unit", "norms", "cosines", "token_norms"):
        np.testing.assert_array_equal(getattr(found, name), getattr(vectors, name))
    assert found.provenance == suggesting.provenance
    assert found.provenance.suggested_layers == (2, 3)
    assert found.model == subject.identity
    assert found.quality is not None
    assert vectors.quality is not None
    np.testing.assert_array_equal(found.quality.stability, vectors.quality.stability)
    assert replace(found.quality, accuracy=vectors.quality.accuracy, stability=vectors.quality.stability).warnings == ()
    assert found.activations is not None
    assert vectors.activations is not None
    np.testing.assert_array_equal(found.activations.hidden, vectors.activations.hidden)
    assert found.activations.labels == vectors.activations.labels
    assert found.activations.groups == vectors.activations.groups
    assert [entry.name for entry in tmp_path.iterdir()] == ["toy.safetensors"]


def test_another_model_is_refused(vectors: EmotionVectors, subject: Subject, tmp_path: Path) -> None:
    path = tmp_path / "toy.safetensors"
    files.save(vectors, path)
    other = replace(subject.identity, name="other", model="other weights", tokenizer="other words")
    with pytest.raises(UserError, match=r"to toy and not to other \(model: weights, not other weights; tokenizer"):
        files.load(path, other)
    assert files.load(path, replace(subject.identity, name="the same under another name")).emotions == vectors.emotions


def test_row_33_another_index_base_is_refused(vectors: EmotionVectors, tmp_path: Path) -> None:
    from safetensors import safe_open
    from safetensors.numpy import load_file, save_file

    path = tmp_path / "toy.safetensors"
    files.save(vectors, path)
    with safe_open(str(path), framework="numpy") as file:
        meta = json.loads(file.metadata()["affectlab"])
    for field, value, says in (("index_base", 1, "counts layers from 1"), ("format", 99, "format 99")):
        save_file(load_file(path), path, {"affectlab": json.dumps({**meta, field: value})})
        with pytest.raises(UserError, match=says):
            files.load(path)


def test_files_that_are_none(vectors: EmotionVectors, tmp_path: Path) -> None:
    from safetensors.numpy import save_file

    path = tmp_path / "toy.safetensors"
    with pytest.raises(UserError, match=r"There is no file .* affectlab vectors extract"):
        files.load(path)
    path.write_bytes(b"not a tensor in sight")
    with pytest.raises(UserError, match="not a whole safetensors file"):
        files.load(path)
    files.save(vectors, path)
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(UserError, match="not a whole safetensors file"):
        files.load(path)
    save_file({"x": np.ones(3, np.float32)}, path)
    with pytest.raises(UserError, match="no affectlab metadata"):
        files.load(path)
    with pytest.raises(WorldError, match="cannot be written"):
        files.save(vectors, tmp_path / "nowhere" / "toy.safetensors")


def test_vectors_made_by_hand(subject: Subject) -> None:
    given = {3: [0, 3, 0, 4, 0, 0, 0, 0], 1: np.eye(8)[2] * 2}
    made = EmotionVectors.from_tensors(given, subject.identity, "calm")
    assert (made.emotions, made.layers) == (("calm",), (1, 3))
    np.testing.assert_allclose(made.direction("calm", 3), [0, 0.6, 0, 0.8, 0, 0, 0, 0])
    assert made.norms.tolist() == [[2, 5]]
    with pytest.raises(UserError, match=r"no vector for layer 2; there are vectors for 1,3"):
        made.direction("calm", 2)
    with pytest.raises(UserError, match=r"no vector of 'clam'\. Did you mean calm"):
        made.direction("clam", 1)


def test_row_39_a_file_says_what_was_averaged_where_and_where_it_goes(
    vectors: EmotionVectors, subject: Subject, stimuli: Stimuli, tmp_path: Path
) -> None:
    """Site, token rule, template, number type and texts, of extracted vectors and of hand-made ones."""
    from safetensors import safe_open

    def written(made: EmotionVectors) -> dict[str, Any]:
        files.save(made, tmp_path / "v.safetensors")
        with safe_open(str(tmp_path / "v.safetensors"), framework="numpy") as file:
            found: dict[str, Any] = json.loads(file.metadata()["affectlab"])
        return found

    def asked_as(question: str, _prefill: str) -> tuple[int, ...]:
        return subject.plain(question.removesuffix(" How would you feel?"))

    half = replace(subject, dtype="bfloat16", asked=asked_as)
    asked = written(extract(half, stimuli, rule="template"))
    assert asked["provenance"]["token_rule"] == "template"
    assert asked["provenance"]["template"] == "{text} How would you feel? → I would feel"
    assert asked["provenance"]["dtype"] == "bfloat16"
    plain = written(vectors)
    assert plain["provenance"]["token_rule"] == "last"
    assert plain["provenance"]["template"] == ""
    assert plain["provenance"]["method"] == "pca"
    assert plain["provenance"]["stimuli_sha256"] == stimuli.sha256
    assert plain["layers"] == [0, 1, 2, 3, 4, 5]
    assert plain["index_base"] == 0
    assert plain["model"]["layer_paths"][2] == "layers.2"
    assert plain["model"]["tokenizer"] == "words"
    by_hand = written(EmotionVectors.from_tensors({3: np.ones(8)}, subject.identity, "calm"))
    assert by_hand["provenance"]["method"] == "given"
    assert by_hand["layers"] == [3]


def test_the_number_type_is_said(vectors: EmotionVectors) -> None:
    from affectlab.steering.apply import Applier

    half = replace(vectors, provenance=replace(vectors.provenance, dtype="bfloat16"))
    assert "; bfloat16; " in repr(half)
    assert Applier(half)("joy@1.0").explain().endswith(" Extracted in bfloat16.")
    assert "Extracted in" not in Applier(half)("random@1.0").explain()
    assert "Extracted in" not in Applier(vectors)("joy@1.0").explain()


def test_vectors_may_be_tensors_of_torch(subject: Subject) -> None:
    torch = pytest.importorskip("torch")
    row = torch.tensor([0, 3, 0, 4, 0, 0, 0, 0], dtype=torch.bfloat16, requires_grad=True)
    norms = torch.arange(1, 7, dtype=torch.bfloat16)
    made = EmotionVectors.from_tensors({3: row}, subject.identity, "calm", norms)
    np.testing.assert_allclose(made.direction("calm", 3), [0, 0.6, 0, 0.8, 0, 0, 0, 0], atol=1e-6)
    assert made.norms.tolist() == [[5]]
    assert made.token_norms is not None
    assert made.token_norms.tolist() == [4]  # of layer 3 alone, out of one for each of six layers


def test_what_conditions_need_and_its_digest(vectors: EmotionVectors) -> None:
    whole = vectors.suggesting((2,))

    def needed(*conditions: str) -> EmotionVectors:
        return whole.needed(map(parse, conditions))

    plain = needed("anger@1.0", "random@1.0", "prompt:joy")
    assert (plain.activations, plain.provenance.suggested_layers) == (None, ())
    assert needed("permuted:anger@1.0").activations is vectors.activations
    assert needed("anger@1.0:layers=best").provenance.suggested_layers == (2,)
    # Names, versions and quality decide nothing; numbers, labels and what they belong to do.
    renamed = replace(plain, model=replace(plain.model, name="other"), quality=None)
    assert renamed.sha256 == plain.sha256
    assert replace(plain, provenance=replace(plain.provenance, affectlab="9", stimuli="x")).sha256 == plain.sha256
    assert vectors.activations is not None
    assert vectors.token_norms is not None
    others = [
        replace(plain, norms=plain.norms * 2),
        replace(plain, unit=-plain.unit),
        replace(plain, cosines=plain.cosines * np.float32(0.5)),
        replace(plain, token_norms=vectors.token_norms * 2),
        replace(plain, token_norms=None),
        replace(plain, emotions=("fear", "anger", "joy")),
        replace(plain, model=replace(plain.model, model="others")),
        replace(plain, provenance=replace(plain.provenance, method="mean_difference")),
        plain.suggesting((1,)),
        replace(plain, activations=vectors.activations),
        replace(plain, activations=replace(vectors.activations, labels=vectors.activations.labels[::-1])),
        replace(plain, activations=replace(vectors.activations, groups=vectors.activations.groups[::-1])),
        replace(plain, activations=replace(vectors.activations, hidden=vectors.activations.hidden + 1)),
    ]
    assert len({one.sha256 for one in [plain, *others]}) == 1 + len(others)


@pytest.mark.parametrize("name", steering.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(steering, name) is not None


def test_extraction_says_how_far_it_is(subject: Subject, stimuli: Stimuli) -> None:
    told: list[tuple[str, int, int]] = []
    extract(subject, stimuli, progress=lambda *step: told.append(step))
    assert told[:2] == [("texts", 16, 18), ("texts", 18, 18)]
    assert told[2:] == [("resamples", done, 20) for done in range(1, 21)]


def test_everything_prints_in_one_line(vectors: EmotionVectors, subject: Subject) -> None:
    from affectlab.engine import ScoreRow
    from affectlab.steering.apply import Applier
    from affectlab.steering.contrast import directions

    assert vectors.activations is not None
    applier = Applier(vectors, subject)
    intervention = applier("joy@1.0:layers=all").intervention
    shown: list[object] = [vectors, subject, vectors.quality, directions(vectors.activations), applier, intervention]
    shown += [intervention.edits[0], ScoreRow(tuple(range(500)), [tuple(range(90))] * 9, "x"), vectors.activations]
    for one in shown:
        assert "\n" not in repr(one)
        assert len(repr(one)) < 250, repr(one)
    assert repr(subject) == "Subject(toy: toy, 6 layers × 8, float32)"
    assert repr(intervention) == "Intervention(6 edits of layers [0, 1, 2, 3, 4, 5] at all positions)"


@pytest.mark.parametrize(
    ("tensors", "says"),
    [
        ({}, "No vectors"),
        ({0: np.ones(7)}, r"shape \(7,\); expected \(8,\)"),
        ({0: np.zeros(8)}, "zero or not finite"),
        ({0: np.full(8, np.nan)}, "zero or not finite"),
        ({6: np.ones(8)}, "toy has no layer 6; its layers are 0 to 5"),
        ({-1: np.ones(8)}, "toy has no layer -1"),
        ({"a": np.ones(8)}, "Layer 'a' is no whole number"),
        ({0.5: np.ones(8)}, "Layer 0.5 is no whole number"),
        ({0: ["a"] * 8}, "other things than numbers"),
    ],
)
def test_vectors_made_wrong(subject: Subject, tensors: dict[Any, Any], says: str) -> None:
    with pytest.raises(UserError, match=says):
        EmotionVectors.from_tensors(tensors, subject.identity)


WORDS = ("…", "a", "b", "c")
EMBEDDINGS = np.array([[0, 1], [2, 0], [0, 4], [6, 0]], dtype=float)


def _reader(sink: float = 1.0) -> Subject:
    return toy_subject(WORDS, EMBEDDINGS, np.zeros((4, 2)), n_layers=2, sink=sink)


def _pairs(*texts: str) -> Stimuli:
    labels = ("joy", "joy", "fear", "fear")
    return Stimuli(texts, labels, ("1", "2", "3", "4"))


def test_token_rules() -> None:
    """Row 35: the mean is over a text's own tokens, without the first, which is a sink."""
    texts = _pairs("a b c", "b a", "c b b", "a c")
    last = read_activations(_reader(), texts, "last").hidden[:, 0]
    assert last.tolist() == [[6, 0], [2, 0], [0, 4], [6, 0]]
    # (b + c) / 2, a, (b + b) / 2, c; the first token's state, 1000 times its embedding, has no part in it.
    mean = read_activations(_reader(sink=1000), texts, "mean").hidden[:, 0]
    np.testing.assert_allclose(mean, [[3, 2], [2, 0], [0, 4], [6, 0]], atol=1e-2)
    # The template's answer ends in "feel", a word the toy does not know: token 0.
    template = read_activations(_reader(), texts, "template").hidden[:, 0]
    assert template.tolist() == [[0, 1]] * 4
    asked: list[tuple[str, str]] = []
    heard = replace(_reader(), asked=lambda question, opening: asked.append((question, opening)) or (0, 1))  # type: ignore[func-returns-value]
    read_activations(heard, texts, "template")
    assert asked[0] == ("a b c How would you feel?", "I would feel")
    with pytest.raises(UserError, match="'first': expected one of last, mean, template"):
        read_activations(_reader(), texts, "first")  # type: ignore[arg-type]


def test_row_f1_one_token_texts_are_counted() -> None:
    texts = Stimuli(("a b", "b a", "c b", "a c", "a"), ("joy", "joy", "fear", "fear", "joy"), tuple("12345"))
    found = read_activations(_reader(sink=1000), texts)
    assert found.left_out == {"one token": 1}
    vectors = extract(_reader(sink=1000), texts, "mean_difference")
    assert vectors.provenance.left_out == {"one token": 1}


def test_texts_longer_than_the_context_are_counted_and_an_emotion_of_them_alone_is_said() -> None:
    reader = toy_subject(WORDS, EMBEDDINGS, np.zeros((4, 2)), n_layers=2, context=3)
    texts = Stimuli(("a b", "b a", "c b a c", "a c", "a"), ("joy", "joy", "fear", "fear", "joy"), tuple("12345"))
    with pytest.raises(UserError, match=r"Too few .*: fear\. Left out: 1 \(longer than the model's context\), 1 \(one"):
        read_activations(reader, texts)
    more = Stimuli((*texts.texts, "b c"), (*texts.labels, "fear"), tuple("123456"))
    found = read_activations(reader, more)
    assert found.left_out == {"longer than the model's context": 1, "one token": 1}
    assert found.hidden[:, 0].tolist() == [[0, 4], [2, 0], [6, 0], [6, 0]]  # b, a, c, c
    assert found.labels == ("joy", "joy", "fear", "fear")
    assert found.groups == ("1", "2", "4", "6")
    # Four tokens of the template's question and answer stand beside a text: no text fits.
    with pytest.raises(UserError, match=r"6 \(longer"):
        read_activations(reader, more, "template")


def test_token_norms_are_medians_without_first_tokens_and_sinks() -> None:
    norms, left_out = token_norms(_reader(sink=1e6), ("a b c", "c a b", "b a a", "a"))
    # Second and later tokens: b 4, c 6, a 2, b 4, a 2, a 2; their median is 3 (their mean 3.33). Four first tokens are
    # left out.
    assert norms.tolist() == [3, 3]
    assert left_out == 4
    with pytest.raises(UserError, match="two tokens"):
        token_norms(_reader(), ("a",))


def test_the_tokenizer_digest_sees_vocabulary_and_template() -> None:
    from tests.support import tiny_models

    digests = {
        tokenizer_digest(tiny_models.tokenizer()),
        tokenizer_digest(tiny_models.tokenizer()),
        tokenizer_digest(tiny_models.tokenizer(None)),
        tokenizer_digest(tiny_models.tokenizer(spaced=True)),
    }
    assert len(digests) == 3


def test_identities_differ_in_named_fields() -> None:
    one = ModelIdentity("m", "llama", "1" * 64, "2" * 64, 2, 4, ("a.0", "a.1"))
    other = replace(one, width=8, layer_paths=("b.0", "b.1"))
    assert one.differences(other) == ["width: 4, not 8", "layer_paths: a.0 … (2), not b.0 … (2)"]
    assert len(NEUTRAL_TEXTS) == 8
