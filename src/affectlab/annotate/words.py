"""Texts in several languages: those a design brings, and the words of the pages themselves."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Annotated, Any, TypeAlias

from pydantic import AfterValidator, BeforeValidator, Field

LANGUAGES = {"en": "English", "zh": "中文"}
"""Languages the pages can be shown in."""


def _by_language(value: Any) -> Any:
    return {"en": value} if isinstance(value, str) else value


def _filled(words: dict[str, str]) -> dict[str, str]:
    if any(not text.strip() for text in words.values()):
        raise ValueError("text that is not empty in every language it names")
    return words


Words: TypeAlias = Annotated[dict[str, str], BeforeValidator(_by_language), AfterValidator(_filled)]
"""A text by language. In a file either ``"text"`` (English) or ``{en = "…", zh = "…"}``."""

NOTHING: Any = Field(default_factory=dict)
"""Default of a text that may be left out."""


def say(words: Mapping[str, str], language: str) -> str:
    """A text in a language; in English, else in the first language there is, where it has none in this one."""
    return words.get(language) or words.get("en") or next(iter(words.values()), "")


@cache
def interface() -> Mapping[str, Mapping[str, str]]:
    """Words of the pages: name -> language -> text."""
    text = (files("affectlab.annotate") / "web" / "words.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)
