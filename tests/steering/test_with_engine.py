"""Steering through the real engine, on tiny random models, against sums made with transformers alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch", reason="local models need torch")
pytest.importorskip("transformers", reason="local models need transformers")

import torch
from tests.support import tiny_models

from affectlab.engine import NEUTRAL, Engine, ScoreRow
from affectlab.errors import UserError, WorldError
from affectlab.models import ModelCard
from affectlab.models.loading import Loaded
from affectlab.models.subject import subject_of
from affectlab.steering.apply import Applier
from affectlab.steering.coherence import coherence, divergence
from affectlab.steering.selfreport import answers, self_reports
from affectlab.steering.stimuli import Stimuli
from affectlab.steering.subject import Subject, read_activations, token_norms
from affectlab.steering.validation import Settings, validate
from affectlab.steering.validation_tables import scores
from affectlab.steering.vectors import EmotionVectors, extract

TEXTS = ("Ada feels joy", "Ben feels fear about the news", "A B C D", "Answer: 1 2 Ada")


@pytest.fixture(scope="module")
def loaded() -> Loaded:
    torch.set_num_threads(1)
    return Loaded(tiny_models.model("llama"), tiny_models.tokenizer(), ModelCard("tiny", "tiny", {"sha256": "0" * 64}))


@pytest.fixture(scope="module")
def subject(loaded: Loaded) -> Subject:
    return subject_of(loaded, Engine(loaded.model))


def _outputs(model: Any, ids: tuple[int, ...], added: dict[int, Any] | None = None) -> tuple[list[Any], Any]:
    """Every layer's output and the logits, by a hook of five lines."""
    seen: list[Any] = []

    def hook(number: int) -> Any:
        def run(_module: Any, _inputs: Any, out: Any) -> Any:
            hidden = out if torch.is_tensor(out) else out[0]
            hidden = hidden + (added or {}).get(number, 0)
            seen.append(hidden[0])
            return hidden if torch.is_tensor(out) else (hidden, *out[1:])

        return run

    handles = [layer.register_forward_hook(hook(number)) for number, layer in enumerate(model.model.layers)]
    with torch.no_grad():
        logits = model(torch.tensor([ids])).logits[0]
    for handle in handles:
        handle.remove()
    return seen, logits


def test_activations_are_the_layers_outputs(subject: Subject, loaded: Loaded) -> None:
    """Rows 15, 16, 17: layer k is what block k puts out, at the text's own last token, whatever it is batched with."""
    found = read_activations(subject, Stimuli(TEXTS, ("joy", "fear", "joy", "fear"), tuple("1234")))
    for text, states in zip(TEXTS, found.hidden, strict=True):
        reference, _ = _outputs(loaded.model, subject.plain(text))
        np.testing.assert_allclose(states, [layer[-1] for layer in reference], rtol=1e-4, atol=1e-4)
    means = read_activations(subject, Stimuli(TEXTS, ("joy", "fear", "joy", "fear"), tuple("1234")), "mean")
    for text, states in zip(TEXTS, means.hidden, strict=True):
        reference, _ = _outputs(loaded.model, subject.plain(text))
        np.testing.assert_allclose(states, [layer[1:].mean(0) for layer in reference], rtol=1e-3, atol=1e-3)


def test_a_text_that_the_model_cannot_read_is_named_as_it_is_counted(loaded: Loaded) -> None:
    """Twenty texts, read sixteen at a time: the eighteenth has a token whose embedding is no number."""
    model = tiny_models.model("llama")
    subject = subject_of(replace(loaded, model=model), Engine(model))
    texts = ["Ada feels joy", "Ben feels fear"] * 10
    texts[17] = "C D C"
    (bad,) = set(subject.plain("C")) - set(subject.plain("Ada feels joy Ben feels fear"))
    with torch.no_grad():
        model.get_input_embeddings().weight[bad] = float("nan")
    stimuli = Stimuli(tuple(texts), ("joy", "fear") * 10, tuple(map(str, range(20))))
    with pytest.raises(WorldError, match=r"layer outputs are not finite for text 18\."):
        read_activations(subject, stimuli)


def test_a_model_of_learned_positions_reads_what_it_takes() -> None:
    """A text beyond its positions has no place in a GPT-2: it is left out, and counted."""
    model = tiny_models.model("gpt2", context=40)
    card = ModelCard("tiny", "tiny", {"sha256": "0" * 64})
    subject = subject_of(Loaded(model, tiny_models.tokenizer(), card), Engine(model))
    texts = ("Ada feels joy", "Ben feels fear", "A B C D", "1 2 Ada", "A " * 50)
    found = read_activations(subject, Stimuli(texts, ("joy", "fear", "joy", "fear", "joy"), tuple("12345")))
    assert found.left_out == {"longer than the model's context": 1}
    with pytest.raises(UserError, match=r"self-report has \d+ tokens, and the longest option \d+; the model takes 40"):
        answers(subject, [NEUTRAL], self_reports())


