"""Residual contamination: how many of the labels kept are wrong, by the audits. Pure.

Source: CUE-Bench (arXiv 2608.10810), section 5 (RQ2). People's labels are taken as the truth. The interval combines
Wilson's intervals of the error rates it is made of: Zou and Donner (2008), Statistics in Medicine 27, 1693-1702; rates
of several slots of the same items correlate.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

from affectlab.annotate.assist.counting import grouped, share_of
from affectlab.annotate.assist.routing import Case, Outcome
from affectlab.errors import first_of
from affectlab.stats.bootstrap import USUAL, Interval
from affectlab.stats.estimate import Estimate
from affectlab.stats.proportion import wilson

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
        sources[source] = (kept[source], share_of("error_rate", audited, how))
    drawn = sum(case.audited and case.machine is not None for case in cases)
    name = "contamination"
    strata = _strata(cases, settled)
    missing = [one.name for one in strata if not one.audited]
    if not retained or missing:
        reason = f"no audited label of {first_of(missing, _NAMED)}" if missing else "nothing is retained"
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
    seen = grouped(audited, lambda case: [f"{case.slot} ({_source(case)})"])
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
