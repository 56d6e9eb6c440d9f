"""A transformers model as a stack of layers that can be run in part, read, and changed while it runs."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from affectlab.engine.memory import keeps_only_states
from affectlab.engine.texts import probe_texts
from affectlab.errors import UserError

if TYPE_CHECKING:
    import torch

_CACHE_NAMES = ("cache", "past_key_values", "cache_params")
"""What the cache is called in a model's forward: newer transformers, older ones, state-space models of older ones."""

_GROUPED = "TRANSFORMERS_SDPA_FORCE_GQA"

Change = Callable[[int, Any], Any]
"""From a layer's number and output to the output that replaces it."""


def find_layers(model: Any, path: str | None = None) -> tuple[str, Any]:
    """The list of a language model's layers, and its path from the model.

    It is the outermost ``ModuleList`` of the model's text decoder that is as long as the text configuration says; a
    vision tower, however deep, is no part of that decoder.

    Args:
        model: A transformers model.
        path: Path of the list, where it is known better.

    Raises:
        UserError: When there is no such list or more than one on the same level, or nothing at ``path``.
    """
    import torch

    if path is not None:
        try:
            found = model.get_submodule(path)
        except AttributeError as error:
            raise UserError(f"The model has no part {path!r}: give the path of its list of layers.") from error
        if not isinstance(found, torch.nn.ModuleList) or not len(found):
            raise UserError(f"{path!r} is a {type(found).__name__}, not a list of layers.")
        return path, found
    length = getattr(model.config.get_text_config(decoder=True), "num_hidden_layers", None)
    decoder = model.get_decoder()
    lists = [
        (name, module)
        for name, module in decoder.named_modules()
        if isinstance(module, torch.nn.ModuleList) and len(module) == length
    ]
    depth = min((name.count(".") for name, _ in lists), default=0)
    outermost = [(name, module) for name, module in lists if name.count(".") == depth]
    if len(outermost) != 1:
        names = ", ".join(name for name, _ in outermost) or "none"
        raise UserError(
            f"The layers of {type(model).__name__} cannot be told: lists of {length} modules in its text decoder: "
            f"{names}. From Python they can be named: Engine(model, settings=EngineSettings(layers='model.layers'))."
        )
    ((_, layers),) = outermost
    return next(name for name, module in model.named_modules() if module is layers), layers


@dataclass(slots=True)
class Pass:
    """One run of the model over a batch.

    Attributes:
        ids: ``[row, token]``.
        mask: ``[row, column]``: whether a column, of the cache or of ``ids``, holds a token; or ``[row, 1, token,
            column]``: what is added to a token's attention to a column.
        positions: ``[row, token]``: place of each token in its text.
        cache: What came before, in and out; ``None`` for nothing and nothing kept.
        first: First layer that is run; the ones before it are skipped.
        stop: The layer after the last that is run.
        entering: ``[row, token, width]``: output of layer ``first - 1``, which stands in for the skipped ones.
        change: Called with the outputs of ``changed`` layers; what it returns replaces them.
        changed: Those layers. ``first - 1`` may be one: then ``entering`` is changed.
        captured: Layers whose output, as changed, is kept.
        read: Rows and tokens, each ``[read]``, whose logits are wanted; ``None``: no logits.
        inputs: What the model is given for images, if anything: it places tokens itself then, and no row has padding.
            ``None`` for text.
    """

    ids: torch.Tensor
    mask: torch.Tensor
    positions: torch.Tensor
    cache: Any = None
    first: int = 0
    stop: int | None = None
    entering: torch.Tensor | None = None
    change: Change | None = None
    changed: frozenset[int] = frozenset()
    captured: frozenset[int] = frozenset()
    read: tuple[torch.Tensor, torch.Tensor] | None = None
    inputs: Mapping[str, Any] | None = None


