from __future__ import annotations

import pytest

from affectlab.metrics.drift import drift


def test_six_items_by_hand() -> None:
    # moves over ranges: 1, 0, -1, 0, .2, -.2; magnitudes 2.4 / 6; in people's direction 1 + 0 - 1 + 0 - .2 + .2 = 0
    found = drift([0, 1, 1, 0, 10, 40], [1, 1, 0, 0, 30, 20], [1, 1, 1, 1, 100, 100], [1, 1, 1, 1, -1, -1])
    assert found.ndm == pytest.approx(0.4)
    assert found.nad == pytest.approx(0.0)
    assert (found.used, found.no_range, found.missing) == (6, 0, 0)


def test_items_that_cannot_drift_are_left_out_and_counted() -> None:
    found = drift([5, 1, None, 0], [5, None, 1, 1], [0, 1, 1, 2], [1, 1, 1, 1])
    assert (found.ndm, found.nad) == (0.5, 0.5)
    assert (found.used, found.no_range, found.missing) == (1, 1, 2)


def test_nothing_left_is_undefined() -> None:
    found = drift([5], [5], [0], [1])
    assert (found.ndm, found.nad, found.used, found.no_range) == (None, None, 0, 1)


def test_without_directions_there_is_no_alignment() -> None:
    assert drift([0], [1], [1]).nad is None
    assert drift([0, 0], [1, 1], [1, 1], [1, 0]).nad == 0.5  # no direction counts 0


def test_bad_input_is_refused() -> None:
    with pytest.raises(ValueError, match="equally many"):
        drift([0], [1, 1], [1])
    with pytest.raises(ValueError, match="negative"):
        drift([0], [1], [-1])
    with pytest.raises(ValueError, match="directions"):
        drift([0], [1], [1], [2])
