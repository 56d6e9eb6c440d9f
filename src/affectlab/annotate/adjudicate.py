"""From the answers of several people to one: which slots are settled, which are not, and what was decided. Pure."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from operator import itemgetter
from typing import Any, Literal, TypeAlias

from affectlab.annotate.design import Design
from affectlab.annotate.slots import Slot, compose
from affectlab.annotate.units import Unit
from affectlab.annotate.values import Reply, is_asked

Status: TypeAlias = Literal[
    "pending",
    "unanimous",
    "majority",
    "alone",
    "disagree",
    "tie",
    "single",
    "all_skipped",
    "absent",
    "kept",
    "decided",
    "no_gold",
]
"""``pending``: not all people have answered, or a slot that says whether this one is asked is open. ``disagree``,
``tie``, ``single`` (one answer, or none where gold elsewhere calls for one) wait for an adjudicator. ``absent``: not
asked, of anybody or under the gold of the slot it depends on. ``alone``: the answer of the one person
who was to answer. ``kept``: every answer stands, there is no gold. ``no_gold``: decided so."""

OPEN: frozenset[str] = frozenset({"disagree", "tie", "single"})

DECIDABLE: frozenset[str] = OPEN | {"decided", "no_gold"}
"""Where a decision may be made: on slots that wait for one, and on those that have one, to change it."""


_TOLD: frozenset[str] = frozenset({"decided", "alone", "majority", "unanimous", "no_gold", "absent"})
"""Where it is known what a slot's gold is, be it none."""

_WITH_GOLD: frozenset[str] = frozenset({"decided", "alone", "majority", "unanimous"})
_WORST_FIRST: tuple[Status, ...] = (
    "pending",
    "disagree",
    "tie",
    "single",
    "all_skipped",
    "no_gold",
    "absent",
    "decided",
    "alone",
    "majority",
    "unanimous",
)


@dataclass(frozen=True)
class Vote:
    """One person's newest answer to an item.

    Attributes:
        person: Whose.
        reply: With the labels of the newest design.
        given: As it was given, where that differs.
    """

    person: str
    reply: Reply
    given: Reply | None = None


@dataclass(frozen=True)
class Made:
    """A decision as it was made.

    Attributes:
        value: Its value; ``None`` for no gold.
        choice: ``accept`` (a candidate), ``other`` or ``no_gold``.
        reason: Why.
        basis: :func:`basis` of the answers it was made on.
        person: By whom.
        at: When.
    """

    value: Any
    choice: str
    reason: str
    basis: str
    person: str
    at: float


@dataclass(frozen=True)
class Panel:
    """All that is known of one item.

    Attributes:
        unit: The item.
        votes: Answers that count, one a person.
        wanted: How many people are to answer.
        decisions: Newest decision by slot.
    """

    unit: Unit
    votes: tuple[Vote, ...]
    wanted: int
    decisions: Mapping[str, Made]

    @property
    def complete(self) -> bool:
        """Whether everybody who was to answer has, or has skipped."""
        return len(self.votes) >= self.wanted


@dataclass(frozen=True)
class Settled:
    """Where a slot stands.

    Attributes:
        status: See :data:`Status`.
        value: The gold, where there is one.
        reopened: Whether a decision stood here until an answer changed.
    """

    status: Status
    value: Any = None
    reopened: bool = False


def settle(design: Design, slot: Slot, panel: Panel) -> Settled:
    """Where one slot of an item stands.

    A derived slot stands where the slots that make it up stand. A slot that is asked only after certain answers follows
    the gold of those: it is absent where they do not ask it, and pending while they are open.
    """
    if not slot.asked:
        return _derived(design, slot, panel)
    if slot.resolve == "keep":
        return Settled("kept" if panel.complete else "pending")
    if not panel.complete:
        return Settled("pending")
    above: Settled | None = None
    if slot.when is not None:
        above = settle(design, design.slot[slot.when.slot], panel)
        if above.status in OPEN | {"pending"}:
            return Settled("pending")  # nobody knows yet whether it is asked
        if above.status in _TOLD and not is_asked(slot, {slot.when.slot: above.value}):
            return Settled("absent")
    made = panel.decisions.get(slot.id)
    if made is not None and made.basis == basis(slot, panel):
        return Settled("no_gold" if made.choice == "no_gold" else "decided", made.value)
    votes = [vote for vote in panel.votes if not vote.reply.skipped]
    counted = _counted(design, votes, slot)
    if counted.status == "single" and panel.wanted == 1 and len(panel.votes) == 1:
        counted = Settled("alone", votes[0].reply.values[slot.id])
    if counted.status == "absent" and slot.required and above is not None and above.status in {"decided", "majority"}:
        # The gold above it asks for it, and those who gave another answer there were never asked.
        counted = Settled("single")
    return Settled(counted.status, counted.value, reopened=made is not None)


