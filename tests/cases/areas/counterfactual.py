"""Cases of shifts between people's chains, and of distributions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from affectlab.benchmarks.care.counterfactual import WRITER, opposite
from affectlab.benchmarks.care.shifts import shifts
from affectlab.metrics.distribution import precision_at_k, shares, wasserstein
from affectlab.metrics.predictions import Prediction, PredictionTable

Given = Mapping[str, Any]


def check(case: Mapping[str, Any]) -> str | None:
    """``None`` when our figure is the right one, else what came out."""
    given, right = case["input"], case["right_outcome"]
    for keys, compute in _RULES:
        if keys <= set(given):
            found = compute(given)
            wrong = [
                f"{name} {found.get(name)}" for name in found if name in right and not _same(found[name], right[name])
            ]
            return "; ".join(wrong) or None
    return f"unknown shape: input {sorted(given)}"


def _same(found: Any, right: Any) -> bool:
    return abs(found - right) < 1e-6 if isinstance(right, float) else bool(found == right)


def _selected(given: Given) -> Given:
    return {"selected": opposite(given["first"], given["third"], given["mid"])}


def _shift(given: Given) -> Given:
    rows = [Prediction("s", "s", "control.general", "ok", given["model_first"], given["first"], WRITER)]
    rows += [
        Prediction("s", "s", "control.general", "ok", model, human, f"observer={place}")
        for place, (human, model) in enumerate(zip(given["third"], given["model_third"], strict=True))
    ]
    table = PredictionTable.from_rows(rows)
    pairs = shifts(table, [0] * len(rows))["appraisal", "control.general"]
    return {"human_delta": pairs.human[0], "model_delta": pairs.model[0]}


def _distance(given: Given) -> Given:
    points = sorted({*given["human"], *given["model"]})
    human, model = (shares(given[side], points) for side in ("human", "model"))
    return {"value": float(wasserstein(human, model, points))}


def _precision(given: Given) -> Given:
    human, model, k = given["human_var"], given["model_var"], given["k"]
    turned = precision_at_k(human[::-1], model[::-1], k)
    # Never by the order in which places are listed.
    return {"status": "flag" if turned == precision_at_k(human, model, k) else "order decides"}


_RULES: tuple[tuple[set[str], Callable[[Given], Given]], ...] = (
    ({"rule", "mid"}, _selected),
    ({"model_first", "model_third"}, _shift),
    ({"human", "model"}, _distance),
    ({"human_var", "model_var"}, _precision),
)
