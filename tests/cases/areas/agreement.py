"""Cases of agreement: the coefficient, or that it is undefined."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from affectlab.stats.agreement import (
    Ratings,
    cohen_kappa,
    fleiss_kappa,
    gwet_ac1,
    krippendorff_alpha,
    pairwise_kappa,
    percent_agreement,
    ratings_of_matrix,
)
from affectlab.stats.estimate import Estimate
from tests.cases.judging import differences


def check(case: Mapping[str, Any]) -> str | None:
    """``None`` when our coefficient is the right one, else what came out."""
    given, right = case["input"], case["right_outcome"]
    name = str(given.get("metric", "")).lower()
    if name == "cohen_kappa" and "table" in given:
        return differences({"value": cohen_kappa(given["table"], given.get("weights", "none")).value}, right)
    compute = _COEFFICIENTS.get(name)
    if compute is None or "data" not in given:
        return f"unknown shape: {name or sorted(given)}"
    data = ratings_of_matrix(given["data"], given.get("values"))
    found = compute(data, given)
    outcome = {"value": found.value, "status": "ok" if found.value is not None else "undefined"}
    if found.value is None:
        # What stands beside an undefined coefficient: why, and how often annotators agreed.
        if not found.reason:
            return "undefined without a reason"
        observed = percent_agreement(data).value
        if "observed agreement 1.0" in str(right.get("rule", "")) and observed != 1.0:
            return f"observed agreement {observed}"
    wanted = {name: value for name, value in right.items() if name != "tolerance"}
    if "tolerance" in right and found.value is not None and isinstance(wanted.get("value"), float):
        if abs(found.value - wanted["value"]) > right["tolerance"]:
            return f"value = {found.value!r}"
        del wanted["value"]
    return differences(outcome, wanted)


_COEFFICIENTS: dict[str, Callable[[Ratings, Mapping[str, Any]], Estimate]] = {
    "krippendorff_alpha": lambda data, given: krippendorff_alpha(data, given.get("level", "nominal")),
    "cohen_kappa": lambda data, given: pairwise_kappa(data, given.get("weights", "none")).mean,
    "fleiss_kappa": lambda data, given: fleiss_kappa(data),
    "gwet_ac1": lambda data, given: gwet_ac1(data),
    "percent_agreement": lambda data, given: percent_agreement(data),
}
