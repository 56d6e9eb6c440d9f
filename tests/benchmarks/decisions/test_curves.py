from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
from tests.benchmarks.decisions.worlds import prediction, world

from affectlab.benchmarks.decisions.curves import Curve, curves
from affectlab.benchmarks.decisions.measures import Figure, choices_of, drifts_of
from affectlab.benchmarks.decisions.tables import strength_table, trend_table
from affectlab.games import ROLES
from affectlab.metrics.predictions import PredictionTable
from affectlab.stats.bootstrap import Interval

FEW = Interval(replicates=30)


def lines(
    moves: Mapping[str, float],
    unread: Mapping[str, int],
    figure: Figure = "ndm",
    roles: tuple[str, ...] = ("trust_trustor",),
) -> dict[str, Curve]:
    """Curves of twelve items a role that go from 0 up to a share of the range; the first so many of them unread."""

    def answer(role: str, number: int, condition: str, repeat: int) -> float | None:
        top = 1.0 if ROLES[role].kind == "binary" else 10.0
        return None if number < unread.get(condition, 0) else top * moves.get(condition, 0.0)

    return {one.title: one for one in curves(drifts_of(choices_of(world(answer, moves, roles))), FEW, (figure,))}


def values(curve: Curve) -> list[float | None]:
    return [point.value for point in curve.points]


def test_answers_that_are_missing_at_one_strength_make_no_trend() -> None:
    # Joy moves 0 and anger .8 at both strengths; joy is unread on 8 of 12 items at the strong one.
    found = lines({"joy@0.6": 0.0, "anger@0.6": 0.8, "joy@1.5": 0.0, "anger@1.5": 0.8}, {"joy@1.5": 8})
    every = found["all emotions"]
    assert values(every) == pytest.approx([0.4, 0.4])
    assert every.trend is not None
    assert (every.trend.z, every.trend.moved, every.trend.monotone) == (None, 0, False)
    # Eight of the items by two emotions; all twelve items still have anger.
    assert (every.left_out, every.asked, every.trend.blocks) == (8, 24, 12)
    assert found["joy"].trend is not None
    assert (found["joy"].left_out, found["joy"].asked, found["joy"].trend.blocks) == (8, 12, 4)
    shares = {row[0]: row[-1] for row in trend_table(list(found.values())).rows}
    assert shares == pytest.approx({"all emotions": 1 / 3, "joy": 2 / 3, "anger": 0.0})


def test_points_hold_what_was_read_and_the_table_says_so() -> None:
    # Joy moves all items fully and is unread at .6, sadness moves none: (0) at .6, (1 + 0) / 2 at 1.5, and no trend.
    found = lines({"joy@0.6": 1.0, "sadness@0.6": 0.0, "joy@1.5": 1.0, "sadness@1.5": 0.0}, {"joy@0.6": 12})
    every = found["all emotions"]
    assert values(every) == pytest.approx([0.0, 0.5])
    assert every.trend is not None
    assert (every.trend.z, every.trend.moved, every.left_out) == (None, 0, 12)
    assert "because other questions are left" in strength_table([every]).note


def test_random_vectors_are_followed_one_by_one() -> None:
    # Vector 0 moves 0, vector 1 moves .8, at both strengths.
    random = {"random@0.6:seed=0": 0.0, "random@0.6:seed=1": 0.8, "random@1.5:seed=0": 0.0, "random@1.5:seed=1": 0.8}
    found = lines({"joy@0.6": 0.0, "joy@1.5": 0.0, **random}, {"random@1.5:seed=0": 8})["random"]
    assert found.trend is not None
    assert (found.trend.moved, found.left_out, found.asked) == (0, 8, 24)


def test_a_rise_with_strength_is_a_trend() -> None:
    found = lines({"joy@0.6": 0.1, "joy@0.8": 0.2, "joy@1.5": 0.4}, {})["all emotions"]
    assert values(found) == pytest.approx([0.1, 0.2, 0.4])
    assert found.trend is not None
    # All 12 items rank the three strengths 1, 2, 3: L = 14 · 12, expected 12 · 12, variance 12 · 2 · 2 / 2 = 24.
    assert found.trend.z == pytest.approx((14 - 12) * 12 / 24**0.5)
    turned = lines({"joy@1.5": 0.1, "joy@0.6": 0.2, "joy@0.8": 0.4}, {})["all emotions"]
    # Strengths in order, whatever the order they were asked in.
    assert values(turned) == pytest.approx([0.2, 0.4, 0.1])
    two = lines({"joy@0.6": 0.1, "joy@0.8": 0.2}, {})["all emotions"]
    # Two strengths cannot turn round: nothing is said of them.
    assert [row[5] for row in trend_table([found, turned, two]).rows] == ["yes", "no", "–"]


