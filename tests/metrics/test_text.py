"""Overlap of texts: worked by hand, and the figures of rouge-score's and sacrebleu's own documentation."""

from __future__ import annotations

import sys

import pytest

from affectlab.metrics.text import corpus_bleu, rouge_l, tokens


def test_rouge_l_of_the_reference_implementations_readme() -> None:
    # "the quick brown fox jumps over the lazy dog" and "the quick brown dog jumps on the log": common subsequence
    # the quick brown jumps the = 5 of 9 and 8 words, F1 = 2 * 5 / 17.
    found = rouge_l("The quick brown fox jumps over the lazy dog", "The quick brown dog jumps on the log.")
    assert found == pytest.approx(10 / 17)
    assert round(found, 6) == 0.588235


def test_rouge_l_in_chinese_goes_by_character() -> None:
    # 我今天很高兴 (6) and 我今天非常高兴 (7): common 我今天高兴 = 5... 2 * 5 / 13.
    assert rouge_l("我今天很高兴。", "我今天非常高兴。") == pytest.approx(10 / 13)
    assert rouge_l("我今天很高兴。", "我今天很高兴。") == 1.0
    assert rouge_l("我有3个苹果", "他有3个梨") < 1  # equal digits are not all there is


def test_tokens_of_other_scripts_stay_whole() -> None:
    assert tokens("Naïve CAFÉ, isn't_it?") == ["naïve", "café", "isn", "t", "it"]


def test_rouge_l_of_nothing_is_0() -> None:
    assert rouge_l("", "") == rouge_l("a", "...") == 0.0
    assert rouge_l("one two three", "one two three") == 1.0


def test_bleu_is_sacrebleus() -> None:
    pytest.importorskip("sacrebleu")
    references = ["The dog bit the man.", "It was not unexpected.", "The man bit him first."]
    answers = ["The dog bit the man.", "It wasn't surprising.", "The man had just bitten him."]
    found = corpus_bleu(references, answers)
    assert found is not None
    # Tokens with the full stop apart, 17 on either side: of 17, 14, 11 and 8 n-grams 12, 6, 4 and 3 are right.
    assert found.value == pytest.approx((12 / 17 * 6 / 14 * 4 / 11 * 3 / 8) ** (1 / 4))
    assert "tok:13a" in found.signature
    mixed = corpus_bleu([*references, "我今天很高兴。"], [*answers, "我今天很高兴。"])
    assert mixed is not None
    assert "tok:13a" in mixed.signature  # most references decide
    same = corpus_bleu(["我今天很高兴。"], ["我今天很高兴。"])
    assert same is not None
    assert same.value == pytest.approx(1.0)
    assert "tok:zh" in same.signature


def test_bleu_without_sacrebleu_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sacrebleu.metrics.bleu", None)
    assert corpus_bleu(["a"], ["a"]) is None


def test_bleu_wants_pairs() -> None:
    pairs: list[tuple[list[str], list[str]]] = [([], []), (["a"], [])]
    for references, answers in pairs:
        with pytest.raises(ValueError, match="as many of each"):
            corpus_bleu(references, answers)
