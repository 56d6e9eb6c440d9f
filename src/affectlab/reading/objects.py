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
    r"(?:\"((?:[^\"\\\n]|\\.)*+)\"|'((?:[^'\\\n]|\\.)*+)'"
    r"|(-?\d+(?:\.\d+)?(?=\s*[,}\n])|(?:true|false|null)(?=\s*[,}\n])|\[[^\[\]{}]{0,4000}\]))"
)
_DEEPEST: Final = 60


class Pairs(list[tuple[str, Any]]):
    """One object as its pairs in order, so that a key given twice is seen."""


class Objects(NamedTuple):
    """The objects of a reply.

    Attributes:
        answers: Outermost objects in order, each as the objects inside it and then itself.
        repaired: One had to be mended.
        cut: One never closes.
    """

    answers: list[list[Pairs]]
    repaired: bool
    cut: bool

    @property
    def objects(self) -> list[Pairs]:
        """All objects in order, inner before outer."""
        return [pairs for answer in self.answers for pairs in answer]


def find_objects(text: str) -> Objects:
    """Every JSON object in a text, those in lists included.

    Trailing commas, single quotes, Python constants, comments and bare keys are mended; of an object that never
    closes the complete pairs are kept. Linear in the length of the text.
    """
    whole = _strict(text.strip())
    if whole is not None:
        return Objects(list(_answers_in(whole)), repaired=False, cut=False)
    found: list[list[Pairs]] = []
    repaired = False
    spans, cut_at = _balanced(text)
    for start, end in spans:
        piece = text[start:end]
        value = _strict(piece)
        if value is None:
            value = _mended(piece)
            repaired = True
        if value is not None:
            found.extend(_answers_in(value))
        elif pairs := _complete_pairs(piece):
            found.append([pairs])
    if cut_at is not None:
        pairs = _complete_pairs(text[cut_at:])
        if pairs:
            found.append([pairs])
        return Objects(found, True, True)
    return Objects(found, repaired, False)


def read_whole(text: str) -> Any:
    """A text that is one object or list and nothing else, mended if need be; ``None`` when it is not."""
    value = _strict(text)
    return _mended(text) if value is None else value


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


def _answers_in(value: Any, depth: int = 0) -> Iterator[list[Pairs]]:
    """The outermost objects of a value that is one, or a list of them."""
    if isinstance(value, Pairs):
        yield list(_objects_in(value, depth))
    elif isinstance(value, list) and depth <= _DEEPEST:
        for inner in value:
            yield from _answers_in(inner, depth + 1)


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
    """The pairs that are complete in an object that is not: strings, lists of strings, numbers and constants."""
    return Pairs((m.group(1).strip(), _value(m)) for m in _PAIR.finditer(text))


def _value(pair: re.Match[str]) -> Any:
    double, single, written = pair.group(2, 3, 4)
    if written is None:
        return single if double is None else double
    return read_whole(written) if written.startswith("[") else json.loads(written)
