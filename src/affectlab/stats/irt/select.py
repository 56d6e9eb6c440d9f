"""Choosing the items of a family: those that fit, stay and are not all about the same thing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from affectlab.stats.irt.checks import MOST_ERROR, ItemCheck
from affectlab.stats.irt.stability import RespondentStability


@dataclass(frozen=True)
class Selected:
    """A chosen set.

    Attributes:
        kept: Items, the best first.
        dropped: Every other item -> why.
        coverage: Content label -> how many kept items carry it.
        short: How many fewer than wanted there are.
    """

    kept: tuple[str, ...]
    dropped: Mapping[str, str]
    coverage: Mapping[str, int]
    short: int

    def __repr__(self) -> str:
        return f"<{len(self.kept)} items kept, {len(self.dropped)} dropped, {len(self.coverage)} contents>"


def select_items(
    checks: Sequence[ItemCheck],
    stability: RespondentStability | None,
    content: Mapping[str, str],
    wanted: int = 12,
    redundancy: float = 0.5,
    most_error: float = MOST_ERROR,
) -> Selected:
    """Choose greedily: of the items without a problem the best one whose content is least covered so far.

    An item's worth is its discrimination, less its predictive error as a share of the largest one allowed and less its
    spread over respondents; each item of the same content that is in already costs ``redundancy``.

    Args:
        checks: Of a fit.
        stability: In the order of ``checks``; ``None`` leaves it out.
        content: Item -> what it is about (occupation, source); items without one count as their own content.
        wanted: How many to keep at most; the paper kept 10 to 12.
        redundancy: Cost of a second item of one content.
        most_error: Largest error allowed, as ``check_items`` was given it.
    """
    dropped = {one.item: "; ".join(one.problems) for one in checks if one.problems}
    worth = {
        one.item: one.discrimination
        - one.error / most_error
        - (0.0 if stability is None else float(stability.a[place]))
        for place, one in enumerate(checks)
        if not one.problems
    }
    kept: list[str] = []
    covered: Counter[str] = Counter()
    while worth and len(kept) < wanted:
        best = max(worth, key=lambda item: (worth[item] - redundancy * covered[content.get(item, item)], item))
        kept.append(best)
        covered[content.get(best, best)] += 1
        del worth[best]
    dropped |= dict.fromkeys(worth, "better or less covered items fill the set")
    return Selected(tuple(kept), dropped, dict(covered), max(0, wanted - len(kept)))
