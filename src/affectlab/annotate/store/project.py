"""What a project is: its settings, its design in all versions, and its items."""

from __future__ import annotations

import random
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from sqlalchemy import Connection, func, insert, inspect, select, update

from affectlab.annotate.design import Design
from affectlab.annotate.store import tables as t
from affectlab.annotate.store.engine import Store
from affectlab.annotate.store.people import LONGEST_NAME, plain_name
from affectlab.annotate.units import Unit, make_unit
from affectlab.errors import UserError, first_of

PRIME = 2**31 - 1
"""Ranks of items are below it; a person's order is an affine map of the ranks modulo it."""

_AGAIN = "~again"


def start_project(conn: Connection, design: Design, seed: int, now: float) -> None:
    """Put a design and fresh settings into empty tables.

    Raises:
        UserError: When the database holds a project already.
    """
    if conn.execute(select(t.setting.c.name)).first():
        raise UserError("This database holds an annotation project already; take another one.")
    rows = {"format": t.FORMAT, "secret": secrets.token_hex(32), "seed": seed}
    conn.execute(insert(t.setting), [{"name": name, "value": value} for name, value in rows.items()])
    add_design(conn, design, {}, now)
    _put_probes(conn, design, {})


def check_format(store: Store) -> None:
    """Refuse a database that holds no project, or one of another layout.

    Raises:
        UserError: Saying which.
    """
    if not inspect(store.engine).has_table("setting"):
        raise UserError("This database holds no annotation project; make one with: affectlab annotate init")
    with store.read() as conn:
        found = get_setting(conn, "format")
    if found != t.FORMAT:
        raise UserError(f"This project has format {found}; this affectlab reads format {t.FORMAT}.")


def get_setting(conn: Connection, name: str) -> Any:
    """A setting of the project; ``None`` when it has none of this name."""
    return conn.execute(select(t.setting.c.value).where(t.setting.c.name == name)).scalar()


def secret_of(conn: Connection) -> bytes:
    """Key of the project's tokens."""
    return bytes.fromhex(get_setting(conn, "secret"))


def add_design(conn: Connection, design: Design, mapping: Mapping[str, Mapping[str, str]], now: float) -> None:
    """Keep a version of the design."""
    body = design.model_dump(mode="json")
    conn.execute(insert(t.design).values(version=design.version, body=body, mapping=dict(mapping), at=now))


def current_design(conn: Connection) -> Design:
    """The newest version."""
    body = conn.execute(select(t.design.c.body).order_by(t.design.c.version.desc()).limit(1)).scalar_one()
    return Design.model_validate(body)


def newest_version(conn: Connection) -> int:
    """Version of the newest design."""
    return int(conn.execute(select(func.max(t.design.c.version))).scalar_one())


def design_mappings(conn: Connection) -> dict[int, dict[str, dict[str, str]]]:
    """What each version renamed: version -> slot -> old label -> new label."""
    query = select(t.design.c.version, t.design.c.mapping).order_by(t.design.c.version)
    return {row.version: row.mapping for row in conn.execute(query)}


def add_units(conn: Connection, design: Design, units: Sequence[Unit], seed: int) -> list[str]:
    """Add items to be worked on, and their repeats.

    Returns:
        Ids of those whose content is there already, and which were left out.

    Raises:
        UserError: When an id is there with other content, or is one that repeats have.
    """
    query = select(t.item.c.id, t.item.c.digest, t.item.c.kind)
    there = {row.id: (row.digest, row.kind) for row in conn.execute(query)}
    digests = {digest for digest, kind in there.values() if kind == "work"}
    place = len(there)
    draw = random.Random(f"{seed}:{place}")  # noqa: S311 - an order, not a secret
    rows: list[dict[str, Any]] = []
    dropped: list[str] = []
    for unit in units:
        if unit.digest in digests:
            dropped.append(unit.id)
            continue
        if design.repeat_share and unit.id.endswith(_AGAIN):
            raise UserError(f"Item id {unit.id!r}: ids that end in {_AGAIN} are those of repeated items; rename it.")
        if unit.id in there:
            raise UserError(f"The project has an item {unit.id!r} already, with other content; rename one of them.")
        rows.append(_row(unit, "work", place + len(rows), draw.randrange(PRIME)))
        digests.add(unit.digest)
        if design.repeat_share:  # each person's repeats are drawn from what that person has done, so any may be one
            again = Unit(f"{unit.id}{_AGAIN}", unit.fields, unit.options, unit.slices)
            rows.append(_row(again, "repeat", place + len(rows), 0) | {"of": unit.id})
    for start in range(0, len(rows), 500):
        conn.execute(insert(t.item), rows[start : start + 500])
    return dropped


