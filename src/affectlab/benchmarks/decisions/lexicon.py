"""Affective words by emotion: counted in what a model writes before it decides, and kept out of options."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib.resources import files
from pathlib import Path

from affectlab.errors import UserError
from affectlab.items.source import read_text

_HAN = re.compile(r"[\u3400-\u9fff]")


@lru_cache(maxsize=1)
def _word() -> re.Pattern[str]:
    """A word: letters with the marks that belong to them, joined by hyphens or apostrophes.

    Marks (vowel signs of Devanagari, say) are no letters to :mod:`re`; without them words would break apart.
    """
    marks = "".join(
        re.escape(chr(code)) for code in range(0x300, 0x1_2000) if unicodedata.category(chr(code))[0] == "M"
    )
    letters = rf"[^\W\d_](?:[^\W\d_]|[{marks}])*"
    return re.compile(rf"{letters}(?:['\-]{letters})*")


def _plain(text: str) -> str:
    """Text with one form of every letter: lower case, composed, of usual width, straight apostrophes."""
    return unicodedata.normalize("NFKC", text.casefold()).replace("’", "'")


@dataclass(frozen=True)
class Lexicon:
    """Words by emotion; one word may stand under several.

    Attributes:
        words: Emotion -> its words and phrases, in any form of writing. Words in Chinese characters are found anywhere,
            others as whole words; words of a phrase may be apart by any blanks.
    """

    words: Mapping[str, frozenset[str]]

    @cached_property
    def _emotions(self) -> Mapping[str, tuple[str, ...]]:
        """Word -> its emotions."""
        found: dict[str, tuple[str, ...]] = {}
        for emotion, words in self.words.items():
            for word in {_plain(word) for word in words}:
                found[word] = (*found.get(word, ()), emotion)
        return found

    @cached_property
    def _anywhere(self) -> Mapping[str, re.Pattern[str]]:
        """Patterns of what is not a single word: Chinese characters, and phrases between word boundaries."""
        han = {word: re.compile(re.escape(word)) for word in self._emotions if _HAN.search(word)}
        phrases = {word: word.split() for word in self._emotions if word not in han and len(word.split()) > 1}
        blanks = {word: r"\s+".join(map(re.escape, parts)) for word, parts in phrases.items()}
        return han | {word: re.compile(rf"(?<![\w'\-]){pattern}(?![\w'\-])") for word, pattern in blanks.items()}

    def count(self, text: str) -> dict[str, int]:
        """How many words of each emotion a text has; emotions without any are absent."""
        counts: Counter[str] = Counter()
        plain = _plain(text)
        for word in _word().findall(plain):
            counts.update(self._emotions.get(word, ()) if not _HAN.search(word) else ())
        for word, pattern in self._anywhere.items():
            if times := len(pattern.findall(plain)):
                counts.update(dict.fromkeys(self._emotions[word], times))
        return {emotion: counts[emotion] for emotion in self.words if counts[emotion]}

    def unfindable(self) -> tuple[str, ...]:
        """Entries that no text can hold as words: those with digits or signs in them."""
        return tuple(
            word
            for word in self._emotions
            if not _HAN.search(word) and not all(_word().fullmatch(part) for part in word.split())
        )


def count_words(text: str) -> int:
    """Words of a text; every Chinese character counts as one."""
    plain = _plain(text)
    return len(_HAN.findall(plain)) + len(_word().findall(_HAN.sub(" ", plain)))


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
    found = Lexicon({emotion: frozenset(word.strip() for word in words) for emotion, words in data.items()})
    if lost := found.unfindable():
        raise UserError(
            f"{path}: {', '.join(map(repr, lost[:5]))}: words are of letters, so this would never be found."
        )
    return found
