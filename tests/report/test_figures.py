from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from typing import Any

import pytest
from matplotlib.colors import to_hex
from matplotlib.patches import Rectangle

from affectlab.metrics.scores import Matrix, Scores, Table
from affectlab.report import figures, svg
from affectlab.report.heatmap import heatmap, shading
from affectlab.report.model import Document, RunReport
from affectlab.report.references import standing
from affectlab.stats.estimate import Estimate


def texts(figure: Any) -> list[str]:
    tree = ET.fromstring(svg.print_svg(figure))
    return ["".join(node.itertext()) for node in tree.iter("{http://www.w3.org/2000/svg}text")]


def tiles(figure: Any) -> list[Rectangle]:
    return [artist for artist in figure.axes[0].get_children() if isinstance(artist, Rectangle)][:-1]


def test_a_run_gets_every_figure_it_has_data_for(run_report: RunReport) -> None:
    assert [(condition, name) for condition, name, _ in figures.figures_of(run_report)] == [
        ("", "published"),
        ("neutral", "slices"),
        ("neutral", "per_emotion"),
        ("neutral", "position"),
        ("neutral", "confusion_positive"),
        ("neutral", "confusion_negative"),
    ]


def test_a_bare_run_gets_none(run_report: RunReport) -> None:
    bare = Scores(headline=(), tables=(Table("t", "T", ("a", "b"), (("x", "y"),)),))
    assert list(figures.figures_of(replace(run_report, references=(), scores={"neutral": bare}))) == []


def test_published_shows_every_row_and_marks_ours(run_report: RunReport) -> None:
    place = standing(run_report)
    assert place is not None
    figure = figures.published(place.table, place.own)
    assert figure is not None
    assert {str(row[0]) for row in place.table.rows} <= set(texts(figure))
    bold = [label.get_text() for label in figure.axes[0].get_yticklabels() if label.get_fontweight() == "bold"]
    assert bold == ["SmolLM2-135M-Instruct (this run)"]
    whiskers = [
        line.get_xdata() for line in figure.axes[0].lines if list(line.get_xdata()) == pytest.approx([24.4, 38.4])
    ]
    assert len(whiskers) == 1


def test_per_label_draws_what_the_table_says(scores: Scores) -> None:
    figure = figures.per_label(scores.table("per_emotion"))
    assert figure is not None
    lines = {line.get_label(): list(line.get_xdata()) for line in figure.axes[0].lines}
    # joy's F1 is 0.12 + 0.03, each following emotion 0.05 more
    assert lines["F1"] == pytest.approx([15 + 5 * index for index in range(10)])
    assert texts(figure).count("n = 12") == 10


def test_per_label_skips_what_is_undefined() -> None:
    row = ("joy", None, Estimate("recall", None, reason="no support"), Estimate("f1", None))
    figure = figures.per_label(Table("t", "T", ("emotion", "precision", "recall", "F1"), (row,)))
    assert figure is not None
    assert figures.per_label(Table("t", "T", ("emotion", "precision"), (("joy", 0.5),))) is None


def test_slices_group_tables_and_draw_the_overall_line(scores: Scores) -> None:
    figure = figures.slices(figures.breakdowns(scores), scores.headline[0])
    assert figure is not None
    shown = texts(figure)
    assert shown.index("By causal mode") < shown.index("physical") < shown.index("non-physical")
    assert any(list(line.get_xdata()) == pytest.approx([31.4, 31.4]) for line in figure.axes[0].lines)
    assert figures.slices([], None) is None


def test_differences_stand_around_zero(comparison: Document) -> None:
    table = comparison.sections[0].tables[0]
    figure = figures.differences(table)
    assert figure is not None
    left, right = figure.axes[0].get_xlim()
    assert left == pytest.approx(-right)
    points = [line.get_xdata()[0] for line in figure.axes[0].lines if line.get_marker() == "o"]
    assert points == pytest.approx([8.8, -1.7])
    assert {"Macro-F1", "Joint accuracy", "difference, points"} <= set(texts(figure))
    plain = Table("t", "T", ("figure", "difference"), (("Macro-F1", 0.1),))
    assert figures.differences(plain) is None
    shares = Table("t", "T", ("figure", "difference"), (("Macro-F1", Estimate("f1", 0.1, 0.0, 0.2)),))
    assert figures.differences(shares) is None


def test_only_shares_are_drawn_in_percent() -> None:
    seconds, share = Estimate("seconds", 0.2, 0.1, 0.3, unit="number"), Estimate("f1", 0.5, 0.4, 0.6)
    table = Table("by_mode", "By mode", ("mode", "time", "F1"), (("non_physical", seconds, share),))
    figure = figures.slices([table], seconds)
    assert figure is not None
    assert "non physical" in texts(figure)
    points = [line.get_xdata()[0] for line in figure.axes[0].lines if line.get_marker() == "o"]
    assert points == [50.0]
    assert not any(line.get_linestyle() == "--" for line in figure.axes[0].lines)
    assert len(figure.axes[0].lines) == 2  # the point and its whisker: no line for seconds overall
    columns = ("position", "time", "chosen − right")
    place = Table("position", "P", columns, (("A", seconds, 0.1),), units={"chosen − right": "difference"})
    assert figures.position(place) is None


