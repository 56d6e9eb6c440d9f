"""Lines and records of public emotion corpora, each with the quirks of its release.

Pure functions on one line, record or header. They decide nothing that a scorer should: what is absent, what was not
annotated and what breaks a corpus's own rule is kept apart and reported, never dropped or rewritten.
"""

from __future__ import annotations

import ast
import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from affectlab.errors import UserError
from affectlab.items.problems import shorten

T = TypeVar("T")

XED_EMOTIONS = ("anger", "anticipation", "disgust", "fear", "joy", "sadness", "surprise", "trust")
"""XED's codes 1 to 8: Plutchik's eight in alphabetical order. Code 9, in the neutral file, is neutral."""

EMOTIONX_EMOTIONS = ("neutral", "joy", "sadness", "fear", "anger", "surprise", "disgust")
"""Order of the seven digits in EmotionX's vote strings."""

_XED_NEUTRAL = 9
_EMOTIONX_VOTERS = 5
_EMOTIONX_MAJORITY = 3


@dataclass(frozen=True, slots=True)
class Labelled:
    """One labelled text.

    Attributes:
        text: As the corpus has it.
        labels: Label indices (GoEmotions) or ids (XED), sorted as declared; ``None`` when the row has no label.
        id: The corpus's id; empty where it has none.
    """

    text: str
    labels: tuple[int, ...] | tuple[str, ...] | None
    id: str = ""


def goemotions_row(line: str, quoting: Literal["none", "csv"] = "none", n_labels: int = 28) -> Labelled:
    """One line of the filtered GoEmotions files: text, label indices joined by commas, id; tabs between, no header.

    The files were written with CSV quoting, by line: a text that holds a quote mark stands in quotes with the marks
    doubled. With ``"none"``, the default, the text is what stands between the tabs, marks and all, as most published
    results have it; ``"csv"`` undoes the quoting. Both give the same rows. Neutral (27) may stand beside others.

    Raises:
        UserError: When the line has not three cells, or a label is no index of the space.
    """
    bare = line.rstrip("\r\n")
    cells = bare.split("\t") if quoting == "none" else next(csv.reader([bare], delimiter="\t"), [])
    if len(cells) != 3:
        raise UserError(f"a GoEmotions line has 3 cells, not {len(cells)}: {shorten(bare)}")
    text, codes, key = cells
    return Labelled(text, _codes(codes, range(n_labels), line), key)


def xed_row(line: str) -> Labelled:
    """One line of XED's annotated files: text, a tab, codes 1 to 8 in any order (``8, 1``).

    A line without codes (there are 1,106 in the projected files) has labels ``None``.

    Raises:
        UserError: When the line has no tab, or a code is not 1 to 8.
    """
    text, tab, codes = line.rstrip("\r\n").rpartition("\t")
    if not tab:
        raise UserError(f"an XED line has a tab before its codes: {shorten(line)}")
    if not codes.strip():
        return Labelled(text, None)
    return Labelled(text, tuple(XED_EMOTIONS[code - 1] for code in _codes(codes, range(1, 9), line)))


def xed_neutral_row(line: str) -> Labelled:
    """One line of XED's neutral file, where the code, always 9, comes first.

    Some lines of the release are padded with tabs at the end, which are no part of the text.

    Raises:
        UserError: When the line does not begin with 9 and a tab (line 74 of the English file is empty but for tabs).
    """
    code, tab, text = line.rstrip("\r\n\t").partition("\t")
    if not tab or code.strip() != str(_XED_NEUTRAL):
        raise UserError(f"a line of XED's neutral file begins with 9 and a tab: {shorten(line)}")
    return Labelled(text, ("neutral",))


def _codes(written: str, allowed: range, line: str) -> tuple[int, ...]:
    parts = [part.strip() for part in written.split(",")]
    # isdecimal also holds for other scripts' digits, which int reads as well.
    if not all(part.isdecimal() and int(part) in allowed for part in parts):
        raise UserError(f"labels {written!r} are not numbers from {allowed[0]} to {allowed[-1]}: {shorten(line)}")
    return tuple(sorted({int(part) for part in parts}))


@dataclass(frozen=True, slots=True)
class Annotation:
    """A multi-label annotation that keeps "annotated as absent" and "not annotated" apart.

    Attributes:
        present: Annotated as present, in the declared order. Empty for a row without any emotion, which is valid.
        absent: Annotated as absent.
        not_annotated: Without a column, or with an empty one: nobody judged these, so no score may count them.
    """

    present: tuple[str, ...]
    absent: tuple[str, ...]
    not_annotated: tuple[str, ...]


