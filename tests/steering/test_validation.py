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
from affectlab.steering.coherence import Coherence, coherence
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


def test_p_values_count_the_value_itself() -> None:
    assert tables.p_value(2.0, np.array([1.0, 2.0, 3.0])) == 3 / 4
    assert tables.p_value(4.0, np.array([1.0, 2.0, 3.0])) == 1 / 4


def _made(sweep: np.ndarray, block: np.ndarray | None = None, kl: float = 0.1) -> Validation:
    """A validation of two emotions with one question and given log-probabilities; neutral is even."""
    return Validation(
        name="made",
        settings=Settings(sweep_strengths=(1.0, 4.0), strengths=(0.1, 0.2), compared=0.1, controls=0),
        emotions=("joy", "fear"),
        options=("joy", "fear", "neutral"),
        option_tokens=(1, 2, 1),
        neutral=np.log(np.full((1, 3), 1 / 3)),
        sweep_layers=tuple(range(sweep.shape[1])),
        sweep=sweep,
        block=np.zeros((2, 2, 1, 3)) if block is None else block,
        text=((Coherence(kl, 0), Coherence(kl, 0)), (Coherence(kl, 0), Coherence(5, 6))),
        controls={},
    )


def test_the_paper_s_table_by_hand() -> None:
    """Joy at α 1 is the strongest at layer 0 only, at α 4 at both; a tie (fear, α 4, layer 1) is no positive margin."""
    joy = [[[[0.5, 0.3, 0.2]], [[0.6, 0.2, 0.2]]], [[[0.3, 0.4, 0.3]], [[0.5, 0.4, 0.1]]]]
    fear = [[[[0.5, 0.3, 0.2]], [[0.2, 0.6, 0.2]]], [[[0.3, 0.3, 0.4]], [[0.4, 0.4, 0.2]]]]
    found = _made(np.log(np.array([joy, fear])))
    table = tables.positive_layers(found)
    assert table.columns == ("emotion", "α 1", "α 4")
    assert table.rows == (("joy", "1/2", "2/2"), ("fear", "0/2", "1/2"))
    changes = tables.sweep_changes(found)
    assert changes[0, 0, 0] == pytest.approx(np.log(0.5 / 0.3))
    assert changes[1, 1, 1] == pytest.approx(0)
    # Layer 0: log(5/3) + log 3 + log(3/5) + log 3 = 2 log 3 over four; layer 1: log(3/4) + log(5/4) + log(3/4) + 0 < 0.
    matrix = tables.sweep_matrix(found)
    assert sum(value or 0 for value in matrix.values[0]) == pytest.approx(np.log(3))
    # The two together: (2 log 3 + 2 log(3/4) + log(5/4)) over eight, which is above 0.
    assert tables.suggested_layers(found) == (0, 1)
    by_layer = tables.layers_table(found)
    assert [row[-1] for row in by_layer.rows] == ["yes", "yes"]
    assert (by_layer.columns, by_layer.note.endswith("No others were swept.")) == (
        ("layer", "joy", "fear", "suggested"),
        True,
    )
    assert tables.suggested_layers(_made(np.log(np.array([fear, joy])[:, 1:]))) == ()


def _asked_thrice(sweep: np.ndarray) -> Validation:
    """A validation of two emotions with three questions; neutral is even."""
    block = np.zeros((2, 2, 3, 3))
    return replace(_made(sweep, block), neutral=np.log(np.full((3, 3), 1 / 3)))


def test_margins_are_averaged_over_questions_and_not_counted() -> None:
    """Joy's margins over three questions: 3, −1, −1 (mean 1/3, median −1) at α 1; −3, 1, 1 (mean −1/3) at α 4."""
    at_1 = [[3.0, 0, 0], [0, 1, 0], [0, 1, 0]]
    at_4 = [[0.0, 3, 0], [1, 0, 0], [1, 0, 0]]
    joy = [[at_1, at_4]]
    fear = [[np.zeros((3, 3)), np.zeros((3, 3))]]
    found = _asked_thrice(np.array([joy, fear]))
    assert found.change(found.sweep[0, 0, 0], 0) == pytest.approx(1 / 3)
    assert found.change(found.sweep[0, 0, 1], 0) == pytest.approx(-1 / 3)
    assert tables.positive_layers(found).rows == (("joy", "1/1", "0/1"), ("fear", "0/1", "0/1"))


def _swept(changes: list[list[float]]) -> Validation:
    """Change of margin by emotion and layer, the same at both strengths."""
    sweep = np.zeros((2, len(changes[0]), 2, 1, 3))
    for emotion, row in enumerate(changes):
        for layer, value in enumerate(row):
            sweep[emotion, layer, :, 0, emotion] = value
            sweep[emotion, layer, :, 0, 1 - emotion] = min(0.0, value) - 1
            sweep[emotion, layer, :, 0, 2] = 0 if value > 0 else -value
    return _made(sweep)