def test_position_draws_shares_not_counts(scores: Scores) -> None:
    figure = figures.position(scores.table("position"))
    assert figure is not None
    assert [group.get_label() for group in figure.axes[0].containers] == ["share chosen", "share correct", "accuracy"]
    heights = [bar.get_height() for bar in figure.axes[0].containers[0]]
    assert heights == pytest.approx([35, 28, 21, 14, 7])
    assert figures.position(Table("position", "P", ("position", "chosen"), (("A", 3),))) is None


def test_heatmap_shades_by_share_of_the_row() -> None:
    matrix = Matrix(
        "m", "M", "gold", "predicted", ("a", "b"), ("a", "b", "no answer"), ((6.0, 2.0, 0.0), (None, 0.0, 0.0))
    )
    figure = heatmap(matrix)
    assert figure is not None
    shades = [tile.get_facecolor()[3] for tile in tiles(figure)]
    assert shades == pytest.approx([0.75, 0.25, 0.0, 0.0, 0.0, 0.0])  # 6/8, 2/8, and an empty row
    assert {"6", "2", "–", "no answer", "gold", "predicted"} <= set(texts(figure))
    assert heatmap(Matrix("m", "M", "", "", (), (), ())) is None


def test_changes_are_shaded_by_sign_and_size_over_the_whole_matrix() -> None:
    values = ((-3.31, 1.66), (0.0, None))
    matrix = Matrix("m", "M", "steered towards", "label", ("joy", "fear"), ("joy", "fear"), values)
    figure = heatmap(matrix)
    assert figure is not None
    drawn = tiles(figure)
    # 3.31 is the largest change: opacity .75; 1.66 its share, in the other colour.
    assert [tile.get_facecolor()[3] for tile in drawn] == pytest.approx([0.75, 0.75 * 1.66 / 3.31, 0.0, 0.0])
    assert to_hex(drawn[0].get_facecolor()) == svg.SERIES[1]
    assert to_hex(drawn[1].get_facecolor()) == svg.SERIES[0]
    assert {"−3.31", "1.66", "0.00", "–"} <= set(texts(figure))
    assert "orange below" in shading(matrix)
    # Strengths that are spelled like layers are no labels: 40 is no column apart.
    sweep = heatmap(Matrix("s", "S", "layer", "strength", ("10", "20"), ("10", "20", "40"), ((0.5, 1.5, -1.0),) * 2))
    assert sweep is not None
    assert list(sweep.axes[0].get_xticks()) == [0.0, 1.0, 2.0]


def test_conditions_are_told_apart_whole(run_report: RunReport, scores: Scores) -> None:
    names = [f"permuted:anger@0.025:relative:layers=best:seed={seed}" for seed in (1, 2)]
    place = standing(replace(run_report, scores=dict.fromkeys(["neutral", *names], scores)))
    assert place is not None
    figure = figures.published(place.table, place.own)
    assert figure is not None
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert "neutral" in labels
    for name in names:
        assert name in [label.replace("\n", "") for label in labels]
    assert all(len(line) <= svg.LABEL_LIMIT for label in labels for line in label.split("\n"))


def test_a_breakdown_counts_what_its_table_counts() -> None:
    rows = (("one", Estimate("f1", 0.5, n=64), 8), ("two", Estimate("f1", 0.5, n=168), 21))
    figure = figures.slices([Table("by_x", "By x", ("x", "F1", "scenarios"), rows)], None)
    assert figure is not None
    assert {"n = 8", "n = 21"} <= set(texts(figure))
    bare = figures.slices([Table("by_x", "By x", ("x", "F1"), tuple(row[:2] for row in rows))], None)
    assert {"n = 64", "n = 168"} <= set(texts(bare))


def test_page_svg_follows_the_theme_and_loads_nothing(scores: Scores) -> None:
    figure = heatmap(scores.matrices[0])
    text = svg.page_svg(figure, "c-a", 'Confusion "x" <y>', "natural")
    assert text.startswith('<svg class="natural" role="img" aria-label="Confusion &quot;x&quot; &lt;y&gt;"')
    ET.fromstring(text)
    assert "currentColor" in text
    assert "var(--heat)" in text
    assert not re.search(r"#0102|<style|<metadata|<!DOCTYPE|<\?xml", text)
    loaded = re.findall(r'(?:href|src)="([^"]*)"|url\(([^)]*)\)', text)
    assert all((link or url).startswith("#c-a-") for link, url in loaded)
    assert set(re.findall(r'\bid="(?!c-a-)([^"]*)', text)) == set()


def test_print_svg_has_fixed_colours(scores: Scores) -> None:
    text = svg.print_svg(heatmap(scores.matrices[0]))
    assert "#56b4e9" in text
    assert not re.search(r"#0102|currentColor|var\(", text)


def test_same_data_same_bytes(scores: Scores) -> None:
    first, second = (svg.print_svg(heatmap(scores.matrices[0])) for _ in range(2))
    assert first == second


@pytest.mark.parametrize("label", ["表面肯定", "cost $5 and $6", "<b>&", "#010203", "😀 joy", "x" * 200, ""])
def test_any_label_can_be_drawn(label: str) -> None:
    matrix = Matrix("m", label, label, label, (label, "b"), (label, "b"), ((1.0, 2.0), (3.0, 4.0)))
    shown = texts(heatmap(matrix))
    if label and len(label) < 30 and label != "#010203":
        assert label in shown


def test_the_callers_settings_stay(scores: Scores) -> None:
    import matplotlib as mpl

    before = dict(mpl.rcParams)
    svg.print_svg(heatmap(scores.matrices[0]))
    assert dict(mpl.rcParams) == before
