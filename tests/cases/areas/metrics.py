"""Cases of metrics: every figure the case names must be ours, and undefined must be undefined."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import isnan
from typing import Any

import numpy as np

from affectlab.benchmarks.care.measures import measures as care
from affectlab.benchmarks.care.spaces import DIMENSIONS
from affectlab.benchmarks.emoscene.answers import SLOTS
from affectlab.benchmarks.emoscene.ising import sigmoid
from affectlab.benchmarks.emoscene.measures import measures as emoscene
from affectlab.metrics import classification, multilabel, numeric
from affectlab.metrics.predictions import Prediction, PredictionTable
from affectlab.reading import NumberRange, read_number
from tests.cases.judging import differences
from tests.cases.runner import LATER

Outcome = Mapping[str, Any]


def check(case: Mapping[str, Any]) -> str | None:
    """``None`` when our figures are the right ones, else what came out."""
    given, right = case["input"], case["right_outcome"]
    name = str(given.get("metric", given.get("task", ""))).lower().replace("-", "_")
    if name in _LATER:
        return f"{LATER} {name}"
    compute = _METRICS.get(name)
    return differences(compute(given), right) if compute else f"unknown shape: {name or sorted(given)}"


def _defined(value: float) -> float | None:
    return None if isnan(value) else float(value)


def _single(name: str) -> Callable[[Mapping[str, Any]], Outcome]:
    def compute(given: Mapping[str, Any]) -> Outcome:
        gold, answers = given["gold"], given["pred"]
        codes = {label: code for code, label in enumerate(given.get("labels") or sorted({*gold, *answers} - {None}))}
        matrix = classification.confusion(
            np.array([codes[label] for label in gold], dtype=int),
            np.array([codes.get(label, -1) for label in answers], dtype=int),
            len(codes),
        )
        policy = given.get("zero_division", 0.0)
        figures = {
            "macro_f1": classification.macro_f1(matrix, zero_division=np.nan if policy in (None, "nan") else policy),
            "micro_f1": classification.micro_f1(matrix),
            "weighted_f1": classification.weighted_f1(matrix),
            "accuracy": classification.accuracy(matrix),
            "accuracy_answered": classification.accuracy(matrix * (np.arange(matrix.shape[-1]) < len(codes))),
        }
        found = {key: _defined(float(value)) for key, value in figures.items()}
        coverage = sum(answer is not None for answer in answers) / len(answers) if answers else None
        per_label = dict(zip(codes, classification.f1(matrix).tolist(), strict=True))
        return {**found, "value": found[name], "coverage": coverage, "per_label": per_label}

    return compute


def _sets(given: Mapping[str, Any]) -> tuple[multilabel.Sets, multilabel.Sets, np.ndarray[Any, np.dtype[np.bool_]]]:
    """One example, or a list of examples; ``None`` is a missing answer."""
    gold, answers = given["gold"], given["pred"]
    if not (gold and isinstance(gold[0], list)):
        gold, answers = [gold], [answers]
    labels = given.get("labels") or sorted({label for row in [*gold, *answers] for label in row or ()})

    def rows(sets: Sequence[Sequence[str] | None]) -> multilabel.Sets:
        held = [[label in (row or ()) for label in labels] for row in sets]
        return np.array(held, dtype=bool).reshape(len(sets), len(labels))

    return rows(gold), rows(answers), np.array([row is not None for row in answers])


def _example_f1(given: Mapping[str, Any]) -> Outcome:
    return {"value": float(multilabel.example_f1(*_sets(given)).mean())}


def _exact_match(given: Mapping[str, Any]) -> Outcome:
    return {"value": float(multilabel.exact_match(*_sets(given)).mean())}


def _hamming(given: Mapping[str, Any]) -> Outcome:
    """EmoScene's figure, whose eight questions hold eight labels at a time."""
    gold, answers, answered = _sets(given)
    rows = [
        Prediction(
            name := f"{example}/{label // len(SLOTS)}",
            name,
            SLOTS[label % len(SLOTS)],
            "ok" if answered[example] else "unparseable",
            ("absent", "present")[int(answers[example, label])] if answered[example] else None,
            ("absent", "present")[int(gold[example, label])],
        )
        for example, label in np.ndindex(gold.shape)
    ]
    return {"value": emoscene(PredictionTable.from_rows(rows), "list").value("hamming_loss")}