def test_suggested_layers_are_the_neighbours_that_do_most_over_emotions() -> None:
    """Means over emotions: 4, 2, 1.9, 3: layers 0 to 2 have 7.9 together, 1 to 3 6.9. By joy alone it would be 1 to 3
    (7.8 against 8.8)."""
    found = _swept([[2.0, 2, 3.8, 3], [6, 2, 0, 3]])
    np.testing.assert_allclose(tables.sweep_changes(found).mean(axis=(0, 2)), [4, 2, 1.9, 3])
    assert tables.suggested_layers(found) == (0, 1, 2)
    assert tables.suggested_layers(replace(found, sweep_layers=(5, 7, 8, 9))) == (7, 8, 9)
    assert tables.suggested_layers(replace(found, sweep_layers=(5, 7, 9, 10))) == (9, 10)
    assert tables.suggested_layers(replace(found, sweep_layers=(2, 5, 8, 11))) == (2,)


@pytest.mark.parametrize(
    ("own", "damaged", "expected"),
    [
        ((3, 2, 2, 0), (0, 0, 0, 0), (0.1, 0.3)),  # two of three are most
        ((3, 3, 3, 3), (0, 0, 1, 3), (0.1, 0.2)),  # one damaged vector is too many
        ((1, 3, 1, 3), (0, 0, 0, 0), (0.2, 0.4)),
        ((1, 1, 1, 1), (0, 0, 0, 0), (None, None)),
    ],
)
def test_suggested_strengths(
    own: tuple[int, ...], damaged: tuple[int, ...], expected: tuple[float | None, float | None]
) -> None:
    block = np.zeros((4, 3, 1, 4))
    for strength, count in enumerate(own):
        for emotion in range(3):
            block[strength, emotion, 0, emotion if emotion < count else 3] = 1
    found = replace(
        _made(np.zeros((2, 0, 2, 1, 3))),
        settings=Settings(strengths=(0.1, 0.2, 0.3, 0.4), compared=0.1, controls=0),
        emotions=("joy", "fear", "anger"),
        options=("joy", "fear", "anger", "neutral"),
        neutral=np.zeros((1, 4)),
        block=block,
        text=tuple(tuple(Coherence(2 if place < count else 0, 0) for place in range(3)) for count in damaged),
    )
    assert tables.suggested_strengths(found) == expected


def test_half_of_the_labels_are_not_most() -> None:
    block = np.zeros((2, 2, 1, 3))
    block[:, 0, 0, 0] = 1
    block[:, 1, 0, 2] = 1
    assert tables.suggested_strengths(_made(np.zeros((2, 0, 2, 1, 3)), block)) == (None, None)


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


def test_leakage_and_strengths_by_hand() -> None:
    """At 0.1 both own labels rise most; at 0.2 joy's vector raises fear more. Shares move from 1/3."""
    weak = [[[0.6, 0.3, 0.1]], [[0.2, 0.5, 0.3]]]
    strong = [[[0.4, 0.5, 0.1]], [[0.2, 0.7, 0.1]]]
    found = _made(np.zeros((2, 0, 2, 1, 3)), np.log(np.array([weak, strong])) - 2)
    matrix = tables.leakage(found)
    expected = np.log(np.array([[0.6, 0.3, 0.1], [0.2, 0.5, 0.3]]) * 3)
    np.testing.assert_allclose(np.array(matrix.values, dtype=float), expected)
    assert (matrix.rows, matrix.columns) == (("joy", "fear"), ("joy", "fear", "neutral"))
    table = tables.strengths_table(found)
    assert [row[1] for row in table.rows] == ["2 of 2", "1 of 2"]
    assert [row[-1] for row in table.rows] == [0, 1]
    assert tables.suggested_strengths(found) == (0.1, 0.1)
    assert "Suggested: 0.1. A strength" in table.note
    assert [row[0] for row in table.rows] == ["0.1", "0.2"]
    assert tables.suggested_strengths(replace(found, text=((Coherence(2, 0),) * 2,) * 2)) == (None, None)
    row = tables.emotions_table(found).rows[0]
    # Joy: margin log(1) = 0 before, log(0.6/0.3) after.
    assert row[1:4] == pytest.approx((0, np.log(2), np.log(2)))
    said = tables.notes(found)
    assert "Not compared with controls: isotropic, same norm, isotropic, same KL, label-permuted." in said
    assert any("joy 1, fear 2, neutral 1" in note for note in said)


