"""Models behind an OpenAI-compatible endpoint, by the official SDK.

The SDK sends; retrying is done here, because its own retries neither cover a broken body that came with status 200 nor
bound a call that trickles, and do not say how often they tried.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import queue
import random
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, TypeAlias
from urllib.parse import urlsplit, urlunsplit

from affectlab.errors import AffectlabError, UserError, WorldError
from affectlab.models import images
from affectlab.models.base import Ability, Answer, Failure, Message, ModelCard, Request, Response
from affectlab.models.replies import FILTERED, Fault, FaultError, error_in_status, response_from
from affectlab.models.seeding import request_seed
from affectlab.models.settings import ModelSettings

KEY_VARIABLE = "OPENAI_API_KEY"
"""Environment variable the key is read from. It is written nowhere."""

URL_VARIABLE = "OPENAI_BASE_URL"
"""Environment variable the endpoint is read from when no setting names one."""

LONGEST_WAIT_S = 300.0
"""Longest ``Retry-After`` that is waited for, in seconds; a longer one is a failure."""

_OPENAI_URL = "https://api.openai.com/v1"
_FEWEST_IN_A_ROW = 5
_MOST_ADAPTATIONS = 8
_log = logging.getLogger(__name__)

Put: TypeAlias = Callable[[tuple[Request, Answer]], None]


@dataclass(slots=True)
class _Health:
    """What the calls so far say about the endpoint."""

    succeeded: int = 0
    kind: str = ""
    in_a_row: int = 0
    paused_until: float = 0.0

    def success(self) -> None:
        self.succeeded += 1
        self.in_a_row = 0

    def failure(self, fault: Fault) -> None:
        self.in_a_row = self.in_a_row + 1 if fault.kind == self.kind else 1
        self.kind = fault.kind


class RemoteModel:
    """A model that answers over HTTP. It generates; option scores are not part of the interface it speaks.

    A prefill is sent as a last message of the assistant, which servers that can continue a turn do (vLLM, DeepSeek,
    Anthropic's models) and others ignore; where the reply repeats it, it is cut off.

    A parameter the endpoint says it does not support (reasoning models refuse ``temperature`` and ``max_tokens``) is
    left out or renamed from then on; :attr:`adaptations` says which, and so do the run's manifest and report.
    """

    abilities: frozenset[Ability] = frozenset({Ability.GENERATE})

    def __init__(self, name: str, settings: ModelSettings, *, backoff_s: float = 0.5) -> None:
        """Get ready; nothing is sent yet.

        Args:
            name: Model's name at the endpoint.
            settings: Endpoint, concurrency, timeout and retries.
            backoff_s: First pause before a retry, doubled each time, half of it random.

        Raises:
            UserError: When there is no key and no endpoint is named, the key cannot be one, or the URL holds one.
        """
        url = settings.base_url or os.environ.get(URL_VARIABLE) or _OPENAI_URL
        if "@" in urlsplit(url).netloc:
            raise UserError(f"The base URL of {_without_secrets(url)} holds a password; put the key in {KEY_VARIABLE}.")
        key = os.environ.get(KEY_VARIABLE, "").strip()
        if not key and url == _OPENAI_URL:
            raise UserError(f"openai:{name} needs a key. Set {KEY_VARIABLE}, or name another endpoint with --base-url.")
        if not (key.isascii() and key.isprintable()) or " " in key:
            raise UserError(f"{KEY_VARIABLE} holds characters that no key has. Set it again.")
        self._name = name
        self._settings = settings
        self._backoff_s = backoff_s
        self._url = url
        self._key = key
        self._health = _Health()
        self._adapted: dict[str, str | None] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._client: Any = None
        self.card = ModelCard(
            spec=f"openai:{name}",
            name=name,
            identity={"base_url": _without_secrets(url)},
            libraries={"openai": version("openai")},
        )

    @property
    def adaptations(self) -> tuple[str, ...]:
        """What is asked otherwise than the requests say, because the endpoint refuses it."""
        return tuple(
            f"{name} sent as {other}" if other else f"{name} left out" for name, other in sorted(self._adapted.items())
        )

    def respond(self, requests: Sequence[Request]) -> Iterator[tuple[Request, Answer]]:
        """Answer requests as replies come in, at most ``concurrency`` calls at a time.

        Closing the iterator cancels what is in flight.

        Raises:
            UserError: When a request asks for option scores or brings an image that cannot be read; on a wrong key, an
                unknown model, an empty account; when the endpoint refuses request after request and has answered none.
            WorldError: When request after request fails in the same way, retries included.
        """
        if scored := next((request for request in requests if request.options), None):
            raise UserError(
                f"openai:{self._name} generates text and cannot score options, as item {scored.item!r}, "
                f"step {scored.step!r} asks. Choose a protocol that generates, or a local model."
            )
        images.check(requests)
        results: queue.SimpleQueue[tuple[Request, Answer] | None] = queue.SimpleQueue()
        work = asyncio.run_coroutine_threadsafe(self._work(requests, results.put), self._running())
        work.add_done_callback(lambda _: results.put(None))
        try:
            while (answered := results.get()) is not None:
                yield answered
            work.result()
        finally:
            work.cancel()

    def close(self) -> None:
        """Close connections and stop the thread that holds them."""
        loop, self._loop = self._loop, None
        if loop is not None:
            asyncio.run_coroutine_threadsafe(self._client.close(), loop).result()
            loop.call_soon_threadsafe(loop.stop)

    def _running(self) -> asyncio.AbstractEventLoop:
        """The event loop, in a thread of its own so that a notebook's running loop is no obstacle."""
        if self._loop is None:
            from openai import AsyncOpenAI, DefaultAioHttpClient

            # The SDK's aiohttp transport: a third less CPU a call than its own, which is what bounds the rate.
            self._client = AsyncOpenAI(
                api_key=self._key or "none",
                base_url=self._url,
                timeout=self._settings.timeout_s,
                max_retries=0,
                http_client=DefaultAioHttpClient(),
            )
            self._loop = asyncio.new_event_loop()
            threading.Thread(target=_run, args=(self._loop,), name="affectlab-remote", daemon=True).start()
        return self._loop

    async def _work(self, requests: Sequence[Request], put: Put) -> None:
        waiting = iter(requests)
        before = self._health.succeeded
        faults: list[Fault] = []

        async def worker() -> None:
            for request in waiting:
                answer = await self._answer(request)
                if isinstance(answer, Response):
                    self._health.success()
                    put((request, answer))
                else:
                    fault, attempts = answer
                    faults.append(fault)
                    put((request, Failure(fault.text, attempts)))
                    self._health.failure(fault)
                    if self._health.in_a_row >= max(self._settings.concurrency, _FEWEST_IN_A_ROW):
                        self._give_up(fault)

        workers = [asyncio.ensure_future(worker()) for _ in range(min(self._settings.concurrency, len(requests)))]
        try:
            await asyncio.gather(*workers)
        finally:
            for task in workers:
                task.cancel()
            await asyncio.gather(*workers, return_exceptions=True)
        if faults and self._health.succeeded == before and all(fault.passing for fault in faults):
            self._give_up(faults[-1])

    def _give_up(self, fault: Fault) -> None:
        """Stop the run when the endpoint is gone or refuses everything; single refused requests go on as failures."""
        where = _without_secrets(self._url)
        if fault.passing:
            raise WorldError(f"{where} fails request after request: {fault.text} Answers so far are kept.")
        if not self._health.succeeded:
            raise UserError(f"{where} refuses every request: {fault.text}")

    async def _answer(self, request: Request) -> Response | tuple[Fault, int]:
        """A response, or the last fault and how often was tried."""
        attempt = refused = 0
        while True:
            if (pause := self._health.paused_until - time.monotonic()) > 0:
                await asyncio.sleep(pause)
            began = time.monotonic()
            try:
                data = await self._call(request)
                return response_from(data, request, time.monotonic() - began)
            except FaultError as error:
                fault = error.fault
            if fault.kind == FILTERED:
                return Response(text=None, finish="filter", seconds=time.monotonic() - began)
            if fault.stops and (fault.kind != "forbidden" or not self._health.succeeded):
                raise self._stopped(fault)
            if fault.unsupported and refused < _MOST_ADAPTATIONS:
                self._adapt(fault.unsupported)
                refused += 1
                continue
            attempt += 1
            wait = self._wait(fault, attempt)
            if wait is None:
                return fault, attempt
            await asyncio.sleep(wait)

    def _wait(self, fault: Fault, attempt: int) -> float | None:
        """Seconds to wait before the next attempt; ``None`` when there is to be none."""
        if not fault.passing or attempt > self._settings.retries:
            return None
        if fault.retry_after is None:
            return float(min(self._backoff_s * 2 ** (attempt - 1), 30.0) * random.uniform(0.5, 1.0))  # noqa: S311
        if fault.retry_after > LONGEST_WAIT_S:
            return None
        # The limit is the account's, not the request's: nobody asks before the time is up.
        self._health.paused_until = max(self._health.paused_until, time.monotonic() + fault.retry_after)
        return 0.0

    async def _call(self, request: Request) -> Any:
        """The decoded body of one call.

        Raises:
            FaultError: When there is none.
        """
        from openai import APIConnectionError, APIStatusError, APITimeoutError

        limit = self._settings.timeout_s
        try:
            async with asyncio.timeout(limit):
                # The typed method would spend more time on checking the arguments than on sending them.
                text: str = await self._client.post("/chat/completions", cast_to=str, body=self._body(request))
        except APIStatusError as error:
            raise FaultError(self._cleaned(error_in_status(error.response))) from None
        except TimeoutError:
            raise FaultError(Fault("timeout", f"no reply within {limit:g} s.")) from None
        except APIConnectionError as error:
            # The transport calls a refused connection a ConnectTimeout, and the SDK that a time-out.
            if isinstance(error, APITimeoutError) and type(error.__cause__).__name__ != "ConnectTimeout":
                raise FaultError(Fault("timeout", f"no reply within {limit:g} s.")) from None
            reason = str(error.__cause__ or error)
            raise FaultError(self._cleaned(Fault("connection", f"no connection, or one cut off ({reason})."))) from None
        try:
            return json.loads(text)
        except ValueError:
            pass
        if text.lstrip()[:1] == "<":
            raise FaultError(
                Fault("html", "it answers HTML, not JSON: is --base-url right?", stops=not self._health.succeeded)
            )
        raise FaultError(Fault("malformed", f"it answers what is not JSON ({text[:60]!r})."))

    def _body(self, request: Request) -> dict[str, Any]:
        messages: list[dict[str, Any]] = [
            {"role": message.role, "content": _content(message) if message.images else message.content}
            for message in request.messages
        ]
        if request.prefill:
            messages.append({"role": "assistant", "content": request.prefill})
        sampling = request.sampling
        wanted: dict[str, Any] = {"max_tokens": sampling.max_tokens, "temperature": sampling.temperature}
        if sampling.temperature > 0 and sampling.top_p < 1:
            wanted["top_p"] = sampling.top_p
        if sampling.seed is not None:
            wanted["seed"] = request_seed(request)
        if sampling.stop:
            wanted["stop"] = list(sampling.stop)
        named = {self._adapted.get(name, name): value for name, value in wanted.items()}
        return {"model": self._name, "messages": messages} | {name: value for name, value in named.items() if name}

    def _adapt(self, parameter: str) -> None:
        """From now on, ask without a parameter, or by its other name."""
        before = dict(self._adapted)
        if parameter == "max_completion_tokens":
            self._adapted["max_tokens"] = None
        elif parameter == "max_tokens":
            self._adapted.setdefault("max_tokens", "max_completion_tokens")
        else:
            self._adapted[parameter] = None
        if self._adapted != before:
            _log.warning("%s refuses %s; asked otherwise from now on.", _without_secrets(self._url), parameter)

    def _stopped(self, fault: Fault) -> AffectlabError:
        where = _without_secrets(self._url)
        hints = {
            "unauthorised": f"The key in {KEY_VARIABLE} is not accepted." if self._key else f"Set {KEY_VARIABLE}.",
            "forbidden": f"The key in {KEY_VARIABLE} may not do this.",
            "unknown": f"Is there a model {self._name!r}, and is the base URL right?",
            "quota": "The account has no credit left.",
        }
        if fault.kind not in hints:
            return WorldError(f"{where}: {fault.text}")
        return UserError(f"{where}: {fault.text} {hints[fault.kind]}")

    def _cleaned(self, fault: Fault) -> Fault:
        """The fault without the key, should a server or a library repeat it."""
        return fault.replacing(self._key, "***") if self._key else fault


def _content(message: Message) -> list[dict[str, Any]]:
    """A turn's images, then its text where it has any."""
    shown: list[dict[str, Any]] = [
        {"type": "image_url", "image_url": {"url": images.data_url(path)}} for path in message.images
    ]
    return [*shown, {"type": "text", "text": message.content}] if message.content else shown


def _run(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
    finally:
        loop.close()


def _without_secrets(url: str) -> str:
    """An address without user, password, query and fragment."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
