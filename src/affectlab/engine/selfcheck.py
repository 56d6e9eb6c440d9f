"""Trying each fast way on a short probe against the plain one, before anything rests on it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from affectlab.engine.edits import Edits
from affectlab.engine.interventions import NEUTRAL, Edit, Intervention
from affectlab.engine.memory import LEVELS, levels
from affectlab.engine.passes import Batch, Lanes, Walk
from affectlab.engine.prefixes import forest, split
from affectlab.engine.stack import Outcome, Pass, Stack
from affectlab.engine.texts import probe_texts

TOLERANCE = 1e-3
"""Largest difference in log-probability that passes in float32."""

_ERRORS = (RuntimeError, TypeError, ValueError, AttributeError, IndexError)
"""What a model's code may raise at something it is not made for."""


@dataclass(slots=True)
class Checked:
    """What passed, with the largest difference in log-probability of each check.

    Attributes:
        head_rows: Giving the head only the positions that are read.
        batch: Padding and batching.
        sharing: Computing a shared beginning once.
        packing: Running short ends in one row with what they continue.
        fork: Computing lower layers once.
        cache: Generating with a cache.
        deviations: By the name of the check.
        notes: What did not pass.
    """

    head_rows: bool = False
    batch: bool = False
    sharing: bool = False
    packing: bool = False
    fork: bool = False
    cache: bool = False
    deviations: dict[str, float] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Probe:
    """A few texts, neutral and with one edit in the middle of the model.

    Attributes:
        stack: The model.
        texts: Their tokens.
        interventions: The two.
        wanted: For a text, an intervention and a token, the log-probabilities ``[vocabulary]`` that are right.
    """

    stack: Stack
    texts: Sequence[tuple[int, ...]]
    interventions: tuple[Intervention, ...]
    wanted: dict[tuple[int, int, int], Any] = field(default_factory=dict)

    def lanes(self, *, fork: bool) -> Lanes:
        edits = Edits(self.interventions, self.stack.device_of)
        first = min(edits.layers)
        return Lanes(tuple(range(len(self.interventions))), edits, first + 1 if fork else 0)

    def single(self, text: Sequence[int], lane: int, **how: Any) -> Outcome:
        """A pass over one unpadded text whose logits are read at every token."""
        import torch

        ids = torch.tensor([text], device=self.stack.device)
        every = torch.ones_like(ids, dtype=torch.bool)
        edits = Edits(self.interventions[lane : lane + 1], self.stack.device_of)
        change = edits.on(torch.zeros(1, dtype=torch.long, device=ids.device), every, every)
        tokens = torch.arange(len(text), device=ids.device)
        read = (torch.zeros_like(tokens), tokens)
        step = Pass(ids, every, every.long().cumsum(-1) - 1, change=change, changed=edits.layers, read=read)
        for name, value in how.items():
            setattr(step, name, value)
        return self.stack.run(step)

    def plainly(self) -> Any:
        """Compute plainly what is wanted of a neutral and of an edited text, both shorter than others.

        Returns:
            Output of the last layer for the edited text.
        """
        last = len(self.stack) - 1
        self._want(0, 0, self.stack.learned.logits)
        found = self.single(self.texts[1], 1, captured=frozenset({last}))
        self._want(1, 1, found.logits)
        return found.outputs[last]

    def _want(self, text: int, lane: int, logits: Any) -> None:
        self.wanted |= {(text, lane, token): one for token, one in enumerate(_logprobs(logits))}

    def headed(self, entering: Any | None) -> float:
        """Largest difference when the head is given only what is read.

        Args:
            entering: Output of the last layer for the edited text, of which the last position is read and no layer is
                run; ``None``: all layers run, and all positions are read.
        """
        import torch

        text = self.texts[1]
        if entering is None:
            return self._gap(1, 1, range(len(text)), _logprobs(self.single(text, 1).logits))
        last = torch.tensor([len(text) - 1], device=self.stack.device)
        how = {"first": len(self.stack), "entering": entering, "changed": frozenset()}
        found = self.single(text, 1, read=(torch.zeros_like(last), last), **how)
        return self._gap(1, 1, [len(text) - 1], _logprobs(found.logits))

    def compare(self, pieces: int, cut: int, *, fork: bool, packs: bool = False) -> tuple[float, float]:
        """Largest differences from what is wanted.

        Texts are run in up to ``pieces`` pieces without their last ``cut`` tokens, none or one; those are then fed to
        the cache. What no plain pass gave is wanted as the first comparison, of whole texts in one batch, gives it.
        With ``packs`` the texts' own ends run in one row with what is before them, but its first token, which runs
        before.

        Returns:
            Of what the pieces gave, and of what the fed tokens gave.
        """
        lanes = self.lanes(fork=fork)
        walk = Walk(
            self.stack, lanes, 1 << 20, lambda node: range(len(node.tokens))[cut - 3 :], keep=bool(cut), packs=packs
        )
        pieced = fed = 0.0
        coded = [tuple(2 * token for token in text[: len(text) - cut]) for text in self.texts]
        roots = forest(coded, pieces, pass_cost=0)
        for batch in walk.run([split(root, 1) for root in roots] if packs else roots):
            found, at = _logprobs(batch.logits), 0
            for node in batch.nodes:
                read = len(node.tokens[cut - 3 :])
                if node.text is not None:
                    for lane in range(len(lanes)):
                        tokens = range(node.end - read, node.end)
                        pieced = max(pieced, self._gap(node.text, lane, tokens, found[at : at + read, lane]))
                at += read
            if cut:
                fed = max(fed, self._fed(batch, lanes))
        return pieced, fed

    def _fed(self, batch: Batch, lanes: Lanes) -> float:
        """Largest difference when the last token is fed to a cache of the ones before it."""
        import torch

        places = [place for place, node in enumerate(batch.nodes) if node.text is not None]
        if not places:
            return 0.0
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
            past.grown(self.stack.config, 1),
            change=lanes.edits.on(which, every, every),
            changed=lanes.edits.layers,
            read=(rows, torch.zeros_like(rows)),
        )
        found = _logprobs(self.stack.run(step).logits)
        return max(
            self._gap(text, lane, [len(self.texts[text]) - 1], found[place : place + 1])
            for place, (text, lane) in enumerate(texts)
        )

    def _gap(self, text: int, lane: int, tokens: Sequence[int], found: Any) -> float:
        """Largest difference at some tokens; what is finite where nothing is wanted yet is wanted from here on."""
        worst = 0.0
        for token, one in zip(tokens, found, strict=True):
            wanted = self.wanted.get((text, lane, token))
            if wanted is None and one.isfinite().all():
                self.wanted[text, lane, token] = one
            else:
                worst = max(worst, float("inf") if wanted is None else _difference(one, wanted))
        return worst


