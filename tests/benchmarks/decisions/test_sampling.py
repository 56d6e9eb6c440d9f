from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom
from tests.benchmarks.decisions.worlds import prediction, world

from affectlab.benchmarks.base import Scoring
from affectlab.benchmarks.decisions.measures import choices_of, drifts_of
from affectlab.benchmarks.decisions.sampling import noise_floor, sampled, sampling_table
from affectlab.benchmarks.decisions.scores import score
from affectlab.metrics.predictions import PredictionTable
from affectlab.stats.bootstrap import Interval
from affectlab.stats.estimate import Estimate
from affectlab.stats.multiple import adjust
from affectlab.stats.stratified import stratified

FEW = Interval(replicates=200)


def scripted(role: str, number: int, condition: str, repeat: int) -> float:
    """Neutral: items 0 and 1 choose the focal option. Under joy items 0 to 3 do, and in repeat 1 item 4 too."""
    return float(number < 2 or (condition == "joy@1.0" and (number < 4 or (number == 4 and repeat == 1))))


def test_repeats_are_strata_and_items_are_clusters() -> None:
    choices = choices_of(world(scripted, ["joy@1.0"], ["stag_hunt"], items=6, repeats=2))
    (one,) = sampled(choices, FEW)
    # Repeat 0: 4 of 6 against 2 of 6; repeat 1: 5 of 6 against 2 of 6.
    assert one.by_repeat == stratified([[[4, 2], [2, 4]], [[5, 1], [2, 4]]])
    assert one.pooled == pytest.approx(9 / 12 - 4 / 12)
    assert one.changes == pytest.approx((2 / 6, 3 / 6))
    assert one.stable is True
    # Items: four never differ from their neutral answers; 2 and 3 always, 4 in one repeat of two.
    assert one.item_level.difference.value == pytest.approx(2.5 / 6)
    assert one.item_level.difference.clusters == 6
    # By item only 2, 3 and 4 have no zero margin: [2 0; 0 2] twice, [1 1; 0 2].
    assert one.by_item.used == 3
    assert one.by_item.dropped == 3


def test_a_sign_that_turns_round_is_not_stable_and_no_change_is_neither() -> None:
    def turning(role: str, number: int, condition: str, repeat: int) -> float:
        return float(condition != "neutral") if repeat else float(condition == "neutral")

    turned = sampled(choices_of(world(turning, ["joy@1.0"], ["stag_hunt"], items=3, repeats=2)), FEW)[0]
    assert (turned.stable, turned.changes) == (False, (-1.0, 1.0))
    still = sampled(choices_of(world(lambda *_: 1.0, ["joy@1.0"], ["stag_hunt"], items=3, repeats=2)), FEW)[0]
    assert still.stable is None
    assert still.by_repeat.used == 0


def test_an_answer_that_is_missing_under_the_condition_is_missing_under_neutral_too() -> None:
    # No decision changes between repeats or states. Under joy the focal answers of repeat 1 are unread.
    def unread(role: str, number: int, condition: str, repeat: int) -> float | None:
        focal = number < 3 and repeat == 1
        return None if focal and condition != "neutral" else float(focal)

    (one,) = sampled(choices_of(world(unread, ["joy@1.0"], ["stag_hunt"], items=6, repeats=2)), FEW)
    assert (one.item_level.difference.value, one.pooled, one.changes, one.stable) == (0.0, 0.0, (0.0, 0.0), None)
    assert one.item_level.difference.clusters == 6


def test_ordered_answers_count_as_focal_from_the_middle_of_their_range() -> None:
    def amounts(role: str, number: int, condition: str, repeat: int) -> float:
        """Of 10: the first item goes from 4 to 5, which is the middle, the second stays at 5."""
        return 4.0 if number == 0 and condition == "neutral" else 5.0

    (one,) = sampled(choices_of(world(amounts, ["joy@1.0"], ["trust_trustor"], items=2, repeats=2)), FEW)
    assert one.pooled == pytest.approx(1 - 0.5)
    assert one.item_level.difference.value == pytest.approx(0.1 / 2)


def test_the_table_says_which_population_each_test_speaks_for() -> None:
    choices = choices_of(world(scripted, ["joy@1.0", "prompt:joy"], ["stag_hunt", "trust_trustor"], 6, 2))
    shown = sampling_table(sampled(choices, FEW))
    assert len(shown.rows) == 4
    assert "exactly these items" in shown.note
    assert "other items like these" in shown.note
    assert "not estimable in" in shown.note


