"""An answer phrase: what may stand after "the answer is", or alone on a line.

A phrase is one answer, several ("A or B"), or an answer taken back ("not A", "not A but B").
"""

from __future__ import annotations

import re
from enum import IntEnum
from typing import Final, NamedTuple

from affectlab.reading.vocabulary import Found, Vocabulary, find_at, text_beside

_FILLER: Final = re.compile(
    r"(?:(?:that|it|is|be|to|would|the|my|final|correct|best|right|option|choice|answer|letter|emotion|feeling|label|"
    r"number|definitely|clearly|certainly|probably|most likely|likely|therefore|thus|so|simply|indeed|just|"
    r"definitively|either|both|between|closest to|closer to|of|agent)(?![A-Za-z'])[ ]?"
    r"|选项|選項|选择|選擇|应该|應該|应当|选|選|是|为|為|第|就是|了|的|は|은|는"
    r"|[ :=\"'(\[{<「『“‘【】《$#→>~)\]-]{1,12}){0,16}+",
    re.IGNORECASE,
)
_NOT: Final = re.compile(r"(?:not|neither|nor|isn't|never|不是|并非|不|非)(?![A-Za-z])[ ]?", re.IGNORECASE)
_BUT: Final = re.compile(
    r"[ ]?[,;.]?[ ]?(?:but(?: rather)?|rather|instead|it is|it's|而是|应该是|是)[ :,]?", re.IGNORECASE
)
JOIN: Final = re.compile(
    r"[\"')\]】」]{0,2}(?:[ ]?(?:,|/|&|\+|;|或者|或是|或|和|与|與|以及|还是|還是|及)[ ]?(?:or |and |and/or )?"
    r"|[ ](?:or|and/or|and|nor|vs\.?|versus)[ ])"
    r"(?:(?:maybe|possibly|even|perhaps|also|option|either|选项)[ ])?[\"'(\[【「]{0,2}",
    re.IGNORECASE,
)
_CLOSE: Final = re.compile(r"[ ]?[\"'”’)\]}>」』】》*_`]{0,4}[ ]?")
_NO_BRACKET: Final = frozenset(")]}】")
_STOP: Final = re.compile(r"[.,;:!/|(\[=~+…→—–\"]|-(?![A-Za-z])|[^\w\s?'%$°#@&<-]")
_VERB: Final = re.compile(
    r"(?:is|was|are|were|isn't|wasn't|does|doesn't|do|did|don't|didn't|would|wouldn't|could|couldn't|can|can't|cannot|"
    r"might|may|must|should|will|won't|has|have|had|seems?|looks?|appears?|feels?|felt|fits?|sounds?|describes?|"
    r"suggests?|refers?|means?|says?|implies|requires?|captures?|stands?|corresponds?|represents?|and|or|too|also|"
    r"对|對|错|錯|不|并|也|都|没|太|虽|更|很)(?![A-Za-z'])",
    re.IGNORECASE,
)
_SOFT: Final = re.compile(
    r"(?:because|since|as|for|due|given|but|although|though|while|instead|rather|with|based|which|in my opinion|here|"
    r"i think|i guess|i believe|explanation|reason|reasoning|rationale|confidence|only|overall)(?![A-Za-z])",
    re.IGNORECASE,
)
POSITIVE: Final = re.compile(
    r"[ ]?(?:option[ ]|选项|選項|项|項)?(?:"
    r"(?:is|seems|looks|appears|sounds|feels|would be|should be|must be|has to be|will be)(?: to be)?"
    r"(?: (?:the|my|clearly|definitely|probably|certainly|obviously|likely|single|most|actually|indeed|really)){0,3} "
    r"(?:correct|right|best|answer|choice|pick|final|appropriate|fitting|suitable|accurate|closest|one)(?![A-Za-z])"
    r"|(?:fits|matches|works|suits|describes)(?: [a-z]{1,12}){0,3} best"
    r"|(?:是|应该是|就是|为|最)?(?:最)?(?:对的|正确|對的|正確|合适|合適|恰当|恰當|贴切|符合|准确|合理))",
    re.IGNORECASE,
)
TAKE_BACK: Final = (
    r"(?:(?:(?:oh|hmm|ah|no|nope|but)\b[,. ]{1,4}){1,3}wait\b|(?:wait|never mind)\b(?=[ ]?[,.!…\n—–-]|\Z|[ ]no\b)"
    r"|actually[,. ]{1,3}no\b(?=[ ]?[,.!…—–-])|scratch that|on second thoughts?|不对|等等|等一下)"
)
"""Words that take an answer back wherever they stand after it."""
_TAKEN_BACK: Final = re.compile(
    rf"\W*(?:(?:(?:oh|wait|hmm|no|nope|actually|sorry|scratch that|never mind|不对|不是)\b\W*)+"
    rf"|{TAKE_BACK}[^.!?\n]*+\W*+)\Z",
    re.IGNORECASE,
)
_CJK: Final = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_ENDS: Final = re.compile(r"[\"')\]]{0,2}(?:[.,;:!\n]|\Z)")
_LONGEST_LIST: Final = 12


