"""Forms that were open while the design changed: a label's id may mean something else by now.

Every form with questions or texts of the design says under which version it was opened. One of another version than the
newest stores nothing; what was chosen in it is shown again, under its names of today.
"""

from __future__ import annotations

from collections.abc import Mapping

from affectlab.annotate.design import Design
from affectlab.annotate.values import Form, last

FIELD = "design"
"""Field of a form that holds the version of the design it was opened under."""

Mappings = Mapping[int, Mapping[str, Mapping[str, str]]]


def is_outdated(design: Design, form: Form) -> bool:
    """Whether a form was opened under another version of the design, or does not say under which."""
    return last(form, FIELD) != str(design.version)


def renew(form: Form, opened: str, mappings: Mappings) -> dict[str, list[str]]:
    """A form's fields with the labels of the newest design.

    Args:
        form: Fields of an item's form.
        opened: Version of the design it was opened under, as the form says it.
        mappings: What each version renamed, oldest first: version -> slot -> old label -> new label.

    Returns:
        The fields. Where ``opened`` is no version there is, without the choices in slots that were ever renamed, as
        nobody can tell what they meant.
    """
    known = {str(version): version for version in mappings}
    if opened not in known:
        unsure = {slot for mapping in mappings.values() for slot in mapping}
        lost = tuple(f"i.{slot}." for slot in unsure)
        asked = {f"s.{slot}" for slot in unsure}
        return {name: list(v) for name, v in form.items() if name not in asked and not name.startswith(lost)}
    fields = {name: list(values) for name, values in form.items()}
    for version, mapping in mappings.items():
        if version > known[opened]:
            fields = _renamed(fields, mapping)
    return fields


def _renamed(fields: Mapping[str, list[str]], mapping: Mapping[str, Mapping[str, str]]) -> dict[str, list[str]]:
    """One version's new names: of the labels in ``s.SLOT``, and in the names of their intensities, ``i.SLOT.LABEL``."""
    labels = {f"s.{slot}": names for slot, names in mapping.items()}
    levels = {f"i.{slot}.{old}": f"i.{slot}.{new}" for slot, names in mapping.items() for old, new in names.items()}
    found: dict[str, list[str]] = {}
    for name, values in fields.items():
        names = labels.get(name, {})
        found.setdefault(levels.get(name, name), []).extend(names.get(value, value) for value in values)
    return found
