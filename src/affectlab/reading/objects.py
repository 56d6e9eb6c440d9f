"""JSON objects inside a reply, however a model wraps or bends them."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

_COMMENT: Final = re.compile(r'("(?:[^"\\\n]|\\.)*+")|//[^\n]*|/\*.*?\*/|(?<=[\s,{])#[^\n]*', re.DOTALL)
_COMMA: Final = re.compile(r'("(?:[^"\\\n]|\\.)*+")|,(?=\s*[}\]])', re.DOTALL)
_BARE_KEY: Final = re.compile(r'("(?:[^"\\\n]|\\.)*+")|(?<=[{,])(\s*)([A-Za-z_]\w{0,60})(?=\s*:)')
_STRING: Final = re.compile(r'"(?:[^"\\\n]|\\.)*+"')
_PAIR: Final = re.compile(
    r"[\"']?([\w .-]{1,80}?)[\"']?\s{0,3}:\s{0,3}"
    r"(?:\"((?:[^\"\\\n]|\\.)*+)\"|'((?:[^'\\\n]|\\.)*+)'|(-?\d+(?:\.\d+)?|true|false|null)(?=\s*[,}\n]))"
)
_DEEPEST: Final = 60


class Pairs(list[tuple[str, Any]]):
    """One object as its pairs in order, so that a key given twice is seen."""


class Objects(NamedTuple):
    """The objects of a reply, in order, inner before outer; whether one had to be mended, and whether one was cut."""

    objects: list[Pairs]
    repaired: bool
    cut: bool


def find_objects(text: str) -> Objects:
    """Every JSON object in a text, those in lists included.

    Trailing commas, single quotes, Python constants, comments and bare keys are mended; of an object that never
    closes the complete pairs are kept. Linear in the length of the text.
    """
    whole = _strict(text.strip())
    if whole is not None:
        return Objects(list(_objects_in(whole)), repaired=False, cut=False)
    found: list[Pairs] = []
    repaired = False
    spans, cut_at = _balanced(text)
    for start, end in spans:
        piece = text[start:end]
        value = _strict(piece)
        if value is None:
            value = _mended(piece)
            repaired = True
        if value is not None:
            found.extend(_objects_in(value))
        elif pairs := _complete_pairs(piece):
            found.append(pairs)
    if cut_at is not None:
        pairs = _complete_pairs(text[cut_at:])
        if pairs:
            found.append(pairs)
        return Objects(found, True, True)
    return Objects(found, repaired, False)


def _strict(text: str) -> Any:
    if not text or text[0] not in "{[":
        return None
    try:
        return json.loads(text, object_pairs_hook=Pairs, strict=False)
    except (ValueError, RecursionError):
        return None


def _mended(text: str) -> Any:
    """A bent object, mended; ``None`` when that does not help."""
    if len(text) > 100_000:
        return None
    mended = _COMMENT.sub(lambda m: m.group(1) or "", text)
    mended = _COMMA.sub(lambda m: m.group(1) or "", mended)
    for attempt in (mended, _BARE_KEY.sub(lambda m: m.group(1) or f'{m.group(2)}"{m.group(3)}"', mended)):
        value = _strict(attempt)
        if value is not None:
            return value
    try:
        return _as_pairs(ast.literal_eval(mended))
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        return None


def _as_pairs(value: Any) -> Any:
    if isinstance(value, dict):
        return Pairs((str(key), _as_pairs(inner)) for key, inner in value.items())
    if isinstance(value, (list, tuple)):
        return [_as_pairs(inner) for inner in value]
    return value


def _objects_in(value: Any, depth: int = 0) -> Iterator[Pairs]:
    if depth > _DEEPEST:
        return
    if isinstance(value, Pairs):
        for _, inner in value:
            yield from _objects_in(inner, depth + 1)
        yield value  # after what is inside it: of two answers, the object's own is the last
    elif isinstance(value, list):
        for inner in value:
            yield from _objects_in(inner, depth + 1)


def _balanced(text: str) -> tuple[list[tuple[int, int]], int | None]:
    """Outermost balanced ``{…}`` spans, and where an object begins that never closes."""
    spans: list[tuple[int, int]] = []
    opened: list[int] = []
    at = 0
    for match in _BRACE.finditer(text):
        at, char = match.start(), match.group()
        if char == "{":
            opened.append(at)
        elif char == "}" and opened:
            start = opened.pop()
            while spans and spans[-1][0] > start:
                spans.pop()
            spans.append((start, at + 1))
    outermost = opened[0] if opened else None
    if outermost is not None and any(start > outermost for start, _ in spans):
        return spans, None
    return spans, outermost


_BRACE: Final = re.compile(r'"(?:[^"\\\n{}]|\\.)*+"|[{}]')


def _complete_pairs(text: str) -> Pairs:
    """``"key": "value"`` pairs that are complete in an object that is not."""
    return Pairs(
        (m.group(1).strip(), json_value(m.group(2) if m.group(2) is not None else m.group(3), m.group(4)))
        for m in _PAIR.finditer(text)
    )


def json_value(quoted: str | None, constant: str | None) -> Any:
    """A value as JSON would have it: the string when quoted, else the constant."""
    if quoted is not None:
        return quoted
    return json.loads(constant) if constant is not None else None
