from __future__ import annotations

import numpy as np
import pytest

from affectlab.errors import UserError
from affectlab.stats.irt import Responses

ROWS = [("m1", "x", 1), ("m1", "x", 0), ("m1", "y", 1), ("m2", "x", 1), ("m2", "x", 0), ("m2", "y", 1), ("m3", "x", 1)]


def test_repeats_are_counts_of_one_respondent_and_twins_are_named() -> None:
    found = Responses.of_rows(ROWS, 2)
    assert found.counts[0, 0].tolist() == [1, 1]
    assert found.duplicates == (("m1", "m2"),)
    assert found.binary
    scores = found.scores
    assert scores[0].tolist() == [0.5, 1.0]
    assert np.isnan(scores[2, 1])


def test_scores_are_shares_of_each_items_own_categories() -> None:
    rows = [("m1", "x", 2), ("m2", "x", 1), ("m1", "y", 4), ("m2", "y", 1)]
    found = Responses.of_rows(rows, {"x": 3, "y": 5})
    assert not found.binary
    assert found.scores.tolist() == [[1.0, 1.0], [0.5, 0.25]]
    assert found.take_items(["y", "x"]).categories.tolist() == [5, 3]
    assert found.take_respondents(np.array([1, 1])).respondents == ("m2", "m2")


def test_too_little_and_what_is_out_of_range_is_refused() -> None:
    with pytest.raises(UserError, match="1 respondents on 2 items"):
        Responses.of_rows([("m1", "x", 1), ("m1", "y", 1)], 2)
    with pytest.raises(UserError, match="category 2 of x, which has 2"):
        Responses.of_rows([("m1", "x", 2), ("m2", "y", 1)], 2)
    with pytest.raises(UserError, match="Nobody answered y"):
        Responses.of_counts(np.eye(2)[:, None, :].repeat(2, 1) * [[[1], [0]]], ("a", "b"), ("x", "y"), np.array([2, 2]))
