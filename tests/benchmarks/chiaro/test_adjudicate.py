from __future__ import annotations

import pytest

from affectlab.benchmarks.chiaro.adjudicate import adjudicate


@pytest.mark.parametrize(
    ("first", "second", "consistent", "chosen"),
    [
        (1, 2, True, 1),  # 3 - 2 = 1
        (2, 1, True, 2),  # 3 - 1 = 2
        (1, 1, False, None),  # 3 - 1 = 2, not 1: the first place won both times
        (2, 2, False, None),
        (None, 1, False, None),
        (1, None, False, None),
        (None, None, False, None),
    ],
)
def test_two_candidates(first: int | None, second: int | None, consistent: bool, chosen: int | None) -> None:
    assert adjudicate(first, second) == (consistent, chosen)


def test_more_candidates_are_mapped_back_from_the_end() -> None:
    # Of four, place 4 in reversed order is place 1.
    assert adjudicate(1, 4, candidates=4) == (True, 1)
    assert adjudicate(1, 2, candidates=4) == (False, None)


@pytest.mark.parametrize(("first", "second"), [(0, 1), (3, 1), (1, 0), (1, 3)])
def test_votes_off_the_list_are_refused(first: int, second: int) -> None:
    with pytest.raises(ValueError, match="expected 1 to 2"):
        adjudicate(first, second)
