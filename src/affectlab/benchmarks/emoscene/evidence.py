"""What a reply says beside the answer: a stated confidence, an explanation."""

from __future__ import annotations

from affectlab.models.base import Response
from affectlab.reading import NumberRange, read_json, read_number

_PERCENT = NumberRange(0, 100)


def confidence_of(response: Response) -> float | None:
    """The stated confidence as a share in [0, 1]; ``None`` when there is none that can be read.

    From 0 to 100 was asked for. A number strictly between 0 and 1 may mean a share or a percent, and is not taken.
    """
    field = read_json(response.text, {"confidence": None}, finish=response.finish)["confidence"]
    if not field.ok or isinstance(field.value, bool) or not isinstance(field.value, int | float | str):
        return None
    number = read_number(str(field.value), _PERCENT)
    return None if not number.ok or 0 < number.value < 1 else float(number.value) / 100


def explanation_of(response: Response) -> str | None:
    """The stated explanation; ``None`` when there is none."""
    field = read_json(response.text, {"explanation": None}, finish=response.finish)["explanation"]
    return field.value if field.ok and isinstance(field.value, str) else None
