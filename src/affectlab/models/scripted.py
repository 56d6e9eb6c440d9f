"""Replies read from a file: for tests, dry runs and replaying what another tool collected.

A script is a UTF-8 file of JSON lines::

    {"item": "s01", "step": "joint", "reply": "A: joy"}
    {"item": "s02", "repeat": 1, "reply": "…", "finish": "length"}
    {"item": "s03", "logprobs": {"joy": -0.2, "fear": -1.9}}
    {"item": "*", "reply": "A: fear"}

``item`` is required; ``"*"`` stands for every item. ``step``, ``variant``, ``condition`` and ``repeat``
narrow a line down. Of the lines that fit a request the most specific one answers: a line with an item beats
one with ``"*"``, then one with a step beats one without, then variant, condition and repeat, in this order.
``reply`` (text or ``null``) answers requests to generate; ``logprobs`` (a list in the order of the options,
or an object by option text, white space around it left out) answers requests to score.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from affectlab.errors import UserError, WorldError
from affectlab.models.base import Ability, Answer, ModelCard, Request, Response

_SELECTORS = ("item", "step", "variant", "condition", "repeat")
_FIELDS = frozenset({*_SELECTORS, "reply", "finish", "logprobs"})
_FINISHES = ("stop", "length", "filter")
_SHOWN = 20

Selector: TypeAlias = "tuple[Any, ...]"
LogProbs: TypeAlias = "tuple[float, ...] | Mapping[str, float]"


@dataclass(frozen=True, slots=True)
class _Lookup:
    """Lines by the selectors they name; most specific set of selectors first."""

    tables: list[tuple[tuple[int, ...], dict[Selector, Any]]] = field(default_factory=list)

    @classmethod
    def of(cls, lines: Mapping[Selector, Any]) -> _Lookup:
        by_selectors: dict[tuple[int, ...], dict[Selector, Any]] = {}
        for selector, value in lines.items():
            named = tuple(i for i, part in enumerate(selector) if part is not None)
            by_selectors.setdefault(named, {})[tuple(selector[i] for i in named)] = value
        ranked = sorted(by_selectors, key=lambda named: [i in named for i in range(len(_SELECTORS))], reverse=True)
        return cls([(named, by_selectors[named]) for named in ranked])

    def find(self, request: Request) -> Any:
        """The most specific line's value, or ``None``."""
        parts = (request.item, request.step, request.variant, request.condition, request.repeat)
        for named, table in self.tables:
            value = table.get(tuple([parts[i] for i in named]))
            if value is not None:
                return value
        return None


class ScriptedModel:
    """A model whose replies are written down beforehand."""

    def __init__(self, path: Path, vectors: Path | None = None) -> None:
        """Read the script.

        Args:
            path: File of JSON lines, see the module's text.
            vectors: File of emotion vectors that the user named: refused once conditions are to rest on it.

        Raises:
            UserError: When the file is missing, empty or has bad lines (all of them are listed).
            WorldError: When it cannot be read.
        """
        data = _read(path)
        replies, scores = _parse(path, data)
        self._path = path
        self._vectors = vectors
        self._replies = _Lookup.of(replies)
        self._scores = _Lookup.of(scores)
        able = {Ability.GENERATE} if replies else set()
        self.abilities: frozenset[Ability] = frozenset(able | ({Ability.SCORE} if scores else set()) | {Ability.STEER})
        self.card = ModelCard(
            spec=f"scripted:{path}",
            name=path.stem,
            identity={"file": path.name, "sha256": hashlib.sha256(data).hexdigest()},
        )

    def respond(self, requests: Sequence[Request]) -> Iterator[tuple[Request, Answer]]:
        """Answer requests in the order given.

        Raises:
            UserError: Before the first answer, when the script has none for some request; when
                log-probabilities do not fit a request's options.
        """
        found = [self._scores.find(request) if request.options else self._replies.find(request) for request in requests]
        missing = [request for request, line in zip(requests, found, strict=True) if line is None]
        if missing:
            raise UserError(self._missing(missing))
        for request, line in zip(requests, found, strict=True):
            yield request, self._scored(request, line) if request.options else line

    def prepare(self, conditions: Sequence[str], kept: Path, recorded: Mapping[str, Any]) -> Mapping[str, Any]:
        """A script may answer otherwise under each condition; nothing is made ready, and the manifest says so.

        Raises:
            UserError: When vectors are named for it: nothing would be steered with them.
        """
        if self._vectors is not None:
            raise UserError(
                f"{self._vectors} steers no script: {self.card.spec} answers what its lines say. Leave --vectors out, "
                "or ask a local model."
            )
        return {"note": "The replies are scripted: no model was steered."}

    def close(self) -> None:
        """Nothing is held."""

    def _missing(self, requests: list[Request]) -> str:
        what = "logprobs" if requests[0].options else "reply"
        shown = "\n".join(f"  item {r.item!r}, step {r.step!r}" + _rest(r) for r in requests[:_SHOWN])
        more = f"\n  and {len(requests) - _SHOWN} more" if len(requests) > _SHOWN else ""
        return (
            f"{self._path} has no {what} for {len(requests)} of the requests:\n{shown}{more}\n"
            f'Add a line for each, or a default: {{"item": "*", "{what}": …}}.'
        )

    def _scored(self, request: Request, line: LogProbs) -> Response:
        options = request.options
        if isinstance(line, tuple):
            values = line
            if len(values) != len(options):
                raise UserError(
                    f"{self._path} gives {len(values)} logprobs for item {request.item!r}, "
                    f"step {request.step!r}, which has {len(options)} options: {', '.join(map(repr, options))}."
                )
        else:
            absent = [option for option in options if option.strip() not in line]
            if absent:
                raise UserError(
                    f"{self._path} gives no logprob for {', '.join(map(repr, absent))} "
                    f"to item {request.item!r}, step {request.step!r}."
                )
            values = tuple(line[option.strip()] for option in options)
        return Response(
            text=None,
            finish="scored",
            logprobs=values,
            option_tokens=tuple(len(option.split()) or 1 for option in options),
        )


