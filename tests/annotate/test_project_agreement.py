"""Agreement in a project: within groups of labels, by slices, and across versions of the design."""

from __future__ import annotations

import pytest

from affectlab.annotate.project_agreement import project_agreement
from affectlab.annotate.store import project
from affectlab.annotate.store.engine import Store
from affectlab.annotate.units import make_unit
from affectlab.errors import UserError
from affectlab.stats.agreement.summary import SlotAgreement
from tests.annotate.support import STUDY, Running, small_design, study

SIDES = small_design(
    "sides",
    """
[[slots]]
id = "A"
kind = "choice"
title = "A?"
group_field = "side_A"
options = [
  { id = "u1", names = "u1", group = "up" }, { id = "u2", names = "u2", group = "up" },
  { id = "d1", names = "d1", group = "down" }, { id = "d2", names = "d2", group = "down" },
]

[[slots]]
id = "B"
kind = "choice"
title = "B?"
group_field = "side_B"
options = [
  { id = "u1", names = "u1", group = "up" }, { id = "u2", names = "u2", group = "up" },
  { id = "d1", names = "d1", group = "down" }, { id = "d2", names = "d2", group = "down" },
]
""",
)

UP = ["11", "11", "22", "12", "11", "11", "22", "12"]
DOWN = ["11", "22", "12", "21", "11", "22", "12", "21"]
"""What Ann and Bob say of the good and the bad feeling of eight items."""


def figures(found: list[SlotAgreement], name: str) -> dict[str, float | None]:
    return {one.slot: one.figure(name).value for one in found}


def sides(store: Store) -> Running:
    """Eight items; A's feeling is good in the first four, B's in the others."""
    design = study(SIDES)
    with store.write() as conn:
        project.start_project(conn, design, 0, store.now())
        units = []
        for n in range(8):
            first, second = ("up", "down") if n < 4 else ("down", "up")
            fields = {"text": f"Text {n}.", "side_A": first, "side_B": second}
            units.append(make_unit(design, f"i{n}", fields, {"mode": "x" if n < 4 else "y"}))
        project.add_units(conn, design, units, 0)
    run = Running(store, design)
    for place, name in enumerate(("ann", "bob")):
        run.join(name)
        while (item := run.claim(name)) is not None:
            n = int(item[1:])
            up, down = f"u{UP[n][place]}", f"d{DOWN[n][place]}"
            run.submit(name, item, {"A": up, "B": down} if n < 4 else {"A": down, "B": up})
    return run


def test_agreement_within_each_group_of_labels(sqlite_store: Store) -> None:
    run = sides(sqlite_store)
    with sqlite_store.read() as conn:
        found = project_agreement(conn, run.design)
    # Up: 6 of 8 the same; Ann u1 6, u2 2; Bob 4 and 4: expected (24 + 8) / 64 = 1/2; kappa (3/4 - 1/2) / (1/2) = 1/2.
    # Down: 4 of 8; all margins 4: expected 1/2; kappa 0.
    # Slot A, over four labels: 3 + 2 of 8; Ann 3, 1, 2, 2; Bob 2, 2, 2, 2: expected 16 / 64; kappa (5/8 - 1/4) / (3/4).
    # Slot B: 2 + 3 of 8 with Ann 2, 2, 3, 1: the same.
    assert figures(found, "percent_agreement") == {"A": 5 / 8, "B": 5 / 8, "up (A, B)": 6 / 8, "down (A, B)": 4 / 8}
    assert figures(found, "cohen_kappa") == pytest.approx({"A": 0.5, "B": 0.5, "up (A, B)": 0.5, "down (A, B)": 0.0})
    assert [one.ratings.paired_units for one in found] == [8, 8, 8, 8]
    assert [one.ratings.values for one in found[2:]] == [("u1", "u2"), ("d1", "d2")]
    assert ["1/2 by chance" in " ".join(one.notes) for one in found] == [True, True, False, False]


def test_an_item_may_offer_one_group_in_two_slots(sqlite_store: Store) -> None:
    design = study(SIDES)
    with sqlite_store.write() as conn:
        project.start_project(conn, design, 0, sqlite_store.now())
        fields = {"text": "A text.", "side_A": "up", "side_B": "up"}
        project.add_units(conn, design, [make_unit(design, "i0", fields)], 0)
    run = Running(sqlite_store, design)
    for name, second in (("ann", "u1"), ("bob", "u2")):
        run.join(name)
        run.answer_all(name, {"A": "u1", "B": second})
    with sqlite_store.read() as conn:
        *_, up = project_agreement(conn, design)
    assert (up.slot, up.ratings.units) == ("up (A, B)", ("i0 (A)", "i0 (B)"))
    assert up.figure("percent_agreement").value == 0.5


