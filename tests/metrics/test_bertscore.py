"""BERTScore: greedy matching by hand, and the encoder's part on a tiny random model."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

from affectlab.errors import UserError
from affectlab.metrics.bertscore import BertScorer, Placed, greedy_f1


def placed(*vectors: tuple[float, float], marks: int = 0) -> Placed:
    """A text of these vectors, the first of which are marks."""
    return Placed(np.array(vectors).reshape(-1, 2), np.arange(len(vectors)) >= marks)


def f1(precision: float, recall: float) -> float:
    return 2 * precision * recall / (precision + recall)


HALF = 0.5**0.5


def test_greedy_matching_by_hand() -> None:
    # Reference e1, e2; answer e1 twice as long, and e1 + e2. Cosines: e1 with 1 and .7071; e2 with 0 and .7071.
    reference, answer = placed((1, 0), (0, 1)), placed((2, 0), (1, 1))
    assert greedy_f1(reference, answer) == pytest.approx(f1((1 + HALF) / 2, (1 + HALF) / 2))
    # One more token far from all: precision (1 + .7071 + 0) / 3, recall as it was.
    more = placed((2, 0), (1, 1), (-1, 0))
    assert greedy_f1(reference, more) == pytest.approx(f1((1 + HALF + 0) / 3, (1 + HALF) / 2))


def test_marks_are_matched_and_not_counted() -> None:
    # The answer's one word is e1; its mark, e2, is what the reference's second word lies nearest to.
    found = greedy_f1(placed((1, 0), (0, 1)), placed((0, 1), (1, 0), marks=1))
    assert found == pytest.approx(f1(1, (1 + 1) / 2))
    assert greedy_f1(placed((1, 0)), placed((1, 0), marks=1)) == 0.0


def test_nothing_said_is_0_and_the_opposite_below() -> None:
    assert greedy_f1(placed((1, 2)), placed()) == greedy_f1(placed(), placed((1, 2))) == 0.0
    assert greedy_f1(placed((1, 2)), placed((-1, -2))) == pytest.approx(-1.0)
    assert greedy_f1(placed((1, 0)), placed((0, 1))) == 0.0


def test_without_transformers_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(UserError, match=r"affectlab\[local\]"):
        BertScorer.open("roberta-large")


def test_an_unknown_model_needs_its_layer() -> None:
    with pytest.raises(UserError, match="say which layer"):
        BertScorer.open("some/model")


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random BERT of three layers with a tokenizer that marks the ends of a text."""
    torch = pytest.importorskip("torch", reason="needs torch")
    transformers = pytest.importorskip("transformers", reason="needs transformers")
    from tests.support import tiny_models

    folder = tmp_path_factory.mktemp("bert")
    torch.manual_seed(0)
    config = transformers.AutoConfig.for_model(
        "bert", vocab_size=400, hidden_size=32, intermediate_size=48, num_hidden_layers=3, num_attention_heads=4,
        max_position_embeddings=64,
    )  # fmt: skip
    transformers.AutoModel.from_config(config).save_pretrained(folder)
    tiny_models.tokenizer(bos=True).save_pretrained(folder)
    return folder


@pytest.mark.model
def test_equal_texts_score_1_whatever_stands_beside_them(encoder: Path) -> None:
    scorer = BertScorer.open(f"{encoder}@2")
    texts = ["Ada feels joy", "Ben feels fear about the news", ""]
    alone = [scorer.score([text], [text]).f1[0] for text in texts]
    assert alone == pytest.approx([1.0, 1.0, 0.0])
    found = scorer.score([*texts, texts[0]], [*texts, texts[1]])
    assert found.f1[:3] == pytest.approx(alone)
    assert found.f1[3] < 0.999
    assert found.f1[3] == pytest.approx(scorer.score([texts[0]], [texts[1]]).f1[0], abs=1e-6)
    assert found.cut == 0
    assert "layer 2" in scorer.signature


@pytest.mark.model
def test_an_encoder_is_known_by_its_weights_wherever_it_lies(encoder: Path, tmp_path: Path) -> None:
    import torch

    one = BertScorer.open(f"{encoder}@1")
    shutil.copytree(encoder, tmp_path / "copy")
    other = BertScorer.open(f"{tmp_path / 'copy'}@1")
    assert one.sha256 == other.sha256
    assert len(one.sha256) == 64
    with torch.no_grad():
        next(other.encoder.parameters())[0, 0] += 1
    assert one.sha256 != other.sha256


@pytest.mark.model
def test_it_is_the_chosen_layer(encoder: Path) -> None:
    import torch

    scorer = BertScorer.open(f"{encoder}@3")

    def vectors(text: str) -> Placed:
        ids = torch.tensor([scorer.tokenizer(text)["input_ids"]])
        with torch.inference_mode():
            last = scorer.encoder(ids).last_hidden_state[0].double().numpy()  # of three layers the last
        return Placed(last, np.arange(len(last)) > 0)  # the first is <s>

    one, other = "Ada feels joy", "Ben feels anger"
    assert scorer.score([one], [other]).f1[0] == pytest.approx(greedy_f1(vectors(one), vectors(other)), abs=1e-6)


@pytest.mark.model
def test_long_texts_are_cut_and_counted(encoder: Path) -> None:
    scorer = BertScorer.open(f"{encoder}@1")
    long = "Ada feels joy about the news. " * 40
    found = scorer.score([long, "Ada"], [long, "Ben"])
    assert found.cut == 1
    assert found.f1[0] == pytest.approx(1.0)


@pytest.mark.model
@pytest.mark.parametrize("layer", ["0", "4", "x"])
def test_a_layer_that_is_none_is_refused(encoder: Path, layer: str) -> None:
    with pytest.raises(UserError, match="from 1 to 3"):
        BertScorer.open(f"{encoder}@{layer}")


@pytest.mark.model
def test_a_model_that_cannot_be_had_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(UserError, match="cannot be opened"):
        BertScorer.open(f"{tmp_path}/nothing@1")


@pytest.mark.model
def test_pairs_are_wanted(encoder: Path) -> None:
    with pytest.raises(ValueError, match="as many of each"):
        BertScorer.open(f"{encoder}@1").score(["a"], [])
