"""What is done to a model's layers while it runs, as data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from affectlab.errors import UserError

Kind: TypeAlias = Literal["add", "add_keep_norm", "project_out", "clamp"]
Positions: TypeAlias = Literal["all", "prompt", "generated"]

KINDS: tuple[Kind, ...] = ("add", "add_keep_norm", "project_out", "clamp")
POSITIONS: tuple[Positions, ...] = ("all", "prompt", "generated")


@dataclass(frozen=True, slots=True, eq=False)
class Edit:
    """One change of one layer's output, the same at every position it applies to.

    With ``h`` the layer's output at a position (width numbers), ``v`` the vector, ``u = v / |v|`` and ``a`` the amount:

    | kind | new output |
    |---|---|
    | ``add`` | ``h + a v`` |
    | ``add_keep_norm`` | ``(h + a v) |h| / |h + a v|`` |
    | ``project_out`` | ``h - (h·u) u``; the amount is not used |
    | ``clamp`` | ``h + (a - h·u) u``: the projection on ``u`` becomes ``a`` |

    Attributes:
        layer: Number of the layer, from 0 for the first block.
        vector: ``[width]``, float32.
        kind: What is done with it.
        amount: Multiplier of the vector, or the projection that ``clamp`` sets.
    """

    layer: int
    vector: NDArray[np.float32]
    kind: Kind = "add"
    amount: float = 1.0

    @property
    def idle(self) -> bool:
        """Whether it changes nothing."""
        return self.kind in ("add", "add_keep_norm") and (self.amount == 0 or not self.vector.any())


@dataclass(frozen=True, slots=True, eq=False)
class Intervention:
    """Edits made together, in order. No edits: the model as it is, to the bit.

    Attributes:
        edits: What is changed. Edits of one layer apply one after the other.
        positions: Where: ``all`` tokens, those of the ``prompt``, or those fed back after it (``generated``: the new
            tokens, and the tokens of an option that is scored). A text of n new tokens feeds back n - 1.
    """

    edits: tuple[Edit, ...] = ()
    positions: Positions = "all"

    @property
    def active(self) -> tuple[Edit, ...]:
        """The edits that change something."""
        return tuple(edit for edit in self.edits if not edit.idle)


NEUTRAL = Intervention()
"""Nothing is done."""


def check(interventions: Sequence[Intervention], n_layers: int, width: int, largest: float) -> None:
    """Refuse interventions that do not fit a model.

    Args:
        interventions: What is to be done.
        n_layers: Layers of the model.
        width: Size of a layer's output.
        largest: Largest number its type holds.

    Raises:
        UserError: A layer that is not there, a vector of another size or with numbers that are not finite, a direction
            of length 0, an amount that is not finite or overflows the model's number type, an unknown kind or position.
    """
    if not interventions:
        raise UserError("No interventions: pass at least the neutral one.")
    for place, one in enumerate(interventions):
        if one.positions not in POSITIONS:
            raise UserError(f"Intervention {place}: positions is {one.positions!r}, not one of {', '.join(POSITIONS)}.")
        for edit in one.edits:
            _check_edit(edit, f"Intervention {place}, layer {edit.layer}", n_layers, width, largest)


def _check_edit(edit: Edit, where: str, n_layers: int, width: int, largest: float) -> None:
    if isinstance(edit.layer, bool) or not isinstance(edit.layer, int | np.integer) or not 0 <= edit.layer < n_layers:
        raise UserError(f"{where}: the model has no such layer; its {n_layers} layers are 0 to {n_layers - 1}.")
    if edit.kind not in KINDS:
        raise UserError(f"{where}: kind is {edit.kind!r}, not one of {', '.join(KINDS)}.")
    vector = np.asarray(edit.vector)
    if vector.shape != (width,):
        raise UserError(f"{where}: the vector has shape {vector.shape}; this model's layers have width {width}.")
    if not np.isfinite(vector).all() or not np.isfinite(edit.amount):
        raise UserError(f"{where}: the vector or its amount ({edit.amount}) is not finite.")
    if edit.kind in ("project_out", "clamp") and not vector.any():
        raise UserError(f"{where}: {edit.kind} needs a direction, and the vector is zero.")
    size = abs(edit.amount) * (np.abs(vector).max() if edit.kind.startswith("add") else 1)
    if size > largest:
        raise UserError(
            f"{where}: a change of {size:.3g} is beyond the largest number of the model's type ({largest:.3g}). "
            "Use a smaller amount, or float32."
        )


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
        where = tuple(one.positions for one in interventions)
        for layer, steps in by_layer.items():
            self._steps[int(layer)] = [
                _step(kind, edits, where, device_of(layer)) for (_, kind), edits in sorted(steps.items())
            ]

    @property
    def layers(self) -> frozenset[int]:
        """Layers that are edited."""
        return frozenset(self._steps)

    def on(self, which: Any, real: Any, prompt: Any) -> Callable[[int, Any], Any]:
        """:meth:`apply` for the rows of one pass: from a layer's number and output to its output after the edits."""
        return lambda layer, out: self.apply(layer, out, which, real, prompt)

    def apply(self, layer: int, out: Any, which: Any, real: Any, prompt: Any) -> Any:
        """A layer's output after its edits, in the type it came in; the given tensor is left as it is.

        Args:
            layer: Number of the layer.
            out: ``[row, token, width]``.
            which: ``[row]``: number of each row's intervention.
            real: ``[row, token]``: whether it is a token, not padding.
            prompt: ``[row, token]``: whether it is of the prompt.
        """
        for step in self._steps[layer]:
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


def _step(kind: Kind, edits: dict[int, Edit], positions: tuple[Positions, ...], device: Any) -> _Step:
    import torch

    first = next(iter(edits.values()))
    vectors = np.zeros((len(positions), len(first.vector)), np.float32)
    amounts = np.zeros(len(positions), np.float32)
    member = np.zeros(len(positions), bool)
    for place, edit in edits.items():
        vector = np.asarray(edit.vector, np.float32)
        vectors[place] = vector if kind.startswith("add") else vector / np.linalg.norm(vector.astype(np.float64))
        amounts[place] = edit.amount
        member[place] = True
    return _Step(
        kind=kind,
        member=torch.from_numpy(member).to(device),
        vectors=torch.from_numpy(vectors).to(device),
        amounts=torch.from_numpy(amounts).to(device),
        modes=torch.tensor([POSITIONS.index(mode) for mode in positions], device=device),
        delta=torch.from_numpy(vectors * amounts[:, None]).to(device),
        everywhere=all(positions[place] == "all" for place in edits),
    )


def _changed(kind: Kind, out: Any, vectors: Any, amounts: Any) -> Any:
    if kind == "project_out":
        return out - (out * vectors).sum(-1, keepdim=True) * vectors
    if kind == "clamp":
        return out + (amounts - (out * vectors).sum(-1, keepdim=True)) * vectors
    moved = out + amounts * vectors
    if kind == "add":
        return moved
    return moved * (out.norm(dim=-1, keepdim=True) / moved.norm(dim=-1, keepdim=True).clamp(min=1e-30))
