"""``affectlab agreement``: tables, JSON, and files that are refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

STANCE = {"A": "ppppqqqqrr", "B": "pppqqqqprr"}
MOOD = {"A": "xxxyyyxyxy", "B": "xxyyyyxxyy"}


def _rows(*, kind: str = "") -> list[str]:
    rows = ["item,annotator,slot,value" + (",kind" if kind else "")]
    for slot, given in (("stance", STANCE), ("mood", MOOD)):
        for who, said in given.items():
            rows += [f"i{n},{who},{slot},{value}" + (f",{kind}" if kind else "") for n, value in enumerate(said)]
    return rows


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    path = tmp_path / "answers.csv"
    path.write_text("\n".join(_rows()) + "\n", encoding="utf-8")
    return path


def test_the_table_and_the_sentence(cli: Callable[..., Any], answers: Path) -> None:
    ended = cli("agreement", answers, "--slot", "stance", "--replicates", 200)
    assert ended.code == 0
    text = " ".join(ended.out.split())
    assert "Raw agreement 80.0" in text
    # p_e: p 4·4, q 4·4, r 2·2 of 100 is 0.36; (0.8 - 0.36) / 0.64 = 0.6875.
    assert "Cohen's κ 0.688" in text
    assert (
        "For stance, 2 annotators gave 20 answers on 10 items; on the 10 with two answers or more, raw agreement"
        in text
    )
    assert "A against B (rows: A, columns: B)" in text


def test_json_holds_every_figure(cli: Callable[..., Any], answers: Path) -> None:
    ended = cli("agreement", answers, "--upstream", "stance", "--json", "--replicates", 50)
    stance, mood = ended.json["slots"]
    figures = {one["name"]: one["value"] for one in stance["figures"]}
    assert figures["cohen_kappa"] == pytest.approx(0.6875)
    assert list(figures) == ["percent_agreement", "cohen_kappa", "fleiss_kappa", "alpha_nominal", "gwet_ac1"]
    assert stance["upstream"] is None
    # Stance is agreed on in all but items 3 and 7; of these eight, mood differs on items 2 and 8.
    assert (mood["upstream"]["kept"], mood["upstream"]["n"]) == (8, 10)
    assert mood["upstream"]["figures"][0]["value"] == 6 / 8
    assert mood["confusions"][0]["counts"] == [[3, 2], [1, 4]]


def test_levels_and_declared_values(cli: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "likert.csv"
    path.write_text("item,annotator,value\n1,a,1\n1,b,2\n2,a,4\n2,b,4\n3,a,2\n3,b,2\n", encoding="utf-8")
    for level, wanted in (("interval", "ICC2"), ("ordinal", "cohen_kappa_quadratic"), ("nominal", "gwet_ac1")):
        options = ["--values", "1,2,3,4,5"] if level == "ordinal" else []
        found = cli("agreement", path, "--level", level, *options, "--json", "--replicates", 20).json["slots"][0]
        assert wanted in {one["name"] for one in found["figures"]}
        assert len(found["values"]) == (5 if level == "ordinal" else 3)


def two_slots(tmp_path: Path) -> Path:
    path = tmp_path / "two.csv"
    rows = ["item,annotator,slot,value"]
    for slot, given in (("mood", {"a": "xyx", "b": "xyy"}), ("lik", {"a": "142", "b": "242"})):
        rows += [f"{n},{who},{slot},{value}" for who, said in given.items() for n, value in enumerate(said)]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


def test_values_of_one_slot_among_several(cli: Callable[..., Any], tmp_path: Path) -> None:
    path = two_slots(tmp_path)
    for options in (["--slot", "lik"], []):
        ended = cli("agreement", path, "--values", "lik=1,2,3,4,5", *options, "--json", "--replicates", 20)
        assert ended.code == 0
        slots = {one["slot"]: one for one in ended.json["slots"]}
        assert (slots["lik"]["level"], slots["lik"]["values"]) == ("ordinal", [1, 2, 3, 4, 5])
        assert options or slots["mood"]["level"] == "nominal"
    # Values of no slot in particular are those of the slot asked for; rows of the other are no numbers.
    (slot,) = cli("agreement", path, "--slot", "lik", "--values", "1,2,3,4,5", "--json", "--replicates", 20).json[
        "slots"
    ]
    assert (slot["level"], slot["values"]) == ("ordinal", [1, 2, 3, 4, 5])


def test_a_level_is_of_the_slots_asked_for(cli: Callable[..., Any], tmp_path: Path) -> None:
    path = two_slots(tmp_path)
    options = ["--level", "interval", "--slot", "lik", "--upstream", "mood", "--json", "--replicates", 20]
    (slot,) = cli("agreement", path, *options).json["slots"]
    # The mood is agreed on in items 0 and 1.
    assert (slot["level"], slot["upstream"]["kept"]) == ("interval", 2)
    ended = cli("agreement", path, "--level", "interval", "--slot", "mood")
    assert ended.code == 2
    assert "6 answers to mood are no numbers: 'x' (a on 0)" in ended.err
    ended = cli("agreement", path, "--values", "likert=1,2,3")
    assert ended.code == 2
    assert "no slot 'likert'" in ended.err


def test_numbers_compared_as_labels_are_pointed_out(cli: Callable[..., Any], tmp_path: Path) -> None:
    path = two_slots(tmp_path)
    ended = cli("agreement", path, "--json", "--replicates", 20)
    assert "Slot 'lik': the values are numbers, compared as labels" in ended.err
    assert "Slot 'mood'" not in ended.err
    for options in (["--values", "lik=1,2,3,4,5"], ["--slot", "mood"], ["--level", "nominal"]):
        assert "compared as labels" not in cli("agreement", path, *options, "--json", "--replicates", 20).err


def test_two_codes_are_no_scale(cli: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("item,annotator,value\n1,a,0\n1,b,1\n2,a,0\n2,b,0\n", encoding="utf-8")
    assert "compared as labels" not in cli("agreement", tmp_path / "a.csv", "--json", "--replicates", 20).err


def test_own_weights(cli: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "w.csv").write_text(",x,y,z\nx,0,1,3\ny,1,0,6\nz,3,6,0\n", encoding="utf-8")
    rows = ["item,annotator,value"]
    table = [[88, 14, 18], [10, 40, 10], [2, 6, 12]]  # Cohen (1960, 1968): weighted kappa .348
    for a, counts in enumerate(table):
        for b, count in enumerate(counts):
            for _ in range(count):
                rows += [f"{len(rows)},A,{'xyz'[a]}", f"{len(rows)},B,{'xyz'[b]}"]
    (tmp_path / "a.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    found = cli("agreement", tmp_path / "a.csv", "--weights", tmp_path / "w.csv", "--json", "--replicates", 20)
    figures = {one["name"]: one["value"] for one in found.json["slots"][0]["figures"]}
    assert figures["cohen_kappa_weighted"] == pytest.approx(0.348, abs=5e-4)


def test_own_weights_of_numbers_that_nobody_may_have_chosen(cli: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "w.csv").write_text(",1,2,3,4\n1,0,1,4,9\n2,1,0,1,4\n3,4,1,0,1\n4,9,4,1,0\n", encoding="utf-8")
    (tmp_path / "a.csv").write_text("item,annotator,value\n1,a,1\n1,b,2\n2,a,3\n2,b,3\n", encoding="utf-8")
    found = cli("agreement", tmp_path / "a.csv", "--weights", tmp_path / "w.csv", "--json", "--replicates", 20)
    figures = {one["name"]: one["value"] for one in found.json["slots"][0]["figures"]}
    # Disagreement 1 of 2; expected {1, 3} × {2, 3}: 1 + 4 + 1 + 0 of 4.
    assert figures["cohen_kappa_weighted"] == pytest.approx(1 - (1 / 2) / (6 / 4))


def test_sets_and_intensities(cli: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    rows = [
        {"item": "1", "annotator": "a", "value": ["x", "y"]},
        {"item": "1", "annotator": "b", "value": ["x"]},
        {"item": "2", "annotator": "a", "value": ["z"]},
        {"item": "2", "annotator": "b", "value": ["z"]},
        {"item": "1", "annotator": "a", "slot": "much", "value": {"joy": 3}},
        {"item": "1", "annotator": "b", "slot": "much", "value": {"joy": 2, "fear": 1}},
        {"item": "2", "annotator": "a", "slot": "much", "value": {}},
        {"item": "2", "annotator": "b", "slot": "much", "value": {}},
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    slots = {one["slot"]: one for one in cli("agreement", path, "--json", "--replicates", 20).json["slots"]}
    assert list(slots) == [
        "label",
        "much: labels",
        "much: fear",
        "much: fear, where given",
        "much: joy",
        "much: joy, where given",
    ]
    figures = {one["name"]: one["value"] for one in slots["label"]["figures"]}
    assert figures["alpha_masi"] == pytest.approx(4 / 7)
    assert figures["alpha_jaccard"] == pytest.approx(2 / 3)
    assert slots["much: joy"]["level"] == "interval"


def test_people_and_models_never_share_a_figure(cli: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    machines = [row.replace(",A,", ",m1,").replace(",B,", ",m2,") for row in _rows(kind="model")[1:]]
    path.write_text("\n".join([*_rows(kind="human"), *machines]) + "\n", encoding="utf-8")
    ended = cli("agreement", path, "--json", "--replicates", 20)
    assert ended.json["slots"][0]["annotators"] == ["A", "B"]
    assert "40 answers of the other kind are left out" in ended.err
    assert cli("agreement", path, "--json", "--kind", "model").json["slots"][0]["annotators"] == ["m1", "m2"]


def test_versions_of_the_label_set_are_never_mixed(cli: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("item,annotator,value,schema\n1,a,x,1\n1,b,x,2\n", encoding="utf-8")
    ended = cli("agreement", path)
    assert ended.code == 2
    assert "2 versions of the label set (1, 2)" in ended.err
    assert cli("agreement", path, "--schema", "1").code == 0


def test_the_kappa_paradox_is_pointed_out(cli: Callable[..., Any], tmp_path: Path) -> None:
    table = {("x", "x"): 90, ("x", "y"): 5, ("y", "x"): 5}
    pairs = [pair for pair, count in table.items() for _ in range(count)]
    rows = ["item,annotator,value"] + [
        f"{n},{who},{said}" for n, pair in enumerate(pairs) for who, said in zip("AB", pair, strict=True)
    ]
    (tmp_path / "a.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    assert "kappa paradox" in " ".join(cli("agreement", tmp_path / "a.csv", "--replicates", 20).out.split())


@pytest.mark.parametrize(
    ("content", "options", "words"),
    [
        ("item,annotator,value\n1,a,x\n1,a,y\n,b,z\n", [], ["line 3", "line 2 has it already", "line 4, field item"]),
        ("item,annotator,value\n1,a,x\n", ["--slot", "moood"], ["no slot 'moood'"]),
        ("item,annotator,value\n1,a,x\n1,b,y\n", ["--level", "interval"], ["line 2, field value", "a number"]),
        ("item,annotator,value\n1,a,x\n1,b,y\n", ["--level", "ordinal"], ["Slot 'label'", "declare it"]),
        ("item,annotator,value\n1,a,x\n1,b,q\n", ["--values", "x,y"], ["none of the declared values: 'q'"]),
        ("item,annotator,value\n1,a,x\n", ["--values", "nospace"], ["nospace"]),
        ("item,annotator,value\n1,a,x\n", ["--level", "cardinal"], ["expected one of nominal"]),
        ("item,annotator,value\n1,a,x\n", ["--kind", "robot"], ["expected human or model"]),
        ("item,annotator,value\n1,a,x\n", ["--kind", "model"], ["no answers of kind model (1 of kind human)"]),
        ("item,coder,value\n1,a,x\n", [], ["--map annotator=COLUMN"]),
        ("", [], ["empty"]),
    ],
)
def test_what_is_wrong_is_said(
    cli: Callable[..., Any], tmp_path: Path, content: str, options: list[str], words: list[str]
) -> None:
    path = tmp_path / "a.csv"
    path.write_text(content, encoding="utf-8")
    ended = cli("agreement", path, *options)
    assert ended.code == 2
    for word in words:
        assert word in ended.err


def test_the_page(cli: Callable[..., Any], answers: Path, tmp_path: Path) -> None:
    assert cli("agreement", answers, "--html", tmp_path / "a.html", "--replicates", 20).code == 0
    assert "Agreement among annotators" in (tmp_path / "a.html").read_text(encoding="utf-8")


def test_one_annotator_is_undefined_and_no_crash(cli: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("item,annotator,value\n1,a,x\n2,a,y\n", encoding="utf-8")
    ended = cli("agreement", tmp_path / "a.csv")
    assert ended.code == 0
    assert "one_annotator" in ended.out
    assert "agreement is undefined" in " ".join(ended.out.split())
