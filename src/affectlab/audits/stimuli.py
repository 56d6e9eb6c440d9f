"""Can emotions be told apart by how their stimuli are written, whatever they say?

Eight ratios of parts of speech, a random forest, nested cross-validation. If that beats chance, style and emotion are
mixed up in the texts, and vectors extracted from them carry style too.

Reference: the emotion-sensitive decisions paper (arXiv 2604.06562), appendix "Lexical and Syntactic Confounder Audit".
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from affectlab.audits.folds import grouped_folds
from affectlab.errors import UserError
from affectlab.metrics.scores import Cell, Table
from affectlab.stats.estimate import Unit
from affectlab.stats.proportion import wilson
from affectlab.steering.stimuli import Stimuli

FEATURES: dict[str, frozenset[str]] = {
    "noun_ratio": frozenset({"NOUN", "PROPN"}),
    "verb_ratio": frozenset({"VERB", "AUX"}),
    "adjective_ratio": frozenset({"ADJ"}),
    "adverb_ratio": frozenset({"ADV"}),
    "pronoun_ratio": frozenset({"PRON"}),
    "determiner_ratio": frozenset({"DET"}),
    "adposition_ratio": frozenset({"ADP"}),
    "coordinating_conjunction_ratio": frozenset({"CCONJ"}),
}
"""The paper's eight, and the universal tags counted for each."""

NUMBER: Unit = "number"
P: Unit = "p"

PAPER = (66, 241, 1 / 6)
"""Hits, texts and chance behind the paper's accuracy of .2736."""

Tagger: TypeAlias = Callable[[Sequence[str]], Sequence[str]]
"""Words of a sentence -> their universal part-of-speech tags."""

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_SENTENCE = re.compile(r"[.!?…]+[\"'”’)]*\s+")
_LATIN = re.compile(r"[A-Za-zÀ-ÖØ-öø-ɏ]")
# fmt: off
_ENGLISH = frozenset({
    "the", "and", "of", "to", "is", "that", "it", "my", "he", "she", "they", "with", "for", "this", "were", "you", "we",
    "but", "not", "be", "have", "his", "her", "at", "from", "by", "are", "i",
})
# fmt: on
"""Small words of English that are few or none in other languages; a quarter of English prose and more."""
_LEAST_ENGLISH = 0.1
_GRID = {"max_depth": [3, None], "min_samples_leaf": [1, 5]}
_TREES = 40
INSTALL = 'pip install "affectlab[audit]"'


@dataclass(frozen=True, slots=True)
class Chance:
    """An accuracy against chance.

    Attributes:
        hits: Texts told right.
        n: Texts.
        chance: Accuracy of always naming one emotion: the largest share, at least 1 over the number of emotions.
        low: Lower end of Wilson's 95 % interval of the accuracy.
        high: Upper end.
        binomial_p: Chance of so many hits or more by guessing.
    """

    hits: int
    n: int
    chance: float
    low: float
    high: float
    binomial_p: float

    @property
    def accuracy(self) -> float:
        """Share told right."""
        return self.hits / self.n

    @property
    def above(self) -> bool:
        """Whether guessing would hardly reach it (p < .05)."""
        return self.binomial_p < 0.05

    @property
    def words(self) -> str:
        """The verdict as a sentence."""
        figures = (
            f"{self.accuracy:.3f} on {self.n} texts, chance {self.chance:.3f}, 95 % interval {self.low:.3f} to "
            f"{self.high:.3f}, one-sided binomial p = {self.binomial_p:.1g}"
        )
        if self.above:
            return f"clearly above chance ({figures}): style alone tells emotions apart to some degree"
        return f"not above chance ({figures})"


def against_chance(hits: int, n: int, chance: float) -> Chance:
    """An accuracy of independent texts against guessing."""
    from scipy.stats import binom

    low, high = wilson(hits, n)
    return Chance(hits, n, chance, low, high, float(binom.sf(hits - 1, n, chance)))


