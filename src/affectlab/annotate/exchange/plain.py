"""What all exchange formats share: answers as the values other tools hold, and what could not go along."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from affectlab.annotate.answer_files import BadFieldError, plain_value
from affectlab.annotate.answers import Answer, type_of
from affectlab.errors import UserError, as_lines
from affectlab.items import Gold
from affectlab.items.source import read_text


@dataclass(frozen=True)
class Written:
    """Answers in another tool's format.

    Attributes:
        files: Name of each file -> its text.
        left_out: What the format has no place for -> how many answers.
    """

    files: Mapping[str, str]
    left_out: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Found:
    """Answers read from another tool's format.

    Attributes:
        answers: In file order.
        left_out: What has no place among answers -> how many.
    """

    answers: tuple[Answer, ...]
    left_out: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Format:
    """One exchange format.

    Attributes:
        name: What the user types.
        what: In one line.
        write: From answers and the text of each item to files.
        read: From a path to answers.
    """

    name: str
    what: str
    write: Callable[[Sequence[Answer], Mapping[str, str]], Written]
    read: Callable[[str], Found]


def by_item(answers: Iterable[Answer]) -> dict[str, list[Answer]]:
    """Answers grouped by item, in order of first mention."""
    grouped: dict[str, list[Answer]] = defaultdict(list)
    for one in answers:
        grouped[one.item].append(one)
    return grouped


def slot_types(answers: Iterable[Answer]) -> dict[str, str]:
    """What each slot holds: ``label``, ``number``, ``set`` or ``intensities``.

    Raises:
        UserError: When a slot holds several kinds of values.
    """
    types: dict[str, str] = {}
    for one in answers:
        if one.value is not None and types.setdefault(one.slot, type_of(one.value)) != type_of(one.value):
            raise UserError(f"Slot {one.slot!r} holds both {types[one.slot]} and {type_of(one.value)} values.")
    return types


def number(value: float) -> int | float:
    """A number as other tools write it: whole where it is whole."""
    return int(value) if float(value).is_integer() else float(value)


def value_from(found: Sequence[Any], kind: str) -> Gold | None:
    """The value that a list of choices means, for a slot of this kind.

    Raises:
        BadFieldError: When a slot of single labels has none or several.
    """
    if kind == "set":
        return plain_value(list(found))
    if len(found) != 1:
        raise BadFieldError("value", list(found), "one value")
    return plain_value(found[0])


def file_name(text: str, unlike: str = "") -> str:
    """A text as the name of a file or folder, which ``urllib.parse.unquote`` reads back.

    Args:
        text: Any text that is not empty.
        unlike: What the name must not begin with, because it means something else.
    """
    name = quote(text, safe="")
    # A name of dots is another folder, and one that begins with a dot is hidden.
    if name.startswith(".") or (unlike and name.startswith(unlike)):
        return f"%{ord(name[0]):02X}{name[1:]}"
    return name


def load_json(path: str) -> Any:
    """A JSON document.

    Raises:
        UserError: When the file cannot be read or is no JSON.
    """
    text = read_text(path)
    try:
        return json.loads(text)
    except ValueError as error:
        raise UserError(f"{path} is no JSON document ({error}).") from error


def dump_json(document: Any) -> str:
    """A document as JSON text."""
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def merged(path: str, bad: Sequence[str]) -> None:
    """Refuse a file with all that is wrong in it.

    Raises:
        UserError: When ``bad`` is not empty.
    """
    if bad:
        raise UserError(f"{path}: {len(bad)} problems; nothing was read{as_lines(bad)}")


def counted(
    answers: Iterable[Answer], keep: Callable[[Answer], bool], why: Callable[[Answer], str]
) -> tuple[list[Answer], Counter[str]]:
    """The answers a format has a place for, and why the others have none."""
    kept: list[Answer] = []
    left: Counter[str] = Counter()
    for one in answers:
        if keep(one):
            kept.append(one)
        else:
            left[why(one)] += 1
    return kept, left


def files_of(path: str, pattern: str) -> list[Path]:
    """The files a path stands for: itself, or those of a folder that match.

    Raises:
        UserError: When there are none.
    """
    place = Path(path).expanduser()
    if not place.is_dir():
        return [place]
    found = sorted(place.rglob(pattern))
    if not found:
        raise UserError(f"{path} holds no {pattern}.")
    return found
