"""How benchmarks read their own settings (``--set NAME=VALUE``)."""

from __future__ import annotations

from collections.abc import Mapping

from affectlab.errors import UserError

_WORDS = {"yes": True, "true": True, "no": False, "false": False}


def flag(options: Mapping[str, str], name: str) -> bool:
    """Whether a setting that is yes or no is on; it is off unless given.

    Args:
        options: A run's settings.
        name: Which one. ``true`` and ``false`` are read too, in any case.

    Raises:
        UserError: When it is neither.
    """
    found = _WORDS.get(options.get(name, "no").strip().lower())
    if found is None:
        raise UserError(f"--set {name}={options[name]}: expected yes or no.")
    return found
