from __future__ import annotations

import json
import re
from collections import Counter
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from affectlab.errors import UserError
from affectlab.items import DataError
from affectlab.labels import load
from affectlab.steering.conditions import parse
from affectlab.steering.selfreport import OPTIONS, self_reports
from affectlab.steering.stimuli import EMOTIONS, Stimuli, check_names, emotion_id, load_stimuli

SYNONYMS = """
anger angry angrily furious fury rage raging mad outrage outraged livid irate annoyed annoying irritated resent
resentment disgust disgusted disgusting revolting revolted gross repulsive repulsed sickening nasty nausea nauseous
nauseating vile fear fearful afraid scared scary terrified terrifying terror frightened frightening panic dread horror
horrified anxious joy joyful happy happily happiness delighted delight glad cheerful pleased thrilled overjoyed elated
bliss proud relieved sadness sad sadly unhappy sorrow grief grieving mourn mourning miserable heartbroken depressed
lonely despair surprise surprised surprising surprisingly astonished astonishing amazed amazing unexpected
unexpectedly suddenly startled shock shocked shocking stunned feel feeling felt feelings emotion mood
"""
"""The emotions, their close synonyms, and words for having one."""

CUES = """
smile smiled smiling grin grinned frown frowned scowl laugh laughed laughing cry cried crying tears tear sob sobbed
weep wept scream screamed screaming tremble trembled trembling shiver shivered shaking shook blush blushed pale sweat
sweating gasp gasped heart pulse stomach retch gag gagged vomited eyebrows
"""
"""Signs in a face or body."""

CLASSES = {
    "determiner": "a an the this that these those my your his her its our their every each all both some any no own",
    "pronoun": """i me he him she it we us they them you who whom what anyone anybody everyone everybody nobody nothing
        somebody mine himself herself itself another one ones""",
    "adposition": """in on at of by for with from to into onto over under above below behind beside before after until
        through between across down up out off inside outside towards against along during without while as about""",
    "conjunction": "and but or so that when because where if than",
    "auxiliary": "is are was were am be been being has have had do does did would could can will may must should",
    "adverb": "then now even still only never not too very always already just today yesterday together here away back",
}
"""Word classes by list: a tagger needs a model, and these words are the ones whose class is beyond doubt."""