@pytest.mark.parametrize("condition", ["calm@3.0:layers=0", "calm@3.0:layers=all", "calm@-0.5:relative:layers=1"])
def test_rows_29_and_30_the_vector_is_added_once(subject: Subject, loaded: Loaded, condition: str) -> None:
    draw = np.random.default_rng(0)
    vectors = EmotionVectors.from_tensors(
        {layer: draw.standard_normal(32) for layer in (0, 1)},
        subject.identity,
        "calm",
        np.array([2.0, 3.0], np.float32),
    )
    applied = Applier(vectors, subject)(condition)
    added = {edit.layer: torch.tensor(edit.amount * edit.vector) for edit in applied.intervention.edits}
    prompt, options = subject.plain("How does Ada feel? "), [subject.option(" joy"), subject.option(" sadness")]
    (_, _, found), *rest = subject.engine.score([ScoreRow(prompt, options)], [applied.intervention])
    assert rest == []
    for option, value in zip(options, found, strict=True):
        _, logits = _outputs(loaded.model, (*prompt, *option), added)
        logprobs = logits.log_softmax(-1)[len(prompt) - 1 : -1]
        assert value == pytest.approx(
            sum(float(logprobs[place, token]) for place, token in enumerate(option)), abs=1e-3
        )


def test_row_40_a_condition_applies_only_where_the_state_is_above_or_below(subject: Subject, loaded: Loaded) -> None:
    """Shut everywhere it is the model as it is, to the bit; open everywhere, the same condition without a threshold.

    In between, against a hook of our own: the projection on calm at layer 0, before any edit, at an upper quarter of
    the text's tokens, in token norms of 2.
    """
    draw = np.random.default_rng(0)
    vectors = EmotionVectors.from_tensors(
        {layer: draw.standard_normal(32) for layer in (0, 1)}, subject.identity, "calm", np.array([2, 3], np.float32)
    )
    applier = Applier(vectors, subject)
    prompt, option = subject.plain("How does Ada feel? "), subject.option(" joy")

    def score(condition: str) -> float:
        ((_, _, found),) = subject.engine.score([ScoreRow(prompt, [option])], [applier(condition).intervention])
        return float(found[0])

    states, _ = _outputs(loaded.model, (*prompt, *option))
    projections = states[0].double().numpy() @ vectors.direction("calm", 0)
    middle = round(float(np.quantile(projections, 0.75)) / 2, 3)
    assert abs(middle) > 0.01
    plain, moved = score("neutral"), score("calm@3.0:layers=all")
    assert abs(plain - moved) > 0.01
    for shut, wide in ((1000, -1000), (-1000, 1000)):
        side = "above" if shut > 0 else "below"
        assert score(f"calm@3.0:layers=all:{side}=calm@{shut}") == plain
        assert score(f"calm@3.0:layers=all:{side}=calm@{wide}") == pytest.approx(moved, abs=1e-5)
    for side, where in (("above", projections >= 2 * middle), ("below", projections < 2 * middle)):
        assert 0 < where.sum() < len(where)
        mask = torch.tensor(where, dtype=torch.float32)[:, None]
        added = {layer: mask * torch.tensor(3.0 * vectors.direction("calm", layer)) for layer in (0, 1)}
        _, logits = _outputs(loaded.model, (*prompt, *option), added)
        logprobs = logits.log_softmax(-1)[len(prompt) - 1 : -1]
        expected = sum(float(logprobs[place, token]) for place, token in enumerate(option))
        condition = f"calm@3.0:layers=all:{side}=calm@{middle}"
        assert score(condition) == pytest.approx(expected, abs=1e-3)
        assert applier(condition).lines[-1] == (
            f"Only at tokens whose projection on calm's direction at layer 0 is {side} {2 * middle:.4g}, {middle:g} × "
            "the median token norm."
        )


def test_a_planted_read_out_moves_by_the_amount_worked_out_by_hand() -> None:
    """The head reads number 0 of the last layer's output for one token and nothing else; the final norm is undone by
    hand.

    With h the output before and v added, the logit of that token is w × (h + v)₀ × √width / |h + v| (RMS norm, weight
    1), and every other logit is 0.
    """
    model = tiny_models.model("llama")
    tokens = tiny_models.tokenizer()
    joy = tokens(" joy", add_special_tokens=False)["input_ids"][0]
    with torch.no_grad():
        model.lm_head.weight.zero_()
        model.lm_head.weight[joy, 0] = 5.0
        model.model.norm.weight.fill_(1.0)
    made = subject_of(Loaded(model, tokens, ModelCard("tiny", "tiny", {"sha256": "1"})), Engine(model))
    vector = np.zeros(32)
    vector[0], vector[5] = 2.0, 1.0
    applier = Applier(EmotionVectors.from_tensors({1: vector}, made.identity, "joy"), made)
    ids = made.plain("Ada feels")
    hidden = _outputs(model, ids)[0][-1][-1].double().numpy()
    for strength in (0.0, 1.0, -4.0):
        moved = hidden + strength * vector
        logit = 5 * moved[0] * np.sqrt(32) / np.sqrt((moved**2).sum() + 32 * model.config.rms_norm_eps)
        hand = logit - np.log(np.exp(logit) + model.config.vocab_size - 1)
        row = ScoreRow(ids, [(joy,)])
        (_, _, found), *_ = made.engine.score([row], [applier(f"joy@{strength}:raw:layers=1").intervention])
        assert found[0] == pytest.approx(hand, abs=1e-4)


