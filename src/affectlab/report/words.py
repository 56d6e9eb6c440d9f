"""Names and one-sentence meanings of figures, and the sentences that go with an interval."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from affectlab.report.cells import number_text
from affectlab.report.names import figure_name
from affectlab.stats.estimate import Estimate, Unit

_AFTER: dict[Unit, str] = {"share": " %", "difference": " points", "number": "", "p": ""}
_MEANINGS = {
    "macro_f1": "F1 averaged over all labels, so that a rare label weighs as much as a frequent one.",
    "micro_f1": "F1 over all decisions together, so that frequent labels weigh more.",
    "accuracy": "Share of answers that are right.",
    "joint_accuracy": "Share of items whose every slot is right.",
    "parse_rate": "Share of replies an answer could be read from.",
    "polarity_accuracy": "Share of answers with the right polarity, whatever the label.",
    "swap_rate": "Share of items where each answer is right for the other slot.",
    "exact_match": "Share of items whose set of labels is exactly right.",
    "macro_precision": "Precision averaged over all labels; 0 for a label that is never answered.",
    "macro_recall": "Recall averaged over all labels; 0 for a label that never occurs.",
    "example_f1": "F1 of each item's set of labels, averaged over items; two empty sets agree.",
    "focal_behaviour": "Mean response as a share of what each decision leaves feasible, averaged over roles.",
    "ndm": "Mean size of answers' moves from neutral, as a share of what each decision leaves feasible.",
    "nad": "Mean move in people's direction; where people have none (d = 0) a move counts 0.",
    "nad_directed": "Mean move in people's direction, over roles and emotions that have one.",
    "ndm:random": "NDM under random vectors of the same norm, which mean nothing.",
    "nad:random": "NAD under random vectors, aligned with each emotion in turn.",
    "ndm:emotion_minus_random": "How much further answers move under emotion vectors than under random ones.",
    "appraisal_r": "How the model's shift from one reader to another goes with people's, over all dimensions.",
    "mu_mae": "How far the mean of the model's draws is from observers' mean, in points of the scale.",
    "sigma_mae": "How far the spread of the model's draws is from observers' spread, in points of the scale.",
    "wasserstein": "Distance of the model's draws from observers' ratings, in points of the scale.",
    "variance_rho": "Whether the model's draws vary on the dimensions on which observers do.",
    "hamming_loss": "Share of labels that are wrong, counted over all items and labels: the lower the better.",
}


def meaning(name: str) -> str:
    """What a figure says, in one sentence; empty for figures this page does not know."""
    return _MEANINGS.get(name, "")


def sentence(text: str) -> str:
    """Text as a sentence: a capital at the start, a full stop at the end."""
    if not text:
        return ""
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?", "。")) else ".")


def value_text(estimate: Estimate) -> str:
    """A headline figure with its unit (``"91.2 %"``, ``"+3.1 points"``), or ``"undefined"``."""
    if estimate.value is None:
        return "undefined"
    return number_text(estimate.value, estimate.unit) + _AFTER[estimate.unit]


def basis(estimate: Estimate) -> str:
    """What a figure rests on (``"120 predictions in 60 clusters"``)."""
    if not estimate.n:
        return ""
    text = f"{estimate.n:,} prediction{'s' if estimate.n != 1 else ''}"
    if estimate.clusters:
        text += f" in {estimate.clusters:,} cluster{'s' if estimate.clusters != 1 else ''}"
    return text


def against(estimate: Estimate, name: str, value: float) -> str:
    """Where a figure's interval stands to a fixed value such as chance; empty without an interval.

    >>> against(Estimate("accuracy", 0.4, 0.3, 0.5), "Chance", 0.2)
    'The interval lies above chance (20.0).'
    """
    if estimate.low is None or estimate.high is None:
        return ""
    if estimate.low > value:
        place = "lies above"
    elif estimate.high < value:
        place = "lies below"
    else:
        place = "includes"
    label = name if name.isupper() else name[:1].lower() + name[1:]
    return f"The interval {place} {label} ({number_text(value, estimate.unit)})."


def methods(estimates: Iterable[Estimate]) -> tuple[str, ...]:
    """A sentence for each way in which intervals were made."""
    return tuple(f"Intervals: {method}." for method in dict.fromkeys(one.method for one in estimates) if method)


def whose(estimates: Iterable[Estimate], what: Literal["reason", "method"]) -> list[str]:
    """Each reason or method once, behind the names of the figures it is of."""
    names: dict[str, list[str]] = {}
    for estimate in estimates:
        if said := getattr(estimate, what):
            names.setdefault(said, []).append(figure_name(estimate.name))
    return [f"{', '.join(figures)}: {said}." for said, figures in names.items()]
