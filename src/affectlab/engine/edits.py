"""Interventions as a pass carries them out: tensors on the devices of their layers, one row for each intervention."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from affectlab.engine.interventions import POSITIONS, Edit, Gate, Intervention, Kind, Positions


@dataclass(frozen=True, slots=True)
class _Step:
    """The same kind of edit of one layer, for all interventions that make it: row k belongs to intervention k."""

    kind: Kind
    member: Any
    vectors: Any
    amounts: Any
    modes: Any
    delta: Any
    everywhere: bool


@dataclass(frozen=True, slots=True)
class _Gates:
    """The gates that read one layer: row k belongs to intervention k; rows of no member are open."""

    member: Any
    vectors: Any
    thresholds: Any
    below: Any

    def open(self, out: Any, mine: Any) -> Any:
        """``[row, token]``."""
        passed = (out.float() * self.vectors[mine][:, None]).sum(-1) >= self.thresholds[mine][:, None]
        return (passed ^ self.below[mine][:, None]) | ~self.member[mine][:, None]


class Edits:
    """Interventions made ready for a batch whose rows each have one of them.

    Each layer's tensors are on that layer's device.
    """

    def __init__(self, interventions: Sequence[Intervention], device_of: Any) -> None:
        """Prepare them; ``device_of(layer)`` is where that layer's output lives."""
        self._steps: dict[int, list[_Step]] = {}
        by_layer: dict[int, dict[tuple[int, Kind], dict[int, Edit]]] = {}
        for place, one in enumerate(interventions):
            count: dict[int, int] = {}
            for edit in one.active:
                turn = count.get(edit.layer, 0)
                count[edit.layer] = turn + 1
                by_layer.setdefault(edit.layer, {}).setdefault((turn, edit.kind), {})[place] = edit
        where = tuple((one.positions, one.gate is not None) for one in interventions)
        for layer, steps in by_layer.items():
            self._steps[int(layer)] = [
                _step(kind, edits, where, device_of(layer)) for (_, kind), edits in sorted(steps.items())
            ]
        gates: dict[int, dict[int, Gate]] = {}
        for place, one in enumerate(interventions):
            if one.gate is not None and one.active:
                gates.setdefault(int(one.gate.layer), {})[place] = one.gate
        self._gates = {
            layer: _gates(some, len(interventions), device_of(layer)) for layer, some in sorted(gates.items())
        }

    @property
    def layers(self) -> frozenset[int]:
        """Layers that are edited, or read by a gate."""
        return frozenset(self._steps) | frozenset(self._gates)

    def on(self, which: Any, real: Any, prompt: Any) -> Callable[[int, Any], Any]:
        """The edits for the rows of one pass: from a layer's number and output to its output after them.

        Args:
            which: ``[row]``: number of each row's intervention.
            real: ``[row, token]``: whether it is a token, not padding.
            prompt: ``[row, token]``: whether it is of the prompt.
        """
        at = real

        def change(layer: int, out: Any) -> Any:
            nonlocal at
            if layer in self._gates:
                at = at.to(out.device) & self._gates[layer].open(out, which.to(out.device))
            return self.apply(layer, out, which, at, prompt)

        return change

    def apply(self, layer: int, out: Any, which: Any, real: Any, prompt: Any) -> Any:
        """A layer's output after its edits, in the type it came in; the given tensor is left as it is.

        Args:
            layer: Number of the layer.
            out: ``[row, token, width]``.
            which: ``[row]``: number of each row's intervention.
            real: ``[row, token]``: whether it is a token that the edits are for, not padding.
            prompt: ``[row, token]``: whether it is of the prompt.
        """
        for step in self._steps.get(layer, ()):
            mine = which.to(out.device)
            if step.kind == "add" and step.everywhere:
                out = out + step.delta[mine][:, None].to(out.dtype)
                continue
            mode = step.modes[mine][:, None]
            at = (mode == POSITIONS.index("all")) | ((mode == POSITIONS.index("prompt")) == prompt.to(out.device))
            at = at & real.to(out.device) & step.member[mine][:, None]
            changed = _changed(step.kind, out.float(), step.vectors[mine][:, None], step.amounts[mine][:, None, None])
            out = changed.to(out.dtype).where(at[..., None], out)
        return out


def _step(kind: Kind, edits: dict[int, Edit], where: tuple[tuple[Positions, bool], ...], device: Any) -> _Step:
    import torch

    first = next(iter(edits.values()))
    vectors = np.zeros((len(where), len(first.vector)), np.float32)
    amounts = np.zeros(len(where), np.float32)
    member = np.zeros(len(where), bool)
    for place, edit in edits.items():
        vectors[place] = edit.vector if kind.startswith("add") else _unit(edit.vector)
        amounts[place] = edit.amount
        member[place] = True
    return _Step(
        kind=kind,
        member=torch.from_numpy(member).to(device),
        vectors=torch.from_numpy(vectors).to(device),
        amounts=torch.from_numpy(amounts).to(device),
        modes=torch.tensor([POSITIONS.index(mode) for mode, _ in where], device=device),
        delta=torch.from_numpy(vectors * amounts[:, None]).to(device),
        everywhere=all(where[place] == ("all", False) for place in edits),
    )


def _gates(gates: dict[int, Gate], count: int, device: Any) -> _Gates:
    import torch

    vectors = torch.zeros(count, len(next(iter(gates.values())).vector))
    thresholds, below, member = torch.zeros(count), torch.zeros(count, dtype=torch.bool), torch.zeros(count).bool()
    for place, gate in gates.items():
        vectors[place] = torch.from_numpy(_unit(gate.vector))
        thresholds[place], below[place], member[place] = gate.threshold, gate.side == "below", True
    return _Gates(member.to(device), vectors.to(device), thresholds.to(device), below.to(device))


def _unit(vector: NDArray[np.float32]) -> NDArray[np.float32]:
    whole = np.asarray(vector, np.float64)
    return (whole / np.linalg.norm(whole)).astype(np.float32)


def _changed(kind: Kind, out: Any, vectors: Any, amounts: Any) -> Any:
    if kind == "project_out":
        return out - (out * vectors).sum(-1, keepdim=True) * vectors
    if kind == "clamp":
        return out + (amounts - (out * vectors).sum(-1, keepdim=True)) * vectors
    moved = out + amounts * vectors
    if kind == "add":
        return moved
    return moved * (out.norm(dim=-1, keepdim=True) / moved.norm(dim=-1, keepdim=True).clamp(min=1e-30))
