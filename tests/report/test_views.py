from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from affectlab.metrics.scores import Matrix, Table
from affectlab.report.views import Block, anchor, card, details, matrix_view, table_view
from affectlab.stats.estimate import Estimate


def test_card_of_a_share() -> None:
    view = card(Estimate("accuracy", 0.5, 0.4, 0.62, 100, 50, "bootstrap, 90 %"), {"Chance": 0.25})
    assert (view.name, view.value, view.level, view.interval) == ("Accuracy", "50.0 %", "90 % interval", "40.0 to 62.0")
    assert view.track is not None
    assert (view.track.at, view.track.left, view.track.width) == (50.0, 40.0, 22.0)
    assert view.sentences == ("Share of answers that are right.", "The interval lies above chance (25.0).")


def test_card_without_a_share_has_no_track() -> None:
    kappa = card(Estimate("kappa", 0.5, 0.4, 0.6, unit="number"), {})
    assert (kappa.value, kappa.interval, kappa.track) == ("0.500", "0.400 to 0.600", None)
    assert card(Estimate("gap", 0.5, 0.4, 0.6, unit="difference"), {}).track is None
    undefined = card(Estimate("accuracy", None, reason="no gold"), {"Chance": 0.25})
    assert not undefined.defined
    assert undefined.track is None
    assert undefined.sentences == ("Share of answers that are right.", "No gold.")


def test_interval_beyond_the_line_is_clipped() -> None:
    track = card(Estimate("accuracy", 0.02, -0.01, 0.05), {}).track
    assert track is not None
    assert (track.left, track.width) == (0.0, 5.0)


def test_crowded_tables_stack_their_intervals_and_prose_wraps() -> None:
    one = Estimate("f1", 0.5, 0.4, 0.6)
    view = table_view(Table("t", "T", ("a", "b", "c", "kind", "note"), ((one, one, one, "model", "x " * 30),)))
    assert [column.css for column in view.columns] == ["figure stacked"] * 3 + ["short", "prose"]
    assert [column.css for column in table_view(Table("t", "T", ("a", "b"), ((one, one),))).columns] == ["figure"] * 2


def test_matrix_as_text() -> None:
    matrix = Matrix("m", "M", "gold", "predicted", ("a", "b"), ("a", "b"), ((1234.0, 25.0), (None, 0.0)))
    view = matrix_view(matrix, "c")
    assert (view.anchor, view.matrix, view.texts) == ("c-m", matrix, (("1,234", "25"), ("–", "0")))
    assert view.shading == "Shading: share of the row."
    assert Block("matrix", matrix=view).entries == (("c-m", "M"),)


def test_manifest_in_groups() -> None:
    manifest = {
        "schema": 1,
        "conditions": ["neutral", "anger"],
        "model": {"name": "m", "identity": {"sha256": "ab"}, "libraries": {}},
        "sessions": [{"answered": 3, "torn": None}, {"answered": 2, "interrupted": True}],
    }
    assert [(group.title, group.rows) for group in details(manifest)] == [
        ("Run", (("Schema", "1"), ("Conditions", "neutral, anger"))),
        ("Model", (("Name", "m"), ("Identity, sha256", "ab"), ("Libraries", "–"))),
        ("Sessions, 1", (("Answered", "3"), ("Torn", "–"))),
        ("Sessions, 2", (("Answered", "2"), ("Interrupted", "yes"))),
    ]
    assert details({}) == ()


@given(st.text(), st.text())
def test_anchors_keep_names_apart_and_are_safe(one: str, other: str) -> None:
    assert (anchor("x", one) == anchor("x", other)) == (one == other)
    assert set(anchor("x", one)) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-~")
