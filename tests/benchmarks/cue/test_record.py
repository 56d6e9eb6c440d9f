from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from affectlab.benchmarks.cue.record import load
from affectlab.errors import UserError
from affectlab.items.load import Loaded

EXCERPT = Path(__file__).resolve().parents[3] / ".." / "shared" / "data" / "cue" / "test_excerpt.jsonl"
FULL = {
    "sample_id": "x1",
    "text": "行吧，你说了算。",
    "context": "A：就这么定了\nB：我觉得不妥",
    "scenario_type": "dialogue",
    "speaker_role": None,
    "explicit_polarity": "Neutral",
    "explicit_emotion": "Neutral/None",
    "implicit_polarity": "Negative",
    "implicit_emotion": "Anger",
    "affective_stance": "Veiled Negative",
    "pragmatic_intent": "Resistance",
    "fine_grained_emotion": "Disappointment",
    "quality_tier": "human",
}


def loaded(tmp_path: Path, *rows: dict[str, Any], fields: dict[str, str] | None = None, **options: str) -> Loaded:
    path = tmp_path / "data.jsonl"
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return load(str(path), fields or {}, options)


def test_a_released_record_becomes_an_item(tmp_path: Path) -> None:
    found = loaded(tmp_path, FULL)
    (item,) = found
    assert (item.id, item.index) == ("x1", 0)
    assert item.inputs == {"text": FULL["text"], "context": FULL["context"]}
    assert item.gold == {
        "explicit": "neutral",
        "implicit": "negative",
        "stance": "veiled_negative",
        "intent": "resistance",
        "emotion": "disappointment",
    }
    assert item.slices == {"scenario_type": "dialogue", "quality_tier": "human"}
    assert (found.ignored, found.notes) == ((), ())


def test_only_id_and_text_are_needed(tmp_path: Path) -> None:
    (item,) = loaded(tmp_path, {"id": 7, "target_text": "嗯"})
    assert (item.id, item.gold, item.inputs["context"], item.cluster) == ("7", {}, "", "7")


def test_labels_in_chinese_and_columns_under_other_names(tmp_path: Path) -> None:
    row = {"no": "1", "said": "嗯", "s": "隐晦消极", "e": "DISAPPOINTMENT"}
    fields = {"id": "no", "text": "said", "affective_stance": "s", "fine_grained_emotion": "e"}
    (item,) = loaded(tmp_path, row, fields=fields)
    assert item.gold == {"stance": "veiled_negative", "emotion": "disappointment"}


def test_a_context_may_be_a_list_of_turns(tmp_path: Path) -> None:
    (item,) = loaded(tmp_path, {**FULL, "context": ["一", "二"]})
    assert item.inputs["context"] == "一\n二"


def test_a_context_that_is_neither_is_refused_with_both_that_are_taken(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"field context: .* expected text, or a list of texts"):
        loaded(tmp_path, {**FULL, "context": [{"speaker": "甲", "text": "一"}]})


@pytest.mark.parametrize("context", ["一\r\n二", "一\r二", ["一\r\n二"]])
def test_turns_end_where_lines_end_on_any_system(tmp_path: Path, context: Any) -> None:
    (item,) = loaded(tmp_path, {**FULL, "context": context})
    assert item.inputs["context"] == "一\n二"


def test_a_file_of_demonstrations_that_is_not_there_is_named_before_anything_is_asked(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"demos=nowhere\.jsonl: there is no such file"):
        loaded(tmp_path, FULL, demos="nowhere.jsonl")
    assert len(loaded(tmp_path, FULL, demos=str(tmp_path / "data.jsonl"))) == 1
    assert len(loaded(tmp_path, FULL, demos="hub:someone/records")) == 1


