"""What a pass leaves behind for the next: keys and values of shared beginnings, and states of recurrent layers.

A beginning is computed once. The passes after it do not copy its keys and values for every row at once: each layer
repeats them when it attends, and lets go of the copy.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

LEVELS = 3
"""Pieces a text is cut into at most: what many texts share, what a few share, its own end."""


@dataclass(slots=True)
class Segment:
    """What one pass left behind.

    Attributes:
        mask: ``[node, token]``: whether it is a token, not padding.
        layers: For each layer, keys and values ``[row, head, token, size]`` of this pass alone, or a layer of
            transformers' cache that holds a state; ``None`` where the pass kept nothing.
        forked: Layers below this one have a row for each node; from it on they have one for each node and condition,
            in this order.
        lanes: Conditions.
    """

    mask: Any
    layers: list[Any]
    forked: int
    lanes: int

    def rows(self, layer: int, nodes: Any, per_lane: bool) -> Any:
        """Rows of a layer that belong to nodes (``[node]``), each once or once for each condition."""
        import torch

        if not per_lane:
            return nodes
        lanes = torch.arange(self.lanes, device=nodes.device)
        if layer < self.forked:
            return nodes.repeat_interleave(self.lanes)
        return (nodes[:, None] * self.lanes + lanes).flatten()


@dataclass(slots=True)
class Past:
    """The segments before a batch of nodes, and the node of each that every one of the batch continues."""

    segments: tuple[Segment, ...] = ()
    nodes: tuple[Any, ...] = ()

    def select(self, rows: Any) -> Past:
        """The past of some of the nodes."""
        return Past(self.segments, tuple(nodes[rows] for nodes in self.nodes))

    def then(self, segment: Segment) -> Past:
        """The past of the nodes themselves, once they are computed."""
        import torch

        own = torch.arange(len(segment.mask), device=segment.mask.device)
        return Past((*self.segments, segment), (*self.nodes, own))

    def mask(self) -> Any:
        """``[node, column]``, or ``None`` when there is nothing before."""
        import torch

        if not self.segments:
            return None
        return torch.cat([one.mask[nodes] for one, nodes in zip(self.segments, self.nodes, strict=True)], dim=1)

    def cache(self, config: Any, start: int, stop: int, *, per_lane: bool, keep: bool) -> Any:
        """A cache for a pass over layers ``start`` to ``stop``, one row for each node or node and condition.

        With ``keep`` it holds on to the pass's own keys and values, which what comes after continues.
        """
        fresh = fresh_cache(config)
        for layer, blank in enumerate(fresh.layers):
            parts = [
                (one.layers[layer], one.rows(layer, nodes, per_lane))
                for one, nodes in zip(self.segments, self.nodes, strict=True)
            ]
            if kind := _shared_kind(blank):
                fresh.layers[layer] = kind(getattr(blank, "sliding_window", None), parts, self._columns(), keep)
            elif parts:
                # A layer that is not run still tells the masks how much came before.
                fresh.layers[layer] = _rows_of(*parts[-1]) if start <= layer < stop else parts[-1][0]
        return fresh

    def grown(self, config: Any, room: int) -> Any:
        """A cache to generate with, one row for each node and condition.

        Keys and values of layers that see all columns stand where ``room`` more columns fit behind them; what has a
        window or a state is transformers' own.
        """
        import torch

        grown = fresh_cache(config)
        for layer, blank in enumerate(grown.layers):
            parts = [
                (one.layers[layer], one.rows(layer, nodes, per_lane=True))
                for one, nodes in zip(self.segments, self.nodes, strict=True)
            ]
            if _shared_kind(blank):
                whole = [
                    torch.cat([held[which].index_select(0, rows.to(held[which].device)) for held, rows in parts], dim=2)
                    for which in (0, 1)
                ]
                if blank.is_sliding:
                    blank.update(*whole)
                else:
                    grown.layers[layer] = _roomy_class()(*whole, room)
            elif parts[-1][0] is not None:
                grown.layers[layer] = _rows_of(*parts[-1])
        return grown

    def _columns(self) -> int:
        return sum(one.mask.shape[1] for one in self.segments)


def fresh_cache(config: Any) -> Any:
    """An empty cache with the layers that a model's configuration asks for."""
    from transformers import DynamicCache

    return DynamicCache(config=config)


def keeps_state(config: Any) -> bool:
    """Whether any layer keeps a state instead of, or beside, keys and values."""
    return any(_shared_kind(layer) is None for layer in fresh_cache(config).layers)


def keeps_only_states(config: Any) -> bool:
    """Whether no layer attends."""
    from transformers.cache_utils import CacheLayerMixin

    return not any(isinstance(layer, CacheLayerMixin) for layer in fresh_cache(config).layers)


