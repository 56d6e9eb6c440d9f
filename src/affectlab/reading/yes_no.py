"""Yes or no, in words or in log-probabilities."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Final

from affectlab.reading import flags
from affectlab.reading.conclude import conclude, unread
from affectlab.reading.markup import plain
from affectlab.reading.outcome import Outcome, Reading
from affectlab.reading.prepare import prepare
from affectlab.reading.refusal import is_refusal
from affectlab.reading.statements import read_statement
from affectlab.reading.vocabulary import name_key, vocabulary

YES: Final = (
    "yes", "y", "yeah", "yep", "yup", "true", "1", "present", "affirmative", "absolutely", "definitely", "of course",
    "certainly", "it is", "it does", "是", "是的", "有", "对", "存在", "没错", "會", "会", "正确", "sí", "oui", "ja",
)  # fmt: skip
NO: Final = (
    "no", "n", "nope", "nah", "false", "0", "absent", "not present", "negative", "not really", "not at all",
    "definitely not", "absolutely not", "of course not", "certainly not", "not", "i don't think so",
    "it is not", "it isn't", "it does not",
    "否", "不", "不是", "没有", "無", "无", "不存在", "不对", "没", "不会", "不是的", "non", "nein",
)  # fmt: skip
_VOCAB: Final = vocabulary([("yes", YES), ("no", NO)], lettered=False)
_OPTION: Final = re.compile(r"\A\W*(?:option )?\(?[A-Z1-9][.):]\s*(?=\w)")
_CLAUSE: Final = re.compile(
    r"(?:\A|[.;,!?\n:—–-])\W{0,4}(?:well |oh |so |and |but |then |answer |the answer is )?"
    r"(?P<word>yes|yeah|yep|no|nope|not really|not at all|definitely not|absolutely not|是的|不是|没有|是|否|不|有)"
    r"(?:(?P<hard>(?=[\"'”’)]{0,4}\s{0,4}(?:[.,;:!\n—–-]|\Z)))|(?![A-Za-z\u3400-\u9fff]))",
    re.IGNORECASE,
)
_CHINESE: Final = re.compile(r"\A\W*(?:(?P<no>没有|沒有|不存在)|有(?!没|沒|可能)|存在)[\u3400-\u9fff]+\W*\Z")
_NO_ANSWER: Final = re.compile(
    r"\A\W*(?:n\s?/\s?a|not applicable|no (?:doubt|answer|idea|comment|information)|不适用)\W*\Z", re.I
)
_POSITIVE: Final = frozenset({"yes", "yeah", "yep", "是的", "是", "有"})


def read_yes_no(text: str | None, *, finish: str = "stop") -> Reading:
    """Read whether a reply says yes.

    Yes and no both stated, each at the head of a clause, is ``ambiguous``, unless a final answer is announced.

    Args:
        text: The reply, or ``None``.
        finish: Why generation ended.

    Returns:
        Reading whose value is ``True`` or ``False``.
    """
    prepared = prepare(text, finish)
    empty = unread(prepared)
    if empty is not None:
        return empty
    words = _OPTION.sub("", plain(prepared.text))
    if _NO_ANSWER.match(words):
        return conclude(prepared, Reading(Outcome.UNPARSEABLE, evidence=words))
    stated = read_statement(_VOCAB, words, cut=prepared.at_limit)
    heads = {
        match.group("word").lower() in _POSITIVE
        for match in _CLAUSE.finditer(words)
        if match.group("hard") is not None or match.start() == 0
    }
    if stated.outcome is Outcome.UNPARSEABLE and (sentence := _CHINESE.match(words)) is not None:
        stated = Reading(Outcome.OK, "no" if sentence.group("no") else "yes", evidence=words[:40])
    if is_refusal(prepared.text) and "\n" not in words:
        stated = Reading(Outcome.UNPARSEABLE)
    elif len(heads) == 2 and not (stated.ok and (_announced(words) or flags.SELF_CORRECTED in stated.flags)):
        stated = Reading(Outcome.AMBIGUOUS, evidence=words[:120])
    elif stated.outcome is Outcome.UNPARSEABLE and len(heads) == 1 and not (prepared.at_limit and not words):
        stated = Reading(Outcome.OK, "yes" if heads.pop() else "no", stated.flags, words[:40])
    if stated.ok:
        stated = Reading(Outcome.OK, stated.value == "yes", stated.flags, stated.evidence)
    return conclude(prepared, stated)


def _announced(words: str) -> bool:
    return re.search(r"answer|final|conclusion|答案|结论", words, re.IGNORECASE) is not None


def yes_no_from_logprobs(tokens: Mapping[str, float]) -> Reading:
    """Decide yes or no from log-probabilities (or logits) of answer tokens.

    Forms of one word ("Yes", " yes", "YES") are summed in probability. A tie is no ("not present"), flagged ``tie``, so
    that the result never depends on chance or on the order of the tokens. When only one side is there, it wins, flagged
    ``one_sided``.

    Args:
        tokens: Token -> natural log-probability; tokens that say neither are left out of account.

    Returns:
        Reading whose value is ``True`` or ``False``; ``unparseable`` without any yes or no token, or on NaN.
    """
    sides: dict[bool, list[float]] = {True: [], False: []}
    for token, logprob in tokens.items():
        key = _VOCAB.names.get(name_key(token.replace("\u2581", " ").replace("\u0120", " ")))
        if key is not None:
            sides[key == "yes"].append(logprob)
    if any(math.isnan(value) for values in sides.values() for value in values):
        return Reading(Outcome.UNPARSEABLE, evidence="NaN")
    yes, no = _log_sum(sides[True]), _log_sum(sides[False])
    evidence = f"yes {yes:.6g}, no {no:.6g}"
    if yes == no:
        if not sides[True] and not sides[False]:
            return Reading(Outcome.UNPARSEABLE)
        return Reading(Outcome.OK, False, (flags.TIE,), evidence)
    one_sided = not sides[True] or not sides[False]
    return Reading(Outcome.OK, yes > no, (flags.ONE_SIDED,) if one_sided else (), evidence)


def _log_sum(values: list[float]) -> float:
    top = max(values, default=-math.inf)
    if not math.isfinite(top):
        return top
    return top + math.log(math.fsum(math.exp(value - top) for value in values))