def _rest(request: Request) -> str:
    rest = {"variant": request.variant, "condition": request.condition, "repeat": request.repeat}
    defaults = {"variant": "", "condition": "neutral", "repeat": 0}
    return "".join(f", {name} {value!r}" for name, value in rest.items() if value != defaults[name])


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise UserError(f"There is no script {path}. scripted:FILE names a file of JSON lines.") from None
    except IsADirectoryError:
        raise UserError(f"{path} is a folder. scripted:FILE names a file of JSON lines.") from None
    except OSError as error:
        raise WorldError(f"Cannot read the script {path}: {error.strerror}.") from error


def _parse(path: Path, data: bytes) -> tuple[dict[Selector, Response], dict[Selector, LogProbs]]:
    """Replies and log-probabilities by selector; every bad line is in the error."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        at = data.count(b"\n", 0, error.start) + 1
        raise UserError(
            f"{path}, line {at}: not UTF-8 (byte {data[error.start]:#04x}). Save the file as UTF-8."
        ) from None
    replies: dict[Selector, Response] = {}
    scores: dict[Selector, LogProbs] = {}
    first: dict[tuple[str, Selector], int] = {}
    problems: list[str] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = _row(line)
        except ValueError as error:
            problems.append(f"  line {number}: {error}")
            continue
        selector = (None if row["item"] == "*" else row["item"], *(row.get(name) for name in _SELECTORS[1:]))
        problems += [
            f"  line {number}: a second {kind} for what line {seen} answers"
            for kind in ("reply", "logprobs")
            if kind in row and (seen := first.setdefault((kind, selector), number)) != number
        ]
        if "reply" in row:
            replies[selector] = Response(text=row["reply"], finish=row.get("finish", "stop"))
        if "logprobs" in row:
            found = row["logprobs"]
            scores[selector] = tuple(found) if isinstance(found, list) else {k.strip(): v for k, v in found.items()}
    if problems:
        more = [f"  and {len(problems) - _SHOWN} more"] if len(problems) > _SHOWN else []
        raise UserError("\n".join([f"{path} is not a script that can be used:", *problems[:_SHOWN], *more]))
    if not replies and not scores:
        raise UserError(f'{path} is empty. Write one JSON object a line, for instance {{"item": "*", "reply": "A"}}.')
    return replies, scores


def _row(line: str) -> dict[str, Any]:
    """One line, checked.

    Raises:
        ValueError: Saying what was found and what was expected.
    """
    try:
        row = json.loads(line)
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON ({error.msg} at column {error.colno}); is the line cut off?") from None
    except RecursionError:
        raise ValueError("JSON nested too deeply") from None
    if not isinstance(row, dict):
        raise ValueError(f"found {_kind(row)}, expected an object")
    if unknown := sorted(row.keys() - _FIELDS):
        raise ValueError(f"unknown field {', '.join(map(repr, unknown))}; fields are {', '.join(sorted(_FIELDS))}")
    if not isinstance(row.get("item"), str):
        raise ValueError(f'item is {_kind(row.get("item"))}, expected an item\'s id or "*"')
    for name in ("step", "variant", "condition"):
        if name in row and not isinstance(row[name], str):
            raise ValueError(f"{name} is {_kind(row[name])}, expected text")
    if "repeat" in row and (type(row["repeat"]) is not int or row["repeat"] < 0):
        raise ValueError(f"repeat is {row['repeat']!r}, expected a whole number from 0")
    if "reply" not in row and "logprobs" not in row:
        raise ValueError("neither reply nor logprobs")
    if "reply" in row and not isinstance(row["reply"], str | None):
        raise ValueError(f"reply is {_kind(row['reply'])}, expected text or null")
    if row.get("finish", "stop") not in _FINISHES:
        raise ValueError(f"finish is {row['finish']!r}, expected one of {', '.join(_FINISHES)}")
    if "logprobs" in row:
        _check_logprobs(row["logprobs"])
    return row


def _check_logprobs(found: Any) -> None:
    if not isinstance(found, list | dict) or not found:
        raise ValueError("logprobs must be a list of numbers or an object from option to number, and not empty")
    values = list(found.values()) if isinstance(found, dict) else found
    for value in values:
        if type(value) not in (int, float) or not math.isfinite(value) or value > 0:
            raise ValueError(f"logprobs hold {value!r}, expected finite numbers that are at most 0")


def _kind(value: Any) -> str:
    names = {
        dict: "an object",
        list: "a list",
        str: "text",
        bool: "true or false",
        int: "a number",
        float: "a number",
    }
    return names.get(type(value), "nothing")
