"""RQ1 and RQ2 worked by hand, and what constant and missing answers score."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from math import sqrt
from typing import Any

import numpy as np
import pytest

from affectlab.benchmarks.base import Scoring
from affectlab.benchmarks.care import spaces
from affectlab.benchmarks.care.measures import measures
from affectlab.benchmarks.care.nodes import OWN
from affectlab.benchmarks.care.people import row
from affectlab.benchmarks.care.scores import score
from affectlab.errors import UserError
from affectlab.items import Item
from affectlab.metrics.bertscore import BertScorer, Overlap
from affectlab.metrics.predictions import Prediction, PredictionTable
from affectlab.metrics.scores import Scores
from affectlab.stats.bootstrap import Interval

GLAD, CALM, PROUD = "glad_happy_joyful", "calm_peaceful_relaxed", "proud_confident_determined"
HOW = Interval(replicates=50)


def rows(answers: Iterable[tuple[str, str, Any, Any]], variant: str = "") -> list[Prediction]:
    """(story, slot, gold, answer); ``None`` as answer: could not be read."""
    return [
        Prediction(story, story, slot, "ok" if answer is not None else "unparseable", answer, gold, variant)
        for story, slot, gold, answer in answers
    ]


def value(predictions: list[Prediction], name: str, protocol: str = "s") -> float | None:
    return measures(PredictionTable.from_rows(predictions), protocol).value(name)


def scored(predictions: list[Prediction], protocol: str, items: tuple[Item, ...] = ()) -> Scores:
    return score(Scoring(PredictionTable.from_rows(predictions), "neutral", protocol, HOW, items))


def cells(scores: Scores, table: str) -> dict[tuple[Any, ...], Mapping[str, Any]]:
    found = scores.table(table)
    named = [dict(zip(found.columns, line, strict=True)) for line in found.rows]
    return {tuple(v for v in line.values() if isinstance(v, str)): line for line in named}


RATINGS = [
    ("1", "control.general", 1, 2),
    ("1", "control.select", 5, 5),
    ("2", "control.general", 3, 3),
    ("2", "relevance.general", 5, 1),
    ("2", "relevance.urgency", 4, None),
]


def test_rmse_is_pooled_over_the_answers_there_are() -> None:
    # errors as shares of 4: 1/4, 0, 0, 1; mean square (1/16 + 1)/4 = 17/64
    assert value(rows(RATINGS), "appraisal_rmse") == pytest.approx(sqrt(17 / 64))
    # control: (1/16 + 0 + 0)/3;  relevance: the one readable answer is off by the whole scale
    assert value(rows(RATINGS), "control_rmse") == pytest.approx(sqrt(1 / 48))
    assert value(rows(RATINGS), "relevance_rmse") == 1.0
    assert value(rows(RATINGS), "rmse:control.general") == pytest.approx(sqrt(1 / 32))
    # two of five equal, the unread one wrong; four of five read
    assert value(rows(RATINGS), "appraisal_accuracy") == pytest.approx(2 / 5)
    assert value(rows(RATINGS), "appraisal_coverage") == pytest.approx(4 / 5)
    assert value(rows(RATINGS), "coverage:relevance.urgency") == 0.0


def test_the_published_example_of_normalised_rmse() -> None:
    gold, answers = [1, 2, 4, 5, 3], [2, 2, 5, 3, 3]
    # RMSE 1.095445, by the range of the scale 4: .273861; on the levels, 0 to 6, by 6.
    found = rows((str(n), "control.general", g, a) for n, (g, a) in enumerate(zip(gold, answers, strict=True)))
    assert value(found, "appraisal_rmse") == pytest.approx(0.273861, abs=5e-7)
    levels = rows([("1", "positive_level", 0, 6)])
    assert value(levels, "positive_level_rmse") == 1.0


def test_a_constant_answer_scores_the_spread_around_it() -> None:
    # Gold 1..5 answered 3 throughout: squares 4 1 0 1 4, mean 2, root over 4.
    found = rows((str(gold), "control.general", gold, 3) for gold in range(1, 6))
    assert value(found, "appraisal_rmse") == pytest.approx(sqrt(2) / 4)
    assert value(found, "appraisal_accuracy") == pytest.approx(1 / 5)


def test_an_answer_without_gold_counts_for_the_coverage_alone() -> None:
    found = rows([*RATINGS, ("3", "control.general", None, 4), ("3", "control.select", None, None)])
    assert value(found, "appraisal_rmse") == pytest.approx(sqrt(17 / 64))
    assert value(found, "appraisal_accuracy") == pytest.approx(2 / 5)
    assert value(found, "appraisal_coverage") == pytest.approx(5 / 7)
    core = rows([("1", "core_control", "it was mine", "it was mine"), ("2", "core_control", None, "whose")])
    assert value(core, "rouge_l", "core") == 1.0
    assert value(core, "coverage", "core") == 1.0


def test_random_answers_score_what_chance_gives() -> None:
    # Gold g, answers evenly 1 to 5: E (g-a)^2 = (g-3)^2 + 2, so 6 3 2 3 6 for g = 1 to 5: mean 4, root / 4 = .5.
    # All 25 pairs of gold and answer are the exact expectation.
    pairs = [(f"{g}{a}", "control.general", g, a) for g in range(1, 6) for a in range(1, 6)]
    assert value(rows(pairs), "appraisal_rmse") == pytest.approx(0.5)
    assert value(rows(pairs), "appraisal_accuracy") == pytest.approx(1 / 5)
    # Levels 0 to 6: E = 2 * var = 2 * 4 = 8, root / 6.
    levels = [(f"{g}{a}", "positive_level", g, a) for g in range(7) for a in range(7)]
    assert value(rows(levels), "positive_level_rmse") == pytest.approx(sqrt(8) / 6)
    # Each label a coin: against gold {glad}, of four sets over glad and calm with both equally often:
    # F1 0 (none), 1 (glad), 0 (calm), 2/3 (both): mean 5/12.
    coins = [(str(n), "positive_labels", (GLAD,), s) for n, s in enumerate([(), (GLAD,), (CALM,), (GLAD, CALM)])]
    assert value(rows(coins), "positive_example_f1") == pytest.approx(5 / 12)


def test_a_drawn_model_approaches_what_chance_gives() -> None:
    rng = random.Random(0)
    pairs = [(str(n), "control.general", 1 + n % 5, rng.randint(1, 5)) for n in range(4000)]
    found = value(rows(pairs), "appraisal_rmse")
    # Mean square .25; its standard error sqrt(var of (g-a)^2/16) / sqrt(4000): E d^4 is 26.8, so sd 3.29/16 -> .00325.
    assert found is not None
    assert found**2 == pytest.approx(0.25, abs=5 * 0.00325)


SETS = [
    ("1", "positive_labels", (GLAD, CALM), (GLAD,)),
    ("2", "positive_labels", (), ()),
    ("3", "positive_labels", (PROUD,), (GLAD,)),
    ("4", "positive_labels", (), None),
]


def test_label_sets() -> None:
    # example F1: 2*1/(2+1) = 2/3, both empty 1, 0, and an unread reply is no empty set: 0
    assert value(rows(SETS), "positive_example_f1") == pytest.approx((2 / 3 + 1) / 4)
    # pooled: one hit, one false alarm (glad, story 3), two misses (calm, proud): 2/(2+1+2)
    assert value(rows(SETS), "positive_micro_f1") == pytest.approx(2 / 5)
    # glad 2/(2+1) = 2/3, calm and proud 0, seven labels that nobody has 0: /10
    assert value(rows(SETS), "positive_macro_f1") == pytest.approx(2 / 30)
    assert value(rows(SETS), "positive_exact_match") == pytest.approx(1 / 4)
    assert value(rows(SETS), "positive_labels_coverage") == pytest.approx(3 / 4)
    assert value(rows(SETS), f"positive_f1:{GLAD}") == pytest.approx(2 / 3)
    assert value(rows(SETS), "positive_f1:amused_entertained") is None
    assert value(rows(SETS), "negative_example_f1") is None
    # an unread reply misses the labels that are there: 2/(2+1+3)
    unread = rows([*SETS, ("5", "positive_labels", (CALM,), None)])
    assert value(unread, "positive_micro_f1") == pytest.approx(2 / 6)


def test_labels_that_nobody_has_count_0_in_the_interval_of_macro_f1_too() -> None:
    answers = [(str(n), "positive_labels", (GLAD,), (GLAD,) if n else (CALM,)) for n in range(6)]
    figure = scored(rows(answers), "s").figure("positive_macro_f1")
    # At most glad and calm of ten can be right; nine labels are never there, or eight.
    assert figure.high is not None
    assert figure.high <= 0.2


def test_example_f1_rests_on_all_sets() -> None:
    scores = scored(rows(SETS), "s")
    figure = scores.figure("positive_example_f1")
    assert (figure.n, figure.clusters) == (4, 4)
    assert scores.figure("coverage").n == 4
    assert any("1 of 4 answers could not be read" in note for note in scores.notes)


def test_answering_none_always_scores_the_share_of_empty_sets() -> None:
    found = rows((story, slot, gold, ()) for story, slot, gold, _ in SETS)
    assert value(found, "positive_example_f1") == pytest.approx(1 / 2)
    assert value(found, "positive_macro_f1") == value(found, "positive_micro_f1") == 0.0


def test_core_answers_overlap() -> None:
    answers = [
        ("1", "core_control", "I could do nothing about it", "I could do nothing"),  # 4 of 6 and 4 words: 8/10
        ("2", "core_control", "it was mine", "it was mine"),  # 1
        ("3", "core_control", "it was mine", None),  # in no overlap, in the coverage
    ]
    assert value(rows(answers), "rouge_l", "core") == pytest.approx(0.9)
    assert value(rows(answers), "coverage", "core") == pytest.approx(2 / 3)
    line = cells(scored(rows(answers), "core"), "core")[("all",)]
    assert (line["answers"], line["asked"]) == (2, 3)


def test_bertscore_stands_beside_where_an_encoder_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = rows(
        [("1", "core_control", "a", "a"), ("2", "core_control", "a", "b"), ("2", "core_certainty", "a", None)]
    )

    class Scorer:
        signature = "BERTScore F1, x layer 2"

        def score(self, gold: list[str], said: list[str]) -> Overlap:
            assert (gold, said) == (["a", "a"], ["a", "b"])
            return Overlap(np.array([1.0, 0.5]), 3)

    monkeypatch.setattr(BertScorer, "open", lambda _: Scorer())
    table = PredictionTable.from_rows(answers)
    sheet = score(Scoring(table, "neutral", "core", HOW, options={"bertscore": "x@2"}))
    found = cells(sheet, "core")
    assert found[("all",)]["BERTScore"].value == pytest.approx(0.75)
    assert found[("core_control",)]["BERTScore"].clusters == 2
    assert found[("core_certainty",)]["BERTScore"].value is None
    assert "x layer 2, 3 texts too long and cut." in sheet.table("core").note

    def gone(_: str) -> Scorer:
        raise UserError("it is gone")

    monkeypatch.setattr(BertScorer, "open", gone)
    without = score(Scoring(table, "neutral", "core", HOW, options={"bertscore": "x@2"})).table("core")
    assert "BERTScore" not in without.columns
    assert "No BERTScore: it is gone" in without.note


def test_the_middle_of_every_scale_stands_beside_on_this_gold() -> None:
    answers = [*RATINGS, ("1", "positive_level", 0, 6), ("1", "positive_labels", (), (GLAD,)), *SETS[:1]]
    table = scored(rows(answers), "s").table("baselines")
    found = dict(zip(table.columns, table.rows[0], strict=True))
    # ratings 1 5 3 5 4 against 3: squares 4 4 0 4 1, mean 13/5; the level is off by half; of two sets one is empty
    assert found["appraisal_rmse"] == pytest.approx(sqrt(13 / 5) / 4)
    assert found["appraisal_accuracy"] == pytest.approx(1 / 5)
    assert found["positive_level_rmse"] == pytest.approx(1 / 2)
    assert found["positive_example_f1"] == pytest.approx(1 / 2)
    assert "negative_level_rmse" not in found


def test_expectation_stands_beside_the_choice() -> None:
    answers = [("1", "control.general", 4, 5), ("1", "mean:control.general", 4, 4.5)]
    assert value(rows(answers), "appraisal_rmse", "s-likelihood") == pytest.approx(1 / 4)
    assert value(rows(answers), "appraisal_rmse_expected", "s-likelihood") == pytest.approx(0.5 / 4)
    levels = [("1", "positive_level", 6, 4), ("1", spaces.expected("positive_level"), 6, 4.5)]
    # levels go from 0 to 6: off by 2 and by 1.5 of 6
    assert value(rows(levels), "positive_level_rmse", "s-likelihood") == pytest.approx(2 / 6)
    assert value(rows(levels), "positive_level_rmse_expected", "s-likelihood") == pytest.approx(1.5 / 6)


def test_core_answers_are_shown_of_the_presentation_that_asks_them() -> None:
    alone = rows([("1", "control.general", 3, 1)])
    own = rows([("1", "core_control", "it was mine", "it was mine"), ("1", "control.general", 3, 3)], OWN)
    line = cells(scored([*alone, *own], "injection"), "core")[("all",)]
    assert line["ROUGE-L"].value == 1.0


@pytest.mark.parametrize(
    ("protocol", "why"),
    [("counterfactual", "observer on the other side of a midpoint"), ("subjective", "observers")],
)
def test_stories_that_a_protocol_cannot_ask_are_counted(protocol: str, why: str) -> None:
    notes = scored(rows([("1", "control.general", None, 1)]), protocol, STORIES).notes
    assert f"2 of 3 stories have no {why}, or no answer yet, and are in no figure." in notes


def person(**answers: Any) -> dict[str, Any]:
    return {"id": str(answers), "woven": "", "persona": [], "answers": answers, "listed": []}


STORIES = (
    # Two observers, off by 2 and by 0 of 4.
    Item(
        "1",
        0,
        {"observers": [person(**{"control.general": 3, "positive_labels": [GLAD]}), person(**{"control.general": 1})]},
        {"control.general": 1, "positive_labels": (GLAD,)},
    ),
    # One observer, off by 4.
    Item("2", 1, {"observers": [person(**{"control.general": 5})]}, {"control.general": 1}),
    Item("3", 2, {}, {"control.general": 1}),
)


def test_observers_weigh_by_story_on_the_stories_of_the_run() -> None:
    found = row(STORIES[:2], ("appraisal_rmse", "positive_example_f1"), HOW)
    # story 1: mean square (1/4 + 0)/2 = 1/8; story 2: 1; each story once: 9/16
    assert found["appraisal_rmse"].value == pytest.approx(sqrt(9 / 16))
    # one right, the other observer gave no set
    assert found["positive_example_f1"].value == pytest.approx(1 / 2)


def test_one_observer_against_the_others() -> None:
    # Story 1: 3 against 1 and 1 against 3: both off by 2 of 4. Story 2 has no other.
    found = row(STORIES[:2], ("appraisal_rmse",), HOW, loo=True)
    assert found["appraisal_rmse"].value == pytest.approx(0.5)


def test_the_others_speak_by_their_mean() -> None:
    # 1 against 1 1 5 (mean 7/3), twice more; 5 against 1 1 1: squares of 4/3 three times and of 4, over 16.
    people = [person(**{"control.general": level}) for level in (1, 1, 1, 5)]
    found = row((Item("1", 0, {"observers": people}, {}),), ("appraisal_rmse",), HOW, loo=True)
    assert found["appraisal_rmse"].value == pytest.approx(sqrt((3 * (4 / 3) ** 2 + 16) / 4 / 16))


def test_observers_words_weigh_by_story_too() -> None:
    people = [[person(core_control="it was mine")], [person(core_control="not at all")] * 3]
    items = [Item(str(n), n, {"observers": some}, {"core_control": "it was mine"}) for n, some in enumerate(people)]
    assert row(items, ("rouge_l",), HOW)["rouge_l"].value == pytest.approx(1 / 2)


def test_half_of_the_others_is_enough_for_a_label() -> None:
    people = [person(positive_labels=labels) for labels in ([GLAD], [GLAD, CALM], [PROUD], [], [])]
    item = Item("1", 0, {"observers": people}, {})
    # Of the four others: glad against one glad, so against nothing: 0; the same for glad, calm; proud against two glad:
    # 0; the two who have none against two glad: 0 each.
    found = row((item,), ("positive_example_f1", "positive_both_empty"), HOW, loo=True)
    assert (found["positive_example_f1"].value, found["positive_both_empty"].value) == (0.0, 0.0)
    people = [person(positive_labels=labels) for labels in ([GLAD], [GLAD], [GLAD], [], [])]
    item = Item("1", 0, {"observers": people}, {})
    # those who have it against two of four: right, three times; the others against three of four: wrong
    assert row((item,), ("positive_example_f1",), HOW, loo=True)["positive_example_f1"].value == pytest.approx(3 / 5)


def test_both_empty_tells_how_much_agreement_is_of_empty_sets() -> None:
    # Of the four sets one is empty on both sides; the one that could not be read is not.
    assert value(rows(SETS), "positive_both_empty") == pytest.approx(1 / 4)
    assert value(rows(SETS), "positive_exact_match") == pytest.approx(1 / 4)
    line = scored(rows(SETS), "s").table("label_sets")
    assert dict(zip(line.columns, line.rows[0], strict=True))["both empty"].value == pytest.approx(1 / 4)  # type: ignore[union-attr]


def test_observers_stand_on_the_answers_that_the_model_gave() -> None:
    # The observer is 1 off in the general, 4 in the select; the model answers the general alone, 2 off.
    gold: dict[str, Any] = {"control.general": 1, "control.select": 1, "positive_labels": (GLAD,)}
    one = person(**{"control.general": 2, "control.select": 5, "positive_labels": []})
    item = Item("1", 0, {"observers": [one]}, gold)
    said = {"control.general": 3, "control.select": None, "positive_labels": None}
    answers = [("1", slot, gold[slot], answer) for slot, answer in said.items()]
    table = scored(rows(answers), "s", (item,)).table("people")
    found = {line[1]: dict(zip(table.columns, line, strict=True)) for line in table.rows}
    rmse, accuracy, f1 = (found[name] for name in ("appraisal_rmse", "appraisal_accuracy", "positive_example_f1"))
    assert (rmse["model"].value, rmse["observers"].value) == (0.5, 0.25)  # type: ignore[union-attr]
    assert (rmse["observers"].n, rmse["coverage of the model"]) == (1, 0.5)  # type: ignore[union-attr]
    # where an unread answer is wrong, observers stand on both
    assert (accuracy["observers"].value, accuracy["observers"].n) == (0.0, 2)  # type: ignore[union-attr]
    assert (f1["model"].value, f1["observers"].n, f1["coverage of the model"]) == (0.0, 1, 0.0)  # type: ignore[union-attr]


def test_label_counts_of_people_weigh_by_story() -> None:
    # Story 1: two observers, glad and none, against glad: half a hit, half a miss. Story 2: one, calm against glad: an
    # alarm and a miss. 2 * .5 / (2 * .5 + 1 + 1.5)
    people = [[person(positive_labels=[GLAD]), person(positive_labels=[])], [person(positive_labels=[CALM])]]
    items = [Item(str(n), n, {"observers": some}, {"positive_labels": (GLAD,)}) for n, some in enumerate(people)]
    assert row(items, ("positive_micro_f1",), HOW)["positive_micro_f1"].value == pytest.approx(1 / 3.5)


def test_the_human_row_is_on_exactly_the_runs_stories() -> None:
    answers = [(item.id, "control.general", 1, 1) for item in (STORIES[0], STORIES[2])]
    table = scored(rows(answers), "s", STORIES).table("people")
    line = dict(zip(table.columns, table.rows[0], strict=True))
    assert "1 stories with observers" in table.note
    assert line["model"].n == 1  # type: ignore[union-attr]
    assert line["observers"].value == pytest.approx(sqrt(1 / 8))  # type: ignore[union-attr]


def test_every_slot_has_its_scale() -> None:
    assert [spaces.bounds(slot) for slot in ("control.general", "negative_level")] == [(1, 5), (0, 6)]
    assert len(spaces.DIMENSIONS) == 22


def test_the_table_of_label_sets_by_hand() -> None:
    # glad right; both empty; calm for proud; an unread reply to glad. F1 1, 1, 0, 0; two of four right, one of them
    # empty; pooled 1 hit, 1 alarm, 2 misses: 2/5; glad 2/3, the other nine 0: 2/30; three of four read.
    answers = [("1", (GLAD,), (GLAD,)), ("2", (), ()), ("3", (PROUD,), (CALM,)), ("4", (GLAD,), None)]
    table = scored(rows((story, "positive_labels", gold, said) for story, gold, said in answers), "s").table(
        "label_sets"
    )
    line = dict(zip(table.columns, table.rows[0], strict=True))
    assert line.pop("side") == "positive"
    assert {name: cell.value for name, cell in line.items()} == pytest.approx(  # type: ignore[union-attr]
        {
            "example F1": 1 / 2,
            "micro-F1": 2 / 5,
            "macro-F1": 2 / 30,
            "exact match": 1 / 2,
            "both empty": 1 / 4,
            "coverage": 3 / 4,
        }
    )


def test_people_stand_on_what_was_read_in_each_presentation() -> None:
    # Against the writer's 1 the observers are 1 and 2 off in the general, 4 and 0 in the select (of 4); against each
    # other 1 and 4. Alone both are read, given the reasoning the general only.
    gold = {"control.general": 1, "control.select": 1}
    people = [person(**{"control.general": a, "control.select": b}) for a, b in ((2, 5), (3, 1))]
    item = Item("1", 0, {"observers": people}, gold)
    alone = rows(("1", slot, 1, 1) for slot in gold)
    given = rows([("1", "control.general", 1, 1), ("1", "control.select", 1, None)], "s+r")
    found = cells(scored([*alone, *given], "injection", (item,)), "people")
    for shown, writer, others, coverage in (
        ("this run", sqrt((5 / 32 + 1 / 2) / 2), sqrt((1 / 16 + 1) / 2), 1.0),
        ("s+r", sqrt(5 / 32), 1 / 4, 0.5),
    ):
        line = found[shown, "appraisal_rmse"]
        assert line["observers"].value == pytest.approx(writer)
        assert line["one observer against the others"].value == pytest.approx(others)
        assert line["coverage of the model"] == coverage
