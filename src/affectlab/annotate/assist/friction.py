"""The friction report: where models differ, where an adjudicator is led by order, and what people change. Pure.

Source: CUE-Bench (arXiv 2608.10810), sections 3.3 and 5 (RQ2) and Appendix B.3. People's labels are taken as the truth.
Shares have intervals by cluster of items. The interval of residual contamination combines Wilson's intervals of the
error rates it is made of: Zou and Donner (2008), Statistics in Medicine 27, 1693-1702; rates of several slots of the
same items correlate.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from math import sqrt
from typing import Any

import numpy as np

from affectlab.annotate.assist.routing import OUTCOMES, Case, Outcome
from affectlab.annotate.exchange.gold import same_value
from affectlab.items import Gold
from affectlab.stats.bootstrap import USUAL, Interval, estimate
from affectlab.stats.estimate import Estimate
from affectlab.stats.mcnemar import mcnemar
from affectlab.stats.measures import Measures, Share
from affectlab.stats.proportion import wilson

_HIT, _TRIALS = np.array([1]), np.array([0, 1])
_CELLS = 10
_NAMED = 4


@dataclass(frozen=True)
class Contamination:
    """Labels retained that are estimated to be wrong.

    Attributes:
        share: Of all retained labels; undefined when labels of some slot and source were kept of which none was
            audited.
        retained: Labels retained.
        expected: How many of them are estimated to be wrong.
        sources: Source -> (labels retained unseen by people, their error rate over all slots).
        drawn: Audited labels that models came to, whether or not people have settled on one.
        split: How many of those people differ on without a majority. They are in no error rate.
        worst: The share if all of these were wrong.
    """

    share: Estimate
    retained: int
    expected: float | None
    sources: Mapping[str, tuple[int, Estimate]]
    drawn: int = 0
    split: int = 0
    worst: float | None = None


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
    by_slot = _grouped(cases, lambda case: [case.slot])
    strata: dict[str, dict[str, Group]] = {}
    for stratum in dict.fromkeys(name for case in cases for name in case.strata):
        by_value = _grouped(cases, lambda case, stratum=stratum: [case.strata.get(stratum, "(none)")])  # type: ignore[misc]
        strata[stratum] = {value: _group(value, found, how) for value, found in sorted(by_value.items())}
    by_label = _grouped(cases, lambda case: [f"{case.slot}: {shown(case.human)}"] if case.human is not None else [])
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
            [(case, _is_problem(case)) for case in seen if case.votes is not None],
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


def residual_contamination(cases: Sequence[Case], how: Interval = USUAL) -> Contamination:
    """How many of the labels kept are wrong, by the audits.

    Labels that people did not see are taken to be wrong as often as audited ones of the same slot and source (models
    agreed, or a consistent verdict); people's own are the measure. The interval is by cluster.
    """
    kept = Counter(case.outcome for case in cases)
    retained = kept["model-agreed"] + kept["adjudicated"] + kept["people"]
    settled = [case for case in cases if case.audited and case.human is not None and case.machine is not None]
    split = [case for case in cases if case.audited and case.split and case.machine is not None]
    sources: dict[str, tuple[int, Estimate]] = {}
    for source in _SOURCES:
        audited = [(case, bool(case.wrong)) for case in settled if _source(case) == source]
        sources[source] = (kept[source], _share("error_rate", audited, how))
    drawn = sum(case.audited and case.machine is not None for case in cases)
    name = "contamination"
    strata = _strata(cases, settled)
    missing = [one.name for one in strata if not one.audited]
    if not retained or missing:
        more = f" and {len(missing) - _NAMED} more" if len(missing) > _NAMED else ""
        reason = f"no audited label of {', '.join(missing[:_NAMED])}{more}" if missing else "nothing is retained"
        nothing = Estimate(name, None, n=retained, reason=reason)
        return Contamination(nothing, retained, None, sources, drawn, len(split))
    expected = sum(one.unseen * one.rate for one in strata)
    value = expected / retained
    below, above = _combined(strata, retained, how.level)
    clusters = len({case.cluster for case in settled})
    method = f"audited error rates, Wilson's intervals combined, {100 * how.level:g} %"
    share = Estimate(name, value, max(0.0, value - below), min(1.0, value + above), retained, clusters, method)
    worst = sum(one.unseen * one.worst for one in _strata(cases, [*settled, *split])) / retained
    return Contamination(share, retained, expected, sources, drawn, len(split), worst)


_SOURCES: tuple[Outcome, ...] = ("model-agreed", "adjudicated")


def _source(case: Case) -> Outcome:
    return "model-agreed" if case.agreed else "adjudicated"


@dataclass(frozen=True)
class _Stratum:
    """Labels of one slot and source that people did not see, and the audit of the same.

    Attributes:
        name: Slot and source.
        unseen: How many labels.
        audited: The audited ones.
    """

    name: str
    unseen: int
    audited: Sequence[Case]

    @property
    def rate(self) -> float:
        """Share of the audited ones that people changed; 0 where there are none."""
        return sum(bool(case.wrong) for case in self.audited) / max(len(self.audited), 1)

    @property
    def worst(self) -> float:
        """The share that is wrong if all that people are split on is."""
        return sum(case.split or bool(case.wrong) for case in self.audited) / max(len(self.audited), 1)

    def pull(self) -> dict[str, float]:
        """How far each cluster pulls the rate from where it is."""
        found: dict[str, float] = defaultdict(float)
        rate, count = self.rate, len(self.audited)
        for case in self.audited:
            found[case.cluster] += (bool(case.wrong) - rate) / count
        return found


def _strata(cases: Sequence[Case], audited: Sequence[Case]) -> list[_Stratum]:
    unseen = Counter((case.slot, case.outcome) for case in cases if case.outcome in _SOURCES)
    seen = _grouped(audited, lambda case: [f"{case.slot} ({_source(case)})"])
    return [
        _Stratum(name, count, seen.get(name, []))
        for (slot, source), count in unseen.items()
        for name in [f"{slot} ({source})"]
    ]


def _combined(strata: Sequence[_Stratum], retained: int, level: float) -> tuple[float, float]:
    """How far below and above the estimate the interval goes: Zou and Donner (2008), with correlated rates.

    Errors in slots of one cluster may hang together: clusters are the trials, and rates that rest on the same clusters
    correlate as far as these show; without an error to go by, as far as the clusters are the same.
    """
    pulls = [one.pull() for one in strata]
    spread = [sqrt(sum(much * much for much in pull.values())) for pull in pulls]
    down, up = [], []
    for one in strata:
        clusters = len({case.cluster for case in one.audited})
        low, high = wilson(one.rate * clusters, clusters, level)
        down.append(one.unseen / retained * (one.rate - low))
        up.append(one.unseen / retained * (high - one.rate))
    below = above = 0.0
    for i, pull in enumerate(pulls):
        for j, other in enumerate(pulls):
            if i == j:
                together = 1.0
            elif not spread[i] or not spread[j]:
                # Where all are right, or all wrong, nothing shows: as far as the clusters are the same.
                together = len(pull.keys() & other.keys()) / sqrt(len(pull) * len(other))
            else:
                shared = sum(much * other.get(cluster, 0.0) for cluster, much in pull.items())
                together = shared / spread[i] / spread[j]
            below += together * down[i] * down[j]
            above += together * up[i] * up[j]
    return sqrt(max(0.0, below)), sqrt(max(0.0, above))


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
