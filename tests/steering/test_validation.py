from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.support.toy_subject import toy_subject

from affectlab.engine import NEUTRAL
from affectlab.errors import UserError
from affectlab.metrics.scores import Scores
from affectlab.steering import validation_tables as tables
from affectlab.steering.apply import Applier
from affectlab.steering.coherence import coherence
from affectlab.steering.conditions import Condition
from affectlab.steering.selfreport import answers, margins, self_reports, shares
from affectlab.steering.subject import Subject
from affectlab.steering.validation import CONTROLS, Settings, Validation, control_terms, validate
from affectlab.steering.vectors import EmotionVectors, Provenance

SETTINGS = Settings(
    sweep_strengths=(0.5, 2.0), sweep_layers=(1, 4), strengths=(0.1, 0.5), compared=0.5, controls=9, layers="middle"
)


@pytest.fixture
def found(subject: Subject, vectors: EmotionVectors) -> Validation:
    return validate(subject, vectors, SETTINGS)


def test_answers_are_in_the_order_of_options_whatever_the_order_shown(subject: Subject) -> None:
    options = ("anger", "fear", "joy", "neutral")
    got = answers(subject, [NEUTRAL], self_reports(0, options), options)
    # The toy gives every word a logit of 0: each of its 23 words has probability 1/23.
    np.testing.assert_allclose(got, np.full((1, 10, 4), -np.log(23)))


def test_margins_and_shares_by_hand() -> None:
    logprobs = np.log([[0.2, 0.1, 0.05, 0.05]])
    assert margins(logprobs, 0)[0] == pytest.approx(np.log(2))
    assert margins(logprobs, 1)[0] == pytest.approx(-np.log(2))
    np.testing.assert_allclose(np.exp(shares(logprobs)), [[0.5, 0.25, 0.125, 0.125]])


def test_shapes(found: Validation) -> None:
    assert found.options == ("anger", "fear", "joy", "neutral")
    assert found.neutral.shape == (10, 4)
    assert found.sweep.shape == (3, 2, 2, 10, 4)
    assert found.block.shape == (2, 3, 10, 4)
    assert [len(row) for row in found.text] == [3, 3]
    assert {kind: values.shape for kind, values in found.controls.items()} == dict.fromkeys(
        ("random", "kl-random", "permuted"), (3, 9)
    )
    assert repr(found) == "Validation(toy: 3 emotions; sweep of 2 layers × 2 strengths; 9 controls of 3 kinds)"


def test_the_toy_s_margins_are_what_its_head_makes_of_the_vectors(found: Validation, vectors: EmotionVectors) -> None:
    """Logits are twice the first four numbers of the stream; neutral's is 0 and unmoved.

    One layer steered with α: the margin of emotion e is 2 α (u_e − the largest of the other u and neutral's number 3).
    """
    for number, emotion in enumerate(vectors.emotions):
        for at, layer in enumerate(found.sweep_layers):
            unit = vectors.direction(emotion, layer)[:4]
            for place, strength in enumerate(SETTINGS.sweep_strengths):
                hand = 2 * strength * (unit[number] - np.delete(unit, number).max())
                np.testing.assert_allclose(margins(found.sweep[number, at, place], number), hand, rtol=1e-4)
                assert found.change(found.sweep[number, at, place], number) == pytest.approx(hand, rel=1e-4)


def test_planted_vectors_pass_and_controls_do_not_reach_them(found: Validation) -> None:
    table = tables.emotions_table(found)
    columns = {name: table.columns.index(name) for name in table.columns}
    for row in table.rows[:3]:
        assert row[columns["own label rises most"]] == "yes"
        change = row[columns["change of margin"]]
        assert isinstance(change, float)
        assert change > 0
        # No isotropic vector of nine of the same norm does as much: p = 1/10.
        assert row[columns["p norm"]] == pytest.approx(0.1)
    last = table.rows[3]
    assert last[0] == "all"
    assert last[columns["own label rises most"]] == "3 of 3"
    assert (last[columns["p norm"]], last[columns["p KL"]]) == pytest.approx((0.1, 0.1))
    assert all(len(row) == len(table.columns) for row in table.rows)
    assert "at least 0.1" in table.note


def _doses(found: Validation) -> dict[str, float]:
    """Divergence of plain text under each emotion's vector at the compared strength, the second one."""
    return {emotion: text.kl for emotion, text in zip(found.emotions, found.text[1], strict=True)}