def add_story(conn: Connection, design: Design, item: str, text: str, author: str, seed: int) -> None:
    """Add an item that a person of the project has written; its author never observes it."""
    unit = make_unit(design, item, {design.main_field: text})
    place = conn.execute(select(func.count()).select_from(t.item)).scalar_one()
    rank = random.Random(f"{seed}:{item}").randrange(PRIME)  # noqa: S311 - an order, not a secret
    # Two people may tell the same thing: each story is an item of its own.
    conn.execute(insert(t.item).values(**_row(unit, "work", place, rank) | {"author": author, "digest": f"~{item}"}))


def pair_up(conn: Connection, pairs: Iterable[tuple[str, str]]) -> None:
    """Fix who gets which item: pairs of item id and person's name.

    Raises:
        UserError: When an item is not there, or a name cannot be that of an account.
    """
    found = sorted({(item, plain_name(name)) for item, name in pairs})
    if bad := [name for _, name in found if not 0 < len(name) <= LONGEST_NAME]:
        raise UserError(f"The assignment names {bad[0]!r}; an account's name has 1 to {LONGEST_NAME} characters.")
    known = set(conn.execute(select(t.item.c.id)).scalars())
    unknown = sorted({item for item, _ in found} - known)
    if unknown:
        raise UserError(f"The assignment names items the project does not have: {first_of(unknown)}")
    if found:
        conn.execute(insert(t.pairing), [{"item": item, "name": name} for item, name in found])


def awaited_names(conn: Connection) -> list[str]:
    """Names that items are fixed for and that no account has."""
    has = select(t.person.c.id).where(t.person.c.name == t.pairing.c.name).exists()
    return sorted(set(conn.execute(select(t.pairing.c.name).where(~has)).scalars()))


def unit_of(conn: Connection, item: str) -> Unit | None:
    """An item as annotators get it; ``None`` when there is none of this id."""
    body = conn.execute(select(t.item.c.body).where(t.item.c.id == item)).scalar()
    return None if body is None else Unit.from_body(item, body)


def units(conn: Connection, kind: str = "work") -> list[Unit]:
    """All items of a kind, in file order."""
    query = select(t.item.c.id, t.item.c.body).where(t.item.c.kind == kind).order_by(t.item.c.place)
    return [Unit.from_body(row.id, row.body) for row in conn.execute(query)]


def replace_design(conn: Connection, new: Design, mapping: Mapping[str, Mapping[str, str]], now: float) -> None:
    """Put a new version of the design in place. Answers keep what was chosen, with the version it was chosen under.

    Raises:
        UserError: When the version does not go up, a slot with answers is gone or changes its kind, or a label that
            answers or decisions hold is gone without a label of the new version in its place, the mapping names slots
            or labels that are not there, or an attention item has another text than people have answered.
    """
    old = current_design(conn)
    if new.version <= old.version:
        raise UserError(f"The design has version {new.version}; a change needs one above {old.version}.")
    used = _used(conn)
    _check_mapping(old, new, mapping, used)
    for slot_id, labels in used.items():
        slot, before = new.slot.get(slot_id), old.slot.get(slot_id)
        if slot is None or (before is not None and slot.kind != before.kind):
            raise UserError(f"Slot {slot_id!r} has answers: it cannot be removed or change its kind.")
        if not slot.options:
            continue
        renamed = mapping.get(slot_id, {})
        lost = sorted(one for one in labels if slot.option(renamed.get(one, one)) is None)
        if lost:
            hint = " ".join(f"--map {slot_id}.{one}=NEW" for one in lost[:3])
            raise UserError(
                f"Slot {slot_id!r}: answers hold {', '.join(lost)}, which the new design does not have. Say what each "
                f"becomes: {hint}"
            )
    add_design(conn, new, mapping, now)
    _refreeze(conn, new, mapping)
    _rename_drafts(conn, mapping)
    _put_probes(conn, new, mapping)


