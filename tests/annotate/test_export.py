"""Gold of a project: where each label is from, and how many said so."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from affectlab.annotate.adjudicate import Made, basis
from affectlab.annotate.exchange.gold import Settled
from affectlab.annotate.export import FILES, Wish, make_file, project_gold, write_export
from affectlab.annotate.store import panels, replies
from affectlab.annotate.store.engine import Store
from affectlab.annotate.store.replies import Submit
from affectlab.annotate.values import Reply
from tests.annotate.support import Running, running, study


def gold(run: Running) -> dict[str, Settled]:
    with run.store.read() as conn:
        return {one.slot: one for one in project_gold(run.design, panels.panels(conn, run.design))}


def three(store: Store, moods: str, **changes: Any) -> Running:
    run = running(store, study(overlap=3, **changes), items=1)
    for name, mood in zip(("ann", "bob", "cem"), moods.split(), strict=True):
        run.join(name)
        run.answer_all(name, {"mood": mood, "strength": 3, "why": name})
    return run


def test_a_majority_is_told_from_all(sqlite_store: Store) -> None:
    found = gold(three(sqlite_store, "glad sad glad", adjudication={"majority": True}))
    assert found == {
        "mood": Settled("i0", "mood", "glad", "majority", 3, 2),
        "strength": Settled("i0", "strength", 3.0, "unanimous", 3, 3),
    }


def test_a_decision_counts_those_who_gave_it(sqlite_store: Store) -> None:
    run = three(sqlite_store, "glad sad glad")
    assert gold(run)["mood"] == Settled("i0", "mood", None, "pending", 3, 0)
    judge = run.join("judge", "adjudicator").id
    with run.store.write() as conn:
        panel = panels.panel(conn, run.design, "i0")
        assert panel is not None
        seen = basis(run.design.slot["mood"], panel)
        panels.decide(conn, "i0", "mood", Made("sad", "accept", "", seen, judge, run.store.now()))
    assert gold(run)["mood"] == Settled("i0", "mood", "sad", "adjudicated", 3, 1, judge)
    with run.store.write() as conn:
        panels.decide(conn, "i0", "mood", Made(None, "no_gold", "", seen, judge, run.store.now()))
    assert gold(run)["mood"].source == "no-gold"


def test_what_everybody_left_out_has_no_gold(sqlite_store: Store) -> None:
    run = running(sqlite_store, study(), items=1)
    for name in ("ann", "bob"):
        run.join(name)
        item = run.claim(name)
        assert item is not None
        run.submit(name, item, {}, skipped="unclear")
    assert {one.source for one in gold(run).values()} == {"no-gold"}


def test_one_answer_is_gold_where_one_was_wanted_and_says_so(sqlite_store: Store) -> None:
    run = running(sqlite_store, study(overlap=1), items=1)
    run.join("ann")
    run.answer_all("ann", {"mood": "glad", "strength": 3})
    assert gold(run) == {
        "mood": Settled("i0", "mood", "glad", "single", 1, 1),
        "strength": Settled("i0", "strength", 3.0, "single", 1, 1),
    }


@pytest.mark.parametrize("name", ["remarks.csv", "remarks.jsonl"])
def test_flags_comments_and_reasons_come_along(sqlite_store: Store, tmp_path: Path, name: str) -> None:
    run = running(sqlite_store, study(), items=3)
    said = [Reply({"mood": "glad", "strength": 3}, "=typo, here?", flag=True), Reply({}, skipped="broken"), Reply()]
    ann = run.join("ann").id
    for key, reply in enumerate(said):
        item = run.claim("ann")
        assert item is not None
        with run.store.write() as conn:
            replies.submit(conn, run.design, (item, ann), reply, Submit(f"key-{key}"), run.store.now())
    with run.store.read() as conn:
        assert write_export(conn, tmp_path / name, Wish("remarks")) == "2 rows"
    text = (tmp_path / name).read_text("utf-8")
    lines = text.splitlines()
    rows = list(csv.DictReader(lines)) if name.endswith("csv") else [json.loads(line) for line in lines]
    found = {(row["flag"], row["left_out"], row["comment"]) for row in rows}
    assert found == {("yes", "", "'=typo, here?" if name.endswith("csv") else "=typo, here?"), ("", "broken", "")}
    assert len({row["item"] for row in rows}) == 2
    assert {row["annotator"] for row in rows} == {ann}


@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("long.csv", "\ufeffitem,annotator,value,type,slot,"),
        ("long.jsonl", '{"item": "i0", "annotator": '),
        ("wide.csv", "\ufeffitem,mood/"),
        ("gold.csv", "\ufeffitem,slot,value,type,source,"),
        ("gold.jsonl", '{"item": "i0", "slot": "mood", "value": "glad", "source": "unanimous"'),
    ],
)
def test_a_file_of_the_page_is_what_the_command_writes(
    name: str, start: str, sqlite_store: Store, tmp_path: Path
) -> None:
    run = three(sqlite_store, "glad glad glad")
    out = tmp_path / name
    with run.store.read() as conn:
        text = make_file(conn, run.design, name)
        write_export(conn, out, Wish(name.partition(".")[0], bom=True))
    assert text.startswith(start)
    assert out.read_bytes() == text.encode()
    assert name in FILES
