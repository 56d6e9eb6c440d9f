"""Texts as a forest whose inner nodes are beginnings that several of them share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

PASS_COST = 8
"""Tokens that a pass of its own must save to be worth it."""

_DEEPEST = 12
"""Nested beginnings looked at; deeper ones, which no set of prompts has, are left unshared."""


@dataclass(slots=True, eq=False)
class Node:
    """A piece of one or more texts.

    Attributes:
        tokens: The piece, at least one token.
        start: Tokens before it.
        text: Number of the text that ends with it; ``None`` inside of the forest.
        parent: The node before it.
        children: The nodes after it.
    """

    tokens: tuple[int, ...]
    start: int
    text: int | None = None
    parent: Node | None = None
    children: list[Node] = field(default_factory=list)

    @property
    def end(self) -> int:
        """Tokens up to its end."""
        return self.start + len(self.tokens)

    def path(self) -> list[Node]:
        """The nodes from the root to this one."""
        return [*(self.parent.path() if self.parent else []), self]


def forest(texts: Sequence[tuple[int, ...]], levels: int, pass_cost: int = PASS_COST) -> list[Node]:
    """Split texts into shared beginnings and rests, so that the fewest tokens are computed.

    Every text ends in a leaf of its own, of one token or more.

    Args:
        texts: Token texts, none empty.
        levels: Most nodes on a path; 1 shares nothing.
        pass_cost: Tokens that a shared beginning must save.
    """
    order = sorted(range(len(texts)), key=lambda place: texts[place])
    shared = [_common(texts[one], texts[other]) for one, other in pairwise(order)]
    roots: list[Node] = []
    for low, high in _ranges(shared, 0, len(order), 1):
        roots += _Planner(texts, order, shared, pass_cost).solve(low, high, 0, levels, 0)[1]
    for root in roots:
        _link(root)
    return roots


def split(node: Node, length: int) -> Node:
    """A node whose first ``length`` tokens, fewer than all, are a node of their own."""
    rest = Node(node.tokens[length:], node.start + length, node.text, children=node.children)
    head = Node(node.tokens[:length], node.start, parent=node.parent, children=[rest])
    _link(head)
    return head


def _common(one: tuple[int, ...], other: tuple[int, ...]) -> int:
    """Length of the common beginning, the last token of either left out."""
    low, high = 0, min(len(one), len(other)) - 1
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _ranges(shared: Sequence[int], low: int, high: int, length: int) -> Iterator[tuple[int, int]]:
    """Cut sorted texts ``low`` to ``high`` where neighbours share fewer than ``length`` tokens."""
    start = low
    for place in range(low, high):
        if place == high - 1 or shared[place] < length:
            yield start, place + 1
            start = place + 1


@dataclass(slots=True)
class _Planner:
    """Finds the cheapest forest by trying each shared beginning as a node of its own and not."""

    texts: Sequence[tuple[int, ...]]
    order: Sequence[int]
    shared: Sequence[int]
    pass_cost: int

    def solve(self, low: int, high: int, done: int, levels: int, depth: int) -> tuple[int, list[Node]]:
        """Cost in tokens, and roots, of sorted texts ``low`` to ``high`` whose first ``done`` tokens are computed."""
        if high - low == 1 or levels == 1 or depth == _DEEPEST:
            places = self.order[low:high]
            leaves = [Node(self.texts[place][done:], done, place) for place in places]
            return sum(len(leaf.tokens) for leaf in leaves), leaves
        common = min(self.shared[low : high - 1])
        plain_cost = 0
        plain: list[Node] = []
        parts = list(_ranges(self.shared, low, high, common + 1))
        for part in parts:
            cost, nodes = self.solve(*part, done, levels, depth + 1)
            plain_cost, plain = plain_cost + cost, plain + nodes
        if common - done <= self.pass_cost // (high - low - 1):
            return plain_cost, plain
        cut_cost = common - done + self.pass_cost
        children: list[Node] = []
        for part in parts:
            cost, nodes = self.solve(*part, common, levels - 1, depth + 1)
            cut_cost, children = cut_cost + cost, children + nodes
        if cut_cost >= plain_cost:
            return plain_cost, plain
        tokens = self.texts[self.order[low]][done:common]
        return cut_cost, [Node(tokens, done, children=children)]


def _link(node: Node) -> None:
    for child in node.children:
        child.parent = node
        _link(child)
