from __future__ import annotations

import io
from dataclasses import replace

import pytest
from rich.cells import cell_len

from affectlab.benchmarks.base import ReferenceRow
from affectlab.metrics.scores import Cell, Matrix, Scores, Table
from affectlab.report.model import Document, RunReport
from affectlab.report.terminal import (
    largest_cells,
    make_console,
    print_document,
    print_report,
    render_matrix,
    render_table,
)
from affectlab.stats.estimate import Estimate


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def printed(report: RunReport, width: int) -> str:
    out = io.StringIO()
    print_report(report, make_console(out, width))
    return out.getvalue()


def shown(renderable: object, width: int) -> str:
    out = io.StringIO()
    make_console(out, width).print(renderable)
    return out.getvalue()


@pytest.mark.parametrize("width", [40, 60, 80, 100, 140])
def test_nothing_is_wider_than_the_terminal(run_report: RunReport, width: int) -> None:
    assert max(map(cell_len, printed(run_report, width).splitlines())) <= width


def test_every_table_matrix_and_note_is_there(run_report: RunReport, scores: Scores) -> None:
    text = printed(run_report, 120)
    titles = [table.title for table in scores.tables] + [matrix.title for matrix in scores.matrices]
    for title in titles:
        assert title in text
    for note in scores.notes:
        assert f"Note: {note}" in text
    assert "31.4 %  [24.4, 38.4]  120 predictions in 60 clusters" in text
    assert "Kappa: only one label was ever predicted" in text
    assert "model SmolLM2-135M-Instruct · protocol joint · items 60" in text
    assert scores.signature in text


def test_notes_come_before_tables_and_outcomes_last(run_report: RunReport) -> None:
    text = printed(run_report, 120)
    places = [text.index(part) for part in ("Note:", "published figures", "By emotion", "Confusion", "How reading")]
    assert places == sorted(places)


def test_no_label_is_broken_at_80_columns(run_report: RunReport) -> None:
    text = printed(run_report, 80)
    by_emotion = text[text.index("By emotion") : text.index("By polarity")]
    assert "disappointment" in by_emotion
    assert "embarrassment" in by_emotion


def test_intervals_go_beside_then_under_then_columns_under_each_other() -> None:
    rows = tuple((f"label{i}", Estimate("f1", 0.5, 0.4, 0.6), Estimate("f1", 0.5, 0.4, 0.6)) for i in range(2))
    table = render_table(Table("t", "T", ("label", "precision", "recall"), rows))
    assert "50.0 [40.0, 60.0]" in shown(table, 60)
    assert "40.0…60.0" in shown(table, 34)
    assert shown(table, 34).count("label0") == 1
    narrow = shown(table, 26)
    assert narrow.count("40.0…60.0") == 4
    assert narrow.count("label0") == 2


def test_wide_matrix_becomes_its_largest_cells() -> None:
    labels = tuple(f"long-label-{i:02}" for i in range(20))
    values = tuple(tuple(float(i * 20 + j) for j in range(20)) for i in range(20))
    matrix = Matrix("m", "Confusion", "gold", "predicted", labels, labels, values)
    text = shown(render_matrix(matrix), 80)
    assert "the 10 largest of 380 cells off the diagonal" in " ".join(text.split())
    assert "398" in text  # row 19, column 18: the largest off the diagonal
    assert "399" not in text  # row 19, column 19 is on it


def test_largest_cells_leave_out_zeros_and_missing() -> None:
    matrix = Matrix("m", "M", "g", "p", ("a", "b"), ("a", "b"), ((5.0, None), (0.0, 5.0)))
    assert largest_cells(matrix, 10).rows == ()


def test_of_changes_the_largest_are_shown_whatever_their_sign_the_diagonal_too() -> None:
    labels = ("joy", "sadness", "disgust")
    values = ((1.4324414968490602, 0.2, -3.31), (0.0, 2.5, 0.1), (None, -0.4, 12.0))
    matrix = Matrix("leakage", "Change", "steered towards", "label", labels, labels, values)
    assert largest_cells(matrix, 3).rows == (
        ("disgust", "disgust", 12.0),
        ("joy", "disgust", -3.31),
        ("sadness", "sadness", 2.5),
    )
    narrow, wide = shown(render_matrix(matrix), 26), shown(render_matrix(matrix), 80)
    assert "−3.310" in narrow
    assert "count" not in narrow
    assert "1.432 " in wide
    assert "1.4324" not in wide