def _label_f1(pool: Callable[[classification.Floats], classification.Floats]) -> Callable[[Mapping[str, Any]], Outcome]:
    def compute(given: Mapping[str, Any]) -> Outcome:
        gold, answers, _ = _sets(given)
        return {"value": _defined(float(pool(multilabel.counts(gold, answers))))}

    return compute


def _positive_f1(given: Mapping[str, Any]) -> Outcome:
    gold, answers = (np.array(given[side], dtype=bool)[:, None] for side in ("gold", "pred"))
    return {"value": _defined(float(multilabel.f1(multilabel.counts(gold, answers), np.nan)[0]))}


def _number(score: numeric.Score) -> Outcome:
    status = "ok" if score.value is not None else "undefined"
    return {"value": score.value, "coverage": score.coverage, "status": status, "n": score.answered}


def _rmse(given: Mapping[str, Any]) -> Outcome:
    """CAREBench's figure of ratings, on a scale of range 4 to which others are brought."""
    rows = [
        Prediction(
            str(n), str(n), DIMENSIONS[0], "unparseable" if answer is None else "ok", _on_scale(answer, given), right
        )
        for n, (answer, right) in enumerate(
            zip(given["pred"], (_on_scale(value, given) for value in given["gold"]), strict=True)
        )
    ]
    found = care(PredictionTable.from_rows(rows), "s")
    value = found.value("appraisal_rmse")
    status = "ok" if value is not None else "undefined"
    answered = sum(answer is not None for answer in given["pred"])
    return {"value": value, "coverage": found.value("appraisal_coverage"), "status": status, "n": answered}


def _on_scale(value: float | None, given: Mapping[str, Any]) -> float | None:
    return None if value is None else 4 * value / given["range"]


def _correlation(function: Callable[..., numeric.Score]) -> Callable[[Mapping[str, Any]], Outcome]:
    def compute(given: Mapping[str, Any]) -> Outcome:
        first, second = (given.get(new, given.get(old)) for new, old in (("gold", "x"), ("pred", "y")))
        return _number(function(first, second))

    return compute


def _threshold(given: Mapping[str, Any]) -> Outcome:
    found = sigmoid(np.array(given["logits"], dtype=float)) >= given.get("threshold", 0.5)
    return {"value": found.astype(int).tolist()}


def _mean(given: Mapping[str, Any]) -> Outcome:
    scores = np.array([item["score"] for item in given["items"]], dtype=float)  # None is NaN
    value = _defined(float(classification.mean_defined(scores)))
    coverage = float(1 - np.isnan(scores).mean()) if len(scores) else None
    return {"value": value, "coverage": coverage, "status": "ok" if value is not None else "undefined"}


def _intensities(given: Mapping[str, Any]) -> Outcome:
    """One ``emotion: number`` a line; a line without a number is no answer."""
    scale = NumberRange(given.get("low", 0), given.get("high", 10))
    lines = [line.partition(":") for line in given["output"].splitlines() if ":" in line]
    found = {name.strip(): read_number(text, scale).value for name, _, text in lines}
    read = {name: value for name, value in found.items() if value is not None}
    status = "ok" if found and len(read) == len(found) else "no_answer" if not read else "partial"
    return {"status": status, "value": read}


_METRICS: dict[str, Callable[[Mapping[str, Any]], Outcome]] = {
    **{name: _single(name) for name in ("macro_f1", "micro_f1", "weighted_f1", "accuracy")},
    "example_f1": _example_f1,
    "samples_f1": _example_f1,
    "exact_match": _exact_match,
    "subset_accuracy": _exact_match,
    "hamming": _hamming,
    "hamming_loss": _hamming,
    "multilabel_macro_f1": _label_f1(multilabel.macro_f1),
    "multilabel_micro_f1": _label_f1(multilabel.micro_f1),
    "all_negative_f1": _positive_f1,
    "binary_f1": _positive_f1,
    "rmse_normalised": _rmse,
    "rmse_normalized": _rmse,
    "nrmse": _rmse,
    "pearson": _correlation(numeric.pearson),
    "spearman": _correlation(numeric.spearman),
    "threshold": _threshold,
    "eqbench_like": _mean,
    "intensity_lines": _intensities,
}
_LATER = frozenset(
    {"bleu", "rouge", "rouge_l", "rougel", "bertscore", "wasserstein", "w1", "precision_at_k", "kappa", "alpha", "ece"}
)
