"""The bundled records: whole, balanced, and no two alike, also none like a demonstration."""

from __future__ import annotations

from collections import Counter
from importlib.resources import files

from affectlab.benchmarks.base import Asking
from affectlab.benchmarks.cue.demonstrations import pool
from affectlab.benchmarks.cue.prompts import SPACES
from affectlab.benchmarks.cue.protocols import TASKS, order_of
from affectlab.benchmarks.cue.record import load
from affectlab.items.duplicates import near_duplicates

LOADED = load(str(files("affectlab.benchmarks.cue") / "sample.jsonl"), {}, {"strict": "true"})
SCENARIOS = {"dialogue", "customer_service", "forum_comment", "qa", "news_report"}


def test_ninety_records_with_all_five_labels_and_nothing_to_report() -> None:
    assert [item.id for item in LOADED] == [f"cue-sample-{number:03d}" for number in range(1, 91)]
    assert all(set(item.gold) == {"explicit", "implicit", "stance", "intent", "emotion"} for item in LOADED)
    assert (LOADED.notes, LOADED.ignored) == ((), ())
    assert len({item.cluster for item in LOADED}) == 90


def test_ten_of_each_stance_two_in_each_scenario() -> None:
    counts = Counter((item.gold["stance"], item.slices["scenario_type"]) for item in LOADED)
    assert counts == {(stance, scenario): 2 for stance in SPACES["stance"].ids for scenario in SCENARIOS}


def test_every_intent_and_every_emotion_at_least_twice() -> None:
    for task in ("intent", "emotion"):
        counts = Counter(item.gold[task] for item in LOADED)
        assert set(counts) == set(SPACES[task].ids)
        assert min(counts.values()) >= 2


def test_any_nine_records_that_start_at_a_multiple_of_nine_show_all_stances() -> None:
    """So that ``--limit 9`` shows each."""
    for start in range(0, 90, 9):
        assert len({item.gold["stance"] for item in LOADED[start : start + 9]}) == 9


def test_under_rotation_every_stance_stands_at_every_place() -> None:
    """Else a model that always takes the first label would seem to know one."""
    places = Counter(
        (item.gold["stance"], list(order_of(item, "stance", Asking(), "").values()).index(str(item.gold["stance"])))
        for item in LOADED
    )
    assert len(places) == 81
    assert set(places.values()) == {1, 2}


def test_no_two_are_alike_and_none_is_a_demonstration() -> None:
    texts = {item.id: f"{item.inputs['context']}\n{item.inputs['text']}" for item in (*LOADED, *pool())}
    assert len(texts) == 117
    assert near_duplicates(texts, threshold=0.35) == []
    assert near_duplicates({item.id: str(item.inputs["text"]) for item in (*LOADED, *pool())}, threshold=0.35) == []


def test_no_target_reports_what_somebody_else_says() -> None:
    """Who speaks stands in the context: the prompts ask for the speaker's feelings, and a reporter has others."""
    assert not [item.id for item in LOADED if "：“" in item.inputs["text"] or item.inputs["text"].startswith("“")]


def test_no_target_names_its_own_label() -> None:
    """A Chinese name or alias of its gold in the text would give it away. 爱 (love) is too common to ban."""
    for item in LOADED:
        for task in TASKS:
            forms = SPACES[task][str(item.gold[task])].forms
            assert not [form for form in forms if len(form) > 1 and form in item.inputs["text"]], item.id
