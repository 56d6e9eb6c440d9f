"""What a model can be asked, what it answers, and what it declares it can do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias, runtime_checkable

NEUTRAL = "neutral"
"""Name of the condition in which nothing is done to the model."""


class Ability(StrEnum):
    """Something a model may be able to do. Protocols declare what they need."""

    GENERATE = "generate"
    SCORE = "score"
    STEER = "steer"


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation.

    Attributes:
        role: Who speaks.
        content: The text.
        images: Paths of image files (PNG, JPEG, GIF, WebP), shown before the text in this order.
    """

    role: Literal["system", "user", "assistant"]
    content: str
    images: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Sampling:
    """How text is generated. ``temperature=0`` is greedy.

    Attributes:
        temperature: 0 or more.
        top_p: In (0, 1].
        max_tokens: Most new tokens.
        seed: Seed of this request; its text does not depend on what else is in the batch.
        stop: Strings that end generation and are not part of the text.
    """

    temperature: float = 0.0
    top_p: float = 1.0
    max_tokens: int = 256
    seed: int | None = None
    stop: tuple[str, ...] = ()


class RequestKey(NamedTuple):
    """What makes a request unique within a run. Responses are stored under it."""

    item: str
    variant: str
    step: str
    condition: str
    repeat: int


@dataclass(frozen=True, slots=True)
class Request:
    """One call to a model: generate text, or (when ``options`` are given) score options.

    Attributes:
        item: Id of the item asked about.
        step: Which of the protocol's questions this is (``"joint"``, ``"A"``, ``"stance"``).
        messages: The conversation so far; the model speaks next.
        prefill: Text the assistant's turn starts with. Options are scored, or text generated, right after it.
        options: Continuations to score, each with its own leading space where the text needs one; none: generate.
        sampling: How to generate; ignored when scoring.
        variant: Which of several presentations of the same question this is (``"order=2"``); empty if only one.
        condition: The state the model is put in. What a condition says in words (``prompt:anger``) stands in
            ``messages`` already; a model does the rest.
        repeat: Number of this repetition, from 0.
    """

    item: str
    step: str
    messages: tuple[Message, ...]
    prefill: str = ""
    options: tuple[str, ...] = ()
    sampling: Sampling = Sampling()
    variant: str = ""
    condition: str = NEUTRAL
    repeat: int = 0

    @property
    def key(self) -> RequestKey:
        """What the response is stored under."""
        return RequestKey(self.item, self.variant, self.step, self.condition, self.repeat)


Finish: TypeAlias = Literal["stop", "length", "filter", "scored"]


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call, and its price in US dollars where the server states one."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = None

    def __post_init__(self) -> None:
        # What a server reports may be anything; what is no plausible number is not kept.
        for name, nothing in (("prompt_tokens", 0), ("completion_tokens", 0), ("cost", None)):
            value = getattr(self, name)
            if value is not None and not 0 <= value <= 1e15:
                object.__setattr__(self, name, nothing)


@dataclass(frozen=True, slots=True)
class Response:
    """What came back for one request, whole.

    Attributes:
        text: The generated text without the prefill; ``None`` when the server sent none, or when scoring.
        finish: Why it ended: ``stop``, ``length`` (token limit), ``filter`` (withheld by the server), ``scored``.
        logprobs: When scoring: summed log-probability (natural log) of each option's tokens, in option order.
        option_tokens: When scoring: number of tokens of each option, so that length-normalised scores can be had.
        reasoning: Reasoning text where the server sends it apart from the answer.
        prompt: The rendered prompt (after the chat template) where the model renders it here.
        usage: Tokens and price where known.
        seconds: Wall time of the call (remote), or of its share of a batch (local).
        served_by: Model name that the server reports.
    """

    text: str | None
    finish: Finish = "stop"
    logprobs: tuple[float, ...] | None = None
    option_tokens: tuple[int, ...] | None = None
    reasoning: str | None = None
    prompt: str | None = None
    usage: Usage | None = None
    seconds: float | None = None
    served_by: str | None = None


@dataclass(frozen=True, slots=True)
class Failure:
    """A request that got no response after all retries; not stored as a response, so the next run asks it again."""

    error: str
    attempts: int = 1


Answer: TypeAlias = "Response | Failure"


@dataclass(frozen=True, slots=True)
class ModelCard:
    """What a run's manifest records of a model.

    Attributes:
        spec: The string the user named it by.
        name: Short name for tables.
        identity: What pins the model down: file sha256, revision, base URL (never a key), dtype, device, threads.
        libraries: Versions of the libraries that computed with it.
    """

    spec: str
    name: str
    identity: Mapping[str, Any] = field(default_factory=dict)
    libraries: Mapping[str, str] = field(default_factory=dict)


class Model(Protocol):
    """Anything that answers requests."""

    @property
    def card(self) -> ModelCard:
        """What the manifest records."""
        ...

    @property
    def abilities(self) -> frozenset[Ability]:
        """What it can do."""
        ...

    def respond(self, requests: Sequence[Request]) -> Iterator[tuple[Request, Answer]]:
        """Answer requests, each exactly once, in any order, as soon as each is ready.

        Raises:
            UserError: When no request could succeed and the user can mend it (wrong key, unknown model).
            WorldError: When no request could succeed and the user cannot (endpoint gone).
        """
        ...

    def close(self) -> None:
        """Free what it holds. Safe to call twice."""
        ...


@runtime_checkable
class Steerable(Protocol):
    """What a model with :attr:`Ability.STEER` has besides."""

    def prepare(self, conditions: Sequence[str], kept: Path, recorded: Mapping[str, Any]) -> Mapping[str, Any]:
        """Make the model ready for conditions, before anything is asked.

        Args:
            conditions: The conditions that change the model.
            kept: A file in the run's folder for what the conditions rest on, so that the run can go on without what it
                was made from. A run that begins writes it; one that goes on reads it where it is there.
            recorded: What this returned when the run began; empty for a run that begins.

        Returns:
            What the manifest records: what each condition does and rests on. Under ``vectors.sha256`` stands what a run
            that goes on must agree in.

        Raises:
            UserError: When it cannot be put into one of them.
            WorldError: When what it needs cannot be kept or read.
        """
        ...


@runtime_checkable
class Adapting(Protocol):
    """What a model has besides that may find out, while it is asked, that it cannot be asked as it was to be."""

    @property
    def adaptations(self) -> tuple[str, ...]:
        """What was asked otherwise than the requests say, so far; a run's session records it."""
        ...
