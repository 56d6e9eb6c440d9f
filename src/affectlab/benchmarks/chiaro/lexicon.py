"""Word lists of the validators, and whole-word search for their terms."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterable, Mapping
from functools import lru_cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any

_APOSTROPHES = str.maketrans({"\u2018": "'", "\u2019": "'", "\u02bc": "'", "\uff07": "'"})
_INVISIBLE = re.compile(r"[\u00ad\u200b-\u200f\u2060\ufeff]")

# A letter, digit or combining mark of any script; an underscore is markup, not part of a word.
_WORD = r"(?:[^\W_]|[\u0300-\u036f])"


@lru_cache(maxsize=1)
def word_lists() -> Mapping[str, Any]:
    """The tables of ``lexicon.toml``, as they stand there."""
    text = files(__package__).joinpath("lexicon.toml").read_text(encoding="utf-8")
    return MappingProxyType(tomllib.loads(text))


@lru_cache(maxsize=1)
def banned_terms() -> tuple[str, ...]:
    """The 71 terms of Appendix D, which no scene may hold."""
    banned = word_lists()["banned"]
    return (*banned["affect"], *banned["expression"])


def leakage_terms(emotion: str) -> tuple[str, ...]:
    """Further words that give one emotion away.

    Args:
        emotion: Id of a label of ``chiaro10``.

    Raises:
        KeyError: When it is not one.
    """
    return tuple(word_lists()["leakage"][emotion])


def find_terms(text: str, terms: Iterable[str]) -> tuple[str, ...]:
    """Those of ``terms`` that occur in ``text`` as whole words, in the order of ``terms``.

    Case, the kind of apostrophe, compatibility forms (full-width letters) and invisible characters do not
    matter; inside a phrase any run of white space counts as one space, line breaks included. Words of every
    script have boundaries: ``sad`` is not found in ``crusade``, nor in ``sadé``. ``*`` in a term stands for
    one word.
    """
    plain = _plain(text)
    return tuple(term for term in terms if _pattern(term).search(plain))


def _plain(text: str) -> str:
    return _INVISIBLE.sub("", unicodedata.normalize("NFKC", text).translate(_APOSTROPHES))


@lru_cache(maxsize=2048)
def _pattern(term: str) -> re.Pattern[str]:
    words = (rf"(?:{_WORD}|')+" if word == "*" else re.escape(word) for word in _plain(term).split())
    body = r"\s+".join(words)
    return re.compile(rf"(?<!{_WORD})(?:{body})(?!{_WORD})", re.IGNORECASE)