def test_agreement_by_a_slice(sqlite_store: Store) -> None:
    run = sides(sqlite_store)
    with sqlite_store.read() as conn:
        found = project_agreement(conn, run.design, by="mode")
        with pytest.raises(UserError, match="no 'colour' to compare by; they have: mode"):
            project_agreement(conn, run.design, by="colour")
    # The first four items are x: up 11 11 22 12 and down 11 22 12 21; the other four are the same again.
    shares = {"A (mode: x)": 3 / 4, "B (mode: x)": 2 / 4, "up (A, B) (mode: x)": 3 / 4, "down (A, B) (mode: x)": 2 / 4}
    shares |= {"A (mode: y)": 2 / 4, "B (mode: y)": 3 / 4, "up (A, B) (mode: y)": 3 / 4, "down (A, B) (mode: y)": 2 / 4}
    assert figures(found, "percent_agreement") == shares


def changed(store: Store, new: str, mapping: dict[str, dict[str, str]]) -> Running:
    """Ann answers under version 1, Bob under version 2."""
    design = study()
    with store.write() as conn:
        project.start_project(conn, design, 0, store.now())
        project.add_units(conn, design, [make_unit(design, f"i{n}", {"text": f"Text {n}."}) for n in range(4)], 0)
    run = Running(store, design)
    run.join("ann")
    run.answer_all("ann", {"mood": "calm", "strength": 3})
    run.design = study(new, version=2)
    with store.write() as conn:
        project.replace_design(conn, run.design, mapping, store.now())
    run.join("bob")
    run.answer_all("bob", {"mood": run.design.slot["mood"].options[2].id, "strength": 3})
    return run


def test_versions_with_other_labels_are_never_mixed_silently(sqlite_store: Store) -> None:
    more = STUDY.replace(
        '{ id = "calm", names = "Calm" }', '{ id = "calm", names = "C" }, { id = "tense", names = "T" }'
    )
    run = changed(sqlite_store, more, {})
    with sqlite_store.read() as conn:
        mood, strength = project_agreement(conn, run.design)
        (alone, _) = project_agreement(conn, run.design, schema="1")
        with pytest.raises(UserError, match="No answer has version '3' of the design; there are: 1, 2"):
            project_agreement(conn, run.design, schema="3")
    assert "versions 1, 2 of the design" in mood.notes[0]
    assert "version 1 without tense" in mood.notes[0]
    assert strength.notes == ()
    assert alone.ratings.raters == (run.persons["ann"].id,)
    assert alone.notes == ()


def test_versions_with_renamed_labels_are_one(sqlite_store: Store) -> None:
    run = changed(sqlite_store, STUDY.replace('id = "calm"', 'id = "even"'), {"mood": {"calm": "even"}})
    with sqlite_store.read() as conn:
        mood, strength = project_agreement(conn, run.design)
    assert mood.figure("percent_agreement").value == 1.0
    assert mood.notes == strength.notes == ()


def test_levels_and_what_a_slot_rests_on_come_from_the_design(sqlite_store: Store) -> None:
    years = '[[slots]]\nid = "years"\nkind = "number"\ntitle = "How old?"\n\n[[slots]]\nid = "why"'
    above = STUDY.replace('id = "strength"', 'id = "strength"\nupstream = "mood"')
    design = study(above.replace('[[slots]]\nid = "why"', years))
    with sqlite_store.write() as conn:
        project.start_project(conn, design, 0, sqlite_store.now())
        project.add_units(conn, design, [make_unit(design, f"i{n}", {"text": f"Text {n}."}) for n in range(4)], 0)
    run = Running(sqlite_store, design)
    # They agree on the mood of i0, i1, i2; there their strengths are 1-1, 2-2, 4-5.
    for name, said in (("ann", "glad1 glad2 sad4 calm3"), ("bob", "glad1 glad2 sad5 glad3")):
        run.join(name)
        while (item := run.claim(name)) is not None:
            word = said.split()[int(item[1:])]
            run.submit(name, item, {"mood": word[:-1], "strength": int(word[-1]), "years": int(item[1:])})
    with sqlite_store.read() as conn:
        mood, strength, age = project_agreement(conn, design)
    assert (mood.level, strength.level, age.level) == ("nominal", "ordinal", "interval")
    assert strength.ratings.values == (1.0, 2.0, 3.0, 4.0, 5.0)
    assert strength.upstream is not None
    assert (strength.upstream.slot, strength.upstream.kept, strength.upstream.n) == ("mood", 3, 4)
    assert strength.upstream.figures[0].value == pytest.approx(2 / 3)
    assert strength.figure("percent_agreement").value == 0.75
