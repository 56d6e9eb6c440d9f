"""Running a forest of texts through a model, level by level, under several interventions at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from affectlab.engine.edits import Edits
from affectlab.engine.interventions import Intervention
from affectlab.engine.memory import Past, Segment, kept
from affectlab.engine.packing import Row, read_places, tree_mask
from affectlab.engine.prefixes import Node
from affectlab.engine.stack import Pass, Stack
from affectlab.engine.texts import padded

_COLUMNS = 8
"""Columns a pass may attend to, as a multiple of the tokens it may compute: repeated keys live for one layer only."""

_LOGITS = 1 << 25
"""Numbers of logits computed at once."""


@dataclass(slots=True)
class Lanes:
    """Interventions that run together.

    Attributes:
        numbers: Their numbers in what was asked.
        edits: They, made ready; row k belongs to ``numbers[k]``.
        fork: Layers before this one run once for all of them; 0 when every layer runs for each.
    """

    numbers: tuple[int, ...]
    edits: Edits
    fork: int

    def __len__(self) -> int:
        return len(self.numbers)


def lanes(stack: Stack, interventions: Sequence[Intervention], most: int, *, fork: bool) -> list[Lanes]:
    """Group interventions so that few layers are computed twice.

    Those that first edit or read the same layer run together; groups are joined where computing the lower layers once
    more costs more than it saves.

    Args:
        stack: The model.
        interventions: All of them.
        most: Most that may run together, at least 1.
        fork: Whether lower layers may be computed once.
    """
    first = [min(one.layers, default=len(stack)) for one in interventions]
    order = sorted(range(len(first)), key=lambda place: first[place]) if fork else list(range(len(first)))
    groups: list[list[int]] = []
    for place in order:
        if groups and (not fork or first[groups[-1][-1]] == first[place]):
            groups[-1].append(place)
        else:
            groups.append([place])
    joined: list[list[int]] = []
    for group in reversed(groups):
        later = joined[-1] if joined else []
        if later and first[later[0]] >= len(later) * (first[later[0]] - first[group[0]]):
            joined[-1] = group + later
        else:
            joined.append(group)
    made = []
    for group in joined:
        for start in range(0, len(group), most):
            numbers = tuple(group[start : start + most])
            edits = Edits([interventions[number] for number in numbers], stack.device_of)
            lowest = min(first[number] for number in numbers)
            made.append(Lanes(numbers, edits, min(lowest + 1, len(stack)) if fork and len(numbers) > 1 else 0))
    return made


@dataclass(slots=True)
class Batch:
    """Nodes of a forest that were run together.

    Attributes:
        nodes: The nodes, ends that are packed behind one right after it.
        past: What came before them and, where it is kept, they themselves; for each that is not packed.
        logits: ``[read, condition, vocabulary]``, float32, of the places asked for, nodes in order.
    """

    nodes: list[Node]
    past: Past
    logits: Any


@dataclass(slots=True)
class Walk:
    """How a forest is run.

    Attributes:
        stack: The model.
        lanes: The interventions that run together.
        budget: Most tokens of a pass.
        reads: For a node, the places within it whose logits are wanted.
        keep: Whether leaves are kept in the past, for what comes after them.
        packs: Whether short ends may run in one row with what they continue.
        spare: For a node, further tokens that its rows will need.
        rows: Rows of the latest pass, one for each node and condition.
        tokens: Its tokens, padding included.

    Ids in the forest are doubled; an odd one is not of the prompt.
    """

    stack: Stack
    lanes: Lanes
    budget: int
    reads: Callable[[Node], Sequence[int]]
    keep: bool = False
    packs: bool = False
    spare: Callable[[Node], int] = lambda _node: 0
    rows: int = 0
    tokens: int = 0

    def run(self, roots: Sequence[Node]) -> Iterator[Batch]:
        """Run a forest; each batch as it is done, parents before children."""
        yield from self._level([(root, 0) for root in roots], Past())

    def _level(self, nodes: Sequence[tuple[Node, int]], past: Past) -> Iterator[Batch]:
        import torch

        rows = [(Row.of(node, packs=self.packs and not self.keep), parent) for node, parent in nodes]
        rows.sort(key=lambda pair: (len(pair[0]) + self.spare(pair[0].node), pair[0].node.end), reverse=True)
        for chunk in self._chunks(rows):
            parents = torch.tensor([parent for _, parent in chunk], device=self.stack.device)
            batch = self._forward([row for row, _ in chunk], past.select(parents))
            yield batch
            children = [
                (child, place) for place, (row, _) in enumerate(chunk) if not row.ends for child in row.node.children
            ]
            if children:
                yield from self._level(children, batch.past)

    def _chunks(self, rows: Sequence[tuple[Row, int]]) -> Iterator[list[tuple[Row, int]]]:
        vocabulary = self.stack.config.vocab_size
        chunk: list[tuple[Row, int]] = []
        longest = columns = reads = 0
        for row, parent in rows:
            start = row.node.start
            own = len(row) + self.spare(row.node) + (start if self.keep else 0)
            read = sum(len(self.reads(node)) for node in row.nodes)
            new = max(longest, own), max(columns, start + len(row)), reads + read
            count = (len(chunk) + 1) * len(self.lanes)
            full = (
                count * new[0] > self.budget
                or count * new[1] > _COLUMNS * self.budget
                or new[2] * len(self.lanes) * vocabulary > _LOGITS
            )
            if chunk and full:
                yield chunk
                chunk, new = [], (own, start + len(row), read)
            chunk.append((row, parent))
            longest, columns, reads = new
        if chunk:
            yield chunk

    def _forward(self, rows: Sequence[Row], past: Past) -> Batch:
        """Run rows that continue the same segments."""
        import torch

        stack, count = self.stack, len(self.lanes)
        root = rows[0].node.parent is None
        codes, real = padded([row.tokens for row in rows], stack.device, left=root)
        positions, _ = padded([row.positions for row in rows], stack.device, left=root)
        ids, prompt = codes >> 1, (codes & 1) == 0
        before = past.mask()
        if any(row.ends for row in rows):
            owners, _ = padded([row.owners for row in rows], stack.device, left=root)
            mask = tree_mask(before, real, owners, stack.model.dtype)
        else:
            mask = real if before is None else torch.cat([before, real], dim=1)
        self.rows, self.tokens = len(rows) * count, ids.numel() * count
        keep = self.keep or any(row.node.children and not row.ends for row in rows)
        cached = keep or bool(past.segments)

        fork, lower, entering = self.lanes.fork, None, None
        if fork:
            lower = past.cache(stack.config, 0, fork, per_lane=False, keep=keep) if cached else None
            below = Pass(ids, mask, positions, lower, stop=fork, captured=frozenset({fork - 1}))
            entering = stack.run(below).outputs[fork - 1].repeat_interleave(count, 0)
        which = torch.arange(count, device=stack.device).repeat(len(rows))
        each_real, each_prompt = real.repeat_interleave(count, 0), prompt.repeat_interleave(count, 0)
        upper = past.cache(stack.config, fork, len(stack), per_lane=True, keep=keep) if cached else None
        above = Pass(
            ids.repeat_interleave(count, 0),
            mask.repeat_interleave(count, 0),
            positions.repeat_interleave(count, 0),
            upper,
            first=fork,
            entering=entering,
            change=self.lanes.edits.on(which, each_real, each_prompt),
            changed=self.lanes.edits.layers,
            read=self._read(rows, real),
        )
        logits = stack.run(above).logits
        if keep and upper is not None:
            own = kept(upper.layers)
            if lower is not None:
                own[:fork] = kept(lower.layers)[:fork]
            past = past.then(Segment(real, own, fork, count))
        if logits is not None:
            logits = logits.float().unflatten(0, (-1, count))
        return Batch([node for row in rows for node in row.nodes], past, logits)

    def _read(self, rows: Sequence[Row], real: Any) -> tuple[Any, Any] | None:
        import torch

        places = read_places(rows, self.reads, real.shape[1], left=rows[0].node.parent is None)
        if not places:
            return None
        count = len(self.lanes)
        at, tokens = torch.tensor(places, device=real.device).repeat_interleave(count, 0).unbind(1)
        return at * count + torch.arange(count, device=real.device).repeat(len(places)), tokens
