"""Affective words by emotion: counted in what a model writes before it decides, and kept out of options."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib.resources import files
from pathlib import Path

from affectlab.errors import UserError
from affectlab.items.source import read_text

_WORD = re.compile(r"[^\W\d_]+(?:['’\-][^\W\d_]+)*")
_HAN = re.compile(r"[\u3400-\u9fff]")


@dataclass(frozen=True)
class Lexicon:
    """Words by emotion; one word may stand under several.

    Attributes:
        words: Emotion -> its words, lower case. Words in Chinese characters are found anywhere, others as whole words.
    """

    words: Mapping[str, frozenset[str]]

    @cached_property
    def _emotions(self) -> Mapping[str, tuple[str, ...]]:
        """Word -> its emotions."""
        found: dict[str, tuple[str, ...]] = {}
        for emotion, words in self.words.items():
            for word in words:
                found[word] = (*found.get(word, ()), emotion)
        return found

    @cached_property
    def _characters(self) -> tuple[str, ...]:
        return tuple(word for word in self._emotions if _HAN.search(word))

    def count(self, text: str) -> dict[str, int]:
        """How many words of each emotion a text has; emotions without any are absent."""
        counts: Counter[str] = Counter()
        for word in _WORD.findall(text.casefold().replace("’", "'")):
            counts.update(self._emotions.get(word, ()) if not _HAN.search(word) else ())
        for word in self._characters:
            if times := text.count(word):
                counts.update(dict.fromkeys(self._emotions[word], times))
        return {emotion: counts[emotion] for emotion in self.words if counts[emotion]}


def count_words(text: str) -> int:
    """Words of a text; every Chinese character counts as one."""
    characters = len(_HAN.findall(text))
    return characters + len(_WORD.findall(_HAN.sub(" ", text)))


def load(path: str = "") -> Lexicon:
    """A lexicon.

    Args:
        path: TOML file with a list of words under each emotion's name; the project's own small one when empty.

    Raises:
        UserError: When the file is not there or is no lexicon.
    """
    return _load(path)


@lru_cache(maxsize=8)
def _load(path: str) -> Lexicon:
    text = (
        read_text(str(Path(path).expanduser()))
        if path
        else files(__package__).joinpath("lexicon.toml").read_text("utf-8")
    )
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UserError(f'{path} is not TOML ({error}); a lexicon has lines like: anger = ["furious", …]') from error
    for emotion, words in data.items():
        if (
            not isinstance(words, list)
            or not words
            or not all(isinstance(word, str) and word.strip() for word in words)
        ):
            raise UserError(f'{path}: {emotion} is no list of words; a lexicon has lines like: anger = ["furious", …]')
    if not data:
        raise UserError(f'{path} names no emotion; a lexicon has lines like: anger = ["furious", …]')
    return Lexicon({emotion: frozenset(word.strip().casefold() for word in words) for emotion, words in data.items()})
