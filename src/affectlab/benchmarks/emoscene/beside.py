"""What a reply says beside the answer: a stated confidence, an explanation."""

from __future__ import annotations

import re

from affectlab.models.base import Response
from affectlab.reading import read_json

_WRITTEN = re.compile(r"\s*(\d{1,3}(?:\.\d+)?)\s*([%％]?)\s*")


def confidence_of(response: Response) -> float | None:
    """The stated confidence as a share in [0, 1]; ``None`` when there is none that can be read.

    From 0 to 100 was asked for: a number, or a text that is nothing but a number, with or without %. Above 0 and up to
    1 without a % may mean a share or a percent, and is not taken.
    """
    field = read_json(response.text, {"confidence": None}, finish=response.finish)["confidence"]
    if not field.ok or isinstance(field.value, bool) or not isinstance(field.value, int | float | str):
        return None
    written = _WRITTEN.fullmatch(str(field.value))
    if written is None:
        return None
    number, percent = float(written[1]), bool(written[2])
    return None if number > 100 or (0 < number <= 1 and not percent) else number / 100


def explanation_of(response: Response) -> str | None:
    """The stated explanation; ``None`` when there is none."""
    field = read_json(response.text, {"explanation": None}, finish=response.finish)["explanation"]
    return field.value if field.ok and isinstance(field.value, str) else None