def test_each_column_of_the_table_is_the_test_that_it_names() -> None:
    # Joy moves half of the items, prompts none; joy has fewer answers in one repeat: pooling is no mean of repeats.
    def answer(role: str, number: int, condition: str, repeat: int) -> float | None:
        if condition == "joy@1.0" and repeat == 1 and number > 5:
            return None
        return float(number % 4 == 0 or (condition == "joy@1.0" and number % 3 == repeat))

    found = sampled(choices_of(world(answer, ["joy@1.0", "prompt:joy"], ["stag_hunt", "escalation"], 10, 2)), FEW)
    shown = sampling_table(found)
    columns = dict(zip(shown.columns, zip(*shown.rows, strict=True), strict=True))
    assert columns["q items"] == pytest.approx(adjust([one.item_level.p for one in found]).values)
    assert columns["q CMH by repeat"] == pytest.approx(adjust([one.by_repeat.p for one in found]).values)
    assert columns["p CMH by item"] == tuple(one.by_item.p for one in found)
    assert columns["q items"][0] != pytest.approx(columns["q CMH by repeat"][0])
    # Repeat 0: of ten, 0, 4, 8 before and 0, 3, 4, 6, 8, 9 after; repeat 1: of six, 0, 4 before and 0, 1, 4 after.
    assert found[0].changes == pytest.approx((3 / 10, 1 / 6))
    assert columns["pooled change"][0] == pytest.approx(4 / 16)
    # (6 · 7 / 20 + 3 · 4 / 12) / (4 · 3 / 20 + 3 · 2 / 12)
    ratio = columns["odds ratio"][0]
    assert isinstance(ratio, Estimate)
    assert ratio.value == pytest.approx(3.1 / 1.1)
    assert columns["repeats used"][0] == "2 of 2"


def test_two_draws_of_neutral_have_a_distance_of_their_own() -> None:
    # Item 0 answers 1, 0, 0 in three repeats: two of three pairs differ; items 1 and 2 never.
    def noisy(role: str, number: int, condition: str, repeat: int) -> float:
        return float(number == 0 and repeat == 0)

    choices = choices_of(world(noisy, [], ["stag_hunt"], items=3, repeats=3))
    assert noise_floor(choices) == pytest.approx((2 / 3) / 3)
    assert noise_floor(choices_of(world(noisy, [], ["stag_hunt"], items=3))) is None


def test_the_distance_of_two_draws_is_taken_within_each_order_of_options() -> None:
    # One item in two orders: from repeat 0 to repeat 1 the answers turn round, one up and one down.
    rows = [
        replace(prediction("stag_hunt", "a", "neutral", float(variant == repeat), repeat=repeat), variant=str(variant))
        for variant in (0, 1)
        for repeat in (0, 1)
    ]
    choices = choices_of(PredictionTable.from_rows(rows))
    assert noise_floor(choices) == 1.0
    # NDM of exactly these draws as two states is 1 as well.
    states = [replace(row, repeat=0, condition="joy@1.0" if row.repeat else "neutral") for row in rows]
    assert drifts_of(choices_of(PredictionTable.from_rows(states))).size.tolist() == [[1.0]]


def test_the_distance_of_two_draws_weighs_roles_alike() -> None:
    # Stag hunt: 4 items that never differ. Trustee: one of 2 items goes from 0 to 10 of 10: .5. Mean of 0 and .5.
    rows = [prediction("stag_hunt", f"s{n}", "neutral", 1.0, repeat=repeat) for n in range(4) for repeat in (0, 1)]
    rows += [
        prediction("trust_trustee", f"t{n}", "neutral", 10.0 * (n == repeat == 1), (0, 10), repeat)
        for n in range(2)
        for repeat in (0, 1)
    ]
    assert noise_floor(choices_of(PredictionTable.from_rows(rows))) == pytest.approx(0.25)


def test_a_run_with_repeats_shows_the_table_and_the_floor() -> None:
    table = world(scripted, ["joy@1.0"], ["stag_hunt"], items=6, repeats=2)
    sheet = score(Scoring(table, "neutral", "choice", FEW))
    assert sheet.table("sampling").rows
    assert any("neutral against itself" in note for note in sheet.notes)


def test_without_an_effect_the_item_level_test_keeps_its_size_where_items_react_differently() -> None:
    """200 seeds: items move either way, zero on average; 20 items, 5 repeats. At most 19 at level .05 (.999)."""
    hits = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        base = rng.normal(0, 1.5, 20)
        moved = base + rng.normal(0, 2, 20)

        def answer(
            role: str,
            number: int,
            condition: str,
            repeat: int,
            rng: np.random.Generator = rng,
            levels: tuple[np.ndarray, np.ndarray] = (base, moved),
        ) -> float:
            logit = levels[condition != "neutral"][number]
            return float(rng.random() < 1 / (1 + np.exp(-logit)))

        (one,) = sampled(choices_of(world(answer, ["joy@1.0"], ["stag_hunt"], items=20, repeats=5)), FEW)
        hits += one.item_level.p is not None and one.item_level.p < 0.05
    assert hits <= binom.ppf(0.999, 200, 0.05)
