"""The stated answer of a reply: one notion, shared by every reader of a single answer.

Where an answer can be stated, from strongest to weakest:

1. after words that announce it ("ANSWER: B", "I choose B", "So: C", "答案是B", "选B"), or before words that confirm
   it ("B is correct", "B最合适"), or after words that take another back ("B. No wait, A"): the last counts;
2. alone on a line;
3. at the head of a line, followed by an explanation ("B. The child …", "anger, because …");
4. after words that only suggest it ("it is B", "…, but B", "probably B");
5. for names of several words only: mentioned in prose, and no other is.

In 2 to 5 all places must agree, else the reply is ambiguous. Letters elsewhere in prose are never answers.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from affectlab.reading import flags
from affectlab.reading.mentions import NEGATION, clause_before, excerpt, mentioned
from affectlab.reading.outcome import Outcome, Reading
from affectlab.reading.phrases import POSITIVE, TAKE_BACK, Follow, Phrase, phrase_at, taken_back
from affectlab.reading.vocabulary import OUTSIDE, Vocabulary, find_at, join_lines, lower, name_at

_STRONG_LINK: Final = (
    r"choosing|chooses?|chose|chosen|selecting|selects?|selected|picking|picks?|picked|going with|go with|went with|"
    r"opt for|opting for|settle on|vote for|answer|correction|actually|therefore|thus|hence|so|finally|overall|"
    r"in conclusion|respuesta|réponse|antwort|resposta|ответ"
)
_WEAK_LINK: Final = (
    r"is|be|are|was|it's|that's|he's|she's|they're|says?|think|believe|guess|but|then|probably|likely|maybe|perhaps|"
    r"definitely|certainly|clearly|option|choice|letter|feels?|felt|feeling|express(?:es|ed)?|experienc(?:es|ed|ing)|would|"
    r"wait|no|yes|sure|okay|ok|certainly|leaves|leaving|leaning|lean|towards|toward|es|est|ist|é"
)
_LINK: Final = re.compile(
    rf"(?<![A-Za-z0-9_'])(?:(?P<strong>{_STRONG_LINK})|{_WEAK_LINK})(?![A-Za-z0-9_'])"
    r"|(?P<zh>答案|最终|最終|结论|結論|[选選][择擇中定]?(?!项|項)|因此|所以|综上|故|答え?|정답|답)"
    r"|是|为|為|应该|可能|但|选项|選項|属于"
    r"|(?P<mark>[:=→]|->)",
    re.IGNORECASE,
)
_NOUN: Final = re.compile(
    r"(?<![A-Za-z])(?:answers?|choice|option|selection|response|conclusion|verdict|decision|pick|solution|letter|label|emotion|"
    r"guess|prediction|classification|category|intent|stance|rating|choose|select|result|respuesta|réponse|antwort|"
    r"resposta|ответ)(?![A-Za-z])|答|选|選|结论|結論|最终|结果|情绪|情感|정답|답",
    re.IGNORECASE,
)
_HEDGE: Final = re.compile(
    r"(?<![A-Za-z])(?:might|could|may|perhaps|maybe|possibly)(?![A-Za-z])|可能|也许", re.IGNORECASE
)
_SPREAD: Final = re.compile(r"(?<![A-Za-z0-9])([A-Za-z]|\d{1,2})[ ]?(?:\)|:(?!\d))")
_SPREAD_BY: Final = {mark: re.compile(rf"(?<![A-Za-z0-9])([A-Z]|\d{{1,2}})[ ]?{re.escape(mark)}") for mark in "(-=→"}
_OPTION_MARK: Final = re.compile(r"(?<![A-Za-z0-9])([A-Za-z])[.):](?![A-Za-z])")
_BACK: Final = re.compile(rf"(?<![A-Za-z0-9_'])(?:{TAKE_BACK})[\s,.!:…—–-]*(?:it's |that's |i mean )?", re.I)
_NO: Final = re.compile(r"(?:(?:actually|no)\b[\s,.!:…—–-]*){1,3}", re.IGNORECASE)
_LIST_NUMBER: Final = re.compile(r"(?:\(?\d{1,2}[.):]|[①-⑳]) ?(?=[^\s\d])")


class Statement(NamedTuple):
    """A phrase in a place where answers are stated."""

    phrase: Phrase
    strong: bool


class Stated(NamedTuple):
    """Everything a reply states, by the kind of place, in the order of the text; what is put right is strong too."""

    corrections: list[Phrase]
    strong: list[Phrase]
    alone: list[Phrase]
    leading: list[Phrase]
    weak: list[Phrase]


def read_statement(vocab: Vocabulary, text: str, *, cut: bool = False) -> Reading:
    """Read the one answer that a plain text states.

    Args:
        vocab: What can be answered.
        text: Words of the reply (``markup.plain``).
        cut: The text was cut at the token limit: only complete answers in the first three kinds of place count.

    Returns:
        ``ok`` with the key, ``ambiguous``, or ``unparseable``. Refusals and cut-off replies are the caller's to tell.
    """
    text = join_lines(vocab, text)
    low = lower(text)
    if len(low) <= 80 and (sole := _sole_phrase(vocab, text, low)) is not None:
        listed = len(sole.keys) > 2 and _echoes_options(vocab, text)
        return _resolve(sole, text, (flags.LIST_ECHO,) if listed else ())
    stated = _collect(vocab, text, low)
    if stated.strong:
        return _last(stated, text)
    if _echoes_options(vocab, text):
        return Reading(Outcome.AMBIGUOUS, None, (flags.LIST_ECHO,), excerpt(text, 0, len(text)))
    if cut:
        stated.leading[:] = [phrase for phrase in stated.leading if text.find("\n", phrase.end) >= 0]
        if not stated.alone and not stated.leading:
            return Reading(Outcome.UNPARSEABLE)
    for tier in (stated.alone, stated.leading, stated.weak):
        if tier:
            return _agreed(tier, text)
    return mentioned(vocab, text, low)


def _echoes_options(vocab: Vocabulary, text: str) -> bool:
    """Whether one line goes through all the options by their letters ("A. joy B. pride C. relief")."""
    keys = {key for letter, key in vocab.letters.items() if letter.isalpha()}
    if len(keys) < 3:
        return False
    for line in text.split("\n"):
        marked = {vocab.letters.get(match.group(1).lower()) for match in _OPTION_MARK.finditer(line[:2000])}
        if keys <= marked:
            return True
    return False


def _sole_phrase(vocab: Vocabulary, text: str, low: str) -> Phrase | None:
    """The phrase that is the whole reply, by far the most frequent case."""
    at = _first_word(vocab, text, low, 0)
    if at is None:
        return None
    phrase = phrase_at(vocab, text, low, at)
    if phrase is None or phrase.negated or any(c.isalnum() for c in text[phrase.end :]):
        return None
    return None if _asks(phrase, at, text[phrase.end :]) else phrase


def _asks(phrase: Phrase, at: int, rest: str) -> bool:
    """Whether a line is a question about an answer ("Is it B?") rather than a doubtful answer ("B?")."""
    return "?" in rest and phrase.start > at


def _first_word(vocab: Vocabulary, text: str, low: str, at: int) -> int | None:
    """Where the words of a line start, marks and emoji skipped."""
    end = text.find("\n", at)
    end = len(text) if end < 0 else end
    while at < end and not text[at].isalnum():
        at += 1
    return at if at < end else None


def _collect(vocab: Vocabulary, text: str, low: str) -> Stated:
    stated = Stated([], [], [], [], [])
    _lines(vocab, text, low, stated)
    taken: set[int] = set()
    for link in _LINK.finditer(text):
        at = link.end()
        if link.group("mark"):
            while at < len(text) and text[at] in " \n":
                at += 1
        elif text[at : at + 1] == ",":
            at += 1
        elif link.group().lower() == "no":
            continue  # "no joy" is not "no, joy"
        phrase = phrase_at(vocab, text, low, at)
        if phrase is None or phrase.negated or phrase.follow <= Follow.QUESTION:
            continue
        clause = clause_before(text, link.start())
        if NEGATION.search(clause):
            continue
        strong = bool(link.group("strong") or link.group("zh") or _NOUN.search(clause))
        strong = strong and not _HEDGE.search(clause)
        if phrase.start in taken and not strong:
            continue
        if strong:
            stated.strong.append(phrase)
        elif phrase.follow > Follow.WORD or len(phrase.keys) > 1:
            if link.group("mark") and phrase.bare and not clause.strip():
                continue
            stated.weak.append(phrase)
        taken.add(phrase.start)
    if (closing := _closing_sentence(vocab, text, low)) is not None:
        stated.weak.append(closing)
    places = (phrase.start for phrase in (*stated.strong, *stated.alone, *stated.leading, *stated.weak))
    stated.corrections.extend(_corrections(vocab, text, low, min(places, default=len(text))))
    stated.strong.extend(stated.corrections)
    stated.strong.extend(_confirmed(vocab, text, low))
    stated.strong.sort(key=lambda phrase: phrase.start)
    return stated


def _corrections(vocab: Vocabulary, text: str, low: str, first: int) -> list[Phrase]:
    """Answers after words that take back an earlier one ("B. No wait, A"); ``first`` is where the earliest starts."""
    found: list[Phrase] = []
    for back in _BACK.finditer(text, first):
        phrase = phrase_at(vocab, text, low, back.end())
        if phrase is None and (no := _NO.match(text, back.end())) is not None:
            phrase = phrase_at(vocab, text, low, no.end())
        if phrase is None or phrase.negated or phrase.keys == (OUTSIDE,):
            continue  # "Wait. I …" names nobody's option I
        if phrase.follow >= Follow.SOFT:
            found.append(phrase)
    return found


def _closing_sentence(vocab: Vocabulary, text: str, low: str) -> Phrase | None:
    """An answer that is the whole last sentence of a longer line ("Neither A nor C. B.")."""
    tail = len(text) - 200 if len(text) > 200 else 0
    end = len(text.rstrip(" .!;\n\"')"))
    start = max(text.rfind(mark, tail, end) for mark in (". ", "! ", "? ", "; "))
    if start < 0:
        return None
    phrase = phrase_at(vocab, text, low, start + 2)
    if phrase is None or phrase.negated or phrase.start != start + 2 or any(c.isalnum() for c in text[phrase.end :]):
        return None
    return phrase


def _lines(vocab: Vocabulary, text: str, low: str, stated: Stated) -> None:
    """Answers alone on a line, and at the head of a line."""
    start = 0
    while start <= len(text):
        stop = text.find("\n", start)
        stop = len(text) if stop < 0 else stop
        at = _first_word(vocab, text, low, start)
        phrase = phrase_at(vocab, text, low, at) if at is not None else None
        if phrase is None and at is not None and (number := _LIST_NUMBER.match(text, start)):
            phrase = phrase_at(vocab, text, low, number.end())
        if phrase is not None and not phrase.negated:
            rest = text[phrase.end : stop]
            if not any(c.isalnum() for c in rest[:40]) and not any(c.isalnum() for c in rest[40:]):
                if at is not None and _asks(phrase, at, rest):
                    start = stop + 1
                    continue
                stated.alone.append(phrase)
            elif _leads(phrase, text):
                stated.leading.append(phrase)
                stated.leading.extend(_rivals(vocab, phrase, text, low, stop))
        start = stop + 1


def _leads(phrase: Phrase, text: str) -> bool:
    """Whether a phrase at the head of a line is an answer that an explanation follows."""
    if phrase.follow < Follow.SOFT or phrase.negated:
        return False
    letter = text[phrase.end - 1]
    return not (phrase.bare and (letter.islower() or (letter == "I" and text[phrase.end : phrase.end + 1] == ",")))


def _rivals(vocab: Vocabulary, phrase: Phrase, text: str, low: str, stop: int) -> list[Phrase]:
    """Another answer set off like the first on its line: options gone through, not an answer explained."""
    mark = text[phrase.end : phrase.end + 2].strip()[:1]
    spread = _SPREAD_BY.get(mark, _SPREAD) if phrase.bare else _SPREAD
    for other in spread.finditer(text, phrase.end, min(stop, phrase.end + 2000)):
        found = find_at(vocab, text, low, other.start(1))
        if found is not None and found.key not in phrase.keys and (phrase.bare or not found.bare):
            return [Phrase((found.key,), other.start(1), found.end, False, found.flags, Follow.STOP, found.bare)]
    return []


def _confirmed(vocab: Vocabulary, text: str, low: str) -> list[Phrase]:
    """Answers before words that confirm them ("B is correct")."""
    found: list[Phrase] = []
    for tail in POSITIVE.finditer(text):
        end = tail.start()
        while end > 0 and text[end - 1] in " \"')]}":
            end -= 1
        start = _start_of_answer(vocab, low, end)
        if start is None or NEGATION.search(clause_before(text, start)):
            continue
        answer = find_at(vocab, text, low, start)
        if answer is not None and not (answer.bare and text[start].islower()):
            found.append(Phrase((answer.key,), start, answer.end, False, answer.flags, Follow.POSITIVE, answer.bare))
    return found


def _start_of_answer(vocab: Vocabulary, low: str, end: int) -> int | None:
    """Where the answer that ends at a place starts: a letter with no letter before it, or a name."""
    if end and low[end - 1].isascii() and low[end - 1].isalnum():
        start = end - 1
        if start == 0 or not (low[start - 1].isascii() and (low[start - 1].isalnum() or low[start - 1] in "_'")):
            return start
    for name in vocab.names:
        start = end - len(name)
        if start >= 0 and low.startswith(name, start) and name_at(vocab, low, start) == name:
            return start
    return None


def _last(stated: Stated, text: str) -> Reading:
    """The last strong statement, unless the reply ends in one more answer alone on its line."""
    last = stated.strong[-1]
    later = [phrase for phrase in stated.alone if phrase.start > last.end]
    if later and len({phrase.keys for phrase in later}) == 1 and not any(c.isalnum() for c in text[later[-1].end :]):
        last = later[-1]
    if taken_back(text, last.end):
        return _withdrawn(last, text)
    before = stated.strong if last not in stated.corrections else [*stated.strong, *stated.alone, *stated.leading]
    earlier = {phrase.keys for phrase in before if len(phrase.keys) == 1}
    corrected = len(last.keys) == 1 and bool(earlier - {last.keys})
    return _resolve(last, text, (flags.SELF_CORRECTED,) if corrected else ())


def _agreed(phrases: list[Phrase], text: str) -> Reading:
    if len({phrase.keys for phrase in phrases}) > 1:
        return Reading(Outcome.AMBIGUOUS, evidence=excerpt(text, phrases[0].start, phrases[-1].end))
    if taken_back(text, phrases[-1].end):
        return _withdrawn(phrases[-1], text)
    return _resolve(phrases[0], text, ())


def _withdrawn(phrase: Phrase, text: str) -> Reading:
    return Reading(Outcome.AMBIGUOUS, evidence=excerpt(text, phrase.start, len(text)))


def _resolve(phrase: Phrase, text: str, raised: tuple[str, ...]) -> Reading:
    evidence = excerpt(text, phrase.start, phrase.end)
    marks = tuple(dict.fromkeys((*raised, *phrase.flags)))
    if flags.LETTER_TEXT_CONFLICT in marks:
        return Reading(Outcome.AMBIGUOUS, None, marks, evidence)
    if len(phrase.keys) > 1:
        return Reading(Outcome.AMBIGUOUS, None, marks, evidence)
    if phrase.keys[0] == OUTSIDE:
        return Reading(Outcome.UNPARSEABLE, None, tuple(dict.fromkeys((*marks, flags.OUT_OF_SPACE))), evidence)
    return Reading(Outcome.OK, phrase.keys[0], marks, evidence)
