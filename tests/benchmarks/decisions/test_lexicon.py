from __future__ import annotations

from pathlib import Path

import pytest

from affectlab.benchmarks.decisions import lexicon
from affectlab.errors import UserError


def named(path: Path, *words: str) -> lexicon.Lexicon:
    path.write_text(f"anger = [{', '.join(map(repr, words))}]\n", encoding="utf-8")
    return lexicon.load(str(path))


@pytest.mark.parametrize(
    ("word", "text", "times"),
    [
        ("fed up", "I am FED  up, not well-fed up there. Fed up!", 2),
        ("fed up", "Fed, up.", 0),
        ("क्रोध", "मुझे क्रोध है", 1),
        ("क्रो", "मुझे क्रोध है", 0),
        ("felíz", "feli\u0301z", 1),
        ("feli\u0301z", "felíz", 1),
        ("angry", "ＡＮＧＲＹ and Angry", 2),
        ("ＡＮＧＲＹ", "angry", 1),
        ("can’t stand", "I can't stand it", 1),
        ("self-loathing", "self-loathing, no loathing", 1),
        ("生气", "我很生气。生气！", 2),
    ],
)
def test_a_word_is_found_in_whatever_form_it_is_written(word: str, text: str, times: int, tmp_path: Path) -> None:
    assert named(tmp_path / "own.toml", word).count(text) == ({"anger": times} if times else {})


def test_words_of_a_text_are_counted_with_their_marks_and_characters_one_by_one() -> None:
    assert lexicon.count_words("मुझे क्रोध है") == 3
    assert lexicon.count_words("feli\u0301z año, it's self-made: 2 of 3") == 5
    assert lexicon.count_words("我很生气 OK") == 5


@pytest.mark.parametrize("word", ["1st", "f***", "fed 2 up"])
def test_an_entry_that_no_text_can_hold_is_refused(word: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="never be found"):
        named(tmp_path / "own.toml", "furious", word)


def test_words_are_counted_whole() -> None:
    assert lexicon.load().count("A crusade of sadness; SAD, not saddle.") == {"sadness": 2}


@pytest.mark.parametrize("text", ["", "anger = 3", "anger = []", "anger = [", 'anger = [""]'])
def test_a_broken_lexicon_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match=r"own\.toml"):
        lexicon.load(str(path))


def test_no_word_of_the_own_lexicon_is_listed_twice() -> None:
    words = [word for listed in lexicon.load().words.values() for word in listed]
    assert len(set(words)) == len(words)
