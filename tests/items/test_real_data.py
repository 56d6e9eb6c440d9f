"""Public corpora, where the shared folder that holds them lies beside the checkout."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from affectlab.errors import UserError
from affectlab.items import corpora as c
from affectlab.items import read_rows
from affectlab.items.duplicates import count_kinds, leakage
from affectlab.items.quality import outside, valence_clash
from affectlab.labels import load


def data(name: str) -> Path:
    path = Path(__file__).resolve().parents[2] / ".." / "shared" / "data" / name
    if not path.exists():
        pytest.skip(f"the shared data folder is not beside the checkout (looked for {name})")
    return path


def lines(name: str) -> list[str]:
    return data(name).read_text(encoding="utf-8").removesuffix("\n").split("\n")


def test_goemotions_label_file_is_our_order() -> None:
    assert tuple(lines("goemotions/labels.txt")) == load("goemotions28").ids


def test_goemotions_train() -> None:
    rows = [c.goemotions_row(line) for line in lines("goemotions/train.tsv")]
    assert len(rows) == 43_410
    assert len({row.id for row in rows}) == len(rows)


def test_goemotions_neutral_beside_others() -> None:
    counts = {
        name: sum(27 in (labels := c.goemotions_row(line).labels or ()) and len(labels) > 1 for line in written)
        for name in ("train", "dev", "test")
        if (written := lines(f"goemotions/{name}.tsv"))
    }
    # Counted with awk on the files. facts/corpora.md gives their sum, 1,751.
    assert counts == {"train": 1396, "dev": 174, "test": 181}


def test_goemotions_quoting_changes_texts_and_no_row() -> None:
    # facts/corpora.md: 1,097, 137 and 149 rows start with a quote mark.
    for name, quoted in (("train", 1097), ("dev", 137), ("test", 149)):
        written = lines(f"goemotions/{name}.tsv")
        plain = [c.goemotions_row(line) for line in written]
        undone = [c.goemotions_row(line, "csv") for line in written]
        assert [(row.labels, row.id) for row in plain] == [(row.labels, row.id) for row in undone]
        assert sum(row.text.startswith('"') for row in plain) == quoted
        assert sum(a.text != b.text for a, b in zip(plain, undone, strict=True)) == quoted


def test_goemotions_leaks_between_dev_and_test() -> None:
    dev, test = (
        {row.id: row.text for row in map(c.goemotions_row, lines(f"goemotions/{name}.tsv"))} for name in ("dev", "test")
    )
    pairs = leakage(dev, test)
    # facts/corpora.md counts 10 different texts that stand in both.
    assert len({test[pair.b] for pair in pairs if pair.kind == "exact"}) == 10
    assert count_kinds(pairs)["near"] > 0


def test_xed() -> None:
    rows = [c.xed_row(line) for line in lines("xed/en-annotated.tsv")]
    assert len(rows) == 17_528
    assert all(row.labels for row in rows)
    written = lines("xed/neu_en.txt")
    neutral = [c.xed_neutral_row(line) for line in written if line.strip()]
    # 9,675 lines (awk), one of which holds nothing but tabs.
    assert (len(written), len(neutral)) == (9_675, 9_674)
    assert all(row.text == row.text.rstrip("\t") for row in neutral)
    with pytest.raises(UserError, match="begins with 9"):
        c.xed_neutral_row(written[73])


def test_emobench() -> None:
    rows = read_rows(str(data("emobench/EU.jsonl")), {"id": "qid", "label": "emotion_label"})
    assert len(rows) == 400
    assert Counter(row.data["language"] for row in rows) == {"en": 200, "zh": 200}
    assert sum(" & " in row.data["label"] for row in rows) == 126
    actions = read_rows(str(data("emobench/EA.jsonl")), {"kind": "question type"})
    assert all(row.data["kind"] for row in actions)


def test_cue_excerpt_obeys_the_stance_matrix() -> None:
    stances, polarities, emotions = load("cue_stance9"), load("cue_polarity3"), load("cue_plutchik9")
    rows = [row.data for row in read_rows(str(data("cue/test_excerpt.jsonl")))]
    for row in rows:
        signals = (polarities.require(row[f"{side}_polarity"]) for side in ("explicit", "implicit"))
        assert stances.compose(*signals) == stances.require(row["affective_stance"])
        assert load("cue_intent8").resolve(row["pragmatic_intent"])
        assert load("cue_emotion25").resolve(row["fine_grained_emotion"])
    # Two of the ten hold words of other lists in their implicit field.
    assert outside([row["implicit_emotion"] for row in rows], emotions) == ["Disappointment", "Concern"]
    assert not any(valence_clash(row["explicit_polarity"], row["explicit_emotion"], emotions) for row in rows)


def test_diplomacy_orders() -> None:
    game = json.loads(data("diplomacy/no_press_selfplay.json").read_text(encoding="utf-8"))
    assert all(c.phase_orders(phase) for phase in game["phases"] if phase["name"].endswith("M") and phase["orders"])