@dataclass(slots=True)
class Outcome:
    """What a pass gave: logits ``[read, vocabulary]``, and outputs of the captured layers ``[row, token, width]``."""

    logits: Any = None
    outputs: dict[int, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Learned:
    """What a plain pass over one text showed.

    Attributes:
        text: Its tokens.
        logits: ``[token, vocabulary]``.
        widths: Size of each layer's output.
        devices: Where each layer's output is.
        tuples: Layers whose output is a tuple, and its length.
        norms: ``[layer, token]``: length of each layer's output.
    """

    text: tuple[int, ...]
    logits: Any = None
    widths: dict[int, int] = field(default_factory=dict)
    devices: dict[int, Any] = field(default_factory=dict)
    tuples: dict[int, int] = field(default_factory=dict)
    norms: dict[int, Any] = field(default_factory=dict)


class Stack:
    """A model's layers, run whole or in part. Hooks live only while a pass runs, whatever happens in it."""

    def __init__(self, model: Any, path: str | None = None) -> None:
        """Find the layers of a transformers causal language model, or of the text side of a vision-language model.

        Raises:
            UserError: When the layers cannot be told, or the model takes no cache.
        """
        self.model = model
        base, self.layers = find_layers(model, path)
        self.paths = tuple(f"{base}.{place}" for place in range(len(self.layers)))
        self.config = model.config.get_text_config(decoder=True)
        self.accepts = frozenset(inspect.signature(model.forward).parameters)
        self.gathers = True
        found = next((name for name in _CACHE_NAMES if name in self.accepts), None)
        if found is None:
            raise UserError(f"{type(model).__name__} takes no cache: it is not a causal language model.")
        self._cache_name = found
        self._decoder = model.get_decoder()
        self._recurrent = keeps_only_states(self.config)
        self.learned = self._probe()
        self.width = self.learned.widths[0]

    def __len__(self) -> int:
        return len(self.layers)

    @property
    def dtype(self) -> str:
        """Number type the model computes in, such as ``float32``."""
        return str(self.model.dtype).removeprefix("torch.")

    @property
    def device(self) -> Any:
        """Where ids go in."""
        import torch

        embedding = self.model.get_input_embeddings()
        device = embedding.weight.device
        # Weights that accelerate keeps elsewhere stand on "meta" between passes; its hook knows where they compute.
        if device.type == "meta":
            device = torch.device(getattr(getattr(embedding, "_hf_hook", None), "execution_device", None) or "cpu")
        return device

    def device_of(self, layer: int) -> Any:
        """Where a layer's output is."""
        return self.learned.devices[layer]

    def run(self, step: Pass) -> Outcome:
        """Run a pass."""
        import torch

        outcome = Outcome()
        arguments: dict[str, Any] = {"use_cache": step.cache is not None}
        # A purely recurrent model multiplies what it is fed by the mask: one for all tokens so far would not fit.
        mask = step.mask[:, -step.ids.shape[1] :] if self._recurrent else step.mask
        if step.inputs is not None:
            # Without a mask, a model that places images itself goes on from where the last one put its text.
            arguments |= step.inputs
        elif "position_ids" in self.accepts:
            arguments |= {"attention_mask": mask, "position_ids": step.positions}
        else:
            arguments["attention_mask"] = mask
        if step.cache is not None:
            arguments[self._cache_name] = step.cache
        with torch.inference_mode(), ExitStack() as undo:
            undo.enter_context(self._skipping(step))
            if self.device.type == "cpu":
                undo.enter_context(_heads_grouped())
            for layer in sorted(step.changed | step.captured):
                undo.enter_context(self._hooked(layer, step, outcome))
            if self.gathers:
                undo.enter_context(self._reading(step.read))
            head = self.model.get_output_embeddings()
            if step.read is None and head is not None:
                # Nothing reads the logits, and a head may hold more weights than all layers together.
                undo.enter_context(_replaced_forward(head, lambda hidden: hidden))
            out = self.model(input_ids=step.ids, **arguments)
        if step.read is not None:
            outcome.logits = out.logits[0] if self.gathers else out.logits[step.read]
        return outcome

    @contextmanager
    def _skipping(self, step: Pass) -> Iterator[None]:
        """Put pass-throughs in the place of layers outside of ``first`` to ``stop``."""
        stop = len(self.layers) if step.stop is None else step.stop
        skipped = [layer for layer in range(len(self.layers)) if not step.first <= layer < stop]
        with ExitStack() as undo:
            for layer in skipped:
                value = step.entering if layer == step.first - 1 else None
                undo.enter_context(_replaced_forward(self.layers[layer], self._passing(layer, value)))
            yield

    def _passing(self, layer: int, value: Any) -> Callable[..., Any]:
        length = self.learned.tuples.get(layer, 0)

        def forward(*args: Any, **kwargs: Any) -> Any:
            hidden = value if value is not None else args[0] if args else kwargs["hidden_states"]
            return (hidden, *[None] * (length - 1)) if length else hidden

        return forward

    @contextmanager
    def _hooked(self, layer: int, step: Pass, outcome: Outcome) -> Iterator[None]:
        def hook(_module: Any, _args: Any, out: Any) -> Any:
            hidden = out[0] if isinstance(out, tuple) else out
            if layer in step.changed and step.change is not None:
                hidden = step.change(layer, hidden)
            if layer in step.captured:
                outcome.outputs[layer] = hidden
            return (hidden, *out[1:]) if isinstance(out, tuple) else hidden

        handle = self.layers[layer].register_forward_hook(hook)
        try:
            yield
        finally:
            handle.remove()

    @contextmanager
    def _reading(self, read: tuple[Any, Any] | None) -> Iterator[None]:
        """Hand only the positions that are read to the head, as one row ``[1, read, width]``."""

        def hook(_module: Any, _args: Any, out: Any) -> Any:
            last = out.last_hidden_state
            if read is None:
                out.last_hidden_state = last[:1, :1]
            else:
                rows, tokens = (index.to(last.device) for index in read)
                out.last_hidden_state = last[rows, tokens][None]
            return out

        handle = self._decoder.register_forward_hook(hook)
        try:
            yield
        finally:
            handle.remove()

    def _probe(self) -> Learned:
        """Run one text plainly and look at what every layer returns.

        Raises:
            UserError: When a layer was not run, or layers differ in width.
        """
        import torch

        learned = Learned(probe_texts(self.config.vocab_size)[0])

        def learn(layer: int) -> Callable[..., None]:
            def hook(_module: Any, _args: Any, out: Any) -> None:
                hidden = out
                if isinstance(out, tuple):
                    learned.tuples[layer], hidden = len(out), out[0]
                learned.widths[layer], learned.devices[layer] = hidden.shape[-1], hidden.device
                learned.norms[layer] = hidden[0].float().norm(dim=-1).cpu().numpy()

            return hook

        ids = torch.tensor([learned.text], device=self.device)
        with torch.inference_mode(), ExitStack() as undo:
            for layer in range(len(self.layers)):
                undo.callback(self.layers[layer].register_forward_hook(learn(layer)).remove)
            out = self.model(input_ids=ids, attention_mask=torch.ones_like(ids), use_cache=False)
        if len(learned.widths) < len(self.layers) or len(set(learned.widths.values())) != 1:
            raise UserError(
                f"The layers of {type(self.model).__name__} were not all run, or differ in width: "
                f"{sorted(set(learned.widths.values()))}."
            )
        learned.logits = out.logits[0].float()
        return learned


@contextmanager
def _heads_grouped() -> Iterator[None]:
    """Have attention read the keys and values that several heads share where they are.

    Transformers copies them for every head unless this variable says otherwise; the processor's kernel needs no copy,
    and gives the same numbers. Versions that do not know the variable copy.
    """
    before = os.environ.get(_GROUPED)
    os.environ[_GROUPED] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[_GROUPED]
        else:
            os.environ[_GROUPED] = before


@contextmanager
def _replaced_forward(module: Any, forward: Callable[..., Any]) -> Iterator[None]:
    before = module.__dict__.get("forward")
    module.forward = forward
    try:
        yield
    finally:
        if before is None:
            del module.forward
        else:
            module.forward = before
