from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from affectlab.engine import NEUTRAL, Edit, Intervention
from affectlab.errors import UserError
from affectlab.steering.apply import Applier, find_dose
from affectlab.steering.coherence import Coherence, coherence, divergence
from affectlab.steering.conditions import emotion_prompt, parse
from affectlab.steering.controls import isotropic, shuffled
from affectlab.steering.subject import Subject
from affectlab.steering.vectors import EmotionVectors


def _edits(applier: Applier, condition: str) -> dict[int, np.ndarray]:
    return {edit.layer: edit.amount * edit.vector for edit in applier(condition).intervention.edits}


def test_row_29_what_is_added_is_strength_times_vector(vectors: EmotionVectors) -> None:
    applier = Applier(vectors)
    one = _edits(applier, "anger@1.0")
    assert sorted(one) == [2, 3]  # the middle third of six layers
    for layer, added in one.items():
        np.testing.assert_allclose(added, vectors.direction("anger", layer), rtol=1e-6)
    double = _edits(applier, "anger@2.0")
    assert all(np.array_equal(double[layer], 2 * one[layer]) for layer in one)
    assert all(not added.any() for added in _edits(applier, "anger@0.0").values())
    assert applier("neutral").intervention.edits == ()


def test_strengths_count_in_what_they_say(vectors: EmotionVectors) -> None:
    place = vectors.index("joy")
    scaled = replace(
        vectors,
        token_norms=np.array([10, 20, 30, 40, 50, 60], np.float32),
        norms=np.arange(1, 19, dtype=np.float32).reshape(3, 6),
    )
    applier = Applier(scaled)
    lengths = {
        scale: [
            round(float(np.linalg.norm(added)), 4) for added in _edits(applier, f"joy@0.5:{scale}:layers=1,4").values()
        ]
        for scale in ("unit", "raw", "relative")
    }
    # Half of 1; half of the third emotion's norms at layers 1 and 4 (14 and 17); half of 20 and of 50.
    assert place == 2
    assert lengths == {"unit": [0.5, 0.5], "raw": [7.0, 8.5], "relative": [10.0, 25.0]}
    # A random vector has the norm an emotion's has; its raw norm is the mean of theirs: (2 + 8 + 14) / 3 = 8.
    drawn = [np.linalg.norm(added) for added in _edits(applier, "random@0.5:relative:layers=1,4:seed=1").values()]
    assert drawn == pytest.approx([10, 25], rel=1e-5)
    assert np.linalg.norm(_edits(applier, "random@1.0:raw:layers=1")[1]) == pytest.approx(8, rel=1e-5)


def test_layers(vectors: EmotionVectors) -> None:
    applier = Applier(vectors)
    expected = {"early": (0, 1), "middle": (2, 3), "late": (4, 5), "all": (0, 1, 2, 3, 4, 5), "0,4-5": (0, 4, 5)}
    assert {spec: applier.layers(spec) for spec in expected} == expected
    assert Applier(vectors.suggesting((1, 4))).layers("best") == (1, 4)
    with pytest.raises(UserError, match="not been validated"):
        applier.layers("best")


def test_row_7_a_layer_that_is_not_there(vectors: EmotionVectors, subject: Subject) -> None:
    with pytest.raises(UserError, match=r"Layer 99: toy has 6 layers, 0 to 5"):
        Applier(vectors)("anger@1.0:layers=99")
    some = EmotionVectors.from_tensors({1: np.ones(8), 5: np.ones(8)}, subject.identity, "calm")
    assert Applier(some)("calm@1.0:layers=late").intervention.edits[0].layer == 5
    with pytest.raises(UserError, match="no vector for layer 2"):
        Applier(some)("calm@1.0:layers=2")
    with pytest.raises(UserError, match="no vectors in the middle third"):
        Applier(some)("calm@1.0")


