"""What can be answered, and finding one such answer at one place of a text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

from affectlab.reading import flags
from affectlab.reading.prepare import fold

OUTSIDE: Final = "\x00outside"
"""Stands for an answer that was stated and is not among the declared ones."""

_LATIN: Final = "A-Za-z0-9_\u00c0-\u024f"
_WORD: Final = re.compile(f"[{_LATIN}]")
_CJK: Final = re.compile("(?![或和与還还])[\u3400-\u9fff]")
_TOKEN: Final = re.compile(rf"(?:[A-Za-z]|\d{{1,3}})(?![{_LATIN}])(?!'[A-Za-z])(?!\.\d)(?!%)")
_PAIR: Final = re.compile(r"[ ]?[)\]}.:,>=/–—-]{0,3}[ ]?[\"'(\[{「『“‘<]{0,2}[ ]?")
_BRACKETED: Final = re.compile(
    r"[\"'」』”’]?[ ]?(?:[-–—:][ ]?)?[(\[{<][ ]?(?:option |选项)?([A-Za-z]|\d{1,3})[ ]?[)\]}>]"
)
_HAN: Final = re.compile("[\u3400-\u9fff]{1,40}")
SUFFIX: Final = (
    "的|之|情绪|情緒|情感|感受|感觉|感覺|心情|心理|心态|态度|態度|立场|立場|意图|意圖|极性|極性|倾向|傾向|"
    "感|心|情|性|型|类|類|了|吧|呢"
)
"""What may stand behind a Chinese label and change nothing, as a pattern."""
_AND: Final = re.compile("和|与|與|或者|或|及|以及|还是|還是|且")
_TURNS: Final = re.compile("但|却|卻|而|因|由于|由於")
"""Where a Chinese clause about a label ends and another begins."""
_UNDOES: Final = re.compile(
    "不(?![安满滿已甘])|[没沒缺灭滅]|未(?![来來])|[无無](?![助奈力语語聊措])|非(?!常)|失(?![望落措控])|"
    "破裂|破碎|崩塌|落空|渺茫|危机|危機|下降|低(?![落沉])|拒绝|拒絕|障碍|障礙|自大|自满|自滿|^怪"
)
"""Characters behind a Chinese label that make it something else; "无助", "失落" are feelings themselves."""
_CLAUSE_END: Final = re.compile(r"[\"'」』”’)\]}> ]{0,3}(?:$|[.!,;:?\n()–—-])", re.MULTILINE)
_JOINTS: Final = re.compile(r"[ _\-\u2010-\u2013]")
_EDGES: Final = " \t\n.,;:!?\"'“”‘’()[]{}<>*_`"


class Found(NamedTuple):
    """One answer at one place: its key (or ``OUTSIDE``), where it ends, what is odd about it, and its shape."""

    key: str
    end: int
    flags: tuple[str, ...] = ()
    bare: bool = False
    """A letter or number alone, which may be an English article, a pronoun or a count."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The answers a reader may find.

    Attributes:
        letters: Single letters and numbers that stand for an answer: folded -> key.
        names: Words that stand for an answer: folded name -> key (or ``OUTSIDE``).
        starts: First character of a name -> the names that start with it, longest first.
        flags: Folded name -> flags that finding it raises.
        alphabetic: Some option is keyed by a letter, so that a stray letter is an answer outside the options.
        numeric: The same for numbers.
        mentions: A name of several words may be taken from prose when it is the only one mentioned.
        whole: A Chinese name is not read where the characters behind it undo it ("希望破灭" is not "希望").
        broken: Matches names of several words, over a line's end too; ``None`` where there are none.
    """

    letters: Mapping[str, str]
    names: Mapping[str, str]
    starts: Mapping[str, tuple[str, ...]]
    flags: Mapping[str, tuple[str, ...]]
    alphabetic: bool = False
    numeric: bool = False
    mentions: bool = False
    whole: bool = False
    broken: re.Pattern[str] | None = None


def name_key(text: str) -> str:
    """A name as it is compared: folded, lower case, single spaces, no punctuation at its ends."""
    return lower(" ".join(fold(text).split())).strip(_EDGES)


def lower(text: str) -> str:
    """Lower case, character for character, so that positions stay what they are."""
    low = text.lower()
    if len(low) == len(text):
        return low
    return "".join(c if len(c.lower()) != 1 else c.lower() for c in text)


def vocabulary(
    names: Iterable[tuple[str, Sequence[str]]],
    *,
    lettered: bool,
    outside: Iterable[tuple[str, tuple[str, ...]]] = (),
    mentions: bool = False,
    whole: bool = False,
) -> Vocabulary:
    """Build a vocabulary.

    Args:
        names: Key and names of each answer.
        lettered: Keys themselves are answers (option letters or numbers).
        outside: Names that are known not to be answers, each with the flags to raise.
        mentions, whole: See :class:`Vocabulary`.
    """
    return _vocabulary(tuple((key, tuple(texts)) for key, texts in names), lettered, tuple(outside), mentions, whole)


def _joined(name: str) -> tuple[str, ...]:
    """A name, and if it is two to four words, with each of the marks that people join words by."""
    words = _JOINTS.split(name)
    if not 2 <= len(words) <= 4 or not all(word.isalpha() for word in words):
        return (name,)
    return tuple(dict.fromkeys((name, *(joint.join(words) for joint in " _-\u2013"))))


@lru_cache(maxsize=512)
def _vocabulary(
    names: tuple[tuple[str, tuple[str, ...]], ...],
    lettered: bool,
    outside: tuple[tuple[str, tuple[str, ...]], ...],
    mentions: bool,
    whole: bool,
) -> Vocabulary:
    letters: dict[str, str] = {}
    words: dict[str, str] = {}
    marks: dict[str, tuple[str, ...]] = {}
    for key, _ in names:
        folded = name_key(key)
        if lettered and _TOKEN.fullmatch(folded):
            letters[_token_key(folded)] = key
        elif lettered and folded:
            words[folded] = key
    claims: dict[str, set[str]] = {}
    for key, texts in names:
        for text in texts:
            if (folded := name_key(text)) and _token_key(folded) not in letters:
                for form in _joined(folded):
                    claims.setdefault(form, set()).add(key)
    # A name that two answers share tells nothing.
    words.update({name: keys.pop() for name, keys in claims.items() if len(keys) == 1})
    for text, raised in outside:
        if (folded := name_key(text)) and folded not in words and folded not in letters:
            words[folded] = OUTSIDE
            marks[folded] = raised
    if letters:
        words.setdefault("n/a", OUTSIDE)
    starts: dict[str, list[str]] = {}
    for word in sorted(words, key=len, reverse=True):
        starts.setdefault(word[0], []).append(word)
    return Vocabulary(
        letters=letters,
        names=words,
        starts={first: tuple(group) for first, group in starts.items()},
        flags=marks,
        alphabetic=any(token.isalpha() for token in letters),
        numeric=any(token.isdigit() for token in letters),
        mentions=mentions,
        whole=whole,
        broken=_over_lines(words),
    )


def _token_key(token: str) -> str:
    return token.lower().lstrip("0") or "0"


def name_at(vocab: Vocabulary, low: str, at: int) -> str | None:
    """The longest name that starts at a place and ends with a whole word."""
    if at >= len(low):
        return None
    for name in vocab.starts.get(low[at], ()):
        if low.startswith(name, at):
            end = at + len(name)
            if end == len(low) or not (_WORD.match(low, end) and _WORD.match(low, end - 1)):
                # One Chinese character is a word alone, and part of another word before a further one.
                if len(name) == 1 and _CJK.match(name) and _CJK.match(low, end):
                    continue
                if vocab.whole and _undone(vocab, low, name, end):
                    continue
                return name
    return None


def _undone(vocab: Vocabulary, low: str, name: str, end: int) -> bool:
    """Whether the Chinese characters behind a Chinese name, up to the clause's end, make it something else.

    They do when they deny it or tell its loss ("希望破灭"), name another answer or what sets one apart from this
    ("中性偏积极", "消极讽刺"), or join to it what is no answer ("骄傲与偏见"). An answer that follows at once is left
    to be found as a second one. Other characters only elaborate ("讽刺挖苦").
    """
    run = _HAN.match(low, end)
    if run is None or not _HAN.match(low, end - 1):
        return False
    joined = _AND.match(low, end)
    after = joined.end() if joined is not None else end
    if any(low.startswith(other, after) for other in vocab.starts.get(low[after : after + 1], ())):
        return False
    rest = _TURNS.split(run.group(), maxsplit=1)[0]
    if joined is not None or _UNDOES.search(rest):
        return True
    for other, key in vocab.names.items():
        if len(other) > 1 and key != vocab.names[name]:
            apart = other.removesuffix(name).rstrip("性式")
            if other in rest or (other.endswith(name) and apart and apart in rest):
                return True
    return False


def find_at(vocab: Vocabulary, text: str, low: str, at: int) -> Found | None:
    """The answer that starts at a place: a name, a letter, or both side by side."""
    name = name_at(vocab, low, at)
    if name is not None:
        return _named(vocab, low, name, at + len(name))
    token = _TOKEN.match(text, at)
    if token is None or (token.group().isdigit() and text[at - 1 : at] in ("-", "−")):
        return None
    letter, end = _token_key(token.group()), token.end()
    key = vocab.letters.get(letter)
    if key is None and not (vocab.alphabetic if letter.isalpha() else vocab.numeric):
        return None
    raised: tuple[str, ...] = (flags.OUT_OF_SPACE,) if key is None else ()
    beside = text_beside(vocab, low, end)
    if beside is not None and _CLAUSE_END.match(low, beside[1]):
        name, end = beside
        if vocab.names[name] != key:
            return Found(key or OUTSIDE, end, (flags.LETTER_TEXT_CONFLICT, *vocab.flags.get(name, ())))
        return Found(key, end)
    if letter.isalpha() and text[end : end + 1] == "-" and text[end + 1 : end + 2].isalpha():
        return None
    if key is None and letter.isalpha() and not token.group().isupper():
        return None
    return Found(key or OUTSIDE, end, raised, bare=True)


def text_beside(vocab: Vocabulary, low: str, end: int) -> tuple[str, int] | None:
    """The option's text that stands beside the letter ending at ``end`` (``"B) joy"``), and where it ends."""
    pair = _PAIR.match(low, end)
    name = name_at(vocab, low, pair.end()) if pair is not None and pair.end() > end else None
    return None if pair is None or name is None else (name, pair.end() + len(name))


def join_lines(vocab: Vocabulary, text: str) -> str:
    """The text with every declared name that is broken over two lines on one line."""
    if vocab.broken is None or "\n" not in text:
        return text
    return vocab.broken.sub(lambda name: " ".join(name.group().split()), text)


def _over_lines(names: Iterable[str]) -> re.Pattern[str] | None:
    several = sorted((name for name in names if " " in name), key=len, reverse=True)
    if not several:
        return None
    spread = "|".join(r"(?: |\n\n?)".join(map(re.escape, name.split(" "))) for name in several)
    return re.compile(rf"(?<![{_LATIN}])(?:{spread})(?![{_LATIN}])", re.IGNORECASE)


def _named(vocab: Vocabulary, low: str, name: str, end: int) -> Found:
    key = vocab.names[name]
    raised = vocab.flags.get(name, ())
    if vocab.letters and (beside := _BRACKETED.match(low, end)):
        end = beside.end()
        letter_key = vocab.letters.get(beside.group(1))
        if letter_key != key:
            raised = (flags.LETTER_TEXT_CONFLICT, *raised)
    return Found(key, end, raised)
