from __future__ import annotations

from math import isnan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from affectlab.metrics.calibration import auroc, bins, brier, calibration_error


def test_bins_are_closed_on_the_left_and_one_lies_in_the_last() -> None:
    assert bins(np.array([0.0, 0.0999, 0.1, 0.55, 0.9, 1.0])).tolist() == [0, 0, 1, 5, 9, 9]
    with pytest.raises(ValueError, match=r"\[0, 1\]"):
        bins(np.array([1.2]))
    with pytest.raises(ValueError, match=r"\[0, 1\]"):
        bins(np.array([np.nan]))


def test_calibration_error_by_hand() -> None:
    # bin 1: four at 0.25, of which two true (gap |1.0 - 2| = 1); bin 2: one at 0.75, true (gap 0.25); (1 + 0.25) / 5
    error = calibration_error(np.array([4.0, 1.0]), np.array([1.0, 0.75]), np.array([2.0, 1.0]))
    assert error == pytest.approx(0.25)
    assert np.isnan(calibration_error(np.zeros(2), np.zeros(2), np.zeros(2)))


def test_brier_by_hand() -> None:
    # 0.2 and false: 0.04; 0.7 and true: 0.09
    assert brier(np.array([0.2, 0.7]), np.array([False, True])) == pytest.approx([0.04, 0.09])


def test_auroc_by_hand() -> None:
    # Right at .35 and .8, wrong at .1 and .4: of four pairs three are in order.
    assert auroc(np.array([0.1, 0.4, 0.35, 0.8]), np.array([False, False, True, True])) == 0.75
    # Right at .5 and .5, wrong at .5 and .2: (½ + 1) twice, over four.
    assert auroc(np.array([0.5, 0.5, 0.5, 0.2]), np.array([True, True, False, False])) == 0.75
    assert isnan(auroc(np.array([0.1, 0.4]), np.array([True, True])))


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=2, max_size=40))
def test_auroc_is_that_of_scikit_learn(rows: list[tuple[int, bool]]) -> None:
    from sklearn.metrics import roc_auc_score

    p, right = np.array([row[0] / 5 for row in rows]), np.array([row[1] for row in rows])
    if right.all() or not right.any():
        assert isnan(auroc(p, right))
    else:
        assert auroc(p, right) == pytest.approx(roc_auc_score(right, p))