def test_what_a_condition_needs(vectors: EmotionVectors, subject: Subject) -> None:
    with pytest.raises(UserError, match="no vector of 'pride'"):
        Applier(vectors)("pride@1.0")
    with pytest.raises(UserError, match="--vectors"):
        Applier(None)("anger@1.0")
    with pytest.raises(UserError, match="no model is open"):
        Applier(vectors)("anger@0.5:kl")
    with pytest.raises(UserError, match="no token norms"):
        Applier(replace(vectors, token_norms=None))("anger@0.5:relative")
    with pytest.raises(UserError, match="--no-activations"):
        Applier(replace(vectors, activations=None))("permuted:anger@1.0")
    with pytest.raises(UserError, match="belong to another toy"):
        Applier(replace(vectors, model=replace(vectors.model, model="else")), subject)
    assert Applier(None)("neutral").intervention.edits == ()
    assert emotion_prompt(("anger",)) in Applier(None)("prompt:anger").explain()


def test_explain_says_what_happens_where(vectors: EmotionVectors) -> None:
    """Row 22."""
    applier = Applier(replace(vectors, token_norms=np.array([10, 20, 30, 40, 50, 60], np.float32)))
    said = applier("joy@0.1:relative:positions=generated").explain()
    assert said == (
        "joy@0.1:relative:positions=generated:\n"
        "  joy (pca): add 3 … 4 × its direction to the output of layers 2-3 of 6 (layers.2 … layers.3), at tokens of "
        "the answer only, once they are fed back. That is 0.1 × the median token norm."
    )
    (line,) = applier("random@2.0:layers=1:seed=4").lines
    assert line.startswith(
        "random (isotropic, seed 4): add 2 × its direction to the output of layer 1 of 6 (layers.1), "
    )
    assert line.endswith("at every token of the prompt and of the answer.")
    assert "take its direction out" in applier("fear@1.0:kind=project_out").explain()
    assert "set the output's projection on its direction to 2.5" in applier("fear@2.5:kind=clamp").explain()
    assert applier("neutral").explain() == "neutral:\n  Nothing is done to the model."
    both = applier("fear@1.0+prompt:joy")
    assert len(both.lines) == 2
    assert "fills you with joy" in both.lines[1]
    weak = Applier(replace(vectors, cosines=np.full((3, 6), 0.3, np.float32)))
    assert "Weak: at 2 of these layers" in weak("fear@1.0").explain()
    assert repr(both) == both.explain()


def test_several_vectors_add_up(vectors: EmotionVectors) -> None:
    edits = Applier(vectors)("fear@1.0:layers=2+joy@0.5:layers=2-3").intervention.edits
    assert [(edit.layer, edit.amount) for edit in edits] == [(2, 1.0), (2, 0.5), (3, 0.5)]


def test_controls_are_drawn_by_seed(vectors: EmotionVectors) -> None:
    applier = Applier(vectors)
    for kind in ("random@1.0", "permuted:joy@1.0"):
        one, same, other = (_edits(applier, f"{kind}:seed={seed}")[2] for seed in (1, 1, 2))
        assert np.array_equal(one, same)
        assert not np.allclose(one, other)
    assert shuffled(vectors, 1).emotions == vectors.emotions


def test_isotropic_directions_are_even_and_at_the_emotions_angles(subject: Subject) -> None:
    """Directions at layers 0 and 1 have cosine 0.8, at 2 and the others 0; random ones have the same on average."""
    wide = replace(subject.identity, width=512)
    rows = np.zeros((3, 512))
    rows[0, 0], rows[1, :2], rows[2, 2] = 1, (0.8, 0.6), 1
    made = EmotionVectors.from_tensors(dict(enumerate(rows)), wide)
    drawn = np.array([isotropic(made, seed) for seed in range(40)])
    np.testing.assert_allclose(np.linalg.norm(drawn, axis=-1), 1, atol=1e-5)
    cosines = np.einsum("slw,skw->lk", drawn, drawn) / 40
    # Each cosine has a standard deviation of about 1/sqrt(512) = 0.044, their mean over 40 one of 0.007.
    np.testing.assert_allclose(cosines, np.array([[1, 0.8, 0], [0.8, 1, 0], [0, 0, 1.0]]), atol=0.03)
    # Evenly on the sphere: every number has mean 0 (sd 1/sqrt(512 × 40) = 0.007) and mean square 1/512.
    assert abs(drawn[:, 0].mean()) < 0.01
    assert (drawn[:, 0] ** 2).sum(axis=0).max() / 40 < 6 / 512


