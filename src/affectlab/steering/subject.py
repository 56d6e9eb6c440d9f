"""The model that vectors are read from and applied to, as far as steering has to know it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np

from affectlab.engine.rows import TextRow
from affectlab.errors import UserError
from affectlab.steering.contrast import Activations, Floats, activations, sinks
from affectlab.steering.stimuli import Stimuli

if TYPE_CHECKING:
    from affectlab.engine import Engine

TokenRule: TypeAlias = Literal["last", "mean", "template"]
TOKEN_RULES: tuple[TokenRule, ...] = get_args(TokenRule)

QUESTION = "How would you feel?"
OPENING = "I would feel"
"""With the rule ``template`` a text is put to the model as a user's turn with this question, and the state is read at
the last token of this opening of its answer."""


Progress: TypeAlias = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and how much there is."""

_AT_ONCE = 16
"""Texts read between two reports of progress; enough of them to fill a pass."""


@dataclass(frozen=True, slots=True)
class ModelIdentity:
    """What a vector belongs to.

    Attributes:
        name: For people.
        architecture: Model type of the transformers config (``llama``); the hint of an exported GGUF file.
        model: Digest or revision that pins the weights down.
        tokenizer: Digest of the tokenizer; see :func:`tokenizer_digest`.
        n_layers: Number of layers.
        width: Size of a layer's output.
        layer_paths: Modules whose output the vectors are added to, first block first.
    """

    name: str
    architecture: str
    model: str
    tokenizer: str
    n_layers: int
    width: int
    layer_paths: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return asdict(self)

    def differences(self, other: ModelIdentity) -> list[str]:
        """Fields in which two models differ, as ``field: ours, not theirs``; names do not count."""
        ours, theirs = self.to_dict(), other.to_dict()
        return [
            f"{name}: {_short(ours[name])}, not {_short(theirs[name])}"
            for name in ours
            if name != "name" and ours[name] != theirs[name]
        ]


def _short(value: Any) -> str:
    text = f"{value[0]} … ({len(value)})" if isinstance(value, tuple) and value else str(value)
    return text if len(text) <= 40 else text[:16] + "…"


@dataclass(frozen=True, repr=False)
class Subject:
    """A model with the means to put text to it.

    Attributes:
        engine: Runs it.
        identity: What it is.
        dtype: Number type it computes in (``float32``).
        plain: Ids of a text without a template, with the tokenizer's own first token where it puts one.
        asked: Ids of a user's turn and the start of the answer, through the chat template.
        option: Ids of a continuation, its leading space as it stands.
    """

    engine: Engine
    identity: ModelIdentity
    dtype: str
    plain: Callable[[str], tuple[int, ...]]
    asked: Callable[[str, str], tuple[int, ...]]
    option: Callable[[str], tuple[int, ...]]

    def __repr__(self) -> str:
        model = self.identity
        return f"Subject({model.name}: {model.architecture}, {model.n_layers} layers × {model.width}, {self.dtype})"


def tokenizer_digest(tokenizer: Any) -> str:
    """SHA-256 over a transformers tokenizer's vocabulary and chat template, in hexadecimal."""
    digest = sha256()
    for token, number in sorted(tokenizer.get_vocab().items(), key=lambda pair: (pair[1], pair[0])):
        digest.update(f"{number}\t{token}\n".encode("utf-8", "surrogatepass"))
    digest.update(str(tokenizer.chat_template or "").encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def read_activations(
    subject: Subject, stimuli: Stimuli, rule: TokenRule = "last", progress: Progress | None = None
) -> Activations:
    """Hidden states of stimuli at every layer; texts that the model cannot take whole are left out and counted.

    Args:
        subject: The model.
        stimuli: Labelled texts.
        rule: ``last``: at the text's last token, as in the paper. ``mean``: mean over its tokens but the first and
            other attention sinks. ``template``: at the last token of :data:`OPENING`, after text and :data:`QUESTION`.
        progress: Told how many texts are read.

    Raises:
        UserError: When the rule is unknown, or too few texts are left.
        WorldError: When states are not finite.
    """
    if rule not in TOKEN_RULES:
        raise UserError(f"Token rule {rule!r}: expected one of {', '.join(TOKEN_RULES)}.")
    if rule == "template":
        texts = [subject.asked(f"{text} {QUESTION}", OPENING) for text in stimuli.texts]
    else:
        texts = [subject.plain(text) for text in stimuli.texts]
    engine = subject.engine
    unread = np.array([engine.context is not None and len(ids) > engine.context for ids in texts], dtype=np.bool_)
    hidden = np.zeros((len(texts), engine.n_layers, engine.width), np.float32)
    places = np.flatnonzero(~unread)
    for start in range(0, len(places), _AT_ONCE):
        some = places[start : start + _AT_ONCE]
        rows = [TextRow(texts[place], name=f"text {place + 1}") for place in some]
        hidden[some] = engine.hidden(rows, position="mean" if rule == "mean" else "last")
        if progress is not None:
            progress("texts", start + len(some), len(places))
    lengths = None if rule == "template" else [*map(len, texts)]
    return activations(hidden, stimuli.labels, stimuli.groups, lengths, unread)


def token_norms(subject: Subject, texts: Sequence[str]) -> tuple[Floats, int]:
    """Median norm of a token's state at each layer, ``[layer]``, and how many tokens were left out of it.

    A text's first token and other attention sinks are left out: on SmolLM2 the first token's norm is 140 times that of
    the others.

    Raises:
        UserError: When no text has two tokens.
    """
    rows = [subject.plain(text) for text in texts]
    if not any(len(ids) > 1 for ids in rows):
        raise UserError("Token norms need a text of two tokens or more.")
    states = np.concatenate([each[1:] for each in subject.engine.states(rows)])
    sink = sinks(states)
    median = np.median(np.linalg.norm(states[~sink], axis=-1), axis=0)
    return median.astype(np.float32), int(sink.sum()) + len(texts)