def test_scores_are_what_reports_show(found: Validation) -> None:
    from affectlab.report.terminal import make_console

    made = tables.scores(found)
    ids = ["self_report", "controls", "plain_text", "by_strength", "positive_margin", "by_layer"]
    assert [table.id for table in made.tables] == ids
    assert [matrix.id for matrix in made.matrices] == ["leakage", "sweep"]
    assert Scores.from_dict(made.to_dict()) == made
    assert make_console() is not None


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


def test_standard_errors_are_over_questions() -> None:
    """Joy's changes at 0.1 over three questions: 3, 1, 2 (s.d. 1, s.e. 1/√3); fear's 0, 0, 3 (s.d. √3, s.e. 1).

    The two together: 1.5, 0.5, 2.5 (s.d. 1, s.e. 1/√3).
    """
    joy = [[3.0, 0, 0], [1, 0, 0], [2, 0, 0]]
    fear = [[0.0, 0, 0], [0, 0, 0], [0, 3, 0]]
    found = replace(
        _made(np.zeros((2, 0, 2, 1, 3)), np.array([[joy, fear], [fear, joy]])), neutral=np.log(np.full((3, 3), 1 / 3))
    )
    table = tables.emotions_table(found)
    at = table.columns.index("s.e. of change")
    assert [row[at] for row in table.rows] == pytest.approx([3**-0.5, 1, 3**-0.5])
    strengths = tables.strengths_table(found)
    assert strengths.columns[3] == "s.e. of change"
    assert strengths.rows[0][2:4] == pytest.approx((1.5, 3**-0.5))
    alone = tables.emotions_table(_made(np.zeros((2, 0, 2, 1, 3))))
    assert [row[at] for row in alone.rows] == [None, None, None]


def test_plain_text_is_that_of_the_compared_strength_and_means_are_over_emotions() -> None:
    texts = (
        (Coherence(0.1, 0.2, 0.01, 0.02), Coherence(0.3, 0.4, 0.03, 0.04)),
        (Coherence(1.5, 0.4, 0.05, 0.06), Coherence(0.5, 0.2, 0.07, 0.08)),
    )
    found = replace(_made(np.zeros((2, 0, 2, 1, 3))), text=texts)
    weak = tables.text_table(found)
    assert weak.rows == (("joy", "intact", 0.1, 0.01, 0.2, 0.02), ("fear", "intact", 0.3, 0.03, 0.4, 0.04))
    found = replace(found, settings=replace(found.settings, compared=0.2))
    assert tables.text_table(found).rows[0] == ("joy", "damaged", 1.5, 0.05, 0.4, 0.06)
    assert "0.2 × median" in tables.text_table(found).title
    # KL (0.1 + 0.3)/2 and (1.5 + 0.5)/2, NLL rise (0.2 + 0.4)/2 and (0.4 + 0.2)/2.
    assert [row[4:6] for row in tables.strengths_table(found).rows] == [
        pytest.approx((0.2, 0.3)),
        pytest.approx((1.0, 0.3)),
    ]


def test_sizes_of_controls_by_hand() -> None:
    """Joy's controls 1, 2, 3: mean 2, s.d. 1, largest 3. Fear's 0, 4, 2: mean 2, s.d. 2, largest 4. Of both together
    0.5, 3, 2.5: mean 2, s.d. √(1.75), largest 3. The vectors' own changes are log 2, log 1.5 and their mean."""
    block = np.log(np.array([[[[0.5, 0.25, 0.25]], [[0.3, 0.45, 0.25]]]] * 2))
    made = _made(np.zeros((2, 0, 2, 1, 3)), block)
    found = replace(made, controls={"permuted": np.array([[1.0, 2, 3], [0, 4, 2]])})
    table = tables.controls_table(found)
    assert [row[:2] for row in table.rows] == [(("label-permuted"), one) for one in ("joy", "fear", "all")]
    changes = np.array([np.log(2), np.log(1.5)])
    expected = [(changes[0], 2, 1, 3), (changes[1], 2, 2, 4), (changes.mean(), 2, 1.75**0.5, 3)]
    for row, numbers in zip(table.rows, expected, strict=True):
        assert row[2:] == pytest.approx(numbers)
    one = replace(made, controls={"permuted": np.array([[1.0], [0.5]])})
    assert [row[4] for row in tables.controls_table(one).rows] == [None] * 3


def test_without_controls_nothing_is_said_of_p() -> None:
    table = tables.emotions_table(_made(np.zeros((2, 0, 2, 1, 3))))
    assert "p:" not in table.note
    assert not [column for column in table.columns if column.startswith("p ")]
