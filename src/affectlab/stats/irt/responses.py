"""Who answered what how often."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from affectlab.errors import UserError


@dataclass(frozen=True)
class Responses:
    """Answers counted by respondent, item and category.

    A respondent is a model. Its repeats are counts of one ability: as respondents of their own they would claim
    information that is not there (intervals of 47 % coverage where repeats are identical).

    Attributes:
        counts: [R, I, K]; category 0 is the lowest.
        respondents: [R].
        items: [I].
        categories: Categories of each item, at least 2 [I].
        duplicates: Pairs of respondents with the same answers throughout, the second named after the first.
    """

    counts: NDArray[np.float64]
    respondents: tuple[str, ...]
    items: tuple[str, ...]
    categories: NDArray[np.int64]
    duplicates: tuple[tuple[str, str], ...] = ()

    def __repr__(self) -> str:
        kind = "binary" if self.binary else "graded"
        return f"<responses: {len(self.respondents)} respondents × {len(self.items)} {kind} items>"

    @property
    def binary(self) -> bool:
        """Whether every item has two categories."""
        return bool((self.categories == 2).all())

    @property
    def scores(self) -> NDArray[np.float64]:
        """Mean category of each respondent on each item as a share of the highest [R, I]; NaN without answers."""
        number = self.counts.sum(axis=2)
        share = np.full(number.shape, np.nan)
        weighted = (self.counts * np.arange(self.counts.shape[2])).sum(axis=2)
        np.divide(weighted, number * (self.categories - 1), out=share, where=number > 0)
        return share

    def take_items(self, names: Iterable[str]) -> Responses:
        """The same respondents on some items, in the order given."""
        places = [self.items.index(name) for name in names]
        return Responses.of_counts(
            self.counts[:, places], self.respondents, tuple(self.items[p] for p in places), self.categories[places]
        )

    def take_respondents(self, places: NDArray[np.intp]) -> Responses:
        """Some respondents, repetitions allowed; duplicates are not looked for again."""
        names = tuple(self.respondents[place] for place in places.tolist())
        return Responses(self.counts[places], names, self.items, self.categories)

    @classmethod
    def of_counts(
        cls,
        counts: NDArray[np.float64],
        respondents: tuple[str, ...],
        items: tuple[str, ...],
        categories: NDArray[np.int64],
    ) -> Responses:
        """From counts, with duplicates found.

        Raises:
            UserError: When there are fewer than two respondents or two items, or an item nobody answered.
        """
        if len(respondents) < 2 or len(items) < 2:
            raise UserError(
                f"{len(respondents)} respondents on {len(items)} items: an item response model needs two of each at "
                "least, and tens of respondents to say anything."
            )
        if silent := [item for item, asked in zip(items, counts.sum(axis=(0, 2)), strict=True) if not asked]:
            raise UserError(f"Nobody answered {', '.join(silent[:5])}; leave such items out.")
        first: dict[bytes, str] = {}
        twins = []
        for name, row in zip(respondents, counts, strict=True):
            one = first.setdefault(row.tobytes(), name)
            if one != name:
                twins.append((one, name))
        return cls(counts, respondents, items, categories, tuple(twins))

    @classmethod
    def of_rows(cls, rows: Iterable[tuple[str, str, int]], categories: int | dict[str, int]) -> Responses:
        """From (respondent, item, category) rows; a respondent's repeats are rows of their own.

        Raises:
            UserError: See :meth:`of_counts`; and when a category is out of range.
        """
        listed = list(rows)
        respondents = tuple(dict.fromkeys(row[0] for row in listed))
        items = tuple(dict.fromkeys(row[1] for row in listed))
        each = np.array([categories if isinstance(categories, int) else categories[item] for item in items], np.int64)
        counts = np.zeros((len(respondents), len(items), int(each.max(initial=2))))
        place = {name: number for number, name in enumerate(respondents)}
        column = {name: number for number, name in enumerate(items)}
        for respondent, item, category in listed:
            if not 0 <= category < each[column[item]]:
                raise UserError(f"{respondent} answered category {category} of {item}, which has {each[column[item]]}.")
            counts[place[respondent], column[item], category] += 1
        return cls.of_counts(counts, respondents, items, each)
