from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from affectlab.audits.stimuli import (
    FEATURES,
    PAPER,
    Tagger,
    against_chance,
    audit_stimuli,
    audit_table,
    english_tagger,
    feature_table,
    ratios,
)
from affectlab.cli.main import app
from affectlab.errors import UserError
from affectlab.steering.stimuli import Stimuli, load_stimuli

TAGS = {
    "dog": "NOUN",
    "runs": "VERB",
    "big": "ADJ",
    "soon": "ADV",
    "she": "PRON",
    "the": "DET",
    "in": "ADP",
    "and": "CCONJ",
}


def by_list(words: list[str]) -> list[str]:
    return [TAGS.get(word.lower(), "X") for word in words]


tagger: Tagger = by_list  # type: ignore[assignment]


def test_ratios_are_shares_of_a_texts_words() -> None:
    found = ratios(["The big dog runs and runs. Soon she runs in!"], tagger)
    # Ten words: 1 noun, 3 verbs, 1 adjective, 1 adverb, 1 pronoun, 1 determiner, 1 adposition, 1 conjunction.
    assert dict(zip(FEATURES, found[0], strict=True)) == pytest.approx(
        dict(zip(FEATURES, (0.1, 0.3, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1), strict=True))
    )
    with pytest.raises(UserError, match="Text 2 has no words"):
        ratios(["dog", "123 !"], tagger)


def texts(styled: bool, seed: int = 0) -> Stimuli:
    """Thirty texts of three emotions; styled: anger is told in adjectives, joy in adverbs."""
    rng = np.random.default_rng(seed)
    words = {"anger": "big", "joy": "soon", "fear": "dog"}
    rows = []
    for number in range(30):
        label = list(words)[number % 3]
        filler = words[label] if styled else rng.choice(["big", "soon", "dog"])
        body = rng.permutation(["the", "dog", "runs", "in", *[str(filler)] * 3])
        rows.append((" ".join(body), label, f"row {number}"))
    text, label_of, group = zip(*rows, strict=True)
    return Stimuli(text, label_of, group)


def test_texts_that_are_styled_by_emotion_do_not_pass_and_the_verdict_says_so() -> None:
    found = audit_stimuli(texts(styled=True), tagger, permutations=19, folds=3)
    assert found.result.accuracy > 0.9
    assert found.permutation_p == 0.05
    assert not found.passed
    assert "clearly above chance" in found.words
    assert audit_table(found).rows[0][-1] == "above chance"
    assert len(feature_table(found).rows) == 3


def test_texts_that_are_not_pass() -> None:
    found = audit_stimuli(texts(styled=False, seed=3), tagger, permutations=19, folds=3)
    assert found.permutation_p > 0.05
    assert found.passed
    assert "not above chance" in found.words


def test_the_papers_own_accuracy_is_clearly_above_chance() -> None:
    # .2736 of 241 texts is 66; Wilson [.221, .333] and p = 2.0e-5 as in the facts page (scipy, R).
    found = against_chance(*PAPER)
    assert found.accuracy == pytest.approx(0.273859, abs=1e-6)
    assert (found.low, found.high) == pytest.approx((0.221, 0.333), abs=5e-4)
    assert found.binomial_p == pytest.approx(2.0e-5, rel=0.05)
    assert found.above
    assert "clearly above chance" in found.words


def test_labels_are_permuted_within_groups_where_groups_hold_several_emotions() -> None:
    whole = texts(styled=False)
    grouped = Stimuli(whole.texts, whole.labels, tuple(f"g{n // 3}" for n in range(30)))
    assert audit_stimuli(grouped, tagger, permutations=1, folds=2).within_groups
    assert not audit_stimuli(whole, tagger, permutations=1, folds=2).within_groups


def test_too_few_texts_of_an_emotion_are_refused() -> None:
    with pytest.raises(UserError, match="fewer than 5 texts"):
        audit_stimuli(Stimuli(("dog",) * 7, ("joy",) * 3 + ("anger",) * 4, tuple(map(str, range(7)))), tagger)


def test_texts_that_the_english_tagger_cannot_read_are_refused() -> None:
    """It calls every Han string a noun, so that such texts would pass whatever their style."""
    labels, groups = ("joy", "anger") * 5, tuple(map(str, range(10)))
    chinese = tuple(f"我今天非常{word}，因为老板说了第{n}句话。" for n, word in enumerate(["高兴", "生气"] * 5))
    with pytest.raises(UserError, match="Text 1 is not English"):
        audit_stimuli(Stimuli(chinese, labels, groups))
    with pytest.raises(UserError, match="Text 10 is not English"):
        audit_stimuli(Stimuli((*("I saw the dog and it ran.",) * 9, chinese[0]), labels, groups))
    german = ("Gestern hat mir der Nachbar vor allen Leuten seinen alten Wagen geschenkt.",) * 10
    # Twelve words, none of them a small English one.
    with pytest.raises(UserError, match="0 of their 120 words"):
        audit_stimuli(Stimuli(german, labels, groups))


def test_what_cannot_be_told_apart_at_all_is_no_audit() -> None:
    groups = tuple(map(str, range(10)))
    with pytest.raises(UserError, match="two emotions at least"):
        audit_stimuli(Stimuli(("the dog runs",) * 10, ("joy",) * 10, groups), tagger)
    with pytest.raises(UserError, match="same part-of-speech ratios"):
        audit_stimuli(Stimuli(("dog", "dog dog") * 5, ("joy", "anger") * 5, groups), tagger)


def test_each_step_is_told() -> None:
    told: list[tuple[str, int, int]] = []
    audit_stimuli(texts(styled=False), tagger, permutations=2, folds=2, on_step=lambda *one: told.append(one))
    assert told == [
        *(("Cross-validation", done, 2) for done in range(3)),
        *(("Relabellings", done, 2) for done in range(3)),
    ]


def test_the_bundled_stimuli_pass() -> None:
    pytest.importorskip("denckring_en_pos", reason="needs affectlab[audit]")
    stimuli = load_stimuli()
    found = ratios(stimuli.texts, english_tagger())
    labels = np.array(stimuli.labels)
    # One word in a text of 35 is .029: emotions differ by less than half a word in every part of speech.
    means = np.array([found[labels == emotion].mean(axis=0) for emotion in stimuli.emotions])
    assert np.ptp(means, axis=0).max() < 0.0145
    audit = audit_stimuli(stimuli, permutations=19)
    assert audit.passed
    assert audit.words.startswith("Accuracy from eight part-of-speech ratios is not above chance")


def test_the_command_says_in_words_what_it_found_and_in_its_exit_code(tmp_path: Path) -> None:
    pytest.importorskip("denckring_en_pos", reason="needs affectlab[audit]")
    styles = {"anger": "He is so very big and so very bad.", "joy": "Dogs, cats, birds, trees and houses in towns."}
    rows = [{"text": styles[label], "emotion": label} for label in styles for _ in range(8)]
    rows.append({"text": "Boring.", "emotion": "boredom"})
    file = tmp_path / "texts.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    done = CliRunner().invoke(
        app, ["audit", "stimuli", str(file), "--emotions", "anger,joy", "--permutations", "3", "--json"]
    )
    assert done.exit_code == 1, done.output
    told = json.loads(done.stdout)
    assert not told["passed"]
    assert "clearly above chance" in told["verdict"]
    assert told["notes"] == ["1 texts with other labels are left out."]
    # Where no bar can be shown, minutes of work are not silent.
    assert "Cross-validation: 0 of 5\nRelabellings: 0 of 3" in done.stderr
