"""Rows of a pass: a piece of text, and the short ends that continue it, told apart by the mask."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from affectlab.engine.prefixes import Node

_END, _ENDS = 16, 256
"""Most tokens of an end that is packed, and of all of a row. In a row of its own an end costs a copy of the keys and
values before it, as much as a few tokens do; packed, its tokens are also held against those of the other ends."""


@dataclass(frozen=True, slots=True)
class Row:
    """A node, and behind it all its children if they are packed; none of those sees the others.

    Attributes:
        node: The node.
        ends: The children.
    """

    node: Node
    ends: tuple[Node, ...] = ()

    @classmethod
    def of(cls, node: Node, *, packs: bool) -> Row:
        """A node with its children behind it, where all are short ends and may be packed."""
        sizes = [len(child.tokens) for child in node.children]
        short = all(size <= _END for size in sizes) and sum(sizes) <= _ENDS
        packed = packs and short and not any(child.children for child in node.children)
        return cls(node, tuple(node.children) if packed else ())

    @property
    def nodes(self) -> tuple[Node, ...]:
        """In the order of their tokens."""
        return (self.node, *self.ends)

    def __len__(self) -> int:
        return sum(len(node.tokens) for node in self.nodes)

    @property
    def tokens(self) -> list[int]:
        """Their tokens."""
        return [token for node in self.nodes for token in node.tokens]

    @property
    def positions(self) -> list[int]:
        """Place of each token in its text."""
        return [place for node in self.nodes for place in range(node.start, node.end)]

    @property
    def owners(self) -> list[int]:
        """For each token, 0 if it is the node's, else the number of its end."""
        return [number for number, node in enumerate(self.nodes) for _ in node.tokens]


def tree_mask(before: Any | None, real: Any, owners: Any, dtype: Any) -> Any:
    """What is added to attention so that a token sees what comes before it in its own text.

    Args:
        before: ``[row, column]``: whether a column of what came before holds a token; ``None``: nothing did.
        real: ``[row, token]``: whether it is a token, not padding.
        owners: ``[row, token]``: see :attr:`Row.owners`.
        dtype: Number type of the model.

    Returns:
        ``[row, 1, token, column]``.
    """
    import torch

    rows, width = real.shape
    seen = real[:, None] & ((owners[:, None] == 0) | (owners[:, None] == owners[:, :, None]))
    # A token of padding sees itself: the weights of one that sees nothing are not numbers.
    seen = seen.tril() | torch.eye(width, dtype=torch.bool, device=real.device)
    if before is not None:
        seen = torch.cat([before[:, None].expand(-1, width, -1), seen], dim=2)
    hidden = torch.full((rows, 1, 1, 1), torch.finfo(dtype).min, dtype=dtype, device=real.device)
    return torch.zeros_like(hidden).where(seen[:, None], hidden)


def read_places(rows: Sequence[Row], reads: Any, width: int, *, left: bool) -> list[tuple[int, int]]:
    """Row and token of every place that is read.

    Args:
        rows: The rows of a pass.
        reads: For a node, the places within it.
        width: Tokens of the longest row.
        left: Whether rows are padded on the left.
    """
    found = []
    for number, row in enumerate(rows):
        at = width - len(row) if left else 0
        for node in row.nodes:
            found += [(number, at + place) for place in reads(node)]
            at += len(node.tokens)
    return found
