"""Other tools' formats: round trips, what they have no place for, and files as those tools write them."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from affectlab.annotate.answers import Answer
from affectlab.annotate.exchange import FORMATS, Written
from affectlab.errors import UserError

ANSWERS = [
    Answer("i1", "ann", "joy", "A", time="2026-11-30T10:00:00Z"),
    Answer("i1", "bob", "anger", "A"),
    Answer("i2", "ann", "悲伤", "A"),
    Answer("i1", "ann", ("joy", "fear"), "labels"),
    Answer("i1", "bob", ("joy",), "labels"),
    Answer("i2", "ann", (), "labels"),
    Answer("i1", "ann", 3.0, "level"),
    Answer("i2", "bob", 2.5, "level"),
    Answer("i2", "ann", 0.0, "level"),
    Answer("i1", "ann", {"fear": 2.0, "joy": 1.0}, "much"),
    Answer("i2", "ann", {}, "much"),
    Answer("i1", "gpt", "joy", "A", "model"),
    Answer("i2", "bob", None, "A", status="skipped", reason="unclear"),
]


def stored(written: Written, folder: Path) -> str:
    for name, text in written.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return str(folder / next(iter(written.files))) if len(written.files) == 1 else str(folder)


def facts(answers: Any) -> Counter[str]:
    """Answers without what not every format keeps."""
    return Counter(f"{one.item} {one.slot} {one.kind} {one.annotator} {one.value!r}" for one in answers)


@pytest.mark.parametrize("name", ["label-studio", "argilla", "potato"])
def test_all_that_was_submitted_comes_back(name: str, tmp_path: Path) -> None:
    written = FORMATS[name].write(ANSWERS, {"i1": "a text"})
    found = FORMATS[name].read(stored(written, tmp_path))
    assert facts(found.answers) == facts(one for one in ANSWERS if one.counts)
    assert (written.left_out, found.left_out) == ({"skipped": 1}, {})


def test_doccano_takes_labels_and_sets_and_counts_the_rest(tmp_path: Path) -> None:
    written = FORMATS["doccano"].write(ANSWERS, {"i1": "a text"})
    assert written.left_out == {"skipped": 1, "number": 3, "intensities": 2}
    found = FORMATS["doccano"].read(stored(written, tmp_path))
    assert facts(found.answers) == facts(one for one in ANSWERS if one.counts and isinstance(one.value, str | tuple))
    assert set(written.files) == {
        "A/ann.jsonl",
        "A/bob.jsonl",
        "A/model-gpt.jsonl",
        "labels/ann.jsonl",
        "labels/bob.jsonl",
    }


@pytest.mark.parametrize("name", list(FORMATS))
def test_names_of_annotators_do_not_leave_the_folder(name: str, tmp_path: Path) -> None:
    sly = [Answer("i", "../../etc/x", "joy", "../s"), Answer("i", "b/c", "joy", "../s")]
    written = FORMATS[name].write(sly, {})
    assert all((tmp_path / file).resolve().is_relative_to(tmp_path) for file in written.files)
    assert facts(FORMATS[name].read(stored(written, tmp_path)).answers) == facts(sly)


@pytest.mark.parametrize("name", list(FORMATS))
@pytest.mark.parametrize("who", ["model-x", "..", ".", ".hidden", "%2E", "person-x"])
def test_people_with_odd_names_stay_people(name: str, who: str, tmp_path: Path) -> None:
    said = [Answer("i", who, "joy", "s"), Answer("i", "ann", "fear", "s")]
    said += [Answer("i", who, "fear", "s", "model")] if name == "doccano" else []
    written = FORMATS[name].write(said, {})
    # As deep as any other name would lie, so in no folder above.
    assert {file.count("/") for file in written.files} == {len(Path(file).parts) - 1 for file in written.files}
    assert all(".." not in Path(file).parts and "." not in file.split("/") for file in written.files)
    assert facts(FORMATS[name].read(stored(written, tmp_path)).answers) == facts(said)


def test_a_slot_of_two_kinds_is_refused() -> None:
    mixed = [Answer("i", "a", "joy", "s"), Answer("i", "b", 2.0, "s")]
    for one in FORMATS.values():
        with pytest.raises(UserError, match="holds both"):
            one.write(mixed, {})


def read(name: str, document: Any, tmp_path: Path) -> Any:
    path = tmp_path / "in.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return FORMATS[name].read(str(path))


def test_label_studio_as_it_exports(tmp_path: Path) -> None:
    task = {
        "id": 7,
        "data": {"text": "…"},
        "annotations": [
            {
                "id": 1,
                "completed_by": 4,
                "created_at": "2026-01-01T00:00:00Z",
                "was_cancelled": False,
                "result": [
                    {"from_name": "mood", "type": "choices", "value": {"choices": ["joy"]}},
                    {"from_name": "stars", "type": "rating", "value": {"rating": 4}},
                    {"from_name": "why", "type": "textarea", "value": {"text": ["a", "b"]}},
                    {"from_name": "tags", "type": "choices", "value": {"choices": ["x", "y"]}},
                    {"from_name": "box", "type": "rectanglelabels", "value": {"x": 1}},
                ],
            },
            {"id": 2, "completed_by": {"email": "b@x", "id": 5}, "was_cancelled": True, "result": []},
        ],
        "predictions": [
            {"model_version": "m1", "result": [{"from_name": "tags", "type": "choices", "value": {"choices": ["x"]}}]}
        ],
    }
    found = read("label-studio", [task], tmp_path)
    assert facts(found.answers) == Counter(
        [
            "7 mood human 4 'joy'",
            "7 stars human 4 4.0",
            "7 why human 4 'a\\nb'",
            "7 tags human 4 ('x', 'y')",
            "7 tags model m1 ('x',)",
            *(f"7 {slot} human b@x None" for slot in ("mood", "stars", "why", "tags")),
        ]
    )
    assert found.left_out == {"result of type rectanglelabels": 1}
    assert found.answers[0].time == "2026-01-01T00:00:00Z"


def test_argilla_as_it_exports(tmp_path: Path) -> None:
    record = {
        "id": "r1",
        "fields": {"text": "…"},
        "metadata": {},
        "suggestions": {"mood": {"value": "joy", "score": 0.9, "agent": "m1"}},
        "responses": {
            "mood": [{"value": "joy", "user_id": "u1"}, {"value": "fear", "user_id": "u2", "status": "draft"}],
            "tags": [{"value": ["x", "y"], "user_id": "u1"}],
            "marks": [{"value": [{"start": 0, "end": 1, "label": "x"}], "user_id": "u1"}],
            "stars": [{"value": None, "user_id": "u1", "status": "discarded"}],
        },
        "status": "completed",
    }
    found = read("argilla", [record], tmp_path)
    assert [(one.slot, one.annotator, one.value, one.status) for one in found.answers] == [
        ("mood", "u1", "joy", "submitted"),
        ("mood", "u2", None, "draft"),
        ("tags", "u1", ("x", "y"), "submitted"),
        ("stars", "u1", None, "skipped"),
        ("mood", "m1", "joy", "submitted"),
    ]
    assert found.left_out == {"span or ranking": 1}


def test_potato_as_it_saves(tmp_path: Path) -> None:
    state = {
        "user_id": "ann",
        "instance_id_to_label_to_value": {
            "i1": [
                [{"schema": "mood", "name": "joy"}, True],
                [{"schema": "mood", "name": "fear"}, False],
                [{"schema": "scale", "name": "scale_3"}, "3"],
                [{"schema": "tags", "name": "x"}, "true"],
                [{"schema": "tags", "name": "y"}, "true"],
                [{"schema": "why", "name": "text_box"}, "so it is"],
            ],
            "i2": {"mood": {"anger": "true"}, "tags": {"x": "true"}, "triage": {"accept": "accept"}},
        },
        "instance_id_to_span_to_value": {"i1": [{"start": 0, "end": 4}]},
    }
    for name, machine in (("ann", {}), ("bot", {"origin": {"kind": "llm"}})):
        place = tmp_path / name / "user_state.json"
        place.parent.mkdir()
        place.write_text(json.dumps({**state, **machine, "user_id": name}), encoding="utf-8")
    found = FORMATS["potato"].read(str(tmp_path))
    assert facts(one for one in found.answers if one.kind == "human") == Counter(
        [
            "i1 mood human ann 'joy'",
            "i1 scale human ann '3'",
            "i1 tags human ann ('x', 'y')",
            "i1 why human ann 'so it is'",
            "i2 mood human ann 'anger'",
            "i2 tags human ann ('x',)",
            "i2 triage human ann 'accept'",
        ]
    )
    assert sum(one.kind == "model" for one in found.answers) == 7
    assert found.left_out == {"span": 2}


def test_doccano_as_it_exports(tmp_path: Path) -> None:
    (tmp_path / "ann.jsonl").write_text(
        '{"id": 1, "text": "…", "label": ["joy"]}\n{"id": 2, "text": "…", "label": []}\n', encoding="utf-8"
    )
    found = FORMATS["doccano"].read(str(tmp_path / "ann.jsonl"))
    assert found.answers == (Answer("1", "ann", "joy"),)
    assert found.left_out == {"text without a label": 1}


@pytest.mark.parametrize(
    ("name", "document", "words"),
    [
        ("label-studio", {"a": 1}, "list of tasks"),
        (
            "label-studio",
            [
                {
                    "id": 1,
                    "data": {},
                    "annotations": [{"result": [{"from_name": "s", "type": "number", "value": {"number": 1}}] * 2}],
                }
            ],
            "one result for each slot",
        ),
        ("argilla", [1], "list of records"),
        (
            "argilla",
            [{"id": 1, "fields": {}, "responses": {"q": [{"value": "x", "user_id": "u", "status": "lost"}]}}],
            "submitted, draft, discarded",
        ),
        ("potato", [], "instance_id_to_label_to_value"),
        (
            "potato",
            {"instance_id_to_label_to_value": {"i": [[{"schema": "s", "name": "v"}, [1, 2]]]}},
            "a list of names",
        ),
        ("doccano", {"id": 1, "label": 3}, "expected a list of labels"),
        ("doccano", {"id": 1, "label": [[0, 3, "PER"]]}, "found"),
    ],
)
def test_bad_files_say_what_is_wrong(name: str, document: Any, words: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=words):
        read(name, document, tmp_path)


@pytest.mark.parametrize("name", ["label-studio", "argilla", "potato"])
def test_files_that_are_no_json(name: str, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("{", encoding="utf-8")
    with pytest.raises(UserError, match="no JSON"):
        FORMATS[name].read(str(tmp_path / "a.json"))


def test_a_folder_without_states(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"holds no user_state\.json"):
        FORMATS["potato"].read(str(tmp_path))