RAISED = Intervention((Edit(2, np.eye(8, dtype=np.float32)[0], "add", 1.0),))
"""Raises the toy's logit of anger by 2."""


def test_divergence_by_hand(subject: Subject) -> None:
    """At any plain text the toy reads token 0 everywhere: logits 0 at 23 tokens.

    Adding 1 along number 0 raises anger's logit by 2. With the 23 tokens of the toy, p = 1/23 each, and
    KL = Σ p (log p − log q) = log(22 + e²) − log 23 − 2/23.
    """
    hand = np.log(22 + np.e**2) - np.log(23) - 2 / 23
    found = divergence(subject, [NEUTRAL, RAISED, replace(RAISED, positions="generated")])
    assert found == pytest.approx([0, hand, hand], abs=1e-6)


def test_coherence_by_hand(subject: Subject) -> None:
    """Every token but the first is predicted. Where anger's logit is raised, anger has the likelihood e²/(22 + e²) and
    any other word 1/(22 + e²), from 1/23 each.

    The first text predicts three words, none anger: each loses log(22 + e²) − log 23. The second predicts two, one of
    them anger: together they lose twice that, less 2. Over the texts, with L for that loss:
    rise = (3 L + 2 L − 2) / 5; standard error = √(2 ((3 L − 3 rise)² + (2 L − 2 − 2 rise)²)) / 5, and 0 for the
    divergence, which is the same everywhere.
    """
    none, found = coherence(subject, [NEUTRAL, RAISED], ["one two three four", "five six anger"])
    assert (none.kl, none.nll_rise) == (0, 0)
    loss = np.log(22 + np.e**2) - np.log(23)
    rise = (5 * loss - 2) / 5
    assert found.kl == pytest.approx(loss - 2 / 23)
    assert found.kl_error == pytest.approx(0, abs=1e-6)
    assert found.nll_rise == pytest.approx(rise)
    error = np.sqrt(2 * ((3 * loss - 3 * rise) ** 2 + (2 * loss - 2 - 2 * rise) ** 2)) / 5
    assert found.nll_rise_error == pytest.approx(error)
    (alone,) = coherence(subject, [RAISED], ["one two three"])
    assert (alone.kl_error, alone.nll_rise_error) == (None, None)
    assert coherence(subject, []) == []
    with pytest.raises(UserError, match="two tokens"):
        coherence(subject, [RAISED], ["one"])


def test_more_interventions_than_go_together_are_all_measured(subject: Subject) -> None:
    many = [replace(RAISED, edits=(replace(RAISED.edits[0], amount=amount / 10),)) for amount in range(19)]
    told: list[tuple[str, int, int]] = []
    found = coherence(subject, many, progress=lambda *step: told.append(step))
    assert told == [("plain text", 8, 19), ("plain text", 16, 19), ("plain text", 19, 19)]
    hand = [np.log(22 + np.exp(amount / 5)) - np.log(23) - amount / 5 / 23 for amount in range(19)]
    np.testing.assert_allclose([one.kl for one in found], hand, atol=1e-6)


def test_text_is_damaged_beyond_either_limit() -> None:
    assert Coherence(1.1, 0).damaged
    assert Coherence(0.2, 0.6).damaged
    assert Coherence(float("nan"), 0).damaged
    assert not Coherence(1.0, 0.5).damaged
    assert not Coherence(0.2, -1).damaged


def test_a_dose_has_the_divergence_it_states(vectors: EmotionVectors, subject: Subject) -> None:
    applier = Applier(vectors, subject)
    for condition in ("anger@0.02:kl", "random@0.02:kl:seed=5", "fear@-0.02:kl:layers=4"):
        applied = applier(condition)
        assert divergence(subject, [applied.intervention])[0] == pytest.approx(0.02, rel=0.03)
        (_, dose), *rest = applied.doses
        assert rest == []
        assert f"The dose is {dose:.4g} × the median token norm." in applied.explain()
    turned = applier("fear@-0.02:kl:layers=4").intervention.edits[0]
    assert turned.amount < 0
    with pytest.raises(UserError, match=r"anger@500.0:kl: 500 nats, which cannot be had: .* Take a smaller one"):
        applier("anger@500:kl")


