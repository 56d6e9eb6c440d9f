"""Everything there is to say about agreement on one slot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from affectlab.errors import UserError
from affectlab.stats.agreement.alpha import Level, krippendorff_alpha
from affectlab.stats.agreement.chance import (
    against_rest,
    fleiss_kappa,
    gwet_ac1,
    majority_agreement,
    percent_agreement,
)
from affectlab.stats.agreement.icc import icc
from affectlab.stats.agreement.kappa import Confusion, PairwiseKappa, confusion, pairwise_kappa
from affectlab.stats.agreement.ratings import Ratings, Value, ratings
from affectlab.stats.agreement.sentence import methods_sentence
from affectlab.stats.agreement.upstream import given_upstream
from affectlab.stats.agreement.weights import Weights
from affectlab.stats.bootstrap import USUAL, Interval
from affectlab.stats.estimate import Estimate

MOST_CONFUSIONS = 5
"""Annotators up to whom every pair gets its confusion matrix (10 pairs)."""

MOST_CATEGORIES = 60
"""Values up to which each gets its own coefficient."""


@dataclass(frozen=True, slots=True)
class Scale:
    """How answers to a slot are to be compared.

    Attributes:
        level: Level of measurement; ``None``: nominal for labels, ordinal for numbers, MASI for sets.
        weights: Weights of an own kappa beside the usual ones; none when ``None``.
        min_n: Units that two annotators must have in common for their kappa to count.
    """

    level: Level | None = None
    weights: Weights | None = None
    min_n: int = 1


@dataclass(frozen=True, eq=False)
class Category:
    """One value: how often it was given, and how well annotators agree on it against all others together."""

    value: Value
    times: int
    kappa: Estimate


@dataclass(frozen=True, eq=False)
class Upstream:
    """Agreement on units whose upstream slot is agreed on.

    Attributes:
        slot: The slot upstream.
        kept: Units on which it is agreed on.
        n: Units with two annotators or more who answered both slots.
        without: Answers left out because their annotator did not answer upstream.
        figures: Coefficients on the units kept.
    """

    slot: str
    kept: int
    n: int
    without: int
    figures: tuple[Estimate, ...]


@dataclass(frozen=True, eq=False)
class SlotAgreement:
    """Agreement on one slot.

    Attributes:
        slot: Which.
        level: Level of measurement.
        ratings: The answers.
        missing: Why answers are not among them -> how many.
        figures: Coefficients, in the order papers give them.
        categories: By value, in declared order; empty for scales of very many points.
        pairs: Cohen's kappa by pair; ``None`` for sets and interval data.
        confusions: Of each pair, where annotators are few.
        interval: How intervals were made.
        upstream: Agreement given another slot, if asked for.
        notes: What a reader must know of the answers.
    """

    slot: str
    level: Level
    ratings: Ratings
    missing: Mapping[str, int]
    figures: tuple[Estimate, ...]
    categories: tuple[Category, ...]
    pairs: PairwiseKappa | None
    confusions: tuple[Confusion, ...]
    interval: Interval
    upstream: Upstream | None = None
    notes: tuple[str, ...] = ()

    def figure(self, name: str) -> Estimate:
        """A coefficient by name.

        Raises:
            KeyError: When it is not among :attr:`figures`.
        """
        for one in self.figures:
            if one.name == name:
                return one
        raise KeyError(name)

    def __repr__(self) -> str:
        return f"<agreement on {self.slot}: {'; '.join(map(str, self.figures[:3]))}>"

    def to_dict(self) -> dict[str, Any]:
        """As plain data, for JSON."""
        pairs = self.pairs
        return {
            "slot": self.slot,
            "level": self.level,
            "annotators": list(self.ratings.raters),
            "answers": len(self.ratings),
            "missing": dict(self.missing),
            "units": int((self.ratings.sizes > 0).sum()),
            "units_compared": self.ratings.paired_units,
            "values": [_plain(value) for value in self.ratings.values],
            "figures": [asdict(one) for one in self.figures],
            "categories": [
                {"value": _plain(one.value), "times": one.times, "kappa": asdict(one.kappa)} for one in self.categories
            ],
            "pairs": None
            if pairs is None
            else [
                {
                    "annotators": list(pair),
                    "n": n,
                    "kappa": pairs.defined.get(pair),
                    "reason": pairs.undefined.get(pair),
                }
                for pair, n in pairs.n.items()
            ],
            "confusions": [
                {
                    "rows": one.rater_a,
                    "columns": one.rater_b,
                    "counts": one.counts.tolist(),
                    "most_confused": [[_plain(a), _plain(b), n] for a, b, n in one.most_confused()],
                    "bowker_p": one.bowker_p,
                }
                for one in self.confusions
            ],
            "upstream": None
            if self.upstream is None
            else {
                "slot": self.upstream.slot,
                "kept": self.upstream.kept,
                "n": self.upstream.n,
                "without": self.upstream.without,
                "figures": [asdict(one) for one in self.upstream.figures],
            },
            "sentence": methods_sentence(self),
            "notes": list(self.notes),
        }


def _plain(value: Value) -> Any:
    return sorted(map(str, value)) if isinstance(value, frozenset) else value


def slot_agreement(
    slot: str,
    data: Ratings,
    scale: Scale | None = None,
    how: Interval = USUAL,
    *,
    missing: Mapping[str, int] | None = None,
    upstream: tuple[str, Ratings] | None = None,
) -> SlotAgreement:
    """All coefficients that fit a slot.

    Args:
        slot: Its name.
        data: The answers to it.
        scale: How to compare them.
        how: How to make intervals.
        missing: Why other answers are not among ``data`` -> how many.
        upstream: Name and answers of a slot that must be agreed on, for agreement given that.

    Raises:
        UserError: When the values do not fit the level.
    """
    scale = scale or Scale()
    level = scale.level or _level(data)
    pairs = pairwise_kappa(data, "none", how, min_n=scale.min_n) if level in ("nominal", "ordinal") else None
    few = (
        len(data.raters) <= MOST_CONFUSIONS and level in ("nominal", "ordinal") and len(data.values) <= MOST_CATEGORIES
    )
    given = None
    if upstream is not None:
        found = given_upstream(data, upstream[1])
        figures = _figures(found.ratings, level, scale, how)
        given = Upstream(upstream[0], found.kept, found.n, found.without, figures)
    return SlotAgreement(
        slot=slot,
        level=level,
        ratings=data,
        missing={**({"no value": data.missing} if data.missing else {}), **(missing or {})},
        figures=_figures(data, level, scale, how),
        categories=_categories(data, level, how),
        pairs=pairs,
        confusions=tuple(confusion(data, a, b) for a, b in combinations(data.raters, 2)) if few else (),
        interval=how,
        upstream=given,
    )


def _level(data: Ratings) -> Level:
    if data.values and all(isinstance(value, frozenset) for value in data.values):
        return "masi"
    return "ordinal" if data.values and data.numbers is not None else "nominal"


def _figures(data: Ratings, level: Level, scale: Scale, how: Interval) -> tuple[Estimate, ...]:
    figures = [percent_agreement(data, how)]
    if len(data.raters) > 2:
        figures.append(majority_agreement(data, how))
    kinds: dict[str, Weights] = {}
    if level in ("nominal", "ordinal"):
        kinds[""] = "none"
    if level == "ordinal" or (level in ("interval", "ratio") and len(data.values) <= MOST_CATEGORIES):
        kinds |= {"_linear": "linear", "_quadratic": "quadratic"}
    if scale.weights is not None:
        kinds["_weighted"] = scale.weights
    name = "cohen_kappa" if len(data.raters) == 2 else "mean_pairwise_kappa"
    for suffix, weights in kinds.items():
        mean = pairwise_kappa(data, weights, how, min_n=scale.min_n).mean
        figures.append(replace(mean, name=name + suffix))
    if level == "nominal":
        figures += [fleiss_kappa(data, how), krippendorff_alpha(data, level, how), gwet_ac1(data, how)]
    elif level in ("jaccard", "masi"):
        figures += [krippendorff_alpha(data, one, how) for one in ("masi", "jaccard")]
    else:
        figures.append(krippendorff_alpha(data, level, how))
        if level in ("interval", "ratio") and len(data.values) <= MOST_CATEGORIES:
            figures.append(krippendorff_alpha(data, "ordinal", how))
    if data.numbers is not None and level in ("ordinal", "interval", "ratio"):
        figures += [icc(data, form, how) for form in ("ICC1", "ICC2", "ICC3")]
    return tuple(figures)


def _categories(data: Ratings, level: Level, how: Interval) -> tuple[Category, ...]:
    if level in ("jaccard", "masi"):
        return tuple(
            Category(label, int(one.code.sum()), krippendorff_alpha(one, "nominal", how))
            for label, one in members(data).items()
        )
    if level not in ("nominal", "ordinal") or len(data.values) > MOST_CATEGORIES:
        return ()
    times = np.bincount(data.code, minlength=len(data.values))
    apart = against_rest(data).values()
    return tuple(
        Category(value, int(count), fleiss_kappa(one, how))
        for value, count, one in zip(data.values, times, apart, strict=True)
    )


def members(data: Ratings) -> dict[str, Ratings]:
    """For each label of answers that are sets, whether it is in (1) or not (0)."""
    labels = sorted({str(name) for value in data.values if isinstance(value, frozenset) for name in value})
    held = np.array(
        [[label in value for value in data.values if isinstance(value, frozenset)] for label in labels], dtype=np.int64
    ).reshape(len(labels), len(data.values))
    return {
        label: replace(data, code=held[row][data.code], values=(0.0, 1.0), ordered=True)
        for row, label in enumerate(labels)
    }


def split_intensities(rows: list[tuple[str, str, Mapping[str, float]]]) -> dict[str, Ratings]:
    """For each label of answers that give intensities, its intensity, 0 where it is absent.

    Beside each stands ``LABEL, where given``: only the intensities of those who gave it, which says whether they agree
    on how strong it is once they agree that it is there.

    Args:
        rows: (unit, annotator, label -> intensity).

    Raises:
        UserError: When there is no label at all, or an annotator answers a unit twice.
    """
    labels = sorted({label for _, _, value in rows for label in value})
    if not labels:
        raise UserError("No answer gives any label an intensity.")
    found = {}
    for label in labels:
        given = [(unit, rater, value.get(label, 0.0)) for unit, rater, value in rows]
        found[label] = ratings(given)
        found[f"{label}, where given"] = ratings((unit, rater, much) for unit, rater, much in given if much > 0)
    return found
