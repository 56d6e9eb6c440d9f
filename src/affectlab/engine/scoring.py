"""From rows of options to the forest that is run, and from logits back to the options' scores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from affectlab.engine.prefixes import Node, forest
from affectlab.engine.rows import ScoreRow
from affectlab.errors import WorldError


def stems(options: Sequence[tuple[int, ...]]) -> list[tuple[tuple[int, ...], list[int]]]:
    """The texts that scoring some options takes: (tail, options that are read off it).

    The last token of an option is predicted, never read, so a text only holds the tokens before it; and it also serves
    every option whose tokens before the last are a start of its own. Options of one token all share one.
    """
    rows: list[tuple[tuple[int, ...], list[int]]] = []
    for place in sorted(range(len(options)), key=lambda place: -len(options[place])):
        tail = options[place][:-1]
        for row, members in rows:
            if row[: len(tail)] == tail:
                members.append(place)
                break
        else:
            rows.append((tail, [place]))
    return rows


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A log-probability to read: of ``token``, for ``option`` of ``row``."""

    row: int
    option: int
    token: int


class ScorePlan:
    """The forest of some rows, and where in it each option's log-probabilities are read."""

    def __init__(self, rows: Sequence[ScoreRow], numbers: Sequence[int], levels: int, *, coded: bool) -> None:
        """Plan the rows with the given numbers.

        Args:
            rows: All rows.
            numbers: Those that are to be scored.
            levels: Most nodes on a path.
            coded: Whether a token of a prompt and one of an option are to be kept apart.
        """
        texts: list[tuple[int, ...]] = []
        owners: list[tuple[int, list[int]]] = []
        self.missing = dict.fromkeys(numbers, 0)
        for number in numbers:
            prompt = tuple(2 * token for token in rows[number].prompt)
            options = [tuple(option) for option in rows[number].options]
            for tail, members in stems(options):
                texts.append(prompt + tuple(2 * token + coded for token in tail))
                owners.append((number, members))
                self.missing[number] += 1
        self.roots = forest(texts, levels)
        self._wanted: dict[int, dict[int, list[_Wanted]]] = {}
        self._leaves: dict[int, int] = {}
        for leaf in leaves(self.roots):
            assert leaf.text is not None
            number, members = owners[leaf.text]
            self._leaves[id(leaf)] = number
            path = leaf.path()
            start = len(rows[number].prompt) - 1
            for option in members:
                for place, token in enumerate(rows[number].options[option], start):
                    node = next(node for node in path if node.start <= place < node.end)
                    at = self._wanted.setdefault(id(node), {}).setdefault(place - node.start, [])
                    at.append(_Wanted(number, option, token))

    def reads(self, node: Node) -> Sequence[int]:
        """Places within a node whose logits are wanted."""
        return sorted(self._wanted.get(id(node), ()))

    def wanted(self, node: Node) -> Iterator[list[_Wanted]]:
        """What is read at each of them."""
        for place in self.reads(node):
            yield self._wanted[id(node)][place]

    def owner(self, node: Node) -> int | None:
        """The row that a leaf belongs to."""
        return self._leaves.get(id(node))


def leaves(roots: Sequence[Node]) -> Iterator[Node]:
    """The leaves of a forest."""
    todo = list(roots)
    while todo:
        node = todo.pop()
        todo += node.children
        if node.text is not None:
            yield node


class Sums:
    """Summed log-probabilities of options, and the rows that are complete."""

    def __init__(self, plan: ScorePlan, rows: Sequence[ScoreRow], lanes: int, dtype: str) -> None:
        self._dtype = dtype
        self._plan = plan
        self._rows = rows
        self._missing = dict(plan.missing)
        self._sums = {number: np.zeros((lanes, len(rows[number].options))) for number in plan.missing}

    def add(self, nodes: Sequence[Node], logits: Any) -> Iterator[tuple[int, NDArray[np.float64]]]:
        """Add what a batch read; rows that are now complete, as ``[condition, option]``.

        Raises:
            WorldError: When logits are not finite.
        """
        import torch

        wanted = [at for node in nodes for at in self._plan.wanted(node)]
        if wanted:
            check_finite(logits, [[name(self._rows, one.row) for one in at] for at in wanted], self._dtype)
            reads = torch.tensor([place for place, at in enumerate(wanted) for _ in at], device=logits.device)
            tokens = torch.tensor([one.token for at in wanted for one in at], device=logits.device)
            found = logits[reads, :, tokens] - logits.logsumexp(-1)[reads]
            flat = [one for at in wanted for one in at]
            for one, value in zip(flat, found.double().cpu().numpy(), strict=True):
                self._sums[one.row][:, one.option] += value
        for node in nodes:
            if (row := self._plan.owner(node)) is not None:
                self._missing[row] -= 1
                if not self._missing[row]:
                    yield row, self._sums.pop(row)


def name(rows: Sequence[Any], number: int) -> str:
    """What errors call a row."""
    return rows[number].name or f"row {number}"


def check_finite(logits: Any, names: Sequence[Sequence[str]], dtype: str) -> None:
    """Refuse logits, first dimension as ``names``, that are not finite in a model of some number type.

    Raises:
        WorldError: Naming the rows.
    """
    # One number that is not finite makes the sum so; a sum looks at each once, which a test of each does five times.
    finite = logits.flatten(1).sum(-1).isfinite()
    if not finite.all():
        bad = dict.fromkeys(one for at, fine in zip(names, finite.tolist(), strict=True) if not fine for one in at)
        raise not_finite("logits", list(bad), dtype)


def not_finite(what: str, names: Sequence[str], dtype: str) -> WorldError:
    """The error about outputs of a model that are not finite for rows, and what to do next."""
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    if dtype == "float32":
        advice = "Its weights are damaged, or an edit is too large: try without edits, then fetch the weights anew."
    else:
        advice = f"They overflow in {dtype}, an edit is too large, or the weights are damaged: use float32."
    return WorldError(f"The model's {what} are not finite for {', '.join(names[:5])}{more}. {advice}")
