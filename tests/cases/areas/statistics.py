"""Cases of statistics: tests, corrections, intervals, drift."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from affectlab.metrics.drift import drift
from affectlab.stats.mcnemar import mcnemar
from affectlab.stats.multiple import Correction, adjust
from affectlab.stats.proportion import proportion
from affectlab.stats.stratified import stratified
from tests.cases.judging import differences
from tests.cases.runner import LATER

Outcome = Mapping[str, Any]


def check(case: Mapping[str, Any]) -> str | None:
    """``None`` when our figures are the right ones, else what came out."""
    given, right = case["input"], case["right_outcome"]
    name = str(given.get("metric", given.get("test", ""))).lower().replace("-", "_")
    if name in _LATER:
        return f"{LATER} {name}"
    compute = _STATISTICS.get(name)
    return differences(compute(given), right) if compute else f"unknown shape: {name or sorted(given)}"


def _mcnemar(given: Mapping[str, Any]) -> Outcome:
    found = mcnemar(given["b"], given["c"], given.get("n"))
    return {
        "p": found.p,
        "mid_p": found.mid_p,
        "value": found.p,
        "no_discordant": found.no_discordant,
        "difference": found.difference,
    }


def _mid_p(given: Mapping[str, Any]) -> Outcome:
    found = mcnemar(given["b"], given["c"])
    return {"p": found.mid_p, "mid_p": found.mid_p, "value": found.mid_p}


def _adjust(correction: Correction) -> Callable[[Mapping[str, Any]], Outcome]:
    def compute(given: Mapping[str, Any]) -> Outcome:
        found = adjust(given["p"], correction)
        alpha = given.get("alpha", 0.05)
        rejected = [None if q is None else q <= alpha for q in found.values]
        return {
            "adjusted": list(found.values),
            "m": found.tested,
            "untested": found.untested,
            "rejected": rejected,
            "rejections": sum(map(bool, rejected)),
        }

    return compute


def _wilson(given: Mapping[str, Any]) -> Outcome:
    trials = given.get("n", given.get("trials", 0))
    found = proportion(given.get("successes", given.get("k", 0)), trials, given.get("level", 0.95))
    return {"low": found.low, "high": found.high, "value": found.value, "interval": [found.low, found.high]}


def _drift(given: Mapping[str, Any]) -> Outcome:
    neutral = given["neutral"]
    spans = given["range"] if isinstance(given["range"], list) else [given["range"]] * len(neutral)
    direction = given.get("direction", given.get("d"))
    if direction is not None and not isinstance(direction, list):
        direction = [direction] * len(neutral)
    found = drift(neutral, given["emotion"], spans, direction)
    return {
        "status": "ok" if found.used else "excluded",
        **dict.fromkeys(("NDM", "ndm"), found.ndm),
        **dict.fromkeys(("NAD", "nad"), found.nad),
        "used": found.used,
        "excluded": found.no_range + found.missing,
    }


def _stratified(given: Mapping[str, Any]) -> Outcome:
    found = stratified(given.get("tables", given.get("strata", [])))
    homogeneity = found.homogeneity
    return {
        "statistic": found.statistic,
        "p": found.p,
        "p_corrected": found.corrected_p,
        "odds_ratio": found.odds_ratio,
        "used": found.used,
        "dropped": found.dropped,
        "homogeneity_p": homogeneity.p,
        "breslow_day": homogeneity.p,
        "status": "ok" if found.used else "not_estimable",
    }


def _homogeneous(given: Mapping[str, Any]) -> Outcome:
    found = stratified(given.get("tables", given.get("strata", [])))
    estimable = found.homogeneity.p is not None
    return {
        **_stratified(given),
        "statistic": found.homogeneity.statistic,
        "p": found.homogeneity.p,
        "df": found.homogeneity.df,
        "status": "ok" if estimable else "not_estimable",
    }


_STATISTICS: dict[str, Callable[[Mapping[str, Any]], Outcome]] = {
    "mcnemar": _mcnemar,
    "mcnemar_exact": _mcnemar,
    "mcnemar_mid_p": _mid_p,
    "mcnemar_midp": _mid_p,
    "benjamini_hochberg": _adjust("bh"),
    "bh": _adjust("bh"),
    "fdr": _adjust("bh"),
    "benjamini_yekutieli": _adjust("by"),
    "holm": _adjust("holm"),
    "wilson": _wilson,
    "wilson_interval": _wilson,
    "cmh": _stratified,
    "breslow_day": _homogeneous,
    "ndm_nad": _drift,
    "ndm": _drift,
    "nad": _drift,
}
_LATER = frozenset({"irt", "kappa", "alpha", "fleiss", "mixed_model"})
