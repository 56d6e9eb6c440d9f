"""What a project holds: labels that are renamed take answers and decisions along."""

from __future__ import annotations

from typing import Any

import pytest
from tests.annotate.support import STUDY, Running, running, study

from affectlab.annotate import decide
from affectlab.annotate.adjudicate import settle
from affectlab.annotate.status import project_status
from affectlab.annotate.store import panels, project
from affectlab.annotate.store.engine import Store
from affectlab.annotate.units import make_unit
from affectlab.errors import UserError

GLAD = '{ id = "glad", names = "Glad" }'
HAPPY = STUDY.replace(GLAD, '{ id = "happy", names = "Happy" }')
MERRY = STUDY.replace(GLAD, '{ id = "merry", names = "Merry" }')
NO_CALM = STUDY.replace(', { id = "calm", names = "Calm" }', "")


def divided(store: Store, decided: dict[str, str]) -> Running:
    """Three texts of which ann says glad and bob sad, with a judge's decisions."""
    run = running(store, study(), items=3)
    for name, role in (("ann", "annotator"), ("bob", "annotator"), ("judge", "adjudicator")):
        run.join(name, role)
    run.answer_all("ann", {"mood": "glad", "strength": 3})
    run.answer_all("bob", {"mood": "sad", "strength": 3})
    with store.write() as conn:
        for item, value in decided.items():
            decide.decide_slot(conn, f"{item}.mood", value, "because", "judge", store.now())
    return run


def replaced(run: Running, text: str, version: int, mapping: dict[str, dict[str, str]] | None = None) -> None:
    run.design = study(text, version=version)
    with run.store.write() as conn:
        project.replace_design(conn, run.design, mapping or {}, run.store.now())


def moods(run: Running) -> list[tuple[str, Any]]:
    with run.store.read() as conn:
        found = [settle(run.design, run.design.slot["mood"], one) for one in panels.panels(conn, run.design)]
    return [(one.status, one.value) for one in found]


def test_decisions_hold_when_labels_are_renamed(store: Store) -> None:
    run = divided(store, {"i0": "glad", "i1": "sad"})
    replaced(run, HAPPY, 2, {"mood": {"glad": "happy"}})
    assert moods(run) == [("decided", "happy"), ("decided", "sad"), ("disagree", None)]
    with store.write() as conn:
        decide.decide_slot(conn, "i2.mood", "happy", "", "judge", store.now())
    replaced(run, MERRY, 3, {"mood": {"happy": "merry"}})  # what was glad and happy is merry
    assert moods(run) == [("decided", "merry"), ("decided", "sad"), ("decided", "merry")]
    run.submit("ann", "i1", {"mood": "calm", "strength": 3})
    assert moods(run)[1] == ("disagree", None)


def test_labels_that_were_renamed_need_no_name_again(store: Store) -> None:
    run = divided(store, {})
    replaced(run, HAPPY, 2, {"mood": {"glad": "happy"}})
    replaced(run, HAPPY, 3)
    assert moods(run) == [("disagree", None)] * 3


def test_a_label_that_only_a_decision_holds_cannot_go_unsaid(store: Store) -> None:
    run = divided(store, {"i0": "calm"})
    with pytest.raises(UserError, match=r"hold calm.*--map mood\.calm=NEW"):
        replaced(run, NO_CALM, 2)
    replaced(run, NO_CALM, 3, {"mood": {"calm": "sad"}})
    assert moods(run)[0] == ("decided", "sad")


@pytest.mark.parametrize(
    ("mapping", "said"),
    [
        ({"moood": {"glad": "happy"}}, "no slot 'moood'"),
        ({"why": {"glad": "happy"}}, "no slot 'why' with labels"),
        ({"strength": {"1": "2"}}, "no slot 'strength' with labels"),
        ({"mood": {"glda": "happy"}}, "no label 'glda'"),
        ({"mood": {"glad": "hapy"}}, "no label 'hapy'"),
    ],
)
def test_a_mapping_names_what_is_there(sqlite_store: Store, mapping: dict[str, dict[str, str]], said: str) -> None:
    run = divided(sqlite_store, {})
    with pytest.raises(UserError, match=said):
        replaced(run, HAPPY, 2, mapping)