def test_long_names_are_broken_at_their_joints_and_no_word_is_anywhere() -> None:
    names = ("neutral", "permuted:anger@0.025:relative:seed=1")
    figures = [f"figure with accountability {n}" for n in range(6)]
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (name, *(Estimate("f1", 0.5, 0.4, 0.6) for _ in figures)) for name in names
    )
    text = shown(render_table(Table("t", "T", ("condition", *figures), rows)), 64)
    words = text.split()
    assert words.count("accountability") == 6
    # Six columns of 14 cells do not fit beside the names: they stand in parts, names in each.
    assert words.count("neutral") > 1
    assert {"permuted:", "anger@0.025:", "relative:", "seed=1"} <= set(words) or names[1] in words
    assert max(map(cell_len, text.splitlines())) <= 64


def test_plain_text_unless_a_terminal(run_report: RunReport, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b[" not in printed(run_report, 80)
    colourful, plain = Terminal(), Terminal()
    print_report(run_report, make_console(colourful, 80))
    assert "\x1b[" in colourful.getvalue()
    monkeypatch.setenv("NO_COLOR", "1")
    print_report(run_report, make_console(plain, 80))
    assert "36m" not in plain.getvalue()


def test_labels_cannot_drive_the_terminal_or_markup(run_report: RunReport, scores: Scores) -> None:
    evil = Table("evil", "T [bold]x[/bold]", ("label", "n"), (("\x1b[31mred\x07", 3), ("[link=x]y[/link]", 4)))
    text = printed(replace(run_report, scores={"neutral": replace(scores, tables=(evil,))}), 100)
    assert "\x1b" not in text
    assert r"\x1b[31mred\x07" in text
    assert "\x07" not in text
    assert "T [bold]x[/bold]" in text
    assert "[link=x]y[/link]" in text


def test_of_several_conditions_the_first_is_whole_and_all_are_side_by_side(
    run_report: RunReport, scores: Scores
) -> None:
    side_by_side = Table("conditions", "Conditions side by side", ("condition", "p"), (("anger at 0.1", 0.03),))
    several = {"neutral": scores, "anger at 0.1": scores}
    text = printed(replace(run_report, scores=several, overview=side_by_side), 100)
    assert text.index("Conditions side by side") < text.index("Scores, neutral")
    assert "0.03" in text
    assert "Scores, anger" not in text
    assert "--json: anger at 0.1." in text


def test_document(comparison: Document) -> None:
    out = io.StringIO()
    print_document(comparison, make_console(out, 100))
    text = out.getvalue()
    assert "+8.8 [+1.0, +16.6]" in text
    assert "<0.001" in text
    assert "Note: Two comparisons in this family" in text


def test_run_without_scores_or_manifest() -> None:
    bare = RunReport(manifest={}, benchmark_title="B", benchmark_question="", paper="", scores={})
    assert "this model" in printed(bare, 80)
    empty = replace(bare, scores={"neutral": Scores(headline=(), notes=("No gold.",))})
    assert "No gold." in printed(empty, 80)


def test_empty_table_and_double_width_labels() -> None:
    assert "Empty" in shown(render_table(Table("t", "Empty", ("a", "b"), ())), 80)
    chinese = Table("t", "立场", ("标签", "F1"), (("表面肯定实则否定的讽刺表达方式", 0.5),) * 2)
    for width in (24, 40, 80):
        assert max(map(cell_len, shown(render_table(chinese), width).splitlines())) <= width


def test_of_many_published_figures_the_main_one_is_shown(run_report: RunReport, scores: Scores) -> None:
    many = {f"recall_of_{letter}": 0.5 for letter in "abcdefg"}
    rows = (
        ReferenceRow("everything", {"macro_f1": 0.9, **many}, "Table 1", "model"),
        ReferenceRow("only the others", many, "Table 1", "model"),
    )
    ours = replace(scores, headline=(*scores.headline, *(Estimate(name, 0.4) for name in many)))
    page = printed(replace(run_report, references=rows, scores={"neutral": ours}), 80)
    below = page[page.index("This run and published figures") :]
    table = below[: below.index("Published figures come")]
    assert "everything" in table
    assert "this run" in table
    assert "only the others" not in table
    assert "Recall" not in table
    assert "The HTML report has 7 more figures." in " ".join(below.split())


def test_what_is_about_all_conditions_is_printed_first(decisions_report: RunReport) -> None:
    page = printed(decisions_report, 100)
    places = [
        page.index(text)
        for text in (
            "Scores, all conditions together",
            "NDM, emotion minus random",
            "Means over all of it.",
            "This run and published figures",
            "Shifts, strength 1",
            "Scores, neutral",
        )
    ]
    assert places == sorted(places)
    assert "NDM" not in page[places[-1] : page.index("Shown whole: neutral")]
    # 40 rows of others, four on each side of this run's.
    assert "The HTML report has 32 more rows." in " ".join(page.split())
    assert "paper 15" in page
    assert "paper 16" not in page