def levels(config: Any, longest: int, *, growing: bool) -> int:
    """Pieces that texts may be cut into without a gap of padding that a recurrent layer or a window would notice.

    The first piece is padded on the left and later ones on the right, so there is no gap between the first two, and
    none at all in a single one.

    Args:
        config: The text configuration of the model.
        longest: Tokens of the longest text, new ones included.
        growing: Whether tokens will follow the last piece.
    """
    window = shortest_window(config)
    if keeps_state(config) or (window is not None and LEVELS * longest > window):
        return 1 if growing else 2
    return LEVELS


def shortest_window(config: Any) -> int | None:
    """Columns that the layer with the shortest sliding window sees; ``None`` when every layer sees all."""
    windows = [layer.sliding_window for layer in fresh_cache(config).layers if hasattr(layer, "sliding_window")]
    return min(windows, default=None)


def rotation_switch(config: Any) -> int | None:
    """Tokens beyond which a model rotates every position of a text, the first ones too, in another way; or ``None``.

    What was computed of a shorter text, or beside one, is then of no use for a longer one.
    """
    found = getattr(config, "rope_parameters", None) or {}
    kinds = [found] if "rope_type" in found else [one for one in found.values() if isinstance(one, dict)]
    changing = [one for one in kinds if one.get("rope_type") in ("longrope", "dynamic")]
    lengths = [one.get("original_max_position_embeddings") or config.max_position_embeddings for one in changing]
    return min(lengths, default=None)


def kept(layers: Sequence[Any]) -> list[Any]:
    """What a pass put into the layers of its cache."""
    return [layer.own if hasattr(layer, "own") else layer for layer in layers]


def _rows_of(layer: Any, rows: Any) -> Any:
    """A copy of a layer of a cache that holds the given rows."""
    copied = copy.copy(layer)
    for name, value in vars(layer).items():
        if isinstance(value, dict):
            setattr(copied, name, dict(value))
    copied.reorder_cache(rows)
    return copied


def _shared_kind(blank: Any) -> Any:
    """The class that repeats an attention layer's keys and values as they are needed; ``None`` for other layers."""
    from transformers.cache_utils import DynamicLayer, DynamicSlidingWindowLayer

    return _shared_class() if type(blank) in (DynamicLayer, DynamicSlidingWindowLayer) else None


@cache
def _shared_class() -> Any:
    from transformers.cache_utils import DynamicLayer

    class SharedLayer(DynamicLayer):  # type: ignore[misc]
        """Keys and values of earlier segments, repeated for the rows of this pass while it attends."""

        def __init__(self, window: int | None, parts: Sequence[tuple[Any, Any]], columns: int, keep: bool) -> None:
            super().__init__()
            self.is_sliding = window is not None
            self.sliding_window = window
            self._parts = parts
            self._columns = columns
            self._keep = keep
            self.own: Any = None

        def update(self, key_states: Any, value_states: Any, *_: Any, **__: Any) -> tuple[Any, Any]:
            import torch

            if self._keep:
                self.own = (key_states, value_states)
            whole = []
            for which, new in enumerate((key_states, value_states)):
                before = [held[which].index_select(0, rows.to(new.device)) for held, rows in self._parts]
                whole.append(torch.cat([*before, new], dim=2)[:, :, -self.get_mask_sizes(new.shape[2])[0] :])
            return whole[0], whole[1]

        def get_mask_sizes(self, query_length: int) -> tuple[int, int]:
            offset = 0 if self.sliding_window is None else max(self._columns - self.sliding_window + 1, 0)
            return self._columns - offset + query_length, offset

        def get_seq_length(self) -> int:
            return self._columns

    return SharedLayer


@cache
def _roomy_class() -> Any:
    from transformers.cache_utils import DynamicLayer

    class RoomyLayer(DynamicLayer):  # type: ignore[misc]
        """Keys and values with room for those of new tokens, which need no copy of all that came before."""

        def __init__(self, keys: Any, values: Any, room: int) -> None:
            super().__init__()
            self.is_initialized = True
            self._hold((keys, values), keys.shape[2] + room)

        def update(self, key_states: Any, value_states: Any, *_: Any, **__: Any) -> tuple[Any, Any]:
            start, stop = self.get_seq_length(), self.get_seq_length() + key_states.shape[2]
            for buffer, new in zip(self._buffers, (key_states, value_states), strict=True):
                buffer[:, :, start:stop] = new
            self._show(stop)
            return self.keys, self.values

        def reorder_cache(self, beam_idx: Any) -> None:
            rows = beam_idx.to(self.keys.device)
            held = self.keys.index_select(0, rows), self.values.index_select(0, rows)
            self._hold(held, self._buffers[0].shape[2])

        def _hold(self, held: tuple[Any, Any], columns: int) -> None:
            self._buffers = [one.new_empty(*one.shape[:2], columns, one.shape[3]) for one in held]
            length = held[0].shape[2]
            for buffer, one in zip(self._buffers, held, strict=True):
                buffer[:, :, :length] = one
            self._show(length)

        def _show(self, length: int) -> None:
            self.keys, self.values = (buffer[:, :, :length] for buffer in self._buffers)

    return RoomyLayer
