"""Agreement in a project: on every slot, within each group of labels, and by what is known of the items.

Where an item says which group of labels it offers, as Chiaro's polarity does, a coefficient over all labels takes the
group for something the annotators agreed on. Within a group it does not: there all items offer the same labels.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from sqlalchemy import Connection, select

from affectlab.annotate import agreement as agree
from affectlab.annotate.agreement import Asked
from affectlab.annotate.answers import Answer
from affectlab.annotate.design import Design
from affectlab.annotate.records import asked_of, project_answers
from affectlab.annotate.slots import Slot
from affectlab.annotate.store import project as stored
from affectlab.annotate.store import tables as t
from affectlab.annotate.units import Unit
from affectlab.errors import UserError
from affectlab.stats.agreement.summary import SlotAgreement


def project_agreement(
    conn: Connection, design: Design, *, by: str | None = None, schema: str | None = None
) -> list[SlotAgreement]:
    """Agreement on every slot that can be compared, then within each group of labels.

    Answers given under earlier versions of the design are compared under the names of the newest. Where versions offer
    different labels, the slot says so.

    Args:
        conn: A reading transaction.
        design: The newest version.
        by: Name of a slice of the items: every slot for each of its values apart.
        schema: Only answers given under this version.

    Raises:
        UserError: When nobody has answered yet, or there is no such slice or version.
    """
    answers = project_answers(conn, design)
    asked = asked_of(design)
    if schema is not None:
        known = sorted({one.schema for one in answers})
        if schema not in known:
            raise UserError(f"No answer has version {schema!r} of the design; there are: {', '.join(known) or 'none'}.")
        answers = [one for one in answers if one.schema == schema]
    notes = _version_notes(conn, design, answers)
    answers = [replace(one, schema="") for one in answers]
    units = {unit.id: unit for unit in stored.units(conn)}
    for slot in design.slots:
        if slot.group_field:
            notes[slot.id].append(_chance_note(slot, units.values()))
    if by is None:
        return _noted(design, units, answers, asked, notes)
    return [
        replace(one, slot=f"{one.slot} ({by}: {value})")
        for value, part in _parts(units, answers, by).items()
        for one in _noted(design, units, part, asked, notes)
    ]


def _noted(
    design: Design,
    units: Mapping[str, Unit],
    answers: Sequence[Answer],
    asked: Asked,
    notes: Mapping[str, Sequence[str]],
) -> list[SlotAgreement]:
    there = {one.slot for one in answers}
    upstream = asked.upstream if asked.upstream in there else None
    slots = tuple(slot for slot in asked.slots if slot in there)
    found = [
        # Intensities are compared as "SLOT: LABEL".
        replace(one, notes=(*one.notes, *notes.get(one.slot.partition(":")[0], ())))
        for one in agree.agreement(answers, replace(asked, slots=slots, upstream=upstream))
    ]
    grouped, asked_of_groups = _grouped(design, units, answers, asked)
    return [*found, *(agree.agreement(grouped, asked_of_groups) if grouped else ())]


def _grouped(
    design: Design, units: Mapping[str, Unit], answers: Iterable[Answer], asked: Asked
) -> tuple[list[Answer], Asked]:
    """Answers to all slots of one label space under the group of labels that the item offers there.

    An item that offers a group in one slot only is a unit of it; else each of its slots is.
    """
    limited = [slot for slot in design.slots if slot.group_field]
    where: dict[tuple[str, str], list[str]] = defaultdict(list)
    offered: dict[tuple[str, str], str] = {}
    values: dict[str, list[str]] = {}
    for unit in units.values():
        for slot in limited:
            groups = {option.group for option in unit.options.get(slot.id, ())}
            if len(groups) != 1:
                continue
            (group,) = groups
            alike = [one.id for one in limited if one.labels == slot.labels and one.options == slot.options]
            name = f"{group} ({', '.join(alike)})"
            offered[unit.id, slot.id] = name
            where[unit.id, name].append(slot.id)
            values[name] = [option.id for option in slot.options if option.group == group]
    found = []
    for one in answers:
        if name := offered.get((one.item, one.slot), ""):
            alone = len(where[one.item, name]) == 1
            found.append(replace(one, slot=name, item=one.item if alone else f"{one.item} ({one.slot})"))
    order = list(dict.fromkeys(option.group for slot in limited for option in slot.options))
    found.sort(key=lambda one: order.index(one.slot.partition(" (")[0]))
    return found, replace(asked, values=values, scales={}, slots=(), upstream=None)


def _chance_note(slot: Slot, units: Iterable[Unit]) -> str:
    sizes = {len(unit.options[slot.id]) for unit in units if slot.id in unit.options}
    few = "/".join(map(str, sorted(sizes)))
    chance = f" (1/{few} by chance)" if len(sizes) == 1 else ""
    return (
        f"Each item offers {few} of the {len(slot.options)} labels{chance}. Coefficients over all labels take that for "
        "agreement and are too high: report those within each group of labels."
    )


def _parts(units: Mapping[str, Unit], answers: Iterable[Answer], by: str) -> dict[str, list[Answer]]:
    known = list(dict.fromkeys(name for unit in units.values() for name in unit.slices))
    if by not in known:
        raise UserError(f"The items have no {by!r} to compare by; they have: {', '.join(known) or 'nothing'}.")
    parts: dict[str, list[Answer]] = defaultdict(list)
    for one in answers:
        parts[units[one.item].slices.get(by, "(none)")].append(one)
    return dict(sorted(parts.items()))


def _version_notes(conn: Connection, design: Design, answers: Iterable[Answer]) -> dict[str, list[str]]:
    """For each slot whose answers were given under versions that offer different labels, a note that names them."""
    notes: dict[str, list[str]] = defaultdict(list)
    versions = sorted({int(one.schema) for one in answers})
    if len(versions) < 2:
        return notes
    rows = conn.execute(select(t.design.c.version, t.design.c.body).where(t.design.c.version.in_(versions)))
    designs = {row.version: Design.model_validate(row.body) for row in rows}
    mappings = stored.design_mappings(conn)
    for slot in design.slots:
        labels = {
            version: _labels_now(designs[version].slot[slot.id], version, mappings)
            for version in versions
            if slot.id in designs[version].slot
        }
        every = {label for there in labels.values() for label in there}
        partly = sorted(label for label in every if any(label not in there for there in labels.values()))
        if partly:
            told = "; ".join(
                f"version {version} without {', '.join(one for one in partly if one not in there)}"
                for version, there in labels.items()
                if set(partly) - there
            )
            notes[slot.id].append(
                f"The answers were given under versions {', '.join(map(str, versions))} of the design, which offer "
                f"different labels ({told}): who could not choose one cannot agree on it. --schema takes one version."
            )
    return notes


def _labels_now(slot: Slot, version: int, mappings: Mapping[int, Mapping[str, Mapping[str, str]]]) -> set[str]:
    labels = {option.id for option in slot.options}
    for later, mapping in sorted(mappings.items()):
        if later > version:
            labels = {mapping.get(slot.id, {}).get(label, label) for label in labels}
    return labels
