"""A dozen scenes worked by hand: every figure of the score sheet."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from affectlab.benchmarks.base import Scoring
from affectlab.benchmarks.chiaro.measures import measures
from affectlab.benchmarks.chiaro.scores import score
from affectlab.metrics.predictions import Prediction, PredictionTable
from affectlab.metrics.scores import Scores, Table
from affectlab.stats.bootstrap import Interval
from affectlab.stats.estimate import Estimate


def scored(whole: PredictionTable, protocol: str, replicates: int) -> Scores:
    return score(Scoring(whole, "neutral", protocol, Interval(replicates=replicates)))


NO = None  # no readable answer

# scene: (gold A, gold B), (answer A, answer B), mode. Scene 3: only agent B's line could be read. Scene 12: refused.
SCENES = {
    "01": (("joy", "anger"), ("joy", "anger"), "physical"),
    "02": (("joy", "anger"), ("relief", "anger"), "physical"),
    "03": (("joy", "anger"), (NO, "sadness"), "physical"),
    "04": (("pride", "sadness"), ("pride", "sadness"), "physical"),
    "05": (("pride", "sadness"), ("pride", "anger"), "physical"),
    "06": (("pride", "sadness"), ("joy", "sadness"), "physical"),
    "07": (("fear", "relief"), ("fear", "relief"), "non_physical"),
    "08": (("fear", "relief"), ("fear", "relief"), "non_physical"),
    "09": (("disgust", "gratitude"), ("anger", "relief"), "non_physical"),
    "10": (("disgust", "gratitude"), ("disgust", "gratitude"), "non_physical"),
    "11": (("embarrassment", "excitement"), ("embarrassment", "joy"), "non_physical"),
    "12": (("embarrassment", "excitement"), (NO, NO), "non_physical"),
}


Scenes = Mapping[str, tuple[tuple[str, str], tuple[str | None, str | None], str]]


def table(scenes: Scenes = SCENES) -> PredictionTable:
    return PredictionTable.from_rows(
        Prediction(
            item=scene,
            cluster=scene,
            slot=slot,
            outcome=("refusal" if scene == "12" else "unparseable") if answer is None else "ok",
            value=answer,
            gold=gold,
            position=None if answer is None else 0,
            slices={"mode": mode, "gold_position": "A"},
            flags=("self_corrected",) if scene == "01" else (),
        )
        for scene, (golds, answers, mode) in scenes.items()
        for slot, gold, answer in zip("AB", golds, answers, strict=True)
    )


@pytest.fixture(scope="module")
def scores() -> Scores:
    return scored(table(), "joint", 200)


def value(cell: object) -> float | None:
    return cell.value if isinstance(cell, Estimate) else cell  # type: ignore[return-value]


def rows(table: Table) -> dict[object, tuple[object, ...]]:
    return {row[0]: row[1:] for row in table.rows}


def test_headline(scores: Scores) -> None:
    figures = {figure.name: figure.value for figure in scores.headline}
    # F1 = 2 TP / (answers + gold):
    #   joy 2/(3+3)=1/3, pride 4/(2+3)=4/5, relief 4/(4+2)=2/3, gratitude 2/(1+2)=2/3, excitement 0/(0+2)=0
    #   anger 4/(4+3)=4/7, sadness 4/(3+3)=2/3, fear 4/(2+2)=1, disgust 2/(1+2)=2/3, embarrassment 2/(1+2)=2/3
    assert figures["macro_f1_positive"] == pytest.approx((1 / 3 + 4 / 5 + 2 / 3 + 2 / 3 + 0) / 5)
    assert figures["macro_f1_negative"] == pytest.approx((4 / 7 + 2 / 3 + 1 + 2 / 3 + 2 / 3) / 5)
    assert figures["macro_f1"] == pytest.approx(0.603810, abs=1e-6)
    assert figures["accuracy"] == pytest.approx(14 / 24)  # 6 positive and 8 negative answers are right
    assert figures["joint_accuracy"] == pytest.approx(5 / 12)  # scenes 1, 4, 7, 8, 10
    assert figures["parse_rate"] == pytest.approx(21 / 24)  # 3A, 12A and 12B could not be read
    assert set(figures) == {
        "macro_f1", "macro_f1_positive", "macro_f1_negative", "accuracy", "joint_accuracy", "parse_rate"
    }  # fmt: skip


def test_every_headline_figure_has_an_interval_over_scenes(scores: Scores) -> None:
    for figure in scores.headline:
        assert figure.clusters == 12
        assert figure.low is not None
        assert figure.high is not None
        assert figure.value is not None
        assert 0 <= figure.low <= figure.value <= figure.high <= 1


def test_both_policies(scores: Scores) -> None:
    by_policy = rows(scores.table("headline_by_policy"))
    # Left out: joy 2/(3+2)=2/5, excitement 0/(0+1)=0, anger 4/(4+3)=4/7, embarrassment 2/(1+1)=1; the others as before.
    positive = (2 / 5 + 4 / 5 + 2 / 3 + 2 / 3 + 0) / 5
    negative = (4 / 7 + 2 / 3 + 1 + 2 / 3 + 1) / 5
    left_out = {name: value(cells[1]) for name, cells in by_policy.items()}
    assert left_out["macro_f1_positive"] == pytest.approx(positive)
    assert left_out["macro_f1_negative"] == pytest.approx(negative)
    assert left_out["macro_f1"] == pytest.approx((positive + negative) / 2)
    assert left_out["accuracy"] == pytest.approx(14 / 21)
    assert left_out["joint_accuracy"] == pytest.approx(5 / 10)  # scenes 3 and 12 have an unread answer
    assert value(by_policy["macro_f1"][0]) == pytest.approx(0.603810, abs=1e-6)


def test_per_emotion(scores: Scores) -> None:
    found = rows(scores.table("per_emotion"))
    # emotion: precision, recall, F1, gold, answers, share among answers of the polarity − share in gold.
    # 10 positive and 11 negative answers; 12 gold of each polarity.
    expected = {
        "joy": (1 / 3, 1 / 3, 1 / 3, 3, 3, 3 / 10 - 3 / 12),
        "pride": (1, 2 / 3, 4 / 5, 3, 2, 2 / 10 - 3 / 12),
        "relief": (1 / 2, 1, 2 / 3, 2, 4, 4 / 10 - 2 / 12),
        "gratitude": (1, 1 / 2, 2 / 3, 2, 1, 1 / 10 - 2 / 12),
        "excitement": (None, 0, 0, 2, 0, 0 - 2 / 12),
        "anger": (1 / 2, 2 / 3, 4 / 7, 3, 4, 4 / 11 - 3 / 12),
        "sadness": (2 / 3, 2 / 3, 2 / 3, 3, 3, 3 / 11 - 3 / 12),
        "fear": (1, 1, 1, 2, 2, 2 / 11 - 2 / 12),
        "disgust": (1, 1 / 2, 2 / 3, 2, 1, 1 / 11 - 2 / 12),
        "embarrassment": (1, 1 / 2, 2 / 3, 2, 1, 1 / 11 - 2 / 12),
    }
    assert list(found) == list(expected)
    for label, wanted in expected.items():
        polarity, *figures = found[label]
        assert polarity == ("positive" if label in list(expected)[:5] else "negative")
        assert [value(cell) for cell in figures] == [None if want is None else pytest.approx(want) for want in wanted]


def test_by_mode(scores: Scores) -> None:
    found = rows(scores.table("by_mode"))
    # physical (scenes 1-6): joy 2/(2+3), pride 4/(2+3), anger 4/(3+3), sadness 4/(3+3); the rest 0
    assert value(found["physical"][1]) == pytest.approx((2 / 5 + 4 / 5 + 2 / 3 + 2 / 3) / 10)
    # non-physical (7-12): relief 4/(3+2), gratitude 2/(1+2), fear 1, disgust 2/(1+2), embarrassment 2/(1+2)
    assert value(found["non_physical"][1]) == pytest.approx((4 / 5 + 2 / 3 + 1 + 2 / 3 + 2 / 3) / 10)
    for mode, right, joint, read in (("physical", 7, 2, 11), ("non_physical", 7, 3, 10)):
        scenes, _, accuracy, joint_accuracy, parse_rate = found[mode]
        assert scenes == 6
        assert value(accuracy) == pytest.approx(right / 12)
        assert value(joint_accuracy) == pytest.approx(joint / 6)
        assert value(parse_rate) == pytest.approx(read / 12)


def test_by_slot(scores: Scores) -> None:
    found = rows(scores.table("by_slot"))
    # agent A right in 1, 4, 5, 7, 8, 10, 11; agent B in 1, 2, 4, 6, 7, 8, 10
    assert value(found["A"][2]) == pytest.approx(7 / 12)
    assert value(found["B"][2]) == pytest.approx(7 / 12)
    assert value(found["A"][3]) == pytest.approx(10 / 12)
    assert value(found["B"][3]) == pytest.approx(11 / 12)


def test_baselines(scores: Scores) -> None:
    found = rows(scores.table("baselines"))
    # chance over five options: 12/5 expected answers of each, a fifth of its gold right: 2 (s/5) / (12/5 + s)
    of_three, of_two = 2 * 3 / 5 / (12 / 5 + 3), 2 * 2 / 5 / (12 / 5 + 2)
    assert found["chance"] == (pytest.approx((4 * of_three + 6 * of_two) / 10), pytest.approx(0.2))
    # majority: always joy and always anger, each right 3 times: 6/(12+3) twice, eight zeros
    assert found["majority"] == (pytest.approx(2 * 6 / 15 / 10), pytest.approx(6 / 24))


def test_outcomes_and_flags(scores: Scores) -> None:
    assert rows(scores.table("outcomes")) == {"ok": (21, 21 / 24), "refusal": (2, 2 / 24), "unparseable": (1, 1 / 24)}
    assert rows(scores.table("flags")) == {"self_corrected": (2, 2 / 24)}


def test_position(scores: Scores) -> None:
    letter, chosen, share_chosen, share_right, gap, accuracy = scores.table("position").rows[0]
    assert (letter, chosen, share_chosen, share_right, gap) == ("A", 21, 1.0, 1.0, 0.0)
    assert accuracy == pytest.approx(14 / 24)


def test_differences_of_shares_say_that_they_are(scores: Scores) -> None:
    gaps = [row[-1] for row in scores.table("per_emotion").rows]
    assert all(isinstance(gap, Estimate) and gap.unit == "difference" for gap in gaps)
    assert scores.table("position").units == {"chosen − right": "difference"}
    assert {figure.unit for figure in scores.headline} == {"share"}


def test_confusion_rows_are_gold(scores: Scores) -> None:
    positive, negative = scores.matrices
    assert positive.rows == ("joy", "pride", "relief", "gratitude", "excitement")
    assert positive.columns == (*positive.rows, "no answer")
    assert np.array_equal(
        np.array(positive.values),
        (
            (1, 0, 1, 0, 0, 1),
            (1, 2, 0, 0, 0, 0),
            (0, 0, 2, 0, 0, 0),
            (0, 0, 1, 1, 0, 0),
            (1, 0, 0, 0, 0, 1),
        ),
    )
    assert np.array_equal(
        np.array(negative.values),
        (
            (2, 1, 0, 0, 0, 0),
            (1, 2, 0, 0, 0, 0),
            (0, 0, 2, 0, 0, 0),
            (1, 0, 0, 1, 0, 0),
            (0, 0, 0, 0, 1, 1),
        ),
    )


def test_joint_correctness_for_mcnemar() -> None:
    correct = measures(table(), "joint").correct
    assert {scene for scene, right in correct.items() if right} == {"01", "04", "07", "08", "10"}
    assert len(correct) == 12


def test_a_constant_answer() -> None:
    """Always joy and anger: each right 3 of 24, F1 = 6/(12+3) = 2/5 for both, 0 for eight: macro 0.08."""
    constant = {
        scene: (golds, ("joy", "anger") if scene < "07" else ("anger", "joy"), mode)
        for scene, (golds, _, mode) in SCENES.items()
    }
    figures = {figure.name: figure.value for figure in scored(table(constant), "joint", 20).headline}
    assert figures["macro_f1"] == pytest.approx(0.08)
    assert figures["accuracy"] == pytest.approx(6 / 24)
    assert figures["joint_accuracy"] == pytest.approx(3 / 12)
    assert figures["parse_rate"] == 1.0


def test_open_protocol_counts_swapped_agents() -> None:
    swapped = {
        "1": (("joy", "anger"), ("anger", "joy"), "physical"),  # swapped: no polarity right
        "2": (("joy", "anger"), ("pride", "fear"), "physical"),  # wrong emotions, right polarities
        "3": (("joy", "anger"), ("joy", "joy"), "physical"),  # one of two polarities right, not swapped
        "4": (("joy", "anger"), (NO, "anger"), "physical"),  # unread counts wrong; no pair to judge as swapped
    }
    found = scored(table(swapped), "open", 20)
    assert found.figure("polarity_accuracy").value == pytest.approx(4 / 8)  # 2A, 2B, 3A, 4B
    assert found.figure("swap_rate").value == pytest.approx(1 / 3)
    assert found.matrices[0].id == "confusion"
    # Answers of the other polarity count against macro-F1: joy gold 4, answers 3 (1B, 3A, 3B), right 1: 2/7;
    # anger gold 4, answers 2 (1A, 4B), right 1: 2/6.
    assert found.figure("macro_f1").value == pytest.approx((2 / 7 + 2 / 6) / 10)


def test_order_consistency_is_judged_over_all_orders_of_an_item() -> None:
    answers = {"order=0": ("joy", "anger"), "order=1": ("joy", "fear"), "order=2": ("joy", "anger")}
    several = PredictionTable.from_rows(
        Prediction("1", "1", slot, "ok", answer, gold, variant=variant, position=0)
        for variant, pair in answers.items()
        for slot, answer, gold in zip("AB", pair, ("joy", "anger"), strict=True)
    )
    found = scored(several, "joint", 20)
    assert found.figure("order_consistency").value == pytest.approx(1 / 2)  # A's answer never moved, B's did
    assert found.figure("joint_accuracy").value == pytest.approx(2 / 3)
    assert found.figure("joint_accuracy").clusters == 1


def test_a_polarity_without_gold_is_undefined_and_not_0() -> None:
    only_a = PredictionTable.from_rows(
        Prediction(scene, scene, slot, "ok", answer, "joy" if slot == "A" else None, position=0)
        for scene, pair in (("1", ("joy", "anger")), ("2", ("pride", "fear")))
        for slot, answer in zip("AB", pair, strict=True)
    )
    found = scored(only_a, "joint", 20)
    # joy: gold 2, answers 1, right 1: 2/3; pride, answered and never gold, and the other three 0
    assert found.figure("macro_f1_positive").value == pytest.approx(2 / 3 / 5)
    negative = found.figure("macro_f1_negative")
    assert (negative.value, negative.low, negative.high) == (None, None, None)
    assert negative.reason


def test_notes_say_what_is_missing() -> None:
    partly = dict(list(SCENES.items())[:2])
    notes = " ".join(scored(table(partly), "joint", 20).notes)
    assert "Fewer than 10 gold answers for joy, anger" in notes
    assert "No gold answer is pride" in notes


def row(scene: str, slot: str, gold: str | None, answer: str | None, **more: object) -> Prediction:
    given = {"cluster": scene, "position": None if answer is None else 0, **more}
    return Prediction(item=scene, slot=slot, outcome="ok" if answer else "refusal", value=answer, gold=gold, **given)  # type: ignore[arg-type]


def test_intervals_and_comparisons_cluster_by_the_sampled_scene_not_the_item() -> None:
    """Two versions of a scene are two items in one cluster."""
    rows = [
        row(f"{group}{version}", slot, gold, gold if group < "c" else "fear", cluster=group)
        for group in "abcd"
        for version in "12"
        for slot, gold in (("A", "joy"), ("B", "anger"))
    ]
    found = measures(PredictionTable.from_rows(rows), "joint")
    assert found.clusters == ("a", "b", "c", "d")
    assert not found.units_independent
    assert scored(PredictionTable.from_rows(rows), "joint", 50).figure("joint_accuracy").clusters == 4


def test_over_and_under_prediction_are_named() -> None:
    """Always joy for twenty golds of joy and twenty of pride: joy over, pride under, in every resample."""
    rows = [row(str(n), "A", "joy" if n % 2 else "pride", "joy") for n in range(40)]
    note = scored(PredictionTable.from_rows(rows), "joint", 200).table("per_emotion").note
    assert "Over-predicted (interval above 0): 1 of 10 (joy)." in note
    assert "Under-predicted (below 0): 1 of 10 (pride)." in note


def test_chosen_minus_right_has_its_sign() -> None:
    rows = [
        row(
            str(n), "A", "joy", "joy" if n < 3 else "pride", position=0, slices={"gold_position": "A" if n < 3 else "B"}
        )
        for n in range(4)
    ]
    first = scored(PredictionTable.from_rows(rows), "joint", 20).table("position").rows[0]
    # A was chosen 4 times of 4 and right 3 times of 4
    assert value(first[4]) == pytest.approx(1 - 3 / 4)


def test_baselines_of_ten_options() -> None:
    found = rows(scored(table(), "open", 20).table("baselines"))
    # ten options for 24 answers: 2 (s/10) / (24/10 + s)
    of_three, of_two = 2 * 3 / 10 / (24 / 10 + 3), 2 * 2 / 10 / (24 / 10 + 2)
    assert value(found["chance"][0]) == pytest.approx((4 * of_three + 6 * of_two) / 10)
    assert value(found["chance"][1]) == pytest.approx(0.1)
    # always joy: right 3 times of 24
    assert value(found["majority"][0]) == pytest.approx(2 * 3 / (24 + 3) / 10)


def test_figures_say_what_they_rest_on(scores: Scores) -> None:
    assert [scores.figure(name).n for name in ("macro_f1", "macro_f1_positive", "accuracy")] == [24, 12, 24]
    joy = rows(scores.table("per_emotion"))["joy"]
    precision, recall = joy[1], joy[2]
    assert isinstance(precision, Estimate)
    assert isinstance(recall, Estimate)
    assert (precision.n, recall.n) == (3, 3)


def test_all_wrong_and_all_right_are_not_certain() -> None:
    right = [row(str(n), slot, gold, gold) for n in range(20) for slot, gold in (("A", "joy"), ("B", "fear"))]
    accuracy = scored(PredictionTable.from_rows(right), "joint", 50).figure("accuracy")
    assert accuracy.value == accuracy.high == 1.0
    # Wilson on 20 clusters: 1 / (1 + 1.959964^2 / 20)
    assert accuracy.low == pytest.approx(20 / (20 + 1.959964**2), abs=1e-6)


def test_a_label_that_a_resample_misses_does_not_pull_its_macro_f1_down() -> None:
    """All right on ten scenes of all emotions: every resample is all right too."""
    perfect = {scene: (golds, golds, mode) for scene, (golds, _, mode) in list(SCENES.items())[:12]}
    figure = scored(table(perfect), "joint", 200).figure("macro_f1")
    assert figure.value == 1.0
    assert figure.low in (None, 1.0)


def test_predictions_without_gold_are_counted_and_not_scored() -> None:
    rows_ = [row(str(n), slot, None, label) for n in range(6) for slot, label in (("A", "joy"), ("B", "fear"))]
    found = scored(PredictionTable.from_rows(rows_), "joint", 20)
    by_emotion = rows(found.table("per_emotion"))
    assert [by_emotion[label][5] for label in ("joy", "pride", "fear")] == [6, 0, 6]
    assert value(by_emotion["joy"][3]) is None
    assert {table.id for table in found.tables}.isdisjoint({"baselines", "by_slot", "by_mode"})
