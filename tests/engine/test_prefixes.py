from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from affectlab.engine.prefixes import Node, forest

TEXTS = st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=12).map(tuple), min_size=1, max_size=12)


def nodes(roots: list[Node]) -> list[Node]:
    return [node for root in roots for node in (root, *nodes(root.children))]


@given(TEXTS, st.integers(1, 4), st.integers(0, 6))
def test_every_text_can_be_read_off_its_path(texts: list[tuple[int, ...]], levels: int, cost: int) -> None:
    roots = forest(texts, levels, cost)
    ends = [node for node in nodes(roots) if node.text is not None]
    assert sorted(node.text for node in ends if node.text is not None) == list(range(len(texts)))
    for end in ends:
        assert end.text is not None
        assert not end.children
        path = end.path()
        assert len(path) <= levels
        assert sum((node.tokens for node in path), ()) == texts[end.text]
        assert [node.start for node in path] == [sum(len(one.tokens) for one in path[:n]) for n in range(len(path))]
        assert end.end == len(texts[end.text])
    assert all(node.tokens for node in nodes(roots))


@given(TEXTS, st.integers(1, 4), st.integers(0, 6))
def test_sharing_never_costs_more_than_not_sharing(texts: list[tuple[int, ...]], levels: int, cost: int) -> None:
    found = nodes(forest(texts, levels, cost))
    passes = sum(node.text is None for node in found)
    assert sum(len(node.tokens) for node in found) + cost * passes <= sum(map(len, texts))


def test_the_cheapest_of_two_beginnings_is_taken_and_both_when_three_pieces_are_allowed() -> None:
    # Six texts: 20 tokens that all share, then 30 that three and three share, then 5 of their own.
    texts = [tuple([1] * 20 + [group] * 30 + [group, 9, one, one, one])[:55] for group in (2, 3) for one in (4, 5, 6)]
    unshared = 6 * 55
    # Two pieces: (20 + 30) twice and 6 x about 3, against 20 once and 6 x 35: the longer beginnings win.
    two = forest(texts, 2)
    assert [len(root.tokens) for root in two] == [52, 52]
    assert sum(len(node.tokens) for node in nodes(two)) == 2 * 52 + 6 * 3 < unshared
    three = forest(texts, 3)
    assert [len(root.tokens) for root in three] == [20]
    assert sum(len(node.tokens) for node in nodes(three)) == 20 + 2 * 32 + 6 * 3


def test_short_beginnings_are_not_worth_a_pass() -> None:
    assert all(root.text is not None for root in forest([(1, 2, 3), (1, 2, 4)], 3))


def test_many_nested_texts_do_not_exhaust_the_stack() -> None:
    texts = [tuple([1] * length) for length in range(1, 1500)]
    assert len([node for node in nodes(forest(texts, 3)) if node.text is not None]) == len(texts)
