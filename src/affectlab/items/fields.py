"""Kinds of fields that records of many benchmarks have, for their pydantic models."""

from __future__ import annotations

import unicodedata
from typing import Annotated, Any, TypeAlias

from pydantic import AfterValidator, BeforeValidator

from affectlab.errors import did_you_mean
from affectlab.labels import load as load_labels

_INVISIBLE = frozenset({"Cc", "Cf", "Zl", "Zp"})
"""Unicode categories: control, format (zero-width), line and paragraph separators."""


def _hidden(char: str) -> bool:
    return unicodedata.category(char) in _INVISIBLE


def is_blank(text: str) -> bool:
    """Whether nothing of a text can be seen: white space, zero-width and control characters only."""
    return all(char.isspace() or _hidden(char) for char in text)


def _filled(text: str) -> str:
    if is_blank(text):
        raise ValueError("text that is not empty")
    return text


def blank_is_absent(value: Any) -> Any:
    """``None`` for a text in which nothing can be seen: an empty CSV cell is how a table says "no value"."""
    return None if isinstance(value, str) and is_blank(value) else value


def label_of(space: str) -> BeforeValidator:
    """For fields that hold a label: any of its forms becomes its id, an empty string ``None``.

    Args:
        space: Name of the label space. Loaded when the first value is validated.
    """

    def label(value: Any) -> Any:
        value = blank_is_absent(value)
        if not isinstance(value, str):
            return value
        labels = load_labels(space)
        found = labels.resolve(value)
        if found is None:
            raise ValueError(f"one of {', '.join(labels.ids)}{did_you_mean(map(repr, labels.nearest(value)))}")
        return found

    return BeforeValidator(label)


def _visible(text: str) -> str:
    hidden = next((char for char in text if _hidden(char)), None)
    if hidden is not None:
        raise ValueError(f"an id without characters that cannot be seen (U+{ord(hidden):04X} is one)")
    return text


def _number_as_text(value: Any) -> Any:
    return str(value) if type(value) is int else value


Text: TypeAlias = Annotated[str, AfterValidator(_filled)]
"""Text that is not empty."""

Identifier: TypeAlias = Annotated[Text, BeforeValidator(_number_as_text), AfterValidator(_visible)]
"""An id; whole numbers are read as text. Nothing in it may be invisible: two ids that look alike would be two items."""

OptionalText: TypeAlias = Annotated[str | None, BeforeValidator(blank_is_absent)]
"""Text, or nothing."""
