"""Kinds of fields that records of many benchmarks have, for their pydantic models."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

from pydantic import AfterValidator, BeforeValidator


def _filled(text: str) -> str:
    if not text.strip():
        raise ValueError("text that is not empty")
    return text


def blank_is_absent(value: Any) -> Any:
    """``None`` for an empty string: an empty CSV cell is how a table says "no value"."""
    return None if isinstance(value, str) and not value.strip() else value


def _number_as_text(value: Any) -> Any:
    return str(value) if type(value) is int else value


Text: TypeAlias = Annotated[str, AfterValidator(_filled)]
"""Text that is not empty."""

Identifier: TypeAlias = Annotated[Text, BeforeValidator(_number_as_text)]
"""An id; whole numbers are read as text."""

OptionalText: TypeAlias = Annotated[str | None, BeforeValidator(blank_is_absent)]
"""Text, or nothing."""
