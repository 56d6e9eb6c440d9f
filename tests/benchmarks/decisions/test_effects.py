from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from tests.benchmarks.decisions.worlds import EMOTIONS, Row, prediction, table, world

from affectlab.benchmarks.decisions.curves import curves
from affectlab.benchmarks.decisions.effects import effects
from affectlab.benchmarks.decisions.measures import Drifts, choices_of, drifts_of
from affectlab.benchmarks.decisions.states import state_of
from affectlab.benchmarks.decisions.tables import effect_table
from affectlab.games import ROLES
from affectlab.metrics.predictions import PredictionTable
from affectlab.stats.bootstrap import Interval
from affectlab.stats.multiple import adjust

FEW = Interval(replicates=300)
UNIT = (0.0, 1.0)


def test_emotion_minus_random_by_hand() -> None:
    # Six items of one role. Joy moves 4 up, of two random vectors one moves 1 item up and one moves 2.
    def answers(up: int) -> list[Row]:
        return [("stag_hunt", f"i{i}", UNIT, float(i < up)) for i in range(6)]

    found = effects(
        drifts_of(
            choices_of(
                table(
                    {
                        "neutral": answers(0),
                        "joy@1.0": answers(4),
                        "random@1.0:seed=0": answers(1),
                        "random@1.0:seed=1": answers(2),
                        "random@9.0:seed=0": answers(6),
                    }
                )
            )
        ),
        FEW,
    )
    # The random vector of strength 9 has no emotion to be compared with.
    ndm, nad = found
    assert (ndm.control, ndm.emotion, ndm.figure, ndm.left_out) == ("random", "", "ndm", 0)
    assert (ndm.result.a, ndm.result.b) == pytest.approx((4 / 6, 1.5 / 6))
    assert ndm.result.difference.value == pytest.approx(2.5 / 6)
    # Joy is up in the stag hunt, so that here aligned moves are the moves.
    assert nad.result.difference.value == pytest.approx(2.5 / 6)


def test_prompts_are_matched_by_emotion_and_shuffled_labels_by_emotion_and_strength() -> None:
    rows: dict[str, list[Row]] = {
        "neutral": [("stag_hunt", "a", UNIT, 0.0), ("stag_hunt", "b", UNIT, 0.0)],
        "joy@1.0": [("stag_hunt", "a", UNIT, 1.0), ("stag_hunt", "b", UNIT, 0.0)],
        "fear@1.0": [("stag_hunt", "a", UNIT, 0.0), ("stag_hunt", "b", UNIT, 0.0)],
        "prompt:joy": [("stag_hunt", "a", UNIT, 1.0), ("stag_hunt", "b", UNIT, 1.0)],
        "permuted:joy@1.0:seed=0": [("stag_hunt", "a", UNIT, 0.0), ("stag_hunt", "b", UNIT, 0.0)],
        "permuted:fear@2.0:seed=0": [("stag_hunt", "a", UNIT, 1.0), ("stag_hunt", "b", UNIT, 1.0)],
    }
    found = {
        (one.control, one.emotion): one.result
        for one in effects(drifts_of(choices_of(table(rows))), FEW)
        if one.figure == "ndm"
    }
    assert found["prompt", "joy"].difference.value == -0.5
    assert found["prompt", ""].difference.value == -0.5
    assert ("prompt", "fear") not in found
    assert found["permuted", "joy"].difference.value == 0.5
    assert ("permuted", "fear") not in found


def test_questions_that_lack_one_side_are_left_out_and_counted() -> None:
    rows: dict[str, list[Row]] = {
        "neutral": [("stag_hunt", "a", UNIT, 0.0), ("stag_hunt", "b", UNIT, 0.0)],
        "joy@1.0": [("stag_hunt", "a", UNIT, 1.0), ("stag_hunt", "b", UNIT, None)],
        "random@1.0:seed=0": [("stag_hunt", "a", UNIT, 0.0), ("stag_hunt", "b", UNIT, 1.0)],
    }
    found = effects(drifts_of(choices_of(table(rows))), FEW)
    one = found[0]
    assert (one.left_out, one.asked, one.result.a, one.result.b) == (1, 2, 1.0, 0.0)
    assert effect_table(found).rows[0][-1] == 0.5


def answering(moves: Mapping[str, float], unread: Mapping[str, int], role: str = "trust_trustor") -> Drifts:
    """Twelve items from 0 up to a share of the range under each condition; the first so many of them unread."""

    def answer(role: str, number: int, condition: str, repeat: int) -> float | None:
        top = 1.0 if ROLES[role].kind == "binary" else 10.0
        return None if number < unread.get(condition, 0) else top * moves.get(condition, 0.0)

    return drifts_of(choices_of(world(answer, moves, [role])))


