from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from affectlab.benchmarks.emoscene.answers import SLOTS, answers_of, details
from affectlab.benchmarks.emoscene.measures import counted, measures
from affectlab.metrics.predictions import Prediction, PredictionTable
from affectlab.stats.measures import Measures


def rows(
    name: str, gold: Sequence[str] | None, said: Sequence[str] | None, condition: str = "neutral", repeat: int = 0
) -> list[Prediction]:
    """One scenario's eight answers; ``said`` ``None`` where no reply could be read."""
    return [
        Prediction(
            item=name,
            cluster=name,
            slot=slot,
            outcome="unparseable" if said is None else "ok",
            value=None if said is None else "present" if slot in said else "absent",
            gold=None if gold is None else "present" if slot in gold else "absent",
            condition=condition,
            repeat=repeat,
        )
        for slot in SLOTS
    ]


def measured(*scenarios: list[Prediction]) -> Measures:
    return measures(PredictionTable.from_rows(row for scenario in scenarios for row in scenario), "list")


THREE = measured(
    rows("one", ["joy", "trust"], ["joy", "fear"]),
    rows("two", [], []),
    rows("three", ["joy"], None),
)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        # joy: hit in one, missed (unread) in three: F1 2 / (2 + 0 + 1); trust missed, fear a false alarm: 0; over 8
        ("macro_f1", 2 / 3 / 8),
        ("macro_precision", 1 / 8),
        ("macro_recall", 0.5 / 8),
        # hits 1, false alarms 1, misses 2
        ("micro_f1", 2 / 5),
        # one: 2 * 1 / (2 + 2); two: both empty, 1; three: unread, 0
        ("example_f1", (0.5 + 1 + 0) / 3),
        ("exact_match", 1 / 3),
        # one: trust and fear of eight; three: all eight
        ("hamming_loss", (2 + 0 + 8) / 24),
        ("parse_rate", 16 / 24),
        # three left out: joy has only its hit
        ("macro_f1:answered", 1 / 8),
        ("macro_recall:answered", 1 / 8),
        ("micro_f1:answered", 2 / 4),
        ("example_f1:answered", 1.5 / 2),
        ("exact_match:answered", 1 / 2),
        ("hamming_loss:answered", 2 / 16),
        ("precision:joy", 1.0),
        ("recall:joy", 0.5),
        ("f1:joy", 2 / 3),
        ("precision:trust", None),
        ("recall:fear", None),
        ("f1:fear", 0.0),
        # gold: joy with trust in 1 of 3; answers: joy with fear in 1 of 3; 28 pairs
        ("cooccurrence_gap", 2 / 3 / 28),
    ],
)
def test_figures_by_hand(name: str, value: float | None) -> None:
    assert THREE.value(name) == (None if value is None else pytest.approx(value))


def test_scenarios_right_in_all_eight() -> None:
    assert THREE.correct == {"one": False, "two": True, "three": False}
    assert THREE.units_independent


def test_always_yes_scores_what_shares_say() -> None:
    # joy in 3 of 4, fear in 1 of 4: F1 = 2 n / (N + n) = 6/7 and 2/5; the other six: 0
    golds: tuple[list[str], ...] = (["joy"], ["joy", "fear"], ["joy"], [])
    found = measured(*(rows(str(number), gold, SLOTS) for number, gold in enumerate(golds)))
    assert found.value("macro_f1") == pytest.approx((6 / 7 + 2 / 5) / 8)
    assert found.value("macro_recall") == pytest.approx(2 / 8)
    assert found.value("macro_precision") == pytest.approx((3 / 4 + 1 / 4) / 8)
    # 4 of 32 answers are right
    assert found.value("hamming_loss") == pytest.approx(28 / 32)


def test_always_no_scores_zero_and_matches_empty_sets() -> None:
    found = measured(rows("a", ["joy"], []), rows("b", [], []))
    assert [found.value(name) for name in ("macro_f1", "micro_f1", "example_f1")] == [0.0, 0.0, 0.5]


def test_nothing_to_score_is_undefined() -> None:
    found = measured(rows("a", None, ["joy"]))
    for name in ("macro_f1", "micro_f1", "example_f1", "exact_match", "hamming_loss", "cooccurrence_gap"):
        assert found.value(name) is None
    assert found.value("parse_rate") == 1.0


def test_a_scenario_half_asked_counts_for_emotions_and_not_as_a_whole() -> None:
    half = rows("a", ["joy"], ["joy"])[:3]
    found = measured(half, rows("b", ["joy"], []))
    assert found.value("f1:joy") == pytest.approx(2 / 3)
    assert found.value("exact_match") == 0.0
    assert found.correct == {"b": False}


def test_repeats_are_units_of_one_cluster() -> None:
    found = measured(rows("a", ["joy"], ["joy"]), rows("a", ["joy"], [], repeat=1))
    assert list(found.correct.values()) == [True, False]
    assert not found.units_independent
    assert found.clusters == ("a",)


SETS = st.lists(st.booleans(), min_size=8, max_size=8)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(SETS, SETS), min_size=1, max_size=12))
def test_figures_are_those_of_scikit_learn(pairs: list[tuple[list[bool], list[bool]]]) -> None:
    from sklearn.metrics import f1_score, hamming_loss, precision_score, recall_score

    gold, said = (np.array([pair[side] for pair in pairs], dtype=int) for side in (0, 1))

    def names(row: list[bool]) -> list[str]:
        return [slot for slot, there in zip(SLOTS, row, strict=True) if there]

    found = measured(*(rows(str(number), names(a), names(b)) for number, (a, b) in enumerate(pairs)))
    right = {
        "macro_f1": f1_score(gold, said, average="macro", zero_division=0),
        "macro_precision": precision_score(gold, said, average="macro", zero_division=0),
        "macro_recall": recall_score(gold, said, average="macro", zero_division=0),
        "micro_f1": f1_score(gold, said, average="micro", zero_division=0),
        "example_f1": f1_score(gold, said, average="samples", zero_division=1),
        "hamming_loss": hamming_loss(gold, said),
        "exact_match": (gold == said).all(axis=1).mean(),
    }
    assert {name: found.value(name) for name in right} == pytest.approx(right)


def test_details_go_to_their_scenario_and_condition() -> None:
    from dataclasses import replace

    neutral = [replace(row, detail={"log_odds": 1.5}) for row in rows("b", ["joy"], ["joy"])[:2]]
    repeated = [replace(row, detail={"log_odds": -2.0}) for row in rows("b", ["joy"], ["joy"], repeat=1)[2:3]]
    other = [replace(row, detail={"log_odds": 9.0}) for row in rows("b", ["joy"], ["joy"], "anger")]
    whole = PredictionTable.from_rows([*rows("a", [], []), *other, *neutral, *repeated])
    answers = answers_of(whole.where(whole.condition.equals("neutral")))
    found = details(answers, [*rows("a", [], []), *other, *neutral, *repeated], "log_odds", "neutral")
    by_key = dict(zip(answers.keys, found.tolist(), strict=True))
    assert np.isnan(by_key["a", "", 0]).all()
    assert by_key["b", "", 0][:2] == [1.5, 1.5]
    assert by_key["b", "", 1][2] == -2.0
    assert np.nansum(found) == pytest.approx(1.0)


def test_other_answers_to_the_same_scenarios() -> None:
    answers = answers_of(PredictionTable.from_rows(rows("a", ["joy"], [])))
    perfect = counted(answers.deciding(answers.gold == 1))
    assert perfect.value("exact_match") == 1.0
    assert perfect.value("hamming_loss") == 0.0
