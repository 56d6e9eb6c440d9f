"""What becomes of a slot that two models labelled: kept, adjudicated, or put to people. Pure.

Source: CUE-Bench (arXiv 2608.10810), section 3.3: two models label independently, equal labels are kept, and an
adjudicator that sees both candidates in both orders decides where it is consistent. Here a random share of all slots
goes to people besides, so that the errors of what models settled can be measured.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Literal, TypeAlias

from affectlab.annotate.exchange.gold import same_value
from affectlab.benchmarks.chiaro.adjudicate import adjudicate
from affectlab.errors import UserError
from affectlab.items import Gold

Verdict: TypeAlias = Literal["accepted", "inconsistent", "neither", "unread", ""]
"""What two votes come to. ``neither``: no candidate fits, in both orders. ``unread``: a reply that states no vote.
Empty: the adjudicator was not asked."""

Outcome: TypeAlias = Literal["model-agreed", "adjudicated", "people", "waiting"]
"""Where a slot stands; every slot is in exactly one."""

Reason: TypeAlias = Literal["audit", "no label", "disagreement", "inconsistent", "neither", "unread"]
"""Why people are asked."""

OUTCOMES: tuple[Outcome, ...] = ("model-agreed", "adjudicated", "people", "waiting")
NEITHER = 0


@dataclass(frozen=True, slots=True)
class Votes:
    """An adjudicator's votes, by place: 1 the first shown, 2 the second, 0 neither; ``None`` for a reply without one.

    Attributes:
        forward: With the first model's label shown first.
        backward: With the second model's label shown first, as voted.
    """

    forward: int | None
    backward: int | None


@dataclass(frozen=True, slots=True)
class Case:
    """One slot of one item, and all that is known of it.

    Attributes:
        item: Id of the item.
        slot: Which slot.
        cluster: The unit that was sampled, of the item.
        strata: Metadata to break friction down by.
        a: The first model's label; ``None`` when it gave none.
        b: The second model's.
        audited: Whether it was drawn to be seen by people, whatever models say.
        votes: The adjudicator's, where it was asked.
        human: People's label, where they have settled on one.
        split: Whether people have answered and differ without a majority.
    """

    item: str
    slot: str
    cluster: str
    a: Gold | None
    b: Gold | None
    audited: bool
    strata: Mapping[str, str] = field(default_factory=dict)
    votes: Votes | None = None
    human: Gold | None = None
    split: bool = False

    @property
    def agreed(self) -> bool:
        """Whether both models gave the same label."""
        return self.a is not None and same_value(self.a, self.b)

    @property
    def disagreed(self) -> bool:
        """Whether they gave different ones."""
        return self.a is not None and self.b is not None and not self.agreed

    @property
    def verdict(self) -> Verdict:
        """What the votes come to."""
        if self.votes is None:
            return ""
        if self.votes.forward is None or self.votes.backward is None:
            return "unread"
        if self.votes.forward == self.votes.backward == NEITHER:
            return "neither"
        return "inconsistent" if self._chosen is None else "accepted"

    @property
    def _chosen(self) -> int | None:
        votes = self.votes
        if votes is None or not votes.forward or not votes.backward:
            return None
        return adjudicate(votes.forward, votes.backward).chosen

    @property
    def machine(self) -> Gold | None:
        """The label models came to, by agreement or by a consistent verdict; ``None`` if they did not."""
        if self.agreed:
            return self.a
        return {None: None, 1: self.a, 2: self.b}[self._chosen]

    @property
    def why_people(self) -> Reason | None:
        """Why people are asked about it; ``None`` when they are not."""
        if self.audited:
            return "audit"
        if self.machine is not None:
            return None
        if not self.disagreed:
            return "no label"
        verdict = self.verdict
        return verdict if verdict == "inconsistent" or verdict == "neither" or verdict == "unread" else "disagreement"

    @property
    def outcome(self) -> Outcome:
        """Where it stands. People's word counts before the models'."""
        if self.human is not None:
            return "people"
        if self.why_people is not None:
            return "waiting"
        return "model-agreed" if self.agreed else "adjudicated"

    @property
    def label(self) -> Gold | None:
        """The label it has come to; ``None`` while waiting."""
        return self.human if self.human is not None else None if self.outcome == "waiting" else self.machine

    @property
    def wrong(self) -> bool | None:
        """Whether people's label differs from the one models came to; ``None`` when one of the two is missing."""
        if self.human is None or self.machine is None:
            return None
        return not same_value(self.human, self.machine)


@dataclass(frozen=True, slots=True)
class Audit:
    """Which slots people see whatever models say.

    Attributes:
        share: Of all slots, in [0, 1].
        seed: Of the draw, which depends on nothing else but item and slot: more data leave it as it is.

    Raises:
        UserError: When the share is out of range.
    """

    share: float = 0.1
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.share <= 1:
            raise UserError(f"An audit share lies between 0 and 1, not at {self.share}.")

    def drawn(self, item: str, slot: str) -> bool:
        """Whether this slot is audited."""
        return draw(self.seed, "audit", item, slot) < self.share


def draw(seed: int, *words: str) -> float:
    """A number in [0, 1) that is a function of the seed and some words."""
    digest = blake2b("\0".join((str(seed), *words)).encode("utf-8", "replace"), digest_size=8).digest()
    return int.from_bytes(digest, "big") / 2**64
