"""A model behind the pages: asked one at a time, never waited for long, and never a reason for a page to fail."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Sequence

from affectlab.annotate.web.visit import Ask
from affectlab.models.base import Failure, Message, Model, Request, Sampling

_LOG = logging.getLogger("affectlab.annotate")

LONGEST_S = 25.0
"""So long a reply may take. Two are asked for at the end of an interview, and proxies commonly give up after 60."""
MOST_WAITING = 16
"""So many people may wait for the model at once. Each keeps one of the server's 40 threads."""


def asking(model: Model) -> Ask:
    """How a model of the project is asked during an interview."""

    def ask(messages: Sequence[Message], max_tokens: int) -> str | None:
        request = Request("interview", "ask", tuple(messages), sampling=Sampling(max_tokens=max_tokens))
        for _, answer in model.respond([request]):
            return None if isinstance(answer, Failure) else answer.text
        return None

    return ask


def limited(ask: Ask, *, longest_s: float = LONGEST_S, most_waiting: int = MOST_WAITING) -> Ask:
    """The same, with ``None`` for what takes too long, goes wrong, or finds too many waiting.

    Args:
        ask: Asks the model; called from one thread at a time.
        longest_s: Seconds to wait at most, for one's turn and the reply together.
        most_waiting: Who comes when so many are waiting already gets ``None`` at once.
    """
    turn = threading.Lock()
    waiting = threading.BoundedSemaphore(most_waiting)

    def limited_ask(messages: Sequence[Message], max_tokens: int) -> str | None:
        if not waiting.acquire(blocking=False):
            _LOG.warning("the model was not asked: %d people wait for it already", most_waiting)
            return None
        try:
            end = time.monotonic() + longest_s
            if not turn.acquire(timeout=longest_s):
                _LOG.warning("the model was not asked: an earlier reply is not there after %g seconds", longest_s)
                return None
            replies: list[str | None] = []
            done = threading.Event()

            def work() -> None:
                try:
                    replies.append(ask(messages, max_tokens))
                except Exception as error:  # noqa: BLE001 - whatever it is, people go on with the fixed questions
                    _LOG.error("the model could not be asked: %s", error)
                finally:
                    turn.release()
                    done.set()

            threading.Thread(target=work, name="affectlab-interview", daemon=True).start()
            if not done.wait(max(0.0, end - time.monotonic())):
                _LOG.warning("the model has not replied within %g seconds", longest_s)
            return replies[0] if replies else None
        finally:
            waiting.release()

    return limited_ask
