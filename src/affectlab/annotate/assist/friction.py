"""The friction report: where models differ, where an adjudicator is led by order, and what people change. Pure.

Source: CUE-Bench (arXiv 2608.10810), sections 3.3 and 5 (RQ2) and Appendix B.3. People's labels are taken as the truth.
Shares have intervals by cluster of items; how many labels are wrong is :mod:`affectlab.annotate.assist.contamination`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from affectlab.annotate.assist.contamination import Contamination, residual_contamination
from affectlab.annotate.assist.counting import grouped, share_of
from affectlab.annotate.assist.routing import OUTCOMES, Case
from affectlab.annotate.exchange.gold import same_value
from affectlab.items import Gold
from affectlab.stats.bootstrap import USUAL, Interval
from affectlab.stats.estimate import Estimate
from affectlab.stats.mcnemar import mcnemar

_CELLS = 10


@dataclass(frozen=True)
class Group:
    """Friction in some of the slots.

    Attributes:
        name: Which.
        slots: How many; each is in exactly one of ``outcomes``.
        labels: How models' labels compare: ``agreed``, ``differ``, ``no label``; they add up to ``slots``.
        outcomes: Where each slot stands.
        waiting: Why people are asked about those that wait.
        verdicts: What votes came to, of slots put to the adjudicator.
        disagreement: Share of slots with two labels on which they differ.
        inconsistency: Share of adjudicated slots whose verdict turns with the order.
        first_position: Share of votes for the candidate shown first; a half where order does not matter.
        first_position_p: Exact test whether pairs of votes that turn with the order lean to the first place.
        override: Share of audited agreed labels that people changed.
        adjudicator_error: Share of audited consistent verdicts that people changed.
        problems: Share of audited disagreements whose verdict turns with the order or differs from people's label, also
            where it was "neither" and people took a candidate.
        contamination: Of what is retained.
    """

    name: str
    slots: int
    labels: Mapping[str, int]
    outcomes: Mapping[str, int]
    waiting: Mapping[str, int]
    verdicts: Mapping[str, int]
    disagreement: Estimate
    inconsistency: Estimate
    first_position: Estimate
    first_position_p: float | None
    override: Estimate
    adjudicator_error: Estimate
    problems: Estimate
    contamination: Contamination


@dataclass(frozen=True)
class Confused:
    """A pair of labels on which models differ, in either order, and how often; and how often people took neither."""

    slot: str
    labels: tuple[Gold, Gold]
    times: int
    neither: int


@dataclass(frozen=True)
class Friction:
    """The report.

    Attributes:
        total: Over all slots.
        slots: By slot.
        strata: By slice of the items: name -> value -> group.
        accepted: By slot and the label people gave (``"stance: veiled_negative"``): where it is hard.
        confused: Pairs of labels with the most friction.
        usage: Run -> requests, tokens and cost.
        interval: How intervals were made.
        notes: What a reader must know.
        per_label: ``seconds`` and ``cost`` of all runs by label kept; ``None`` where a run does not say or none is.
    """

    total: Group
    slots: Mapping[str, Group]
    strata: Mapping[str, Mapping[str, Group]]
    accepted: Mapping[str, Group]
    confused: tuple[Confused, ...]
    usage: Mapping[str, Mapping[str, Any]]
    interval: Interval
    notes: tuple[str, ...] = ()
    per_label: Mapping[str, float | None] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """As plain data, for JSON."""
        return asdict(self)


def friction(
    cases: Sequence[Case],
    how: Interval = USUAL,
    *,
    usage: Mapping[str, Mapping[str, Any]] | None = None,
    notes: Iterable[str] = (),
) -> Friction:
    """The report on a study.

    Args:
        cases: Every slot.
        how: How to make intervals.
        usage: Run -> requests, tokens and cost.
        notes: What a reader must know.
    """
    by_slot = grouped(cases, lambda case: [case.slot])
    strata: dict[str, dict[str, Group]] = {}
    for stratum in dict.fromkeys(name for case in cases for name in case.strata):
        by_value = grouped(cases, lambda case, stratum=stratum: [case.strata.get(stratum, "(none)")])  # type: ignore[misc]
        strata[stratum] = {value: _group(value, found, how) for value, found in sorted(by_value.items())}
    by_label = grouped(cases, lambda case: [f"{case.slot}: {shown(case.human)}"] if case.human is not None else [])
    total = _group("all", cases, how)
    return Friction(
        total=total,
        slots={slot: _group(slot, found, how) for slot, found in by_slot.items()},
        strata=strata,
        accepted={label: _group(label, found, how) for label, found in sorted(by_label.items())},
        confused=_confused(cases),
        usage=usage or {},
        interval=how,
        notes=tuple(notes),
        per_label={name: _by_label(name, usage or {}, total.contamination.retained) for name in ("seconds", "cost")},
    )


def _by_label(name: str, usage: Mapping[str, Mapping[str, Any]], labels: int) -> float | None:
    spent = [one.get(name) for one in usage.values()]
    known = [one for one in spent if one is not None]
    return sum(known) / labels if labels and known and len(known) == len(spent) else None


def shown(value: Gold | None) -> str:
    """A label as text."""
    if isinstance(value, tuple):
        return ", ".join(value) or "(none)"
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {much:g}" for name, much in value.items()) or "(none)"
    return f"{value:g}" if isinstance(value, int | float) else str(value)


def _group(name: str, cases: Sequence[Case], how: Interval) -> Group:
    judged = [case for case in cases if case.votes is not None]
    seen = [case for case in cases if case.audited and case.human is not None]
    outcomes = Counter(case.outcome for case in cases)
    waiting = Counter(case.why_people for case in cases if case.outcome == "waiting")
    labels = Counter("agreed" if case.agreed else "differ" if case.disagreed else "no label" for case in cases)
    votes = [
        (case, vote == 1)
        for case in judged
        if case.votes is not None
        for vote in (case.votes.forward, case.votes.backward)
        if vote
    ]
    return Group(
        name=name,
        slots=len(cases),
        labels={kind: labels[kind] for kind in ("agreed", "differ", "no label")},
        outcomes={outcome: outcomes[outcome] for outcome in OUTCOMES},
        waiting={str(reason): count for reason, count in waiting.most_common()},
        verdicts=dict(Counter(case.verdict for case in judged)),
        disagreement=share_of(
            "disagreement", [(case, case.disagreed) for case in cases if case.agreed or case.disagreed], how
        ),
        inconsistency=share_of("inconsistency", [(case, case.verdict == "inconsistent") for case in judged], how),
        first_position=share_of("first_position", votes, how),
        first_position_p=_leaning(judged),
        override=share_of("override", [(case, bool(case.wrong)) for case in seen if case.agreed], how),
        adjudicator_error=share_of(
            "adjudicator_error", [(case, bool(case.wrong)) for case in seen if case.verdict == "accepted"], how
        ),
        problems=share_of(
            "problems",
            [(case, _is_problem(case)) for case in seen if case.votes is not None],
            how,
        ),
        contamination=residual_contamination(cases, how),
    )


def _is_problem(case: Case) -> bool:
    if case.verdict == "neither":
        return same_value(case.human, case.a) or same_value(case.human, case.b)
    return case.verdict == "inconsistent" or bool(case.wrong)


def _leaning(judged: Sequence[Case]) -> float | None:
    """Of verdicts that turn with the order: is the first place taken twice as often as the second?

    Votes that keep to a candidate take each place once and say nothing of it.
    """
    turned = Counter(
        case.votes.forward
        for case in judged
        if case.votes and case.votes.forward and case.votes.forward == case.votes.backward
    )
    found = mcnemar(turned[1], turned[2])
    return None if found.no_discordant else found.p


def _confused(cases: Sequence[Case]) -> tuple[Confused, ...]:
    times: Counter[tuple[str, str, str]] = Counter()
    neither: Counter[tuple[str, str, str]] = Counter()
    values: dict[tuple[str, str, str], tuple[Gold, Gold]] = {}
    for case in cases:
        if not case.disagreed or case.a is None or case.b is None:
            continue
        pair = sorted((case.a, case.b), key=shown)
        key = (case.slot, shown(pair[0]), shown(pair[1]))
        values[key] = (pair[0], pair[1])
        times[key] += 1
        neither[key] += case.human is not None and shown(case.human) not in key[1:]
    return tuple(Confused(key[0], values[key], count, neither[key]) for key, count in times.most_common(_CELLS))
