from __future__ import annotations

import numpy as np
import pytest
from tests.benchmarks.decisions.worlds import Row, prediction, table

from affectlab.benchmarks.decisions.measures import FIGURES, Drifts, Selection, choices_of, drift_measures, drifts_of
from affectlab.metrics.drift import drift
from affectlab.metrics.predictions import PredictionTable
from affectlab.stats.bootstrap import estimates

UNIT, HUNDRED = (0.0, 1.0), (0.0, 100.0)


def figures(drifts: Drifts, roles: tuple[str, ...] = ()) -> dict[str, float | None]:
    every = tuple(range(len(drifts.states)))
    wanted: dict[str, Selection] = {name: Selection(name, every, roles) for name in FIGURES}
    measured = drift_measures(drifts, wanted)
    return {name: measured.value(name) for name in wanted}


def test_one_role_by_hand_with_ties_at_both_ends_of_the_range() -> None:
    # Trustor (joy up), range 0 to 100. Moves: 0 to 100: 1; 100 to 100: 0; 40 to 15: -.25; 0 to 0: 0.
    spans = {"a": (0, 100), "b": (100, 100), "c": (40, 15), "d": (0, 0)}
    found = drifts_of(
        choices_of(
            table(
                {
                    "neutral": [("trust_trustor", item, HUNDRED, y) for item, (y, _) in spans.items()],
                    "joy@1.0": [("trust_trustor", item, HUNDRED, y) for item, (_, y) in spans.items()],
                }
            )
        )
    )
    assert figures(found) == pytest.approx({"ndm": 1.25 / 4, "nad": 0.75 / 4, "nad_directed": 0.75 / 4})


def test_ranges_that_do_not_start_at_zero_and_reasoning_against_the_direction() -> None:
    # Sealed bid, anger up. Range 20 to 60: 30 to 50 is half of it, up. Range -5 to 5: 5 to 0 is half, down.
    found = drifts_of(
        choices_of(
            table(
                {
                    "neutral": [("sealed_bid", "a", (20, 60), 30), ("sealed_bid", "b", (-5, 5), 5)],
                    "anger@1.0": [("sealed_bid", "a", (20, 60), 50), ("sealed_bid", "b", (-5, 5), 0)],
                }
            )
        )
    )
    assert figures(found) == {"ndm": 0.5, "nad": 0.0, "nad_directed": 0.0}


def test_a_direction_of_zero_counts_zero_or_not_at_all_and_both_have_a_name() -> None:
    # Prisoner's Dilemma: joy up, sadness nowhere. Joy moves 1 of 2 items up; sadness moves both up.
    rows: list[Row] = [("prisoners_dilemma", "a", UNIT, 0.0), ("prisoners_dilemma", "b", UNIT, 0.0)]
    up: list[Row] = [("prisoners_dilemma", "a", UNIT, 1.0), ("prisoners_dilemma", "b", UNIT, 0.0)]
    both: list[Row] = [("prisoners_dilemma", "a", UNIT, 1.0), ("prisoners_dilemma", "b", UNIT, 1.0)]
    found = drifts_of(choices_of(table({"neutral": rows, "joy@1.0": up, "sadness@1.0": both})))
    # NDM (.5 + 1) / 2; NAD (1 · .5 + 0 · 1) / 2; without the cell of sadness .5.
    assert figures(found) == {"ndm": 0.75, "nad": 0.25, "nad_directed": 0.5}


def test_the_total_weighs_roles_alike_whatever_their_items() -> None:
    rows: dict[str, list[Row]] = {
        "neutral": [*(("stag_hunt", f"s{i}", UNIT, 0.0) for i in range(4)), ("trust_trustee", "t", HUNDRED, 0.0)],
        "fear@1.0": [
            *(("stag_hunt", f"s{i}", UNIT, float(i == 0)) for i in range(4)),
            ("trust_trustee", "t", HUNDRED, 80.0),
        ],
    }
    found = drifts_of(choices_of(table(rows)))
    # Stag hunt moves .25 against fear's direction (down), the trustee .8 against it.
    assert figures(found) == pytest.approx({"ndm": (0.25 + 0.8) / 2, "nad": -(0.25 + 0.8) / 2, "nad_directed": -0.525})
    assert figures(found, ("stag_hunt",))["ndm"] == 0.25


def test_conditions_of_a_role_weigh_alike_whatever_their_answers() -> None:
    # Joy moves 1 of 4 items read, fear 1 of 1: (.25 + 1) / 2, and .4 were answers pooled.
    found = drifts_of(
        choices_of(
            table(
                {
                    "neutral": [("stag_hunt", item, UNIT, 0.0) for item in "abcd"],
                    "joy@1.0": [("stag_hunt", item, UNIT, float(item == "a")) for item in "abcd"],
                    "fear@1.0": [("stag_hunt", item, UNIT, 1.0 if item == "a" else None) for item in "abcd"],
                }
            )
        )
    )
    assert figures(found)["ndm"] == pytest.approx(0.625)


def test_roles_weigh_alike_whatever_their_directed_cells() -> None:
    # Directed cells: joy of the Prisoner's Dilemma (it has no direction for fear), joy and fear of the trustor.
    # Moves along them: 1; 0 and .5 (fear's is down). (1 + .25) / 2, and not the mean of three cells, .5.
    rows: dict[str, list[Row]] = {
        "neutral": [("prisoners_dilemma", "a", UNIT, 0.0), ("trust_trustor", "t", HUNDRED, 50.0)],
        "joy@1.0": [("prisoners_dilemma", "a", UNIT, 1.0), ("trust_trustor", "t", HUNDRED, 50.0)],
        "fear@1.0": [("prisoners_dilemma", "a", UNIT, 0.0), ("trust_trustor", "t", HUNDRED, 0.0)],
    }
    assert figures(drifts_of(choices_of(table(rows))))["nad_directed"] == pytest.approx(0.625)


