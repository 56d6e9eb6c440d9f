"""A made-up Chiaro run of 60 scenes: the numbers are invented, their shapes are a real run's."""

from __future__ import annotations

from dataclasses import replace

import pytest

from affectlab.benchmarks.base import ReferenceRow
from affectlab.metrics.scores import Matrix, Scores, Table
from affectlab.report.model import Document, Example, RunReport, Section, SlotAnswer, Turn
from affectlab.stats.estimate import Estimate

METHOD = "cluster bootstrap, 1000 replicates, seed 0, 95 %"
POSITIVE = ("joy", "gratitude", "amusement", "excitement", "relief")
NEGATIVE = ("anger", "sadness", "fear", "embarrassment", "disappointment")


def estimate(name: str, value: float, half: float = 0.06, n: int = 120) -> Estimate:
    return Estimate(name, value, max(0.0, value - half), min(1.0, value + half), n, 60, METHOD)


def emotion_rows() -> tuple[tuple[str | int | float | Estimate, ...], ...]:
    rows = []
    for index, emotion in enumerate(POSITIVE + NEGATIVE):
        share = 0.12 + 0.05 * index
        rows.append(
            (
                emotion,
                "positive" if emotion in POSITIVE else "negative",
                estimate("precision", share),
                estimate("recall", share + 0.08, 0.15),
                estimate("f1", share + 0.03, 0.1),
                12,
                8 + index,
                (8 + index - 12) / 120,
            )
        )
    return tuple(rows)


def confusion(labels: tuple[str, ...], polarity: str) -> Matrix:
    values = tuple(
        (*(float(6 if i == j else (i * 2 + j) % 3) for j in range(len(labels))), float(i % 2))
        for i in range(len(labels))
    )
    return Matrix(
        f"confusion_{polarity}",
        f"Confusion within {polarity} emotions",
        "gold",
        "predicted",
        labels,
        (*labels, "no answer"),
        values,
        "Counts of slots.",
    )


def make_scores() -> Scores:
    def slices(names: tuple[str, ...]) -> tuple[tuple[str | int | Estimate, ...], ...]:
        return tuple((name, estimate("macro_f1", 0.2 + 0.07 * i, 0.09), 20) for i, name in enumerate(names))

    return Scores(
        headline=(
            estimate("macro_f1", 0.314, 0.07),
            estimate("joint_accuracy", 0.117, 0.08, 60),
            estimate("parse_rate", 0.95, 0.04),
            Estimate("kappa", None, n=120, clusters=60, reason="only one label was ever predicted", unit="number"),
        ),
        tables=(
            Table(
                "headline_by_policy",
                "Replies without an answer: two policies",
                ("figure", "counted wrong", "left out"),
                (
                    ("Macro-F1", estimate("macro_f1", 0.314), estimate("macro_f1", 0.331, n=114)),
                    ("Joint accuracy", estimate("joint_accuracy", 0.117), estimate("joint_accuracy", 0.125)),
                ),
                "Left out as the paper does for Emollama; 114 of 120 slots have an answer.",
            ),
            Table(
                "per_emotion",
                "By emotion",
                (
                    "emotion",
                    "polarity",
                    "precision",
                    "recall",
                    "F1",
                    "support",
                    "predicted",
                    "share predicted − gold",
                ),
                emotion_rows(),
                "Support: slots whose gold is the emotion.",
                {"share predicted − gold": "difference"},
            ),
            Table(
                "by_polarity",
                "By polarity",
                ("polarity", "macro-F1", "slots"),
                slices(("positive", "negative")),
            ),
            Table("by_slot", "By slot", ("slot", "macro-F1", "slots"), slices(("A", "B"))),
            Table(
                "by_mode",
                "By causal mode",
                ("mode", "macro-F1", "slots"),
                slices(("physical", "non-physical")),
            ),
            Table(
                "by_scenario_type",
                "By scenario type",
                ("scenario type", "macro-F1", "slots"),
                slices(("accident", "competition", "prank", "service", "news", "interruption")),
            ),
            Table(
                "position",
                "Where the chosen option stood",
                ("position", "chosen", "share chosen", "share correct", "accuracy"),
                tuple(
                    (letter, 40 - 8 * i, 0.35 - 0.07 * i, 0.2, estimate("accuracy", 0.5 - 0.08 * i))
                    for i, letter in enumerate("ABCDE")
                ),
                "Correct letters rotate over scenes, so each position is right equally often.",
            ),
            Table(
                "outcomes",
                "How reading the replies ended",
                ("outcome", "slots", "share"),
                (("ok", 114, 0.95), ("unparseable", 4, 4 / 120), ("refusal", 2, 2 / 120), ("empty", 0, 0.0)),
            ),
            Table(
                "flags",
                "What reading noticed",
                ("flag", "slots"),
                (("out_of_space", 3), ("self_corrected", 1)),
            ),
        ),
        matrices=(confusion(POSITIVE, "positive"), confusion(NEGATIVE, "negative")),
        notes=(
            "This run is incomplete: 58 of 60 scenes were answered.",
            "Support is under 15 for every emotion; intervals per emotion are wide.",
        ),
        signature="chiaro|v:1|protocol:joint|order:rotate|policy:wrong|items:60|data:3f2a91cc",
    )