def test_kl_random_moves_text_as_far_as_the_emotions_do(vectors: EmotionVectors, subject: Subject) -> None:
    applier = Applier(vectors, subject)
    emotions = [applier(f"{emotion}@0.5").intervention for emotion in vectors.emotions]
    target = divergence(subject, emotions).mean()
    for seed in (0, 1):
        applied = applier(f"kl-random@0.5:seed={seed}")
        assert divergence(subject, [applied.intervention])[0] == pytest.approx(target, rel=0.03)


def test_kl_random_is_matched_at_its_own_layers(vectors: EmotionVectors, subject: Subject) -> None:
    """One layer of the toy moves text less than the two of the middle third do."""
    applier = Applier(vectors, subject)
    for layers in ("4", "middle"):
        emotions = [applier(f"{emotion}@0.5:layers={layers}").intervention for emotion in vectors.emotions]
        control = applier(f"kl-random@0.5:layers={layers}:seed=3").intervention
        assert divergence(subject, [control])[0] == pytest.approx(divergence(subject, emotions).mean(), rel=0.03)
    assert {edit.layer for edit in applier("kl-random@0.5:layers=4").intervention.edits} == {4}


def test_doses_that_are_known_are_not_measured(vectors: EmotionVectors, subject: Subject) -> None:
    measured = Applier(vectors, subject)("anger@0.02:kl+kl-random@0.5:seed=1")
    assert [term for term, _ in measured.doses] == ["anger@0.02:kl", "kl-random@0.5:seed=1"]
    known = Applier(vectors, None, dict(measured.doses))("anger@0.02:kl+kl-random@0.5:seed=1")
    assert known.lines == measured.lines
    for one, other in zip(known.intervention.edits, measured.intervention.edits, strict=True):
        assert (one.layer, one.amount) == (other.layer, other.amount)


def test_the_same_vector_twice_at_one_layer_is_refused_and_at_others_is_not(vectors: EmotionVectors) -> None:
    applier = Applier(vectors)
    with pytest.raises(UserError, match=r"anger stands in it twice at layer 2-3\. Write the sum"):
        applier("anger@1+anger@2:layers=1-4")
    with pytest.raises(UserError, match="random stands in it twice at layer 3"):
        applier("random@1:layers=3+random@1:layers=all")
    edits = applier("anger@1:layers=1+anger@2:layers=0+fear@1").intervention.edits
    assert [(edit.layer, edit.amount) for edit in edits] == [(1, 1.0), (0, 2.0), (2, 1.0), (3, 1.0)]
    assert len(applier("random@1:seed=1+random@1:seed=2").intervention.edits) == 4


def test_find_dose_of_a_square_law() -> None:
    """KL = 3 t²: 0.12 nats are at t = 0.2."""
    calls: list[float] = []

    def measured(strength: float) -> float:
        calls.append(strength)
        return 3 * strength**2

    assert find_dose(measured, 0.12, "x") == pytest.approx(0.2, rel=0.01)
    assert len(calls) == len(set(calls)) < 10
    # 9.37e-3 nats, those of unit vectors on SmolLM2, and a hundredth of them.
    assert find_dose(measured, 9.37e-3, "x") == pytest.approx((9.37e-3 / 3) ** 0.5, rel=0.01)
    assert find_dose(measured, 9.37e-5, "x") == pytest.approx((9.37e-5 / 3) ** 0.5, rel=0.01)
    with pytest.raises(UserError, match=r"^x: by 1e-09 nats, .* give 3e-08 to 19\.7\. Take a larger"):
        find_dose(measured, 1e-9, "x: by")


def test_the_emotion_prompt_names_the_emotions() -> None:
    assert emotion_prompt(()) == ""
    assert "fills you with anger and joy." in emotion_prompt(parse("prompt:happiness+prompt:anger").prompts)
    assert "moral outrage" in emotion_prompt(("moral_outrage",))
