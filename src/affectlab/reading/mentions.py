"""Answers that are only mentioned, and what a place in prose is worth: its clause, whether that negates."""

from __future__ import annotations

import re
from typing import Final

from affectlab.reading.outcome import Outcome, Reading
from affectlab.reading.phrases import JOIN, phrase_at, taken_back
from affectlab.reading.vocabulary import OUTSIDE, SUFFIX, Vocabulary, find_at

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
    r":|=(?!>)|(?<![A-Za-z])(?:because|since|as|for|due|given|while)(?![A-Za-z])|因为|因為|由于|由於"
)
_BRACKETED: Final = re.compile(r"\(([^()]*)(?:\)|\Z)|\[([^\[\]]*)(?:\]|\Z)|【([^【】]*)(?:】|\Z)")
_DASH: Final = re.compile(r" [-–](?!>) ?|[—–]+")
_SET_OFF: Final = re.compile(r"(?:[\w\s'_]|(?<=\w)-(?=\w))+")
_JOINED_BY: Final = re.compile(
    r"[\s\"'“”‘’]*(?:(?:(?:i\.e\.|and|or|but|then|also|maybe|perhaps|leaning|to|towards?|bordering on)(?![A-Za-z])"
    r"|但|却|偏|倾向于?|或者?|和|与|及|且|也|又|即)[\s,]*)*+",
    re.IGNORECASE,
)
"""Words between two answers of equal standing."""
_AFTER_IT: Final = re.compile(rf"(?:{SUFFIX}){{0,2}}[\s\"'“”‘’.!]*")
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
    """Whether a short answer goes on, after its label that ends at a place, to name another of equal standing.

    That is a bracket, what a dash sets off, or a piece between other marks that is another label and nothing more
    ("Positive (Formulaic Positive)", "Neutral; Negative"), joining words aside ("but Negative", "leaning Negative").
    What holds more explains ("Irony (mock politeness)", "Formulaic Positive (Positive + Neutral)"), as does all after
    a colon, "=" or "because".
    """

    def names_another(start: int, stop: int) -> bool:
        joined = _JOINED_BY.match(text, start, stop)
        start = joined.end() if joined is not None else start
        other = find_at(vocab, text, low, start)
        if other is None or other.key in (key, OUTSIDE) or (other.bare and text[start] in "aiI"):
            return False
        if low[:at].endswith(low[start : other.end]):
            return False  # the label's own last word: "Sarcastic Negative (negative)"
        return other.end <= stop and _AFTER_IT.fullmatch(text, other.end, stop) is not None

    outside = text[:at]
    for bracket in _BRACKETED.finditer(text, at):
        if names_another(*bracket.span(bracket.lastindex or 0)):
            return True
        # Blanks for what is dealt with, so that places stay what they are.
        outside += text[len(outside) : bracket.start()] + "|" * len(bracket.group())
    outside += text[len(outside) :]
    explained = _EXPLAINED.search(outside, at)
    stop = explained.start() if explained is not None else len(text)
    dash = _DASH.search(outside, at, stop)
    if dash is not None:
        if names_another(dash.end(), stop):
            return True
        stop = dash.start()
    return any(names_another(*piece.span()) for piece in _SET_OFF.finditer(outside, at, stop))


def clause_before(text: str, at: int) -> str:
    """The words of the same clause before a place."""
    before = text[max(0, at - 100) : at]
    cut = max((before.rfind(mark) + len(mark) for mark in _CLAUSE_BREAKS if mark in before), default=0)
    return before[cut:]


def excerpt(text: str, start: int, end: int) -> str:
    """A piece of the text as evidence: cut where it is long."""
    piece = text[start:end]
    return piece if len(piece) <= _EXCERPT else piece[: _EXCERPT - 1] + "…"
