from __future__ import annotations

import csv
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from affectlab.errors import UserError
from affectlab.metrics.scores import Matrix, Scores, Table
from affectlab.report.export import (
    bare_columns,
    run_to_latex,
    table_csv,
    to_pandas,
    to_polars,
    write_csv,
    write_figures,
)
from affectlab.report.model import RunReport
from affectlab.stats.estimate import Estimate


def read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def test_every_table_is_a_file(run_report: RunReport, scores: Scores, tmp_path: Path) -> None:
    files = write_csv(run_report, tmp_path / "new" / "folder")
    names = [file.name for file in files]
    expected = [
        "headline",
        "notes",
        *(table.id for table in scores.tables),
        *(m.id for m in scores.matrices),
        "references",
    ]
    assert names == [f"{name}.csv" for name in expected]
    for table in scores.tables:
        assert len(read(tmp_path / "new" / "folder" / f"{table.id}.csv")) == len(table.rows)
    headline = read(tmp_path / "new" / "folder" / "headline.csv")
    assert headline[0]["figure"] == "macro_f1"
    assert float(headline[0]["value"]) == 0.314
    assert headline[3]["value"] == ""
    assert headline[3]["reason"] == "only one label was ever predicted"


def test_a_folder_per_condition(run_report: RunReport, scores: Scores, tmp_path: Path) -> None:
    report = replace(run_report, scores={"neutral": scores, "a/../b": scores})
    files = write_csv(report, tmp_path) + write_figures(report, tmp_path)
    assert len(set(files)) == len(files)
    assert all(file.resolve().is_relative_to(tmp_path) and file.is_file() for file in files)
    assert (tmp_path / "neutral" / "headline.csv").is_file()


def test_figures_are_svg_files(run_report: RunReport, tmp_path: Path) -> None:
    files = write_figures(run_report, tmp_path)
    assert len(files) == 6
    assert all("<svg" in file.read_text(encoding="utf-8") for file in files)


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@x", "\t=1", "\r=1"])
def test_formulas_are_disarmed(text: str) -> None:
    assert table_csv(Table("t", "T", (text,), ((text,),))).count("'" + text) == 2


def test_numbers_stay_numbers() -> None:
    assert table_csv(Table("t", "T", ("a", "b", "c"), ((-0.5, -3, None),))) == "a,b,c\n-0.5,-3,\n"


def test_estimates_become_three_columns() -> None:
    table = Table("t", "T", ("label", "F1", "F1"), (("joy", Estimate("f1", 0.5, 0.4, 0.6), 1), ("fear", None, 2)))
    assert bare_columns(table) == {
        "label": ["joy", "fear"],
        "F1": [0.5, None],
        "F1 low": [0.4, None],
        "F1 high": [0.6, None],
        "F1 (2)": [1, 2],
    }


def test_frames(scores: Scores) -> None:
    table = scores.table("per_emotion")
    pandas, polars = to_pandas(table), to_polars(table)
    assert list(pandas.columns) == polars.columns == list(bare_columns(table))
    assert pandas["F1 low"].tolist() == polars["F1 low"].to_list() == [row[4].low for row in table.rows]  # type: ignore[union-attr]
    mixed = Table("t", "T", ("x",), ((1,), (0.5,), ("many",), (None,)))
    assert len(to_polars(mixed)) == len(to_pandas(mixed)) == 4


@pytest.mark.parametrize(("convert", "library"), [(to_pandas, "pandas"), (to_polars, "polars")])
def test_missing_library_says_how_to_get_it(
    convert: object, library: str, scores: Scores, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    assert callable(convert)
    with pytest.raises(UserError, match=rf"{library} is not installed.*affectlab\[frames\]"):
        convert(scores.tables[0])


def test_matrix_file(run_report: RunReport, tmp_path: Path) -> None:
    matrix = Matrix("m", "M", "gold", "predicted", ("a",), ("a", "no answer"), ((2.0, None),))
    write_csv(replace(run_report, scores={"neutral": Scores(headline=(), matrices=(matrix,))}), tmp_path)
    assert (tmp_path / "m.csv").read_text(encoding="utf-8") == "gold \\ predicted,a,no answer\na,2.0,\n"


def test_what_is_about_all_conditions_lies_beside_their_folders(decisions_report: RunReport, tmp_path: Path) -> None:
    files = write_csv(decisions_report, tmp_path) + write_figures(decisions_report, tmp_path)
    assert len(set(files)) == len(files)
    assert [row["figure"] for row in read(tmp_path / "headline.csv")] == ["ndm", "nad", "ndm:emotion_minus_random"]
    assert "ndm" not in {row["figure"] for row in read(tmp_path / "neutral" / "headline.csv")}
    assert (tmp_path / "shifts_1.csv").is_file()
    assert "+40.0*" in (tmp_path / "shifts_1.svg").read_text(encoding="utf-8")
    assert not (tmp_path / "neutral" / "shifts_1.csv").exists()
    latex = run_to_latex(decisions_report)
    assert latex.index("Scores, all conditions together") < latex.index("Scores, neutral")
