from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import cast

from affectlab.metrics.scores import Scores
from affectlab.report import figures
from affectlab.report.cells import table_texts
from affectlab.report.comparison import document_of
from affectlab.runs import Comparison
from affectlab.stats.bootstrap import Interval
from affectlab.stats.estimate import Estimate
from affectlab.stats.mcnemar import mcnemar
from affectlab.stats.paired import PairedResult


def side(name: str) -> SimpleNamespace:
    scores = Scores((Estimate("macro_f1", 0.4), Estimate("rmse", 1.2, unit="number")))
    run = SimpleNamespace(
        benchmark=SimpleNamespace(title="Chiaro"),
        folder=SimpleNamespace(path=Path("runs") / name),
        scores={"neutral": scores},
    )
    return SimpleNamespace(run=run, name=name, condition="neutral")


def comparison_of(*results: PairedResult) -> Comparison:
    return cast(
        Comparison,
        SimpleNamespace(
            a=side("a"),
            b=side("b"),
            results=results,
            adjusted={result.name: 0.0004 for result in results},
            mcnemar=mcnemar(5, 1, 60),
            mcnemar_detectable=0.09,
            differs={"asking.seed": (0, 1)},
            left_out=(),
            interval=Interval(),
        ),
    )


MACRO = PairedResult(
    "macro_f1",
    0.4,
    0.312,
    Estimate("macro_f1", 0.088, 0.01, 0.166, unit="difference"),
    0.04,
    0.031,
    1000,
    0,
    0.112,
)
# As paired_differences gives it, which does not know what a statistic counts.
RMSE = PairedResult("rmse", 1.2, 1.5, Estimate("rmse", -0.3, -0.4, -0.2, unit="difference"), 0.05, 0.01, 1000, 0, 0.14)


def test_every_column_is_written_in_its_unit() -> None:
    document = document_of(comparison_of(MACRO))
    shown, items = (table_texts(table)[0] for table in document.sections[0].tables)
    assert [text.line for text in shown] == [
        "Macro-F1",
        "40.0",
        "31.2",
        "+8.8 [+1.0, +16.6]",
        "0.031",
        "<0.001",
        "11.2",
    ]
    # 5 against 1 of 60: (5 - 1) / 60 = 6.7 points; p = 2 (1 + 6) / 2^6 = .219, mid-p = .219 - 6 / 2^6 = .125
    assert [text.line for text in items] == ["60", "5", "1", "+6.7", "0.219", "0.125", "9.0"]
    assert document.sections[0].notes == ("The runs differ in more than the model: asking.seed.",)


def test_runs_that_differ_without_an_item_wholly_right_are_not_said_never_to_differ() -> None:
    comparison = comparison_of(MACRO)
    comparison.mcnemar = mcnemar(0, 0, 60)  # type: ignore[misc]
    assert document_of(comparison).sections[0].tables[1].note.startswith("No item is wholly right in one run and not")


def test_the_sentence_and_the_row_are_in_the_unit_of_the_figure() -> None:
    points, numbers = document_of(comparison_of(MACRO, RMSE)), document_of(comparison_of(RMSE, MACRO))
    assert "Macro-F1: +8.8 points (adjusted p = 0.0004); these items" in points.summary
    assert "a difference of 11.2 points four times" in points.summary
    assert "RMSE: −0.300 (adjusted p = 0.0004); these items" in numbers.summary
    assert "a difference of 0.140 four times" in numbers.summary
    table = points.sections[0].tables[0]
    assert [text.line for text in table_texts(table)[1]] == [
        "RMSE",
        "1.200",
        "1.500",
        "−0.300 [−0.400, −0.200]",
        "0.010",
        "<0.001",
        "0.140",
    ]
    drawn = figures.differences(table)
    assert drawn is not None
    assert [label.get_text() for label in drawn.axes[0].get_yticklabels()] == ["Macro-F1"]
