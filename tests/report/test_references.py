from __future__ import annotations

from dataclasses import replace

from affectlab.metrics.scores import Scores
from affectlab.report.model import RunReport
from affectlab.report.references import standing
from affectlab.stats.estimate import Estimate


def test_the_run_takes_its_place_by_the_main_figure(run_report: RunReport) -> None:
    place = standing(run_report)
    assert place is not None
    assert [row[0] for row in place.table.rows] == [
        "Two human annotators",  # 0.93
        "GPT-5.5",  # 0.673
        "Qwen3.5-9B",  # 0.599
        "SmolLM2-135M-Instruct (this run)",  # 0.314
        "ModernBERT-large, GoEmotions",  # 0.29
        "Chance",  # 0.2
        "Majority label",  # 0.0667
    ]
    assert place.own == {3}
    assert place.table.columns == ("Who", "Macro-F1", "Kappa", "Kind", "Source", "Note")


def test_a_row_per_condition(run_report: RunReport, scores: Scores) -> None:
    angry = replace(scores, headline=(Estimate("macro_f1", 0.7),))
    place = standing(replace(run_report, scores={"neutral": scores, "anger": angry}))
    assert place is not None
    assert [place.table.rows[index][0] for index in sorted(place.own)] == [
        "SmolLM2-135M-Instruct (this run, anger)",
        "SmolLM2-135M-Instruct (this run, neutral)",
    ]


def test_a_run_without_the_main_figure_comes_last(run_report: RunReport, scores: Scores) -> None:
    undefined = replace(scores, headline=(Estimate("macro_f1", None, reason="no gold"),))
    place = standing(replace(run_report, scores={"neutral": undefined}))
    assert place is not None
    assert place.own == {len(place.table.rows) - 1}


def test_no_references_no_table(run_report: RunReport) -> None:
    assert standing(replace(run_report, references=())) is None
    assert standing(replace(run_report, scores={})) is None