def test_every_control_is_a_vector_of_its_own_for_each_emotion(
    found: Validation, subject: Subject, vectors: EmotionVectors
) -> None:
    """So that controls of all emotions together are as many vectors as there are emotions: one alone cannot raise
    several labels, and its mean over emotions varies too little."""
    applier = Applier(vectors, subject)
    for kind in CONTROLS:
        terms = control_terms(SETTINGS, _doses(found), kind)
        assert len({(term.emotion, term.seed) for term in terms}) == 3 * 9
        made = [applier(Condition((term,))).intervention for term in terms]
        assert len({one.edits[0].vector.tobytes() for one in made}) == 3 * 9
        got = answers(subject, made, self_reports(SETTINGS.seed, found.options), found.options)
        by_hand = [[float(found.change(got[9 * number + one], number)) for one in range(9)] for number in range(3)]
        np.testing.assert_allclose(found.controls[kind], by_hand)
        row = tables.emotions_table(found).rows[-1]
        changes = [float(found.change(found.block[1, number], number)) for number in range(3)]
        # Control number c of all together: the mean over emotions of their own controls c.
        reached = sum(np.mean(each) >= np.mean(changes) for each in zip(*by_hand, strict=True))
        assert row[6 + CONTROLS.index(kind)] == pytest.approx((1 + reached) / 10)


def test_permuted_controls_of_one_number_come_from_one_shuffle(found: Validation) -> None:
    terms = control_terms(SETTINGS, _doses(found), "permuted")
    assert [term.emotion for term in terms[::9]] == list(found.emotions)
    assert [term.seed for term in terms[:9]] == [term.seed for term in terms[9:18]]


def test_controls_of_the_same_kl_are_matched_to_their_own_emotion(
    found: Validation, subject: Subject, vectors: EmotionVectors
) -> None:
    """Doses are found within 2 %; the toy's emotions differ by more."""
    doses = _doses(found)
    assert max(doses.values()) > 1.1 * min(doses.values())
    applier = Applier(vectors, subject)
    made = [applier(Condition((term,))).intervention for term in control_terms(SETTINGS, doses, "kl-random")]
    had = [one.kl for one in coherence(subject, made)]
    np.testing.assert_allclose(had, np.repeat(list(doses.values()), 9), rtol=0.02)


def test_a_control_cannot_be_matched_to_a_vector_that_does_nothing() -> None:
    with pytest.raises(UserError, match=r"joy at 0\.5 times the median token norm does not move plain text"):
        control_terms(SETTINGS, {"fear": 0.1, "joy": 0.0}, "kl-random")


def test_the_seed_decides_option_orders_and_every_control(subject: Subject, vectors: EmotionVectors) -> None:
    asked: list[str] = []

    def spied(question: str, prefill: str) -> tuple[int, ...]:
        asked.append(question)
        return subject.asked(question, prefill)

    settings = replace(SETTINGS, sweep_layers=(), controls=3)
    seeds, changes = {}, {}
    for seed in (3, 7):
        asked.clear()
        found = validate(replace(subject, asked=spied), vectors, replace(settings, seed=seed))
        assert set(asked) == {report.question for report in self_reports(seed, found.options)}
        terms = [control_terms(replace(settings, seed=seed), _doses(found), kind) for kind in CONTROLS]
        seeds[seed] = {term.seed for kind in terms for term in kind}
        changes[seed] = {float(one) for values in found.controls.values() for one in values.flat}
    assert not seeds[3] & seeds[7]
    assert not changes[3] & changes[7]


def test_controls_are_steered_at_the_layers_that_are_compared(subject: Subject, vectors: EmotionVectors) -> None:
    settings = replace(SETTINGS, sweep_layers=(), layers="4", controls=2)
    found = validate(subject, vectors, settings)
    seed = control_terms(settings, _doses(found), "random")[3].seed
    doses = {"random": "0.5:relative", "kl-random": f"{_doses(found)['fear']:.12f}:kl"}
    for kind, dose in doses.items():
        made = Applier(vectors, subject)(f"random@{dose}:layers=4:seed={seed}").intervention
        got = answers(subject, [made], self_reports(settings.seed, found.options), found.options)[0]
        # The second emotion's second control.
        assert found.controls[kind][1, 1] == pytest.approx(float(found.change(got, 1)), rel=1e-5)


