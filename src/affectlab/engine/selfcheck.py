"""Trying each fast way on a short probe against the plain one, before anything rests on it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from affectlab.engine.interventions import NEUTRAL, Edit, Edits, Intervention
from affectlab.engine.memory import levels
from affectlab.engine.passes import Lanes, Walk
from affectlab.engine.prefixes import forest
from affectlab.engine.stack import Pass, Stack

TOLERANCE = 1e-3
"""Largest difference in log-probability that passes in float32."""

_PREFIX, _RESTS, _OTHER = 12, (5, 3), 6


@dataclass(slots=True)
class Checked:
    """What passed, with the largest difference in log-probability of each check.

    Attributes:
        head_rows: Giving the head only the positions that are read.
        batch: Padding and batching.
        sharing: Computing a shared beginning once.
        fork: Computing lower layers once.
        cache: Generating with a cache.
        deviations: By the name of the check.
        notes: What did not pass.
    """

    head_rows: bool = False
    batch: bool = False
    sharing: bool = False
    fork: bool = False
    cache: bool = False
    deviations: dict[str, float] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Probe:
    """Three texts, two of which share their beginning, neutral and with one edit in the middle of the model."""

    stack: Stack
    texts: list[tuple[int, ...]]
    interventions: tuple[Intervention, ...]
    plain: dict[tuple[int, int], Any] = field(default_factory=dict)

    def lanes(self, *, fork: bool) -> Lanes:
        edits = Edits(self.interventions, self.stack.device_of)
        first = min(edits.layers)
        return Lanes(tuple(range(len(self.interventions))), edits, first + 1 if fork else 0)

    def single(self, text: Sequence[int], lane: int) -> Any:
        """Log-probabilities after the last two tokens of one unpadded text, all logits computed."""
        import torch

        ids = torch.tensor([text], device=self.stack.device)
        every = torch.ones_like(ids, dtype=torch.bool)
        edits = Edits(self.interventions[lane : lane + 1], self.stack.device_of)
        which = torch.zeros(1, dtype=torch.long, device=ids.device)
        last = torch.tensor([len(text) - 2, len(text) - 1], device=ids.device)
        step = Pass(
            ids,
            every,
            every.long().cumsum(-1) - 1,
            change=edits.on(which, every, every),
            changed=edits.layers,
            read=(torch.zeros_like(last), last),
        )
        return self.stack.run(step).logits.float().log_softmax(-1)

    def deviation(self, pieces: int, *, fork: bool) -> float:
        """Largest difference from the plain pass."""
        walk = Walk(self.stack, self.lanes(fork=fork), 1 << 20, lambda node: range(len(node.tokens))[-2:])
        worst = 0.0
        coded = [tuple(2 * token for token in text) for text in self.texts]
        for batch in walk.run(forest(coded, pieces, pass_cost=0)):
            found = batch.logits.log_softmax(-1)
            at = 0
            for node in batch.nodes:
                read = len(node.tokens[-2:])
                if node.text is not None:
                    for lane in range(len(self.interventions)):
                        plain = self.plain[node.text, lane][-read:]
                        worst = max(worst, _difference(found[at : at + read, lane], plain))
                at += read
        return worst

    def continued(self, pieces: int, *, fork: bool) -> float:
        """Largest difference when the last token is fed to a cache of the ones before it."""
        import torch

        lanes = self.lanes(fork=fork)
        walk = Walk(self.stack, lanes, 1 << 20, lambda _node: (), keep=True)
        worst = 0.0
        coded = [tuple(2 * token for token in text[:-1]) for text in self.texts]
        for batch in walk.run(forest(coded, pieces, pass_cost=0)):
            places = [place for place, node in enumerate(batch.nodes) if node.text is not None]
            if not places:
                continue
            texts = [(batch.nodes[place].text or 0, lane) for place in places for lane in range(len(lanes))]
            past = batch.past.select(torch.tensor(places, device=self.stack.device))
            ids = torch.tensor([[self.texts[text][-1]] for text, _ in texts], device=self.stack.device)
            lengths = torch.tensor([[len(self.texts[text]) - 1] for text, _ in texts], device=self.stack.device)
            mask = past.mask().repeat_interleave(len(lanes), 0)
            which = torch.tensor([lane for _, lane in texts], device=ids.device)
            every = torch.ones_like(ids, dtype=torch.bool)
            rows = torch.arange(len(texts), device=ids.device)
            step = Pass(
                ids,
                torch.cat([mask, every], dim=1),
                lengths,
                past.grown(self.stack.config),
                change=lanes.edits.on(which, every, every),
                changed=lanes.edits.layers,
                read=(rows, torch.zeros_like(rows)),
            )
            found = self.stack.run(step).logits.float().log_softmax(-1)
            for place, key in enumerate(texts):
                worst = max(worst, _difference(found[place], self.plain[key][-1]))
        return worst


def check(stack: Stack, *, exact: bool) -> Checked:
    """Try everything on a model, and leave ``stack.gathers`` as it came out.

    Args:
        stack: The model.
        exact: Whether it computes in float32. In half precision the noise of batching sets the bar.
    """
    checked = Checked()
    stack.gathers = False
    probe = _probe(stack)
    probe.plain = {
        (text, lane): probe.single(ids, lane)
        for text, ids in enumerate(probe.texts)
        for lane in range(len(probe.interventions))
    }
    stack.gathers = True
    try:
        gap = max(_difference(probe.single(ids, 1), probe.plain[text, 1]) for text, ids in enumerate(probe.texts[:1]))
    except (RuntimeError, TypeError, ValueError, AttributeError, IndexError) as error:
        _failed(checked, "head_rows", error)
        stack.gathers = False
    else:
        checked.head_rows = stack.gathers = _passes(checked, "head_rows", gap, TOLERANCE if exact else 0.1)
    floor = _tried(checked, "batch", partial(probe.deviation, 1, fork=False))
    bar = TOLERANCE if exact or floor is None else max(0.1, 4 * floor)
    checked.batch = floor is not None and _passes(checked, "batch", floor, TOLERANCE if exact else float("inf"))
    if not checked.batch:
        return checked
    longest = _PREFIX + max(_RESTS)
    deep = levels(stack.config, longest, growing=False)
    for label, pieces, fork in (("sharing and fork", deep, True), ("sharing", deep, False), ("fork", 1, True)):
        found = _tried(checked, label, partial(probe.deviation, pieces, fork=fork))
        if found is not None and _passes(checked, label, found, bar):
            checked.sharing, checked.fork = pieces > 1, fork
            break
    pieces = levels(stack.config, longest, growing=True) if checked.sharing else 1
    found = _tried(checked, "cache", partial(probe.continued, pieces, fork=checked.fork))
    checked.cache = found is not None and _passes(checked, "cache", found, bar)
    return checked


def _probe(stack: Stack) -> _Probe:
    draw = np.random.default_rng(0)
    # Ordinary tokens: the ends of a vocabulary hold special ones, some of which stand for images.
    vocabulary = stack.config.vocab_size
    tokens = draw.integers(vocabulary // 4, 3 * vocabulary // 4, 64).tolist()
    prefix, at = tokens[:_PREFIX], _PREFIX
    texts = []
    for rest in _RESTS:
        texts.append(tuple(prefix + tokens[at : at + rest]))
        at += rest
    texts.append(tuple(tokens[at : at + _OTHER]))
    layer = len(stack) // 2
    size = _typical_norm(stack, texts[0], layer)
    direction = draw.standard_normal(stack.width)
    vector = (0.5 * size * direction / np.linalg.norm(direction)).astype(np.float32)
    return _Probe(stack, texts, (NEUTRAL, Intervention((Edit(layer, vector),))))


def _typical_norm(stack: Stack, text: Sequence[int], layer: int) -> float:
    import torch

    ids = torch.tensor([text], device=stack.device)
    every = torch.ones_like(ids, dtype=torch.bool)
    step = Pass(ids, every, every.long().cumsum(-1) - 1, stop=layer + 1, captured=frozenset({layer}))
    return float(stack.run(step).outputs[layer].float().norm(dim=-1).median())


def _difference(one: Any, other: Any) -> float:
    gap = float((one - other).abs().max())
    return gap if gap == gap else float("inf")


def _tried(checked: Checked, label: str, run: Callable[[], float]) -> float | None:
    try:
        return run()
    except (RuntimeError, TypeError, ValueError, AttributeError, IndexError) as error:
        _failed(checked, label, error)
        return None


def _failed(checked: Checked, label: str, error: Exception) -> None:
    reason = str(error).strip().splitlines()[0] if str(error).strip() else ""
    checked.notes.append(f"{label}: not used, the model's code refuses it ({type(error).__name__}: {reason}).")


def _passes(checked: Checked, label: str, gap: float, bar: float) -> bool:
    checked.deviations[label] = gap
    if gap > bar:
        checked.notes.append(f"{label}: not used, log-probabilities differ by {gap:.2g} from the plain pass.")
    return gap <= bar
