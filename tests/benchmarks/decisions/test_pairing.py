from __future__ import annotations

import numpy as np
import pytest

from affectlab.benchmarks.decisions.pairing import cell_measures, common, paired_cells
from affectlab.stats.bootstrap import Interval

MANY = Interval(replicates=400)
NAN = np.nan


def test_both_sides_are_cut_to_what_both_have() -> None:
    one, other = common(np.array([[1.0, NAN, 3.0]]), np.array([[NAN, 2.0, 5.0]]))
    assert np.array_equal(one, [[NAN, NAN, 3.0]], equal_nan=True)
    assert np.array_equal(other, [[NAN, NAN, 5.0]], equal_nan=True)


def test_items_then_groups_then_columns_then_roles_by_hand() -> None:
    roles = ["stag_hunt", "stag_hunt", "trust_trustee"]
    values = np.array([[1.0, 0.0, 2.0], [3.0, NAN, 4.0], [NAN, NAN, 6.0]])
    # Stag hunt: columns 2, 0 and 3; trustee: 6. Columns alike: (5 / 3 + 6) / 2.
    assert cell_measures(roles, list("abc"), values).value("mean") == pytest.approx((5 / 3 + 6) / 2)
    # The first two columns are readings of one: ((2 + 0) / 2 + 3) / 2 = 2, and (2 + 6) / 2.
    assert cell_measures(roles, list("abc"), values, groups=[7, 7, 9]).value("mean") == pytest.approx(4.0)
    # One value an item: (1 + 3) / 2 in the stag hunt, none for the trustee.
    assert cell_measures(roles, list("abc"), values[:, 0]).value("mean") == pytest.approx(2.0)
    assert cell_measures(roles, list("abc"), np.full(3, NAN)).value("mean") is None


def test_roles_weigh_alike_whatever_their_items() -> None:
    # Three stag hunts of difference 0, one trustee of difference 1: 1 / 2, and 1 / 4 were items pooled.
    first = np.array([1.0, 1.0, 1.0, 1.0])
    second = np.array([1.0, 1.0, 1.0, 0.0])
    roles = ["stag_hunt"] * 3 + ["trust_trustee"]
    assert paired_cells(roles, list("abcd"), first, second, MANY).difference.value == pytest.approx(0.5)


def test_items_of_one_group_are_swapped_and_resampled_together() -> None:
    # Twelve items up by 1: as twelve clusters p is about 2 / 2^12, as two groups of six 2 / 2^2.
    first, second, roles = np.ones(12), np.zeros(12), ["stag_hunt"] * 12
    alone = paired_cells(roles, [f"i{n}" for n in range(12)], first, second, MANY)
    grouped = paired_cells(roles, ["one"] * 6 + ["two"] * 6, first, second, MANY)
    assert alone.p is not None
    assert grouped.p is not None
    assert alone.p < 0.02
    assert grouped.p == pytest.approx(0.5, abs=0.1)
    assert (alone.difference.clusters, grouped.difference.clusters) == (12, 2)


def test_a_resample_that_lost_a_role_is_no_mean_over_roles() -> None:
    # Seven stag hunts of difference 0 and one trustee of difference 1: .5 whichever items are drawn, as long as both
    # roles are there. The trustee is drawn in 1 - (7 / 8)^8 = 66 % of resamples, and no stag hunt in 1 of 8^8.
    first, second = np.append(np.zeros(7), 1.0), np.zeros(8)
    roles = ["stag_hunt"] * 7 + ["trust_trustee"]
    found = paired_cells(roles, [f"i{n}" for n in range(8)], first, second, MANY).difference
    assert (found.value, found.low) == (0.5, None)
    assert "no variation" in found.reason
    # Four roles of one item each: all four are drawn in 4! / 4^4 = 9 % of resamples.
    few = ["stag_hunt", "escalation", "trust_trustor", "trust_trustee"]
    alone = paired_cells(few, few, np.arange(4.0), np.zeros(4), MANY).difference
    assert (alone.value, alone.low) == (1.5, None)
    assert "undefined in" in alone.reason
