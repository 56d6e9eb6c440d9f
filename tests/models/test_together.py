from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from affectlab.models.together import together

ASKED = st.lists(st.tuples(st.integers(0, 4), st.sampled_from("nabc")), max_size=30)


def test_requests_that_differ_by_condition_alone_are_one_row() -> None:
    asked = [("p", "neutral", 1), ("q", "neutral", 2), ("p", "anger", 3), ("q", "anger", 4), ("r", "anger", 5)]
    both, rest = together(asked)
    assert both.conditions == ("neutral", "anger")
    assert [both.of(row, state) for row in (0, 1) for state in (0, 1)] == [[1], [3], [2], [4]]
    assert both.first(1) == 2
    assert rest.conditions == ("anger",)
    assert rest.of(0, 0) == [5]


def test_alike_requests_are_computed_once() -> None:
    (group,) = together([("p", "neutral", 1), ("p", "neutral", 2)])
    assert len(group.rows) == 1
    assert group.of(0, 0) == [1, 2]


@given(ASKED)
def test_every_request_is_in_exactly_one_place(asked: list[tuple[int, str]]) -> None:
    groups = together((key, condition, (number, key, condition)) for number, (key, condition) in enumerate(asked))
    found = []
    for group in groups:
        for row in range(len(group.rows)):
            for state, condition in enumerate(group.conditions):
                found += group.of(row, state)
                assert {one[1:] for one in group.of(row, state)} == {(group.first(row)[1], condition)}
    assert sorted(found) == [(number, *one) for number, one in enumerate(asked)]
    assert len({group.conditions for group in groups}) == len(groups)
