"""What goes into the engine and what comes out, as data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from affectlab.errors import UserError


@dataclass(frozen=True, slots=True)
class TextRow:
    """A text whose layers are read, with what its images became.

    Attributes:
        ids: Token ids, at least one; those that stand for images among them.
        inputs: What the model's processor made of the images, by the name of the model's argument: tensors such as
            ``pixel_values``, ``image_grid_thw`` or ``mm_token_type_ids``, without ids, mask and positions, for this
            row alone. ``None``: text only.
        name: What errors call it; empty: its number.
    """

    ids: Sequence[int]
    inputs: Mapping[str, Any] | None = None
    name: str = ""


@dataclass(frozen=True, slots=True, repr=False)
class ScoreRow:
    """A prompt and its options, as token ids.

    Attributes:
        prompt: At least one token.
        options: Each at least one token; scored right after the prompt.
        name: What errors call it; empty: its number.
        inputs: See :class:`TextRow`.
    """

    prompt: Sequence[int]
    options: Sequence[Sequence[int]]
    name: str = ""
    inputs: Mapping[str, Any] | None = None

    def __repr__(self) -> str:
        shown = ", with images" if self.inputs else ""
        return f"ScoreRow({self.name!r}: {len(self.prompt)} tokens, {len(self.options)} options{shown})"


@dataclass(frozen=True, slots=True)
class Generation:
    """How text is generated.

    Attributes:
        max_tokens: Most new tokens, 1 or more.
        temperature: 0 for the likeliest token each time, else above 0.
        top_p: In (0, 1]: draw from the likeliest tokens that together have this share.
        seed: Seed of the row's own draws, the same under every intervention; ``None`` is 0.
        stop_ids: Tokens that end the text and are no part of it, besides the model's own.
        stop: Called with the new tokens after each; a true answer ends the text.
    """

    max_tokens: int = 256
    temperature: float = 0.0
    top_p: float = 1.0
    seed: int | None = None
    stop_ids: frozenset[int] = frozenset()
    stop: Callable[[Sequence[int]], bool] | None = None

    def __post_init__(self) -> None:
        if self.max_tokens < 1:
            raise UserError(f"max_tokens is {self.max_tokens}: it must be 1 or more.")
        if not 0 <= self.temperature < float("inf"):
            raise UserError(f"temperature is {self.temperature}: it must be 0 or more.")
        if not 0 < self.top_p <= 1:
            raise UserError(f"top_p is {self.top_p}: it must be above 0 and at most 1.")


@dataclass(frozen=True, slots=True, repr=False)
class GenerateRow:
    """A prompt to continue.

    Attributes:
        prompt: Token ids, at least one.
        generation: How.
        name: What errors call it; empty: its number.
        inputs: See :class:`TextRow`.
    """

    prompt: Sequence[int]
    generation: Generation = Generation()
    name: str = ""
    inputs: Mapping[str, Any] | None = None

    def __repr__(self) -> str:
        shown = ", with images" if self.inputs else ""
        return f"GenerateRow({self.name!r}: {len(self.prompt)} tokens{shown}; {self.generation})"


@dataclass(frozen=True, slots=True)
class Generated:
    """New tokens of a row, without the one that ended it, and why it ended: ``stop`` or ``length``."""

    ids: tuple[int, ...]
    finish: Literal["stop", "length"]


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """How the engine works.

    Attributes:
        batch_tokens: Most tokens of a pass, padding included, one row for each condition; for generation the new tokens
            count too. 1 or more. A single row longer than this is a pass of its own. Halved when memory runs out.
        sharing: Whether beginnings that texts share are computed once.
        fork: Whether layers below the first edited one are computed once for all conditions.
        layers: Path of the model's list of layers, where it cannot be told.
    """

    batch_tokens: int = 8192
    sharing: bool = True
    fork: bool = True
    layers: str | None = None

    def __post_init__(self) -> None:
        if self.batch_tokens < 1:
            raise UserError(f"batch_tokens is {self.batch_tokens}: it must be 1 or more.")


@dataclass(frozen=True, slots=True)
class EngineReport:
    """What the engine found out about a model at load: belongs into a manifest.

    Attributes:
        layers: Path of the list of layers.
        n_layers: How many.
        dtype: Number type the model computes in.
        exact: Whether results do not depend on the batch (up to rounding in float32); half precision is not exact.
        head_rows: Whether the head is given only the positions that are read; else it computes all.
        sharing: Whether shared beginnings are computed once.
        packing: Whether short ends of texts that differ there alone run in one row, told apart by the mask.
        fork: Whether layers below the first edit are computed once for all conditions.
        recurrent: Whether some layers keep a state instead of keys and values.
        window: Shortest sliding window in tokens, if any.
        switch: Tokens beyond which the model rotates all positions of a text in another way, if it does.
        experts: Experts of a mixture-of-experts model, if it is one.
        deviations: Largest difference in log-probability from the plain pass, for each thing that was checked.
        notes: What did not pass and why, and warnings.
    """

    layers: str
    n_layers: int
    dtype: str
    exact: bool
    head_rows: bool
    sharing: bool
    packing: bool
    fork: bool
    recurrent: bool
    window: int | None
    switch: int | None
    experts: int | None
    deviations: dict[str, float]
    notes: tuple[str, ...]
