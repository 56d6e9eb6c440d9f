from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from affectlab.stats.measures import Measures, Over, Share

ACCURACY = Share(np.array([1]), np.array([0, 1]))


def build(**changes: Any) -> Measures:
    """Two clusters; events: wrong (0), right (1), and one that accuracy does not look at (2)."""
    fields: dict[str, Any] = {
        "cluster": np.array([0, 0, 1, 1], np.int32),
        "event": np.array([1, 0, 1, 2], np.int32),
        "clusters": ("x", "y"),
        "n_events": 3,
        "statistics": {"accuracy": ACCURACY},
        "correct": {},
        "headline": "accuracy",
    }
    return Measures(**{**fields, **changes})


def test_totals_and_value() -> None:
    measures = build()
    assert measures.totals().tolist() == [[1, 2, 1]]
    assert measures.value("accuracy") == pytest.approx(2 / 3)


def test_share_of_nothing_is_undefined() -> None:
    nothing = np.empty(0, np.int32)
    assert build(cluster=nothing, event=nothing).value("accuracy") is None
    assert np.isnan(ACCURACY(np.array([[0.0, 0.0, 5.0], [1.0, 3.0, 0.0]]))).tolist() == [True, False]


def test_share_of_something_else_is_refused() -> None:
    with pytest.raises(ValueError, match="hits"):
        Share(np.array([2]), np.array([0, 1]))


def test_over_hands_on_the_named_totals_in_order() -> None:
    difference = Over(np.array([2, 0]), lambda totals: totals[:, 0] - totals[:, 1])
    assert difference(np.array([[1.0, 9.0, 5.0]])).tolist() == [4.0]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"cluster": np.array([0, 0, 1, 2], np.int32)}, r"cluster codes must lie in \[0, 2\)"),
        ({"event": np.array([1, 0, 1, 3], np.int32)}, r"event codes must lie in \[0, 3\)"),
        ({"event": np.array([1, 0, 1, -1], np.int32)}, "event codes"),
        ({"event": np.array([1, 0, 1], np.int32)}, "equally long"),
        ({"headline": "macro_f1"}, "headline 'macro_f1'"),
        ({"leaving_out": frozenset({"accuracy", "mean"})}, r"leaving_out names \['mean'\]"),
    ],
)
def test_inconsistent_measures_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        build(**changes)
