"""Shortcuts: which key chooses which option, and which keys are the page's own."""

from __future__ import annotations

from collections.abc import Sequence

from affectlab.annotate.slots import Option, Slot
from affectlab.errors import UserError

COMMANDS = {
    "?": "keys_help",
    "u": "undo",
    "b": "back",
    "s": "skip",
    "f": "flag",
    "c": "comment",
    "g": "guidelines",
    "Enter": "next_or_submit",
    "Esc": "leave_text",
    "n": "slot_after",
    "p": "slot_before",
}
"""Keys of the page -> name of what they do, in the interface's words."""

FORM_COMMANDS = {key: COMMANDS[key] for key in ("?", "u", "g", "Enter", "Esc", "n", "p")}
"""Those of them that act in practice and questionnaires."""

NONE_KEY = "-"
"""Key of "none of these" in label sets."""

_FREE = [key for key in "1234567890qwertyuiopasdfghjklzxcvbnm" if key not in COMMANDS]


def shortcuts(slot: Slot, options: Sequence[Option]) -> dict[str, str]:
    """Key of each option of a slot, by option id. They act on the slot that is being answered.

    Declared keys are kept; the others get digits, then letters that no command has. Options past the last free key
    have none.

    Args:
        slot: The slot, named in errors.
        options: The options as offered, in order. Giving all of a slot's makes keys the same on every item.

    Raises:
        UserError: When a declared key is one of :data:`COMMANDS`, or :data:`NONE_KEY` in a label set, or two options
            declare the same.
    """
    declared: dict[str, str] = {}
    for option in options:
        key = option.key.lower()
        if not key:
            continue
        if key in COMMANDS or key.isspace() or (key == NONE_KEY and slot.kind == "label_set"):
            raise UserError(f"Slot {slot.id!r}: the key {option.key!r} of {option.id!r} is reserved for the page.")
        if key in declared:
            raise UserError(f"Slot {slot.id!r}: {declared[key]!r} and {option.id!r} both have the key {option.key!r}.")
        declared[key] = option.id
    free = iter(key for key in _FREE if key not in declared)
    taken = {option: key for key, option in declared.items()}
    found: dict[str, str] = {}
    for option in options:
        key = taken.get(option.id) or next(free, "")
        if key:
            found[option.id] = key
    return found