def read_indicators(row: Mapping[str, Any], labels: Sequence[str]) -> Annotation:
    """Reads 0/1 columns (SemEval-2018 E-c, BRIGHTER, unify-emotion-datasets).

    A missing column, ``None`` and an empty cell are not annotated; 0 is absent; a number above 0 (an intensity, in
    track B of BRIGHTER) is present.

    Raises:
        UserError: When a cell is neither empty nor a number from 0 up.
    """
    values = {label: _indicator(label, row.get(label)) for label in labels}
    return Annotation(
        present=tuple(label for label, value in values.items() if value is not None and value > 0),
        absent=tuple(label for label, value in values.items() if value == 0),
        not_annotated=tuple(label for label, value in values.items() if value is None),
    )


def _indicator(label: str, cell: Any) -> float | None:
    if cell is None or (isinstance(cell, str) and not cell.strip()):
        return None
    try:
        value = float(cell)
    except (TypeError, ValueError) as error:
        raise UserError(f"column {label}: found {shorten(cell)}; expected 0, 1 or nothing") from error
    if not value >= 0:
        raise UserError(f"column {label}: found {shorten(cell)}; expected 0, 1 or nothing")
    return value


def emotionx_majority(votes: str) -> str:
    """Label that EmotionX's stated rule gives a vote string: the emotion with 3 or more of 5 votes.

    Args:
        votes: Seven digits in the order of :data:`EMOTIONX_EMOTIONS`; text, since leading zeros count.

    Returns:
        The emotion, or ``non-neutral`` when none has three votes. Nine released EmotionPush rows say otherwise:
        compare, report, and leave them.

    Raises:
        UserError: When it is not seven digits that sum to five.
    """
    if len(votes) != len(EMOTIONX_EMOTIONS) or not (votes.isascii() and votes.isdecimal()):
        raise UserError(f"EmotionX votes are {len(EMOTIONX_EMOTIONS)} digits as text, not {votes!r}")
    counts = [int(digit) for digit in votes]
    if sum(counts) != _EMOTIONX_VOTERS:
        raise UserError(f"EmotionX votes sum to {_EMOTIONX_VOTERS}; {votes!r} sums to {sum(counts)}")
    top = max(counts)
    return EMOTIONX_EMOTIONS[counts.index(top)] if top >= _EMOTIONX_MAJORITY else "non-neutral"


def parallel_lines(texts: str, labels: str) -> list[tuple[str, str]]:
    """Lines of two files that belong together (TweetEval), whether or not the last line of either is ended.

    Raises:
        UserError: When the files have different numbers of lines.
    """
    left, right = ([line.rstrip("\r") for line in side.removesuffix("\n").split("\n")] for side in (texts, labels))
    if len(left) != len(right):
        raise UserError(f"{len(left)} lines of text and {len(right)} of labels; both files must have as many")
    return list(zip(left, right, strict=True))


def split_key(split: str, *ids: object) -> str:
    """Key of a row whose ids restart in every split (MELD): ``train/0/0``."""
    return "/".join((split, *map(str, ids)))


def preceding(rows: Sequence[T], position: int, size: int) -> tuple[T, ...]:
    """The ``size`` rows before a position, fewer at the start. Goes by order, so gaps in the ids do not matter."""
    return tuple(rows[max(0, position - size) : position])


def absent_side_files(record: Mapping[str, Any], names: Iterable[str] = ("video", "audio", "image")) -> list[str]:
    """Side files that a record names and does not have. The record stays usable without them."""
    return [name for name in names if name in record and not record[name]]


def unscorable(texts: Sequence[str]) -> list[int]:
    """Positions of texts without content (25 EmotionPush rows): kept as context, left out of scores, counted."""
    return [position for position, text in enumerate(texts) if not text.strip()]


def parse_literal(text: str) -> Any:
    """Value of a Python literal, for files that are named ``.json`` and are none (StarCraft MSC). Runs no code.

    Raises:
        UserError: When the text is not a plain literal.
    """
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, RecursionError, MemoryError) as error:
        raise UserError(f"neither JSON nor a Python literal: {shorten(text)} ({error})") from error


def phase_orders(phase: Mapping[str, Any]) -> dict[str, tuple[str, ...] | None]:
    """Orders of each power in one phase of a Diplomacy log; ``None`` (none recorded) stays apart from no orders."""
    orders = phase.get("orders") or {}
    return {power: None if given is None else tuple(given) for power, given in orders.items()}
