from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affectlab.metrics.scores import Matrix, Scores, Table, dumps
from affectlab.stats.estimate import Estimate, Unit

UNITS: tuple[Unit, ...] = ("share", "difference", "number", "p")
SCORES = Scores(
    headline=(Estimate("rmse", 2.5, 2.0, 3.0, 40, 20, "bootstrap", unit="number"), Estimate("f1", None, reason="none")),
    tables=(
        Table(
            "models",
            "Models",
            ("who", "RMSE", "gap", "p"),
            (("a", Estimate("rmse", 2.5, unit="number"), 0.1, 0.04), ("b", 3.5, None, 1)),
            "A note.",
            {"RMSE": "number", "gap": "difference"},
        ),
    ),
    matrices=(Matrix("m", "M", "gold", "predicted", ("a",), ("a", "none"), ((2.0, None),)),),
    notes=("Read this.",),
    signature="s",
)


def test_round_trip_through_json() -> None:
    assert Scores.from_dict(json.loads(dumps(SCORES.to_dict()))) == SCORES


@given(st.dictionaries(st.text(), st.sampled_from(UNITS)), st.sampled_from(UNITS))
def test_every_unit_survives_json(units: dict[str, Unit], unit: Unit) -> None:
    table = Table("t", "T", tuple(units), (tuple(Estimate("x", 0.5, unit=unit) for _ in units),), units=units)
    scores = Scores(headline=(Estimate("x", 0.5, unit=unit),), tables=(table,))
    assert Scores.from_dict(json.loads(dumps(scores.to_dict()))) == scores


def test_scores_written_before_there_were_units_load() -> None:
    data = json.loads(dumps(SCORES.to_dict()))
    del data["tables"][0]["units"]
    del data["headline"][0]["unit"]
    del data["tables"][0]["rows"][0][1]["unit"]
    old = Scores.from_dict(data)
    assert old.tables[0].units == {}
    assert old.headline[0].unit == "share"
    assert old.tables[0].rows[0][1] == Estimate("rmse", 2.5)


def test_a_table_can_be_a_key() -> None:
    table = Table("t", "T", ("RMSE",), ((2.5,),), units={"RMSE": "number"})
    assert {table: "kept"}[Table("t", "T", ("RMSE",), ((2.5,),), units={"RMSE": "number"})] == "kept"
    assert table != Table("t", "T", ("RMSE",), ((2.5,),))


def test_figures_and_tables_by_name() -> None:
    assert SCORES.figure("f1") is SCORES.headline[1]
    assert SCORES.table("models") is SCORES.tables[0]
    with pytest.raises(KeyError, match="accuracy"):
        SCORES.figure("accuracy")
    with pytest.raises(KeyError, match="f1"):
        SCORES.table("f1")


def test_what_is_about_the_whole_run_is_taken_apart() -> None:
    assert SCORES.split() == (None, SCORES)
    drift = Table("drift", "Drift", ("NDM",), ((0.2,),))
    sheet = Scores(
        headline=(*SCORES.headline, Estimate("ndm", 0.2)),
        tables=(*SCORES.tables, drift),
        matrices=SCORES.matrices,
        notes=("Read this.", "Of all."),
        signature="s",
        of_run=("ndm", "drift", "Of all."),
    )
    assert sheet.split() == (
        Scores((Estimate("ndm", 0.2),), (drift,), (), ("Of all.",), "s"),
        SCORES,
    )
    assert Scores.from_dict(json.loads(dumps(sheet.to_dict()))) == sheet
