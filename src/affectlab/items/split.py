"""Splits of a data set: whole groups, stratified, with near-duplicates kept on one side.

A record's group is the unit it was cut from (a scene, a dialogue, a source text): were its records on both sides, a
model could know the test from the training side. Near-duplicates are as bad, so groups that hold them are tied.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations
from random import Random

from affectlab.errors import UserError
from affectlab.items.duplicates import Pair, leakage, near_duplicates


def tie_duplicates(texts: Mapping[str, str], groups: Mapping[str, str], threshold: float = 0.8) -> dict[str, str]:
    """Groups, with those that hold texts nearly alike made one.

    Args:
        texts: Id -> text.
        groups: Id -> group, for the same ids.
        threshold: Least similarity of near-duplicates, as in :func:`affectlab.items.near_duplicates`.

    Returns:
        Id -> group. Chains are followed: if A is like B and B like C, all three are together.
    """
    root: dict[str, str] = {}

    def top(group: str) -> str:
        while (above := root.get(group, group)) != group:
            root[group] = root.get(above, above)
            group = above
        return group

    for pair in near_duplicates(texts, threshold):
        root[top(groups[pair.b])] = top(groups[pair.a])
    return {key: top(group) for key, group in groups.items()}


def split_groups(
    groups: Sequence[str], labels: Sequence[str], shares: Mapping[str, float], seed: int = 0
) -> dict[str, list[int]]:
    """Assigns whole groups to parts so that each part has its share of every label, as near as groups allow.

    Greedy, the largest group first and equal ones in an order drawn by the seed: a group goes where, once it is in,
    the share still wanted of its labels is largest. A label of fewer records than one part's share asks for goes to
    the largest part.

    Args:
        groups: Group of each record [N].
        labels: Label of each [N]; what has none may share a label of its own.
        shares: Part -> share of all records, above 0, adding up to 1.
        seed: Seed of the order.

    Returns:
        Part -> indices of its records, ascending.

    Raises:
        UserError: When shares are out of range or do not add up to 1, or a part stays empty.
    """
    if any(not 0 < share <= 1 for share in shares.values()) or abs(sum(shares.values()) - 1) > 1e-9:
        shown = ", ".join(f"{part} {share:g}" for part, share in shares.items())
        raise UserError(f"Shares of a split must be above 0 and add up to 1, not {shown}.")
    members: dict[str, list[int]] = defaultdict(list)
    for index, group in enumerate(groups):
        members[group].append(index)
    order = list(members.values())
    Random(seed).shuffle(order)  # noqa: S311 - an order, no secret
    order.sort(key=len, reverse=True)
    total = Counter(labels)
    wanted = {part: {label: share * count for label, count in total.items()} for part, share in shares.items()}
    placed: dict[str, Counter[str]] = {part: Counter() for part in shares}
    parts: dict[str, list[int]] = {part: [] for part in shares}
    for indices in order:
        held = Counter(labels[index] for index in indices)

        def still_wanted(part: str, held: Counter[str] = held) -> float:
            return sum(
                count * (1 - (placed[part][label] + count) / wanted[part][label]) for label, count in held.items()
            )

        best = max(shares, key=still_wanted)
        placed[best] += held
        parts[best] += indices
    if empty := [part for part, indices in parts.items() if not indices]:
        raise UserError(f"Nothing is left for {', '.join(empty)}: {_why_empty(total, shares[empty[0]], len(order))}")
    return {part: sorted(indices) for part, indices in parts.items()}


def _why_empty(total: Mapping[str, int], share: float, groups: int) -> str:
    """Why a part of some share got no record, and what to do."""
    records, (label, most) = sum(total.values()), max(total.items(), key=lambda pair: pair[1])
    if len(total) > 1 and share * records >= 1 > share * most:
        return (
            f"each part gets its share of every label, and {share:g} of the most frequent of {len(total)} labels "
            f"({label!r}, {most} records) is less than one record. Split by a slot with fewer labels, give it a larger "
            "share, or split more data."
        )
    return (
        f"{groups} groups of {records} records are too few for these shares. "
        "Give it a larger share, or split more data."
    )


def leaks(parts: Mapping[str, Mapping[str, str]], threshold: float = 0.8) -> list[tuple[str, str, Pair]]:
    """Texts that two parts of a split share, or nearly so.

    Args:
        parts: Part -> id -> text.
        threshold: Least similarity.

    Returns:
        First part, second part, and the pair, for every two parts.
    """
    return [
        (one, other, pair)
        for one, other in combinations(parts, 2)
        for pair in leakage(parts[one], parts[other], threshold)
    ]
