"""Near-duplicate texts within a set, and leakage between two sets.

Similarity is the Jaccard index of character n-grams, which needs no word boundaries and so holds for Chinese as
for English: three characters, or two where the first is a Chinese character, which says more than a letter does.

Pairs are found exactly, without sampling or hashing: two sets of a and b grams that reach the threshold t have at
least k grams in common among the rarest a − ⌈t·a⌉ + k of the one and b − ⌈t·b⌉ + k of the other (or all that they
must share, if fewer than k), so only such texts are compared (prefix filtering: Bayardo et al. 2007, Scaling up all
pairs similarity search; with k above 1: Wang et al. 2012, Can we beat the prefix filtering?).
"""

from __future__ import annotations

import math
import unicodedata
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, TypeAlias

from affectlab.errors import UserError

Kind: TypeAlias = Literal["exact", "normalised", "near"]

_SHARED = 6  # k above; makes no pair more or less, only the search faster or slower
_SLACK = 1e-9


@dataclass(frozen=True, slots=True)
class Pair:
    """Two texts that are the same or nearly so.

    Attributes:
        a: Id of the first text (of the left set, for leakage).
        b: Id of the second (of the right set).
        similarity: Jaccard index of character n-grams after folding, in [0, 1]; 1 for equal texts.
        kind: ``exact`` for identical texts, ``normalised`` for texts equal after folding, else ``near``.
    """

    a: str
    b: str
    similarity: float
    kind: Kind


def fold_text(text: str) -> str:
    """Text without what makes it no other text: compatibility forms, case, the amount of white space."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def alike(one: str, other: str, threshold: float = 0.8) -> bool:
    """Whether two texts are equal after folding or nearly equal, by the rule of :func:`near_duplicates`."""
    first, second = fold_text(one), fold_text(other)
    return first == second or _jaccard(_kept_grams(first), _kept_grams(second)) >= threshold


def near_duplicates(texts: Mapping[str, str], threshold: float = 0.8) -> list[Pair]:
    """Pairs of texts that are equal or nearly equal.

    Of several texts that are equal after folding each is paired with the first of them, and only the first takes
    part in near pairs: n copies give n − 1 pairs.

    Args:
        texts: Id -> text.
        threshold: Least similarity of a near pair, above 0 and at most 1.

    Returns:
        Pairs in the order of the texts.

    Raises:
        UserError: When the threshold is out of range.
    """
    _check(threshold)
    order = {key: position for position, key in enumerate(texts)}
    folded = {key: fold_text(text) for key, text in texts.items()}
    first: dict[str, str] = {}
    pairs: list[Pair] = []
    for key, form in folded.items():
        if (earlier := first.setdefault(form, key)) != key:
            pairs.append(_equal(earlier, key, texts[earlier], texts[key]))
    for one, other, similarity in _join({key: form for form, key in first.items()}, None, threshold):
        a, b = sorted((one, other), key=order.__getitem__)
        pairs.append(Pair(a, b, similarity, "near"))
    return sorted(pairs, key=lambda pair: (order[pair.a], order[pair.b]))


def leakage(left: Mapping[str, str], right: Mapping[str, str], threshold: float = 0.8) -> list[Pair]:
    """Texts of ``right`` (a test split) that stand in ``left`` (a training split) as well, or nearly so.

    Args:
        left: Id -> text.
        right: Id -> text.
        threshold: Least similarity of a near pair, above 0 and at most 1.

    Returns:
        One pair for each leaked text of ``right``, in its order, with the text of ``left`` most like it: an
        identical one before one equal after folding before a near one; the first of several.

    Raises:
        UserError: When the threshold is out of range.
    """
    _check(threshold)
    order = {key: position for position, key in enumerate(left)}
    raw: dict[str, str] = {}
    first: dict[str, str] = {}
    for key, text in left.items():
        raw.setdefault(text, key)
        first.setdefault(fold_text(text), key)
    found: dict[str, Pair] = {}
    rest: dict[str, str] = {}
    for key, text in right.items():
        form = fold_text(text)
        if text in raw:
            found[key] = Pair(raw[text], key, 1.0, "exact")
        elif form in first:
            found[key] = Pair(first[form], key, 1.0, "normalised")
        else:
            rest[key] = form
    for a, b, similarity in _join({key: form for form, key in first.items()}, rest, threshold):
        best = found.get(b)
        if best is None or (similarity, -order[a]) > (best.similarity, -order[best.a]):
            found[b] = Pair(a, b, similarity, "near")
    return [found[key] for key in right if key in found]


def count_kinds(pairs: Iterable[Pair]) -> dict[Kind, int]:
    """Number of pairs of each kind."""
    counts = Counter(pair.kind for pair in pairs)
    return {"exact": counts["exact"], "normalised": counts["normalised"], "near": counts["near"]}


def _check(threshold: float) -> None:
    if not 0 < threshold <= 1:
        raise UserError(f"the similarity threshold must be above 0 and at most 1, not {threshold}")


def _equal(a: str, b: str, first: str, second: str) -> Pair:
    return Pair(a, b, 1.0, "exact" if first == second else "normalised")


def _grams(form: str) -> frozenset[str]:
    sizes = ((i, 2 if "\u3400" <= mark <= "\u9fff" else 3) for i, mark in enumerate(form))
    return frozenset(form[i : i + size] for i, size in sizes if i + size <= len(form)) or frozenset({form})


_kept_grams = lru_cache(maxsize=16384)(_grams)


def _join(
    left: Mapping[str, str], right: Mapping[str, str] | None, threshold: float
) -> Iterator[tuple[str, str, float]]:
    """Near pairs (left id, right id, similarity), in no particular order; within ``left`` if no ``right``."""
    own = sorted(((_grams(form), key) for key, form in left.items()), key=lambda pair: len(pair[0]))
    asked = own if right is None else [(_grams(form), key) for key, form in right.items()]
    frequency = Counter(gram for grams, _ in own for gram in grams)
    # By size, so that texts too short or too long to be alike are a slice away.
    sizes = [len(grams) for grams, _ in own]
    places: dict[str, list[int]] = defaultdict(list)
    for position, (grams, _) in enumerate(own):
        for gram in _prefix(grams, frequency, threshold):
            places[gram].append(position)
    for position, (grams, key) in enumerate(asked):
        least = bisect_left(sizes, _least_shared(len(grams), threshold))
        most = position if right is None else bisect_right(sizes, len(grams) / threshold + _SLACK)
        shared = Counter(
            other
            for gram in _prefix(grams, frequency, threshold)
            if (there := places.get(gram))
            for other in there[bisect_left(there, least) : bisect_left(there, most)]
        )
        enough = min(_SHARED, _least_shared(len(grams), threshold))
        for other, count in shared.items():
            if count >= enough and (similarity := _jaccard(own[other][0], grams)) >= threshold:
                yield own[other][1], key, similarity


def _least_shared(size: int, threshold: float) -> int:
    # Less a hair before the ceiling: 0.56 * 25 is a little more than 14 in floating point.
    return math.ceil(threshold * size - _SLACK)


def _prefix(grams: frozenset[str], frequency: Mapping[str, int], threshold: float) -> list[str]:
    length = len(grams) - _least_shared(len(grams), threshold) + _SHARED
    return sorted(grams, key=lambda gram: (frequency.get(gram, 0), gram))[:length]


def _jaccard(a: frozenset[str], b: frozenset[str]) -> float:
    shared = len(a & b)
    return shared / (len(a) + len(b) - shared)
