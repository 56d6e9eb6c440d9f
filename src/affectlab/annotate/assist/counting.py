"""Cases counted: in groups, and as shares with intervals by cluster of items. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from affectlab.annotate.assist.routing import Case
from affectlab.stats.bootstrap import Interval, estimate
from affectlab.stats.estimate import Estimate
from affectlab.stats.measures import Measures, Share

_HIT, _TRIALS = np.array([1]), np.array([0, 1])


def grouped(cases: Sequence[Case], names: Callable[[Case], list[str]]) -> dict[str, list[Case]]:
    """Cases under each of the names they have, in order of first mention."""
    found: dict[str, list[Case]] = {}
    for case in cases:
        for name in names(case):
            found.setdefault(name, []).append(case)
    return found


def share_of(name: str, events: Sequence[tuple[Case, bool]], how: Interval) -> Estimate:
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
