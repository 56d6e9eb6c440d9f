"""Yes or No by log-probability: which forms of the two words are scored, and what their probabilities say."""

from __future__ import annotations

import math
from typing import Any

from affectlab.models.base import Response
from affectlab.reading import Outcome, Reading, yes_no_from_logprobs

YES = (" Yes", " yes", "Yes", "yes")
NO = (" No", " no", "No", "no")
TOKENS = (*YES, *NO)
"""The forms of Yes and No whose probabilities are summed, as many on each side.

With and without a leading space, since tokenizers differ in which of them follows a colon. They are in every stored
request, so that a figure can be made again with fewer.
"""


def log_odds(response: Response) -> tuple[Reading, dict[str, Any]]:
    """Yes or No by summed probability, and the natural log-odds of yes.

    A tie is No, flagged ``tie``. Log-probabilities that are missing, not as many as were asked for, or not a number
    leave the emotion unread.

    Args:
        response: Of a request whose options were :data:`TOKENS`.

    Returns:
        The reading (its value a truth value), and ``log_odds`` with the ``logprobs`` by token.
    """
    scores = response.logprobs
    if scores is None or len(scores) != len(TOKENS):
        return Reading(Outcome.EMPTY, evidence="no log-probabilities"), {}
    by_token = dict(zip(TOKENS, scores, strict=True))
    reading = yes_no_from_logprobs(by_token)
    if not reading.ok:
        return reading, {}
    odds = _log_sum([by_token[token] for token in YES]) - _log_sum([by_token[token] for token in NO])
    if not math.isfinite(odds):
        return reading, {}  # certain: an answer, but no number to calibrate
    return reading, {"log_odds": odds, "logprobs": by_token}


def _log_sum(values: list[float]) -> float:
    top = max(values)
    return top if not math.isfinite(top) else top + math.log(math.fsum(math.exp(value - top) for value in values))