def test_records_of_one_source_or_context_are_one_cluster(tmp_path: Path) -> None:
    rows = [
        {**FULL, "sample_id": "1", "context": "甲 乙"},
        {**FULL, "sample_id": "2", "context": "甲  乙"},
        {**FULL, "sample_id": "3", "context": "丙"},
        {**FULL, "sample_id": "4", "context": "丁", "source_id": "s"},
        {**FULL, "sample_id": "5", "context": "戊", "source_id": "s"},
        {**FULL, "sample_id": "6", "context": ""},
        {**FULL, "sample_id": "7", "context": None},
    ]
    clusters = [item.cluster for item in loaded(tmp_path, *rows)]
    assert clusters[0] == clusters[1] != clusters[2]
    assert clusters[3:] == ["s", "s", "6", "7"]


@pytest.mark.parametrize(
    ("explicit", "implicit", "stance"),
    [
        ("Positive", "Positive", "Positive"),
        ("Positive", "Neutral", "Formulaic Positive"),
        ("Positive", "Negative", "Sarcastic Negative"),
        ("Neutral", "Positive", "Understated Positive"),
        ("Neutral", "Neutral", "Neutral"),
        ("Neutral", "Negative", "Veiled Negative"),
        ("Negative", "Positive", "Affiliative Positive"),
        ("Negative", "Neutral", "Reportive Negative"),
        ("Negative", "Negative", "Negative"),
    ],
)
def test_the_matrix_of_section_4_2(tmp_path: Path, explicit: str, implicit: str, stance: str) -> None:
    bare = {key: value for key, value in FULL.items() if not key.endswith("_emotion")}
    row = {**bare, "explicit_polarity": explicit, "implicit_polarity": implicit, "affective_stance": stance}
    assert loaded(tmp_path, row, strict="true").notes == ()


def test_a_stance_that_its_signals_do_not_make_up_is_reported_or_refused(tmp_path: Path) -> None:
    rows = [FULL, {**FULL, "sample_id": "x2", "affective_stance": "Neutral"}]
    found = loaded(tmp_path, *rows)
    assert len(found) == 2
    assert found[1].gold["stance"] == "neutral"
    (note,) = found.notes
    assert note.startswith("1 of 2 records")
    assert "x2" in note
    with pytest.raises(UserError, match=r"line 2, field affective_stance: found 'neutral'; expected 'veiled_negative'"):
        loaded(tmp_path, *rows, strict="true")


def test_half_a_pair_of_signals_breaks_nothing(tmp_path: Path) -> None:
    row = {**FULL, "affective_stance": "Neutral", "implicit_polarity": None}
    assert loaded(tmp_path, row, strict="true").notes == ()


def test_basic_emotions_of_other_lists_and_of_the_wrong_valence_are_reported(tmp_path: Path) -> None:
    found = loaded(
        tmp_path,
        {**FULL, "implicit_emotion": "Disappointment"},
        {**FULL, "sample_id": "x2", "explicit_polarity": "Positive", "explicit_emotion": "Sadness",
         "affective_stance": "Sarcastic Negative"},
    )  # fmt: skip
    outside, clash = found.notes
    assert outside.startswith("1 values")
    assert "Disappointment" in outside
    assert clash.startswith("In 1 records")
    assert "x2" in clash


def test_every_bad_row_is_named(tmp_path: Path) -> None:
    rows = [
        {**FULL, "fine_grained_emotion": "Delite"},
        {**FULL, "sample_id": "x2", "text": " "},
        {**FULL, "sample_id": "x3"},
        {**FULL, "sample_id": "x3"},
        {**FULL, "sample_id": "x5", "pragmatic_intent": "Sarcasm"},
    ]
    with pytest.raises(UserError) as caught:
        loaded(tmp_path, *rows)
    text = str(caught.value)
    for part in ("did you mean 'delight'", "line 2, field text", "line 4", "a unique id", "'Sarcasm'"):
        assert part in text


def test_the_released_excerpt_loads_whole() -> None:
    if not EXCERPT.exists():
        pytest.skip("the shared excerpt is not beside this checkout")
    found = load(str(EXCERPT), {}, {"strict": "true"})
    assert len(found) == 10
    assert all(len(item.gold) == 5 for item in found)
    assert found.ignored == ()
    # One record has Disappointment, one Concern, which are none of Plutchik's eight.
    (note,) = found.notes
    assert "Disappointment, Concern" in note
