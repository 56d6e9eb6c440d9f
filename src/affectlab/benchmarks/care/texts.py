"""Core answers beside the writer's: overlap of words, and nearness of meaning where an encoder is named."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from affectlab.benchmarks.base import Scoring
from affectlab.benchmarks.care import spaces
from affectlab.benchmarks.care.measures import named
from affectlab.errors import UserError, WorldError
from affectlab.metrics.bertscore import BertScorer
from affectlab.metrics.predictions import PredictionTable
from affectlab.metrics.scores import Cell, Table
from affectlab.metrics.text import corpus_bleu
from affectlab.stats.bootstrap import Interval, bootstrap_statistic, percentile_interval
from affectlab.stats.estimate import Estimate


@dataclass(frozen=True)
class Pairs:
    """Answers that could be read, each with the writer's.

    Attributes:
        gold: The writer's.
        answers: The model's.
        slot: Question of each.
        cluster: Code of each one's story [N].
        asked: How many answers there should be, by question.
    """

    gold: list[str]
    answers: list[str]
    slot: list[str]
    cluster: NDArray[np.int64]
    asked: Mapping[str, int]

    @classmethod
    def of(cls, table: PredictionTable) -> Pairs:
        """Core answers of a table."""
        columns = (table.slot, table.gold, table.value, table.cluster)
        rows = [
            (table.slot.values[slot], table.gold.values[gold], table.value.values[value], cluster)
            for slot, gold, value, cluster in zip(*(column.codes.tolist() for column in columns), strict=True)
            if table.slot.values[slot] in spaces.CORE
        ]
        whole = [row for row in rows if row[1] is not None and row[2] is not None]
        return cls(
            [row[1] for row in whole],
            [row[2] for row in whole],
            [row[0] for row in whole],
            np.array([row[3] for row in whole], dtype=np.int64),
            {slot: sum(row[0] == slot for row in rows) for slot in spaces.CORE},
        )


def texts(scoring: Scoring, found: Mapping[str, Estimate], variant: str) -> Table:
    """ROUGE-L, BLEU and, where the run names an encoder, BERTScore of the core answers, together and by question.

    Args:
        scoring: The run.
        found: Its figures.
        variant: The presentation in which core questions were asked.
    """
    pairs = Pairs.of(scoring.table.where(scoring.table.variant.equals(variant)))
    near, said = _nearness(pairs, scoring.options.get("bertscore", ""))
    signatures: dict[str, None] = {}
    rows: list[tuple[Cell, ...]] = []
    for slot in (None, *spaces.CORE):
        here = np.array([slot in (None, one) for one in pairs.slot], dtype=bool)
        chosen = np.flatnonzero(here).tolist()
        gold, answers = ([side[place] for place in chosen] for side in (pairs.gold, pairs.answers))
        bleu = corpus_bleu(gold, answers) if chosen else None
        if bleu:
            signatures[bleu.signature] = None
        figure = named(f"rouge_l:{slot}" if slot else "rouge_l", variant)
        asked = pairs.asked[slot] if slot else sum(pairs.asked.values())
        nearness = () if near is None else (_mean(near[here], pairs.cluster[here], scoring.interval),)
        rows.append((slot or "all", found[figure], bleu.value if bleu else None, *nearness, len(chosen), asked))
    shown = f"BLEU: {', '.join(signatures)}." if signatures else "BLEU needs sacrebleu: pip install 'affectlab[text]'."
    return Table(
        "core",
        "Core answers against the writer's",
        ("question", "ROUGE-L", "BLEU", *(() if near is None else ("BERTScore",)), "answers", "asked"),
        tuple(rows),
        f"ROUGE-L: F1 of words in order, no stemming. {shown} {said}Overlap of words says little about short answers: "
        "read some.",
        {"BLEU": "share", "BERTScore": "number"},
    )


def _nearness(pairs: Pairs, spec: str) -> tuple[NDArray[np.float64] | None, str]:
    """BERTScore of each pair, and what must be said of it; none unless an encoder is named and can still be had."""
    if not spec:
        return None, ""
    try:
        scorer = BertScorer.open(spec)
    except (UserError, WorldError) as error:
        return None, f"No BERTScore: {error} "
    overlap = scorer.score(pairs.gold, pairs.answers)
    cut = f", {overlap.cut} texts too long and cut" if overlap.cut else ""
    return overlap.f1, f"{scorer.signature}{cut}. "


def _mean(values: NDArray[np.float64], cluster: NDArray[np.int64], how: Interval) -> Estimate:
    if not len(values):
        return Estimate("bertscore", None, reason="nothing to score")
    replicates = bootstrap_statistic(cluster, lambda rows: float(values[rows].mean()), how.replicates, how.seed)
    clusters = len(np.unique(cluster))
    return percentile_interval("bertscore", float(values.mean()), replicates, len(values), clusters, how)
