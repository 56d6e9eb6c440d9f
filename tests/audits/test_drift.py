"""Several runs side by side: what is compared, and what is said where something cannot be."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.audits.hunts import data, decided, line, scripted

from affectlab.audits.drift import Drifted, drift_of
from affectlab.errors import UserError
from affectlab.metrics.scores import Table
from affectlab.models.base import Model
from affectlab.stats.bootstrap import Interval
from affectlab.stats.estimate import Estimate

QUICK = Interval(replicates=20)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return data(tmp_path / "d.jsonl")


@pytest.fixture
def model(tmp_path: Path) -> Model:
    """It turns round under joy, and under random vectors on the first six hunts."""
    return scripted(
        tmp_path / "m.jsonl",
        line("*", "ANSWER: A"),
        line("*", "ANSWER: B", condition="joy@1.0"),
        *(line(f"s{n:02d}", "ANSWER: B", condition="random@1.0:seed=0") for n in range(6)),
    )


def by_id(found: Drifted) -> dict[str, Table]:
    tables = {table.id: table for table in found.tables}
    assert len(tables) == len(found.tables)
    return tables


def test_the_difference_from_random_vectors_stands_beside_every_run(tmp_path: Path, file: Path, model: Model) -> None:
    still = scripted(tmp_path / "still.jsonl", line("*", "ANSWER: A"))
    conditions = ["joy@1.0", "random@1.0:seed=0"]
    found = drift_of(
        [
            decided(tmp_path / "r1", model, file, conditions=conditions),
            decided(tmp_path / "r2", still, file, conditions=conditions, limit=5),
        ],
        QUICK,
    )
    tables = by_id(found)
    rows = [
        dict(zip(tables["against_controls_by_run"].columns, row, strict=True))
        for row in tables["against_controls_by_run"].rows
    ]
    assert [(row["run"], row["figure"]) for row in rows] == [
        ("m", "NDM"), ("m", "NAD"), ("still", "NDM"), ("still", "NAD")
    ]  # fmt: skip
    # Joy moves twelve hunts by the whole range, random vectors six of them: 1 - .5.
    assert (rows[0]["emotion vectors"], rows[0]["control's"]) == (1.0, 0.5)
    assert isinstance(rows[0]["difference"], Estimate)
    assert rows[0]["difference"].value == 0.5
    # Benjamini–Hochberg over the four rows of both runs: the smallest p four times, the others are 1.
    ps = [row["p"] for row in rows]
    assert isinstance(ps[0], float)
    assert ps[1:] == [1.0, 1.0, 1.0]
    assert [row["q"] for row in rows] == pytest.approx([4 * ps[0], 1.0, 1.0, 1.0])
    by_run = tables["drift_by_run"]
    assert by_run.columns[:2] == ("run", "items")
    assert [row[:2] for row in by_run.rows] == [("m", 12), ("still", 5)]
    assert any("not asked the same items and conditions" in note for note in found.notes)
    assert [one["run"] for one in found.made] == ["m", "still"]
    assert found.made[0]["model"]["identity"] == model.card.identity


def test_items_are_those_with_an_answer_under_neutral_and_under_some_emotion(tmp_path: Path, file: Path) -> None:
    model = scripted(
        tmp_path / "m.jsonl",
        line("*", "ANSWER: A"),
        line("s00", "no idea", condition="joy@1.0"),
        *(line("s01", "no idea", condition=condition) for condition in ("joy@1.0", "fear@1.0")),
    )
    run = decided(tmp_path / "r1", model, file, conditions=["joy@1.0", "fear@1.0"])
    # The first has an answer under fear, the second under neither.
    assert by_id(drift_of([run], QUICK))["drift_by_run"].rows[0][:2] == ("m", 11)


def test_a_pair_that_shares_some_strengths_does_not_stop_the_others(tmp_path: Path, file: Path, model: Model) -> None:
    other = scripted(tmp_path / "other.jsonl", line("*", "ANSWER: A"))
    found = drift_of(
        [
            decided(tmp_path / "r1", model, file, "cot", ["joy@0.6", "joy@1.0"]),
            decided(tmp_path / "r2", model, file, "choice", ["joy@1.0"]),
            decided(tmp_path / "r3", other, file, "choice", ["joy@1.0"]),
        ],
        QUICK,
    )
    tables = by_id(found)
    assert {"drift_by_run", "with_and_without", "shifts_1", "shifts_0.6"} <= set(tables)
    assert any(
        note.startswith("m, cot against m, choice: compared on all 12 items and the 2 conditions that both have")
        for note in found.notes
    )


def test_two_models_of_one_name_are_not_compared_as_one(tmp_path: Path, file: Path, model: Model) -> None:
    namesake = scripted(tmp_path / "x" / "m.jsonl", line("*", "ANSWER: B"))
    found = drift_of(
        [
            decided(tmp_path / "r1", model, file, "cot", ["joy@1.0"]),
            decided(tmp_path / "r2", namesake, file, "choice", ["joy@1.0"]),
        ],
        QUICK,
    )
    assert "with_and_without" not in by_id(found)
    assert found.notes == ("Different models are named m: m, cot / m, choice.",)


def test_tables_of_several_pairs_are_named_after_them(tmp_path: Path, file: Path, model: Model) -> None:
    found = drift_of(
        [
            decided(tmp_path / "r1", model, file, "choice", ["joy@1.0"]),
            decided(tmp_path / "r2", model, file, "cot", ["joy@1.0"]),
            decided(tmp_path / "r3", model, file, "thinking", ["joy@1.0"]),
        ],
        QUICK,
    )
    names = [table.title for table in found.tables if table.id.startswith("with_and_without")]
    assert [name.partition(": ")[2] for name in names] == [
        "m, cot against m, choice",
        "m, thinking against m, choice",
        "m, thinking against m, cot",
    ]
    by_id(found)


def test_drift_over_strength_stands_beside_every_run_that_has_several(tmp_path: Path, file: Path, model: Model) -> None:
    conditions = ["joy@0.6", "joy@1.0", "fear@0.6", "fear@1.0"]
    run = decided(tmp_path / "r1", model, file, conditions=conditions)
    table = by_id(drift_of([run], QUICK))["strengths"]
    assert table.columns == ("line", "figure", "0.6", "1")
    # Joy moves every hunt at strength 1, fear none: half of the range on the mean.
    found = {(row[0], row[1]): [point.value for point in row[2:] if isinstance(point, Estimate)] for row in table.rows}
    assert found["all emotions", "NDM"] == [0.0, 0.5]
    assert {name for name, _ in found} == {"all emotions"}
    other = scripted(tmp_path / "other.jsonl", line("*", "ANSWER: A"))
    single = decided(tmp_path / "r2", other, file, conditions=["joy@1.0"])
    tables = by_id(drift_of([run, single], QUICK))
    assert "strengths: m" in tables
    assert "strengths: other" not in tables


def test_a_folder_named_twice_is_refused(tmp_path: Path, file: Path, model: Model) -> None:
    run = decided(tmp_path / "r1", model, file, conditions=["joy@1.0"])
    with pytest.raises(UserError, match="named twice"):
        drift_of([run, run], QUICK)
