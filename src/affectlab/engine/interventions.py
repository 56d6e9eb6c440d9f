"""What is done to a model's layers while it runs, as data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from affectlab.errors import UserError

Kind: TypeAlias = Literal["add", "add_keep_norm", "project_out", "clamp"]
Positions: TypeAlias = Literal["all", "prompt", "generated"]
Side: TypeAlias = Literal["above", "below"]

KINDS: tuple[Kind, ...] = ("add", "add_keep_norm", "project_out", "clamp")
POSITIONS: tuple[Positions, ...] = ("all", "prompt", "generated")
SIDES: tuple[Side, ...] = ("above", "below")

_FLOAT16 = 65504.0
"""Largest number of float16; other types hold 10 to the 38th."""


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
    vector: NDArray[np.float32] = field(repr=False)
    kind: Kind = "add"
    amount: float = 1.0

    @property
    def idle(self) -> bool:
        """Whether it changes nothing."""
        return self.kind in ("add", "add_keep_norm") and (self.amount == 0 or not self.vector.any())


@dataclass(frozen=True, slots=True, eq=False)
class Gate:
    """Where an intervention applies, told from the model's own state.

    With ``h`` the output of the gate's layer at a position, before any edit of it, and ``u`` the vector's direction,
    the gate is open at that position where ``h·u >= threshold`` (``above``) or ``h·u < threshold`` (``below``). Every
    position is judged by itself, so that the answer depends neither on what follows nor on other texts; where the
    gate is shut, the layers' outputs are left as they are, to the bit.

    Attributes:
        layer: Layer that is read, no later than the first one edited.
        vector: ``[width]``, float32, not zero.
        threshold: Projection at which it turns.
        side: Whether it is open above the threshold (which belongs to it) or below.
    """

    layer: int
    vector: NDArray[np.float32] = field(repr=False)
    threshold: float
    side: Side = "above"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Intervention:
    """Edits made together, in order. No edits: the model as it is, to the bit.

    Attributes:
        edits: What is changed. Edits of one layer apply one after the other.
        positions: Where: ``all`` tokens, those of the ``prompt``, or those fed back after it (``generated``: the new
            tokens, and the tokens of an option that is scored). A text of n new tokens feeds back n - 1.
        gate: Leaves only those of the positions at which it is open; ``None``: all of them.
        name: What errors call it; empty: its number.
    """

    edits: tuple[Edit, ...] = ()
    positions: Positions = "all"
    gate: Gate | None = None
    name: str = ""

    def __repr__(self) -> str:
        count = f"{len(self.edits)} edit{'' if len(self.edits) == 1 else 's'} of layers {sorted(self.layers)}"
        gate = f", {self.gate}" if self.gate else ""
        return f"Intervention({f'{count} at {self.positions} positions{gate}' if self.edits else 'none'})"

    @property
    def active(self) -> tuple[Edit, ...]:
        """The edits that change something."""
        return tuple(edit for edit in self.edits if not edit.idle)

    @property
    def layers(self) -> frozenset[int]:
        """Layers whose output it changes or reads."""
        active = self.active
        read = {self.gate.layer} if active and self.gate else set()
        return frozenset({int(layer) for layer in read | {edit.layer for edit in active}})


NEUTRAL = Intervention()
"""Nothing is done."""


def check(interventions: Sequence[Intervention], width: int, room: Sequence[float]) -> None:
    """Refuse interventions that do not fit a model.

    Args:
        interventions: What is to be done.
        width: Size of a layer's output.
        room: For each layer, the longest change its number type can hold beside the output itself.

    Raises:
        UserError: A layer that is not there, a vector of another size or with numbers that are not finite, a direction
            of length 0, an amount that is not finite, changes that overflow the model's number type, an unknown kind,
            position or side, a gate that reads a layer after the first edited one.
    """
    if isinstance(interventions, Intervention) or not all(isinstance(one, Intervention) for one in interventions):
        raise UserError("Expected a list of Interventions, such as [NEUTRAL].")
    if not interventions:
        raise UserError("No interventions: pass at least the neutral one.")
    for place, one in enumerate(interventions):
        who = one.name or f"Intervention {place}"
        if one.positions not in POSITIONS:
            raise UserError(f"{who}: positions is {one.positions!r}, not one of {', '.join(POSITIONS)}.")
        for edit in one.edits:
            _check_edit(edit, f"{who}, layer {edit.layer}", len(room), width)
        _check_sizes(one.edits, who, room)
        if one.gate is not None:
            _check_gate(one.gate, one.edits, f"{who}, gate at layer {one.gate.layer}", len(room), width)


def _check_edit(edit: Edit, where: str, n_layers: int, width: int) -> None:
    _check_vector(edit.layer, edit.vector, where, n_layers, width)
    if edit.kind not in KINDS:
        raise UserError(f"{where}: kind is {edit.kind!r}, not one of {', '.join(KINDS)}.")
    if not np.isfinite(edit.amount):
        raise UserError(f"{where}: its amount ({edit.amount}) is not finite.")
    if edit.kind in ("project_out", "clamp") and not np.asarray(edit.vector).any():
        raise UserError(f"{where}: {edit.kind} needs a direction, and the vector is zero.")


def _check_vector(layer: int, vector: NDArray[np.float32], where: str, n_layers: int, width: int) -> None:
    if isinstance(layer, bool) or not isinstance(layer, int | np.integer) or not 0 <= layer < n_layers:
        raise UserError(f"{where}: the model has no such layer; its {n_layers} layers are 0 to {n_layers - 1}.")
    if np.shape(vector) != (width,):
        raise UserError(f"{where}: the vector has shape {np.shape(vector)}; this model's layers have width {width}.")
    if not np.isfinite(vector).all():
        raise UserError(f"{where}: the vector is not finite.")


def _check_sizes(edits: Sequence[Edit], who: str, room: Sequence[float]) -> None:
    """Refuse edits that could lengthen a layer's output, all together, beyond what its number type holds."""
    longest: dict[int, float] = {}
    for edit in edits:
        # In float64: the length of a vector of large float32 numbers overflows float32.
        length = float(np.linalg.norm(np.asarray(edit.vector, np.float64))) if edit.kind.startswith("add") else 1.0
        if edit.kind != "project_out":
            longest[edit.layer] = longest.get(edit.layer, 0.0) + abs(edit.amount) * length
    for layer, size in longest.items():
        if size > room[layer]:
            wider = ", bfloat16 or float32" if room[layer] <= _FLOAT16 else ""
            raise UserError(
                f"{who}, layer {layer}: a change of length {size:.3g} can pass the largest number of the model's "
                f"type; beside the output itself there is room for {room[layer]:.3g}. Use a smaller amount{wider}."
            )


def _check_gate(gate: Gate, edits: Sequence[Edit], where: str, n_layers: int, width: int) -> None:
    _check_vector(gate.layer, gate.vector, where, n_layers, width)
    if gate.side not in SIDES:
        raise UserError(f"{where}: side is {gate.side!r}, not one of {', '.join(SIDES)}.")
    if not np.asarray(gate.vector).any():
        raise UserError(f"{where}: a gate needs a direction, and the vector is zero.")
    if not np.isfinite(gate.threshold):
        raise UserError(f"{where}: its threshold ({gate.threshold}) is not finite.")
    if early := [edit.layer for edit in edits if edit.layer < gate.layer]:
        raise UserError(f"{where}: layer {min(early)} is edited before it. A gate reads no later than the first edit.")