def test_conditions_together_equal_one_by_one(subject: Subject) -> None:
    vectors = EmotionVectors.from_tensors(
        {0: np.arange(1, 33), 1: np.ones(32)}, subject.identity, "joy", np.ones(2, np.float32)
    )
    applier = Applier(vectors, subject)
    names = ("neutral", "joy@2.0:layers=all", "random@2.0:layers=1:seed=1", "joy@0.5:kind=project_out:layers=0")
    made = [applier(name.replace("0.5:kind", "1.0:kind")).intervention for name in names]
    reports = self_reports(0, ("joy", "fear", "neutral"))
    together = answers(subject, made, reports, ("joy", "fear", "neutral"))
    for number, one in enumerate(made):
        alone = answers(subject, [one], reports, ("joy", "fear", "neutral"))
        np.testing.assert_allclose(together[number], alone[0], atol=1e-3)
    before = answers(subject, [made[0]], reports, ("joy", "fear", "neutral"))
    np.testing.assert_array_equal(together.shape[1:], before.shape[1:])


def test_divergence_is_that_of_whole_distributions(subject: Subject, loaded: Loaded) -> None:
    vectors = EmotionVectors.from_tensors({1: np.arange(1, 33)}, subject.identity, "joy")
    applied = Applier(vectors)("joy@2.0:layers=1").intervention
    text = "Ada feels joy about the news"
    ids = subject.plain(text)
    added = {edit.layer: torch.tensor(edit.amount * edit.vector) for edit in applied.edits}
    hand = []
    for end in range(1, len(ids)):
        p = _outputs(loaded.model, ids[:end])[1][-1].double().log_softmax(-1)
        q = _outputs(loaded.model, ids[:end], added)[1][-1].double().log_softmax(-1)
        hand.append(float((p.exp() * (p - q)).sum()))
    assert coherence(subject, [applied], [text])[0].kl == pytest.approx(np.mean(hand), rel=1e-3)


def test_identity_is_that_of_weights_and_tokenizer(loaded: Loaded, subject: Subject) -> None:
    assert subject.identity.model == "0" * 64
    assert subject.identity.architecture == "llama"
    assert (subject.identity.n_layers, subject.identity.width) == (2, 32)
    assert subject.identity.layer_paths == ("model.layers.0", "model.layers.1")
    begins = subject_of(Loaded(loaded.model, tiny_models.tokenizer(bos=True), loaded.card), Engine(loaded.model))
    assert begins.plain("A")[0] == 1
    assert len(begins.plain("A")) == len(subject.plain("A")) + 1


def test_a_validation_may_leave_the_sweep_out(subject: Subject) -> None:
    texts = [(f"{text} {n}", f"g{n}") for n in range(4) for text in TEXTS[:2]]
    words, groups = zip(*texts, strict=True)
    labels = ("joy", "fear") * 4
    vectors = extract(subject, Stimuli(words, labels, groups, {}, "toy"))
    found = validate(subject, vectors, Settings(sweep_layers=(), strengths=(0.1,), compared=0.1, controls=1))
    assert found.sweep.shape[1] == 0
    tables = {table.id for table in scores(found).tables}
    assert tables >= {"self_report", "by_strength"}
    assert not tables & {"positive_margin", "by_layer"}


def test_row_28_a_dose_means_the_same_on_models_that_a_strength_does_not(subject: Subject) -> None:
    """The same vectors on two architectures: unit vectors move one model more than ten times as far as the other, a
    relative strength at most twice as far, and a dose of 0.05 nats moves both by 0.05."""
    gemma = tiny_models.model("gemma3_text")
    other = subject_of(
        Loaded(gemma, tiny_models.tokenizer(), ModelCard("other", "other", {"sha256": "1"})), Engine(gemma)
    )
    draw = np.random.default_rng(0)
    rows = {layer: draw.standard_normal(32) for layer in (0, 1)}
    found = []
    for model in (subject, other):
        norms, _ = token_norms(model, TEXTS)
        applier = Applier(EmotionVectors.from_tensors(rows, model.identity, "calm", norms), model)
        made = [applier(f"calm@{one}:layers=all").intervention for one in ("1.0", "0.1:relative", "0.05:kl")]
        found.append(divergence(model, made))
    unit, relative, dose = np.array(found).T
    assert unit.max() > 10 * unit.min(), found
    assert relative.max() < 2 * relative.min()
    assert dose == pytest.approx([0.05, 0.05], rel=0.03)