def check(stack: Stack, *, exact: bool) -> Checked:
    """Try everything on a model, and leave ``stack.gathers`` as it came out.

    Args:
        stack: The model.
        exact: Whether it computes in float32. In half precision the noise of batching sets the bar.
    """
    checked = Checked()
    probe = _Probe(stack, probe_texts(stack.config.vocab_size), (NEUTRAL, _edited(stack)))
    stack.gathers = False
    entering = probe.plainly()
    _check_head(probe, entering, checked, TOLERANCE if exact else 0.1)
    found = _tried(checked, "batch", partial(probe.compare, 1, 0, fork=False))
    floor = None if found is None else found[0]
    bar = TOLERANCE if exact or floor is None else max(0.1, 4 * floor)
    checked.batch = floor is not None and _passes(checked, "batch", floor, TOLERANCE if exact else float("inf"))
    if not checked.batch:
        return checked
    longest = max(map(len, probe.texts))
    deep, growing = (levels(stack.config, longest, growing=growing) for growing in (False, True))
    if deep == growing and _check_together(probe, checked, deep, bar):
        _check_packing(probe, checked, deep, bar)
        return checked
    for label, pieces, fork in (("sharing and fork", deep, True), ("sharing", deep, False), ("fork", 1, True)):
        found = _tried(checked, label, partial(probe.compare, pieces, 0, fork=fork))
        if found is not None and _passes(checked, label, found[0], bar):
            checked.sharing, checked.fork = pieces > 1, fork
            break
    _check_packing(probe, checked, deep, bar)
    pieces = growing if checked.sharing else 1
    found = _tried(checked, "cache", partial(probe.compare, pieces, 1, fork=checked.fork))
    checked.cache = found is not None and _passes(checked, "cache", max(found), bar)
    return checked


def _check_head(probe: _Probe, entering: Any, checked: Checked, bar: float) -> None:
    """Whether the head can be given single positions: tried without any layer, and with all where that fails."""
    stack = probe.stack
    stack.gathers = True
    try:
        gap = probe.headed(entering)
        if gap > bar:
            gap = probe.headed(None)
    except _ERRORS as error:
        _failed(checked, "head_rows", error)
        stack.gathers = False
    else:
        checked.head_rows = stack.gathers = _passes(checked, "head_rows", gap, bar)


def _check_together(probe: _Probe, checked: Checked, pieces: int, bar: float) -> bool:
    """Whether sharing, fork and cache pass in one go; when not, nothing is written down."""
    try:
        pieced, fed = probe.compare(pieces, 1, fork=True)
    except _ERRORS:
        return False
    if max(pieced, fed) > bar:
        return False
    checked.sharing, checked.fork, checked.cache = pieces > 1, True, True
    checked.deviations |= {"sharing and fork": pieced, "cache": fed}
    return True


def _check_packing(probe: _Probe, checked: Checked, pieces: int, bar: float) -> None:
    """Whether ends can be packed, where beginnings are shared and there is neither a window nor a state."""
    if checked.sharing and pieces == LEVELS:
        found = _tried(checked, "packing", partial(probe.compare, pieces, 0, fork=checked.fork, packs=True))
        checked.packing = found is not None and _passes(checked, "packing", found[0], bar)


def _edited(stack: Stack) -> Intervention:
    """An edit in the middle of the model, half as long as that layer's typical output."""
    layer = len(stack) // 2
    size = float(np.median(stack.learned.norms[layer]))
    direction = np.random.default_rng(1).standard_normal(stack.width)
    return Intervention((Edit(layer, (0.5 * size * direction / np.linalg.norm(direction)).astype(np.float32)),))


def _logprobs(logits: Any) -> Any:
    return logits.float().log_softmax(-1)


def _difference(one: Any, other: Any) -> float:
    gap = float((one - other).abs().max())
    return gap if gap == gap else float("inf")


def _tried(checked: Checked, label: str, run: Callable[[], tuple[float, float]]) -> tuple[float, float] | None:
    try:
        return run()
    except _ERRORS as error:
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
