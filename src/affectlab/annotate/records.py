"""From a project to the plain answers and decisions that agreement and export take.

Attention items, repeats and answers of authors to their own stories stay out.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection

from affectlab.annotate.adjudicate import Panel, settle
from affectlab.annotate.agreement import Asked
from affectlab.annotate.answers import Answer, Decision
from affectlab.annotate.design import Design
from affectlab.annotate.slots import NUMERIC, Slot
from affectlab.annotate.store.panels import panels_and_answers
from affectlab.items import Gold
from affectlab.stats.agreement.summary import Scale


def project_answers(conn: Connection, design: Design) -> list[Answer]:
    """Newest answer of everybody to every slot, item by item; skipped items are answers without a value."""
    found, times, versions = [], {}, {}
    panels, stored = panels_and_answers(conn, design)
    for one in stored:
        times[one.item, one.person], versions[one.item, one.person] = one.at, one.design_version
    for panel in panels:
        for vote in panel.votes:
            key = panel.unit.id, vote.person
            for slot in design.slots:
                value = vote.reply.values.get(slot.id)
                if value is None and not vote.reply.skipped:
                    continue  # not asked
                found.append(
                    Answer(
                        item=panel.unit.id,
                        annotator=vote.person,
                        slot=slot.id,
                        value=None if vote.reply.skipped else plain(slot, value),
                        status="skipped" if vote.reply.skipped else "submitted",
                        reason=vote.reply.skipped,
                        time=iso(times[key]),
                        schema=str(versions[key]),
                    )
                )
    return found


def project_decisions(design: Design, panels: Sequence[Panel]) -> list[Decision]:
    """Decisions that hold: made on the answers as they are now."""
    found = []
    for panel in panels:
        for slot in design.slots:
            made = panel.decisions.get(slot.id)
            if made is None or settle(design, slot, panel).status not in {"decided", "no_gold"}:
                continue
            value = None if made.choice == "no_gold" else plain(slot, made.value)
            found.append(Decision(panel.unit.id, slot.id, value, made.person, "human", iso(made.at), made.reason))
    return found


def asked_of(design: Design) -> Asked:
    """How agreement on the design's slots is computed: levels of measurement, declared values, what rests on what."""
    compared = [slot for slot in design.slots if slot.kind not in {"text", "span"}]
    return Asked(
        scales={slot.id: Scale(level=slot.level) for slot in compared},
        values={slot.id: declared(slot) for slot in compared if slot.kind not in {"number", "label_set"}},
        slots=tuple(slot.id for slot in compared),
        upstream=next((slot.upstream for slot in design.slots if slot.upstream), None),
    )


def declared(slot: Slot) -> list[Any]:
    """Values a slot can have, in order."""
    if slot.kind == "scale":
        return sorted(float(option.level) for option in slot.options if option.level is not None)
    return [option.id for option in slot.options]


def plain(slot: Slot, value: Any) -> Gold:
    """A stored value as exports have it: numbers as floats, sets as tuples, spans as one JSON text."""
    if slot.kind in NUMERIC:
        return float(value)
    if slot.kind == "span":
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, list):
        return tuple(value)
    if isinstance(value, dict):
        return {name: float(level) for name, level in value.items()}
    return str(value)


def iso(seconds: float) -> str:
    """A time as ISO 8601 in UTC."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