class Follow(IntEnum):
    """What comes after an answer, from what speaks most against it being one."""

    PROSE = 0
    QUESTION = 1
    WORD = 2
    SOFT = 3
    STOP = 4
    POSITIVE = 5
    END = 6


class Phrase(NamedTuple):
    """A phrase: distinct keys in order, its span, whether it is taken back, flags, and what follows it."""

    keys: tuple[str, ...]
    start: int
    end: int
    negated: bool
    flags: tuple[str, ...]
    follow: Follow
    bare: bool


def taken_back(text: str, end: int) -> bool:
    """Whether nothing but words that take it back, and at most one sentence, comes after an answer."""
    return _TAKEN_BACK.match(text, end) is not None


def follow_at(text: str, found: Found, at: int) -> Follow:
    """What comes after the answer that ends at a place."""
    closing = _CLOSE.match(text, at)
    end = closing.end() if closing else at
    if end >= len(text) or text[end] == "\n":
        return Follow.END
    if POSITIVE.match(text, end):
        return Follow.POSITIVE
    if text[end] in "?吗嗎":
        return Follow.QUESTION
    if _VERB.match(text, end):
        return Follow.PROSE
    if _SOFT.match(text, end):
        return Follow.SOFT
    if _CJK.match(text, end):
        return Follow.SOFT
    if _STOP.match(text, end) or (closing and not _NO_BRACKET.isdisjoint(closing.group())):
        return Follow.STOP
    if found.bare and not (text[at - 1].isupper() and text[at - 1] not in "AI"):
        return Follow.PROSE
    return Follow.WORD


def phrase_at(vocab: Vocabulary, text: str, low: str, at: int) -> Phrase | None:
    """The answer phrase that starts at a place, after words and marks that only lead up to it."""
    start, first = _lead_up(text, at, vocab, low)
    negated = False
    if first is None and (taken_back := _NOT.match(text, start)) is not None:
        negated = True
        start, first = _lead_up(text, taken_back.end(), vocab, low)
    if first is None:
        return None
    keys, end, raised, last = [first.key], first.end, list(first.flags), first
    for _ in range(_LONGEST_LIST):
        join = JOIN.match(text, end)
        beside = text_beside(vocab, low, end) if join is None and last.bare else None
        if beside is not None:
            join = JOIN.match(text, beside[1])
        if join is None:
            break
        _, more = _lead_up(text, join.end(), vocab, low)
        if more is None:
            break
        if beside is not None and follow_at(text, more, more.end) <= Follow.WORD and not JOIN.match(text, more.end):
            break  # the text goes on as an explanation: "B. joy and relief at last"
        prose = more.bare and follow_at(text, more, more.end) <= Follow.WORD
        if prose and "," in join.group() and not JOIN.match(text, more.end):
            break
        if more.key not in keys:
            keys.append(more.key)
        raised.extend(more.flags)
        end, last = more.end, more
    end, last = _repeated(vocab, text, low, end, last)
    if negated:
        but = _BUT.match(text, end)
        if but is not None and (right := phrase_at(vocab, text, low, but.end())) is not None:
            return right
    follow = follow_at(text, last, end)
    return Phrase(tuple(keys), start, end, negated, tuple(raised), follow, first.bare and len(keys) == 1)


def _repeated(vocab: Vocabulary, text: str, low: str, end: int, last: Found) -> tuple[int, Found]:
    """Where an answer ends that is said more than once ("B B"); two numbers in a row are not one number."""
    while text[end : end + 1] == " " and not text[end - 1].isdigit():
        again = find_at(vocab, text, low, end + 1)
        if again is None or again.key != last.key:
            break
        if not _ENDS.match(text, again.end) and find_at(vocab, text, low, again.end + 1) is None:
            break
        end, last = again.end, again
    return end, last


def _lead_up(text: str, at: int, vocab: Vocabulary, low: str) -> tuple[int, Found | None]:
    """Where the lead-up ends, and the answer there; a declared name that begins like a lead-up is not skipped."""
    found = find_at(vocab, text, low, at)
    filler = _FILLER.match(text, at) if found is None else None
    if filler is None or filler.end() == at:
        return at, found
    return filler.end(), find_at(vocab, text, low, filler.end())