def _check_mapping(
    old: Design, new: Design, mapping: Mapping[str, Mapping[str, str]], used: Mapping[str, set[str]]
) -> None:
    for slot_id, names in mapping.items():
        before, slot = old.slot.get(slot_id), new.slot.get(slot_id)
        if before is None or slot is None or not slot.options or slot.kind == "scale":
            raise UserError(f"--map {slot_id}.…: there is no slot {slot_id!r} with labels of its own in both versions.")
        known = {option.id for option in before.options} | used.get(slot_id, set())
        for label, becomes in names.items():
            if label not in known:
                raise UserError(f"--map {slot_id}.{label}={becomes}: slot {slot_id!r} has no label {label!r}.")
            if slot.option(becomes) is None:
                raise UserError(f"--map {slot_id}.{label}={becomes}: the new design has no label {becomes!r} there.")


def _used(conn: Connection) -> dict[str, set[str]]:
    """Labels that stored answers and decisions hold, by slot and under the names of the newest version."""
    used: dict[str, set[str]] = {}
    mappings = design_mappings(conn)

    def note(slot: str, value: Any, version: int) -> None:
        value = up_to_date(value, slot, version, mappings)
        labels = value if isinstance(value, list | dict) else [value]
        used.setdefault(slot, set()).update(one for one in labels if isinstance(one, str))

    for row in conn.execute(select(t.response.c.body, t.response.c.design_version)):
        for slot, value in row.body["values"].items():
            note(slot, value, row.design_version)
    for made in decision_rows(conn).values():
        note(made.slot, made.value["value"], made.version_of_design)
    return used


@dataclass(frozen=True)
class DecisionRow:
    """A decision as it is stored, and the version of the design it was made under."""

    item: str
    slot: str
    value: Mapping[str, Any]
    choice: str
    reason: str
    basis: str
    person: str
    at: float
    version_of_design: int


def decision_rows(conn: Connection, item: str | None = None) -> dict[tuple[str, str], DecisionRow]:
    """Newest decision on each slot of all items, or of one."""
    query = select(t.decision).order_by(t.decision.c.version)
    if item is not None:
        query = query.where(t.decision.c.item == item)
    versions = [(row.version, row.at) for row in conn.execute(select(t.design.c.version, t.design.c.at))]
    found = {}
    for row in conn.execute(query):
        # Those that do not name their version were made under the newest one that was older.
        version = row.value.get("design") or max((v for v, at in versions if at < row.at), default=0)
        fields = (row.item, row.slot, row.value, row.choice, row.reason, row.basis, row.person, row.at)
        found[row.item, row.slot] = DecisionRow(*fields, version)
    return found


def up_to_date(value: Any, slot: str, version: int, mappings: Mapping[int, Mapping[str, Mapping[str, str]]]) -> Any:
    """A value given under a version of the design, with the labels of the newest: renamed by every version after it.

    Args:
        value: As it is stored.
        slot: Its slot.
        version: Of the design it was given under.
        mappings: As :func:`design_mappings` gives them.
    """
    for later, mapping in mappings.items():
        if later > version and slot in mapping:
            value = _renamed(value, mapping[slot])
    return value


