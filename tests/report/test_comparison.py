from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import cast

from affectlab.report.cells import table_texts
from affectlab.report.comparison import document_of
from affectlab.runs import Comparison
from affectlab.stats.bootstrap import Interval
from affectlab.stats.estimate import Estimate
from affectlab.stats.mcnemar import mcnemar
from affectlab.stats.paired import PairedResult


def side(name: str) -> SimpleNamespace:
    run = SimpleNamespace(benchmark=SimpleNamespace(title="Chiaro"), folder=SimpleNamespace(path=Path("runs") / name))
    return SimpleNamespace(run=run, name=name, condition="neutral")


def test_every_column_is_written_in_its_unit() -> None:
    difference = Estimate("macro_f1", 0.088, 0.01, 0.166, unit="difference")
    comparison = SimpleNamespace(
        a=side("a"),
        b=side("b"),
        results=(PairedResult("macro_f1", 0.4, 0.312, difference, 0.04, 0.031, 1000, 0, 0.112),),
        adjusted={"macro_f1": 0.0004},
        mcnemar=mcnemar(5, 1, 60),
        mcnemar_detectable=0.09,
        differs={"asking.seed": (0, 1)},
        interval=Interval(),
    )
    document = document_of(cast(Comparison, comparison))
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