@dataclass(frozen=True)
class StimulusAudit:
    """What style says of emotion.

    Attributes:
        result: Nested cross-validated accuracy against chance.
        permutation_p: Share of relabellings that are told as well by a forest of fixed settings; labels are permuted
            within groups where groups hold several emotions.
        permutations: Relabellings.
        folds: Accuracy in each outer fold.
        means: Mean of each feature by emotion: emotion -> feature -> mean.
        within_groups: Whether labels were permuted within groups.
    """

    result: Chance
    permutation_p: float
    permutations: int
    folds: tuple[float, ...]
    means: dict[str, dict[str, float]]
    within_groups: bool

    @property
    def passed(self) -> bool:
        """Whether style is not shown to tell emotions apart: neither test finds it."""
        return self.permutation_p >= 0.05 and not self.result.above

    @property
    def words(self) -> str:
        """The verdict, and beside it what the paper's own figure says."""
        hits, n, chance = PAPER
        return (
            f"Accuracy from eight part-of-speech ratios is {self.result.words}; "
            f"permutation p = {self.permutation_p:.3f}. For comparison, the paper's stimuli: "
            f"{against_chance(hits, n, chance).words}, though it calls that low."
        )


def english_tagger() -> Tagger:
    """The part-of-speech tagger of the extra ``audit``: an averaged perceptron with its model, offline.

    Raises:
        UserError: When it is not installed.
    """
    if find_spec("denckring_en_pos") is None:
        raise UserError(f"The audit of stimuli needs a part-of-speech tagger. Run: {INSTALL}")
    from denckring_en_pos import tagger

    model = tagger()
    return lambda words: [str(label).partition("|")[0] for label in model.tag(list(words))]


def ratios(texts: Sequence[str], tag: Tagger) -> NDArray[np.float64]:
    """Share of each part of speech among a text's words [N, 8].

    Raises:
        UserError: When a text has no words.
    """
    rows = []
    for place, text in enumerate(texts):
        counts: Counter[str] = Counter()
        for sentence in _SENTENCE.split(text):
            counts.update(tag(_WORD.findall(sentence)))
        total = sum(counts.values())
        if not total:
            raise UserError(f"Text {place + 1} has no words: {text[:60]!r}.")
        rows.append([sum(counts[one] for one in tags) / total for tags in FEATURES.values()])
    return np.array(rows)


def audit_stimuli(
    stimuli: Stimuli,
    tag: Tagger | None = None,
    permutations: int = 99,
    folds: int = 5,
    seed: int = 0,
    on_step: Callable[[str, int, int], None] = lambda what, done, total: None,
) -> StimulusAudit:
    """Try to tell emotions by style.

    Args:
        stimuli: Labelled texts.
        tag: Part-of-speech tagger; that of the extra ``audit`` when ``None``.
        permutations: Relabellings behind the permutation p, at least 1.
        folds: Outer and inner folds; texts of one group stay together.
        seed: Of forests, folds and relabellings.
        on_step: Told what is done, how much of it, of how much.

    Raises:
        UserError: When the tagger is not installed, or there is nothing that style could fail to tell: one emotion,
            fewer texts of one than folds, a text without words, texts that the English tagger cannot read, ratios that
            are the same for every text.
    """
    counts = Counter(stimuli.labels)
    if len(counts) < 2:
        raise UserError(f"All texts are labelled {', '.join(counts)}: the audit needs two emotions at least.")
    if few := [label for label, count in counts.items() if count < folds]:
        raise UserError(f"{', '.join(few)}: fewer than {folds} texts, too few for {folds} folds.")
    if tag is None:
        _refuse_foreign(stimuli.texts)
    features = ratios(stimuli.texts, tag or english_tagger())
    if not np.ptp(features, axis=0).any():
        raise UserError("Every text has the same part-of-speech ratios: there is no style to tell emotions by or not.")
    labels, groups = np.array(stimuli.labels), np.array(stimuli.groups)
    predicted, by_fold = _nested(features, labels, groups, folds, seed, on_step)
    hits = int((predicted == labels).sum())
    chance = max(max(counts.values()) / len(labels), 1 / len(counts))
    mixed = all(len(set(labels[groups == one].tolist())) > 1 for one in set(groups.tolist()))
    p = _permutation_p(features, labels, groups, permutations, folds, seed, on_step, within=mixed)
    means = {
        label: dict(zip(FEATURES, features[labels == label].mean(axis=0).tolist(), strict=True))
        for label in sorted(counts)
    }
    return StimulusAudit(against_chance(hits, len(labels), chance), p, permutations, by_fold, means, mixed)


