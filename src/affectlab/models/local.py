"""Models that run here, on transformers."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from affectlab.engine import NEUTRAL as UNSTEERED
from affectlab.engine import Engine, EngineSettings, Generated, GenerateRow, Generation, Intervention, ScoreRow
from affectlab.errors import UserError
from affectlab.models import images, loading
from affectlab.models.base import (
    NEUTRAL,
    Ability,
    Answer,
    Failure,
    ModelCard,
    Request,
    Response,
    Sampling,
    Usage,
)
from affectlab.models.prompts import Prompter
from affectlab.models.seeding import request_seed
from affectlab.models.settings import ModelSettings
from affectlab.models.together import together
from affectlab.steering.conditions import check_scored

if TYPE_CHECKING:
    from affectlab.models.conditions import Conditions
    from affectlab.steering import Subject


class _Opened(NamedTuple):
    """What is let go of when the model is closed."""

    loaded: loading.Loaded
    engine: Engine


@dataclass(frozen=True, slots=True)
class _Asked:
    """A request with its prompt rendered and tokenised.

    Attributes:
        request: What is asked.
        prompt: Its text.
        ids: Its tokens.
        options: Tokens of each option.
        inputs: What the processor made of its images.
    """

    request: Request
    prompt: str
    ids: tuple[int, ...]
    options: tuple[tuple[int, ...], ...]
    inputs: Mapping[str, Any] | None = None

    @property
    def sampling(self) -> Sampling:
        return self.request.sampling

    @property
    def seed(self) -> int:
        return request_seed(self.request) if self.sampling.temperature else 0


class LocalModel:
    """A causal language model of transformers, or a vision-language model: generates, scores options, can be steered.

    The :class:`affectlab.engine.Engine` runs it: beginnings that prompts share are computed once, passes hold at most
    ``ModelSettings.batch_tokens``, answers come batch by batch. What is asked under several conditions goes through the
    model once, all conditions together. In fp32 an answer does not depend on the batch; in half
    precision it may.
    """

    abilities: frozenset[Ability] = frozenset({Ability.GENERATE, Ability.SCORE, Ability.STEER})

    def __init__(self, loaded: loading.Loaded, settings: ModelSettings) -> None:
        """Wrap a loaded model; :func:`affectlab.models.open_model` is the usual way here."""
        self._prompter = Prompter(loaded.tokenizer, loaded.processor)
        engine = Engine(
            loaded.model, end_ids=_end_ids(loaded), settings=EngineSettings(batch_tokens=settings.batch_tokens)
        )
        self._opened: _Opened | None = _Opened(loaded, engine)
        self._settings = settings
        libraries = {**loaded.card.libraries, "affectlab.engine": _ways(engine)}
        self.card: ModelCard = replace(loaded.card, libraries=libraries)
        self._context = engine.context

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
        """Answer requests, each batch as it is done.

        A prompt that leaves the model no room for an answer is a :class:`Failure`. Prompts with images come last, and
        only the pixels of one are held at a time.

        Raises:
            UserError: When a request cannot be put to this model (its template refuses it, an option without
                tokens, images it does not take or that cannot be read, options under a condition that steers only what
                is generated).
            WorldError: When logits are not finite, or a single row does not fit into memory.
        """
        self._check_images(requests)
        for request in {one.condition: one for one in reversed(requests) if one.options}.values():
            check_scored([request.condition], _name(request))
        texts: list[_Asked] = []
        illustrated: dict[tuple[str, tuple[str, ...]], list[_Asked]] = {}
        for request in requests:
            prompt = self._prompter.render(request)
            options = tuple(self._prompter.option_tokens(option) for option in request.options)
            asked = _Asked(request, self._prompter.shown(prompt), (), options)
            if shown := images.all_of(request.messages):
                illustrated.setdefault((prompt, shown), []).append(asked)
            else:
                texts.append(replace(asked, ids=self._prompter.tokens(prompt)))
        yield from self._answered(texts)
        for (prompt, _), alike in illustrated.items():
            ids, inputs = self._prompter.illustrated(alike[0].request, prompt)
            yield from self._answered([replace(asked, ids=ids, inputs=inputs) for asked in alike])

    @cached_property
    def subject(self) -> Subject:
        """The model as :mod:`affectlab.steering` sees it: vectors are extracted from and validated on it."""
        from affectlab.models.subject import subject_of

        opened = self._running()
        return subject_of(opened.loaded, opened.engine)

    def prepare(self, conditions: Sequence[str], kept: Path, recorded: Mapping[str, Any]) -> Mapping[str, Any]:
        """Make the model ready for conditions; see :meth:`affectlab.models.conditions.Conditions.prepare`."""
        return self._conditions.prepare(conditions, kept, recorded)

    @cached_property
    def _conditions(self) -> Conditions:
        from affectlab.models.conditions import Conditions

        return Conditions(self.subject, self._settings.vectors)

    def close(self) -> None:
        """Let go of the weights."""
        self._opened = None
        self.__dict__.pop("subject", None)
        self.__dict__.pop("_conditions", None)

    def _running(self) -> _Opened:
        if self._opened is None:
            raise UserError(f"The model {self.card.spec} is closed. Open it again.")
        return self._opened

    def _interventions(self, conditions: Sequence[str]) -> list[Intervention]:
        return [UNSTEERED if one == NEUTRAL else self._conditions.intervention(one) for one in conditions]

    def _room(self, asked: _Asked) -> int | None:
        """New tokens that fit behind a prompt; ``None`` when the model states no limit."""
        return None if self._context is None else self._context - len(asked.ids)

    def _check_images(self, requests: Sequence[Request]) -> None:
        """Refuse images that this model, or anybody, cannot be shown."""
        loaded, first = self._running().loaded, images.first_with(requests)
        if first is not None and loaded.processor is None:
            raise UserError(
                f"{self.card.spec} takes no images, and item {first.item!r}, step {first.step!r}, brings one. "
                f"{loaded.blind}"
            )
        images.check(requests)

    def _answered(self, asked: Sequence[_Asked]) -> Iterator[tuple[Request, Answer]]:
        """Answers to what fits into the model, failures for the rest."""
        fitting: list[_Asked] = []
        for one in asked:
            room, longest = self._room(one), max(map(len, one.options), default=0)
            needed = longest - 1 if one.options else 1  # what follows an option's last token is not asked
            if room is not None and room < needed:
                behind = f", and the longest option {longest} more" if one.options else ""
                yield (
                    one.request,
                    Failure(f"The prompt has {len(one.ids)} tokens{behind}; the model takes {self._context}."),
                )
            else:
                fitting.append(one)
        yield from self._generated([one for one in fitting if not one.options])
        yield from self._scored([one for one in fitting if one.options])

    def _generated(self, asked: Sequence[_Asked]) -> Iterator[tuple[Request, Answer]]:
        began, done = time.perf_counter(), 0
        for group in together(((one.ids, one.sampling, one.seed), one.request.condition, one) for one in asked):
            rows = [self._row(group.first(row)) for row in range(len(group.rows))]
            for row, state, text in self._running().engine.generate(rows, self._interventions(group.conditions)):
                for one in group.of(row, state):
                    done += 1
                    yield one.request, self._response(one, text, (time.perf_counter() - began) / done)

    def _row(self, asked: _Asked) -> GenerateRow:
        sampling, room = asked.sampling, self._room(asked)
        stops = self._stops(asked)
        generation = Generation(
            max_tokens=sampling.max_tokens if room is None else min(sampling.max_tokens, room),
            temperature=sampling.temperature,
            top_p=sampling.top_p,
            seed=asked.seed,
            stop=(lambda ids: self._stopped(ids, stops)) if stops else None,
        )
        return GenerateRow(asked.ids, generation, _name(asked.request), asked.inputs)

    def _stops(self, asked: _Asked) -> tuple[str, ...]:
        return tuple(stop for stop in (*asked.sampling.stop, *self._prompter.stop) if stop)

    def _stopped(self, ids: Sequence[int], stops: Sequence[str]) -> bool:
        text = self._prompter.text(ids)
        return any(stop in text for stop in stops)

    def _response(self, asked: _Asked, generated: Generated, seconds: float) -> Response:
        text = self._prompter.text(generated.ids)
        ends = [at for stop in self._stops(asked) if (at := text.find(stop)) >= 0]
        return Response(
            text=text[: min(ends)] if ends else text,
            finish=generated.finish,
            prompt=asked.prompt,
            usage=Usage(len(asked.ids), len(generated.ids)),
            seconds=seconds,
        )

    def _scored(self, asked: Sequence[_Asked]) -> Iterator[tuple[Request, Answer]]:
        began, done = time.perf_counter(), 0
        for group in together(((one.ids, one.options), one.request.condition, one) for one in asked):
            firsts = [group.first(row) for row in range(len(group.rows))]
            rows = [ScoreRow(one.ids, one.options, _name(one.request), one.inputs) for one in firsts]
            for row, state, logprobs in self._running().engine.score(rows, self._interventions(group.conditions)):
                for one in group.of(row, state):
                    done += 1
                    response = Response(
                        text=None,
                        finish="scored",
                        logprobs=tuple(logprobs.tolist()),
                        option_tokens=tuple(map(len, one.options)),
                        prompt=one.prompt,
                        usage=Usage(prompt_tokens=len(one.ids)),
                        seconds=(time.perf_counter() - began) / done,
                    )
                    yield one.request, response


def _ways(engine: Engine) -> str:
    """How the engine runs the model, for the manifest: the ways it uses, how exact they are, and what to beware of."""
    report = engine.report
    every = (("sharing", report.sharing), ("packing", report.packing), ("fork", report.fork))
    ways = ", ".join(name for name, used in every if used) or "plain"
    largest = max(report.deviations.values(), default=0.0)
    return "; ".join([ways, f"largest difference from plain passes {largest:.1g}", *report.notes])


def _end_ids(loaded: loading.Loaded) -> frozenset[int]:
    """Tokens that end a text: the tokenizer's, the config's and the generation config's."""
    ids: set[Any] = {loaded.tokenizer.eos_token_id}
    for config in (loaded.model.config.get_text_config(), loaded.model.generation_config):
        found = getattr(config, "eos_token_id", None)
        ids |= set(found) if isinstance(found, list | tuple) else {found}
    return frozenset(ids - {None})


def _name(request: Request) -> str:
    return f"item {request.item!r} (step {request.step!r})"