def test_the_worked_example_of_the_facts_page_and_the_plain_function_agree() -> None:
    # y0 [0,1,1,0,10,40], ye [1,1,0,0,30,20], R [1,1,1,1,100,100], d [1,1,1,1,-1,-1]: NDM .4, NAD 0, pooled over items.
    before, after = [0, 1, 1, 0, 10, 40], [1, 1, 0, 0, 30, 20]
    pooled = drift(before, after, [1, 1, 1, 1, 100, 100], [1, 1, 1, 1, -1, -1])
    assert (pooled.ndm, pooled.nad) == pytest.approx((0.4, 0.0))
    # Here by role: rejecting rises with anger (d = 1), bids fall with fear (d = -1); the roles have 4 and 2 items.
    answers: dict[str, list[Row]] = {
        name: [
            *(("ultimatum_responder", f"u{i}", UNIT, y[i]) for i in range(4)),
            *(("sealed_bid", f"b{i}", HUNDRED, y[i]) for i in (4, 5)),
        ]
        for name, y in (("neutral", before), ("fear@1.0", after))
    }
    found = drifts_of(choices_of(table(answers)))
    for role, rows, sign in (("ultimatum_responder", slice(0, 4), 1), ("sealed_bid", slice(4, 6), -1)):
        spans = [1.0] * 4 if sign == 1 else [100.0] * 2
        plain = drift(before[rows], after[rows], spans, [sign] * len(spans))
        made = figures(found, (role,))
        assert (made["ndm"], made["nad"]) == pytest.approx((plain.ndm, plain.nad))


def test_what_was_not_read_and_what_cannot_move_is_counted_and_is_no_drift() -> None:
    rows: dict[str, list[Row]] = {
        "neutral": [("stag_hunt", "a", UNIT, 0), ("stag_hunt", "b", UNIT, None), ("stag_hunt", "c", (1.0, 1.0), 1)],
        "joy@1.0": [("stag_hunt", "a", UNIT, None), ("stag_hunt", "b", UNIT, 1), ("stag_hunt", "c", (1.0, 1.0), 1)],
        "joy@2.0": [("stag_hunt", "a", UNIT, 1), ("stag_hunt", "b", UNIT, 1), ("stag_hunt", "c", (1.0, 1.0), 1)],
    }
    found = drifts_of(choices_of(table(rows)))
    assert found.no_range == 1
    assert found.missing.tolist() == [2, 1]
    assert np.isnan(found.size[:, 0]).all()
    assert figures(found) == {"ndm": 1.0, "nad": 1.0, "nad_directed": 1.0}


def test_repeats_and_presentations_of_an_item_are_averaged_before_items_are() -> None:
    rows = [prediction("stag_hunt", "a", "neutral", 0.0, repeat=r) for r in range(4)]
    rows += [prediction("stag_hunt", "a", "joy@1.0", y, repeat=r) for r, y in enumerate((1.0, 0.0, 0.0, None))]
    rows += [prediction("stag_hunt", "b", name, y) for name, y in (("neutral", 0.0), ("joy@1.0", 1.0))]
    found = drifts_of(choices_of(PredictionTable.from_rows(rows)))
    # Item a moves in 1 of 3 pairs, item b in 1 of 1.
    assert figures(found)["ndm"] == pytest.approx((1 / 3 + 1) / 2)
    assert found.missing.tolist() == [1]


def test_random_vectors_are_aligned_with_each_emotion_in_turn() -> None:
    rows: dict[str, list[Row]] = {
        "neutral": [("sealed_bid", "a", HUNDRED, 50.0)],
        "random@1.0:seed=0": [("sealed_bid", "a", HUNDRED, 70.0)],
    }
    found = drifts_of(choices_of(table(rows)))
    # Directions of the sealed bid: joy + anger + disgust - : (1 + 1 - 1) / 3 of a move of .2.
    chosen = Selection("nad", (0,), (), ("joy", "anger", "disgust"))
    assert drift_measures(found, {"nad": chosen}).value("nad") == pytest.approx(0.2 / 3)
    assert drift_measures(found, {"own": Selection("nad", (0,))}).value("own") == 0.0


def test_intervals_resample_items() -> None:
    rng = np.random.default_rng(4)
    before = rng.integers(0, 2, 40)
    after = rng.integers(0, 2, 40)
    rows: dict[str, list[Row]] = {
        name: [("stag_hunt", f"i{i:02d}", UNIT, float(y)) for i, y in enumerate(values)]
        for name, values in (("neutral", before), ("joy@1.0", after))
    }
    found = estimates(drift_measures(drifts_of(choices_of(table(rows))), {"ndm": Selection("ndm", (0,))}))["ndm"]
    share = float(np.mean(before != after))
    # Binomial standard error; the percentile interval spans about 2 · 1.96 of them.
    se = (share * (1 - share) / 40) ** 0.5
    assert found.value == pytest.approx(share)
    assert found.low is not None
    assert found.high is not None
    assert found.high - found.low == pytest.approx(3.92 * se, rel=0.15)
    assert found.clusters == 40