REFERENCES = (
    ReferenceRow("GPT-5.5", {"macro_f1": 0.673}, "Chiaro (arXiv 2609.03394), Table 4", "model"),
    ReferenceRow("Qwen3.5-9B", {"macro_f1": 0.599}, "Chiaro, Table 4", "model"),
    ReferenceRow("ModernBERT-large, GoEmotions", {"macro_f1": 0.29}, "Chiaro, Table 6", "encoder"),
    ReferenceRow(
        "Two human annotators",
        {"macro_f1": 0.93, "kappa": 0.827},
        "Chiaro, Section 4",
        "human",
        "against adjudicated gold",
    ),
    ReferenceRow("Chance", {"macro_f1": 0.2}, "worked out: five options", "baseline"),
    ReferenceRow("Majority label", {"macro_f1": 0.0667}, "worked out", "baseline"),
)

EXAMPLES = (
    Example(
        "First wrong answer",
        "scene-004",
        (
            Turn(
                "",
                "A child kicks the seat in front of her.\nAgent A: the child\nAgent B: the passenger\nTwo lines.",
                "Agent A: B\nAgent B: <script>alert('x')</script> & C",
            ),
        ),
        (
            SlotAnswer("A", "ok", "excitement", "excitement", True),
            SlotAnswer("B", "ok", "fear", "anger", False),
        ),
    ),
    Example(
        "First unreadable reply",
        "scene-017",
        (Turn("", "Who feels what?", "As people, both of them may feel a great many things at once, " * 6),),
        (SlotAnswer("A", "unparseable", "", "joy", False), SlotAnswer("B", "unparseable", "", "", None)),
    ),
)

MANIFEST = {
    "schema": 1,
    "package_version": "0.1.0",
    "benchmark": {"name": "chiaro", "version": "1"},
    "protocol": "joint",
    "model": {
        "spec": "smollm2",
        "name": "SmolLM2-135M-Instruct",
        "identity": {
            "file": "SmolLM2-135M-Instruct.Q4_1.gguf",
            "sha256": "9f" * 32,
            "dtype": "float32",
            "device": "cpu",
        },
        "libraries": {"torch": "2.13.0", "transformers": "5.24.0"},
    },
    "data": {"source": "bundled sample", "sha256": "3f2a91cc" * 8, "items": 60},
    "asking": {
        "order": "rotate",
        "seed": 0,
        "temperature": 0.0,
        "top_p": 1.0,
        "max_tokens": None,
        "options": {},
    },
    "conditions": ["neutral"],
    "repeats": 1,
    "started": "2026-11-30T05:20:11Z",
    "ended": "2026-11-30T05:22:40Z",
    "host": {"system": "Linux 6.1", "python": "3.11.9", "cpus": 2},
    "usage": {"prompt_tokens": 18211, "completion_tokens": 1204, "cost": None},
    "requests": {"planned": 60, "answered": 58, "failed": 2},
    "command": "affectlab run chiaro --model smollm2 --out runs/first",
}


@pytest.fixture(scope="session")
def scores() -> Scores:
    return make_scores()


@pytest.fixture(scope="session")
def run_report(scores: Scores) -> RunReport:
    return RunReport(
        manifest=MANIFEST,
        benchmark_title="Chiaro",
        benchmark_question="One event, two people, opposite feelings: who feels what?",
        paper="Chiaro: contrastive emotion inference (arXiv 2609.03394)",
        scores={"neutral": scores},
        references=REFERENCES,
        examples=EXAMPLES,
    )


@pytest.fixture
def comparison() -> Document:
    return Document(
        title="SmolLM2 against Gemma 3 on Chiaro",
        summary="Gemma 3 is right more often; the interval of the difference excludes zero.",
        sections=(
            Section(
                "Differences",
                notes=("Two comparisons in this family; p-values are Holm-corrected.",),
                tables=(
                    Table(
                        "differences",
                        "Paired differences, B minus A",
                        ("figure", "A", "B", "difference", "p (Holm)", "smallest detectable difference"),
                        (
                            (
                                "Macro-F1",
                                0.314,
                                0.402,
                                Estimate("macro_f1", 0.088, 0.01, 0.166, 120, 60, unit="difference"),
                                0.031,
                                0.09,
                            ),
                            (
                                "Joint accuracy",
                                0.117,
                                0.1,
                                Estimate("joint_accuracy", -0.017, -0.1, 0.07, 60, 60, unit="difference"),
                                0.0002,
                                0.1,
                            ),
                        ),
                    ),
                ),
            ),
        ),
        details={"A": "runs/first", "B": "runs/second"},
    )


@pytest.fixture
def decisions_report(run_report: RunReport, scores: Scores) -> RunReport:
    """Six conditions, whose first sheet also says what is so of all of them."""
    means = (
        Estimate("ndm", 0.118, 0.06, 0.18, unit="number", method=METHOD),
        Estimate("nad", 0.01, -0.05, 0.07, unit="number", method=METHOD),
        Estimate("ndm:emotion_minus_random", 0.016, -0.01, 0.05, unit="number", method=METHOD),
    )
    shifts = Table(
        "shifts_1", "Shifts, strength 1", ("role", "joy", "fear"), (("stag hunt", "+40.0*", "n/a"),), "A map."
    )
    neutral = replace(
        scores,
        headline=(*scores.headline, *means),
        tables=(*scores.tables, shifts),
        notes=(*scores.notes, "Means over all of it."),
        of_run=(*(one.name for one in means), "shifts_1", "Means over all of it."),
    )
    # A single condition that moves further than the mean, and than what is published.
    one = replace(scores, headline=(*scores.headline, Estimate("ndm", 0.9, unit="number")))
    papers = tuple(ReferenceRow(f"paper {n}", {"ndm": n / 100}, "Table 1", "model") for n in range(40))
    names = ("anger@1.0", "joy@1.0", "fear@1.0", "sadness@1.0", "random@1.0:seed=0")
    return replace(run_report, scores={"neutral": neutral, **dict.fromkeys(names, one)}, references=papers)
