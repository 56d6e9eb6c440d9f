"""What a quality sheet gets to see of a project."""

from __future__ import annotations

from tests.annotate.support import STUDY, Running, running, study

from affectlab.annotate.design_file import read_design
from affectlab.annotate.quality import sheet
from affectlab.annotate.store import project
from affectlab.annotate.store.engine import Store
from affectlab.annotate.store.panels import panels
from affectlab.annotate.store.works import others_of, works_of
from affectlab.annotate.units import make_unit


def test_one_key_throughout_is_seen_whatever_options_an_item_has(sqlite_store: Store) -> None:
    chiaro = read_design("chiaro").model_copy(update={"repeat_share": 0.0, "attention": ()})
    polarity = [(chiaro.slot[slot].group_field, slot) for slot in "AB"]
    units = []
    for number in range(12):
        groups = ("positive", "negative") if number * number % 7 < 3 else ("negative", "positive")
        sides = {field: group for (field, _), group in zip(polarity, groups, strict=True)}
        fields = {shown.field: f"Scene {number}." for shown in chiaro.shown if shown.field not in sides}
        units.append(make_unit(chiaro, f"i{number}", fields | sides))
    with sqlite_store.write() as conn:
        project.start_project(conn, chiaro, 0, sqlite_store.now())
        project.add_units(conn, chiaro, units, 0)
    run = Running(sqlite_store, chiaro)
    for name, place in (("ann", 0), ("bob", 1)):
        run.join(name)
        while (item := run.claim(name)) is not None:
            unit = next(one for one in units if one.id == item)
            run.submit(name, item, {slot: unit.options[slot][place].id for slot in "AB"})
    with sqlite_store.read() as conn:
        who = run.persons["ann"].id
        works, others = works_of(conn, chiaro, who), others_of(panels(conn, chiaro), who)
    found = sheet(chiaro, works, others)
    assert {flag.evidence for flag in found.flags if flag.name == "pattern"} == {
        f"{slot}: the option in the same place 12 times in a row" for slot in "AB"
    }
    assert found.with_others == (0, 24, 12)
    assert found.kappa["A"].value is not None
    assert [list(answers) for answers in others.values()] == [[run.persons["bob"].id]] * 12


def test_under_a_new_name_a_label_is_the_same_answer(store: Store) -> None:
    """Of six texts ann answers three before glad is called happy and three after, bob all before; one is a check."""
    check = """
[[attention]]
id = "check"
fields = { text = "Choose glad." }
expected = { mood = "glad" }
"""
    run = running(store, study(STUDY + check), items=6)
    glad, happy = {"mood": "glad", "strength": 3}, {"mood": "happy", "strength": 3}
    for name in ("ann", "bob"):
        run.join(name)
    run.answer_all("bob", glad)
    for _ in range(3):
        item = run.claim("ann")
        assert item is not None
        run.submit("ann", item, glad)
    run.design = study((STUDY + check).replace('"glad"', '"happy"'), version=2)
    with store.write() as conn:
        project.replace_design(conn, run.design, {"mood": {"glad": "happy"}}, store.now())
    run.answer_all("ann", happy)
    for name in ("ann", "bob"):
        with store.read() as conn:
            who = run.persons[name].id
            found = sheet(run.design, works_of(conn, run.design, who), others_of(panels(conn, run.design), who))
        assert found.attention == (1, 1, 1)  # right, asked, items
        assert found.with_others == (6, 6, 6)  # the mood of six texts; scales are not compared so
