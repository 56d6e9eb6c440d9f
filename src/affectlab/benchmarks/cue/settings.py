"""CUE-Bench's own settings (``--set NAME=VALUE``): what they are and how they are read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Literal, TypeAlias

from affectlab.benchmarks.options import flag
from affectlab.errors import UserError

Language: TypeAlias = Literal["zh", "en"]

SETTINGS = MappingProxyType(
    {
        "context": "turns of context shown before the target: all (default) or the last K",
        "lang": "language of the prompt and of the labels in it: zh (default) or en; either is read in replies",
        "strict": "yes: refuse data with a stance that is not made of its two signals; no (default): report it",
        "demos": "file of records that few_shot draws its demonstrations from; default: the bundled ones",
    }
)


def window(options: Mapping[str, str]) -> int | None:
    """How many turns of context are shown; ``None`` for all of them.

    Raises:
        UserError: When the setting is neither ``all`` nor a whole number from 0.
    """
    text = options.get("context", "all").strip()
    if text == "all":
        return None
    if not (text.isascii() and text.isdigit()):
        raise UserError(f"Setting context={text}: expected all, or a whole number of turns such as 3.")
    return int(text)


def language(options: Mapping[str, str]) -> Language:
    """Language of the prompt.

    Raises:
        UserError: When it is neither ``zh`` nor ``en``.
    """
    match options.get("lang", "zh"):
        case "zh":
            return "zh"
        case "en":
            return "en"
        case other:
            raise UserError(f"Setting lang={other}: expected zh or en.")


def strict(options: Mapping[str, str]) -> bool:
    """Whether a record that breaks the stance matrix is refused.

    Raises:
        UserError: When it is neither yes nor no.
    """
    return flag(options, "strict")


def demos(options: Mapping[str, str]) -> str:
    """File or ``hub:NAME`` that demonstrations are drawn from; empty for the bundled ones.

    Raises:
        UserError: When there is no such file.
    """
    source = options.get("demos", "")
    if source and not source.startswith("hub:") and not Path(source).is_file():
        raise UserError(f"Setting demos={source}: there is no such file; check the path.")
    return source
