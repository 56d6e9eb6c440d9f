"""RQ2's differences worked by hand: what more of the chain changes against the story alone."""

from __future__ import annotations

from typing import Any

import pytest
from scipy.stats import false_discovery_control
from tests.benchmarks.care.test_scores import GLAD, cells, rows, scored

from affectlab.benchmarks.care import spaces
from affectlab.stats.estimate import Estimate


def test_injection_is_compared_story_by_story() -> None:
    stories = [str(number) for number in range(8)]
    alone = rows((story, "control.general", 3, 1) for story in stories)
    given = rows(((story, "control.general", 3, 3) for story in stories), "s+r")
    scores = scored([*alone, *given], "injection")
    assert scores.figure("appraisal_rmse").value == pytest.approx(0.5)
    assert scores.figure("appraisal_rmse:s+r").value == 0.0
    line = cells(scores, "injection")[("s+r", "appraisal_rmse")]
    assert isinstance(line["difference"], Estimate)
    assert line["difference"].value == pytest.approx(-0.5)
    assert line["difference"].clusters == 8
    # 8 equal differences: 2 of 256 swaps are as extreme; 50 random swaps give about that.
    assert line["p"] < 0.1


def test_a_story_without_its_pair_is_in_no_difference() -> None:
    alone = rows([("1", "control.general", 3, 1), ("2", "control.general", 3, 1), ("3", "control.general", 1, 5)])
    given = rows([("1", "control.general", 3, 3), ("2", "control.general", 3, 3)], "s+r")
    line = cells(scored([*alone, *given], "injection"), "injection")[("s+r", "appraisal_rmse")]
    assert line["s alone"].value == pytest.approx(0.5)  # story 3 alone would make it worse
    more = rows([("4", "control.general", 1, 5)], "s+r")
    core = rows([("3", "core_control", "mine", "mine")], "s+r")  # asked, but not yet what is compared
    line = cells(scored([*alone, *given, *more, *core], "injection"), "injection")[("s+r", "appraisal_rmse")]
    assert (line["s alone"].value, line["given it"].value) == (pytest.approx(0.5), pytest.approx(0.0))
    assert line["n"] == 2


def test_what_becomes_unreadable_is_no_improvement() -> None:
    # The same ratings under both; what was wrong under the story alone cannot be read given the reasoning.
    stories = [str(number) for number in range(8)]
    alone = rows(
        [(story, slot, 3, said) for story in stories for slot, said in (("control.general", 3), ("control.select", 1))]
    )
    given = rows(
        [
            (story, slot, 3, said)
            for story in stories
            for slot, said in (("control.general", 3), ("control.select", None))
        ],
        "s+r",
    )
    line = cells(scored([*alone, *given], "injection"), "injection")[("s+r", "appraisal_rmse")]
    assert line["difference"].value == 0.0
    assert line["n"] == 8
    assert (line["coverage, given it"], line["coverage, s alone"]) == (0.5, 1.0)
    # F1 keeps what could not be read, at 0.
    alone = rows([(story, "positive_labels", (GLAD,), (GLAD,)) for story in stories])
    given = rows([(story, "positive_labels", (GLAD,), (GLAD,) if story < "4" else None) for story in stories], "s+r")
    line = cells(scored([*alone, *given], "injection"), "injection")[("s+r", "positive_example_f1")]
    assert (line["given it"], line["s alone"], line["n"]) == (0.5, 1.0, 8)


def test_an_error_is_a_number_and_an_f1_a_share() -> None:
    answers = [
        ("1", "control.general", 3, 1),
        ("1", "positive_labels", (GLAD,), (GLAD,)),
        ("2", "control.general", 3, 1),
    ]
    found = cells(scored([*rows(answers), *rows(answers, "s+r")], "injection"), "injection")
    rmse, f1 = found[("s+r", "appraisal_rmse")], found[("s+r", "positive_example_f1")]
    assert (rmse["given it"].unit, rmse["difference"].unit) == ("number", "number")
    assert (f1["given it"], f1["difference"].unit) == (1.0, "difference")