def _derived(design: Design, slot: Slot, panel: Panel) -> Settled:
    parts = {name: settle(design, design.slot[name], panel) for name in slot.composes}
    for status in _WORST_FIRST:
        found = [part for part in parts.values() if part.status == status]
        if found and status in _WITH_GOLD:
            return Settled(status, compose(slot, {name: part.value for name, part in parts.items()}))
        if found:
            return Settled(status, reopened=any(part.reopened for part in found))
    return Settled("absent")


def _counted(design: Design, votes: Sequence[Vote], slot: Slot) -> Settled:
    if not votes:
        return Settled("all_skipped")
    values = [vote.reply.values[slot.id] for vote in votes if slot.id in vote.reply.values]
    if not values:
        return Settled("absent")
    counts = Counter(map(canonical, values))
    ((first, most), *others) = counts.most_common()
    value = next(one for one in values if canonical(one) == first)
    if len(values) == 1:
        return Settled("single")
    if not others:
        return Settled("unanimous", value)
    if design.adjudication.majority and 2 * most > len(values) and len(values) > 2:
        return Settled("majority", value)
    return Settled("tie" if len(values) > 2 and others[0][1] == most else "disagree")


def canonical(value: Any) -> str:
    """A value as a text that is equal where values are."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def basis(slot: Slot, panel: Panel) -> str:
    """Hash of the answers a decision about a slot rests on, as they were given: any change of them re-opens it.

    New names of labels are no change.
    """
    given = [(vote.person, vote.given or vote.reply) for vote in panel.votes]
    votes = sorted(((person, reply.skipped, reply.values.get(slot.id)) for person, reply in given), key=itemgetter(0))
    return sha256(canonical(votes).encode()).hexdigest()


def candidates(slot: Slot, panel: Panel, seed: str) -> list[tuple[str, Any]]:
    """The different answers to a slot under letters, in an order that says nothing of who gave them.

    Args:
        slot: The slot.
        panel: The item.
        seed: The project's.
    """
    values = {
        canonical(vote.reply.values[slot.id]): vote.reply.values[slot.id]
        for vote in panel.votes
        if slot.id in vote.reply.values
    }
    key = f"{seed}:{panel.unit.id}:{slot.id}:"
    ordered = sorted(values, key=lambda text: sha256((key + text).encode()).digest())
    return [(chr(ord("A") + place), values[text]) for place, text in enumerate(ordered)]


def shown_hash(slot: Slot, panel: Panel, seed: str) -> str:
    """Hash of what an adjudicator's page shows of a slot: a decision taken on a page of another one is not kept."""
    return sha256(canonical([basis(slot, panel), candidates(slot, panel, seed)]).encode()).hexdigest()


def may_decide(design: Design, role: str, person: str, panel: Panel) -> bool:
    """Whether somebody may decide about an item: one of his or her own only where the design says that people discuss.

    Annotators decide about nothing else.
    """
    mine = any(vote.person == person for vote in panel.votes)
    if role == "annotator":
        return mine and design.adjudication.own_items
    return not mine or design.adjudication.own_items


def queue(design: Design, panels: Sequence[Panel]) -> list[tuple[Panel, Slot, Settled]]:
    """Slots that wait for an adjudicator, in file order: only those that disagree."""
    found = []
    for panel in panels:
        for slot in design.slots:
            if not slot.asked:
                continue  # what is derived is settled with what it is derived from
            where = settle(design, slot, panel)
            if where.status in OPEN:
                found.append((panel, slot, where))
    return found


def tally(design: Design, panels: Sequence[Panel]) -> dict[str, Counter[str]]:
    """How many items stand where, by slot. Every slot's counts add up to the items."""
    return {slot.id: Counter(settle(design, slot, panel).status for panel in panels) for slot in design.slots}
