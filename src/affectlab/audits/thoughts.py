"""Can a moved decision be caught in the reasoning before it, and does thinking twice undo it?

A bag of words and a logistic regression predict from a thought whether the decision after it moved. No item is on both
sides of a fold, nor any group: the same item is decided under every emotion and strength, and the items
of a group tell one story. The threshold is chosen on training folds alone. What is flagged gets a second turn.

Reference: the emotion-sensitive decisions paper (arXiv 2604.06562), section "Alleviate emotion effects by thought
audits".
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from affectlab.audits.folds import grouped_folds
from affectlab.benchmarks.decisions.reasoning import Thought
from affectlab.errors import UserError

FOLDS = 5
_GRID = {"regression__C": [0.1, 1.0, 10.0]}
_HAN = "\u3400-\u4dbf\u4e00-\u9fff"
_WORDS = re.compile(rf"[{_HAN}]|(?:(?![{_HAN}])\w){{2,}}")
"""Words of two letters and more, as usual; Chinese, which sets no spaces, by characters."""


@dataclass(frozen=True)
class Caught:
    """Out-of-fold predictions of the audit.

    Attributes:
        chance: Predicted probability that each decision moved [N].
        moved: Whether it did [N].
        flagged: Whether its fold's threshold was reached [N].
        auc: Area under the ROC curve of each outer fold; ``None`` where a fold has one kind only.
        thresholds: Of each outer fold; ``None`` where no threshold reaches the precision on training folds.
        precision: What thresholds were chosen for.
    """

    chance: NDArray[np.float64]
    moved: NDArray[np.bool_]
    flagged: NDArray[np.bool_]
    auc: tuple[float | None, ...]
    thresholds: tuple[float | None, ...]
    precision: float

    @property
    def mean_auc(self) -> float | None:
        """Mean over the folds that have one; ``None`` when none has."""
        there = [one for one in self.auc if one is not None]
        return float(np.mean(there)) if there else None

    @property
    def hit_rate(self) -> float | None:
        """Share of flagged decisions that had moved; ``None`` when nothing is flagged."""
        return float(self.moved[self.flagged].mean()) if self.flagged.any() else None


def catch(
    thoughts: Sequence[Thought],
    precision: float = 0.8,
    folds: int = FOLDS,
    seed: int = 0,
    groups: Mapping[str, str] = MappingProxyType({}),
) -> Caught:
    """Predict moved decisions from their thoughts, nested by items.

    Args:
        thoughts: Under emotions, each with a move.
        precision: Share of flagged decisions that should have moved, in (0, 1].
        folds: Outer and inner folds, of whole groups.
        seed: Of the folds.
        groups: Item -> its group; an item without one is a group of its own.

    Raises:
        UserError: When there are too few groups, or decisions of one kind, or groups that hold them, or words.
    """
    if not 0 < precision <= 1:
        raise UserError(f"A precision of {precision} is no share above 0.")
    moved = np.array([bool(one.move) for one in thoughts])
    items = np.array([groups.get(one.item, one.item) for one in thoughts])
    if len(set(items.tolist())) < 2 * folds or min(moved.sum(), (~moved).sum()) < folds:
        raise UserError(
            f"{len(thoughts)} thoughts on {len(set(items.tolist()))} items (a group of them counts as one), "
            f"{int(moved.sum())} of them before a moved decision: the audit needs {2 * folds} items and {folds} "
            "decisions of either kind at least."
        )
    splits = grouped_folds(moved, items, folds, seed)
    if any(not 0 < moved[train].sum() < len(train) for train, _ in splits):
        raise UserError(
            f"The {int(moved.sum())} moved decisions stand on {len(set(items[moved].tolist()))} items, the others on "
            f"{len(set(items[~moved].tolist()))}: without one of {folds} parts of the items, one kind is gone. The "
            "audit needs more items of either kind."
        )
    texts = np.array([one.text for one in thoughts], dtype=object)
    worded = _worded(texts)
    if not all(worded[train].any() for train, _ in splits):
        raise UserError(
            f"{int(worded.sum())} of {len(texts)} thoughts hold a word of two letters: there is nothing to tell moved "
            "decisions by."
        )
    chance = np.full(len(texts), np.nan)
    flagged = np.zeros(len(texts), dtype=bool)
    auc: list[float | None] = []
    thresholds: list[float | None] = []
    for train, test in splits:
        fitted, inner = _fitted(texts[train], moved[train], items[train], folds, seed)
        chance[test] = fitted.predict_proba(texts[test])[:, 1]
        known = ~np.isnan(inner)
        threshold = threshold_for(inner[known], moved[train][known], precision)
        flagged[test] = chance[test] >= threshold if threshold is not None else False
        auc.append(_auc(moved[test], chance[test]))
        thresholds.append(threshold)
    return Caught(chance, moved, flagged, tuple(auc), tuple(thresholds), precision)


def _worded(texts: Any) -> NDArray[np.bool_]:
    return np.array([_WORDS.search(text.lower()) is not None for text in texts], dtype=bool)


def _fitted(texts: Any, moved: Any, items: Any, folds: int, seed: int) -> tuple[Any, NDArray[np.float64]]:
    """A model of chosen strength, and its out-of-fold probabilities on its texts; NaN for texts of a fold that cannot
    be learned from, as what a model says of texts it has seen would promise too much."""
    from sklearn.base import clone
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import Pipeline

    words = TfidfVectorizer(token_pattern=_WORDS.pattern)
    pipeline = Pipeline([("words", words), ("regression", LogisticRegression(max_iter=1000))])
    worded = _worded(texts)
    # A fold with one kind of decision has no area under a curve, and cannot be learned from; nor can one without words.
    inner = [
        (train, test)
        for train, test in grouped_folds(moved, items, folds, seed)
        if 0 < moved[train].sum() < len(train) and 0 < moved[test].sum() < len(test) and worded[train].any()
    ]
    out = np.full(len(texts), np.nan)
    if not inner:
        return pipeline.fit(texts, moved), out
    chosen = GridSearchCV(pipeline, _GRID, cv=inner, scoring="roc_auc").fit(texts, moved).best_estimator_
    for train, test in inner:
        out[test] = clone(chosen).fit(texts[train], moved[train]).predict_proba(texts[test])[:, 1]
    return chosen, out


def threshold_for(chance: NDArray[np.float64], moved: NDArray[np.bool_], precision: float) -> float | None:
    """The smallest threshold at which the share of moved decisions among those reaching it is ``precision``.

    ``None`` when there is none. The smallest one flags the most.
    """
    order = np.argsort(-chance, kind="stable")
    hits = np.cumsum(moved[order])
    share = hits / np.arange(1, len(order) + 1)
    # A threshold takes all decisions of equal probability or none.
    last = np.append(np.diff(chance[order]) != 0, True)
    good = np.flatnonzero((share >= precision) & last)
    return float(chance[order][good[-1]]) if len(good) else None


def _auc(moved: NDArray[np.bool_], chance: NDArray[np.float64]) -> float | None:
    from sklearn.metrics import roc_auc_score

    return float(roc_auc_score(moved, chance)) if 0 < moved.sum() < len(moved) else None


def at_random(flagged: NDArray[np.bool_], seed: int) -> NDArray[np.bool_]:
    """As many decisions as were flagged, drawn at random [N]."""
    drawn = np.zeros(len(flagged), dtype=bool)
    drawn[np.random.default_rng(seed).choice(len(flagged), int(flagged.sum()), replace=False)] = True
    return drawn
