"""Model-assisted annotation from end to end, with scripted models: asked once, routed, resumed, exported."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from affectlab.annotate.answer_files import read_answers
from affectlab.annotate.answers import Answer
from affectlab.annotate.assist.adjudicator import ADJUDICATION, describe, language_of
from affectlab.annotate.assist.people import fitting, people_csv, people_so_far
from affectlab.annotate.assist.results import results_of, write_results
from affectlab.annotate.assist.routing import Audit, Case
from affectlab.annotate.assist.study import (
    ADJUDICATOR,
    Study,
    as_label,
    check_cards,
    make_study,
    questions,
    read_cases,
)
from affectlab.annotate.exchange.benchmark import fill
from affectlab.benchmarks import open_benchmark
from affectlab.benchmarks.base import Asking
from affectlab.errors import UserError
from affectlab.labels import load
from affectlab.models import open_model
from affectlab.models.base import ModelCard
from affectlab.runs import execute, make_plan
from affectlab.stats.bootstrap import Interval

FAST = Interval(replicates=20)
# Stances of the two models on six items; None: a reply without a label. The sample's gold is not looked at.
A = ["positive", "negative", "neutral", "positive", None, "veiled_negative"]
B = ["positive", "negative", "positive", "neutral", "neutral", "negative"]


@pytest.fixture
def study(tmp_path: Path) -> Study:
    opened = open_benchmark("cue")
    source = tmp_path / "items.jsonl"
    lines = opened.sample.read_text(encoding="utf-8").splitlines()[:6]
    source.write_text("\n".join(lines) + "\n", encoding="utf-8")
    plan = make_plan("cue", data=str(source), asking=Asking(options={"lang": "en"}))
    return make_study(plan, tmp_path / "study", Audit(0.0), ["stance"])


def script(path: Path, study: Study, labels: Sequence[str | None]) -> str:
    lines = []
    for item, label in zip(study.plan.items, labels, strict=True):
        for request in study.plan.protocol.requests(item, study.plan.asking, {}):
            said = label if request.step == "stance" else study.plan.benchmark.slots[request.step].ids[0]  # type: ignore[union-attr]
            reply = (
                "I cannot say."
                if said is None
                else study.plan.protocol.ideal_reply(item, request, {request.step: said}, study.plan.asking).text
            )
            lines.append(
                json.dumps({"item": item.id, "step": request.step, "variant": request.variant, "reply": reply})
            )
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return f"scripted:{path}"


def ask(study: Study, tmp_path: Path, votes: dict[str, Any] | None = None) -> None:
    for name, labels in (("model-a", A), ("model-b", B)):
        execute(study.plan, open_model(script(tmp_path / f"{name}.jsonl", study, labels)), study.folder / name)
    plan = questions(study, read_cases(study))
    if votes is not None and plan is not None:
        rows = [
            {"item": item, "variant": order, "reply": vote}
            for item, both in votes.items()
            for order, vote in zip(("forward", "backward"), both, strict=True)
        ]
        path = tmp_path / "judge.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        execute(plan, open_model(f"scripted:{path}"), study.folder / ADJUDICATOR)


def votes(study: Study) -> dict[str, tuple[str, str]]:
    """Item 3: the first model both times; item 4: turns with the order; item 6: the second model, named."""
    ids = [f"{item.id} | stance" for item in study.plan.items]
    return {ids[2]: ("1", "2"), ids[3]: ("1", "Answer: 1"), ids[5]: ("2", "Negative")}


def test_gold_is_taken_away_before_anything_is_asked(study: Study) -> None:
    assert all(not item.gold for item in study.plan.items)


def test_labels_go_where_they_belong(study: Study, tmp_path: Path) -> None:
    ask(study, tmp_path, votes(study))
    found = results_of(study, how=FAST)
    assert [(case.outcome, case.label, case.why_people) for case in found.cases] == [
        ("model-agreed", "positive", None),
        ("model-agreed", "negative", None),
        ("adjudicated", "neutral", None),
        ("waiting", None, "inconsistent"),
        ("waiting", None, "no label"),
        ("adjudicated", "negative", None),
    ]
    assert [(one.source, one.by) for one in found.gold] == [
        ("model-agreed", ""),
        ("model-agreed", ""),
        ("model-adjudicated", "judge"),
        ("pending", ""),
        ("pending", ""),
        ("model-adjudicated", "judge"),
    ]
    usage = found.friction.usage
    assert {name: one["requests"] for name, one in usage.items()} == {"model-a": 18, "model-b": 18, "adjudicator": 6}


def test_both_raw_replies_are_kept_and_nothing_is_asked_twice(study: Study, tmp_path: Path) -> None:
    ask(study, tmp_path, votes(study))
    kept = (study.folder / ADJUDICATOR / "responses.jsonl").read_text(encoding="utf-8")
    assert kept.count("\n") == 6
    assert "Answer: 1" in kept
    ask(study, tmp_path, votes(study))
    assert (study.folder / ADJUDICATOR / "responses.jsonl").read_text(encoding="utf-8") == kept


def test_candidates_are_unnamed_and_stand_in_both_orders(study: Study, tmp_path: Path) -> None:
    ask(study, tmp_path)
    plan = questions(study, read_cases(study))
    assert plan is not None
    forward, backward = plan.protocol.requests(plan.items[0], plan.asking, {})
    first, second = (one.messages[0].content for one in (forward, backward))
    assert (forward.variant, backward.variant) == ("forward", "backward")
    assert "1. Neutral\n2. Positive" in first
    assert "1. Positive\n2. Neutral" in second
    assert first.replace("1. Neutral\n2. Positive", "") == second.replace("1. Positive\n2. Neutral", "")
    assert study.plan.items[2].inputs["text"] in first
    assert "model" not in first.lower()


def test_what_people_are_asked_shows_no_label(study: Study, tmp_path: Path) -> None:
    ask(study, tmp_path, votes(study))
    found = results_of(study, how=FAST)
    write_results(study, found)
    text = (study.folder / "people.csv").read_text(encoding="utf-8-sig")
    rows = list(csv.DictReader(text.splitlines()))
    assert {row["item"] for row in rows} == {study.plan.items[3].id, study.plan.items[4].id}
    assert all(row["value"] == "" for row in rows)
    assert "inconsistent" not in text


def _fill_in(study: Study, value: str) -> None:
    path = study.folder / "people.csv"
    rows = list(csv.reader(path.read_text(encoding="utf-8-sig").splitlines()))
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([rows[0], *([*row[:2], "ann", value, *row[4:]] for row in rows[1:])])


def test_what_people_fill_in_is_kept_over_reruns(study: Study, tmp_path: Path) -> None:
    ask(study, tmp_path, votes(study))
    write_results(study, results_of(study, how=FAST))
    _fill_in(study, "Understated Positive")
    for _ in range(2):
        people = people_so_far(study)
        found = results_of(study, people, FAST)
        write_results(study, found, people)
        assert [one.source for one in found.gold].count("single") == 2
        assert found.cases[3].label == "understated_positive"
        assert not (study.folder / "people.csv").exists()
    assert len(people.answers) == 2
    later = people_so_far(study, [[Answer(found.cases[3].item, "ann", "neutral", "stance")]])
    assert len(later.answers) == 2
    changed = results_of(study, later, FAST)
    assert changed.cases[3].label == "neutral"
    assert "1 earlier answers of 'ann' are replaced" in changed.friction.notes[0]
    write_results(study, changed, later)
    aside = read_answers(str(study.folder / "people-replaced.jsonl")).answers
    assert [one.value for one in aside] == ["Understated Positive"]


def test_two_people_under_one_name_are_not_one(study: Study, tmp_path: Path) -> None:
    ask(study, tmp_path, votes(study))
    item = study.plan.items[3].id
    first, second = ([Answer(item, "person-1", value, "stance")] for value in ("neutral", "positive"))
    with pytest.raises(UserError, match="two different answers of 'person-1'"):
        people_so_far(study, [first, second])
    assert people_so_far(study, [first, first]).answers == tuple(first)


def test_a_filled_row_needs_a_name(study: Study, tmp_path: Path) -> None:
    ask(study, tmp_path, votes(study))
    write_results(study, results_of(study, how=FAST))
    path = study.folder / "people.csv"
    header, first, *_ = csv.reader(path.read_text(encoding="utf-8-sig").splitlines())
    assert first[2:5] == ["", "", " | ".join(load("cue_stance9").ids)]
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, [*first[:3], "neutral", *first[4:]]])
    with pytest.raises(UserError, match="annotator"):
        people_so_far(study)


def test_people_give_labels_that_the_item_offers(tmp_path: Path) -> None:
    """A's feeling is good, so B's is bad: five labels each, and none of the other five."""
    row = {"id": "s1", "sentence": "Ana is on board; Bo is not.", "agent_a_role": "Ana", "agent_b_role": "Bo"}
    source = tmp_path / "scenes.jsonl"
    source.write_text(json.dumps({**row, "agent_a_polarity": "positive"}) + "\n", encoding="utf-8")
    cases = [Case("s1", slot, "s1", "joy", "pride", True) for slot in ("A", "B")]
    for protocol, fits in (("joint", False), ("open", True)):
        asked = make_study(make_plan("chiaro", data=str(source), protocol=protocol), tmp_path / protocol)
        options = {row["slot"]: row["options"] for row in csv.DictReader(people_csv(asked, cases)[1:].splitlines())}
        bad = [Answer("s1", "ann", "sadness", "A"), Answer("s1", "ann", "joy", "B")]
        if fits:
            assert options["A"] == options["B"] == " | ".join(load("chiaro10").ids)
            assert len(fitting(asked, cases, bad)) == 2
            continue
        assert set(options["A"].split(" | ")) == {"excitement", "gratitude", "joy", "pride", "relief"}
        assert set(options["B"].split(" | ")) == {"anger", "disgust", "embarrassment", "fear", "sadness"}
        with pytest.raises(UserError, match="2 answers of people do not fit") as error:
            fitting(asked, cases, bad)
        assert "'sadness' is not offered there" in str(error.value)


def test_people_who_differ_settle_nothing(study: Study, tmp_path: Path) -> None:
    ask(study, tmp_path)
    item = study.plan.items[3].id
    two = [Answer(item, "ann", "neutral", "stance"), Answer(item, "bob", "positive", "stance")]
    found = results_of(study, two, FAST)
    assert found.cases[3].outcome == "waiting"
    assert "On 1 slots people differ" in found.friction.notes[0]
    three = [*two, Answer(item, "cleo", "positive", "stance")]
    settled = results_of(study, three, FAST)
    assert (settled.cases[3].label, settled.gold[3].source) == ("positive", "majority")


def test_answers_that_do_not_fit_are_listed(study: Study, tmp_path: Path) -> None:
    ask(study, tmp_path)
    bad = [Answer("nowhere", "ann", "neutral", "stance"), Answer(study.plan.items[0].id, "ann", "glad", "stance")]
    with pytest.raises(UserError, match="2 answers of people do not fit") as error:
        results_of(study, bad, FAST)
    assert "not in the study" in str(error.value)
    assert "'glad' is no label of cue_stance9" in str(error.value)


def test_the_labels_are_data_that_run_takes(study: Study, tmp_path: Path) -> None:
    ask(study, tmp_path, votes(study))
    people = [Answer(study.plan.items[place].id, "ann", "neutral", "stance") for place in (3, 4)]
    gold = results_of(study, people, FAST).gold
    filled = fill("cue", study.plan.source, gold)
    path = tmp_path / "gold.jsonl"
    path.write_text(filled.to_jsonl(), encoding="utf-8")
    plan = make_plan("cue", data=str(path))
    assert [item.gold["stance"] for item in plan.items] == [
        "positive",
        "negative",
        "neutral",
        "neutral",
        "neutral",
        "negative",
    ]


def test_an_audit_asks_people_about_everything(study: Study, tmp_path: Path) -> None:
    ask(study, tmp_path, votes(study))
    audited = replace(study, audit=Audit(1.0))
    assert {case.why_people for case in results_of(audited, how=FAST).cases} == {"audit"}


def test_a_model_is_no_judge_of_itself_and_no_second_opinion() -> None:
    a, b = ModelCard("m:a", "a"), ModelCard("m:b", "b")
    assert check_cards(a, b, ModelCard("m:c", "c")) == []
    assert "votes on its own labels" in check_cards(a, b, a)[0]
    with pytest.raises(UserError, match="two different ones"):
        check_cards(a, a)


def test_slots_that_are_not_there(study: Study, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no slot 'mood'"):
        make_study(study.plan, tmp_path, slots=["mood"])
    ask(study, tmp_path)
    with pytest.raises(UserError, match="predicts no explicit"):
        read_cases(replace(study, slots=("explicit",)))
    with pytest.raises(UserError, match="rotate or fixed"):
        make_study(replace(study.plan, asking=Asking(order="all")), tmp_path)


@pytest.mark.parametrize(
    ("value", "space", "found"),
    [
        ("Positive", "cue_stance9", "positive"),
        ("积极", "cue_stance9", "positive"),
        (4, "care_scale5", 4.0),
        ("4", "care_scale5", 4.0),
        ("Somewhat agree", "care_scale5", 4.0),
        (("joy", "anger"), "plutchik8", ("joy", "anger")),
        (["anger", "joy"], "plutchik8", ("joy", "anger")),
        ({"Joy": 2}, "plutchik8", {"joy": 2.0}),
        ("free text", None, "free text"),
        (2, None, 2.0),
    ],
)
def test_labels_are_compared_as_ids(value: Any, space: str | None, found: Any) -> None:
    assert as_label(value, load(space) if space else None) == found


@pytest.mark.parametrize(("value", "space"), [("gladness?", "cue_stance9"), (9, "care_scale5"), ("9", "care_scale5")])
def test_what_is_no_label(value: Any, space: str) -> None:
    with pytest.raises(UserError, match="is no label"):
        as_label(value, load(space))


def test_candidates_in_the_language_of_the_task() -> None:
    stances, scale = load("cue_stance9"), load("care_scale5")
    assert language_of("可选：积极、中性", stances) == "zh"
    assert language_of("choose Positive or Neutral", stances) == "en"
    assert describe("positive", stances, "积极", "zh") == "积极"
    assert describe("positive", stances, "Positive") == "Positive"
    assert describe(4.0, scale).startswith("4 (")
    assert describe(("joy", "fear"), load("plutchik8"), "Joy, Fear") == "Joy, Fear"
    assert describe((), load("plutchik8")) == "none"


def test_questions_are_no_data_file() -> None:
    with pytest.raises(UserError, match="two models' labels"):
        ADJUDICATION.load("x", {}, {})
