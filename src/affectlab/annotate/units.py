"""From items to what annotators get: shown fields and the options of every slot, frozen when items are imported.

Freezing means that no later change of a label space or filter can make an answer invalid. Gold labels never come along.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from affectlab.annotate.design import Design
from affectlab.annotate.slots import Option, Slot
from affectlab.errors import UserError

LONGEST_ID = 190
"""Characters of an item's id; ids of repeats are longer by a few."""


@dataclass(frozen=True)
class Unit:
    """One item as annotators get it.

    Attributes:
        id: The item's id.
        fields: What is shown, by field; texts, or lists of texts.
        options: Options of each slot that has any, in order.
        slices: Metadata to break agreement down by; never shown.
    """

    id: str
    fields: Mapping[str, Any]
    options: Mapping[str, tuple[Option, ...]]
    slices: Mapping[str, str]

    @property
    def digest(self) -> str:
        """Hash of what is shown and offered: two items with the same one are duplicates."""
        shown = {
            "fields": dict(self.fields),
            "options": {s: [o.id for o in found] for s, found in self.options.items()},
        }
        return sha256(json.dumps(shown, ensure_ascii=False, sort_keys=True).encode()).hexdigest()

    def body(self) -> dict[str, Any]:
        """As it is stored."""
        options = {slot: [option.model_dump(exclude_defaults=True) for option in o] for slot, o in self.options.items()}
        return {"fields": dict(self.fields), "options": options, "slices": dict(self.slices)}

    @classmethod
    def from_body(cls, item: str, body: Mapping[str, Any]) -> Unit:
        """From what was stored."""
        options = {slot: tuple(Option(**option) for option in found) for slot, found in body["options"].items()}
        return cls(item, body["fields"], options, body.get("slices", {}))

    def text(self, field: str) -> str:
        """A field as text: a list one entry a line."""
        return as_text(self.fields.get(field))


def as_text(value: Any) -> str:
    """A field's value as people read it."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value.replace("\r\n", "\n")
    if isinstance(value, Sequence):
        return "\n".join(as_text(entry) for entry in value)
    if isinstance(value, Mapping):
        return "\n".join(f"{name}: {as_text(entry)}" for name, entry in value.items())
    return str(value)


def make_unit(design: Design, item: str, fields: Mapping[str, Any], slices: Mapping[str, str] | None = None) -> Unit:
    """An item's fields as a unit of a design.

    Raises:
        UserError: When the id cannot stand in an address, a main field is empty, or a slot's options cannot be told
            from the item.
    """
    _check_id(item)
    for shown in design.shown:
        if shown.main and not as_text(fields.get(shown.field)).strip():
            raise UserError(f"item {item!r} has no {shown.field}")
    options = {slot.id: offered(slot, item, fields) for slot in design.slots if slot.asked and slot.kind != "text"}
    kept = {shown.field: fields[shown.field] for shown in design.shown if fields.get(shown.field) not in (None, "", [])}
    return Unit(item, kept, {slot: found for slot, found in options.items() if found}, dict(slices or {}))


def _check_id(item: str) -> None:
    # Browsers take "." and ".." out of addresses; what does not print cannot be told apart, nor sent.
    if not item.strip(" .") or any(unicodedata.category(char) in {"Cc", "Cs"} for char in item):
        raise UserError(f"item id {item!r}: an id is neither blank nor dots only, and has no control characters")
    if len(item) > LONGEST_ID:
        raise UserError(f"item id {item[:20]!r}…: an id has at most {LONGEST_ID} characters")


def offered(slot: Slot, item: str, fields: Mapping[str, Any]) -> tuple[Option, ...]:
    """Options of a slot for one item.

    Raises:
        UserError: When the item does not say which, or names fewer than two.
    """
    if slot.options_field:
        listed = fields.get(slot.options_field)
        if not isinstance(listed, Sequence) or isinstance(listed, str) or len(listed) < 2:
            raise UserError(f"item {item!r}: {slot.options_field} must list at least two options of slot {slot.id!r}")
        found = tuple(_listed(entry, place) for place, entry in enumerate(listed, 1))
        if len({option.id for option in found}) < len(found):
            raise UserError(f"item {item!r}: {slot.options_field} has two options with the same id")
        return found
    if slot.group_field:
        group = fields.get(slot.group_field)
        found = tuple(option for option in slot.options if option.group == group)
        if len(found) < 2:
            groups = sorted({option.group for option in slot.options})
            raise UserError(
                f"item {item!r}: {slot.group_field} is {group!r}; slot {slot.id!r} needs one of {', '.join(groups)}"
            )
        return found
    return slot.options


def _listed(entry: Any, place: int) -> Option:
    if isinstance(entry, Mapping):
        name = as_text(entry.get("text") or entry.get("name") or entry.get("id"))
        return Option(id=str(entry.get("id", place)), names={"en": name})
    return Option(id=str(place), names={"en": as_text(entry)})


def unique(units: Iterable[Unit]) -> tuple[list[Unit], list[str]]:
    """Units without those whose content came before, and the ids left out.

    Raises:
        UserError: When an id comes twice with different content.
    """
    kept: dict[str, Unit] = {}
    ids: dict[str, Unit] = {}
    dropped: list[str] = []
    for unit in units:
        if unit.digest in kept:
            dropped.append(unit.id)
            continue
        if unit.id in ids:
            raise UserError(f"two different items have the id {unit.id!r}")
        kept[unit.digest] = ids[unit.id] = unit
    return list(kept.values()), dropped
