"""Overlap of a text with a reference.

ROUGE-L is ours, as the usual library splits words at letters outside ASCII and gives 0 for equal Chinese texts; on
English it is that library's figure. BLEU is sacrebleu's, with its tokeniser for the language.

References: Lin (2004), ROUGE; Post (2018), A Call for Clarity in Reporting BLEU Scores.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

_HAN = r"\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u3040-\u30ff"
_TOKEN = re.compile(rf"[{_HAN}]|(?:(?![{_HAN}])[^\W_])+")


def tokens(text: str) -> list[str]:
    """Words in lower case, of any script; Chinese and Japanese by character; no punctuation."""
    return _TOKEN.findall(unicodedata.normalize("NFKC", text).casefold())


def rouge_l(reference: str, answer: str) -> float:
    """F1 of the longest common subsequence of tokens, in [0, 1]; 0 when either has no token.

    No stemming.
    """
    right, said = tokens(reference), tokens(answer)
    if not right or not said:
        return 0.0
    return 2 * _longest_common(right, said) / (len(right) + len(said))


def _longest_common(first: Sequence[str], second: Sequence[str]) -> int:
    row = [0] * (len(second) + 1)
    for one in first:
        before = 0
        for column, other in enumerate(second, 1):
            above = row[column]
            row[column] = before + 1 if one == other else max(above, row[column - 1])
            before = above
    return row[-1]


class Bleu(NamedTuple):
    """Corpus BLEU in [0, 1] and sacrebleu's signature, which says how it was computed."""

    value: float
    signature: str


def corpus_bleu(references: Sequence[str], answers: Sequence[str]) -> Bleu | None:
    """BLEU over all answers at once; ``None`` where sacrebleu (``affectlab[text]``) is not installed.

    The tokeniser is sacrebleu's for Chinese when most references hold Chinese characters, else its usual one.

    Raises:
        ValueError: When the lengths differ or there are no texts.
    """
    if len(references) != len(answers) or not references:
        raise ValueError(f"{len(references)} references and {len(answers)} answers: expected as many of each, and some")
    try:
        from sacrebleu.metrics.bleu import BLEU
    except ImportError:
        return None
    chinese = sum(bool(re.search(f"[{_HAN}]", text)) for text in references)
    scorer = BLEU(tokenize="zh" if 2 * chinese > len(references) else "13a")
    value = scorer.corpus_score(list(answers), [list(references)]).score
    return Bleu(float(value) / 100, str(scorer.get_signature()))
