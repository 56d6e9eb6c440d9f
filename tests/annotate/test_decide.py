"""Deciding from the command line: a value is read as its slot has values."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import select

from affectlab.annotate.decide import decide_slot
from affectlab.annotate.store import panels, project, tables
from affectlab.annotate.store.engine import Store
from affectlab.annotate.store.people import RefusedError
from affectlab.annotate.units import make_unit
from affectlab.errors import UserError
from tests.annotate.support import STUDY, Running, running, small_design, study

KINDS = small_design(
    "kinds",
    """
[[slots]]
id = "which"
kind = "choice"
title = "Which?"
options_field = "choices"

[[slots]]
id = "level"
kind = "scale"
title = "How much?"
low = 1
high = 5

[[slots]]
id = "set"
kind = "label_set"
title = "Which of them?"
options = [{ id = "a", names = "a" }, { id = "b", names = "b" }]

[[slots]]
id = "note"
kind = "text"
title = "Why?"
""",
)

ANN: dict[str, Any] = {"which": "1", "level": 2, "set": ["a"], "note": "12"}
BOB: dict[str, Any] = {"which": "2", "level": 4, "set": [], "note": "[so]"}


@pytest.fixture
def run(sqlite_store: Store) -> Running:
    design = study(KINDS)
    with sqlite_store.write() as conn:
        project.start_project(conn, design, 0, sqlite_store.now())
        unit = make_unit(design, "i0", {"text": "A text.", "choices": ["one", "two", "three"]})
        project.add_units(conn, design, [unit], 0)
    run = Running(sqlite_store, design)
    run.join("judge", "adjudicator")
    for name, values in (("ann", ANN), ("bob", BOB)):
        run.join(name)
        run.answer_all(name, values)
    return run


def decided(run: Running, slot: str, value: str, reason: str = "", by: str = "judge") -> tuple[Any, str]:
    with run.store.write() as conn:
        decide_slot(conn, f"i0.{slot}", value, reason, by, run.store.now())
        panel = panels.panel(conn, run.design, "i0")
    assert panel is not None
    return panel.decisions[slot].value, panel.decisions[slot].choice


@pytest.mark.parametrize(
    ("slot", "value", "kept"),
    [
        ("which", "1", ("1", "accept")),
        ("level", "4", (4, "accept")),
        ("set", '["a"]', (["a"], "accept")),
        ("set", "[]", ([], "accept")),
        ("note", "12", ("12", "accept")),
        ("note", "[so]", ("[so]", "accept")),
    ],
)
def test_a_value_is_read_as_the_slot_has_values(run: Running, slot: str, value: str, kept: tuple[Any, str]) -> None:
    assert decided(run, slot, value) == kept


@pytest.mark.parametrize("reason", ["", "  \n"])
def test_another_answer_needs_a_reason(run: Running, reason: str) -> None:
    with pytest.raises(UserError, match="Nobody answered '3'"):
        decided(run, "which", "3", reason)
    assert decided(run, "which", "3", "neither") == ("3", "other")


@pytest.mark.parametrize(("slot", "value"), [("which", "9"), ("level", "much"), ("level", "9"), ("set", "a")])
def test_what_is_no_value_of_the_slot(run: Running, slot: str, value: str) -> None:
    with pytest.raises(UserError, match=f"--value {value}: not an option"):
        decided(run, slot, value, "because")


def test_where_people_discuss_only_those_who_labelled_the_item_decide(sqlite_store: Store) -> None:
    run = running(sqlite_store, study(adjudication={"own_items": True}), items=1)
    for name, mood in (("ann", "glad"), ("bob", "sad"), ("cat", "")):
        run.join(name)
        if mood:
            run.answer_all(name, {"mood": mood, "strength": 3})
    with pytest.raises(UserError, match="cat has not labelled i0"):
        decided(run, "mood", "glad", by="cat")
    assert run.client("cat").get("/adjudicate/mood/i0").status_code == 403
    assert decided(run, "mood", "glad", by="ann") == ("glad", "accept")
    with pytest.raises(RefusedError, match="discussed"):  # ann has seen what bob answered
        run.submit("ann", "i0", {"mood": "calm", "strength": 3})


def test_a_decision_is_among_the_events(run: Running) -> None:
    decided(run, "which", "1")
    with run.store.read() as conn:
        events = [(row.kind, row.body) for row in conn.execute(select(tables.event))]
    assert events == [("decision", {"item": "i0", "slot": "which", "version": 1})]


def test_ids_of_items_and_slots_may_have_dots(sqlite_store: Store) -> None:
    text = STUDY.replace('id = "strength"', 'id = "the.mood"')
    run = running(sqlite_store, study(text), items=0)
    with sqlite_store.write() as conn:
        named = [make_unit(run.design, item, {"text": f"Of {item}."}) for item in ("i", "i.0", "j", "j.the")]
        project.add_units(conn, run.design, named, 0)
    run.join("judge", "adjudicator")
    for name, mood, strength in (("ann", "glad", 1), ("bob", "sad", 2)):
        run.join(name)
        run.answer_all(name, {"mood": mood, "the.mood": strength})
    with sqlite_store.write() as conn:
        for name, value, item, slot in (("i.0.the.mood", "2", "i.0", "the.mood"), ("j.mood", "sad", "j", "mood")):
            decide_slot(conn, name, value, "", "judge", run.store.now())
            panel = panels.panel(conn, run.design, item)
            assert panel is not None
            assert list(panel.decisions) == [slot]
        with pytest.raises(UserError, match=r"'mood' of 'j.the' or 'the.mood' of 'j'; decide it on the page"):
            decide_slot(conn, "j.the.mood", "1", "", "judge", run.store.now())
        with pytest.raises(UserError, match=r"There is no 'k.mood'"):
            decide_slot(conn, "k.mood", "sad", "", "judge", run.store.now())