def test_an_unread_answer_at_a_strong_dose_makes_no_effect_of_nothing() -> None:
    # Emotion and random move alike at each strength, .1 and .9; the strong random vector is unread on 6 of 12 items.
    moves = {"anger@0.6": 0.1, "anger@1.5": 0.9, "random@0.6:seed=0": 0.1, "random@1.5:seed=0": 0.9}
    ndm = effects(answering(moves, {"random@1.5:seed=0": 6}), FEW)[0]
    # At .6 twelve items have both, at 1.5 six: (.1 + .9) / 2 on either side.
    assert (ndm.result.a, ndm.result.b) == pytest.approx((0.5, 0.5))
    assert (ndm.result.difference.value, ndm.result.p) == (0.0, 1.0)
    assert (ndm.left_out, ndm.asked) == (6, 24)


def test_random_vectors_and_emotions_weigh_alike_where_some_are_unread() -> None:
    # Joy moves 0, fear .8, both random vectors .2 and .6: (0 + .8) / 2 - (.2 + .6) / 2 = 0 whatever is unread.
    moves = {"joy@1.0": 0.0, "fear@1.0": 0.8, "random@1.0:seed=0": 0.2, "random@1.0:seed=1": 0.6}
    unread = {"fear@1.0": 4, "random@1.0:seed=1": 7}
    found = {one.emotion: one for one in effects(answering(moves, unread), FEW) if one.figure == "ndm"}
    assert (found[""].result.a, found[""].result.b) == pytest.approx((0.4, 0.4))
    # Joy against both: 0 and 7 unread of 12; fear: 4, and those or 7: 18 of 48.
    assert (found[""].left_out, found[""].asked) == (18, 48)
    assert found["joy"].result.difference.value == pytest.approx(-0.4)
    assert found["fear"].result.difference.value == pytest.approx(0.4)


def test_option_orders_that_one_side_lacks_are_taken_from_neither() -> None:
    # One item in two presentations. Both conditions move the first by 0 and the second by 1; random lacks the second.
    rows = [
        replace(prediction("stag_hunt", item, condition, y), variant=variant)
        for item in "ab"
        for condition, second in (("neutral", 0.0), ("joy@1.0", 1.0), ("random@1.0:seed=0", None))
        for variant, y in (("0", 0.0), ("1", second))
    ]
    one = effects(drifts_of(choices_of(PredictionTable.from_rows(rows))), FEW)[0]
    assert (one.result.a, one.result.b, one.left_out, one.asked) == (0.0, 0.0, 2, 4)


def test_strengths_weigh_alike_however_many_random_vectors_each_has() -> None:
    # Joy moves nothing at 1 and everything at 2; two random vectors at 1 move half and nothing, one at 2 everything.
    def answers(*ys: float) -> list[Row]:
        return [("stag_hunt", f"i{number}", UNIT, y) for number, y in enumerate(ys)]

    rows = {
        "neutral": answers(0.0, 0.0),
        "joy@1.0": answers(0.0, 0.0),
        "joy@2.0": answers(1.0, 1.0),
        "random@1.0:seed=0": answers(1.0, 0.0),
        "random@1.0:seed=1": answers(0.0, 0.0),
        "random@2.0:seed=0": answers(1.0, 1.0),
    }
    ndm = effects(drifts_of(choices_of(table(rows))), FEW, ("ndm",))[0].result
    # Joy: (0 + 1) / 2. Random: ((.5 + 0) / 2 + 1) / 2. Over the three pairs they would be 1/3 and 1/2.
    assert (ndm.a, ndm.b) == (0.5, 0.625)


def test_p_values_are_corrected_over_all_rows() -> None:
    # Joy moves 12 of 12 items further than random, fear 2.
    def answer(role: str, number: int, condition: str, repeat: int) -> float:
        return float(condition == "joy@1.0" or (condition == "fear@1.0" and number < 2))

    whole = world(answer, ["joy@1.0", "fear@1.0", "random@1.0:seed=0"], ["stag_hunt"])
    found = effects(drifts_of(choices_of(whole)), FEW)
    assert len(found) == 6
    assert [one.q for one in found] == pytest.approx(adjust([one.result.p for one in found]).values)
    assert any(one.q != one.result.p for one in found)
    assert [row[7] for row in effect_table(found).rows] == [one.q for one in found]


def test_items_of_one_group_are_one_cluster() -> None:
    rows = [
        replace(prediction("stag_hunt", f"i{n}", condition, y), cluster=f"g{n // 3}")
        for n in range(6)
        for condition, y in (("neutral", 0.0), ("joy@1.0", 1.0), ("random@1.0:seed=0", 0.0))
    ]
    one = effects(drifts_of(choices_of(PredictionTable.from_rows(rows))), FEW)[0]
    assert one.result.difference.clusters == 2
    assert one.result.p == pytest.approx(0.5, abs=0.1)


