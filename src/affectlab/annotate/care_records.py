"""Stories of a study with their writers' answers and their observers', as CAREBench's records."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, select

from affectlab.annotate.design import Design
from affectlab.annotate.slots import Slot
from affectlab.annotate.store import panels
from affectlab.annotate.store import tables as t
from affectlab.annotate.store.project import design_mappings
from affectlab.annotate.store.replies import current
from affectlab.benchmarks.care import spaces


def care_records(conn: Connection, design: Design) -> list[dict[str, Any]]:
    """One record for each story whose writer has answered, with its observers; the benchmark's loader reads them.

    Stories that came from a file have no writer among the people and are left out: their first answers are elsewhere.
    """
    query = select(t.item.c.id, t.item.c.author).where(t.item.c.author.is_not(None))
    authors: dict[str, str] = {row.id: row.author for row in conn.execute(query)}
    own = {
        one.item: one.reply.values
        for one in panels.renamed(current(conn), design_mappings(conn), design)
        if authors.get(one.item) == one.person and not one.reply.skipped
    }
    found = []
    for panel in panels.panels(conn, design):
        if panel.unit.id not in own:
            continue
        observers = [vote for vote in panel.votes if not vote.reply.skipped]
        found.append(
            {
                "id": panel.unit.id,
                "participant_id": authors[panel.unit.id],
                "story_collection": {"final_scenario": panel.unit.text(design.main_field)},
                **_chain(design, own[panel.unit.id]),
                "persona": _persona(conn, design, authors[panel.unit.id]),
                "observers": [
                    {
                        "participant_id": vote.person,
                        **_chain(design, vote.reply.values),
                        "persona": _persona(conn, design, vote.person),
                    }
                    for vote in observers
                ],
            }
        )
    return found


def _chain(design: Design, values: Mapping[str, Any]) -> dict[str, Any]:
    core = {group: values[f"core_{group}"] for group in spaces.GROUPS if f"core_{group}" in values}
    feelings: dict[str, Any] = {slot: values[slot] for slot in spaces.LEVELS if slot in values}
    for slot in spaces.SETS:
        if slot in values:
            feelings[slot.replace("_labels", "_emotion_labels")] = _names(design.slot[slot], values[slot])
    return {
        "cognitive_questions": {"summary_answers": core},
        "appraisal_ratings": {name: values[name] for name in spaces.DIMENSIONS if name in values},
        "emotion_labels": feelings,
    }


def _names(slot: Slot, chosen: list[str]) -> list[str]:
    return [option.names["en"] for option in slot.options if option.id in chosen]


def _persona(conn: Connection, design: Design, person: str) -> dict[str, Any]:
    """Demographics and scores of a person's questionnaires."""
    done = panels.stages_of(conn, person)
    found: dict[str, Any] = {}
    for asked in design.questionnaires:
        rounds = done.get(f"q.{asked.id}", [])
        if not rounds:
            continue
        scores = rounds[-1]["scores"]
        found |= {"big five": {n: v for n, v in scores.items() if v is not None}} if scores else rounds[-1]["values"]
    return found
