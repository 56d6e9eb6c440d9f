"""Models that run here, on transformers."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from affectlab.errors import UserError, WorldError
from affectlab.models import loading
from affectlab.models.base import Ability, Answer, Failure, ModelCard, Request, Response, Usage
from affectlab.models.decoding import Decoder, Generated, Prompt, Stem
from affectlab.models.prompts import Prompter
from affectlab.models.seeding import request_seed
from affectlab.models.settings import ModelSettings

_Row = TypeVar("_Row")
_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class _Asked:
    """A request with its prompt rendered and tokenised."""

    request: Request
    prompt: str
    ids: tuple[int, ...]


@dataclass(slots=True)
class _Scoring:
    """The options of one request, and what is known of them so far."""

    asked: _Asked
    options: tuple[tuple[int, ...], ...]
    missing: int
    logprobs: list[float]
    seconds: float = 0.0


class LocalModel:
    """A causal language model of transformers: generates, and scores options.

    Requests are sorted by length and batched by ``ModelSettings.batch_tokens``; answers come batch by batch.
    A batch that does not fit into memory is split. In fp32 an answer does not depend on the batch; in half
    precision it may.
    """

    abilities: frozenset[Ability] = frozenset({Ability.GENERATE, Ability.SCORE})

    def __init__(self, loaded: loading.Loaded, settings: ModelSettings) -> None:
        """Wrap a loaded model; :func:`affectlab.models.open_model` is the usual way here."""
        self.card: ModelCard = loaded.card
        self._budget = settings.batch_tokens
        self._prompter = Prompter(loaded.tokenizer)
        self._decoder: Decoder | None = Decoder(loaded.model, _end_ids(loaded), self._prompter.text)
        config = loaded.model.config.get_text_config()
        self._context: int | None = getattr(config, "max_position_embeddings", None)

    @classmethod
    def from_embedded(cls, name: str, settings: ModelSettings) -> LocalModel:
        """Open a model whose weights come as a package; see :func:`affectlab.models.loading.load_embedded`."""
        return cls(loading.load_embedded(name, settings), settings)

    @classmethod
    def from_gguf(cls, path: Path, settings: ModelSettings) -> LocalModel:
        """Open a GGUF file; see :func:`affectlab.models.loading.load_gguf`."""
        return cls(loading.load_gguf(path, settings), settings)

    @classmethod
    def from_pretrained(cls, name: str, settings: ModelSettings) -> LocalModel:
        """Open a folder or a hub model; see :func:`affectlab.models.loading.load_pretrained`."""
        return cls(loading.load_pretrained(name, settings), settings)

    def respond(self, requests: Sequence[Request]) -> Iterator[tuple[Request, Answer]]:
        """Answer requests, longest first, each batch as it is done.

        A prompt that leaves the model no room for an answer is a :class:`Failure`.

        Raises:
            UserError: When a request cannot be put to this model (its template refuses it, an option without
                tokens).
            WorldError: When logits are not finite, or a single row does not fit into memory.
        """
        generating: list[_Asked] = []
        scoring: list[_Scoring] = []
        for request in requests:
            prompt = self._prompter.render(request)
            asked = _Asked(request, prompt, self._prompter.tokens(prompt))
            options = tuple(self._prompter.option_tokens(option) for option in request.options)
            room = self._room(asked)
            if room is not None and room < max((len(option) - 1 for option in options), default=1):
                yield (
                    request,
                    Failure(f"The prompt has {len(asked.ids)} tokens; the model takes {self._context}."),
                )
            elif options:
                scoring.append(_Scoring(asked, options, len(options), [0.0] * len(options)))
            else:
                generating.append(asked)
        yield from self._generated(generating)
        yield from self._scored(scoring)

    def close(self) -> None:
        """Let go of the weights."""
        self._decoder = None

    def _running(self) -> Decoder:
        if self._decoder is None:
            raise UserError(f"The model {self.card.spec} is closed. Open it again.")
        return self._decoder

    def _room(self, asked: _Asked) -> int | None:
        """New tokens that fit behind a prompt; ``None`` when the model states no limit."""
        return None if self._context is None else self._context - len(asked.ids)

    def _generated(self, asked: Sequence[_Asked]) -> Iterator[tuple[Request, Answer]]:
        rows = [(one, self._prompt(one)) for one in asked]
        rows.sort(key=lambda row: len(row[1].ids) + row[1].sampling.max_tokens, reverse=True)
        lengths = [len(prompt.ids) + prompt.sampling.max_tokens for _, prompt in rows]
        for start, end in batches(lengths, self._budget):
            began = time.perf_counter()
            results = _split_when_full(self._running().generate, [prompt for _, prompt in rows[start:end]])
            seconds = (time.perf_counter() - began) / (end - start)
            for (one, prompt), result in zip(rows[start:end], results, strict=True):
                yield one.request, self._response(one, prompt, result, seconds)

    def _prompt(self, asked: _Asked) -> Prompt:
        sampling = asked.request.sampling
        if sampling.max_tokens < 1:
            raise UserError(f"max_tokens is {sampling.max_tokens}: it must be 1 or more.")
        room = self._room(asked)
        limit = sampling.max_tokens if room is None else min(sampling.max_tokens, room)
        stop = tuple(stop for stop in (*sampling.stop, *self._prompter.stop) if stop)
        return Prompt(
            _name(asked.request),
            asked.ids,
            replace(sampling, max_tokens=limit, stop=stop),
            request_seed(asked.request),
        )

    def _response(self, asked: _Asked, prompt: Prompt, result: Generated, seconds: float) -> Response:
        text = self._prompter.text(result.ids)
        ends = [at for stop in prompt.sampling.stop if (at := text.find(stop)) >= 0]
        return Response(
            text=text[: min(ends)] if ends else text,
            finish=result.finish,
            prompt=asked.prompt,
            usage=Usage(len(asked.ids), len(result.ids)),
            seconds=seconds,
        )

    def _scored(self, scorings: Sequence[_Scoring]) -> Iterator[tuple[Request, Answer]]:
        rows: list[tuple[_Scoring, Stem, list[int]]] = []
        for one in scorings:
            for tail, members in stems(one.options):
                options = tuple(one.options[member] for member in members)
                rows.append((one, Stem(_name(one.asked.request), one.asked.ids, tail, options), members))
        rows.sort(key=lambda row: len(row[0].asked.ids), reverse=True)
        lengths = [len(stem.prompt) + len(stem.tail) for _, stem, _ in rows]
        for start, end in batches(lengths, self._budget):
            began = time.perf_counter()
            results = _split_when_full(self._running().score, [stem for _, stem, _ in rows[start:end]])
            seconds = (time.perf_counter() - began) / (end - start)
            for (one, _, members), logprobs in zip(rows[start:end], results, strict=True):
                for member, logprob in zip(members, logprobs, strict=True):
                    one.logprobs[member] = logprob
                one.missing -= len(members)
                one.seconds += seconds
                if not one.missing:
                    yield one.asked.request, _scored_response(one)


def _scored_response(one: _Scoring) -> Response:
    return Response(
        text=None,
        finish="scored",
        logprobs=tuple(one.logprobs),
        option_tokens=tuple(len(option) for option in one.options),
        prompt=one.asked.prompt,
        usage=Usage(prompt_tokens=len(one.asked.ids)),
        seconds=one.seconds,
    )


def batches(lengths: Sequence[int], budget: int) -> Iterator[tuple[int, int]]:
    """Cut rows into runs ``[start, end)`` of at most ``budget`` tokens, padding included.

    Args:
        lengths: Tokens of each row, in the order the rows are to be taken.
        budget: Most tokens of a run; a row above it is a run of its own.
    """
    start = longest = 0
    for place, length in enumerate(lengths):
        widest = max(longest, length)
        if place > start and widest * (place - start + 1) > budget:
            yield start, place
            start, widest = place, length
        longest = widest
    if lengths:
        yield start, len(lengths)


def stems(options: Sequence[tuple[int, ...]]) -> list[tuple[tuple[int, ...], list[int]]]:
    """The rows that scoring some options takes: (tail, options that are read off it).

    The last token of an option is predicted, never read, so a row only holds the tokens before it; and a row
    also serves every option whose tokens before the last are a start of its own. Options of one token all
    share one row.
    """
    rows: list[tuple[tuple[int, ...], list[int]]] = []
    for place in sorted(range(len(options)), key=lambda place: -len(options[place])):
        tail = options[place][:-1]
        for row, members in rows:
            if row[: len(tail)] == tail:
                members.append(place)
                break
        else:
            rows.append((tail, [place]))
    return rows


def _split_when_full(run: Callable[[Sequence[_Row]], list[_Result]], rows: Sequence[_Row]) -> list[_Result]:
    """Run a batch, in halves when memory runs out."""
    import torch

    try:
        return run(rows)
    except RuntimeError as error:
        if not isinstance(error, torch.OutOfMemoryError) and "can't allocate memory" not in str(error):
            raise
        if len(rows) == 1:
            raise WorldError(f"Memory ran out on a single row of the batch: {error}") from error
    torch.cuda.empty_cache()
    middle = len(rows) // 2
    return _split_when_full(run, rows[:middle]) + _split_when_full(run, rows[middle:])


def _end_ids(loaded: loading.Loaded) -> frozenset[int]:
    """Tokens that end a text: the tokenizer's, the config's and the generation config's."""
    ids: set[Any] = {loaded.tokenizer.eos_token_id}
    for config in (loaded.model.config.get_text_config(), loaded.model.generation_config):
        found = getattr(config, "eos_token_id", None)
        ids |= set(found) if isinstance(found, list | tuple) else {found}
    return frozenset(ids - {None})


def _name(request: Request) -> str:
    return f"item {request.item!r} (step {request.step!r})"
