"""What an OpenAI-compatible endpoint sent, read into a response or a fault."""

from __future__ import annotations

import email.utils
import json
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from affectlab.models.base import Finish, Request, Response, Usage

_FINISHES: Mapping[str, Finish] = {
    "length": "length",
    "max_tokens": "length",
    "content_filter": "filter",
    "safety": "filter",
    "refusal": "filter",
}
FILTERED = "filtered"
"""Kind of a fault that is the provider's content filter declining the prompt: an answer of a sort, a refusal."""

_FILTERED = ("content_filter", "content filter", "content_policy", "content management policy")
_ADAPTABLE = ("max_completion_tokens", "max_tokens", "temperature", "top_p", "seed", "stop")
_UNSUPPORTED = ("unsupported", "not support", "unrecognized", "unknown parameter", "not allowed", "not permitted")


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a call brought no response.

    Attributes:
        kind: For counting like with like.
        text: For people; a sentence.
        passing: Whether it may pass when tried again.
        stops: Whether no other request can succeed either.
        retry_after: Seconds the server asks to wait.
        unsupported: The parameter the endpoint does not take.
    """

    kind: str
    text: str
    passing: bool = True
    stops: bool = False
    retry_after: float | None = None
    unsupported: str = ""

    def replacing(self, old: str, new: str) -> Fault:
        """The fault with ``old`` in its text replaced."""
        return replace(self, text=self.text.replace(old, new))


class FaultError(Exception):
    """Carries a fault."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.text)
        self.fault = fault


def error_in_status(response: Any) -> Fault:
    """The fault behind a status of 400 or above (``response``: the SDK's HTTP response)."""
    try:
        body = json.loads(response.text)
    except ValueError:
        body = None
    error = body.get("error", body) if isinstance(body, dict) else None
    if not isinstance(error, dict):
        html = response.text.lstrip()[:1] == "<"
        error = {"message": "it answers HTML, not JSON: is --base-url right?" if html else error}
    return _fault(response.status_code, error, retry_after(response.headers))


def _fault(status: int, error: Mapping[str, Any], wait: float | None) -> Fault:
    message = " ".join(str(error.get("message") or "").split())[:300]
    text = f"status {status}{f' ({message})' if message else ''}."
    code = str(error.get("code") or error.get("type") or "")
    if status == 400 and any(word in f"{code} {message}".lower() for word in _FILTERED):
        return Fault(FILTERED, text, passing=False)
    if status == 402 or code == "insufficient_quota":
        return Fault("quota", text, passing=False, stops=True)
    if status in (401, 403, 404):
        kind = {401: "unauthorised", 403: "forbidden", 404: "unknown"}[status]
        return Fault(kind, text, passing=False, stops=True)
    if status in (408, 409, 425, 429) or status >= 500:
        return Fault(f"status {status}", text, retry_after=wait)
    return Fault(f"status {status}", text, passing=False, unsupported=_unsupported(status, error, message))


def _unsupported(status: int, error: Mapping[str, Any], message: str) -> str:
    """The parameter a refusal is about, if it is one that can be left out or renamed."""
    said = f"{error.get('code') or ''} {message}".lower()
    if status not in (400, 422) or not any(word in said for word in _UNSUPPORTED):
        return ""
    parameter = error.get("param")
    if parameter in _ADAPTABLE:
        return str(parameter)
    places = {name: said.find(name) for name in _ADAPTABLE}
    return min((name for name, at in places.items() if at >= 0), key=lambda name: places[name], default="")


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds from ``Retry-After`` (a number or an HTTP date) or ``retry-after-ms``; ``None`` without a usable one."""
    for name, scale in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) / scale
        except ValueError:
            continue
        if math.isfinite(seconds):
            return max(seconds, 0.0)
    try:
        date = email.utils.parsedate_to_datetime(headers.get("retry-after", ""))
    except ValueError:
        return None
    return max(date.timestamp() - time.time(), 0.0)


def response_from(data: Any, request: Request, seconds: float) -> Response:
    """Read a decoded body.

    Raises:
        FaultError: When it holds an error, or no choice that could be read.
    """
    if isinstance(data, dict) and isinstance(data.get("error"), dict):
        code = data["error"].get("code")
        raise FaultError(_fault(code if isinstance(code, int) and code >= 400 else 500, data["error"], None))
    choices = data.get("choices") if isinstance(data, dict) else None
    if choices == []:
        raise FaultError(Fault("empty", "it answers an empty list of choices."))
    choice = choices[0] if isinstance(choices, list) else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not isinstance(message, dict):
        raise FaultError(Fault("malformed", "it answers JSON without choices[0].message."))
    text, finish = _text(message.get("content")), _finish(choice.get("finish_reason"))
    refusal = message.get("refusal")
    if isinstance(refusal, str) and refusal and not text:
        text, finish = refusal, "filter"
    reasoning = message.get("reasoning_content") or message.get("reasoning")
    served_by = data.get("model")
    return Response(
        text=_generated(text, request),
        finish=finish,
        reasoning=reasoning if isinstance(reasoning, str) else None,
        usage=_usage(data.get("usage")),
        seconds=seconds,
        served_by=served_by if isinstance(served_by, str) else None,
    )


def _text(content: Any) -> str | None:
    """A message's text: a string, or the joined text parts of a list."""
    if isinstance(content, list):
        return "".join(str(part.get("text") or "") for part in content if isinstance(part, dict))
    if content is None or isinstance(content, str):
        return content
    raise FaultError(Fault("malformed", "it answers JSON whose message content is no text."))


def _generated(text: str | None, request: Request) -> str | None:
    """The text without a repeated prefill, and without what follows a stop string the server did not heed."""
    if text is None:
        return None
    if request.prefill and text.startswith(request.prefill):
        text = text[len(request.prefill) :]
    ends = [at for stop in request.sampling.stop if stop and (at := text.find(stop)) >= 0]
    return text[: min(ends)] if ends else text


def _finish(reason: Any) -> Finish:
    return _FINISHES.get(str(reason).lower(), "stop")


def _usage(found: Any) -> Usage | None:
    if not isinstance(found, dict):
        return None
    prompt, completion, cost = found.get("prompt_tokens"), found.get("completion_tokens"), found.get("cost")
    return Usage(
        prompt_tokens=prompt if isinstance(prompt, int) else 0,
        completion_tokens=completion if isinstance(completion, int) else 0,
        cost=float(cost) if isinstance(cost, int | float) else None,
    )
