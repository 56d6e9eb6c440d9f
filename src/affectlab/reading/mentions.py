"""Answers that are only mentioned, and what a place in prose is worth: its clause, whether that negates."""

from __future__ import annotations

import re
from typing import Final

from affectlab.reading.outcome import Outcome, Reading
from affectlab.reading.phrases import JOIN, phrase_at, taken_back
from affectlab.reading.vocabulary import OUTSIDE, Vocabulary, find_at

_DENIAL: Final = (
    r"(?<![A-Za-z])(?:not|never|cannot|neither|nor|no longer|wrong|incorrect|eliminate|exclude|rule out|ruling out|"
    r"unlikely|least|except|avoid|reject)(?![A-Za-z])|n't|不|没|沒|别选|並非|并非|错误|排除"
)
NEGATION: Final = re.compile(
    rf"{_DENIAL}|(?<![A-Za-z])(?:if|whether|unless|why|options|choices|example|e\.g)(?![A-Za-z])|如果|例如|是否",
    re.IGNORECASE,
)
"""Words before an answer, in its clause, that make it none."""
DENIED: Final = re.compile(
    rf"{_DENIAL}|(?<![A-Za-z])(?:no|none|nobody|nothing|without|hardly|barely|lack(?:s|ed|ing)?|absent|missing|"
    r"excluded|rejected|unfelt|rather than|instead of|opposed to|anything but|too\b.{1,60}\bto|"
    r"how (?:can|could|would|should))(?![A-Za-z])|非|无|無|未",
    re.IGNORECASE,
)
"""Words before labels, in their clause, that say they do not hold."""
_CLAUSE_BREAKS: Final = (".", "!", "?", ";", ",", "\n", "…", " but ", " but\n", "但")
_MENTION_START: Final = re.compile(r"(?<![A-Za-z0-9_\u00c0-\u024f'-])[^\W_]|[\u3400-\u9fff]")
_TORN: Final = re.compile(r"(?<![A-Za-z])(?:between|either|decide|torn|unsure)(?![A-Za-z])|还是|之间", re.IGNORECASE)
_EXPLAINED: Final = re.compile(
    r":|(?<![A-Za-z])(?:because|since|as|for|due|given|while)(?![A-Za-z])|因为|因為|由于|由於"
)
_SET_OFF: Final = re.compile(r"(?:[\w\s'_]|(?<=\w)-(?=\w))+")
_WORD: Final = re.compile("[^\\W_\u3400-\u9fff]+|[\u3400-\u9fff]{1,2}")
_MOST_WORDS: Final = 2
_CLEAR_LETTERS: Final = "BCDEFGHJKLMNOPQRSTUVWXYZ"
_EXCERPT: Final = 120


def mentioned(vocab: Vocabulary, text: str, low: str) -> Reading:
    """No statement: an only mention of a long name where the vocabulary allows it, else ambiguous or unparseable."""
    found: dict[str, tuple[int, int]] = {}
    long_names = True
    end = 0
    for start in (match.start() for match in _MENTION_START.finditer(text)):
        if start < end:
            continue
        answer = find_at(vocab, text, low, start)
        if answer is None or answer.key == OUTSIDE:
            continue
        listed = phrase_at(vocab, text, low, start) if JOIN.match(text, answer.end) else None
        keys = listed.keys if listed is not None else (answer.key,)
        if len(keys) == 1 and answer.bare and text[start] not in _CLEAR_LETTERS:
            continue
        end = listed.end if listed is not None else answer.end
        if found.keys() >= set(keys):
            continue
        clause = clause_before(text, start)
        if NEGATION.search(clause) and not _TORN.search(clause):
            continue
        for key in keys:
            if key != OUTSIDE:
                found.setdefault(key, (start, end))
        long_names = long_names and not answer.bare and " " in low[start:end]
    if len(found) > 1:
        spans = list(found.values())
        return Reading(Outcome.AMBIGUOUS, evidence=excerpt(text, spans[0][0], spans[-1][1]))
    if vocab.mentions and found and long_names:
        ((key, span),) = found.items()
        if taken_back(text, span[1]):
            return Reading(Outcome.AMBIGUOUS, evidence=excerpt(text, span[0], len(text)))
        return Reading(Outcome.OK, key, evidence=excerpt(text, *span))
    return Reading(Outcome.UNPARSEABLE)


def another_named(vocab: Vocabulary, text: str, low: str, at: int, key: str) -> bool:
    """Whether a short answer goes on, after its label that ends at a place, to name another.

    What a mark sets off names a label when it has at most two words besides ("Positive (Formulaic Positive)",
    "Humor, dark irony"). Longer pieces, and all after a colon or "because", explain; what is negated names nothing.
    """
    explained = _EXPLAINED.search(text, at)
    stop = explained.start() if explained is not None else len(text)
    for piece in _SET_OFF.finditer(text, at, stop):
        words = len(_WORD.findall(piece.group()))
        for start in (match.start() for match in _MENTION_START.finditer(text, piece.start(), piece.end())):
            other = find_at(vocab, text, low, start)
            if other is None or other.key in (key, OUTSIDE) or DENIED.fullmatch(low, start, other.end):
                continue
            besides = words - len(_WORD.findall(text[start : other.end]))
            if besides <= (0 if other.bare else _MOST_WORDS) and not DENIED.search(clause_before(text, start)):
                return True
    return False


def clause_before(text: str, at: int) -> str:
    """The words of the same clause before a place."""
    before = text[max(0, at - 100) : at]
    cut = max((before.rfind(mark) + len(mark) for mark in _CLAUSE_BREAKS if mark in before), default=0)
    return before[cut:]


def excerpt(text: str, start: int, end: int) -> str:
    """A piece of the text as evidence: cut where it is long."""
    piece = text[start:end]
    return piece if len(piece) <= _EXCERPT else piece[: _EXCERPT - 1] + "…"