def test_row_f2_a_label_that_is_likely_anyway_does_not_make_a_vector_s_effect() -> None:
    """All prompts end in a word the toy does not know, where its head makes joy likelier by e⁵ than the others.

    A vector of fear that raises the logit of "moral", the first word of its label, by 2 leaves joy ahead: the margin
    stays far below 0, so the label never wins. Its change is above 0, and fear's own label rises most. The label's two
    words have their log-probabilities summed, and a note tells the lengths.
    """
    words = ("…", "joy", "moral", "fear", "neutral")
    embeddings = np.zeros((5, 4))
    embeddings[0, 3] = embeddings[2, 3] = 1
    head = np.zeros((5, 4))
    head[1, 3] = 5
    head[2, 0] = 2
    biased = toy_subject(words, embeddings, head)
    unit = np.eye(4, dtype=np.float32)
    made = EmotionVectors(
        emotions=("joy", "moral_fear"),
        layers=(2,),
        unit=np.stack([unit[1], unit[0]])[:, None],
        norms=np.ones((2, 1), np.float32),
        cosines=np.ones((2, 1), np.float32),
        token_norms=np.ones(1, np.float32),
        model=biased.identity,
        provenance=Provenance("given"),
    )
    settings = Settings(sweep_layers=(), layers="2", strengths=(1.0,), compared=1.0, controls=0)
    found = validate(biased, made, settings)
    assert found.option_tokens == (1, 2, 1)
    fear = found.options.index("moral_fear")
    # "moral" then "fear", each after a word at which joy has e⁵ of e⁵ + 4.
    likely = np.log(np.exp(5) + 4)
    np.testing.assert_allclose(found.neutral[:, fear], -2 * likely, rtol=1e-5)
    after = np.log(np.exp(5) + np.exp(2) + 3)
    np.testing.assert_allclose(found.block[0, 1][:, fear], 2 - 2 * after, rtol=1e-5)
    table = tables.emotions_table(found)
    assert table.columns[2:] == ("margin, steered", "change of margin", "s.e. of change", "own label rises most")
    margin = float(2 - 2 * after - (5 - after))
    change = float(margin - (-2 * likely - (5 - likely)))
    assert margin < 0 < change
    assert table.rows[1][2:4] == pytest.approx((margin, change))
    assert table.rows[1][5] == "yes"
    assert any("moral_fear 2" in note for note in tables.notes(found))
    shown = {report.options for report in self_reports(0, found.options)}
    assert len(shown) > 1


def test_scores_are_what_reports_show(found: Validation) -> None:
    made = tables.scores(found)
    ids = ["self_report", "controls", "plain_text", "by_strength", "positive_margin", "by_layer"]
    assert [table.id for table in made.tables] == ids
    assert [matrix.id for matrix in made.matrices] == ["leakage", "sweep"]
    assert Scores.from_dict(made.to_dict()) == made


def test_without_a_sweep_and_without_hidden_states(subject: Subject, vectors: EmotionVectors) -> None:
    bare = replace(vectors, activations=None)
    seen: list[tuple[str, int, int]] = []
    found = validate(subject, bare, replace(SETTINGS, sweep_layers=(), controls=2), lambda *told: seen.append(told))
    assert found.sweep.shape == (3, 0, 2, 10, 4)
    assert sorted(found.controls) == ["kl-random", "random"]
    assert [table.id for table in tables.scores(found).tables] == [
        "self_report",
        "controls",
        "plain_text",
        "by_strength",
    ]
    assert "Not compared with controls: label-permuted." in tables.notes(found)
    assert ("layers together", 60, 60) in seen
    assert ("controls: random", 60, 60) in seen
    # What cannot be made is told before anything long begins.
    told = [what for what, _, _ in seen]
    assert told.index("controls to be made") < told.index("without steering")
    with pytest.raises(ValueError, match="no layer was swept"):
        tables.heatmap(found)


def test_the_heatmap_draws(found: Validation) -> None:
    from io import BytesIO

    figure = tables.heatmap(found)
    assert [axes.get_title() for axes in figure.axes[:3]] == ["anger", "fear", "joy"]
    drawn = figure.axes[0].images[0].get_array()
    np.testing.assert_allclose(drawn, tables.sweep_changes(found)[0])
    target = BytesIO()
    figure.savefig(target, format="png")
    assert len(target.getvalue()) > 5_000


def test_settings_that_cannot_be() -> None:
    with pytest.raises(UserError, match=r"\(0.2\) is not among the strengths \(0.1\).*--compared"):
        Settings(strengths=(0.1,), compared=0.2)
    for wrong in (0.0, float("nan"), float("inf")):
        with pytest.raises(UserError, match="above 0"):
            Settings(sweep_strengths=(wrong, 1.0))
    with pytest.raises(UserError, match="0 or more"):
        Settings(controls=-1)


def test_vectors_of_another_model_are_not_validated(subject: Subject, vectors: EmotionVectors) -> None:
    with pytest.raises(UserError, match="belong to another toy"):
        validate(subject, replace(vectors, model=replace(vectors.model, tokenizer="else")), SETTINGS)
