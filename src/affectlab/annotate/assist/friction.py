"""The friction report: where models differ, where an adjudicator is led by order, and what people change. Pure.

Source: CUE-Bench (arXiv 2608.10810), sections 3.3 and 5 (RQ2) and Appendix B.3. People's labels are taken as the truth.
Shares have intervals by cluster of items. The interval of residual contamination combines Wilson's intervals of the two
error rates it is made of: Zou and Donner (2008), Statistics in Medicine 27, 1693-1702.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import sqrt
from typing import Any

import numpy as np

from affectlab.annotate.assist.routing import OUTCOMES, Case
from affectlab.items import Gold
from affectlab.stats.bootstrap import USUAL, Interval, estimate
from affectlab.stats.estimate import Estimate
from affectlab.stats.mcnemar import mcnemar
from affectlab.stats.measures import Measures, Share
from affectlab.stats.proportion import wilson

_HIT, _TRIALS = np.array([1]), np.array([0, 1])
_CELLS = 10


@dataclass(frozen=True)
class Contamination:
    """Labels retained that are estimated to be wrong.

    Attributes:
        share: Of all retained labels; undefined when labels of some source were kept of which none was audited.
        retained: Labels retained.
        expected: How many of them are estimated to be wrong.
        sources: Source -> (labels retained unseen by people, their error rate).
    """

    share: Estimate
    retained: int
    expected: float | None
    sources: Mapping[str, tuple[int, Estimate]]


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
        problems: Share of audited disagreements whose verdict turns with the order or differs from people's label.
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
    """

    total: Group
    slots: Mapping[str, Group]
    strata: Mapping[str, Mapping[str, Group]]
    accepted: Mapping[str, Group]
    confused: tuple[Confused, ...]
    usage: Mapping[str, Mapping[str, Any]]
    interval: Interval
    notes: tuple[str, ...] = ()

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
    by_slot = _grouped(cases, lambda case: [case.slot])
    strata: dict[str, dict[str, Group]] = {}
    for stratum in dict.fromkeys(name for case in cases for name in case.strata):
        by_value = _grouped(cases, lambda case, stratum=stratum: [case.strata.get(stratum, "(none)")])  # type: ignore[misc]
        strata[stratum] = {value: _group(value, found, how) for value, found in sorted(by_value.items())}
    by_label = _grouped(cases, lambda case: [f"{case.slot}: {shown(case.human)}"] if case.human is not None else [])
    return Friction(
        total=_group("all", cases, how),
        slots={slot: _group(slot, found, how) for slot, found in by_slot.items()},
        strata=strata,
        accepted={label: _group(label, found, how) for label, found in sorted(by_label.items())},
        confused=_confused(cases),
        usage=usage or {},
        interval=how,
        notes=tuple(notes),
    )


def shown(value: Gold | None) -> str:
    """A label as text."""
    if isinstance(value, tuple):
        return ", ".join(value) or "(none)"
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {much:g}" for name, much in value.items()) or "(none)"
    return f"{value:g}" if isinstance(value, int | float) else str(value)


def _grouped(cases: Sequence[Case], names: Callable[[Case], list[str]]) -> dict[str, list[Case]]:
    found: dict[str, list[Case]] = {}
    for case in cases:
        for name in names(case):
            found.setdefault(name, []).append(case)
    return found


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
        disagreement=_share(
            "disagreement", [(case, case.disagreed) for case in cases if case.agreed or case.disagreed], how
        ),
        inconsistency=_share("inconsistency", [(case, case.verdict == "inconsistent") for case in judged], how),
        first_position=_share("first_position", votes, how),
        first_position_p=_leaning(judged),
        override=_share("override", [(case, bool(case.wrong)) for case in seen if case.agreed], how),
        adjudicator_error=_share(
            "adjudicator_error", [(case, bool(case.wrong)) for case in seen if case.verdict == "accepted"], how
        ),
        problems=_share(
            "problems",
            [(case, case.verdict == "inconsistent" or bool(case.wrong)) for case in seen if case.votes is not None],
            how,
        ),
        contamination=residual_contamination(cases, how),
    )


def _share(name: str, events: Sequence[tuple[Case, bool]], how: Interval) -> Estimate:
    """A share of events, with its interval by cluster."""
    if not events:
        return Estimate(name, None, reason="nothing of the kind")
    clusters = {cluster: code for code, cluster in enumerate(dict.fromkeys(case.cluster for case, _ in events))}
    measures = Measures(
        cluster=np.array([clusters[case.cluster] for case, _ in events], np.int32),
        event=np.array([hit for _, hit in events], np.int32),
        clusters=tuple(clusters),
        n_events=2,
        statistics={name: Share(_HIT, _TRIALS)},
        correct={},
        headline=name,
    )
    return estimate(measures, name, how)


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


def residual_contamination(cases: Sequence[Case], how: Interval = USUAL) -> Contamination:
    """How many of the labels kept are wrong, by the audits.

    Labels that people did not see are taken to be wrong as often as audited ones of the same source (models agreed, or
    a consistent verdict); people's own are the measure. The interval is by cluster.
    """
    seen = [case for case in cases if case.audited and case.human is not None]
    kept = Counter(case.outcome for case in cases)
    audits = {
        "model-agreed": [case for case in seen if case.agreed],
        "adjudicated": [case for case in seen if case.verdict == "accepted"],
    }
    retained = kept["model-agreed"] + kept["adjudicated"] + kept["people"]
    sources: dict[str, tuple[int, Estimate]] = {}
    value = below = above = 0.0
    missing = []
    for source, audited in audits.items():
        unseen = kept[source]  # type: ignore[index]
        rate = _share("error_rate", [(case, bool(case.wrong)) for case in audited], how)
        sources[source] = (unseen, rate)
        if not unseen:
            continue
        if rate.value is None:
            missing.append(source)
            continue
        # Errors in slots of one cluster may hang together: clusters are the trials.
        low, high = wilson(rate.value * rate.clusters, rate.clusters, how.level)
        share = unseen / retained
        value += share * rate.value
        below += (share * (rate.value - low)) ** 2
        above += (share * (high - rate.value)) ** 2
    name = "contamination"
    if not retained or missing:
        reason = f"no audited label is {' or '.join(missing)}" if missing else "nothing is retained"
        return Contamination(Estimate(name, None, n=retained, reason=reason), retained, None, sources)
    audited_clusters = len({case.cluster for found in audits.values() for case in found})
    method = f"audited error rates, Wilson's intervals combined, {100 * how.level:g} %"
    found = Estimate(
        name, value, max(0.0, value - sqrt(below)), min(1.0, value + sqrt(above)), retained, audited_clusters, method
    )
    return Contamination(found, retained, value * retained, sources)


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
