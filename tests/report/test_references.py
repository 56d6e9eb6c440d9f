from __future__ import annotations

from dataclasses import replace

import pytest

from affectlab.benchmarks.base import ReferenceRow
from affectlab.metrics.scores import Scores, Table
from affectlab.report import figures
from affectlab.report.cells import table_texts
from affectlab.report.model import RunReport
from affectlab.report.references import baselines, nearest, standing
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
    assert place.own == {3: "SmolLM2-135M-Instruct (this run)"}
    assert place.table.columns == ("Who", "Macro-F1", "Kappa", "Kind", "Source", "Note")


def test_the_best_comes_first_also_where_less_is_better(run_report: RunReport, scores: Scores) -> None:
    ours = replace(scores, headline=(Estimate("appraisal_rmse", 0.4, unit="number"),), tables=())
    papers = tuple(
        ReferenceRow(name, {"appraisal_rmse": value}, "Table 1", "model")
        for name, value in (("worst", 0.5), ("best", 0.3))
    )
    other = ReferenceRow("without it", {"appraisal_rmse:joy": 0.1}, "Table 2", "model")
    report = replace(run_report, scores={"neutral": ours}, references=(*papers, other))

    def names(report: RunReport) -> list[str]:
        place = standing(report)
        assert place is not None
        return [str(row[0]) for row in place.table.rows]

    run = "SmolLM2-135M-Instruct (this run)"
    assert names(replace(report, smaller_better=frozenset({"appraisal_rmse"}))) == ["best", run, "worst"]
    assert names(report) == ["worst", run, "best"]


def test_figures_of_the_whole_run_stand_in_one_row_and_conditions_in_none(
    run_report: RunReport, scores: Scores
) -> None:
    whole = replace(
        scores, headline=(*scores.headline, Estimate("ndm", 0.2, unit="number")), tables=(), of_run=("ndm",)
    )
    angry = replace(scores, headline=(Estimate("ndm", 0.7, unit="number"),), tables=())
    paper = ReferenceRow("a model", {"ndm": 0.3}, "Table 1", "model")
    place = standing(replace(run_report, scores={"neutral": whole, "anger": angry}, references=(paper,)))
    assert place is not None
    assert [row[0] for row in place.table.rows] == [
        "a model",
        "SmolLM2-135M-Instruct (this run, mean over its emotions)",
    ]
    assert set(place.own) == {1}


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
    assert set(place.own) == {len(place.table.rows) - 1}


def test_figures_outside_the_headline_come_from_the_breakdowns(run_report: RunReport) -> None:
    paper = ReferenceRow("GPT", {"macro_f1": 0.6, "macro_f1:physical": 0.649}, "Table 5", "model")
    place = standing(replace(run_report, references=(paper,)))
    assert place is not None
    assert place.table.columns[:3] == ("Who", "Macro-F1", "Macro-F1, physical")
    own = place.table.rows[next(iter(place.own))]
    assert isinstance(own[2], Estimate)
    assert own[2].value == pytest.approx(0.2)  # the first row of by_mode


def test_published_figures_are_in_the_unit_of_the_runs_own(run_report: RunReport, scores: Scores) -> None:
    # "nad" says nothing: only the run's own estimate knows that 0.4 is no share
    ours = replace(scores, headline=(Estimate("nad", 0.5, 0.4, 0.6, unit="number"),), tables=())
    paper = ReferenceRow("GPT", {"nad": 0.4}, "Table 5", "model")
    place = standing(replace(run_report, scores={"neutral": ours}, references=(paper,)))
    assert place is not None
    assert place.table.units == {"NAD": "number"}
    assert sorted(row[1].main for row in table_texts(place.table)) == ["0.400", "0.500"]
    assert figures.published(place.table, place.own) is None  # its axis is in percent


def test_baselines_of_this_runs_gold(run_report: RunReport, scores: Scores) -> None:
    table = Table(
        "baselines", "Models that read nothing", ("baseline", "macro_f1"), (("chance", 0.21), ("majority", 0.05))
    )
    models = tuple(row for row in run_report.references if row.kind != "baseline")
    report = replace(run_report, scores={"neutral": replace(scores, tables=(*scores.tables, table))}, references=models)
    place = standing(report)
    assert place is not None
    assert [row[0] for row in place.table.rows][-2:] == ["chance", "majority"]
    assert place.table.rows[-1][1:4] == (0.05, None, "baseline")
    assert baselines(report, "neutral", "macro_f1") == {"chance": 0.21, "majority": 0.05}
    assert baselines(report, "neutral", "kappa") == {}


def test_baselines_fall_back_on_the_references(run_report: RunReport) -> None:
    assert baselines(run_report, "neutral", "macro_f1") == {"Chance": 0.2, "Majority label": 0.0667}


def test_no_references_no_table(run_report: RunReport) -> None:
    assert standing(replace(run_report, references=())) is None
    assert standing(replace(run_report, scores={})) is None


def test_published_figures_that_this_run_cannot_have_are_left_out(run_report: RunReport) -> None:
    other = ReferenceRow("GPT, another protocol", {"rouge_l": 0.2}, "Table 9", "model")
    place = standing(replace(run_report, references=(*run_report.references, other)))
    assert place is not None
    assert "GPT, another protocol" not in [row[0] for row in place.table.rows]
    assert "Rouge l" not in place.table.columns


def test_published_means_have_nothing_beside_them_where_the_run_has_no_mean(
    decisions_report: RunReport, scores: Scores
) -> None:
    neutral = decisions_report.scores["neutral"]
    only = replace(neutral, headline=scores.headline)
    # Prompts alone: a drift of one condition is not like a mean over emotions and strengths.
    assert standing(replace(decisions_report, scores={**decisions_report.scores, "neutral": only})) is None
    # Neutral alone has no drift at all.
    assert standing(replace(decisions_report, scores={"neutral": scores})) is None


def test_only_many_rows_are_cut_down_to_those_near_the_run(decisions_report: RunReport, run_report: RunReport) -> None:
    whole, short = standing(decisions_report), standing(run_report)
    assert whole is not None
    assert short is not None
    near = nearest(whole, 1)
    assert near is not None
    # 0.118 between .12 and .11, best first.
    assert [row[0] for row in near.table.rows] == [
        "paper 12",
        "SmolLM2-135M-Instruct (this run, mean over its emotions)",
        "paper 11",
    ]
    assert set(near.own) == {1}
    assert nearest(short, 1) is None
    # 29 papers and the run are 30 rows: still shown whole.
    for papers, cut in ((29, False), (30, True)):
        place = standing(replace(decisions_report, references=decisions_report.references[:papers]))
        assert place is not None
        assert (nearest(place, 1) is not None) is cut
