"""What is said of one slot: its coefficients and what they rest on."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from affectlab.stats.agreement import fleiss_kappa, ratings_of_matrix
from affectlab.stats.agreement.sentence import methods_sentence
from affectlab.stats.agreement.summary import Scale, slot_agreement, split_intensities
from affectlab.stats.bootstrap import USUAL, Interval

QUICK = Interval(replicates=20)
N = None


def test_answers_and_items_behind_a_figure_fit_together() -> None:
    # Five items; the last has one answer, which Fleiss' kappa and AC1 count for the shares of the values, the others
    # not at all.
    data = ratings_of_matrix([["x", "y", "x", "y", "x"], ["x", "y", "y", "y", N]])
    found = {one.name: (one.n, one.clusters) for one in slot_agreement("a", data, how=QUICK).figures}
    assert found == {
        "percent_agreement": (8, 4),
        "cohen_kappa": (4, 4),
        "fleiss_kappa": (9, 5),
        "alpha_nominal": (8, 4),
        "gwet_ac1": (9, 5),
    }


def test_an_interval_that_does_not_hold_its_figure_is_none() -> None:
    # Two annotators who never agree and use four values alike: p_e is 1/4, the least there is, and kappa -1/3. Every
    # resample has p_e of 1/4 or more, so kappa is -1/3 or less.
    found = fleiss_kappa(ratings_of_matrix([list("abcd" * 10), list("bcda" * 10)]), USUAL)
    assert found.value == pytest.approx(-1 / 3)
    assert (found.low, found.high) == (None, None)
    assert "one side" in found.reason


def test_intensities_at_both_levels_and_given_that_a_label_is_there() -> None:
    # Rows (3,3), (0,0), (2,3), (0,1), (0,0): interval .898 and ordinal .834 with 0 for absent. Both gave it on the
    # first and the third: interval alpha of (3,3), (2,3). D_o = 2 · 1 / 4, D_e = 6 · 1 / (4 · 3), so alpha is 0.
    rows: list[tuple[str, str, Mapping[str, float]]] = [
        (str(unit), who, {"joy": float(much)} if much else {})
        for unit, both in enumerate([(3, 3), (0, 0), (2, 3), (0, 1), (0, 0)])
        for who, much in zip("ab", both, strict=True)
    ]
    found = {
        name: slot_agreement(name, data, Scale("interval"), QUICK) for name, data in split_intensities(rows).items()
    }
    assert list(found) == ["joy", "joy, where given"]
    assert found["joy"].figure("alpha_interval").value == pytest.approx(0.898, abs=5e-4)
    assert found["joy"].figure("alpha_ordinal").value == pytest.approx(0.834, abs=5e-4)
    there = found["joy, where given"]
    assert (there.ratings.paired_units, len(there.ratings)) == (2, 5)
    assert there.figure("alpha_interval").value == pytest.approx(0.0)
    assert "(ordinal)" not in methods_sentence(found["joy"])
    none = split_intensities([("1", "a", {"joy": 0.0}), ("1", "b", {"joy": 0.0})])["joy, where given"]
    assert slot_agreement("joy", none, Scale("interval"), QUICK).figures[0].reason == "no_units"
