"""The sentence in which a paper's methods section says how well annotators agree, and what papers call coefficients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from affectlab.stats.agreement.figure import INCOMPLETE
from affectlab.stats.estimate import Estimate

if TYPE_CHECKING:
    from affectlab.stats.agreement.summary import SlotAgreement, Upstream


def methods_sentence(found: SlotAgreement) -> str:
    """What a paper's methods section says of agreement on a slot, with its numbers."""
    data = found.ratings
    people, units, paired = len(data.raters), int((data.sizes > 0).sum()), data.paired_units
    annotators = "1 annotator" if people == 1 else f"{people:,} annotators"
    text = f"For {found.slot}, {annotators} gave {len(data):,} answers on {units:,} items; "
    if not paired:
        return text + "no item has answers of two annotators, so agreement is undefined."
    text += f"on the {paired:,} with two answers or more, "
    text += ", ".join(map(_said, _quoted(found.figures))) + "."
    if any(one.low is not None for one in found.figures):
        how = found.interval
        text += (
            f" Brackets hold {100 * how.level:g} % percentile intervals of a bootstrap over items "
            f"({how.replicates:,} replicates, seed {how.seed})."
        )
    if found.missing:
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in found.missing.items())
        text += f" Not counted: {reasons}."
    if found.upstream is not None:
        text += _given(found.upstream)
    return text


def _given(found: Upstream) -> str:
    text = f" On the {found.kept:,} of {found.n:,} items with agreement on {found.slot}, "
    return text + ", ".join(map(_said, _quoted(found.figures))) + "."


NAMES = {
    "percent_agreement": "raw agreement",
    "majority_agreement": "strict majority",
    "cohen_kappa": "Cohen's κ",
    "mean_pairwise_kappa": "mean pairwise Cohen's κ",
    "cohen_kappa_quadratic": "quadratic-weighted κ",
    "mean_pairwise_kappa_quadratic": "mean pairwise quadratic-weighted κ",
    "fleiss_kappa": "Fleiss' κ",
    "alpha_nominal": "Krippendorff's α (nominal)",
    "alpha_ordinal": "Krippendorff's α (ordinal)",
    "alpha_interval": "Krippendorff's α (interval)",
    "alpha_ratio": "Krippendorff's α (ratio)",
    "alpha_masi": "Krippendorff's α (MASI)",
    "alpha_jaccard": "Krippendorff's α (Jaccard)",
    "gwet_ac1": "Gwet's AC1",
    "ICC1": "ICC(1)",
    "ICC2": "ICC(A,1)",
    "ICC3": "ICC(C,1)",
    "cohen_kappa_linear": "linear-weighted κ",
    "mean_pairwise_kappa_linear": "mean pairwise linear-weighted κ",
    "cohen_kappa_weighted": "κ with own weights",
    "mean_pairwise_kappa_weighted": "mean pairwise κ with own weights",
}
"""Coefficients as papers call them."""

_UNQUOTED = frozenset({"ICC1", "cohen_kappa_linear", "mean_pairwise_kappa_linear"})


def _quoted(figures: Sequence[Estimate]) -> list[Estimate]:
    """Those that a sentence names: alpha of one level, the first; the one-way ICC where annotators take turns."""
    alphas = [one.name for one in figures if one.name.startswith("alpha_") and one.name != "alpha_jaccard"]
    left_out = {*_UNQUOTED, *alphas[1:]}
    if any(one.reason == INCOMPLETE for one in figures):
        left_out = left_out - {"ICC1"} | {"ICC2", "ICC3"}
    return [one for one in figures if one.name not in left_out]


def _said(one: Estimate) -> str:
    name = NAMES[one.name]
    if one.value is None:
        return f"{name} undefined ({one.reason.replace('_', ' ')})"

    def shown(value: float) -> str:
        text = f"{100 * value:.1f} %" if one.unit == "share" else f"{value:.3f}"
        return text.replace("-", "\u2212")

    span = "" if one.low is None or one.high is None else f" [{shown(one.low)}, {shown(one.high)}]"
    return f"{name} {shown(one.value)}{span}"