@pytest.fixture(scope="module")
def rows() -> list[dict[str, Any]]:
    text = files("affectlab.steering").joinpath("stimuli.jsonl").read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()]


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W\d_]+(?:'[^\W\d_]+)?", text.lower())


def test_thirty_texts_for_each_of_the_six_emotions() -> None:
    stimuli = load_stimuli()
    assert Counter(stimuli.labels) == dict.fromkeys(EMOTIONS, 30)
    assert len(set(stimuli.texts)) == 180
    assert set(EMOTIONS) < set(load("basic6_neutral").ids)
    assert repr(stimuli) == "Stimuli(bundled: anger 30, disgust 30, fear 30, joy 30, sadness 30, surprise 30)"


def test_every_group_has_one_text_an_emotion_and_every_domain_two_groups(rows: list[dict[str, Any]]) -> None:
    groups: dict[str, list[str]] = {}
    domains: dict[str, set[str]] = {}
    for row in rows:
        groups.setdefault(row["group"], []).append(row["emotion"])
        domains.setdefault(row["domain"], set()).add(row["group"])
    assert all(sorted(emotions) == sorted(EMOTIONS) for emotions in groups.values())
    assert len(domains) == 15
    assert all(len(found) == 2 for found in domains.values())
    assert len({row["id"] for row in rows}) == 180


def test_texts_of_a_group_have_one_form(rows: list[dict[str, Any]]) -> None:
    groups: dict[str, list[str]] = {}
    for row in rows:
        groups.setdefault(row["group"], []).append(row["text"])
    for name, texts in groups.items():
        lengths = [len(_words(text)) for text in texts]
        assert min(lengths) >= 25, name
        assert max(lengths) <= 40, name
        assert max(lengths) - min(lengths) <= 3, name
        for mark in ",.":
            assert len({text.count(mark) for text in texts}) == 1, name
        assert all(re.search(r"\b(i|me|my|mine|we|us|our)\b", text.lower()) for text in texts), name
        assert len({text.split()[0] for text in texts}) == 1, name


def test_texts_name_no_emotion_and_no_sign_of_one(rows: list[dict[str, Any]]) -> None:
    forbidden = set((SYNONYMS + CUES).split())
    found = {row["id"]: sorted(forbidden & set(_words(row["text"]))) for row in rows}
    assert {key: words for key, words in found.items() if words} == {}


def test_shallow_features_do_not_tell_the_emotions_apart(rows: list[dict[str, Any]]) -> None:
    """A random forest on word-class ratios, length and punctuation stays within chance.

    180 texts, chance 1/6: a binomial with mean 30 and standard deviation sqrt(180 × 1/6 × 5/6) = 5, so that 95 % of
    guessers have at most 30 + 1.96 × 5 = 39.8 right, an accuracy of 0.221. The paper's own texts gave 0.274.
    """
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    def features(text: str) -> list[float]:
        words = _words(text)
        ratios = [sum(word in listed.split() for word in words) / len(words) for listed in CLASSES.values()]
        endings = [sum(word.endswith(ending) for word in words) / len(words) for ending in ("ed", "ing", "ly", "s")]
        return [*ratios, *endings, len(words), len(text), text.count(","), text.count("."), len(text) / len(words)]

    table = np.array([features(row["text"]) for row in rows])
    labels = np.array([row["emotion"] for row in rows])
    accuracy = []
    for seed in range(2):
        forest = RandomForestClassifier(100, random_state=seed)
        folds = StratifiedKFold(5, shuffle=True, random_state=seed)
        accuracy.append(float((cross_val_predict(forest, table, labels, cv=folds) == labels).mean()))
    assert max(accuracy) <= 0.221, accuracy


def test_other_files_with_other_columns_and_labels(tmp_path: Path) -> None:
    path = tmp_path / "event.csv"
    path.write_text(
        "emotion,generated_text\nanger,Somebody scratched my car.\nAngry,The train was cancelled again.\n"
        "happiness,My sister came home.\njoy,We won.\npride,I passed.\npride,I ran ten miles.\n",
        "utf-8",
    )
    stimuli = load_stimuli(str(path), {"text": "generated_text"}, ("anger", "happiness"))
    assert stimuli.labels == ("anger", "anger", "joy", "joy")
    assert stimuli.left_out == {"pride": 2}
    assert len(set(stimuli.groups)) == 4
    own = load_stimuli(str(path), {"text": "generated_text"}, ("pride", "joy"))
    assert own.labels == ("joy", "joy", "pride", "pride")
    assert own.left_out == {"anger": 2}


def test_no_emotion_is_a_mistake() -> None:
    with pytest.raises(UserError, match="No emotion is named"):
        load_stimuli(emotions=())


@pytest.mark.parametrize("name", ["a+b", "joy:x", "mixed@feelings", "123", "", "random", "kl-random", "neutral"])
def test_names_that_no_condition_can_write_or_that_mean_something_else(name: str) -> None:
    with pytest.raises(UserError, match=f"No condition can name vectors of '{re.escape(name)}'"):
        check_names(["joy", name])


@pytest.mark.parametrize("name", ["joy", "moral_fear", "grief 2", "愤怒", "self-doubt"])
def test_names_that_conditions_can_write(name: str) -> None:
    check_names([name])
    assert parse(f"{name}@1.0").terms[0].emotion == emotion_id(name)


def test_too_few_texts_say_what_there_is(tmp_path: Path) -> None:
    path = tmp_path / "few.jsonl"
    path.write_text('{"text": "We won.", "emotion": "joy"}\n{"text": "It rained.", "emotion": "sad"}\n', "utf-8")
    with pytest.raises(UserError, match=r"fewer than 2 texts of anger, .*Its labels are: joy 1, sadness 1"):
        load_stimuli(str(path))


def test_broken_files_list_every_row(tmp_path: Path) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text('{"text": "", "emotion": "joy"}\n{"text": "a b", "emotion": 3}\n{"emotion": "joy"}\n', "utf-8")
    with pytest.raises(DataError) as caught:
        load_stimuli(str(path))
    assert [(one.line, one.field) for one in caught.value.problems] == [(1, "text"), (2, "emotion"), (3, "text")]
    path.write_text('{"sentence": "a", "label": "joy"}\n', "utf-8")
    with pytest.raises(UserError, match=r"no column text and no column emotion; it has: sentence, label.*--map text="):
        load_stimuli(str(path))
    with pytest.raises(UserError, match="no file"):
        load_stimuli(str(tmp_path / "none.csv"))


def test_the_digest_depends_on_texts_labels_and_which_of_them_are_a_group() -> None:
    """Groups decide the directions; what they are called does not."""
    one = Stimuli(("a b", "c d", "e"), ("joy", "fear", "joy"), ("1", "1", "2"))
    assert one.sha256 == Stimuli(one.texts, one.labels, ("y", "y", "x"), {"pride": 3}, "elsewhere").sha256
    assert one.sha256 != Stimuli(one.texts, ("fear", "joy", "joy"), one.groups).sha256
    assert one.sha256 != Stimuli(("a b", "c d", "f"), one.labels, one.groups).sha256
    assert one.sha256 != Stimuli(one.texts, one.labels, ("1", "2", "2")).sha256
    assert one.sha256 != Stimuli(one.texts, one.labels, ("1", "2", "3")).sha256


def test_ten_self_reports_whose_options_stand_everywhere_evenly() -> None:
    reports = self_reports(seed=4)
    assert len({report.question for report in reports}) == 10
    places = Counter((option, place) for report in reports for place, option in enumerate(report.options))
    assert all(sorted(report.options) == sorted(OPTIONS) for report in reports)
    # Ten questions and seven places: each option stands in each place once or twice.
    assert {places[option, place] for option in OPTIONS for place in range(7)} == {1, 2}
    assert self_reports(4) == reports
    assert self_reports(5) != reports
    for report in reports:
        shown = [report.question.index(option.strip()) for option in report.continuations()]
        assert shown == sorted(shown), report.question
        assert not report.prefill.endswith(" ")
        assert all(option[0] == " " for option in report.continuations())