def test_trends_are_corrected_over_the_table() -> None:
    found = list(lines({"joy@0.6": 0.0, "joy@1.5": 0.5, "fear@0.6": 0.1, "fear@1.5": 0.2}, {}).values())
    made = [
        replace(one, trend=replace(one.trend, p=p))
        for one, p in zip(found, (0.01, 0.03, 0.5), strict=True)
        if one.trend is not None
    ]
    # Three p: 3 · .01, 3 / 2 · .03, .5.
    assert [row[4] for row in trend_table(made).rows] == pytest.approx([0.03, 0.045, 0.5])


def test_an_emotion_that_was_not_asked_at_every_strength_is_not_in_the_line_of_all() -> None:
    moves = {"joy@0.6": 0.0, "fear@0.6": 0.2, "joy@1.5": 0.0, "fear@1.5": 0.2, "anger@1.5": 0.8}
    found = lines(moves, {})
    # With anger the strong point would be (0 + .2 + .8) / 3 and look like a rise.
    assert values(found["joy + fear"]) == pytest.approx([0.1, 0.1])
    assert "all emotions" not in found
    assert found["anger"].trend is None
    # Two emotions without a strength in common have no line together, and one alone has its own.
    assert set(lines({"joy@0.6": 0.0, "anger@1.5": 0.8}, {})) == {"joy", "anger"}
    assert set(lines({"joy@0.6": 0.0, "joy@1.5": 0.0, "anger@1.5": 0.8}, {})) == {"joy", "anger"}


def test_ways_of_applying_vectors_are_lines_of_their_own() -> None:
    # A random vector of .2 relative to the stream is no point of the line in unit vectors.
    moves = {"joy@0.6": 0.1, "joy@1.5": 0.2, "random@0.6:seed=0": 0.3, "random@1.5:seed=0": 0.4}
    relative = {"joy@0.1:relative": 0.5, "joy@0.2:relative": 0.6, "random@0.2:relative:seed=0": 0.7}
    found = lines({**moves, **relative}, {})
    expected = {
        "all emotions": {0.6: 0.1, 1.5: 0.2},
        "random": {0.6: 0.3, 1.5: 0.4},
        "all emotions, relative": {0.1: 0.5, 0.2: 0.6},
        "random, relative": {0.2: 0.7},
    }
    assert found.keys() == expected.keys()
    for title, points in expected.items():
        assert dict(zip(found[title].strengths, values(found[title]), strict=True)) == pytest.approx(points)
    shown = strength_table(list(found.values()))
    assert shown.columns == ("line", "figure", "0.1", "0.2", "0.6", "1.5")


def test_items_of_one_group_are_one_block() -> None:
    # Four items in two groups; in each group one item goes from 0 to .2 and the other from .4 to .2 or to .4.
    rows = [
        replace(prediction("trust_trustor", item, condition, 10 * y, (0, 10)), cluster=group)
        for item, group, weak, strong in (
            ("a", "one", 0.0, 0.2),
            ("b", "one", 0.4, 0.2),
            ("c", "two", 0.0, 0.2),
            ("d", "two", 0.4, 0.4),
        )
        for condition, y in (("neutral", 0.0), ("joy@0.6", weak), ("joy@1.5", strong))
    ]
    (line,) = curves(drifts_of(choices_of(PredictionTable.from_rows(rows))), FEW, ("ndm",))
    # Group one: .2 and .2; group two: .2 and .3.
    assert line.trend is not None
    assert (line.trend.blocks, line.trend.moved, line.asked) == (2, 1, 4)


def test_directed_lines_leave_roles_without_a_direction_out() -> None:
    # Anger: down in the Prisoner's Dilemma, nowhere in the stag hunt; all items move by the whole range.
    roles = ("prisoners_dilemma", "stag_hunt")
    moves = {"anger@0.6": 0.0, "anger@1.5": 1.0}
    (nad,) = lines(moves, {}, "nad", roles).values()
    (directed,) = lines(moves, {}, "nad_directed", roles).values()
    assert (values(nad), values(directed)) == ([0.0, -0.5], [0.0, -1.0])
    assert nad.trend is not None
    assert directed.trend is not None
    assert (nad.trend.blocks, nad.trend.moved) == (24, 12)
    assert (directed.trend.blocks, directed.trend.moved, directed.left_out) == (12, 12, 0)