def test_a_control_is_aligned_with_the_emotion_it_stands_against() -> None:
    # Sealed bid: bids rise with anger and fall with fear. Random moves .3 up: +.3 for anger, -.3 for fear.
    moves = {"anger@1.0": 0.5, "fear@1.0": 0.1, "random@1.0:seed=0": 0.3}
    found = {one.emotion: one.result for one in effects(answering(moves, {}, "sealed_bid"), FEW, ("nad",))}
    assert (found["anger"].a, found["anger"].b) == pytest.approx((0.5, 0.3))
    assert (found["fear"].a, found["fear"].b) == pytest.approx((-0.1, -0.3))
    assert (found[""].a, found[""].b) == pytest.approx((0.2, 0.0))


def test_roles_without_a_direction_are_in_no_directed_figure() -> None:
    # Anger moves 6 of 12 items up, random 3, in both games.
    assert [ROLES[role].direction("anger") for role in ("prisoners_dilemma", "stag_hunt")] == [-1, 0]
    conditions = {"anger@1.0": 6, "random@1.0:seed=0": 3}
    drifts = drifts_of(
        choices_of(
            world(
                lambda role, number, condition, repeat: float(number < conditions.get(condition, 0)),
                conditions,
                ["prisoners_dilemma", "stag_hunt"],
            )
        )
    )
    nad, directed = effects(drifts, FEW, ("nad", "nad_directed"))
    # -.5 and 0 against -.25 and 0; without the stag hunt -.5 against -.25.
    assert (nad.result.a, nad.result.b) == pytest.approx((-0.25, -0.125))
    assert (directed.result.a, directed.result.b) == pytest.approx((-0.5, -0.25))


CONDITIONS = [f"{emotion}@{a}" for emotion in EMOTIONS for a in ("0.6", "0.8", "1.0", "1.5")]
CONTROLS = [f"random@{a}:seed={s}" for a in ("0.6", "0.8", "1.0", "1.5") for s in (0, 1)]


def strength_agent(role: str, number: int, condition: str, repeat: int) -> float | None:
    """Moves its answer in people's direction on the share of items that its strength is of 2."""
    state = state_of(condition)
    top = 1.0 if ROLES[role].kind == "binary" else 10.0
    sign = ROLES[role].direction(state.emotion) if state.kind == "emotion" else 0
    # Answers start where there is room to move: the direction is known to the test alone.
    start = top / 2 if ROLES[role].kind == "ordered" else float(number % 2)
    reached = (number + 0.5) / 12 < (state.strength or 0.0) / 2
    return float(np.clip(start + sign * top / 2 * (1 if ROLES[role].kind == "ordered" else 2) * reached, 0, top))


def test_a_known_response_to_strength_is_recovered() -> None:
    drifts = drifts_of(choices_of(world(strength_agent, CONDITIONS + CONTROLS)))
    # By role and emotion the sign of the mean move is people's direction, at every strength.
    for column, state in enumerate(drifts.states):
        for role in ROLES:
            here = np.array([one == role for one in drifts.roles])
            direction = ROLES[role].direction(state.emotion) if state.emotion else 0
            assert np.sign(drifts.move[here, column].mean()) == direction
    found = {(c.kind, c.emotion, c.figure): c for c in curves(drifts, FEW)}
    line = found["emotion", "", "nad"]
    # In ordered roles the items reached move by half the range: 4, 5, 6 and 9 of 12.
    ordered = [role for role in ROLES if ROLES[role].kind == "ordered"]
    reached = {0.6: 4, 0.8: 5, 1.0: 6, 1.5: 9}
    for strength, point in zip(line.strengths, line.points, strict=True):
        expected = []
        for role in ROLES:
            signed = sum(abs(ROLES[role].direction(emotion)) for emotion in EMOTIONS) / len(EMOTIONS)
            if role in ordered:
                expected.append(signed * reached[strength] / 12 / 2)
            else:
                # Binary: of the items reached, those that stand at the other end move by the whole range.
                ups = sum(ROLES[role].direction(emotion) == 1 for emotion in EMOTIONS)
                downs = sum(ROLES[role].direction(emotion) == -1 for emotion in EMOTIONS)
                at = range(reached[strength])
                movers_up = sum(number % 2 == 0 for number in at)
                movers_down = sum(number % 2 == 1 for number in at)
                expected.append((ups * movers_up + downs * movers_down) / 12 / len(EMOTIONS))
        assert point.value == pytest.approx(np.mean(expected))
    assert line.trend is not None
    assert line.trend.p is not None
    assert line.trend.p < 1e-6
    assert line.trend.monotone
    assert found["random", "", "ndm"].trend is not None
    assert found["random", "", "ndm"].trend.p is None
    against = {(one.emotion, one.figure): one for one in effects(drifts, FEW)}
    everything = against["", "nad"].result
    assert everything.p is not None
    assert everything.p < 0.01
    assert everything.difference.low is not None
    assert everything.difference.low > 0