def _refuse_foreign(texts: Sequence[str]) -> None:
    """An English tagger calls most words of other languages nouns, and an audit of such ratios would pass anything."""
    for place, text in enumerate(texts, start=1):
        letters = [letter for letter in text if letter.isalpha()]
        if 2 * sum(bool(_LATIN.match(letter)) for letter in letters) < len(letters):
            raise UserError(f"Text {place} is not English, which the tagger reads: {text[:60]!r}.")
    words = [word.lower() for text in texts for word in _WORD.findall(text)]
    small = sum(word in _ENGLISH for word in words)
    if small < _LEAST_ENGLISH * len(words):
        raise UserError(
            f"These texts do not look like English, which the tagger reads: {small} of their {len(words)} words are "
            "small English ones such as 'the', 'and' or 'my'. English prose has a quarter and more."
        )


def _forest(seed: int, least: int = 1) -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(_TREES, min_samples_leaf=least, random_state=seed)


def _nested(
    features: Any, labels: Any, groups: Any, folds: int, seed: int, on_step: Callable[[str, int, int], None]
) -> tuple[Any, tuple[float, ...]]:
    """Out-of-fold predictions, settings chosen on the training folds alone, and the accuracy of each fold."""
    from sklearn.model_selection import GridSearchCV

    predicted = np.empty_like(labels)
    accuracies = []
    splits = grouped_folds(labels, groups, folds, seed)
    for done, (train, test) in enumerate(splits):
        on_step("Cross-validation", done, len(splits))
        inner = grouped_folds(labels[train], groups[train], folds, seed)
        search = GridSearchCV(_forest(seed), _GRID, cv=inner).fit(features[train], labels[train])
        predicted[test] = search.predict(features[test])
        accuracies.append(float((predicted[test] == labels[test]).mean()))
    on_step("Cross-validation", len(splits), len(splits))
    return predicted, tuple(accuracies)


def _permutation_p(
    features: Any,
    labels: Any,
    groups: Any,
    permutations: int,
    folds: int,
    seed: int,
    on_step: Callable[[str, int, int], None],
    *,
    within: bool,
) -> float:
    """Settings are fixed (leaves of five texts), so that a relabelling costs one forest a fold.

    The folds are those of the true labels.
    """
    rng = np.random.default_rng(seed)
    splits = grouped_folds(labels, groups, folds, seed)

    def hits(given: Any) -> int:
        return sum(
            int(
                (_forest(seed, least=5).fit(features[train], given[train]).predict(features[test]) == given[test]).sum()
            )
            for train, test in splits
        )

    observed = hits(labels)
    extreme = 0
    for done in range(permutations):
        on_step("Relabellings", done, permutations)
        shuffled = labels.copy()
        for members in (
            [np.flatnonzero(groups == one) for one in np.unique(groups)] if within else [np.arange(len(labels))]
        ):
            shuffled[members] = rng.permutation(shuffled[members])
        extreme += hits(shuffled) >= observed
    on_step("Relabellings", permutations, permutations)
    return (1 + extreme) / (1 + permutations)


def audit_table(found: StimulusAudit) -> Table:
    """Accuracy, chance, interval and both tests; the paper's own figure below."""
    hits, n, chance = PAPER
    rows: list[tuple[Cell, ...]] = [
        (
            name,
            one.n,
            one.accuracy,
            one.low,
            one.high,
            one.chance,
            one.binomial_p,
            p,
            "above chance" if one.above else "no",
        )
        for name, one, p in (
            ("these texts", found.result, found.permutation_p),
            ("the paper's texts", against_chance(hits, n, chance), None),
        )
    ]
    return Table(
        "stimuli",
        "Emotion from eight part-of-speech ratios",
        ("texts", "n", "accuracy", "low", "high", "chance", "p binomial", "p permutation", "verdict"),
        tuple(rows),
        f"Random forest, nested {len(found.folds)}-fold cross-validation, groups of texts kept together; Wilson's 95 % "
        f"interval. Permutation: {found.permutations} relabellings"
        f"{' within groups' if found.within_groups else ''}, forest of fixed settings. Folds: "
        + ", ".join(f"{one:.3f}" for one in found.folds)
        + ".",
        {
            **dict.fromkeys(("accuracy", "low", "high", "chance"), NUMBER),
            **dict.fromkeys(("p binomial", "p permutation"), P),
        },
    )


def feature_table(found: StimulusAudit) -> Table:
    """Mean ratios by emotion."""
    rows: list[tuple[Cell, ...]] = [(label, *means.values()) for label, means in found.means.items()]
    headings = tuple(name.removesuffix("_ratio").replace("_", " ") for name in FEATURES)
    units = dict.fromkeys(headings, NUMBER)
    return Table("ratios", "Mean ratios by emotion", ("emotion", *headings), tuple(rows), "", units)
