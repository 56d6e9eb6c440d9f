"""Ten records and seven chains worked by hand: every figure of the score sheet."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from affectlab.benchmarks.base import Asking, Scoring
from affectlab.benchmarks.cue.measures import CODES, measures
from affectlab.benchmarks.cue.protocols import PROTOCOLS, TASKS
from affectlab.benchmarks.cue.references import REFERENCES
from affectlab.benchmarks.cue.scores import score
from affectlab.items import Item
from affectlab.metrics.predictions import Prediction, PredictionTable
from affectlab.metrics.scores import Scores, Table
from affectlab.models.base import Response
from affectlab.stats.bootstrap import Interval
from affectlab.stats.estimate import Estimate

NO = None  # no readable answer
POS, NEU, NEG, VEIL, SARC = "positive", "neutral", "negative", "veiled_negative", "sarcastic_negative"

# Task -> (gold, answer) of records 1 to 10.
ANSWERS: dict[str, list[tuple[str, str | None]]] = {
    "stance": [
        (POS, POS), (POS, POS), (POS, NEU), (NEU, NEU), (NEU, NO),
        (NEG, NEG), (NEG, VEIL), (VEIL, VEIL), (SARC, POS), (SARC, SARC),
    ],
    "intent": [
        ("functional", "functional"), ("functional", "functional"), ("functional", "functional"),
        ("functional", "irony"), ("irony", "irony"), ("irony", "irony"), ("irony", "functional"), ("irony", NO),
        ("humor", "humor"), ("humor", "irony"),
    ],
    "emotion": [
        (NEU, NEU), (NEU, NEU), (NEU, NEU), (NEU, NEU), (NEU, NEU),
        ("love", "love"), ("love", NEU), ("love", NEU), ("awe", NEU), ("awe", NO),
    ],
}  # fmt: skip


def row(item: str, slot: str, gold: str, answer: str | None, **more: Any) -> Prediction:
    return Prediction(item, item, slot, "unparseable" if answer is None else "ok", answer, gold, **more)


def table() -> PredictionTable:
    return PredictionTable.from_rows(
        row(f"{number:02d}", task, gold, answer, slices={"scenario_type": "dialogue" if number <= 5 else "qa"})
        for task, pairs in ANSWERS.items()
        for number, (gold, answer) in enumerate(pairs, 1)
    )


def scored(predictions: PredictionTable, protocol: str = "direct") -> Scores:
    return score(Scoring(predictions, "neutral", protocol, Interval(replicates=100)))


@pytest.fixture(scope="module")
def scores() -> Scores:
    return scored(table())


def figures(scores: Scores) -> dict[str, float | None]:
    return {figure.name: figure.value for figure in scores.headline}


def cells(found: Table) -> dict[object, list[Any]]:
    return {line[0]: [cell.value if isinstance(cell, Estimate) else cell for cell in line[1:]] for line in found.rows}


# F1 = 2 TP / (gold + answers).
# stance: positive 4/(3+3) = 2/3, neutral 2/(2+2) = 1/2, negative 2/(2+1) = 2/3, veiled 2/(1+2) = 2/3,
#   sarcastic 2/(2+1) = 2/3, the other four 0: macro (4 * 2/3 + 1/2) / 9 = 19/54;
#   weighted (3 * 2/3 + 2 * 1/2 + 2 * 2/3 + 1 * 2/3 + 2 * 2/3) / 10 = 19/30.
# intent: functional 6/(4+4) = 3/4, irony 4/(4+4) = 1/2, humor 2/(2+1) = 2/3: macro (23/12) / 8 = 23/96;
#   weighted (4 * 3/4 + 4 * 1/2 + 2 * 2/3) / 10 = 19/30.
# emotion: neutral 10/(5+8) = 10/13, love 2/(3+1) = 1/2, awe 0: macro (33/26) / 25 = 33/650;
#   weighted (5 * 10/13 + 3 * 1/2) / 10 = 139/260.
EXPECTED = {
    "accuracy:stance": Fraction(6, 10), "macro_f1:stance": Fraction(19, 54), "weighted_f1:stance": Fraction(19, 30),
    "accuracy:intent": Fraction(6, 10), "macro_f1:intent": Fraction(23, 96), "weighted_f1:intent": Fraction(19, 30),
    "accuracy:emotion": Fraction(6, 10), "macro_f1:emotion": Fraction(33, 650),
    "weighted_f1:emotion": Fraction(139, 260),
}  # fmt: skip


def test_headline(scores: Scores) -> None:
    found = figures(scores)
    average = sum(EXPECTED.values()) / 9
    # All three right: records 1, 2 and 6. Unread: 5 (stance), 8 (intent), 10 (emotion).
    right = {**EXPECTED, "average": average, "joint_accuracy": Fraction(3, 10), "parse_rate": Fraction(27, 30)}
    assert found == {name: pytest.approx(float(value)) for name, value in right.items()}
    assert scores.headline[0].name == "average"
    assert scores.headline[0].low is not None


def test_left_out(scores: Scores) -> None:
    found = cells(scores.table("tasks"))
    # stance without record 5: neutral 2/(1+2) = 2/3, so five labels have 2/3: macro 10/27; accuracy 6 of 9.
    assert found["stance"][3:] == pytest.approx([6 / 9, 10 / 27, 2 / 3, 9 / 10])
    # intent without 8: irony 4/(3+4) = 4/7; weighted (4 * 3/4 + 3 * 4/7 + 2 * 2/3) / 9.
    assert found["intent"][3:] == pytest.approx([6 / 9, (3 / 4 + 4 / 7 + 2 / 3) / 8, (3 + 12 / 7 + 4 / 3) / 9, 9 / 10])


def test_by_label(scores: Scores) -> None:
    found = cells(scores.table("per_stance"))
    # precision, recall, F1, support, predicted
    assert found[POS] == pytest.approx([2 / 3, 2 / 3, 2 / 3, 3, 3])
    assert found[VEIL] == pytest.approx([1 / 2, 1, 2 / 3, 1, 2])
    assert found[NEU] == pytest.approx([1 / 2, 1 / 2, 1 / 2, 2, 2])  # record 5, unread, is gold of it all the same
    assert found["formulaic_positive"] == [None, None, None, 0, 0]
    assert cells(scores.table("per_emotion"))["awe"] == [None, 0, 0, 2, 0]


def test_confusion_has_nine_rows_and_a_column_for_no_answer(scores: Scores) -> None:
    matrix = next(matrix for matrix in scores.matrices if matrix.id == "confusion_stance")
    assert (len(matrix.rows), len(matrix.columns), matrix.columns[-1]) == (9, 10, "no answer")
    of = {
        gold: dict(zip(matrix.columns, line, strict=True))
        for gold, line in zip(matrix.rows, matrix.values, strict=True)
    }
    assert (of[POS][POS], of[POS][NEU], of[NEU]["no answer"], of[SARC][POS]) == (2, 1, 1, 1)
    assert sum(count or 0 for line in matrix.values for count in line) == 10


def test_by_scenario_type(scores: Scores) -> None:
    found = scores.table("by_scenario_type_accuracy")
    lines = {line[0]: dict(zip(found.columns, line, strict=True)) for line in found.rows}
    assert lines["dialogue"]["records"] == 5
    assert isinstance(lines["qa"]["accuracy:emotion"], Estimate)
    assert lines["qa"]["accuracy:emotion"].value == pytest.approx(1 / 5)  # of 6 to 10 only 6
    assert not [table.id for table in scores.tables if table.id.startswith("by_quality_tier")]


def test_by_quality_tier() -> None:
    tiers = ("human", "human", "gpt_arbitration")
    answers = (POS, NEG, POS)
    rows = [row(str(n), "stance", POS, answers[n], slices={"quality_tier": tiers[n]}) for n in range(3)]
    found = cells(scored(PredictionTable.from_rows(rows)).table("by_quality_tier_accuracy"))
    assert found == {"human": [2, 1 / 2], "gpt_arbitration": [1, 1]}


def test_thin_and_absent_labels_are_named(scores: Scores) -> None:
    notes = " ".join(scores.notes)
    assert "Pragmatic intent: support is under 10 for irony, functional, humor;" in notes
    assert "Affective stance: no gold for formulaic_positive, understated_positive," in notes


def test_many_thin_labels_are_counted_and_ten_are_enough() -> None:
    # Ten of positive, one each of the other eight stances; then two of one, which leaves nine thin emotions.
    stances = [POS] * 10 + [label for label in CODES["stance"] if label != POS]
    nine = list(CODES["emotion"])[:9]
    emotions = [*nine, nine[-1]]
    rows = [row(f"s{n}", "stance", label, label) for n, label in enumerate(stances)]
    rows += [row(f"e{n}", "emotion", label, label) for n, label in enumerate(emotions)]
    notes = " ".join(scored(PredictionTable.from_rows(rows)).notes)
    assert "Affective stance: support is under 10 for formulaic_positive, sarcastic_negative," in notes
    assert "Fine-grained emotion: support is under 10 for 9 of the 25 labels;" in notes
    assert "Fine-grained emotion: no gold for 16 of the 25 labels." in notes


def test_the_majority_row_is_what_a_constant_answer_scores(scores: Scores) -> None:
    constant = {"stance": POS, "intent": "irony", "emotion": NEU}
    always = PredictionTable.from_rows(
        row(str(number), task, gold, constant[task])
        for task, pairs in ANSWERS.items()
        for number, (gold, _) in enumerate(pairs)
    )
    found = scores.table("baselines")
    majority = dict(zip(found.columns[1:], cells(found)["majority"], strict=True))
    assert {name: figures(scored(always))[name] for name in majority} == pytest.approx(majority)
    # stance: positive 6/(10+3), the rest 0; intent: functional and irony tie, the first declared (irony) is taken.
    assert majority["macro_f1:stance"] == pytest.approx(6 / 13 / 9)


def test_the_chance_row_is_what_every_label_once_scores(scores: Scores) -> None:
    every = PredictionTable.from_rows(
        row(str(number), task, gold, label, repeat=repeat)
        for task, pairs in ANSWERS.items()
        for number, (gold, _) in enumerate(pairs)
        for repeat, label in enumerate(CODES[task])
    )
    found = scores.table("baselines")
    chance = dict(zip(found.columns[1:], cells(found)["chance"], strict=True))
    assert chance["accuracy:emotion"] == pytest.approx(1 / 25)
    assert {name: figures(scored(every))[name] for name in chance} == pytest.approx(chance)


def test_figures_are_those_of_scikit_learn() -> None:
    from sklearn.metrics import accuracy_score, f1_score

    random = np.random.default_rng(7)
    rows: list[Prediction] = []
    expected = {}
    for task in TASKS:
        labels = list(CODES[task])
        gold = random.choice(labels[:-1], 200).tolist()
        answers = [label if random.random() < 0.8 else None for label in random.choice(labels, 200).tolist()]
        rows += [row(str(i), task, *pair) for i, pair in enumerate(zip(gold, answers, strict=True))]
        told = ["none" if answer is None else answer for answer in answers]
        expected[f"accuracy:{task}"] = accuracy_score(gold, told)
        for name in ("macro", "weighted"):
            expected[f"{name}_f1:{task}"] = f1_score(gold, told, labels=labels, average=name, zero_division=0)
    found = figures(scored(PredictionTable.from_rows(rows)))
    assert {name: found[name] for name in expected} == pytest.approx(expected)
    assert found["average"] == pytest.approx(sum(expected.values()) / 9)


GOLD = {
    "explicit": "positive", "implicit": "negative", "stance": SARC, "intent": "irony", "emotion": "contempt",
}  # fmt: skip
KEYS = {
    "explicit": "explicit_polarity", "implicit": "implicit_polarity", "stance": "affective_stance",
    "intent": "pragmatic_intent", "emotion": "fine_grained_emotion",
}  # fmt: skip
# What each of seven replies gets wrong.
CHAINS: list[Mapping[str, str | None]] = [
    {},
    {"explicit": "neutral"},  # states sarcastic_negative all the same: contradicts its signals
    {"implicit": None},
    {"stance": "positive"},  # contradicts its signals
    {"intent": "humor"},
    {"emotion": "love"},
    {"explicit": "neutral", "stance": VEIL, "emotion": "love"},
]


def chain_predictions(chains: Iterable[Mapping[str, str | None]]) -> list[Prediction]:
    rows: list[Prediction] = []
    for index, wrong in enumerate(chains):
        item = Item(f"r{index + 1}", index, {"text": "t", "context": ""}, GOLD)
        reply = json.dumps({KEYS[slot]: label for slot, label in {**GOLD, **wrong}.items()})
        rows += PROTOCOLS["matrix"].read(item, Asking(), {("", "matrix"): Response(reply)})
    return rows


def chain_rows(chains: Iterable[Mapping[str, str | None]]) -> PredictionTable:
    return PredictionTable.from_rows(chain_predictions(chains))


def test_where_a_chain_first_goes_wrong() -> None:
    scores = scored(chain_rows(CHAINS), "matrix")
    found = cells(scores.table("chain"))
    # First errors: explicit in 2 and 7, implicit in 3, stance in 4, intent in 5, emotion in 6, none in 1.
    assert {level: line[1] for level, line in found.items()} == pytest.approx(
        {"explicit": 2 / 7, "implicit": 1 / 7, "stance": 1 / 7, "intent": 1 / 7, "emotion": 1 / 7, "none": 1 / 7}
    )
    after = [found[level][2] for level in ("explicit", "implicit", "stance", "intent", "emotion")]
    assert after == pytest.approx([5 / 7, 4 / 5, 3 / 4, 2 / 3, 1 / 2])
    # The stated stance is wrong in 4 and 7.
    assert found["stance"][0] == pytest.approx(5 / 7)


def test_signals_and_contradictions() -> None:
    scores = scored(chain_rows(CHAINS), "matrix")
    found = figures(scores)
    # φ is wrong where a signal is: 2, 3 (unread) and 7. Both stances can be read in six replies, differ in 2 and 4.
    assert found["accuracy:stance"] == pytest.approx(4 / 7)
    assert found["contradiction_rate"] == pytest.approx(2 / 6)
    assert (found["accuracy:explicit"], found["accuracy:implicit"]) == pytest.approx((5 / 7, 6 / 7))
    # explicit: gold positive 7, answers positive 5: 10/12; implicit: negative 6 of 6: 12/13; three labels each.
    signals = cells(scores.table("signals"))
    assert [signals[slot][1] for slot in ("explicit", "implicit")] == pytest.approx([10 / 12 / 3, 12 / 13 / 3])
    assert signals["stated_stance"][0] == pytest.approx(5 / 7)


def test_likelihood_is_shown_per_token_too() -> None:
    """By sum -4 beats -6; per token -6 over 3 tokens (-2) beats -4 over one."""
    item = Item("r", 0, {"text": "t", "context": ""}, GOLD)
    labels = list(CODES["stance"])
    logprobs, tokens = [-30.0] * 9, [1] * 9
    logprobs[labels.index(POS)] = -4.0
    logprobs[labels.index(SARC)], tokens[labels.index(SARC)] = -6.0, 3
    response = Response(None, "scored", logprobs=tuple(logprobs), option_tokens=tuple(tokens))
    rows = PROTOCOLS["likelihood"].read(item, Asking(order="fixed"), {("", "stance"): response})
    whole = PredictionTable.from_rows(rows)
    (asked,) = rows
    others = [replace(asked, item="no gold", gold=None), replace(asked, condition="anger", item="another state")]
    more = replace(asked, item="other gold", gold=POS)  # right by sum, wrong per token
    scoring = Scoring(whole, "neutral", "likelihood", Interval(replicates=10), predictions=[asked, *others])
    assert cells(score(scoring).table("per_token")) == {"stance": [1, 0, 1, 1]}
    scoring = replace(scoring, predictions=[asked, more, *others])
    assert cells(score(scoring).table("per_token")) == {"stance": [2, 1 / 2, 1 / 2, 1]}
    assert figures(scored(whole, "likelihood"))["accuracy:stance"] == 0


def test_direct_has_no_chain(scores: Scores) -> None:
    assert {"chain", "signals"}.isdisjoint(table.id for table in scores.tables)
    assert "contradiction_rate" not in figures(scores)


def test_one_task_is_led_by_its_macro_f1() -> None:
    whole = table()
    only = scored(whole.where(whole.slot.equals("intent")), "oracle-stance-intent")
    assert [figure.name for figure in only.headline][:2] == ["macro_f1:intent", "accuracy:intent"]
    assert "average" not in figures(only)
    found = measures(whole.where(whole.slot.equals("intent")), "x")
    assert found.headline == "macro_f1:intent"
    assert found.value("joint_accuracy") is None  # of three tasks, not of one


def test_units_are_records_right_in_every_task() -> None:
    found = measures(table(), "direct")
    assert {name for name, right in found.correct.items() if right} == {"01", "02", "06"}
    assert found.units_independent
    # Of the chains 1 and 4 are: 4 is wrong in the stated stance alone, which is no task.
    chains = measures(chain_rows(CHAINS), "matrix").correct
    assert {name for name, right in chains.items() if right} == {"r1", "r4"}


def test_units_have_gold_for_every_task_and_may_share_a_source() -> None:
    rows = [
        row("1", "stance", POS, POS), row("1", "intent", "humor", "humor"),
        row("2", "stance", POS, POS), replace(row("2", "intent", "humor", "humor"), gold=None),
        replace(row("3", "stance", POS, NEG), cluster="1"),
    ]  # fmt: skip
    found = measures(PredictionTable.from_rows(rows), "direct")
    assert dict(found.correct) == {"1": True, "3": False}
    assert not found.units_independent  # 3 is of the source of 1


def test_an_order_and_a_repeat_stand_alone() -> None:
    """Three right answers of different presentations are not one that is right in all three tasks."""
    labels = {"stance": POS, "intent": "humor", "emotion": "love"}
    for told in ({"variant": "order="}, {"repeat": ""}):
        name = next(iter(told))
        rows = [
            row("1", task, gold, gold if place == wave else None, **{name: f"order={wave}" if told[name] else wave})
            for wave in range(3)
            for place, (task, gold) in enumerate(labels.items())
        ]
        found = measures(PredictionTable.from_rows(rows), "direct")
        # Each of the three presentations has one answer right.
        assert found.value("joint_accuracy") == 0
        assert found.value("accuracy:stance") == pytest.approx(1 / 3)


def test_chains_are_judged_by_repeat_and_only_with_gold_at_every_level() -> None:
    once = chain_predictions([{}, {"explicit": "neutral"}])
    again = [replace(line, repeat=1) for line in chain_predictions([{"emotion": "love"}, {}])]
    half = [
        replace(line, item="half", cluster="half", gold=None if line.slot == "intent" else line.gold)
        for line in chain_predictions([{}])
    ]
    # Right as a whole: one of two; two of four with the repeat; the one without a gold intent is no chain.
    for rows, n in ((once, 2), (once + again, 4), (once + half, 2)):
        found = scored(PredictionTable.from_rows(rows), "matrix").table("chain")
        (none,) = [line[2] for line in found.rows if line[0] == "none"]
        assert isinstance(none, Estimate)
        assert (none.value, none.n) == (1 / 2, n)


def test_intervals_do_not_charge_labels_that_a_resample_lacks() -> None:
    """25 records, all right, all labels there: a resample lacks some, and is perfect all the same."""
    always = PredictionTable.from_rows(
        row(f"{number:02d}", task, label, label)
        for number in range(25)
        for task, codes in ((task, list(CODES[task])) for task in TASKS)
        for label in [codes[number % len(codes)]]
    )
    for figure in scored(always).headline:
        assert figure.value == 1
        assert figure.low in (None, 1) or not figure.name.startswith(("macro_f1", "average"))


def test_order_consistency_wants_the_same_readable_answer() -> None:
    rows = [
        row("1", "stance", POS, POS, variant="order=0"), row("1", "stance", POS, POS, variant="order=1"),
        row("2", "stance", POS, POS, variant="order=0"), row("2", "stance", POS, NEG, variant="order=1"),
        row("3", "stance", POS, NO, variant="order=0"), row("3", "stance", POS, NO, variant="order=1"),
        row("4", "stance", POS, NEG, variant="order=0"), row("4", "stance", POS, NEG, variant="order=1"),
    ]  # fmt: skip
    assert figures(scored(PredictionTable.from_rows(rows)))["order_consistency"] == pytest.approx(2 / 4)
    # Asked again, 1 is consistent in another answer: a repeat is not an order. 3 of 5.
    again = [replace(line, value=NEG, repeat=1) for line in rows[:2]]
    assert figures(scored(PredictionTable.from_rows([*rows, *again])))["order_consistency"] == pytest.approx(3 / 5)


def test_joint_accuracy_in_every_order_joins_each_order_of_the_longest_list() -> None:
    # The referee's run: stance (9 orders) and intent (8) always right, emotion right in its orders 8 to 24 of 25.
    rows = [
        row("1", task, gold, gold if task != "emotion" or order >= 8 else NEU, variant=f"order={order}")
        for task, gold, orders in (("stance", POS, 9), ("intent", "humor", 8), ("emotion", "love", 25))
        for order in range(orders)
    ]
    (found,) = (one for one in scored(PredictionTable.from_rows(rows)).headline if one.name == "joint_accuracy")
    assert found.value == pytest.approx(17 / 25)
    assert found.n == 25
    # Stance right in the first of its 9 orders alone: that is with orders 0, 9 and 18 of the emotion, which is wrong
    # in the first of these.
    first = [line if line.slot != "stance" or line.variant == "order=0" else replace(line, value=NEG) for line in rows]
    assert figures(scored(PredictionTable.from_rows(first)))["joint_accuracy"] == pytest.approx(2 / 25)


def test_published_averages_are_means_of_their_nine_figures() -> None:
    rows = [reference for reference in REFERENCES if "average" in reference.figures]
    assert len(rows) == 20
    for reference in rows:
        nine = [value for name, value in reference.figures.items() if name != "average"]
        assert sum(nine) / 9 == pytest.approx(reference.figures["average"], abs=0.0006), reference.name
    assert len(REFERENCES) == 26
