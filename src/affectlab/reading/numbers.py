"""A number in a range."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, NamedTuple

from affectlab.reading import flags
from affectlab.reading.conclude import conclude, unread
from affectlab.reading.markup import plain
from affectlab.reading.outcome import Outcome, Reading
from affectlab.reading.prepare import prepare

# fmt: off
_UNITS: Final = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)
_TENS: Final = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
# fmt: on
_VALUES: Final[dict[str, int]] = {
    **{word: i for i, word in enumerate(_UNITS)},
    **{word: 20 + 10 * i for i, word in enumerate(_TENS)},
    **{f"{ten}-{unit}": 20 + 10 * i + j for i, ten in enumerate(_TENS) for j, unit in enumerate(_UNITS[:10]) if j},
    **dict(zip("零一二三四五六七八九十", range(11), strict=True)),
}
_WORD: Final = re.compile(rf"(?<![a-z])(?:{'|'.join(sorted(map(re.escape, _VALUES), key=len, reverse=True))})(?![a-z])")
_DIGITS: Final = (
    r"(?P<sign>(?<![A-Za-z0-9_.)])[-−+])?(?P<digits>(?<![A-Za-z0-9_.,])(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|(?<![A-Za-z0-9_.])\.\d+)"
    r"(?P<exponent>e[+-]?\d{1,3})?(?![A-Za-z0-9_]|\.\d|,\d)"
)
_NUMBER: Final = re.compile(rf"[$€£¥]?{_DIGITS}", re.IGNORECASE)
_ALONE: Final = re.compile(
    rf"[^\w+−.-]*(?:(?:[A-Za-z\u3400-\u9fff' ]{{0,60}})[:=])?"
    rf"[^\w+−.-]*{_DIGITS}[ ]?(?:%|points?|dollars?|out of \d+|/[ ]?\d+)?"
    r"[^\w]*",
    re.IGNORECASE,
)
_STATED: Final = re.compile(
    rf"(?:(?<![A-Za-z])(?:answer|choice|choose|chose|final|result|rating|score|level|guess|bid|offer|send|give|pick|select|so|thus|"
    rf"therefore|hence|is|be|say)(?![A-Za-z])|答案|选择|选|所以|结果|评分)[^\d\n.!?+−-]{{0,30}}?[$€£¥]?{_DIGITS}",
    re.IGNORECASE,
)

_NEGATED: Final = re.compile(
    r"(?:\b(?:not|never|minus|than|least|most|half(?: of)?|up to|rounds?|player)|n['’]t|[不非没]是?)\s*$", re.IGNORECASE
)
_ANNOUNCED: Final = re.compile(r"\W*(?:answer\b|答案)", re.IGNORECASE)
_REWORKED: Final = re.compile(
    r"\b(?:not|never|minus|negative|half|thirds?|quarters?|twice|double|triple|than|between|least|most|up to|under|"
    r"over|above|below)\b|n['’]t\b|[不非没]|一半|\d[^\d.,]+\d|\d\s*%",
    re.IGNORECASE,
)
_GOES_ON: Final = re.compile(
    r"(?:\s*(?:points?|coins?|dollars?))?\s*"
    r"(?:(?:[-−–+*/×÷^=<>:,]|to\b)\s*[-−+$€£¥]?\d|%|"
    r"[万亿千百十或到至~～]|(?:or|out of|million|thousand|hundred|billion|dozen|times|plus|minus|percent)\b)",
    re.IGNORECASE,
)


class Number(NamedTuple):
    """A stated number and the piece of text it was taken from."""

    value: float
    evidence: str


@dataclass(frozen=True, slots=True)
class NumberRange:
    """What numbers are answers.

    Attributes:
        low: Smallest, included.
        high: Largest, included.
        integer: Only whole numbers.
        accept_words: Number words ("ten", "twenty-five", "五") are answers too; flagged ``number_word``.
        plain: Only a number that stands by itself is an answer. One that is negated, calculated with, one of several or
            a part of another ("not 5", "10 - 3", "2 or 3", "half of 10", "10 million") is ambiguous, and so is one of
            several in a text, unless it stands after "answer" or alone on its line.
    """

    low: float
    high: float
    integer: bool = False
    accept_words: bool = False
    plain: bool = False


def read_number(text: str | None, wanted: NumberRange, *, finish: str = "stop") -> Reading:
    """Read the number a reply states.

    The last stated number counts ("2/3 of 50 is 33.3, so 33" is 33): one announced by words like "answer", "so" or
    "I send", else a number alone on its line, else the only number there is. Out of range is ``unparseable`` with the
    flag ``out_of_space``; nothing is clamped or rounded. Several numbers and none stated is ``ambiguous``.

    Args:
        text: The reply, or ``None``.
        wanted: What numbers are answers.
        finish: Why generation ended.

    Returns:
        Reading whose value is an int (``integer``) or a float.
    """
    prepared = prepare(text, finish)
    empty = unread(prepared)
    if empty is not None:
        return empty
    words = plain(prepared.text)
    stated = last_number(words)
    if stated is not None:
        return conclude(prepared, _entangled(words, stated, wanted) or _in_range(stated, wanted, ()))
    numbers = {_value(match): match.group() for match in _NUMBER.finditer(words)}
    if len(numbers) == 1:
        only = Number(*next(iter(numbers.items())))
        return conclude(prepared, _entangled(words, only, wanted) or _in_range(only, wanted, ()))
    if numbers:
        return conclude(prepared, Reading(Outcome.AMBIGUOUS, evidence=", ".join(list(numbers.values())[:5])))
    written = {_VALUES[match.group()]: match.group() for match in _WORD.finditer(words.lower())}
    if len(written) == 1:
        ((value, evidence),) = written.items()
        if wanted.accept_words:
            return conclude(prepared, _in_range(Number(value, evidence), wanted, (flags.NUMBER_WORD,)))
        return conclude(prepared, Reading(Outcome.UNPARSEABLE, None, (flags.NUMBER_WORD,), evidence))
    return conclude(prepared, Reading(Outcome.AMBIGUOUS if written else Outcome.UNPARSEABLE))


def last_number(words: str) -> Number | None:
    """The last number that plain words state: after announcing words, or alone on a line."""
    last: tuple[int, Number] | None = None
    for match in _STATED.finditer(words):
        last = (match.end(), Number(_value(match), match.group()))
    start = 0
    alone: set[float] = set()
    for line in words.split("\n"):
        match_alone = _ALONE.fullmatch(line) if len(line) <= 120 else None
        if match_alone is not None:
            value = _value(match_alone)
            alone.add(value)
            if last is None or start >= last[0] or len(alone) == 1:
                last = (start + len(line), Number(value, line.strip()))
        start += len(line) + 1
    if len(alone) > 1 and (last is None or last[1].value in alone):
        return None
    return None if last is None else last[1]


def _entangled(words: str, number: Number, wanted: NumberRange) -> Reading | None:
    """The reading of a number that does not stand by itself where only one that does is wanted; else ``None``."""
    if not wanted.plain:
        return None
    before, found, after = words.rpartition(number.evidence)
    rest = after.split("\n", 1)[0]
    by_itself = (not before or before.endswith("\n")) and not rest
    several = len({_value(match) for match in _NUMBER.finditer(words)}) > 1
    unclear = several and not by_itself and not _ANNOUNCED.match(found)
    if unclear or _NEGATED.search(before) or _REWORKED.search(found) or _GOES_ON.match(rest):
        return Reading(Outcome.AMBIGUOUS, evidence=f"{found}{rest}".strip())
    return None


def _value(match: re.Match[str]) -> float:
    digits = float(match.group("digits").replace(",", "") + (match.group("exponent") or ""))
    return -digits if match.group("sign") in ("-", "−") else digits


def _in_range(number: Number, wanted: NumberRange, raised: tuple[str, ...]) -> Reading:
    if not wanted.low <= number.value <= wanted.high or (wanted.integer and number.value != int(number.value)):
        return Reading(Outcome.UNPARSEABLE, None, (*raised, flags.OUT_OF_SPACE), number.evidence)
    return Reading(Outcome.OK, int(number.value) if wanted.integer else number.value, raised, number.evidence)