@pytest.mark.parametrize("ids", [["x", "x~again"], ["x~again", "x"], ["x~again"]])
def test_an_id_that_repeats_have_is_refused_where_there_are_repeats(sqlite_store: Store, ids: list[str]) -> None:
    design = study(repeat_share=1.0)
    run = running(sqlite_store, design, items=0)
    units = [make_unit(design, item, {"text": f"Text {place}."}) for place, item in enumerate(ids)]
    with pytest.raises(UserError, match=r"'x~again': ids that end in ~again"), run.store.write() as conn:
        project.add_units(conn, design, units, 0)
    with run.store.write() as conn:
        assert project.add_units(conn, study(), units, 0) == []


def test_names_in_an_assignment_are_those_of_accounts_however_they_are_written(store: Store) -> None:
    run = running(store, study(), items=3)
    with store.write() as conn:
        project.pair_up(
            conn, [("i0", "Rene\u0301  Roe "), ("i0", "Ren\u00e9 Roe"), ("i1", "Ren\u00e9 Roe"), ("i2", "bob")]
        )
        assert project.awaited_names(conn) == ["Ren\u00e9 Roe", "bob"]
    run.join("Ren\u00e9 Roe")
    assert sorted(run.answer_all("Ren\u00e9 Roe", {"mood": "glad", "strength": 1})) == ["i0", "i1"]
    with store.read() as conn:
        assert project_status(conn)["awaited"] == ["bob"]


@pytest.mark.parametrize("name", ["", "  ", "x" * 65])
def test_a_name_that_no_account_can_have_is_refused(sqlite_store: Store, name: str) -> None:
    run = running(sqlite_store, study(), items=1)
    with pytest.raises(UserError, match="1 to 64 characters"), run.store.write() as conn:
        project.pair_up(conn, [("i0", name)])


TELL = """
[story]
text = "Tell something."
[[story.steps]]
id = "event"
names = "event"
question = "What happened?"
"""


def test_a_story_is_kept_where_the_design_names_no_main_field(sqlite_store: Store) -> None:
    run = running(sqlite_store, study(STUDY.replace("main = true\n", "") + TELL), items=0)
    ann = run.join("ann")
    with sqlite_store.write() as conn:
        project.add_story(conn, run.design, "s1", "We missed the train.", ann.id, 0)
        unit = project.unit_of(conn, "s1")
    assert unit is not None
    assert unit.fields == {"text": "We missed the train."}


def probed(text: str, mood: str = "glad", name: str = "check") -> str:
    return (
        STUDY
        + f"""
[[attention]]
id = "{name}"
fields = {{ text = "{text}" }}
expected = {{ mood = "{mood}" }}
"""
    )


def test_a_check_changes_its_text_only_until_somebody_has_answered_it(store: Store) -> None:
    run = running(store, study(probed("Chose glad.")), items=6)
    run.join("ann")
    replaced(run, probed("Choose glad."), 2)
    assert "check" in run.answer_all("ann", {"mood": "glad", "strength": 3})
    with store.read() as conn:
        (unit,) = project.units(conn, "attention")
    assert unit.fields["text"] == "Choose glad."
    with pytest.raises(UserError, match="have answered the attention item 'check'"):
        replaced(run, probed("Choose sad.", "sad"), 3)
    with pytest.raises(UserError, match="has an item 'i0' already"):
        replaced(run, probed("Choose sad.", "sad", "i0"), 3)
    replaced(run, probed("Choose glad.", name="check-2"), 3)  # the same text under another id is another item
    with store.read() as conn:
        assert {unit.id for unit in project.units(conn, "attention")} == {"check", "check-2"}
