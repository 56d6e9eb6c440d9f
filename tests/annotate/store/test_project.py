"""What a project holds: labels that are renamed take answers and decisions along."""

from __future__ import annotations

from typing import Any

import pytest
from tests.annotate.support import STUDY, Running, running, study

from affectlab.annotate import decide
from affectlab.annotate.adjudicate import settle
from affectlab.annotate.store import panels, project
from affectlab.annotate.store.engine import Store
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
