"""What validation's tables say of given log-probabilities, by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from affectlab.steering import validation_tables as tables
from affectlab.steering.coherence import Coherence
from affectlab.steering.validation import Settings, Validation


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