def _renamed(value: Any, names: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return names.get(value, value)
    if isinstance(value, list):
        return list(dict.fromkeys(names.get(one, one) if isinstance(one, str) else one for one in value))
    if isinstance(value, dict):
        return {names.get(name, name): level for name, level in value.items()}
    return value


def _rename_drafts(conn: Connection, mapping: Mapping[str, Mapping[str, str]]) -> None:
    """Give what is chosen in drafts its new name at once: unlike answers they keep no version of the design."""
    for row in conn.execute(select(t.draft.c.item, t.draft.c.person, t.draft.c.body)).all():
        values = row.body.get("values", {})  # interviews and other pages' forms have none
        renamed = {slot: _renamed(value, mapping.get(slot, {})) for slot, value in values.items()}
        if renamed != values:
            mine = (t.draft.c.item == row.item) & (t.draft.c.person == row.person)
            conn.execute(update(t.draft).where(mine).values(body={**row.body, "values": renamed}))


def _refreeze(conn: Connection, design: Design, mapping: Mapping[str, Mapping[str, str]]) -> None:
    """Give the frozen options of items their names, and what they were renamed to, from the new design."""
    for row in conn.execute(select(t.item.c.id, t.item.c.body)).all():
        unit = Unit.from_body(row.id, row.body)
        options = dict(unit.options)
        for slot in design.slots:
            if slot.id not in options or slot.options_field:
                continue
            renamed = mapping.get(slot.id, {})
            ids = [renamed.get(option.id, option.id) for option in options[slot.id]]
            kept = [option for option in slot.options if option.id in ids or not slot.group_field]
            options[slot.id] = tuple(kept)
        body = Unit(unit.id, unit.fields, options, unit.slices).body()
        if body != row.body:
            conn.execute(update(t.item).where(t.item.c.id == row.id).values(body=body))


def _put_probes(conn: Connection, design: Design, mapping: Mapping[str, Mapping[str, str]]) -> None:
    """Add attention and training items, and bring those that are there up to date, with their right answers."""
    found = conn.execute(select(t.item.c.id, t.item.c.kind, t.item.c.body, t.item.c.expected))
    there = {row.id: row for row in found}
    answered = set(conn.execute(select(t.response.c.item).distinct()).scalars())
    attention = {probe.id for probe in design.attention}
    for place, probe in enumerate(design.probes):
        kind = "attention" if probe.id in attention else "training"
        unit = make_unit(design, probe.id, probe.fields)
        old = there.pop(probe.id, None)
        # Two of one text, as one and its successor, are two items.
        new = _row(unit, kind, -1 - place, 0) | {"expected": dict(probe.expected), "digest": f"~{_hash(probe.id)}"}
        if old is None:
            conn.execute(insert(t.item).values(**new))
            continue
        if old.kind != kind:
            raise UserError(f"The project has an item {probe.id!r} already; give the {kind} item another id.")
        if probe.id in answered and Unit.from_body(old.id, old.body).fields != unit.fields:
            raise UserError(
                f"People have answered the {kind} item {probe.id!r}: with another text it needs another id."
            )
        kept = {name: new[name] for name in ("body", "digest", "expected")}
        conn.execute(update(t.item).where(t.item.c.id == probe.id).values(**kept))
    for row in there.values():
        if row.expected is not None:  # of an earlier version; its answers are still marked
            expected = {slot: _renamed(value, mapping.get(slot, {})) for slot, value in row.expected.items()}
            conn.execute(update(t.item).where(t.item.c.id == row.id).values(expected=expected))


def _hash(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:63]


def _row(unit: Unit, kind: str, place: int, rank: int) -> dict[str, Any]:
    return {
        "id": unit.id,
        "kind": kind,
        "place": place,
        "rank": rank,
        "taken": 0,
        "body": unit.body(),
        "digest": unit.digest,
        "author": None,
        "of": None,
        "expected": None,
    }
