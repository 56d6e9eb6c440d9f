"""What is found out about a model before it is used."""

from __future__ import annotations

from dataclasses import dataclass

from affectlab.engine.memory import keeps_state, rotation_switch, shortest_window
from affectlab.engine.precision import check_precision
from affectlab.engine.rows import EngineReport, EngineSettings
from affectlab.engine.selfcheck import check
from affectlab.engine.stack import Stack
from affectlab.errors import WorldError


@dataclass(frozen=True, slots=True)
class Opened:
    """What came out.

    Attributes:
        report: For people and manifests.
        room: For each layer, the longest change that its number type can hold.
        batches: Whether several rows may share a pass.
        generates: Whether the cache gives what a plain pass gives.
    """

    report: EngineReport
    room: tuple[float, ...]
    batches: bool
    generates: bool


def open_stack(stack: Stack, settings: EngineSettings) -> Opened:
    """Check a model's number type and try the fast ways on it.

    Raises:
        UserError: When the number type cannot hold what the model's layers put out.
        WorldError: When what it says to a short text is not finite.
    """
    import torch

    dtype = next(stack.model.parameters()).dtype
    exact = dtype == torch.float32
    precision = check_precision(stack, dtype)
    if not stack.learned.logits.isfinite().all():
        or_else = "" if exact else f", or overflow in {stack.dtype}: use float32"
        raise WorldError(
            f"The model answers a short text with numbers that are not finite: its weights are damaged{or_else}."
        )
    checked = check(stack, exact=exact)
    notes = [*checked.notes, *precision.notes]
    experts = next(
        (value for key in ("num_local_experts", "num_experts") if (value := getattr(stack.config, key, None))), None
    )
    if experts:
        notes.append("A mixture of experts: an edit may change which experts are used.")
    if (switch := rotation_switch(stack.config)) is not None:
        notes.append(
            f"Texts of more than {switch} tokens run one by one and share nothing: the model rotates their positions "
            "otherwise than those of shorter texts. A text that grows past that while it is written keeps both ways."
        )
    report = EngineReport(
        layers=stack.paths[0].rpartition(".")[0],
        n_layers=len(stack),
        dtype=stack.dtype,
        exact=exact,
        head_rows=checked.head_rows,
        sharing=checked.sharing and settings.sharing,
        packing=checked.packing and settings.sharing,
        fork=checked.fork and settings.fork,
        recurrent=keeps_state(stack.config),
        window=shortest_window(stack.config),
        switch=switch,
        experts=experts,
        deviations=checked.deviations,
        notes=tuple(notes),
    )
    return Opened(report, precision.room, checked.batch, checked.cache)
