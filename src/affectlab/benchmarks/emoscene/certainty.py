"""How far probabilities can be believed: p(Yes), and the confidence that a model states."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from affectlab.metrics import calibration
from affectlab.metrics.scores import Cell, Table
from affectlab.stats.bootstrap import Interval, bootstrap_statistic, estimates, percentile_interval
from affectlab.stats.estimate import Estimate
from affectlab.stats.measures import Measures, Over, Totals

BINS = calibration.BINS
_ORDERED = 300
"""Most bootstrap replicates of AUROC, each of which sorts all probabilities again."""


@dataclass(frozen=True)
class Probabilities:
    """Probabilities and whether what they are of came true.

    Attributes:
        name: What they are of, for people.
        p: Probabilities [N] in [0, 1].
        right: Whether it came true [N].
        cluster: Code of each one's cluster [N].
        confidence: What should tell right answers from wrong [N], and which those are; the probabilities themselves
            unless given.
        missing: How many more were asked for and could not be read.
    """

    name: str
    p: NDArray[np.float64]
    right: NDArray[np.bool_]
    cluster: NDArray[np.int64]
    confidence: tuple[NDArray[np.float64], NDArray[np.bool_]] | None = None
    missing: int = 0


def tables(stated: list[Probabilities], interval: Interval) -> list[Table]:
    """Figures of calibration, and the reliability diagram of each as a table; none where none were asked for."""
    asked = [one for one in stated if len(one.p) or one.missing]
    return [_figures(asked, interval), *(_reliability(one) for one in asked if len(one.p))] if asked else []


def _figures(stated: list[Probabilities], interval: Interval) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for one in stated:
        if not len(one.p):
            nothing = (Estimate(name, None, reason="none could be read") for name in ("ece", "brier", "auroc"))
            rows.append((one.name, 0, one.missing, *nothing))
            continue
        found = estimates(_measures(one), ("ece", "brier"), interval)
        rows.append((one.name, len(one.p), one.missing, found["ece"], found["brier"], _auroc(one, interval)))
    return Table(
        "calibration",
        "Whether probabilities can be believed",
        ("of", "number", "missing", "ECE", "Brier", "AUROC"),
        tuple(rows),
        f"ECE over {BINS} bins of equal width; the lower the better, as Brier. AUROC: whether higher "
        "confidence goes with right answers (½: not at all); confidence in an answer by log-odds is p(Yes) "
        "or 1 − p(Yes), whichever is larger.",
        {"number": "number", "missing": "number", "ECE": "share", "Brier": "share", "AUROC": "share"},
    )


def _measures(one: Probabilities) -> Measures:
    place = calibration.bins(one.p)
    kept, cluster = np.unique(one.cluster, return_inverse=True)
    ones = np.ones(len(one.p))
    pieces = [(place, ones), (BINS + place, one.p), (2 * BINS + place, one.right.astype(np.float64))]
    pieces.append((np.full(len(place), 3 * BINS), calibration.brier(one.p, one.right)))

    def ece(totals: Totals) -> NDArray[np.float64]:
        return calibration.calibration_error(*(totals[:, part * BINS : (part + 1) * BINS] for part in range(3)))

    def brier(totals: Totals) -> NDArray[np.float64]:
        return np.asarray(totals[:, -1] / np.maximum(totals[:, :BINS].sum(axis=1), 1), dtype=np.float64)

    every = np.arange(3 * BINS + 1)
    return Measures(
        cluster=np.tile(cluster, 4).astype(np.int32),
        event=np.concatenate([event for event, _ in pieces]).astype(np.int32),
        clusters=tuple(map(str, kept.tolist())),
        n_events=3 * BINS + 1,
        statistics={
            name: Over(every, function, counted=every[:BINS]) for name, function in (("ece", ece), ("brier", brier))
        },
        correct={},
        headline="ece",
        weight=np.concatenate([weight for _, weight in pieces]),
    )


def _auroc(one: Probabilities, interval: Interval) -> Estimate:
    confidence, right = one.confidence or (one.p, one.right)
    how = replace(interval, replicates=min(interval.replicates, _ORDERED))
    replicates = bootstrap_statistic(
        one.cluster, lambda rows: calibration.auroc(confidence[rows], right[rows]), how.replicates, how.seed
    )
    clusters = len(np.unique(one.cluster))
    value = calibration.auroc(confidence, right)
    found = percentile_interval("auroc", value, replicates, len(right), clusters, how)
    return replace(found, reason="all answers are alike: all right or all wrong") if np.isnan(value) else found


def _reliability(one: Probabilities) -> Table:
    place = calibration.bins(one.p)
    rows: list[tuple[Cell, ...]] = []
    for number in range(BINS):
        here = place == number
        n = int(here.sum())
        means = (float(one.p[here].mean()), float(one.right[here].mean())) if n else (None, None)
        gap = None if means[0] is None or means[1] is None else means[0] - means[1]
        rows.append((f"{10 * number} to {10 * (number + 1)} %", n, *means, gap))
    return Table(
        f"reliability_{one.name.split('(')[0].strip().lower().replace(' ', '_')}",
        f"Reliability of {one.name}",
        ("bin", "number", "mean stated", "share true", "stated − true"),
        tuple(rows),
        "Calibrated probabilities have equal third and fourth columns.",
        {"mean stated": "share", "share true": "share", "stated − true": "difference"},
    )