def test_a_figure_that_nobody_could_read_keeps_its_row_with_the_reason() -> None:
    answers = [("1", "control.general", 3, 1), ("2", "control.general", 3, 1), ("1", "positive_level", 3, None)]
    table = scored([*rows(answers), *rows(answers, "s+r")], "injection")
    line = cells(table, "injection")[("s+r", "positive_level_rmse")]
    assert (line["difference"].value, line["difference"].reason) == (None, "no answer with gold was read under both")
    assert (line["p"], line["n"], line["coverage, s alone"]) == (None, 0, 0.0)
    assert "over the 1 rows with a p" in table.table("injection").note


def test_p_values_are_corrected_over_the_table() -> None:
    stories = [str(number) for number in range(8)]
    slots = ("control.general", "positive_level", "negative_level")
    made = [
        *rows((story, slot, 3, 1) for story in stories for slot in slots),
        *rows(((story, slot, 3, 3 if slot == slots[0] else 1) for story in stories for slot in slots), "s+r"),
    ]
    found = cells(scored(made, "injection"), "injection").values()
    p = [line["p"] for line in found]
    assert [line["p adjusted"] for line in found] == pytest.approx(false_discovery_control(p))
    assert p[0] < 0.1
    assert p[1:] == [1.0, 1.0]


def test_a_set_that_becomes_unreadable_counts_0_even_for_a_model_that_is_right_in_nothing_else() -> None:
    # Alone right in the first four of eight stories and wrong in the others; given the reasoning the right ones become
    # unreadable, so that nothing is right, read or not: 0/8 - 4/8.
    stories = [str(number) for number in range(8)]
    alone = rows((story, "positive_labels", (GLAD,), (GLAD,) if story < "4" else ()) for story in stories)
    given = rows(((story, "positive_labels", (GLAD,), None if story < "4" else ()) for story in stories), "s+r")
    line = cells(scored([*alone, *given], "injection"), "injection")[("s+r", "positive_example_f1")]
    assert (line["given it"], line["s alone"], line["n"]) == (0.0, 0.5, 8)
    assert line["difference"].value == pytest.approx(-0.5)


def test_by_likelihood_the_means_of_scales_have_their_rows() -> None:
    # Chosen: off by 2 alone and by 0 given r; mean of the scale: by 1 and by half a point of 4.
    stories, mean = [str(number) for number in range(8)], spaces.expected("control.general")
    alone = rows((story, *answer) for story in stories for answer in (("control.general", 3, 1), (mean, 3, 2.0)))
    given = rows(
        ((story, *answer) for story in stories for answer in (("control.general", 3, 3), (mean, 3, 2.5))), "s+r"
    )
    found = cells(scored([*alone, *given], "injection-likelihood"), "injection")
    line = found[("s+r", "appraisal_rmse_expected")]
    assert (line["given it"].value, line["s alone"].value) == (pytest.approx(1 / 8), pytest.approx(1 / 4))
    assert found[("s+r", "appraisal_rmse")]["difference"].value == pytest.approx(-1 / 2)
    assert ("s+r", "appraisal_rmse_expected") not in cells(scored([*alone, *given], "injection"), "injection")


def test_the_smallest_detectable_difference_has_the_unit_of_its_figure() -> None:
    # Two kinds of stories, so that differences vary and there is something to detect.
    stories = [str(number) for number in range(8)]
    answers: list[tuple[str, str, Any, Any]] = [(story, "control.general", 3, 1) for story in stories]
    answers += [(story, "positive_labels", (GLAD,), ()) for story in stories]
    better = [(story, slot, gold, gold if story < "4" else said) for story, slot, gold, said in answers]
    found = cells(scored([*rows(answers), *rows(better, "s+r")], "injection"), "injection")
    rmse, f1 = (found[("s+r", name)]["detectable"] for name in ("appraisal_rmse", "positive_example_f1"))
    assert isinstance(rmse, Estimate)
    assert rmse.unit == "number"
    assert rmse.value is not None
    assert 0 < rmse.value < 1
    assert isinstance(f1, float)
