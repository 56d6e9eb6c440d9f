from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affectlab.benchmarks.chiaro.lexicon import banned_terms, find_terms, leakage_terms, word_lists
from affectlab.labels import load as load_labels


def test_the_banned_list_has_the_groups_of_appendix_d() -> None:
    banned = word_lists()["banned"]
    # Appendix D states n = 71: forty-nine affect terms and twenty-two descriptors and phrases.
    assert (len(banned["affect"]), len(banned["expression"])) == (49, 22)
    assert len(set(banned_terms())) == 71


def test_every_emotion_has_several_leakage_terms_and_none_is_banned_already() -> None:
    for emotion in load_labels("chiaro10").ids:
        terms = leakage_terms(emotion)
        assert len(terms) >= 8, emotion
        assert len(set(terms)) == len(terms), emotion
        assert not set(terms) & set(banned_terms()), emotion


def test_the_two_extensions_the_paper_names_are_there() -> None:
    assert "cheers" in leakage_terms("joy")
    assert "sobs" in leakage_terms("sadness")


def test_an_unknown_emotion_has_no_list() -> None:
    with pytest.raises(KeyError):
        leakage_terms("boredom")


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("She is SAD.", "sad"),
        ("sad", "sad"),
        ("(sad)", "sad"),
        ("_sad_ and **mad**", "sad"),
        ("the mad-cap race", "mad"),
        ("a fear\u2019s echo", "fear"),
        ("Her tight  jaw shows.", "tight jaw"),
        ("He throws up his\nhands.", "throws up his hands"),
        ("He throws\u00a0up\t his \r\n hands.", "throws up his hands"),
        ("\uff33\uff21\uff24 eyes", "sad"),
        ("s\u00adad", "sad"),
        ("s\u200bad", "sad"),
        ("he can\u2019t wait", "can't wait"),
        ("he can't wait", "can\u2019t wait"),
        ("she hides her face", "hides * face"),
        ("she hides Ana\u2019s face", "hides * face"),
    ],
)
def test_found(text: str, term: str) -> None:
    assert find_terms(text, [term]) == (term,)


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("The crusade passes through Madrid.", "sad"),
        ("The crusade passes through Madrid.", "mad"),
        ("Sadie waits", "sad"),
        ("sad\u00e9", "sad"),
        ("sad\u0306", "sad"),
        ("\u00e9sad", "sad"),
        ("sad7", "sad"),
        ("tightjaw", "tight jaw"),
        ("tight, jaw", "tight jaw"),
        ("hides face", "hides * face"),
        ("hides her pale face", "hides * face"),
        ("", "sad"),
    ],
)
def test_not_found(text: str, term: str) -> None:
    assert find_terms(text, [term]) == ()


def test_terms_come_back_in_the_order_of_the_list_and_once() -> None:
    assert find_terms("mad, sad and mad again", ["sad", "joy", "mad"]) == ("sad", "mad")


@given(st.sampled_from(banned_terms()), st.sampled_from([" ", "  ", "\n", "\t", "\u00a0"]), st.booleans())
def test_every_banned_term_is_found_in_any_case_and_spacing(term: str, gap: str, upper: bool) -> None:
    written = gap.join(term.split())
    text = f"Then{gap}{written.upper() if upper else written}, and so on."
    assert term in find_terms(text, banned_terms())
    assert term not in find_terms(f"x{written}x", banned_terms())
